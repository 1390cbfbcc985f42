"""From structs to values: `zcser.tree.read`, for the forms of `zcser.thrift.plan`.

1. The library reads by the schema, so that the class of what is set is known; a field of another type is not set.
2. Text comes as str, in which the library has put U+FFFD for what is not UTF-8, so that no str may hold it; or as bytes.
3. A double in the place of a 32-bit float is rounded to one, as in all formats without them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from zcser.core.options import Options
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    Kind,
    Map,
    Null,
    Optional,
    Record,
    Str,
    Tensor,
    Type,
    Union,
)
from zcser.thrift.structs import Structs
from zcser.thrift.write import FORM
from zcser.tree.leaves import BadTree, round_float32
from zcser.tree.read import Reader
from zcser.tree.tensors import tensor_reader
from zcser.tree.walk import range_test

__all__ = ["text_of", "thrift_reader"]

_ABSENT: Final = object()


def thrift_reader(structs: Structs, options: Options, *, copy: bool) -> Callable[[Any], Any]:
    """A function from the root's struct to its value, which raises any exception where the struct does not fit.

    Parameters
    ----------
    structs, options
        What the struct is one of.
    copy
        See `zcser.Codec.decode`.
    """
    return _Reader(structs, options, copy=copy).of_root()


def text_of(text: Any) -> str:
    """The text of a string that was read: rule 2."""
    if text.__class__ is bytes:
        try:
            return str(text, "utf-8")
        except UnicodeDecodeError as error:
            raise BadTree(f"text is not UTF-8: {error}") from None
    if "\ufffd" in text:
        raise BadTree("text is not UTF-8")
    return str(text)


def read_tensor(type_: Tensor, *, copy: bool) -> Callable[[Any], npt.NDArray[np.generic]]:
    """A function from the struct of a tensor to the array."""
    read = tensor_reader(type_, native_bytes=True, copy=copy)

    def array_of(struct: Any) -> npt.NDArray[np.generic]:
        if struct.dtype is None or struct.shape is None or struct.data is None:
            raise BadTree("a tensor has the fields dtype, shape and data")
        return read({"dtype": text_of(struct.dtype), "shape": struct.shape, "data": struct.data})

    return array_of


class _Reader(Reader):
    def __init__(self, structs: Structs, options: Options, *, copy: bool) -> None:
        super().__init__(structs.plan.schema, FORM, options, copy=copy, lifts=False)
        self.structs = structs
        self.plan = structs.plan

    def of_root(self) -> Callable[[Any], Any]:
        if self.plan.is_bare:
            return self.compile([self.schema.root])[0]
        for record in self.schema.records:
            self.record(record)
        with self.source.block("def read(x):"):
            self.level = "1"
            self.source.line("x = x.value")
            self.value(self.schema.root, "x")
            self.source.line("return x")
        found: Callable[[Any], Any] = self.source.compile("struct reader")["read"]
        return found

    def refuse(self, test: str) -> None:
        """Whatever the guard: what would be no value of the type is refused."""
        self.source.line(f"if {test}: raise {self.known(BadTree)}")

    def value(self, type_: Type, x: str) -> None:
        """What a field stored that is not set where it is None."""
        if isinstance(type_, Optional):
            with self.source.block(f"if {x} is not None:"):
                self.emit(type_.item, x)
        else:
            self.refuse(f"{x} is None")
            self.emit(type_, x)

    def emit(self, type_: Type, x: str) -> None:
        match type_:
            case Null():
                self.source.line(f"{x} = None")
            case Bool():
                pass
            case Int() if self.plan.is_reinterpreted(type_):
                self.source.line(f"if {x} < 0: {x} += {1 << 64}")
            case Int(signed=signed):
                if not signed:
                    self.unless(range_test(type_, x).removeprefix(" and "))
            case Float(bits=bits):
                if bits == 32:
                    self.source.line(f"{x} = {self.known(round_float32)}({x})")
            case Str(size=size):
                self.source.line(f"{x} = {self.known(text_of)}({x})")
                if size is not None:
                    self.unless(f"len({x}.encode()) <= {size}")
            case Bytes(size=size):
                if size is not None:
                    self.unless(f"len({x}) == {size}")
                if not self.copy:
                    self.source.line(f"{x} = memoryview({x})")
            case Tensor():
                self.source.line(f"{x} = {self.known(read_tensor(type_, copy=self.copy))}({x})")
            case Optional():
                self.source.line(f"{x} = {x}.value")
                self.value(type_, x)
            case _:
                super().emit(type_, x)

    def enum(self, type_: Enum, x: str) -> None:
        members = dict(zip(self.plan.numbers(type_), type_.values, strict=True))
        self.source.line(f"{x} = {self.known(members)}[{x}]")

    def scalars(self, item: Type, x: str, items: str) -> bool:
        match item:
            case Bool() | Float(bits=64) | Int(signed=True):
                return True
            case Str(size=None) if items == x:
                self.source.line(f"{x} = [*map({self.known(text_of)}, {x})]")
                return True
            case Int() if not self.plan.is_reinterpreted(item):
                self.unless(f"not {x} or min({items}) >= {item.low} and max({items}) <= {item.high}")
                return True
        return False

    def has_floats(self, _type: Type) -> bool:
        # Whatever stands as it is in a tree may still be a struct here.
        return True

    def map_(self, type_: Map, x: str) -> None:
        self.bound_depth()
        self.unless(f"len({x}) <= {self.limits.elements}")
        if type_.key.kind is not Kind.STR and not self.plan.is_reinterpreted(type_.key):
            self.scalars(type_.key, x, x)
            if self.scalars(type_.value, x, f"{x}.values()"):
                return
        key, value, out = self.source.variable(), self.source.variable(), self.source.variable()
        self.source.line(f"{out} = {{}}")
        with self.deeper_level(), self.source.block(f"for {key}, {value} in {x}.items():"):
            self.emit(type_.key, key)
            self.emit(type_.value, value)
            self.source.line(f"{out}[{key}] = {value}")
        self.source.line(f"{x} = {out}")

    def union(self, type_: Union, x: str) -> None:
        found, count, y = self.source.variable(), self.source.variable(), self.source.variable()
        self.source.line(f"{found} = None; {count} = 0")
        for member in self.plan.struct(type_).members:
            self.source.line(f"{y} = {x}.{member.name}")
            with self.source.block(f"if {y} is not None:"):
                self.source.line(f"{count} += 1")
                self.emit(member.type, y)
                self.source.line(f"{found} = {y}")
        self.refuse(f"{count} != 1")
        self.source.line(f"{x} = {found}")

    # Records --------------------------------------------------------------------------------------------------------

    def record(self, record: Record) -> None:
        self.level = "n"
        with self.source.block(f"def {self.functions[record.name]}({self.parameters('s')}):"):
            self.bound_depth()
            if record.cls is None:
                self.dict_(record)
            else:
                self.object_(record, record.cls)

    def field_of(self, record: Record, item: Field, x: str, missing: str) -> None:
        """Read a field of the struct s; `missing` is what becomes of x where it is not set."""
        self.source.line(f"{x} = s.{self.plan.name(record, item)}")
        with self.source.block(f"if {x} is None:"):
            self.source.line(missing)
        with self.source.block("else:"), self.deeper_level():
            self.emit(item.type if self.plan.is_wrapped(item) else self.plan.in_field(item.type), x)

    def missing(self, item: Field, x: str) -> str:
        if item.has_default:
            return f"{x} = {self.default(item)}"
        # Not set is None where that is the only thing it can mean.
        return "pass" if isinstance(item.type, Optional) else f"raise {self.known(BadTree)}"

    def object_(self, record: Record, cls: type) -> None:
        variables = []
        for item in record.fields:
            x = self.source.variable()
            variables.append(x)
            self.field_of(record, item, x, self.missing(item, x))
        self.source.line(f"return {self.known(cls)}({self.arguments(record, cls, variables)})")

    def dict_(self, record: Record) -> None:
        self.source.line("out = {}")
        for item in record.fields:
            x, key = self.source.variable(), self.known(item.name)
            if not item.may_be_absent:
                self.field_of(record, item, x, self.missing(item, x))
                self.source.line(f"out[{key}] = {x}")
                continue
            self.field_of(record, item, x, f"{x} = {self.known(_ABSENT)}")
            self.source.line(f"if {x} is not {self.known(_ABSENT)}: out[{key}] = {x}")
        self.source.line("return out")
