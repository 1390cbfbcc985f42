"""Schemas from JSON Schema: the part of it that says what a message is made of.

1. Read are ``type`` (one or several), ``properties``, ``required``, ``items``, ``additionalProperties`` as the values of a
   map, ``enum``, ``const``, local ``$ref``, recursion included, ``oneOf`` and ``anyOf`` of what a JSON value tells apart,
   ``allOf`` of one schema or of plain objects, ``nullable``, ``default``, ``contentEncoding: base64``, and what
   `zcser.tree.emit` adds.
2. An integer is of the fewest bits that hold its bounds, unsigned where its minimum is 0 or more; of 64 where it has none.
   An array of as many items as at least is of that length. Field ids count from 1 unless ``x-zcser-id`` gives them.
3. What narrows a value and changes no type (``format``, ``pattern``, other bounds) is not checked, and each is noted; so is
   an object that is open: what else stands in it is no part of the record.
4. Text with a ``format`` is text, as the keyword binds no message: what is called ``date-time`` may be finer than Python's
   microseconds, or no date at all. Where the messages are known to be dates, ``"x-zcser-type": "datetime_utc"`` beside it
   makes them so; the note says which type. An array of ``uniqueItems`` has an order, and is a list.
5. Everything else is a `SchemaError` that names the keyword and where it stands.
"""

from __future__ import annotations

import copy
import dataclasses
import os
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import unquote

from zcser.core.errors import SchemaError
from zcser.core.options import Options
from zcser.core.paths import parse_path, pointer
from zcser.core.words import brief
from zcser.lower.code import Conversion
from zcser.schema.from_document import json_object, read_type, with_default
from zcser.schema.from_sample import record_name
from zcser.schema.lower import lowering_of
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
    Type,
    Union,
    strip_optional,
)
from zcser.tree.emit import JSON
from zcser.tree.json_schema_parts import (
    BOUNDS,
    OF_PLAIN_OBJECTS,
    REFUSED,
    REMARKS,
    STRUCTURE,
    UNCHECKED,
    Object,
    Part,
    Steps,
    enum_of,
    fewest_bits,
    implied_type,
    marked_type,
    next_integer,
    optional,
    own_object,
    refuse,
    refuse_alike,
)
from zcser.tree.read import tree_readers

__all__ = ["load_json_schema"]

_TYPES_OF_FORMATS = {"date-time": "datetime_utc", "date": "date", "uuid": "uuid", "ipv4": "ipv4", "ipv6": "ipv6"}


def load_json_schema(source: str | os.PathLike[str] | Mapping[str, Any], *, root: str = "") -> Schema:
    """The schema of messages that a JSON Schema describes.

    Parameters
    ----------
    source
        Path of a file, the text of one (a str with a brace in it), or the schema itself, as pydantic's
        ``model_json_schema()`` gives it.
    root
        JSON Pointer to the subschema of the messages, as ``/components/schemas/Order``; the whole otherwise.

    Returns
    -------
    Schema
        Records are dicts. ``notes`` say what is not checked, with a JSON Pointer into the JSON Schema; the head of
        `zcser.tree.json_schema` says what is read.

    Raises
    ------
    SchemaError
        The file cannot be read, or has what a schema of zcser cannot say; with the pointer and the keyword.
    """
    tree = dict(source) if isinstance(source, Mapping) else json_object(source)
    if "zcser" in tree:
        raise SchemaError("this is a zcser schema document, and no JSON Schema; zcser.load_schema reads it")
    try:
        return _Reader(tree).schema(root)
    except RecursionError:
        raise SchemaError("the JSON Schema nests too deeply") from None


