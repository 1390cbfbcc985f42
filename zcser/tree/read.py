"""From trees to values: code generated for one schema.

1. The tree is fresh from the library and belongs to us: dict records are checked and completed in place.
2. With the guard on, whatever the wire gave is checked to be of the schema's type; any exception means that it is not,
   and `zcser.tree.explain` finds the words.
3. With the guard off only what must be built is built.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

from zcser.core.options import Options
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    Kind,
    List,
    Map,
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Str,
    Tensor,
    Type,
    Union,
)
from zcser.tree.form import Form, is_tagged, stands_as_itself, wire_class
from zcser.tree.leaves import (
    BadTree,
    RoundedIntError,
    bytes_of_text,
    float_of,
    floats_of,
    is_text,
    key_reader,
    round_float32,
)
from zcser.tree.splice import lifted
from zcser.tree.tensors import tensor_reader
from zcser.tree.walk import Walk, range_test

__all__ = ["Reader", "tree_opener", "tree_reader", "tree_readers"]

_ABSENT: Any = object()


def tree_reader(schema: Schema, form: Form, options: Options, *, copy: bool, lifts: bool = False) -> Callable[..., Any]:
    """A function from a tree to its value, which raises any exception where the tree does not fit.

    Parameters
    ----------
    schema, form, options
        What the tree is a tree of.
    copy
        See `zcser.Codec.decode`.
    lifts
        The function takes beside the tree what its stand-ins stand for; see `zcser.tree.splice`.
    """
    return tree_readers(schema, form, options, [schema.root], copy=copy, lifts=lifts)[0]


def tree_readers(
    schema: Schema, form: Form, options: Options, types: Sequence[Type], *, copy: bool, lifts: bool = False
) -> list[Callable[..., Any]]:
    """As `tree_reader`, for several types of one schema: each stands for a tree of its own."""
    return Reader(schema, form, options, copy=copy, lifts=lifts).compile(types)


def tree_opener(schema: Schema, form: Form, options: Options, *, copy: bool) -> Callable[[Any], Any]:
    """As `tree_reader`, from a tree that was checked and whose builtins are what they stand for; so bytes stay bytes."""
    unguarded = dataclasses.replace(options, guard="off", strict=False)
    return Reader(schema, form, unguarded, copy=copy, trusts=True).compile([schema.root])[0]


class Reader(Walk):
    """The generator; a format whose records, maps or unions stand otherwise overrides the methods of these kinds."""

    def __init__(
        self, schema: Schema, form: Form, options: Options, *, copy: bool, lifts: bool = False, trusts: bool = False
    ) -> None:
        super().__init__(schema, form, options, "read", blobs=lifts, trusts=trusts)
        self.refuse_unknown = options.unknown_fields == "refuse"
        self.copy = copy

    def compile(self, types: Sequence[Type]) -> list[Callable[..., Any]]:
        """One function for each of `types`."""
        for record in self.schema.records:
            self.record(record)
        names = [
            self.functions[type_.name] if isinstance(type_, Ref) else f"read_part_{number}"
            for number, type_ in enumerate(types)
        ]
        for name, type_ in zip(names, types, strict=True):
            if isinstance(type_, Ref):
                continue
            with self.source.block(f"def {name}(x{self.more}):"):
                self.level = "1"
                self.emit(type_, "x")
                self.source.line("return x")
        namespace = self.source.compile("tree reader")
        return [namespace[name] for name in names]

    def unless(self, test: str) -> None:
        """With the guard on: refuse the tree where a test does not hold."""
        if self.guard:
            self.source.line(f"if not ({test}): raise {self.known(BadTree)}")

    # One method per kind: code that turns the variable x from tree to value ----------------------------------------

    def emit(self, type_: Type, x: str) -> None:
        if self.is_trusted(type_):
            return
        match type_:
            case Null():
                self.unless(f"{x} is None")
            case Bool():
                self.unless(f"{x} is True or {x} is False")
            case Int():
                self.unless(f"{x}.__class__ is int{range_test(type_, x)}")
            case Float():
                self.float_(type_, x)
            case Str():
                sized = "" if type_.size is None else f" and len({x}.encode()) <= {type_.size}"
                text = f" and {self.known(is_text)}({x})" if self.form.surrogates else ""
                self.unless(f"{x}.__class__ is str{sized}{text}")
            case Bytes():
                self.bytes_(type_, x)
            case Enum():
                self.enum(type_, x)
            case Tensor():
                read = tensor_reader(type_, native_bytes=self.form.native_bytes, copy=self.copy)
                self.source.line(f"{x} = {self.known(read)}({x}{self.more})")
            case Optional(item):
                with self.source.block(f"if {x} is not None:"):
                    self.emit(item, x)
            case List():
                self.list_(type_, x)
            case Map():
                self.map_(type_, x)
            case Union():
                self.union(type_, x)
            case Ref(name):
                self.source.line(f"{x} = {self.made(name, x)}")
            case _:
                raise AssertionError(type_)

    def float_(self, type_: Float, x: str) -> None:
        # Not the guard's business: JSON does not tell 1 from 1.0, so an int here is a float.
        self.source.line(f"if {x}.__class__ is not float: {x} = {self.known(float_of)}({x})")
        if self.form.finite:
            self.unless(f"{x} - {x} == 0.0")
        if type_.bits == 32 and self.guard:
            self.source.line(f"{x} = {self.known(round_float32)}({x})")

    def bytes_(self, type_: Bytes, x: str) -> None:
        if self.blobs:
            self.source.line(f"{x} = {self.known(lifted)}({x}, blobs)")
            self.unless(f"{x}.__class__ is bytes or {x}.__class__ is memoryview")
        elif self.form.native_bytes:
            self.unless(f"{x}.__class__ is bytes")
        else:
            self.source.line(f"{x} = {self.known(bytes_of_text)}({x})")
        if type_.size is not None:
            self.unless(f"len({x}) == {type_.size}")
        if not self.copy:
            self.source.line(f"{x} = memoryview({x})")
        elif self.blobs:
            self.source.line(f"{x} = bytes({x})")

    def enum(self, type_: Enum, x: str) -> None:
        # The class is compared first: 1, 1.0 and True are one key of a dict.
        self.unless(f"{x}.__class__ is {wire_class(type_, self.form).__name__}")
        if type_.cls is not None or self.guard:
            table = {value: member for (_, value), member in zip(type_.members, type_.values, strict=True)}
            self.source.line(f"{x} = {self.known(table)}[{x}]")

    def list_(self, type_: List, x: str) -> None:
        self.bound_depth()
        length = f"len({x}) <= {self.limits.elements}" if type_.length is None else f"len({x}) == {type_.length}"
        self.unless(f"{x}.__class__ is list and {length}")
        if not self.scalars(type_.item, x, x):
            self.comprehend(x, type_.item)
        if type_.container == "tuple":
            self.source.line(f"{x} = tuple({x})")

    def scalars(self, item: Type, x: str, items: str) -> bool:
        """Check many scalars in C; False where the items must be looked at one by one."""
        match item:
            case Bool() | Null() | Str(size=None):
                self.unless(f"{self.only(item)}.issuperset(map(type, {items}))")
                if self.form.surrogates and isinstance(item, Str):
                    self.unless(f"all(map({self.known(is_text)}, {items}))")
            case Int():
                low = "True" if item.low is None else f"min({items}) >= {item.low}"
                high = "True" if item.high is None else f"max({items}) <= {item.high}"
                exact = f"{self.only(item)}.issuperset(map(type, {items}))"
                self.unless(f"{exact} and (not {x} or {low} and {high})")
            case Float(bits=64) if items == x:
                only = self.only(item)
                self.source.line(f"if not {only}.issuperset(map(type, {x})): {x} = {self.known(floats_of)}({x})")
                if self.form.finite:
                    isfinite = self.known(math.isfinite)
                    self.unless(f"{isfinite}(sum({x})) or all(map({isfinite}, {x}))")
            case _:
                return False
        return True

    def comprehend(self, x: str, item: Type) -> None:
        as_they_are = stands_as_itself(item, self.schema, self.form) and not self.has_floats(item)
        if as_they_are and not self.guard and not self.blobs:
            return
        y, out = self.source.variable(), self.source.variable()
        with self.deeper_level():
            if isinstance(item, Ref):
                self.source.line(f"{x} = [{self.made(item.name, y)} for {y} in {x}]")
                return
            self.source.line(f"{out} = []")
            with self.source.block(f"for {y} in {x}:"):
                self.emit(item, y)
                self.source.line(f"{out}.append({y})")
            self.source.line(f"{x} = {out}")

    def has_floats(self, type_: Type) -> bool:
        """Whether an int read back may have to become a float; records are taken to need it."""
        return type_.kind not in (Kind.NULL, Kind.BOOL, Kind.INT, Kind.STR, Kind.BYTES, Kind.ENUM)

    def map_(self, type_: Map, x: str) -> None:
        self.bound_depth()
        self.unless(f"{x}.__class__ is dict and len({x}) <= {self.limits.elements}")
        as_text = self.form.text_keys and type_.key.kind is not Kind.STR
        if as_text:
            self.unless(f"{self.only(Str())}.issuperset(map(type, {x}))")
        elif not self.scalars(type_.key, x, x):
            self.unless(f"all(k.__class__ is str and len(k.encode()) <= {getattr(type_.key, 'size', 0)} for k in {x})")
        if not as_text and self.scalars(type_.value, x, f"{x}.values()"):
            return
        key, value, out = self.source.variable(), self.source.variable(), self.source.variable()
        new_key = key
        if as_text and isinstance(type_.key, Int | Bool):
            new_key = f"{self.known(key_reader(type_.key))}({key})"
        self.source.line(f"{out} = {{}}")
        with self.deeper_level(), self.source.block(f"for {key}, {value} in {x}.items():"):
            self.emit(type_.value, value)
            self.source.line(f"{out}[{new_key}] = {value}")
        self.source.line(f"{x} = {out}")

    def union(self, type_: Union, x: str) -> None:
        if is_tagged(type_, self.form):
            tag = self.source.variable()
            self.source.line(f"if {x}.__class__ is not dict or len({x}) != 1: raise {self.known(BadTree)}")
            self.source.line(f"({tag}, {x}), = {x}.items()")
            tests = [f"{tag} == {self.known(name)}" for name in type_.names]
        else:
            classes = [wire_class(option, self.form) for option in type_.options]
            tests = [f"{x}.__class__ is {self.known(cls)}" for cls in classes]
            if float in classes and int not in classes:
                tests[classes.index(float)] += f" or {x}.__class__ is int"
            if float in classes and int in classes and self.form.rounds_ints and self.guard:
                # A float below 2**63 in size, or with a fraction, is no rounded integer.
                self.source.line(
                    f"if {x}.__class__ is float and not -{2**63} < {x} < {2**63}: raise {self.known(RoundedIntError)}"
                )
        for number, (option, test) in enumerate(zip(type_.options, tests, strict=True)):
            with self.source.block(f"{'el' if number else ''}if {test}:"):
                self.emit(option, x)
        self.source.line(f"else: raise {self.known(BadTree)}")

    # Records --------------------------------------------------------------------------------------------------------

    def record(self, record: Record) -> None:
        self.level = "n"
        with self.source.block(f"def {self.functions[record.name]}({self.parameters('d')}):"):
            self.bound_depth()
            self.unless("d.__class__ is dict")
            if record.cls is not None:
                self.object_(record, record.cls)
            else:
                self.dict_(record)

    def object_(self, record: Record, cls: type) -> None:
        if self.refuse_unknown:
            self.unless(f"{self.known(frozenset(record.by_name))}.issuperset(d)")
        variables = []
        for item in record.fields:
            x, key = self.source.variable(), self.known(item.name)
            if not item.has_default and self.is_trusted(item.type):
                variables.append(f"d[{key}]")
                continue
            variables.append(x)
            if not item.has_default:
                self.source.line(f"{x} = d[{key}]")
                self.field(item.type, x)
                continue
            self.source.line(f"{x} = d.get({key}, {self.known(_ABSENT)})")
            with self.source.block(f"if {x} is {self.known(_ABSENT)}:"):
                self.source.line(f"{x} = {self.default(item)}")
            with self.source.block("else:"):
                self.field(item.type, x)
        self.source.line(f"return {self.known(cls)}({self.arguments(record, cls, variables)})")

    def inline(self, record: Record, x: str) -> str | None:
        if record.cls is None or not all(self.is_trusted(item.type) and not item.has_default for item in record.fields):
            return None
        values = [f"{x}[{self.known(item.name)}]" for item in record.fields]
        return f"{self.known(record.cls)}({self.arguments(record, record.cls, values)})"

    def default(self, item: Field) -> str:
        return f"{self.known(item.make_default)}()" if item.default_factory is not None else self.known(item.default)

    def arguments(self, record: Record, cls: type, variables: list[str]) -> str:
        names = [item.name for item in record.fields]
        try:
            parameters = list(inspect.signature(cls).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD][: len(names)]
        if positional == names:
            return ", ".join(variables)
        pairs = ", ".join(f"{self.known(name)}: {x}" for name, x in zip(names, variables, strict=True))
        return f"**{{{pairs}}}"

    def dict_(self, record: Record) -> None:
        if self.form.shares:
            self.source.line("d = dict(d)")
        alone = {item.name for item in record.fields if self.is_let_alone(item.type)}
        if self.trusts:
            self.checked_dict([item for item in record.fields if item.name not in alone])
            return
        # Looked for all at once: nothing is done for them but to see that they are there.
        sure = {
            item.name
            for item in record.fields
            if not self.guard and item.name in alone and item.required and not item.has_default
        }
        self.source.line(f"count = {len(sure)}")
        if sure:
            self.source.line(f"if not d.keys() >= {self.known(frozenset(sure))}: raise {self.known(BadTree)}")
        for item in record.fields:
            if item.name in sure:
                continue
            x, key = self.source.variable(), self.known(item.name)
            self.source.line(f"{x} = d.get({key}, {self.known(_ABSENT)})")
            with self.source.block(f"if {x} is not {self.known(_ABSENT)}:"):
                self.source.line("count += 1")
                self.field(item.type, x)
                self.source.line(f"d[{key}] = {x}")
            if not item.may_be_absent:
                self.source.line(f"else: {self.missing(item, key)}")
        with self.source.block("if count != len(d):"):
            if self.refuse_unknown:
                self.source.line(f"raise {self.known(BadTree)}")
            else:
                names = self.known(frozenset(record.by_name))
                self.source.line(f"d = {{key: value for key, value in d.items() if key in {names}}}")
        self.source.line("return d")

    def checked_dict(self, fields: Sequence[Field]) -> None:
        """Of a dict that was checked, the fields for which there is something to do: it has its fields, and no others."""
        for item in fields:
            x, key = self.source.variable(), self.known(item.name)
            if item.may_be_absent:
                self.source.line(f"{x} = d.get({key}, {self.known(_ABSENT)})")
                with self.source.block(f"if {x} is not {self.known(_ABSENT)}:"):
                    self.field(item.type, x)
                    self.source.line(f"d[{key}] = {x}")
            else:
                self.source.line(f"{x} = d[{key}]")
                self.field(item.type, x)
                self.source.line(f"d[{key}] = {x}")
        self.source.line("return d")

    def is_let_alone(self, type_: Type) -> bool:
        """Whether there is nothing to do for a type but to check it."""
        if self.trusts:
            return self.is_trusted(type_)
        match type_:
            case Optional(item) | List(item=item, container="list"):
                return self.is_let_alone(item)
            case Enum():
                return type_.cls is None
            case Bytes():
                return self.form.native_bytes and self.copy and not self.blobs
        return type_.kind in (Kind.NULL, Kind.BOOL, Kind.INT, Kind.STR)

    def missing(self, item: Field, key: str) -> str:
        if item.has_default:
            return f"d[{key}] = {self.default(item)}; count += 1"
        return f"raise {self.known(BadTree)}"

    def field(self, type_: Type, x: str) -> None:
        with self.deeper_level():
            self.emit(type_, x)
