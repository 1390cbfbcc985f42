"""Schemas from schema documents (`zcser.schema.document`), which people write and change.

1. Whatever is wrong is a `SchemaError` whose path leads through the document, as ``/records/User/fields/2/type``.
2. Nothing is guessed: a key that is not known is refused, and so is one that stands twice.
   A document of version 1 says nothing of aliases: where the class of a record is given, it has those of the class.
3. A default that is mutable is made anew for each value that lacks the field.
"""

from __future__ import annotations

import copy
import dataclasses
import difflib
import enum
import functools
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from zcser.core.errors import SchemaError
from zcser.core.paths import pointer
from zcser.core.words import brief
from zcser.schema.classes import wire_names
from zcser.schema.document import VERSIONS
from zcser.schema.document_values import from_json
from zcser.schema.model import (
    MISSING,
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
)
from zcser.schema.values import VALUE_TYPES

__all__ = ["json_object", "load_schema", "read_type", "with_default"]

Steps = tuple[str | int, ...]

_PLAIN: dict[str, Type] = {
    str(type_): type_
    for type_ in (
        Null(),
        Bool(),
        *(Int(bits, signed) for bits in (8, 16, 32, 64, None) for signed in (True, False)),
        Float(32),
        Float(64),
        Str(),
        Bytes(),
        *map(Logical, VALUE_TYPES),
    )
}
_PLAIN["tensor"] = Tensor()
_SIZED = re.compile(r"(str|bytes)\[(\d{1,18})\]", re.ASCII)
_KEYS = {
    "optional": ({"item"}, set()),
    "list": ({"item"}, {"length", "container"}),
    "set": ({"item"}, {"frozen"}),
    "map": ({"key", "value"}, set()),
    "union": ({"options"}, set()),
    "enum": ({"name", "members"}, {"class"}),
    "record": ({"name"}, set()),
    "tensor": (set(), {"dtype", "shape"}),
}
"""Of a type that is an object: the keys that it has besides "kind", and those that it may have."""


def load_schema(source: str | os.PathLike[str], *, classes: Mapping[str, type] | None = None) -> Schema:
    """The schema of a zcser schema document.

    Parameters
    ----------
    source
        Path of a file, or the text of one; a str with a brace in it is text.
    classes
        Classes of records and enums by their names in the schema. Values of the others are dicts and plain values.

    Returns
    -------
    Schema
        That which `zcser.emit_schema` wrote, notes included.

    Raises
    ------
    SchemaError
        The file cannot be read, is no schema document, or one of a later version; or the schema is faulty, as where two
        records without a class are options of one union.
    """
    tree = json_object(source)
    if "zcser" not in tree:
        hint = "; a JSON Schema is read by zcser.load_json_schema" if "$schema" in tree or "type" in tree else ""
        _refuse(f'this is no zcser schema document: it has no "zcser", which holds the version{hint}', ())
    version = tree["zcser"]
    if type(version) is not int or version not in VERSIONS:
        known = " and ".join(map(str, VERSIONS))
        _refuse(f"the document is of version {brief(version)}; this zcser reads versions {known}", ("zcser",))
    try:
        return _Reader(classes or {}, version).schema(tree)
    except RecursionError:
        raise SchemaError("a type nests too deeply") from None