class _Reader:
    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.records: dict[str, Record | None] = {}
        self.names: dict[str, str] = {}
        self.notes: dict[str, None] = {}
        self.following: list[str] = []
        self.defaults: list[tuple[str, str, Type, Any, Steps]] = []

    def schema(self, root: str) -> Schema:
        try:
            part = self.target(root.removeprefix("#"), ())
        except ValueError as error:
            raise SchemaError(str(error)) from None
        type_ = self.type_(part, "Root")
        found = Schema(
            type_, tuple(record for record in self.records.values() if record is not None), tuple(self.notes)
        )
        return self.with_defaults(found)

    def with_defaults(self, schema: Schema) -> Schema:
        types = [type_ for _, _, type_, _, _ in self.defaults]
        lowering = lowering_of(schema, text=True)
        if lowering is None:
            readers = tree_readers(schema, JSON, Options(), types, copy=True)
        else:
            wired = [lowering.wire.record(record).by_name[field].type for record, field, *_ in self.defaults]
            trees = tree_readers(lowering.wire, JSON, Options(), wired, copy=True)
            conversion = Conversion(lowering)
            readers = [_then(read, conversion.lift(type_)) for read, type_ in zip(trees, types, strict=True)]
        values: dict[tuple[str, str], Any] = {}
        for (record, field, type_, tree, steps), read in zip(self.defaults, readers, strict=True):
            try:
                values[record, field] = read(copy.deepcopy(tree))
            except Exception:  # noqa: BLE001 - the reader says of what does not fit no more than that
                refuse(f"default: {brief(tree)} does not fit {type_}", steps)
        if not values:
            return schema
        records = tuple(
            dataclasses.replace(record, fields=tuple(_completed(record, item, values) for item in record.fields))
            for record in schema.records
        )
        return dataclasses.replace(schema, records=records)

    def note(self, steps: Steps, text: str) -> None:
        self.notes[f"{pointer(steps) or 'the root'}: {text}"] = None

    # References ------------------------------------------------------------------------------------------------------

    def target(self, text: str, steps: Steps) -> Part:
        """What a JSON Pointer leads to."""
        node: Any = self.document
        found: list[str | int] = []
        for step in parse_path(text):
            key: Any = int(step) if isinstance(node, list) and str(step).isdigit() else step
            try:
                node = node[key]
            except (LookupError, TypeError):
                refuse(f"$ref: nothing stands at #{text}", steps)
            found.append(key)
        return Part(node, tuple(found))

    def referred(self, part: Part) -> Part:
        """What a ``$ref`` leads to."""
        text, steps = part.node["$ref"], part.steps
        if not isinstance(text, str) or not text.startswith("#"):
            refuse(f"$ref: {brief(text)} is a remote reference; put what it names into $defs", steps)
        beside = [name for name in part.node if name in STRUCTURE and name != "$ref"]
        if beside:
            refuse(f"$ref: {beside[0]} beside it; put both into allOf", steps)
        if not text.startswith(("#/", "#")) or (len(text) > 1 and text[1] != "/"):
            refuse(f"$ref: {brief(text)} names an $anchor; write a JSON Pointer", steps)
        return self.target(unquote(text[1:]), steps)

    # Types -----------------------------------------------------------------------------------------------------------

    def type_(self, part: Part, name: str) -> Type:
        """The type of a subschema; `name` is what it is called where it has no name of its own."""
        node, steps = part
        if not isinstance(node, dict):
            refuse(f"{brief(node)} says nothing of the value's type" if isinstance(node, bool) else "no schema", steps)
        self.look_over(node, steps)
        if node.get("nullable") is True:
            return optional(self.type_(Part({**node, "nullable": False}, steps), name))
        if "x-zcser-type" in node:
            return marked_type(node["x-zcser-type"], steps)
        if "$ref" in node:
            return self.reference(part, name)
        for word in ("allOf", "anyOf", "oneOf"):
            if word in node:
                return self.combined(part, word, name)
        if "enum" in node or "const" in node:
            return self.enum(node, steps, name)
        words = node.get("type", implied_type(node))
        if words is None:
            refuse("a schema without type allows any value; name the type", steps)
        each = words if isinstance(words, list) else [words]
        return self.union([self.single(part, word, name) for word in each], "type", steps, name)

    def look_over(self, node: dict[str, Any], steps: Steps) -> None:
        for word in REFUSED:
            if word in node:
                refuse(f"{word} has no form in a zcser schema", steps)
        if "$id" in node and steps:
            refuse("$id: a schema within a schema; put it into $defs", steps)
        for word in node:
            if word not in STRUCTURE and word not in REMARKS and word != "$id" and not word.startswith("x-"):
                self.note(steps, f"the keyword {brief(word)} is not known")

    def unchecked(self, node: dict[str, Any], steps: Steps, *used: str) -> None:
        for word in (*UNCHECKED, *BOUNDS):
            if word in node and word not in used:
                named = _TYPES_OF_FORMATS.get(node[word]) if word == "format" and isinstance(node[word], str) else None
                offer = f'; "x-zcser-type": "{named}" beside it makes it one' if named else ""
                self.note(steps, f"{word} {brief(node[word])} is not checked{offer}")

    def reference(self, part: Part, name: str) -> Type:
        target = self.referred(part)
        key = pointer(target.steps)
        if key in self.names:
            return Ref(self.names[key])
        if key in self.following:
            refuse("$ref: it leads to itself, with no object that has properties between", part.steps)
        self.following.append(key)
        found = self.type_(target, str(target.steps[-1]) if target.steps else name)
        self.following.pop()
        return found

    def combined(self, part: Part, word: str, name: str) -> Type:
        node, steps = part
        parts = node[word]
        if not isinstance(parts, list) or not parts:
            refuse(f"{word} is a list of schemas", steps)
        below = [Part(each, (*steps, word, number)) for number, each in enumerate(parts)]
        beside = [other for other in node if other in STRUCTURE and other != word]
        if word == "allOf" and (len(below) > 1 or beside):
            return self.record(self.merged(part), part, name)
        if beside:
            refuse(f"{word}: {beside[0]} beside it", steps)
        if node.get("x-zcser-tagged") is True:
            below = [self.only_property(each, "x-zcser-tagged") for each in below]
        boxed = [isinstance(each.node, dict) and each.node.get("x-zcser-boxed") is True for each in below]
        below = [
            self.only_property(each, "x-zcser-boxed") if one else each for each, one in zip(below, boxed, strict=True)
        ]
        options = [self.type_(each, name) for each in below]
        in_boxes = frozenset(option for option, one in zip(options, boxed, strict=True) if one)
        return self.union(options, word, steps, name, in_boxes, tagged=node.get("x-zcser-tagged") is True)

    def only_property(self, part: Part, word: str) -> Part:
        properties = part.node.get("properties") if isinstance(part.node, dict) else None
        if not isinstance(properties, dict) or len(properties) != 1:
            refuse(f"{word}: an option is an object of one property", part.steps)
        ((name, node),) = properties.items()
        return Part(node, (*part.steps, "properties", name))

    def union(
        self,
        options: list[Type],
        word: str,
        steps: Steps,
        name: str,
        boxed: Collection[Type] = (),
        *,
        tagged: bool = False,
    ) -> Type:
        some: list[Type] = []
        for option in options:
            bare = strip_optional(option)[0]
            some += bare.options if isinstance(bare, Union) else () if isinstance(bare, Null) else (bare,)
        some = self.joined(list(dict.fromkeys(some)), steps, name)
        # One that stands beside null alone has been looked at where it is.
        if not tagged and sum(not isinstance(option, Null) for option in options) > 1:
            refuse_alike(some, word, steps, boxed)
        found = Null() if not some else some[0] if len(some) == 1 else Union(tuple(some))
        none = any(isinstance(option, Null | Optional) for option in options)
        return optional(found) if none else found

    def joined(self, options: list[Type], steps: Steps, name: str) -> list[Type]:
        """Enums of one kind as one, and as the type of which they name some values where that is an option too."""
        for plain, of_ints in ((Str(), False), (Int(), True)):
            enums = [option for option in options if isinstance(option, Enum) and option.of_ints is of_ints]
            if enums and any(option.kind is plain.kind for option in options):
                self.note(steps, f"{plain.kind}, of which an enum names some values")
                options = [option for option in options if option not in enums]
            elif len(enums) > 1:
                values = dict.fromkeys(value for each in enums for _, value in each.members)
                one = enum_of(record_name(name), list(values))
                options = list(dict.fromkeys(one if option in enums else option for option in options))
        return options

    def enum(self, node: dict[str, Any], steps: Steps, name: str) -> Type:
        word = "enum" if "enum" in node else "const"
        values = node["enum"] if word == "enum" else [node["const"]]
        if not isinstance(values, list) or not values:
            refuse("enum is a list of values", steps)
        some = [value for value in values if value is not None]
        kinds = {type(value) for value in some}
        if len(kinds) > 1 or not kinds <= {str, int, bool}:
            refuse(f"{word}: its values must be all text, all integers or all booleans", steps)
        found: Type = Null()
        if kinds == {bool}:
            found = Bool()
            if len(some) == 1:
                self.note(steps, f"bool, of which {word} allows one value")
        elif some:
            found = enum_of(record_name(str(node.get("title", name))), list(dict.fromkeys(some)))
        return optional(found) if len(some) < len(values) else found

    def single(self, part: Part, word: Any, name: str) -> Type:
        node, steps = part
        match word:
            case "null":
                return Null()
            case "boolean":
                return Bool()
            case "integer":
                return self.int_(node, steps)
            case "number":
                self.unchecked(node, steps)
                return Float()
            case "string":
                return self.text(node, steps)
            case "array":
                return self.array(node, steps, name)
            case "object":
                return self.object_(part, name)
        refuse(f"type: {brief(word)} is none of JSON Schema's", steps)

    def int_(self, node: dict[str, Any], steps: Steps) -> Int:
        low, high = node.get("minimum"), node.get("maximum")
        if "exclusiveMinimum" in node:
            low = next_integer(node["exclusiveMinimum"], 1, low, steps)
        if "exclusiveMaximum" in node:
            high = next_integer(node["exclusiveMaximum"], -1, high, steps)
        for word, bound in (("minimum", low), ("maximum", high)):
            if bound is not None and (isinstance(bound, bool) or not isinstance(bound, int | float)):
                refuse(f"{word}: {brief(bound)} is no number", steps)
        self.unchecked(node, steps, *BOUNDS)
        if low is None and high is None:
            return Int()
        found = fewest_bits(low, high)
        if low not in (None, found.low) or high not in (None, found.high):
            self.note(steps, f"{found}, of which the bounds ({'' if low is None else low} to "
                             f"{'' if high is None else high}) are not checked")  # fmt: skip
        return found

    def text(self, node: dict[str, Any], steps: Steps) -> Type:
        self.unchecked(node, steps)
        encoding = node.get("contentEncoding")
        if encoding is None:
            return Str()
        if encoding != "base64":
            refuse(f"contentEncoding: {brief(encoding)} is not read, base64 is", steps)
        return Bytes()

    def array(self, node: dict[str, Any], steps: Steps, name: str) -> Type:
        if "items" not in node:
            refuse("items is missing, so that an item is any value", steps)
        if isinstance(node["items"], list):
            refuse("items: a schema per position (prefixItems) has no form in a zcser schema", steps)
        container = node.get("x-zcser-container")
        if container in ("set", "frozenset"):
            self.unchecked(node, steps, "uniqueItems")
            try:
                return Set(self.type_(Part(node["items"], (*steps, "items")), name), frozen=container == "frozenset")
            except SchemaError as error:
                if error.path is not None:
                    raise
                refuse(f"x-zcser-container: {error.reason}", steps)
        least, most = node.get("minItems"), node.get("maxItems")
        length = most if least == most and type(most) is int else None
        self.unchecked(node, steps, *(() if length is None else ("minItems", "maxItems")))
        item = self.type_(Part(node["items"], (*steps, "items")), name)
        return List(item, length, "tuple" if container == "tuple" else "list")

    # Objects ---------------------------------------------------------------------------------------------------------

    def object_(self, part: Part, name: str) -> Type:
        node, steps = part
        more = node.get("additionalProperties", True)
        is_open = more is True or more == {}
        if not node.get("properties"):
            if isinstance(more, dict) and not is_open:
                return self.map_(node, Part(more, (*steps, "additionalProperties")), name)
            if is_open and "properties" not in node:
                refuse(
                    "an object without properties and additionalProperties holds any value; describe one of them", steps
                )
        elif isinstance(more, dict) and not is_open:
            refuse("additionalProperties: a schema of further properties beside properties", steps)
        self.unchecked(node, steps)
        return self.record(own_object(part, is_open=is_open), part, name)

    def map_(self, node: dict[str, Any], value: Part, name: str) -> Map:
        if node.get("required"):
            refuse("required: names of properties that the schema does not have", value.steps[:-1])
        key = read_type(node.get("x-zcser-key", "str"), (*value.steps[:-1], "x-zcser-key"))
        if not isinstance(key, Str | Int | Bool | Logical):
            refuse(
                f"x-zcser-key: a map's keys are str, int or bool, or a value as a date is, not {key}", value.steps[:-1]
            )
        self.unchecked(node, value.steps[:-1], *(("propertyNames",) if "x-zcser-key" in node else ()))
        # A logical key is lowered before a codec sees it.
        return Map(key, self.type_(value, name))  # type: ignore[arg-type]

    def merged(self, part: Part) -> Object:
        """The one object that an ``allOf`` of plain objects describes."""
        node, steps = part
        if "$ref" in node:
            key = pointer(self.referred(part).steps)
            if key in self.following:
                refuse("$ref: it leads to itself through allOf", steps)
            self.following.append(key)
            found = self.merged(self.referred(part))
            self.following.pop()
            return found
        if not isinstance(node, dict) or any(name in STRUCTURE for name in node.keys() - OF_PLAIN_OBJECTS):
            words = sorted(node.keys() & STRUCTURE - OF_PLAIN_OBJECTS) if isinstance(node, dict) else []
            refuse(f"allOf is read where its parts are plain objects; {words[0] if words else 'one'} is not", steps)
        if node.get("type", "object") != "object" or node.get("additionalProperties", True) not in (True, {}):
            refuse("allOf is read where its parts are plain objects that are open", steps)
        self.look_over(node, steps)
        objects = [self.merged(Part(each, (*steps, "allOf", n))) for n, each in enumerate(node.get("allOf", ()))]
        objects.append(own_object(part, is_open=True))
        properties: dict[str, Part] = {}
        for each in objects:
            for name, below in each.properties.items():
                if properties.setdefault(name, below).node != below.node:
                    refuse(f"allOf describes {brief(name)} in two ways", steps)
        return Object(properties, [name for each in objects for name in each.required], steps)

    def record(self, found: Object, part: Part, name: str) -> Ref:
        node, steps = part
        key = pointer(steps)
        if key in self.names:
            return Ref(self.names[key])
        own = self.names[key] = self.free_name(node, steps, name)
        self.records[own] = None  # holds the place, so that records stand in order of mention
        for missing in found.required:
            if missing not in found.properties:
                refuse(f"required: {brief(missing)} is no property", steps)
        if found.open_at is not None:
            self.note(steps, f"{own} is open: further properties are no part of the record")
        following, self.following = self.following, []
        fields: list[Field] = []
        for label, below in found.properties.items():
            type_ = self.type_(below, label)
            number = below.node.get("x-zcser-id", fields[-1].id + 1 if fields else 1)
            if type(number) is not int:
                refuse(f"x-zcser-id: a number is needed, not {brief(number)}", below.steps)
            fields.append(Field(label, type_, number, label in found.required))
            if "default" in below.node:
                self.defaults.append((own, label, type_, below.node["default"], below.steps))
        self.following = following
        doc = node.get("description", "")
        try:
            self.records[own] = Record(own, tuple(fields), doc=doc.partition("\n")[0] if isinstance(doc, str) else "")
        except SchemaError as error:
            refuse(f"x-zcser-id: {error.reason}", steps)
        return Ref(own)

    def free_name(self, node: dict[str, Any], steps: Steps, name: str) -> str:
        """Of a definition its own; else from its title, or from the property that it is the value of."""
        is_definition = len(steps) > 1 and steps[-2] in ("$defs", "definitions", "schemas")
        title = node.get("title")
        base = str(steps[-1]) if is_definition else record_name(title if isinstance(title, str) and title else name)
        free, number = base, 2
        while free in self.records:
            free, number = f"{base}{number}", number + 1
        return free


def _then(read: Callable[..., Any], lift: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda tree: lift(read(tree))


def _completed(record: Record, item: Field, values: dict[tuple[str, str], Any]) -> Field:
    key = record.name, item.name
    return with_default(item, values[key]) if key in values else item
