"""From values to trees: code generated for one schema.

1. One function per record; everything else is inlined, and lists of scalars are checked by loops in C.
2. A leaf that is of the exact type costs one comparison. One that is not goes to `Normaliser`, which changes it as the
   law allows or raises.
3. With the guard off no check is made, and what is its own tree is not walked at all.
4. The generated code need not explain itself: on any exception the codec asks `Normaliser` for the words.
"""

from __future__ import annotations

import functools
import keyword
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from zcser.core.dtypes import dtype_name
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
    walk,
)
from zcser.schema.normal import Normaliser
from zcser.tree.form import Form, is_plain, is_tagged, stands_as_itself, widens
from zcser.tree.leaves import is_text, round_float32, text_key, text_of_bytes
from zcser.tree.splice import BIG, Blob, bytes_blob, tensor_blob
from zcser.tree.tensors import tensor_writer
from zcser.tree.walk import Walk, range_test

__all__ = ["ABSENT", "Writer", "tree_builder", "tree_splicer", "tree_writer"]

ABSENT: Any = object()


def tree_writer(schema: Schema, form: Form, options: Options, normaliser: Normaliser) -> Callable[[Any], Any] | None:
    """A function from a value to its tree, or None where every value is its own tree and the guard is off."""
    if options.guard == "off" and not options.deterministic and stands_as_itself(schema.root, schema, form):
        return None
    return Writer(schema, form, options, normaliser).compile()


def tree_builder(
    schema: Schema, form: Form, options: Options, normaliser: Normaliser, owns: frozenset[str] = frozenset()
) -> Callable[[Any], Any]:
    """As `tree_writer`, but what stands as itself is not looked at: with the guard on, it is still to be checked.

    Parameters
    ----------
    owns
        The records whose values may be changed: new dicts of all their fields in the schema's order.
    """
    return Writer(schema, form, options, normaliser, trusts=True, owns=owns).compile()


def tree_splicer(
    schema: Schema, form: Form, options: Options, normaliser: Normaliser
) -> Callable[[Any, list[Blob]], Any]:
    """A function from a value and an empty list to a tree in which what is big is stood in for, and noted in the list."""
    return Writer(schema, form, options, normaliser, blobs=True).compile()


