"""Python classes of a schema: what `zcser.schema.from_python` makes of the text is the schema again.

1. A record is a dataclass, or a msgspec Struct. One that has a field which may be absent, or a name that no attribute can
   have, is a TypedDict, as its values are dicts; its fields' defaults are lost then, and a comment says so.
2. Every field bears its id. In a class no field is absent: one that a dict may lack and has a default is a field with
   that default. A record's name that is no name in Python becomes the nearest one.
3. A field's alias is msgspec's own in a Struct, and an ``Alias`` elsewhere. A transparent record, as a RootModel is, has no
   class here: its one field's type stands in its place.
4. An enum that came from a class is one again. Any other stands as a ``Literal``, as its values are ints or texts.
5. The text needs no formatter to be read, and imports what it uses and nothing else. Names of zcser, typing and the
   builtins give way to the schema's own.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any

from zcser.core.errors import SchemaError
from zcser.schema.document_values import normal_default
from zcser.schema.from_python import schema_of
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    List,
    Logical,
    Map,
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Set,
    Str,
    Tensor,
    Type,
    Union,
    strip_optional,
    walk,
)
from zcser.schema.names import identifier
from zcser.schema.python_names import Imports, is_attribute, is_name
from zcser.schema.values import VALUE_TYPES, wire_form

__all__ = ["emit_msgspec", "emit_python"]

_MODEL = "zcser.schema.model"
_ANNOTATIONS = "zcser.schema.annotations"
_ZONED = {"datetime_utc": "AwareDatetime", "datetime_naive": "NaiveDatetime"}


def emit_python(schema: Any, *, structs: bool = False) -> str:
    """A schema as the text of a Python module.

    Parameters
    ----------
    schema
        A `zcser.Schema`, or what one can be made from.
    structs
        Write msgspec Structs instead of dataclasses.

    Returns
    -------
    str
        A module for Python 3.11 and later, whose ``Root`` is the schema's root, as `zcser.codec` takes it. (Where the
        schema has a name like it: ``Root_``.) ``schema_of(Root)`` equals the schema, but for what the module's head
        says.

    Raises
    ------
    SchemaError
        The default of a field is no value of its type, or holds a tensor, which has no text.
    """
    return "\n".join(_Module(schema_of(schema), structs).lines()) + "\n"


def emit_msgspec(schema: Any) -> str:
    """As `emit_python`, with msgspec Structs."""
    return emit_python(schema, structs=True)


class _Module:
    def __init__(self, schema: Schema, structs: bool) -> None:
        self.schema = schema
        self.structs = structs
        self.classes: dict[str, str] = {}
        self.enums: dict[Enum, str] = {}
        for record in schema.records:
            if not record.transparent:
                self.classes[record.name] = self._free(record.name)
        for type_ in [schema.root, *(item.type for record in schema.records for item in record.fields)]:
            for part in walk(type_):
                if isinstance(part, Enum) and part not in self.enums:
                    self.enums[part] = self._free(part.name)
        fields = {item.name for record in schema.records for item in record.fields}
        is_root = isinstance(schema.root, Ref) and self.classes.get(schema.root.name) == "Root"
        self.root = "Root" if is_root else self._free("Root")
        self.use = Imports({*self.classes.values(), *self.enums.values(), *fields, self.root})

    def _free(self, wanted: str) -> str:
        name = wanted if is_name(wanted) else identifier(wanted)
        while name in self.classes.values() or name in self.enums.values() or not is_name(name):
            name += "_"
        return name

    def lines(self) -> Iterator[str]:
        body = [line for part in self._parts() for line in ("", "", *part)]
        yield "from __future__ import annotations"
        yield ""
        yield from self.use.lines()
        yield from body

    def _parts(self) -> Iterator[list[str]]:
        for type_, name in self.enums.items():
            yield list(self._enum(type_, name))
        for record in self.schema.records:
            if not record.transparent:
                yield list(self._record(record, self.classes[record.name]))
        if self.root not in self.classes.values():
            yield [f"{self.root} = {self._type(self.schema.root)}"]

    def _enum(self, type_: Enum, name: str) -> Iterator[str]:
        if type_.cls is None:
            annotated, literal = self.use("typing", "Annotated"), self.use("typing", "Literal")
            values = ", ".join(repr(value) for _, value in type_.members)
            whole = f"{self.use(_MODEL, 'Enum')}({type_.name!r}, {type_.members!r})"
            yield f"{name} = {annotated}[{literal}[{values}], {whole}]"
            return
        base = "IntEnum" if issubclass(type_.cls, int) else "StrEnum" if issubclass(type_.cls, str) else "Enum"
        yield f"class {name}({self.use('enum')}.{base}):"
        yield from (f"    {member} = {value!r}" for member, value in type_.members)

    def _record(self, record: Record, name: str) -> Iterator[str]:
        named = all(is_attribute(item.name) for item in record.fields)
        if not named or any(item.may_be_absent for item in record.fields):
            yield from self._typed_dict(record, name, named=named)
            return
        names = [item.has_default for item in record.fields]
        keywords = "kw_only=True" if names != sorted(names) else ""
        if self.structs:
            yield f"class {name}({self.use('msgspec', 'Struct')}{', ' + keywords if keywords else ''}):"
        else:
            yield f"@{self.use('dataclasses', 'dataclass')}{f'({keywords})' if keywords else ''}"
            yield f"class {name}:"
        doc = _doc(record)
        yield from doc
        for item in record.fields:
            yield f"    {item.name}: {self._field(item, named=self.structs)}{self._default(record, item)}"
        if not record.fields and not doc:
            yield "    pass"

    def _typed_dict(self, record: Record, name: str, *, named: bool) -> Iterator[str]:
        typed_dict = self.use("typing", "TypedDict")
        if any(item.has_default for item in record.fields):
            yield "# A TypedDict has no place for defaults."
        if named:
            yield f"class {name}({typed_dict}):"
            yield from _doc(record)
            yield from (f"    {item.name}: {self._key(item)}" for item in record.fields)
            return
        yield f"{name} = {typed_dict}("
        yield f"    {name!r},"
        yield "    {"
        # Texts, which are read when all classes are there.
        yield from (f"        {item.name!r}: {self._key(item)!r}," for item in record.fields)
        yield "    },"
        yield ")"

    def _key(self, item: Field) -> str:
        text = self._field(item)
        return text if item.required else f"{self.use('typing', 'NotRequired')}[{text}]"

    def _field(self, item: Field, *, named: bool = False) -> str:
        """The annotation of a field; `named` where its alias is said elsewhere."""
        remarks = [f"{self.use('zcser', 'Id')}({item.id})"]
        if item.alias is not None and not named:
            remarks.append(f"{self.use(_ANNOTATIONS, 'Alias')}({item.alias!r})")
        return f"{self.use('typing', 'Annotated')}[{self._type(item.type)}, {', '.join(remarks)}]"

    def _type(self, type_: Type) -> str:
        match type_:
            case Null():
                return "None"
            case Bool():
                return self.use.builtin("bool")
            case Int() | Float():
                return self._number(type_)
            case Str(size) | Bytes(size):
                plain = self.use.builtin(str(type_.kind))
                return plain if size is None else self._annotated(plain, type_, str(size))
            case Tensor(dtype, shape):
                plain = f"{self.use('numpy')}.ndarray"
                return plain if type_ == Tensor() else self._annotated(plain, type_, f"{dtype!r}, {shape!r}")
            case Optional(item):
                return f"{self._type(item)} | None"
            case Union(options):
                flat = tuple(self._options(type_))
                if flat != options:
                    # It refuses options that are alike without their classes.
                    Schema(Union(flat), self.schema.records)
                return " | ".join(map(self._type, options))
            case List(item, length, container):
                inner = self._type(item)
                plain = f"{self.use.builtin(container)}[{inner}{', ...' if container == 'tuple' else ''}]"
                if length is None:
                    return plain
                return f"{self.use('typing', 'Annotated')}[{plain}, {self.use(_ANNOTATIONS, 'Length')}({length})]"
            case Logical(name):
                return self._logical(name)
            case Set(item, frozen):
                return f"{self.use.builtin('frozenset' if frozen else 'set')}[{self._type(item)}]"
            case Map(key, value):
                return f"{self.use.builtin('dict')}[{self._type(key)}, {self._type(value)}]"
            case Enum():
                return self.enums[type_]
            case Ref(name):
                bare = self.schema.bare(type_)
                return self.classes[name] if bare is type_ else self._type(bare)
        raise AssertionError(type_)

    def _options(self, type_: Type) -> Iterator[Type]:
        """What a type's values can be, but None, where transparent records stand as their roots."""
        bare = strip_optional(self.schema.bare(type_))[0]
        if isinstance(bare, Union):
            for option in bare.options:
                yield from self._options(option)
        elif not isinstance(bare, Null):
            yield self.schema.bare(bare)

    def _logical(self, name: str) -> str:
        if name in _ZONED:
            return self.use(_ANNOTATIONS, _ZONED[name])
        return self._class(VALUE_TYPES[name].cls)

    def _class(self, cls: type) -> str:
        # Of a system's own kind of Path the text has no word.
        cls = Path if issubclass(cls, Path) else cls
        return self.use("pathlib" if cls is Path else cls.__module__, cls.__name__)

    def _number(self, type_: Int | Float) -> str:
        if type_ in (Int(), Float()):
            return self.use.builtin("int" if isinstance(type_, Int) else "float")
        if type_.bits is None:
            return self._annotated(self.use.builtin("int"), type_, "None" if type_.signed else "None, signed=False")
        return self.use(_ANNOTATIONS, str(type_).title().replace("Uint", "UInt"))

    def _annotated(self, plain: str, type_: Type, arguments: str) -> str:
        return f"{self.use('typing', 'Annotated')}[{plain}, {self.use(_MODEL, type(type_).__name__)}({arguments})]"

    def _default(self, record: Record, item: Field) -> str:
        name = f"name={item.alias!r}" if self.structs and item.alias is not None else ""
        if not item.has_default:
            return f" = {self.use('msgspec', 'field')}({name})" if name else ""
        path = f"{record.name}/{item.name}"
        type_ = item.type
        value = normal_default(self.schema, type_, item.make_default(), path)
        while self.schema.bare(type_) is not type_:
            type_, value = _opened(self.schema.record(str(type_)), value)
        text = self._value(type_, value, path)
        is_logical = isinstance(strip_optional(type_)[0], Logical)
        if (
            value is None
            or isinstance(value, bool | int | float | str | bytes | enum.Enum)
            or is_logical
            or text == "()"
        ):
            return f" = {self.use('msgspec', 'field')}({name}, default={text})" if name else f" = {text}"
        # Also what could stand there itself: a class that it is made of may follow further below.
        factory = text.removesuffix("()") if text.endswith("set()") else f"lambda: {text}"
        if text in ("[]", "{}"):
            factory = self.use.builtin(type(value).__name__)
        field = self.use("msgspec", "field") if self.structs else self.use("dataclasses", "field")
        return f" = {field}({f'{name}, ' if name else ''}default_factory={factory})"

    def _value(self, type_: Type, value: Any, path: str) -> str:
        match type_:
            case Float() if value - value != 0.0:
                return f'{self.use.builtin("float")}("{value}")'
            case Enum(cls=cls) if cls is not None:
                member = value if isinstance(value, enum.Enum) else cls(value)
                return f"{self.enums[type_]}.{member.name}"
            case Optional(item):
                return "None" if value is None else self._value(item, value, path)
            case List(item=item, container=container):
                items = [self._value(item, part, path) for part in value]
                single = "," if container == "tuple" and len(items) == 1 else ""
                return f"({', '.join(items)}{single})" if container == "tuple" else f"[{', '.join(items)}]"
            case Logical():
                return self._logical_value(type_, value)
            case Set(item, frozen):
                text = f"{{{', '.join(sorted(self._value(item, part, path) for part in value))}}}" if value else ""
                cls = self.use.builtin("frozenset" if frozen else "set") if frozen or not value else ""
                return f"{cls}({text})" if cls else text
            case Map(key, part):
                pairs = (f"{self._value(key, k, path)}: {self._value(part, it, path)}" for k, it in value.items())
                return f"{{{', '.join(pairs)}}}"
            case Union(options):
                option = next((it for it in options if type(value) is self.schema.python_type(it)), options[0])
                return self._value(option, value, path)
            case Ref(name):
                return self._instance(self.schema.record(name), value, path)
            case Tensor():
                raise SchemaError("the default holds a tensor, which has no text in Python", path=path)
        return repr(value)

    def _logical_value(self, type_: Logical, value: Any) -> str:
        cls = self._class(VALUE_TYPES[type_.name].cls)
        if isinstance(value, timedelta):
            return f"{cls}({value.days}, {value.seconds}, {value.microseconds})"
        text = wire_form(type_, text=True).lower(value)
        return f"{cls}{'.fromisoformat' if isinstance(value, date | time) else ''}({text!r})"

    def _instance(self, record: Record, value: Any, path: str) -> str:
        if record.transparent:
            return self._value(*_opened(record, value), path)
        have = value if isinstance(value, dict) else {item.name: getattr(value, item.name) for item in record.fields}
        parts = {it.name: self._value(it.type, have[it.name], path) for it in record.fields if it.name in have}
        if any(it.may_be_absent or not is_attribute(it.name) for it in record.fields):
            return f"{{{', '.join(f'{name!r}: {text}' for name, text in parts.items())}}}"
        return f"{self.classes[record.name]}({', '.join(f'{name}={text}' for name, text in parts.items())})"


def _opened(record: Record, value: Any) -> tuple[Type, Any]:
    """The type of a transparent record's one field, and its value."""
    (root,) = record.fields
    return root.type, value[root.name] if isinstance(value, dict) else getattr(value, root.name)


def _doc(record: Record) -> list[str]:
    if not record.doc:
        return []
    text = record.doc.replace("\\", "\\\\").replace('"', '\\"')
    return [f'    """{text}"""'] if text.isprintable() else []
