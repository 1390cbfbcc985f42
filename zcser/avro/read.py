"""From the data that fastavro gives to values: `zcser.tree.read`, for the forms of `zcser.avro.plan`.

The library reads by the schema, so that the class of everything is known: what is checked is what Avro has no word for,
widths of integers, sizes, lengths, depth, and tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zcser.avro.plan import Plan
from zcser.avro.write import FORM
from zcser.core.options import Options
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Float,
    Int,
    Map,
    Null,
    Record,
    Str,
    Type,
    Union,
)
from zcser.tree.leaves import BadTree
from zcser.tree.read import Reader
from zcser.tree.walk import range_test

__all__ = ["avro_reader"]


def avro_reader(plan: Plan, options: Options, *, copy: bool) -> Callable[[Any], Any]:
    """A function from a datum to its value, which raises any exception where the datum does not fit.

    Parameters
    ----------
    plan, options
        What the datum is one of.
    copy
        See `zcser.Codec.decode`.
    """
    return _Reader(plan, options, copy=copy).compile([plan.schema.root])[0]


def _of_eight_bytes(data: bytes) -> int:
    return int.from_bytes(data, "little")


class _Reader(Reader):
    def __init__(self, plan: Plan, options: Options, *, copy: bool) -> None:
        super().__init__(plan.schema, FORM, options, copy=copy, lifts=False)
        self.plan = plan

    def emit(self, type_: Type, x: str) -> None:
        match type_:
            case Null() | Bool() | Float():
                pass
            case Int():
                self.int_(type_, x)
            case Str(size=size):
                if size is not None:
                    self.unless(f"len({x}.encode()) <= {size}")
            case Bytes(size=size):
                if size == 0:
                    self.unless(f"not {x}")
                if not self.copy:
                    self.source.line(f"{x} = memoryview({x})")
            case _:
                super().emit(type_, x)

    def int_(self, type_: Int, x: str) -> None:
        if self.plan.is_fixed(type_):
            self.source.line(f"{x} = {self.known(_of_eight_bytes)}({x})")
        elif type_.bits != 64:
            self.unless(range_test(type_, x).removeprefix(" and "))

    def enum(self, type_: Enum, x: str) -> None:
        members = dict(zip(self.plan.symbols(type_), type_.values, strict=True))
        self.source.line(f"{x} = {self.known(members)}[{x}]")

    def scalars(self, item: Type, x: str, items: str) -> bool:
        match item:
            case Null() | Bool() | Float() | Str(size=None) | Int(bits=64, signed=True):
                return True
            case Int() if not self.plan.is_fixed(item):
                self.unless(f"not {x} or min({items}) >= {item.low} and max({items}) <= {item.high}")
                return True
        return False

    def has_floats(self, _type: Type) -> bool:
        # Whatever stands as it is in a tree may still be a fixed here.
        return True

    def map_(self, type_: Map, x: str) -> None:
        if self.plan.is_map(type_):
            super().map_(type_, x)
            return
        self.bound_depth()
        self.unless(f"len({x}) <= {self.limits.elements}")
        entry, key, value, out = (self.source.variable() for _ in range(4))
        self.source.line(f"{out} = {{}}")
        with self.deeper_level(), self.source.block(f"for {entry} in {x}:"):
            self.source.line(f"{key} = {entry}['key']; {value} = {entry}['value']")
            self.emit(type_.key, key)
            self.emit(type_.value, value)
            self.source.line(f"{out}[{key}] = {value}")
        self.source.line(f"{x} = {out}")

    def union(self, type_: Union, x: str) -> None:
        tagged = self.plan.is_tagged(type_)
        wraps = self.plan.wraps(type_)
        tag = self.source.variable()
        if tagged:
            # A named option comes with its name; options of Avro's own types come alone.
            self.source.line(f"{tag} = None")
            with self.source.block(f"if {x}.__class__ is tuple:"):
                self.source.line(f"{tag}, {x} = {x}")
        for number, option in enumerate(type_.options):
            named = self.plan.is_named(option)
            if wraps and not named:
                test = f"{tag} == {self.known(self.plan.value_name(option))}"
            elif named and tagged:
                test = f"{tag} == {self.known(self.plan.branch_name(option))}"
            else:
                test = f"{x}.__class__ is {self.known(self.plan.read_class(option))}"
            with self.source.block(f"{'el' if number else ''}if {test}:"):
                if wraps and not named:
                    self.source.line(f"{x} = {x}['value']")
                self.emit(option, x)
        self.source.line(f"else: raise {self.known(BadTree)}")

    # Records --------------------------------------------------------------------------------------------------------

    def object_(self, record: Record, cls: type) -> None:
        variables = {}
        for name, item in self.plan.fields(record):
            x = variables[item.name] = self.source.variable()
            self.source.line(f"{x} = d[{self.known(name)}]")
            self.field(item.type, x)
        ordered = [variables[item.name] for item in record.fields]
        self.source.line(f"return {self.known(cls)}({self.arguments(record, cls, ordered)})")

    def dict_(self, record: Record) -> None:
        self.source.line("out = {}")
        for name, item in self.plan.fields(record):
            x, key = self.source.variable(), self.known(item.name)
            self.source.line(f"{x} = d[{self.known(name)}]")
            if not item.may_be_absent:
                self.field(item.type, x)
                self.source.line(f"out[{key}] = {x}")
                continue
            with self.source.block(f"if {x} is not None:"):
                if self.plan.is_doubly_absent(item):
                    self.source.line(f"{x} = {x}['value']")
                self.field(item.type, x)
                self.source.line(f"out[{key}] = {x}")
        self.source.line("return out")