class Writer(Walk):
    """The generator; a format whose records, maps or unions stand otherwise overrides the methods of these kinds."""

    def __init__(
        self,
        schema: Schema,
        form: Form,
        options: Options,
        normaliser: Normaliser,
        *,
        blobs: bool = False,
        trusts: bool = False,
        owns: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(schema, form, options, "write", blobs=blobs, trusts=trusts)
        self.owns = owns
        self.sort = options.deterministic
        self.keeps_order = self.guard and not self.sort and is_plain(schema, form)
        self.normaliser = normaliser
        self.tensor_tree = tensor_writer(form, options)

    def compile(self) -> Callable[..., Any]:
        for record in self.schema.records:
            self.record(record)
        name = "write"
        if isinstance(self.schema.root, Ref):
            name = self.functions[self.schema.root.name]
        else:
            with self.source.block(f"def {name}(x{self.more}):"):
                self.level = "1"
                self.emit(self.schema.root, "x")
                self.source.line("return x")
        found: Callable[..., Any] = self.source.compile("tree writer")[name]
        return found

    # What the generated code is made of ---------------------------------------------------------------------------

    def normal(self, type_: Type) -> str:
        """The name of the slow way for one type."""
        return self.source.constant(functools.partial(self.normaliser.part, type_))

    def stands(self, type_: Type) -> bool:
        """Whether values of a type need not be looked at."""
        return (
            stands_as_itself(type_, self.schema, self.form)
            and not self.guard
            and not self.sort
            and not self.blobs
            and self.form.out_of_band is None
        )

    def unless(self, test: str, type_: Type, x: str) -> None:
        """With the guard on: where a test does not hold, take the slow way."""
        if self.guard:
            self.source.line(f"if not ({test}): {x} = {self.normal(type_)}({x})")

    # One method per kind: code that turns the variable x into its tree ---------------------------------------------

    def emit(self, type_: Type, x: str) -> None:
        if self.is_trusted(type_):
            return
        match type_:
            case Null():
                self.unless(f"{x} is None", type_, x)
            case Bool():
                self.unless(f"{x} is True or {x} is False", type_, x)
            case Int():
                self.int_(type_, x)
            case Float():
                self.float_(type_, x)
            case Str():
                sized = "" if type_.size is None else f" and len({x}.encode()) <= {type_.size}"
                text = f" and {self.known(is_text)}({x})" if self.form.surrogates else ""
                self.unless(f"{x}.__class__ is str{sized}{text}", type_, x)
            case Bytes():
                self.bytes_(type_, x)
            case Enum():
                self.enum(type_, x)
            case Tensor():
                self.source.line(f"{x} = {self.known(self.tensor(type_))}({x}{self.more})")
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

    def int_(self, type_: Int, x: str) -> None:
        self.unless(f"{x}.__class__ is int{range_test(type_, x)}", type_, x)
        if widens(type_, self.form):
            self.source.line(f"if {x} >= {1 << 63}: {x} = {self.known(self.form.wide_int)}({x})")

    def float_(self, type_: Float, x: str) -> None:
        # x - x is 0.0 for every finite float, and NaN otherwise: the cheapest test that there is.
        finite = f" and {x} - {x} == 0.0" if self.form.finite else ""
        self.unless(f"{x}.__class__ is float{finite}", type_, x)
        if type_.bits == 32 and self.guard:
            self.source.line(f"{x} = {self.known(round_float32)}({x})")

    def bytes_(self, type_: Bytes, x: str) -> None:
        sized = "" if type_.size is None else f" and len({x}) == {type_.size}"
        self.unless(f"{x}.__class__ is bytes{sized}", type_, x)
        if not self.form.native_bytes:
            self.source.line(f"{x} = {self.known(text_of_bytes)}({x})")
        elif self.blobs:
            self.source.line(f"if len({x}) >= {BIG}: {x} = {self.known(bytes_blob)}({x}, blobs)")
        elif self.form.out_of_band is not None:
            self.source.line(f"if len({x}) >= {BIG}: {x} = {self.known(self.form.out_of_band)}({x})")

    def enum(self, type_: Enum, x: str) -> None:
        if type_.cls is not None:
            self.unless(f"{x}.__class__ is {self.known(type_.cls)}", type_, x)
            self.source.line(f"{x} = {x}._value_")
        else:
            values = self.known(frozenset(type_.values))
            self.unless(f"{x}.__class__ is {type(type_.values[0]).__name__} and {x} in {values}", type_, x)

    def tensor(self, type_: Tensor) -> Callable[[Any], Any]:
        slow, tree_of = functools.partial(self.normaliser.part, type_), self.tensor_tree

        def write_tensor(value: Any, blobs: list[Blob] | None = None) -> Any:
            fits = (
                value.__class__ is np.ndarray
                and value.flags.c_contiguous
                and type_.shape is None
                and value.dtype.byteorder in "=|<"
                and (name := dtype_name(value.dtype)) is not None
                and type_.dtype in (None, name)
            )
            array = value if fits else slow(value)
            if blobs is not None and array.nbytes >= BIG:
                return tensor_blob(array, blobs)
            return tree_of(array)

        return write_tensor

    def list_(self, type_: List, x: str) -> None:
        length = f"len({x}) <= {self.limits.elements}" if type_.length is None else f"len({x}) == {type_.length}"
        self.bound_depth()
        self.unless(f"{x}.__class__ is {type_.container} and {length}", type_, x)
        if widens(type_.item, self.form) or not (self.stands(type_.item) or self.scalars(type_, type_.item, x, x)):
            self.comprehend(x, type_.item)
        elif self.form.keeps_tuples and type_.container == "tuple":
            self.source.line(f"{x} = list({x})")

    def scalars(self, whole: Type, item: Type, x: str, items: str) -> bool:
        """Check many scalars in C; False where the items are of a kind that must be looked at one by one."""
        tests: list[str] = []
        match item:
            case Bool() | Null():
                pass
            case Str(size=size):
                if size is not None:
                    tests = [f"all(len(s.encode()) <= {size} for s in {items})"]
                if self.form.surrogates:
                    tests.append(f"all(map({self.known(is_text)}, {items}))")
            case Bytes(size=size) if self.form.native_bytes and not self.blobs and self.form.out_of_band is None:
                if size is not None:
                    tests = [f"all(len(s) == {size} for s in {items})"]
            case Int(bits=bits):
                if bits is not None:
                    tests = [f"(not {x} or min({items}) >= {item.low} and max({items}) <= {item.high})"]
            case Float(bits=64):
                if self.form.finite:
                    # A sum is finite only if every term is; where it overflows, the slow way finds nothing wrong.
                    tests = [f"{self.known(math.isfinite)}(sum({items}))"]
            case _:
                return False
        only = self.only(item)
        self.unless(" and ".join([f"{only}.issuperset(map(type, {items}))", *tests]), whole, x)
        return True

    def comprehend(self, x: str, item: Type) -> None:
        """Turn each item of the list x into its tree, in a new list."""
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

    def map_(self, type_: Map, x: str) -> None:
        self.bound_depth()
        self.unless(f"{x}.__class__ is dict and len({x}) <= {self.limits.elements}", type_, x)
        if not self.is_trusted(type_.key):
            self.scalars(type_, type_.key, x, x)
        if self.form.key_fault is not None and type_.key.kind is Kind.STR:
            self.unless(f"not any(map({self.known(self.form.key_fault)}, {x}))", type_, x)
        if self.sort:
            self.source.line(f"{x} = dict(sorted({x}.items()))")
        plain = not widens(type_.value, self.form) and self.scalars(type_, type_.value, x, f"{x}.values()")
        as_text = self.form.text_keys and type_.key.kind is not Kind.STR
        key, value, out = self.source.variable(), self.source.variable(), self.source.variable()
        new_key = f"{self.known(text_key)}({key})" if as_text else key
        if plain or self.stands(type_.value):
            if as_text:
                self.source.line(f"{x} = {{{new_key}: {value} for {key}, {value} in {x}.items()}}")
            return
        self.source.line(f"{out} = {{}}")
        with self.deeper_level(), self.source.block(f"for {key}, {value} in {x}.items():"):
            self.emit(type_.value, value)
            self.source.line(f"{out}[{new_key}] = {value}")
        self.source.line(f"{x} = {out}")

    def union(self, type_: Union, x: str) -> None:
        classes = [self.known(self.schema.python_type(option)) for option in type_.options]
        if self.guard:
            # np.float32 and its like become one of the options first.
            known = self.known(frozenset(self.schema.python_type(option) for option in type_.options))
            self.unless(f"{x}.__class__ in {known}", type_, x)
        for number, option in enumerate(type_.options):
            with self.source.block(f"{'el' if number else ''}if {x}.__class__ is {classes[number]}:"):
                self.emit(option, x)
                self.tag(type_, number, x)

    def tag(self, type_: Union, number: int, x: str) -> None:
        """Put the name of a union's option beside its tree, where it is needed."""
        if is_tagged(type_, self.form):
            self.source.line(f"{x} = {{{self.known(type_.names[number])}: {x}}}")

    def record(self, record: Record) -> None:
        self.level = "n"
        with self.source.block(f"def {self.functions[record.name]}({self.parameters('v')}):"):
            self.bound_depth()
            if record.cls is not None:
                self.object_(record, record.cls)
            else:
                self.unless("v.__class__ is dict", Ref(record.name), "v")
                self.dict_(record)

    def entries(self, record: Record) -> list[tuple[str, Field]]:
        """The fields of a record by the names that they have in its tree, in the order of the tree."""
        return [(item.name, item) for item in record.fields]

    def object_(self, record: Record, cls: type) -> None:
        self.unless(f"v.__class__ is {self.known(cls)}", Ref(record.name), "v")
        pairs = []
        for name, item in self.entries(record):
            x = self.attribute(item.name)
            if not self.is_trusted(item.type):
                attribute, x = x, self.source.variable()
                self.source.line(f"{x} = {attribute}")
                self.field(item.type, x)
            pairs.append(f"{self.known(name)}: {x}")
        self.source.line(f"return {{{', '.join(pairs)}}}")

    def is_trusted(self, type_: Type) -> bool:
        # A dict record is made anew, in the order of its fields: not only what is wrong in it counts.
        return super().is_trusted(type_) and not any(isinstance(part, Ref) for part in walk(type_))

    def inline(self, record: Record, x: str) -> str | None:
        if record.cls is None or not all(self.is_trusted(item.type) for item in record.fields):
            return None
        pairs = ", ".join(f"{self.known(name)}: {self.attribute(item.name, x)}" for name, item in self.entries(record))
        if not self.guard:
            return f"{{{pairs}}}"
        return f"({{{pairs}}} if {x}.__class__ is {self.known(record.cls)} else {self.call(record.name, x)})"

    def attribute(self, name: str, x: str = "v") -> str:
        # Source is normalised (NFKC) by the compiler, a name given to setattr is not.
        plain = name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
        return f"{x}.{name}" if plain else f"getattr({x}, {self.known(name)})"

    def dict_(self, record: Record) -> None:
        if self.is_owned(record):
            self.owned_dict(record)
            return
        if self.keeps_order:
            self.same_dict(record)
            return
        pairs, absent = [], [item for item in record.fields if not item.required]
        for item in record.fields:
            if item.required:
                x = self.source.variable()
                self.source.line(f"{x} = v[{self.known(item.name)}]")
                self.field(item.type, x)
                pairs.append(f"{self.known(item.name)}: {x}")
        self.source.line(f"out = {{{', '.join(pairs)}}}")
        for item in absent:
            x, key = self.source.variable(), self.known(item.name)
            self.source.line(f"{x} = v.get({key}, {self.known(ABSENT)})")
            with self.source.block(f"if {x} is not {self.known(ABSENT)}:"):
                self.field(item.type, x)
                self.source.line(f"out[{key}] = {x}")
        if self.guard:
            # A key that is no field would be lost.
            self.source.line(f"if len(out) != len(v): {self.normal(Ref(record.name))}(v)")
        self.source.line("return out")

    def same_dict(self, record: Record) -> None:
        """The dict itself, or a copy with what has changed: its keys keep their order, as where zcser.tree.native writes it."""
        self.source.line(f"out, count = v, {sum(item.required for item in record.fields)}")
        for item in record.fields:
            x, old, key = self.source.variable(), self.source.variable(), self.known(item.name)
            if item.required:
                self.source.line(f"{x} = {old} = v[{key}]")
                self.field(item.type, x)
                self.replace(key, x, old)
                continue
            self.source.line(f"{x} = {old} = v.get({key}, {self.known(ABSENT)})")
            with self.source.block(f"if {x} is not {self.known(ABSENT)}:"):
                self.source.line("count += 1")
                self.field(item.type, x)
                self.replace(key, x, old)
        self.source.line(f"if count != len(v): {self.normal(Ref(record.name))}(v)")
        self.source.line("return out")

    def is_owned(self, record: Record) -> bool:
        """Whether a dict can become its own tree: it has the names and the order of one."""
        # A new tree would have what is required first.
        required = [item.required for item in record.fields]
        return record.name in self.owns and required == sorted(required, reverse=True)

    def owned_dict(self, record: Record) -> None:
        """The dict itself, in which what does not stand as itself is replaced."""
        for item in record.fields:
            if not self.is_ready(item.type):
                x, key = self.source.variable(), self.known(item.name)
                self.source.line(f"{x} = v[{key}]")
                self.field(item.type, x)
                self.source.line(f"v[{key}] = {x}")
        self.source.line("return v")

    def is_ready(self, type_: Type, _seen: frozenset[str] = frozenset()) -> bool:
        """Whether values that may be changed are their own trees as they are."""
        if self.is_trusted(type_):
            return True
        match type_:
            case List(item=item, container="list"):
                return self.is_ready(item, _seen)
            case Ref(name) if name not in _seen:
                record = self.schema.record(name)
                return self.is_owned(record) and all(self.is_ready(item.type, _seen | {name}) for item in record.fields)
        return False

    def replace(self, key: str, x: str, old: str) -> None:
        with self.source.block(f"if {x} is not {old}:"):
            self.source.line("if out is v: out = dict(v)")
            self.source.line(f"out[{key}] = {x}")

    def field(self, type_: Type, x: str) -> None:
        with self.deeper_level():
            self.emit(type_, x)
