"""The conversion between the values of a schema and those of its wire schema, as generated code.

1. Only what `Lowering.touches` is rebuilt; everything else is passed on as it is, and is the codec's own to check.
2. Lowering takes values that are normal wherever it looks, and raises whatever comes of others: the caller has
   `zcser.schema.normal` make them normal, or say what is wrong.
3. Lifting takes what a codec decoded, which fits the wire schema, and changes nothing of it. It raises what the classes
   of the values do.
4. The items of a set stand in ascending order, so that equal sets have equal bytes: numbers by value, NaN last; text by
   code points; bytes and enums by value; tuples item by item.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable
from typing import Any, NoReturn

from zcser.core.source import Source
from zcser.schema.classes import has_extras, keywords_of, positional, validator_of
from zcser.schema.lower import BOXED, Lowering, WireDefault
from zcser.schema.model import (
    Bytes,
    Enum,
    Field,
    Float,
    List,
    Logical,
    Map,
    Optional,
    Record,
    Ref,
    Set,
    Type,
    Union,
    walk,
)

__all__ = ["Conversion", "NotNormalError"]

_ABSENT = object()


class NotNormalError(Exception):
    """A value is not of the class that its place needs."""


class Conversion:
    """The generated functions of a lowering.

    Parameters
    ----------
    lowering
        Of the schema. The defaults of its wire schema are ready from now on.
    """

    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering
        coder = _Coder(lowering)
        schema = lowering.schema
        types = dict.fromkeys(
            part
            for type_ in (schema.root, *(item.type for record in schema.records for item in record.fields))
            for part in walk(type_)
            if lowering.touches(part)
        )
        coder.unions = {type_: number for number, type_ in enumerate(types) if isinstance(type_, Union)}
        for union in coder.unions:
            coder.union(union)
        for number, type_ in enumerate(types):
            coder.part(number, type_)
        for name in sorted(lowering.records):
            coder.record(schema.record(name))
        namespace = coder.source.compile("conversion")
        self._lower = {type_: namespace[f"lower_part{number}"] for number, type_ in enumerate(types)}
        self._lift = {type_: namespace[f"lift_part{number}"] for number, type_ in enumerate(types)}
        for name in lowering.records:
            if schema.record(name).transparent:
                continue
            for item in lowering.wire.record(name).fields:
                if isinstance(item.default_factory, WireDefault):
                    item.default_factory.lower = self.lower(item.default_factory.item.type)

    def lower(self, type_: Type) -> Callable[[Any], Any]:
        """From values of a type of the schema to those of the wire schema."""
        found: Callable[[Any], Any] = self._lower.get(type_, _same)
        return found

    def lift(self, type_: Type) -> Callable[[Any], Any]:
        """The way back."""
        found: Callable[[Any], Any] = self._lift.get(type_, _same)
        return found


def _same(value: Any) -> Any:
    return value


class _Coder:
    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering
        self.schema = lowering.schema
        self.source = Source()
        names = sorted(lowering.records)
        self.wire = lowering.wire
        self.numbers = {name: number for number, name in enumerate(names)}
        self.unions: dict[Union, int] = {}

    def known(self, value: Any) -> str:
        return self.source.constant(value)

    def part(self, number: int, type_: Type) -> None:
        with self.source.block(f"def lower_part{number}(x):"):
            self.source.line(f"return {self.lower(type_, 'x')}")
        with self.source.block(f"def lift_part{number}(x):"):
            self.source.line(f"return {self.lift(type_, 'x')}")

    def record(self, record: Record) -> None:
        number = self.numbers[record.name]
        names = self.lowering.names(record)
        with self.source.block(f"def lower_record{number}(v):"):
            if record.transparent:
                self.lower_root(record, record.fields[0])
            elif record.cls is None:
                self.lower_dict(record, names)
            else:
                self.lower_object(record, record.cls, names)
        with self.source.block(f"def lift_record{number}(d):"):
            if record.transparent:
                self.lift_root(record, record.fields[0])
            elif record.cls is None:
                self.lift_dict(record, names)
            else:
                self.lift_object(record, record.cls, names)

    # Expressions over the variable x ------------------------------------------------------------------------------------

    def lower(self, type_: Type, x: str, *, key: bool = False) -> str:
        if not self.lowering.touches(type_):
            return x
        match type_:
            case Logical():
                return f"{self.known(self.lowering.form(type_, key=key).lower)}({x})"
            case Optional(item):
                return f"(None if {x} is None else {self.lower(item, x)})"
            case List(item=item):
                y, container = self.source.variable(), type_.container
                items = f"[{self.lower(item, y)} for {y} in {self.exact(x, container)}]"
                return f"tuple({items})" if container == "tuple" else items
            case Set(item):
                return self.lower_set(type_, item, x)
            case Map(map_key, value):
                k, y = self.source.variable(), self.source.variable()
                new_key = self.lower(map_key, k, key=True)
                return f"{{{new_key}: {self.lower(value, y)} for {k}, {y} in {self.exact(x, 'dict')}.items()}}"
            case Union():
                return f"lower_union{self.unions[type_]}({x})"
            case Ref(name):
                return f"lower_record{self.numbers[name]}({x})"
        raise AssertionError(type_)

    def exact(self, x: str, cls: str) -> str:
        return f"({x} if {x}.__class__ is {cls} else {self.known(_refuse)}({x}))"

    def lower_set(self, type_: Set, item: Type, x: str) -> str:
        y = self.source.variable()
        items = self.exact(x, "frozenset" if type_.frozen else "set")
        if self.lowering.touches(item):
            items = f"[{self.lower(item, y)} for {y} in {items}]"
        order = _order(item)
        return f"sorted({items})" if order is None else f"sorted({items}, key={self.known(order)})"

    def lift(self, type_: Type, x: str, *, key: bool = False) -> str:
        if not self.lowering.touches(type_):
            return x
        match type_:
            case Logical():
                return f"{self.known(self.lowering.form(type_, key=key).lift)}({x})"
            case Optional(item):
                return f"(None if {x} is None else {self.lift(item, x)})"
            case List(item=item):
                y = self.source.variable()
                items = f"[{self.lift(item, y)} for {y} in {x}]"
                return f"tuple({items})" if type_.container == "tuple" else items
            case Set(item):
                y = self.source.variable()
                # Bytes that alias a message would be memoryviews.
                one = f"bytes({y})" if isinstance(item, Bytes) else self.lift(item, y)
                items = x if one == y else f"[{one} for {y} in {x}]"
                return f"{self.known(_frozenset_of if type_.frozen else _set_of)}({items})"
            case Map(map_key, value):
                k, y = self.source.variable(), self.source.variable()
                new_key = self.lift(map_key, k, key=True)
                items = f"{{{new_key}: {self.lift(value, y)} for {k}, {y} in {x}.items()}}"
                return items if new_key == k else f"{self.known(_as_many)}({items}, {x})"
            case Union():
                return f"lift_union{self.unions[type_]}({x})"
            case Ref(name):
                return f"lift_record{self.numbers[name]}({x})"
        raise AssertionError(type_)

    # Unions: functions of their own, which know an option by its class -------------------------------------------------

    def union(self, union: Union) -> None:
        wire = self.lowering.unions[union]
        number = self.unions[union]
        with self.source.block(f"def lower_union{number}(x):"):
            for option, wired in zip(union.options, wire.options, strict=True):
                made = self.lower(option, "x")
                if (union, option) in self.lowering.boxes:
                    made = f"{self.known(self.wire.python_type(wired))}({BOXED}={made})"
                with self.source.block(f"if x.__class__ is {self.known(self.schema.python_type(option))}:"):
                    self.source.line(f"return {made}")
            self.source.line(f"return {self.known(_refuse)}(x)")
        with self.source.block(f"def lift_union{number}(x):"):
            for option, wired in zip(union.options, wire.options, strict=True):
                boxed = (union, option) in self.lowering.boxes
                cls = self.known(self.wire.python_type(wired))
                aliased = f" or x.__class__ is {self.known(memoryview)}" if isinstance(wired, Bytes) else ""
                with self.source.block(f"if x.__class__ is {cls}{aliased}:"):
                    if boxed:
                        self.source.line(f"x = x.{BOXED}")
                    self.source.line(f"return {self.lift(option, 'x')}")
            self.source.line(f"return {self.known(_refuse)}(x)")

    # Records ------------------------------------------------------------------------------------------------------------

    def lower_root(self, record: Record, root: Field) -> None:
        if record.cls is None:
            with self.source.block(f"if v.__class__ is not dict or v.keys() != {self.known({root.name})}:"):
                self.source.line(f"{self.known(_refuse)}(v)")
            self.source.line(f"x = v[{self.known(root.name)}]")
        else:
            self.source.line(f"if v.__class__ is not {self.known(record.cls)}: {self.known(_refuse)}(v)")
            self.source.line(f"x = {self.attribute(root.name)}")
        self.source.line(f"return {self.lower(root.type, 'x')}")

    def lift_root(self, record: Record, root: Field) -> None:
        validate = None if record.cls is None else validator_of(record.cls)
        if validate is not None and any(isinstance(part, Bytes) for part in walk(root.type)):
            self.source.line(f"d = {self.known(_owned)}(d)")
        value = self.lift(root.type, "d")
        if record.cls is None:
            self.source.line(f"return {{{self.known(root.name)}: {value}}}")
        elif validate is not None:
            self.source.line(f"return {self.known(validate)}({value})")
        else:
            self.source.line(f"return {self.known(record.cls)}(**{{{self.known(root.name)}: {value}}})")

    def lower_dict(self, record: Record, names: dict[str, str]) -> None:
        self.source.line(f"v = {self.exact('v', 'dict')}")
        self.copied("v", [(item, item.name, names[item.name]) for item in record.fields], self.lower)
        if any(name != alias for name, alias in names.items()):
            self.source.line(f"if len(out) != len(v): {self.known(_refuse)}(v)")
        # What is missing is the codec's to say; so is what is no field, where the dict was copied whole.
        self.source.line("return out")

    def copied(self, source: str, keys: list[tuple[Field, str, str]], convert: Callable[[Type, str], str]) -> None:
        """Code that makes the dict `out` of another: of each field, its key there and its key here."""
        renamed = any(old != new for _, old, new in keys)
        self.source.line("out = {}" if renamed else f"out = {source}.copy()")
        for item, old, new in keys:
            if renamed or self.lowering.touches(item.type):
                self.source.line(f"x = {source}.get({self.known(old)}, {self.known(_ABSENT)})")
                with self.source.block(f"if x is not {self.known(_ABSENT)}:"):
                    self.source.line(f"out[{self.known(new)}] = {convert(item.type, 'x')}")

    def lower_object(self, record: Record, cls: type, names: dict[str, str]) -> None:
        self.source.line(f"if v.__class__ is not {self.known(cls)}: {self.known(_refuse)}(v)")
        if has_extras(cls):
            self.source.line(f"if v.__pydantic_extra__: {self.known(_refuse)}(v)")
        pairs = []
        for item in record.fields:
            x = attribute = self.attribute(item.name)
            if self.lowering.touches(item.type):
                x = self.source.variable()
                self.source.line(f"{x} = {attribute}")
            pairs.append(f"{self.known(names[item.name])}: {self.lower(item.type, x)}")
        stand_in = self.wire.record(record.name).cls
        made = f"{{{', '.join(pairs)}}}"
        self.source.line(f"return {made}" if stand_in is None else f"return {self.known(stand_in)}(**{made})")

    def attribute(self, name: str) -> str:
        # Source is normalised (NFKC) by the compiler, a name given to setattr is not.
        plain = name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
        return f"v.{name}" if plain else f"getattr(v, {self.known(name)})"

    def lift_dict(self, record: Record, names: dict[str, str]) -> None:
        self.copied("d", [(item, names[item.name], item.name) for item in record.fields], self.lift)
        self.source.line("return out")

    def lift_object(self, record: Record, cls: type, names: dict[str, str]) -> None:
        if self.wire.record(record.name).cls is not None:
            self.source.line("d = d.__dict__")
        values = {}
        validate = validator_of(cls)
        for item in record.fields:
            x = given = f"d[{self.known(names[item.name])}]"
            if validate is not None and any(isinstance(part, Bytes) for part in walk(item.type)):
                # pydantic takes no memoryview, as there is one where a message is aliased.
                given = x = f"{self.known(_owned)}({given})"
            if self.lowering.touches(item.type):
                x = self.source.variable()
                self.source.line(f"{x} = {given}")
            values[item.name] = self.lift(item.type, x)
        if validate is not None:
            pairs = ", ".join(f"{self.known(name)}: {value}" for name, value in values.items())
            self.source.line(f"return {self.known(validate)}({{{pairs}}})")
            return
        keywords = keywords_of(cls)
        named = {keywords.get(name, name): value for name, value in values.items()}
        if positional(cls, list(named)) == len(named):
            self.source.line(f"return {self.known(cls)}({', '.join(named.values())})")
        else:
            pairs = ", ".join(f"{self.known(name)}: {value}" for name, value in named.items())
            self.source.line(f"return {self.known(cls)}(**{{{pairs}}})")


def _refuse(value: Any) -> NoReturn:
    raise NotNormalError(type(value).__name__)


def _owned(value: Any) -> Any:
    """A value with bytes in place of memoryviews."""
    cls = value.__class__
    if cls is memoryview:
        return bytes(value)
    if cls is list or cls is tuple:
        return cls(map(_owned, value))
    if cls is dict:
        return {key: _owned(item) for key, item in value.items()}
    return value


def _set_of(items: list[Any]) -> set[Any]:
    found = set(items)
    if len(found) != len(items):
        raise ValueError("two items of a set are equal")
    return found


def _frozenset_of(items: list[Any]) -> frozenset[Any]:
    found = frozenset(items)
    if len(found) != len(items):
        raise ValueError("two items of a set are equal")
    return found


def _as_many(lifted: dict[Any, Any], wire: dict[Any, Any]) -> dict[Any, Any]:
    if len(lifted) != len(wire):
        raise ValueError("two keys of a map are equal")
    return lifted


# The order of a set's items -------------------------------------------------------------------------------------------


def _order(item: Type) -> Callable[[Any], Any] | None:
    """What to sort lowered items of a type by; None: by themselves."""
    if isinstance(item, Float):
        return _float_order
    if isinstance(item, Enum) and item.cls is not None:
        return _enum_order
    if isinstance(item, List):
        inner = _order(item.item)
        return None if inner is None else lambda items: tuple(map(inner, items))
    return None


def _float_order(number: float) -> tuple[bool, float]:
    return number != number, number  # noqa: PLR0124 - NaN alone


def _enum_order(member: Any) -> Any:
    return member.value
