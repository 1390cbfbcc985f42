"""From values to the data that fastavro takes: `zcser.tree.write`, for the forms of `zcser.avro.plan`.

1. A record is a dict of all its fields by their Avro names: None stands for one that is absent.
2. A value of a union is ``(name of the branch, value)``. Without the name fastavro validates the value against one branch
   after the other, and all that is inside it once more at each level.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from zcser.avro.plan import Plan
from zcser.core.options import Options
from zcser.schema.model import Enum, Field, Int, List, Map, Optional, Record, Ref, Type, Union, walk
from zcser.schema.normal import Normaliser
from zcser.tree.form import Form
from zcser.tree.write import Writer

__all__ = ["FORM", "avro_builder", "avro_writer"]

FORM = Form(native_bytes=True, finite=False, text_keys=False, big_ints=False)

_ABSENT: Final = object()


def avro_writer(plan: Plan, options: Options, normaliser: Normaliser) -> Callable[[Any], Any]:
    """A function from a value to its datum, which raises any exception where the value does not fit."""
    return _Writer(plan, options, normaliser).compile()


def avro_builder(plan: Plan, options: Options, normaliser: Normaliser, owns: frozenset[str]) -> Callable[[Any], Any]:
    """As `avro_writer`, but what stands as itself is not looked at: it is still to be checked (`zcser.avro.native`).

    `owns` as of `zcser.tree.write.tree_builder`.
    """
    return _Writer(plan, options, normaliser, trusts=True, owns=owns).compile()


class _Writer(Writer):
    def __init__(
        self,
        plan: Plan,
        options: Options,
        normaliser: Normaliser,
        *,
        trusts: bool = False,
        owns: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(plan.schema, FORM, options, normaliser, trusts=trusts, owns=owns)
        self.plan = plan

    def stands(self, type_: Type) -> bool:
        return not self.guard and not self.sort and self.plan.stands(type_)

    def is_trusted(self, type_: Type) -> bool:
        # A tuple becomes a list.
        tupled = any(isinstance(part, List) and part.container == "tuple" for part in walk(type_))
        return self.trusts and self.plan.stands(type_) and not tupled

    def entries(self, record: Record) -> list[tuple[str, Field]]:
        return self.plan.fields(record)

    def emit(self, type_: Type, x: str) -> None:
        match type_:
            case Optional(item):
                with self.source.block(f"if {x} is not None:"):
                    self.emit(item, x)
                    self.hint(item, x)
            case _:
                super().emit(type_, x)

    def hint(self, type_: Type, x: str) -> None:
        """Name the one branch beside null."""
        if not isinstance(type_, Union):
            self.source.line(f"{x} = ({self.known(self.plan.branch_name(type_))}, {x})")

    def int_(self, type_: Int, x: str) -> None:
        if self.plan.is_fixed(type_):
            # Which raises where the number is out of range.
            self.unless(f"{x}.__class__ is int", type_, x)
            self.source.line(f"{x} = {x}.to_bytes(8, 'little')")
        else:
            super().int_(type_, x)

    def enum(self, type_: Enum, x: str) -> None:
        if type_.cls is not None and list(self.plan.symbols(type_)) == [name for name, _ in type_.members]:
            self.unless(f"{x}.__class__ is {self.known(type_.cls)}", type_, x)
            self.source.line(f"{x} = {x}._name_")
            return
        super().enum(type_, x)  # leaves the member's value
        values = (value for _, value in type_.members)
        symbols = dict(zip(values, self.plan.symbols(type_), strict=True))
        self.source.line(f"{x} = {self.known(symbols)}[{x}]")

    def scalars(self, whole: Type, item: Type, x: str, items: str) -> bool:
        return not (isinstance(item, Int) and self.plan.is_fixed(item)) and super().scalars(whole, item, x, items)

    def map_(self, type_: Map, x: str) -> None:
        if self.plan.is_map(type_):
            super().map_(type_, x)
            return
        self.bound_depth()
        self.unless(f"{x}.__class__ is dict and len({x}) <= {self.limits.elements}", type_, x)
        super().scalars(type_, type_.key, x, x)
        if self.sort:
            self.source.line(f"{x} = dict(sorted({x}.items()))")
        key, value, out = self.source.variable(), self.source.variable(), self.source.variable()
        self.source.line(f"{out} = []")
        with self.deeper_level(), self.source.block(f"for {key}, {value} in {x}.items():"):
            if self.plan.is_fixed(type_.key):
                self.source.line(f"{key} = {key}.to_bytes(8, 'little')")
            self.emit(type_.value, value)
            self.source.line(f"{out}.append({{'key': {key}, 'value': {value}}})")
        self.source.line(f"{x} = {out}")

    def tag(self, type_: Union, number: int, x: str) -> None:
        option = type_.options[number]
        if self.plan.wraps(type_) and not self.plan.is_named(option):
            self.wrap(option, x)
        else:
            self.source.line(f"{x} = ({self.known(self.plan.branch_name(option))}, {x})")

    def wrap(self, type_: Type, x: str) -> None:
        self.source.line(f"{x} = ({self.known(self.plan.value_name(type_))}, {{'value': {x}}})")

    def is_owned(self, record: Record) -> bool:
        # fastavro looks its fields up, in whatever order they stand.
        return record.name in self.owns and all(name == item.name for name, item in self.plan.fields(record))

    def dict_(self, record: Record) -> None:
        if self.is_owned(record):
            self.owned_dict(record)
            return
        pairs = []
        self.source.line(f"count = {sum(item.required for item in record.fields)}")
        for name, item in self.plan.fields(record):
            x, key = self.source.variable(), self.known(item.name)
            pairs.append(f"{self.known(name)}: {x}")
            if item.required:
                self.source.line(f"{x} = v[{key}]")
                self.field(item.type, x)
                continue
            self.source.line(f"{x} = v.get({key}, {self.known(_ABSENT)})")
            self.source.line(f"if {x} is not {self.known(_ABSENT)}: count += 1")
            if item.may_be_absent:
                self.absent(item, x)
            else:
                self.source.line(f"else: {x} = {self.known(item.make_default)}()")
                self.field(item.type, x)
        if self.guard:
            # A key that is no field would be lost.
            self.source.line(f"if count != len(v): {self.normal(Ref(record.name))}(v)")
        self.source.line(f"return {{{', '.join(pairs)}}}")

    def absent(self, item: Field, x: str) -> None:
        self.source.line(f"if {x} is {self.known(_ABSENT)}: {x} = None")
        with self.source.block("else:"):
            if self.plan.is_doubly_absent(item):
                self.field(item.type, x)
                self.wrap(item.type, x)
            else:
                self.field(item.type, x)
                self.hint(item.type, x)

    def list_(self, type_: List, x: str) -> None:
        super().list_(type_, x)
        if type_.container == "tuple":
            # fastavro makes a list of it, but takes it for a named value where it stands in a union.
            self.source.line(f"{x} = list({x})")