def json_object(source: str | os.PathLike[str]) -> dict[str, Any]:
    """The JSON object of a file, or of a str with a brace in it. No key may stand twice; raises `SchemaError`."""
    text = source if isinstance(source, str) and "{" in source else _content(source)
    try:
        tree = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise SchemaError(f"not JSON: {error.msg} at line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise SchemaError("nested deeper than Python's json reads") from None
    except ValueError as error:
        raise SchemaError(f"not JSON: {error}") from None
    if not isinstance(tree, dict):
        raise SchemaError(f"an object is needed, not {_word(tree)}")
    return tree


def _content(source: str | os.PathLike[str]) -> str:
    try:
        return Path(source).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SchemaError(f"cannot read {source}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise SchemaError(f"{source} is not UTF-8: byte 0x{error.object[error.start]:02x} at {error.start}") from None
    except ValueError as error:  # a NUL character in the path
        raise SchemaError(f"cannot read {source!r}: {error}") from None


def with_default(item: Field, value: Any) -> Field:
    """A field with a default, which is copied for each value that takes it where it is mutable."""
    if value is None or isinstance(value, bool | int | float | str | bytes | enum.Enum):
        return dataclasses.replace(item, default=value)
    return dataclasses.replace(item, default_factory=functools.partial(copy.deepcopy, value))


def read_type(tree: Any, steps: Steps = (), classes: Mapping[str, type] | None = None) -> Type:
    """A type from what `zcser.schema.document.type_tree` gives; raises `SchemaError` with the path of `steps`."""
    if isinstance(tree, str):
        return _named(tree, steps)
    if not isinstance(tree, dict):
        _refuse(f"a type is a name or an object, not {_word(tree)}", steps)
    kind = tree.get("kind")
    if not isinstance(kind, str) or kind not in _KEYS:
        _refuse(f'"kind" of a type is one of {", ".join(_KEYS)}, not {brief(kind)}', steps)
    needed, allowed = _KEYS[kind]
    _check_keys(tree, needed, {"kind", *allowed}, steps)
    try:
        return _of_kind(kind, tree, steps, classes or {})
    except SchemaError as error:
        if error.path is not None:
            raise
        _refuse(error.reason, steps)


def _named(name: str, steps: Steps) -> Type:
    sized = _SIZED.fullmatch(name)
    if sized:
        return Str(int(sized[2])) if sized[1] == "str" else Bytes(int(sized[2]))
    if name not in _PLAIN:
        near = difflib.get_close_matches(name, [*_PLAIN, *_KEYS], n=1)
        record = f'; a record is {{"kind": "record", "name": "{name}"}}'
        _refuse(f"no type is named {brief(name)}{f'; did you mean {near[0]}?' if near else record}", steps)
    return _PLAIN[name]


def _of_kind(kind: str, tree: dict[str, Any], steps: Steps, classes: Mapping[str, type]) -> Type:
    def part(name: str) -> Type:
        return read_type(tree[name], (*steps, name), classes)

    match kind:
        case "optional":
            return Optional(part("item"))
        case "list":
            return List(part("item"), tree.get("length"), tree.get("container", "list"))
        case "set":
            return Set(part("item"), _is(bool, tree.get("frozen", False), (*steps, "frozen")))
        case "map":
            key = part("key")
            if not isinstance(key, Str | Int | Bool | Logical):
                _refuse(f"a map's keys must be str, int or bool, or a value as a date is, not {key}", (*steps, "key"))
            # A logical key is lowered before a codec sees it.
            return Map(key, part("value"))  # type: ignore[arg-type]
        case "union":
            options = _is(list, tree["options"], (*steps, "options"))
            return Union(tuple(read_type(it, (*steps, "options", n), classes) for n, it in enumerate(options)))
        case "enum":
            name = _is(str, tree["name"], (*steps, "name"))
            members = _is(dict, tree["members"], (*steps, "members"))
            return Enum(name, tuple(members.items()), classes.get(name))
        case "record":
            return Ref(_is(str, tree["name"], (*steps, "name")))
    if "dtype" in tree:
        _is(str, tree["dtype"], (*steps, "dtype"))
    shape = tuple(_is(list, tree["shape"], (*steps, "shape"))) if "shape" in tree else None
    return Tensor(tree.get("dtype"), shape)


class _Reader:
    """One document's records; defaults are read last, as they may hold any record."""

    def __init__(self, classes: Mapping[str, type], version: int) -> None:
        self.classes = classes
        self.version = version
        self.defaults: dict[tuple[str, str], tuple[Any, Steps]] = {}

    def schema(self, tree: dict[str, Any]) -> Schema:
        _check_keys(tree, {"zcser", "root"}, {"records", "notes", "$schema"}, ())
        records = _is(dict, tree.get("records", {}), ("records",))
        notes = tuple(
            _is(str, note, ("notes", n)) for n, note in enumerate(_is(list, tree.get("notes", []), ("notes",)))
        )
        read = tuple(self.record(name, record, ("records", name)) for name, record in records.items())
        schema = Schema(read_type(tree["root"], ("root",), self.classes), read, notes)
        if not self.defaults:
            return schema
        return dataclasses.replace(schema, records=tuple(self.completed(schema, record) for record in read))

    def record(self, name: str, tree: Any, steps: Steps) -> Record:
        _check_keys(_is(dict, tree, steps), {"fields"}, {"doc", "class", "transparent"}, steps)
        self.check_version(tree, "transparent", steps)
        cls = self.classes.get(name)
        aliases = wire_names(cls) if cls is not None and self.version == 1 else {}
        fields = _is(list, tree["fields"], (*steps, "fields"))
        read = tuple(self.field(name, item, aliases, (*steps, "fields", number)) for number, item in enumerate(fields))
        doc = _is(str, tree.get("doc", ""), (*steps, "doc"))
        transparent = _is(bool, tree.get("transparent", False), (*steps, "transparent"))
        try:
            return Record(name, read, cls, doc, transparent)
        except SchemaError as error:
            _refuse(error.reason, steps)

    def check_version(self, tree: dict[str, Any], key: str, steps: Steps) -> None:
        if key in tree and self.version == 1:
            _refuse(f'"{key}" is of version 2 of this form: write "zcser": 2', steps)

    def field(self, record: str, tree: Any, aliases: Mapping[str, str], steps: Steps) -> Field:
        _check_keys(_is(dict, tree, steps), {"id", "name", "type"}, {"alias", "required", "default"}, steps)
        self.check_version(tree, "alias", steps)
        name = _is(str, tree["name"], (*steps, "name"))
        if "default" in tree:
            self.defaults[record, name] = tree["default"], (*steps, "default")
        type_ = read_type(tree["type"], (*steps, "type"), self.classes)
        required = _is(bool, tree.get("required", True), (*steps, "required"))
        alias = _is(str, tree["alias"], (*steps, "alias")) if "alias" in tree else aliases.get(name)
        alias = None if alias == name else alias
        return Field(name, type_, _is(int, tree["id"], (*steps, "id")), required, alias=alias)

    def completed(self, schema: Schema, record: Record) -> Record:
        fields = []
        for item in record.fields:
            tree, steps = self.defaults.get((record.name, item.name), (MISSING, ()))
            if tree is not MISSING:
                item = with_default(item, from_json(schema, item.type, tree, pointer(steps)))  # noqa: PLW2901
            fields.append(item)
        return dataclasses.replace(record, fields=tuple(fields))


def _refuse(reason: str, steps: Steps) -> NoReturn:
    raise SchemaError(reason, path=pointer(steps))


def _is(cls: type, value: Any, steps: Steps) -> Any:
    if type(value) is not cls:
        _refuse(f"{_WORDS[cls]} is needed, not {_word(value)}", steps)
    return value


_WORDS = {dict: "an object", list: "an array", str: "a text", int: "an integer", bool: "true or false"}


def _word(value: Any) -> str:
    return "null" if value is None else _WORDS.get(type(value), "a number")


def _check_keys(tree: dict[str, Any], needed: set[str], allowed: set[str], steps: Steps) -> None:
    for name in sorted(needed - tree.keys()):
        _refuse(f'"{name}" is missing', steps)
    for name in tree:
        if name not in needed and name not in allowed:
            near = difflib.get_close_matches(name, needed | allowed, n=1)
            offer = f'did you mean "{near[0]}"?' if near else f"known: {', '.join(sorted(needed | allowed))}"
            _refuse(f"the key {brief(name)} is not known; {offer}", steps)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in found if names.count(name) > 1)
        raise ValueError(f"the key {brief(twice)} stands twice in one object")
    return found


def _no_constant(token: str) -> NoReturn:
    raise ValueError(f"{token} is no value of JSON")
