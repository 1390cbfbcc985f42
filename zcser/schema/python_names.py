"""Names in Python text that is written from a schema: what is imported never hides a name of the schema's own."""

from __future__ import annotations

import builtins
import keyword
import unicodedata
from collections.abc import Iterable

__all__ = ["Imports", "is_attribute", "is_name"]


def is_name(text: str) -> bool:
    """Whether a text can name a class, and Python reads it back as it is."""
    return text.isidentifier() and not keyword.iskeyword(text) and unicodedata.normalize("NFKC", text) == text


def is_attribute(text: str) -> bool:
    """Whether a text can name a field of a class: names that begin with two underscores are Python's own, or mangled."""
    return is_name(text) and not text.startswith("__")


class Imports:
    """What a module imports, builtins included where the schema has a name of theirs.

    Parameters
    ----------
    taken
        Names of classes and fields, which stand as they are; what is imported gives way.
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._names: dict[tuple[str, str], str] = {}

    def __call__(self, module: str, name: str = "") -> str:
        """The name under which a module, or something in it, is used."""
        key = module, name
        if key not in self._names:
            local = name or _SHORT.get(module, module)
            while local in self._taken:
                local = f"_{local}"
            if module != "builtins" or local != name:
                self._taken.add(local)
            self._names[key] = local
        return self._names[key]

    def builtin(self, name: str) -> str:
        """The name under which a builtin is used."""
        return self("builtins", name) if hasattr(builtins, name) else name

    def lines(self) -> list[str]:
        """The statements, in the order that formatters give them."""
        whole = sorted((module, local) for (module, name), local in self._names.items() if not name)
        parts: dict[str, list[str]] = {}
        for (module, name), local in sorted(self._names.items()):
            if name and (module != "builtins" or local != name):
                parts.setdefault(module, []).append(name if local == name else f"{name} as {local}")
        lines = [f"import {module}" if local == module else f"import {module} as {local}" for module, local in whole]
        return [*lines, *(f"from {module} import {', '.join(names)}" for module, names in parts.items())]


_SHORT = {"numpy": "np"}
