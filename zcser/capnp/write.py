"""Writers for the library's dynamic builders, generated from a layout: one function per struct.

1. A field is set by the library's own object for it, found once: by name it would be looked up at each call. Lists of
   scalars and of text are handed over whole, for the library's own loop.
2. With `normalise` every value's class is looked at first, and what is not normal yet is made so or refused. Any other
   exception of a writer means that the value does not fit; the caller finds the words.
3. The library stores a double that is out of float32's range as infinity: such a number is looked at here.

Nothing of the library is imported here: writers call the methods of the builder that they are given.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Sequence
from typing import Any, cast

from zcser.capnp.layout import Layout, Missing, Slot, Struct, is_scalar
from zcser.capnp.tensors import Normalise, tensor_writer
from zcser.core.source import Source
from zcser.schema.model import (
    Bytes,
    Enum,
    Float,
    Kind,
    List,
    Map,
    Optional,
    Record,
    Ref,
    Str,
    Tensor,
    Type,
    Union,
    strip_optional,
)

__all__ = ["Fields", "Writer", "compile_writer"]

Fields = Callable[[Struct, str], Any]
"""The library's object for a field of a struct, by its name in .capnp."""

Writer = Callable[[Any, Any, int], None]
"""Struct builder, value and depth around it."""

_FLOAT32_BOUND = 3.4028235677973366e38
"""Half way between float32's largest and the next one that it would have: from here on numbers round to infinity."""


def compile_writer(layout: Layout, fields: Fields, *, normalise: Normalise | None, depth: int, ordered: bool) -> Writer:
    """The writer of a layout's root.

    Parameters
    ----------
    layout
        What is written.
    fields
        See `Fields`.
    normalise
        Makes a value normal, or raises; None to trust the values.
    depth
        ``limits.depth``.
    ordered
        Whether maps are written in the order of their keys.
    """
    return _Generator(layout, fields, normalise, depth, ordered).compile()


