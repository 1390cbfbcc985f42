"""What the generators of both directions share: the source, the record functions, the depth, and tests of scalars."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from zcser.core.options import Options
from zcser.core.source import Source
from zcser.schema.model import Int, Record, Schema, Type
from zcser.tree.form import Form, stands_as_itself

__all__ = ["Walk", "range_test"]

_EXACTLY: dict[type, frozenset[type]] = {cls: frozenset((cls,)) for cls in (type(None), bool, int, float, str, bytes)}


class Walk:
    """Generated code that walks a schema: one function per record, all other types inline.

    Where `blobs` is set, each function takes beside its value what `zcser.tree.splice` notes or looks up.
    Where `trusts` is set, what stands as itself is not looked at: somebody else does (`zcser.tree.objects`).
    `level` is the expression, in generated code, of how deep the container at hand stands; the outermost is 1.
    """

    def __init__(
        self,
        schema: Schema,
        form: Form,
        options: Options,
        label: str,
        *,
        blobs: bool = False,
        trusts: bool = False,
    ) -> None:
        self.schema = schema
        self.form = form
        self.guard = options.guard == "on"
        self.limits = options.limits
        self.source = Source()
        self.functions = {record.name: f"{label}_{number}" for number, record in enumerate(schema.records)}
        # Only a recursive schema can pass the limit at run time.
        self.deep = bool(schema.recursive)
        self.level = "1"
        self.blobs = blobs
        self.trusts = trusts
        self.more = ", blobs" if blobs else ""

    def known(self, value: Any) -> str:
        """The name of a constant."""
        return self.source.constant(value)

    def only(self, type_: Type) -> str:
        """The name of the set that holds the one class of a scalar type."""
        return self.known(_EXACTLY[self.schema.python_type(type_)])

    def bound_depth(self) -> None:
        """Refuse a container that stands too deep."""
        if self.deep and self.guard:
            self.source.line(f"if {self.level} > {self.limits.depth}: raise RecursionError")

    def call(self, record: str, x: str) -> str:
        """The call of a record's function."""
        return f"{self.functions[record]}({x}{self.more}{f', {self.level}' if self.deep else ''})"

    def parameters(self, x: str) -> str:
        """Of a record's function, which stands for the root too."""
        return f"{x}{self.more}{', n=1' if self.deep else ''}"

    def is_trusted(self, type_: Type) -> bool:
        """Whether there is nothing to do for a type."""
        return self.trusts and stands_as_itself(type_, self.schema, self.form)

    def made(self, record: str, x: str) -> str:
        """The expression of what is made of a record: its function's call, unless all is said in a line."""
        return self.inline(self.schema.record(record), x) or self.call(record, x)

    def inline(self, record: Record, x: str) -> str | None:
        """The expression itself, where nothing need be done for the fields."""
        raise NotImplementedError

    @contextlib.contextmanager
    def deeper_level(self) -> Iterator[None]:
        """Inside it, containers stand one level deeper."""
        outer = self.level
        base, _, more = outer.partition(" + ")
        self.level = f"{base} + {int(more or 0) + 1}"
        yield
        self.level = outer


def range_test(type_: Int, x: str) -> str:
    """What follows the test of x's class, so that x also fits the type."""
    lower = "" if type_.low is None else f"{type_.low} <= "
    upper = "" if type_.high is None else f" <= {type_.high}"
    return f" and {lower}{x}{upper}" if lower or upper else ""
