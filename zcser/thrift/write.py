"""From values to structs: `zcser.tree.write`, for the forms of `zcser.thrift.plan`.

An Optional that is emitted stands in a list, map or struct of its own; those of fields are handled where the field is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from zcser.core.dtypes import dtype_name
from zcser.core.options import Options
from zcser.schema.model import Enum, Field, Int, Map, Null, Optional, Record, Ref, Tensor, Type, Union
from zcser.schema.normal import Normaliser
from zcser.thrift.structs import Structs
from zcser.tree.form import Form
from zcser.tree.write import Writer

__all__ = ["FORM", "thrift_writer"]

FORM = Form(native_bytes=True, finite=False, text_keys=False, big_ints=False)

_ABSENT: Final = object()


def thrift_writer(structs: Structs, options: Options, normaliser: Normaliser) -> Callable[[Any], Any]:
    """A function from a value to the root's struct, which raises any exception where the value does not fit."""
    return _Writer(structs, options, normaliser).compile()


class _Writer(Writer):
    def __init__(self, structs: Structs, options: Options, normaliser: Normaliser) -> None:
        super().__init__(structs.plan.schema, FORM, options, normaliser)
        self.structs = structs
        self.plan = structs.plan
        self.keeps_order = False
        if any(isinstance(type_, Tensor) for type_ in self.plan.structs):
            self.tensor_tree = self._tensor_of(structs.cls(self.plan.struct(Tensor())))

    @staticmethod
    def _tensor_of(tensor: Any) -> Callable[[npt.NDArray[np.generic]], Any]:
        def write(array: npt.NDArray[np.generic]) -> Any:
            struct = tensor()
            struct.dtype = dtype_name(array.dtype)
            struct.shape = array.shape
            struct.data = array.tobytes()
            return struct

        return write

    def compile(self) -> Callable[..., Any]:
        for record in self.schema.records:
            self.record(record)
        with self.source.block("def write(x):"):
            self.level = "1"
            if self.plan.is_bare:
                self.emit(self.schema.root, "x")
            else:
                self.value(self.schema.root, "x")
                self.put_in(self.structs.cls(self.plan.root), "value", "x")
            self.source.line("return x")
        found: Callable[..., Any] = self.source.compile("struct writer")["write"]
        return found

    def stands(self, type_: Type) -> bool:
        return not self.guard and not self.sort and self.plan.stands(type_)

    def put_in(self, cls: type, name: str, x: str) -> None:
        """Put x into a struct with one member set."""
        y = self.source.variable()
        self.source.line(f"{y} = {self.known(cls)}(); {y}.{name} = {x}; {x} = {y}")

    def value(self, type_: Type, x: str) -> None:
        """What a field stores that is not set where it is None."""
        if isinstance(type_, Optional):
            with self.source.block(f"if {x} is not None:"):
                self.emit(type_.item, x)
        else:
            self.emit(type_, x)

    def emit(self, type_: Type, x: str) -> None:
        match type_:
            case Null():
                super().emit(type_, x)
                self.source.line(f"{x} = True")
            case Optional():
                self.value(type_, x)
                self.put_in(self.structs.cls(self.plan.struct(type_)), "value", x)
            case _:
                super().emit(type_, x)

    def int_(self, type_: Int, x: str) -> None:
        super().int_(type_, x)
        if self.plan.is_reinterpreted(type_):
            self.source.line(f"if {x} >= {1 << 63}: {x} -= {1 << 64}")

    def enum(self, type_: Enum, x: str) -> None:
        super().enum(type_, x)  # leaves the member's value
        numbers = dict(zip((value for _, value in type_.members), self.plan.numbers(type_), strict=True))
        self.source.line(f"{x} = {self.known(numbers)}[{x}]")

    def scalars(self, whole: Type, item: Type, x: str, items: str) -> bool:
        return self.plan.stands(item) and super().scalars(whole, item, x, items)

    def map_(self, type_: Map, x: str) -> None:
        if not self.plan.is_reinterpreted(type_.key):
            super().map_(type_, x)
            return
        self.bound_depth()
        self.unless(f"{x}.__class__ is dict and len({x}) <= {self.limits.elements}", type_, x)
        super().scalars(type_, type_.key, x, x)
        if self.sort:
            self.source.line(f"{x} = dict(sorted({x}.items()))")
        key, value, out = self.source.variable(), self.source.variable(), self.source.variable()
        self.source.line(f"{out} = {{}}")
        with self.deeper_level(), self.source.block(f"for {key}, {value} in {x}.items():"):
            self.emit(type_.key, key)
            self.emit(type_.value, value)
            self.source.line(f"{out}[{key}] = {value}")
        self.source.line(f"{x} = {out}")

    def tag(self, type_: Union, number: int, x: str) -> None:
        struct = self.plan.struct(type_)
        self.put_in(self.structs.cls(struct), struct.members[number].name, x)

    # Records --------------------------------------------------------------------------------------------------------

    def field_of(self, record: Record, item: Field, x: str) -> None:
        """Store x in the field of the struct s."""
        with self.deeper_level():
            (self.emit if self.plan.is_wrapped(item) else self.value)(item.type, x)
        self.source.line(f"s.{self.plan.name(record, item)} = {x}")

    def object_(self, record: Record, cls: type) -> None:
        self.unless(f"v.__class__ is {self.known(cls)}", Ref(record.name), "v")
        self.source.line(f"s = {self.known(self.structs.cls(self.plan.struct(Ref(record.name))))}()")
        for item in record.fields:
            x = self.source.variable()
            self.source.line(f"{x} = {self.attribute(item.name)}")
            self.field_of(record, item, x)
        self.source.line("return s")

    def dict_(self, record: Record) -> None:
        self.source.line(f"s = {self.known(self.structs.cls(self.plan.struct(Ref(record.name))))}()")
        self.source.line(f"count = {sum(item.required for item in record.fields)}")
        for item in record.fields:
            x, key = self.source.variable(), self.known(item.name)
            if item.required:
                self.source.line(f"{x} = v[{key}]")
                self.field_of(record, item, x)
                continue
            self.source.line(f"{x} = v.get({key}, {self.known(_ABSENT)})")
            with self.source.block(f"if {x} is not {self.known(_ABSENT)}:"):
                self.source.line("count += 1")
                self.field_of(record, item, x)
            if not item.may_be_absent:
                with self.source.block("else:"):
                    self.source.line(f"{x} = {self.known(item.make_default)}()")
                    self.field_of(record, item, x)
        if self.guard:
            # A key that is no field would be lost.
            self.source.line(f"if count != len(v): {self.normal(Ref(record.name))}(v)")
        self.source.line("return s")
