"""A writer of generated Python source.

Names of fields come from users: they reach generated code only as constants bound in its namespace, never as text.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

__all__ = ["Source"]


class Source:
    """Lines of source, and the namespace that they run in."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.namespace: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._depth = 0
        self._variables = 0

    def line(self, text: str) -> None:
        """Add a line at the present indentation."""
        self.lines.append("    " * self._depth + text)

    @contextlib.contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Add a line that opens a block; what is added inside is its body."""
        self.line(head)
        self._depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self._depth -= 1

    def constant(self, value: Any) -> str:
        """The name by which generated code knows an object; the same object has the same name."""
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = f"K{len(self._names)}"
            self.namespace[name] = value  # also keeps the object alive, so that its id stays its own
        return name

    def variable(self) -> str:
        """A fresh local name."""
        self._variables += 1
        return f"x{self._variables}"

    def compile(self, label: str) -> dict[str, Any]:
        """Run the source, and return its namespace."""
        code = compile("\n".join(self.lines) + "\n", f"<zcser {label}>", "exec")
        exec(code, self.namespace)  # generated above from a schema; users' text is in constants only
        return self.namespace