class _Generator:
    """Writes one function per struct: ``b`` is its builder, ``x`` the value, ``d`` the depth around it."""

    def __init__(self, layout: Layout, fields: Fields, normalise: Normalise | None, depth: int, ordered: bool) -> None:
        self.layout = layout
        self.fields = fields
        self.normalise = normalise
        self.ordered = ordered
        self.counts_depth = bool(layout.schema.recursive)
        self.source = Source()
        self.source.namespace.update(N=normalise, LIMIT=depth, ABSENT=object(), BOUND=_FLOAT32_BOUND, pack=struct.pack)
        self.records: dict[str, str] = {}
        self.waiting: list[Callable[[], None]] = []

    def compile(self) -> Writer:
        root = self.layout.schema.root
        name = self.function(root) if isinstance(root, Ref) else self.box_function(root)
        while self.waiting:
            self.waiting.pop()()
        return cast("Writer", self.source.compile("Cap'n Proto writer")[name])

    def later(self, kind: str, write: Callable[[str], None]) -> str:
        """The name of a function that `write` will write; functions do not stand inside each other."""
        name = f"{kind}_{self.source.variable()}"
        self.waiting.append(lambda: write(name))
        return name

    def function(self, type_: Type) -> str:
        """The writer of the struct of a record, tensor, union or optional."""
        match type_:
            # Types are equal whatever the classes of their values are: only records, whose names differ, share functions.
            case Ref():
                if type_.name not in self.records:
                    self.records[type_.name] = self.later("record", lambda name: self.record(name, type_))
                return self.records[type_.name]
            case Tensor():
                dtype, shape, data = (slot.name for slot in self.layout.struct(type_).slots)
                return self.source.constant(tensor_writer(type_, (dtype, shape, data), self.normalise))
            case Union():
                return self.later("union", lambda name: self.union(name, type_))
        return self.box_function(type_)

    def box_function(self, type_: Type) -> str:
        return self.later("box", lambda name: self.box(name, type_))

    def box(self, name: str, type_: Type) -> None:
        struct = self.layout.boxes[type_]
        with self.source.block(f"def {name}(b, x, d):"):
            self.slots(struct, [(struct.slots[0], strip_optional(type_)[0], "x")])

    def entry(self, name: str, type_: Map) -> None:
        struct = self.layout.entries[type_]
        with self.source.block(f"def {name}(b, y, x, d):"):
            key, value = struct.slots
            self.slots(struct, [(key, type_.key, "y"), (value, strip_optional(type_.value)[0], "x")])

    def union(self, name: str, type_: Union) -> None:
        struct, line = self.layout.unions[type_], self.source.line
        with self.source.block(f"def {name}(b, x, d):"):
            line("c = x.__class__")
            for number, (option, slot) in enumerate(zip(type_.options, struct.slots, strict=True)):
                cls = self.source.constant(self.layout.schema.python_type(option))
                with self.source.block(f"{'elif' if number else 'if'} c is {cls}:"):
                    self.slots(struct, [(slot, option, "x")])
            if self.normalise is None:
                line("else: raise TypeError(f'{c.__name__} is no option of the union')")
            else:
                line(f"else: {name}(b, N({self.source.constant(type_)}, x), d)")

    def record(self, name: str, type_: Ref) -> None:
        record, line = self.layout.schema.resolve(type_), self.source.line
        struct = self.layout.records[type_.name]
        variables = {item.name: f"a{number}" for number, item in enumerate(record.fields)}
        with self.source.block(f"def {name}(b, x, d):"):
            self.check(type_, "x", f"x.__class__ is not {self.source.constant(record.cls or dict)}")
            self.inner_depth()
            if record.cls is None:
                self.dict_fields(record, variables)
            elif variables:
                get = self.source.constant(operator.attrgetter(*variables))
                line(f"{', '.join(variables.values())} = {get}(x)")
            self.slots(
                struct,
                [
                    (slot, strip_optional(slot.field.type)[0], variables[slot.field.name])
                    for slot in struct.slots
                    if slot.field
                ],
            )

    def dict_fields(self, record: Record, variables: dict[str, str]) -> None:
        line, optional = self.source.line, []
        for item in record.fields:
            variable, key = variables[item.name], self.source.constant(item.name)
            line(f"{variable} = x.get({key}, ABSENT)" if item.may_be_absent else f"{variable} = x[{key}]")
            if item.may_be_absent:
                optional.append(f" + ({variable} is not ABSENT)")
        if self.normalise is not None:
            line(
                f"if len(x) != {len(variables) - len(optional)}{''.join(optional)}: raise KeyError('an unknown field')"
            )

    def inner_depth(self) -> None:
        """``d`` becomes the depth inside a container, where that must be known."""
        if self.counts_depth:
            self.source.line("if d >= LIMIT: raise RecursionError('nested deeper than limits.depth')")
            self.source.line("d += 1")

    def check(self, type_: Type, variable: str, condition: str) -> None:
        """Make a variable normal where `condition` says that it is not."""
        if self.normalise is not None:
            self.source.line(f"if {condition}: {variable} = N({self.source.constant(type_)}, {variable})")

    def slots(self, struct: Struct, values: Sequence[tuple[Slot, Type, str]]) -> None:
        """Write slots of a struct, each with the type and variable of its value."""
        self.source.line("s = b._set_by_field")
        for slot, type_, variable in values:
            absent = {Missing.ABSENT: "ABSENT", Missing.NONE: "None"}.get(slot.missing)
            if absent is None:
                self.slot(struct, slot, type_, variable)
            else:
                with self.source.block(f"if {variable} is not {absent}:"):
                    self.slot(struct, slot, type_, variable)

    def slot(self, struct: Struct, slot: Slot, type_: Type, variable: str) -> None:
        """Write a slot that is there."""
        line = self.source.line
        field, name = self.source.constant(self.fields(struct, slot.name)), self.source.constant(slot.name)
        if slot.flag is not None:
            line(f"s({self.source.constant(self.fields(struct, slot.flag))}, True)")
        stored = slot.type if isinstance(slot.type, Optional) else type_
        if isinstance(stored, Ref | Tensor | Union | Optional):
            line(f"{self.function(stored)}(b._init_by_field({field}), {variable}, d)")
        elif isinstance(type_, List | Map):
            self.container(type_, variable, f"b._set({name}, {{}})", f"b._init_by_field({field}, {{}})")
        else:
            self.leaf(type_, variable)
            # A null is the zero that stands there already, unless a union's member must be chosen.
            if type_.kind is not Kind.NULL or struct.is_union:
                line(f"s({field}, {variable if type_.kind is not Kind.NULL else 'False'})")

    def leaf(self, type_: Type, variable: str) -> None:
        """Replace a scalar, text or bytes by what the library takes."""
        line = self.source.line
        match type_:
            case Str(size):
                # What is sized is rare, and its size in UTF-8 is for the normal form to find.
                self.check(type_, variable, f"{variable}.__class__ is not str" if size is None else "True")
            case Bytes(size):
                unfit = "" if size is None else f" or len({variable}) != {size}"
                self.check(type_, variable, f"{variable}.__class__ is not bytes{unfit}")
            case Enum():
                self.check(type_, variable, f"{variable}.__class__ is not {self.class_of(type_)}")
                line(f"{variable} = {self.ordinals(type_)}[{variable}]")
            case Float(32):
                self.check(type_, variable, f"{variable}.__class__ is not float or not -BOUND < {variable} < BOUND")
            case _:
                self.check(type_, variable, f"{variable}.__class__ is not {self.class_of(type_)}")

    def class_of(self, type_: Type) -> str:
        return self.source.constant(self.layout.schema.python_type(type_))

    def ordinals(self, type_: Enum) -> str:
        """The ordinals of an enum's members, by the member as it stands in a value."""
        return self.source.constant({value: ordinal for ordinal, value in enumerate(type_.values)})

    def container(self, type_: List | Map, variable: str, put: str, init: str) -> None:
        """Write a list or map: whole by `put`, or item by item into the list that `init` makes of a length."""
        if isinstance(type_, Map):
            self.map(type_, variable, init)
        elif is_scalar(type_.item) or isinstance(type_.item, Str | Bytes):
            self.leaves(type_, variable, put)
        else:
            self.items(type_, variable, init)

    def leaves(self, type_: List, variable: str, put: str) -> None:
        """Write a list of scalars, text or bytes by the library's own loop."""
        line, item = self.source.line, type_.item
        classes = self.source.constant(frozenset({self.layout.schema.python_type(item)}))
        sized = isinstance(item, Str | Bytes) and item.size is not None
        unfit = self.unfit(type_, variable) + f" or not {classes}.issuperset(map(type, {variable}))"
        self.check(type_, variable, "True" if sized else unfit)
        if self.counts_depth:
            line("if d >= LIMIT: raise RecursionError('nested deeper than limits.depth')")
        items = variable
        if isinstance(item, Enum):
            # A list's items the library takes by name only.
            names = (name for name, _ in self.layout.enums[item].members)
            named = self.source.constant(dict(zip(item.values, names, strict=True)))
            items = f"list(map({named}.__getitem__, {variable}))"
        elif item.kind is Kind.NULL:
            items = f"[False] * len({variable})"
        elif item == Float(32):
            line(f"pack(f'<{{len({variable})}}f', *{variable})")
        line(put.format(items))

    def unfit(self, type_: List, variable: str) -> str:
        length = "" if type_.length is None else f" or len({variable}) != {type_.length}"
        return f"{variable}.__class__ is not {type_.container}{length}"

    def items(self, type_: List, variable: str, init: str) -> None:
        """Write a list whose items are structs or lists."""
        item = type_.item
        self.check(type_, variable, self.unfit(type_, variable))

        def write(name: str) -> None:
            with self.source.block(f"def {name}(l, x, d):"):
                self.inner_depth()
                if isinstance(item, List | Map):
                    with self.source.block("for i, v in enumerate(x):"):
                        self.container(item, "v", "l._set(i, {})", "l.init(i, {})")
                else:
                    self.source.line("g = l._get")
                    self.source.line(f"for i, v in enumerate(x): {self.function(item)}(g(i), v, d)")

        self.source.line(f"{self.later('list', write)}({init.format(f'len({variable})')}, {variable}, d)")

    def map(self, type_: Map, variable: str, init: str) -> None:
        cls = self.source.constant(frozenset({self.layout.schema.python_type(type_.key)}))
        self.check(type_, variable, f"{variable}.__class__ is not dict or not {cls}.issuperset(map(type, {variable}))")
        entry = self.later("entry", lambda name: self.entry(name, type_))

        def write(name: str) -> None:
            with self.source.block(f"def {name}(l, x, d):"):
                self.inner_depth()
                self.source.line("g = l._get")
                items = "sorted(x.items(), key=first)" if self.ordered else "x.items()"
                self.source.line(f"for i, (k, v) in enumerate({items}): {entry}(g(i), k, v, d)")

        self.source.namespace["first"] = operator.itemgetter(0)
        self.source.line(f"{self.later('map', write)}({init.format(f'len({variable})')}, {variable}, d)")
