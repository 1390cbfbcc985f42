"""The mapping table: how every kind of the schema stands in every place on every wire, as ``schemas/MAPPING.md``.

1. No cell is written by hand. A cell is a record of one field, ``x``, given to the code that a user would run: what the
   emitters declare for it, what a codec encodes of a sample, what ``struct`` packs, or the refusal's own words.
2. Neighbouring rows whose cells are all the same are one row.
3. ``python -m zcser.mapping > schemas/MAPPING.md`` writes the file; a test holds it equal to the code.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import numpy as np

from zcser.arrow.types import columns_of
from zcser.avro.emit import avro_schema
from zcser.avro.plan import Plan as AvroPlan
from zcser.capnp.emit import emit_capnp
from zcser.codecs.bson import BsonCodec
from zcser.codecs.cbor2 import Cbor2Codec
from zcser.codecs.json import JsonCodec
from zcser.codecs.kserve import KserveCodec
from zcser.codecs.msgpack import MsgpackCodec
from zcser.codecs.pickle import PickleCodec
from zcser.codecs.pickle5 import Pickle5Codec
from zcser.codecs.safetensors import SafetensorsCodec
from zcser.core.errors import SchemaError
from zcser.core.options import Limits, Options
from zcser.flat.emit import emit_fbs
from zcser.header.layout import layout_of
from zcser.header.plan import Plan
from zcser.lower.code import Conversion
from zcser.protowire.emit import emit_proto
from zcser.schema.lower import lowering_of
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    Kind,
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
from zcser.thrift.emit import emit_thrift

__all__ = ["KINDS", "WIRES", "Place", "Wire", "cell", "markdown"]

_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a type stands: a column.

    Attributes
    ----------
    name
        Its heading.
    put
        The type of the field, from that of the row.
    fill
        Values of the field, from the row's sample; only wires without declarations show them.
    required
        As in `Field`.
    """

    name: str
    put: Callable[[Type], Type]
    fill: Callable[[Any], tuple[Any, ...]]
    required: bool = True


@dataclass(frozen=True, slots=True)
class Wire:
    """A wire: a section.

    Attributes
    ----------
    name
        As in `CodecInfo.wire`.
    shows
        What the cells show, as a sentence.
    show
        The texts of a cell, from a schema of one field and the field's values.
    places
        The columns.
    emit
        Where the wire has a schema language: its emitter.
    text
        As in `Codec`: what dates and their like stand as.
    """

    name: str
    shows: str
    show: Callable[[Schema, tuple[Any, ...]], list[str]]
    places: tuple[Place, ...]
    emit: Callable[[Schema], str] | None = None
    text: bool = False


_INNER = Record("Inner", (Field("a", Int(32), 1),))

_TEXTS: tuple[tuple[str, Callable[[str], Any], str], ...] = (
    ("path", Path, "a/b"),
    ("ipv4", ipaddress.IPv4Address, "10.0.0.1"),
    ("ipv6", ipaddress.IPv6Address, "::1"),
    ("ipv4_network", ipaddress.IPv4Network, "10.0.0.0/8"),
    ("ipv6_network", ipaddress.IPv6Network, "fe80::/10"),
)

KINDS: tuple[tuple[Type, Any], ...] = (
    (Null(), None),
    (Bool(), True),
    *((Int(bits, signed), 7) for signed in (True, False) for bits in (8, 16, 32, 64)),
    (Int(None), 1 << 64),
    (Float(32), 0.5),
    (Float(64), 0.5),
    (Str(), "text"),
    (Str(4), "text"),
    (Bytes(), b"\x01\x02"),
    (Bytes(2), b"\x01\x02"),
    (Enum("Colour", (("RED", 1), ("BLUE", 2))), 1),
    (Enum("Mode", (("FAST", "fast"), ("SLOW", "slow"))), "fast"),
    (Tensor(), np.array([1, 2], np.uint8)),
    (Tensor("uint8", (2,)), np.array([1, 2], np.uint8)),
    (Ref("Inner"), {"a": 7}),
    (Map(Str(), Int(32)), {"k": 7}),
    (Map(Int(32), Str()), {7: "v"}),
    (Map(Bool(), Str()), {True: "v"}),
    (Union((Int(32), Str())), 7),
    (Union((Str(), Bytes())), b"\x01\x02"),
    (Logical("datetime"), datetime(2026, 1, 2, tzinfo=UTC)),
    (Logical("datetime_utc"), datetime(2026, 1, 2, tzinfo=UTC)),
    (Logical("datetime_naive"), datetime(2026, 1, 2)),  # noqa: DTZ001 - naive
    (Logical("date"), date(2026, 1, 2)),
    (Logical("time"), time(3, 4, 5)),
    (Logical("timedelta"), timedelta(seconds=1)),
    (Logical("decimal"), Decimal("1.50")),
    (Logical("uuid"), UUID(int=5)),
    *((Logical(name), cls(text)) for name, cls, text in _TEXTS),
    (Set(Int(32)), {7, 3}),
)
"""The rows: a type, and a sample of it. Optional and list are columns."""


def _beside(type_: Type) -> Union:
    return Union((type_, Str() if isinstance(type_, Bool) else Bool()))


def _pair(type_: Type) -> List:
    return List(type_, length=2)


_SINGLE = (
    Place("field", lambda t: t, lambda v: (v,)),
    Place("optional", Optional, lambda v: (v, None)),
    Place("may be absent", lambda t: t, lambda v: (v, _ABSENT), required=False),
    Place("may be absent or None", Optional, lambda v: (v, None, _ABSENT), required=False),
    Place("list", List, lambda v: ([v, v],)),
)
_FREE = (
    Place("list of optional", lambda t: List(Optional(t)), lambda v: ([v, None],)),
    Place("list of lists", lambda t: List(List(t)), lambda v: ([[v], []],)),
)
_FIXED = (
    Place("list of 2", _pair, lambda v: ([v, v],)),
    Place("list of 2 lists of 2", lambda t: _pair(_pair(t)), lambda v: ([[v, v], [v, v]],)),
)
_KEYED = (
    Place("map value", lambda t: Map(Str(), t), lambda v: ({"k": v},)),
    Place("union option", _beside, lambda v: (v,)),
)
_PLACES = (*_SINGLE, *_FREE, *_KEYED)
_FIXED_PLACES = (*_SINGLE, *_FIXED, *_KEYED)


def _schema(type_: Type, *, required: bool = True) -> Schema:
    return Schema(Ref("Row"), (Record("Row", (Field("x", type_, 1, required=required),)), _INNER))


def _message(value: Any) -> dict[str, Any]:
    return {} if value is _ABSENT else {"x": value}


def _json(schema: Schema, values: tuple[Any, ...]) -> list[str]:
    codec = JsonCodec[Any](schema, Options())
    texts = [codec.encode(_message(value)).decode() for value in values]
    return [text.removeprefix('{"x":').removesuffix("}") if text != "{}" else "" for text in texts]


def _msgpack(schema: Schema, values: tuple[Any, ...]) -> list[str]:
    codec = MsgpackCodec[Any](schema, Options())
    trees = [codec.load(codec.encode(_message(value))) for value in values]
    return [repr(tree["x"]) if tree else "" for tree in trees]


def _cbor(schema: Schema, values: tuple[Any, ...]) -> list[str]:
    codec = Cbor2Codec[Any](schema, Options())
    trees = [codec.convert(_message(value)) for value in values]
    return [repr(tree["x"]) if tree else "" for tree in trees]


def _bson(schema: Schema, values: tuple[Any, ...]) -> list[str]:
    codec = BsonCodec[Any](schema, Options())
    trees = [codec.convert(_message(value)) for value in values]
    return [repr(tree["x"]) if tree else "" for tree in trees]


def _pickle(schema: Schema, values: tuple[Any, ...]) -> list[str]:
    codec = Pickle5Codec[Any](schema, Options(allow_untrusted_code=True))
    trees = [codec.load(codec.encode(_message(value))) for value in values]
    return [repr(tree["x"]) if tree else "" for tree in trees]


def _objects(schema: Schema, values: tuple[Any, ...]) -> list[str]:
    codec = PickleCodec[Any](schema, Options(allow_untrusted_code=True))
    found = [codec.load(codec.encode(_message(value))) for value in values]
    return [repr(value["x"]) if value else "" for value in found]


def _protobuf(schema: Schema, _values: tuple[Any, ...]) -> list[str]:
    return _declared(emit_proto(schema), r"  (.+) x = 1;", _shared(emit_proto))


def _flatbuffers(schema: Schema, _values: tuple[Any, ...]) -> list[str]:
    field, *more = _declared(emit_fbs(schema), r"  x: (.+);(?:  //.*)?", _shared(emit_fbs))
    return [re.sub(r" \(id: \d+\)|(?<=\()id: \d+, ", "", field), *more]


def _capnp(schema: Schema, _values: tuple[Any, ...]) -> list[str]:
    field, *more = _declared(emit_capnp(schema), r"  x @\d+ :(.+);(?:  #.*)?", _shared(emit_capnp))
    return [f"{field}, beside a flag" if "  hasX @" in emit_capnp(schema) else field, *more]


def _header(schema: Schema, _values: tuple[Any, ...]) -> list[str]:
    whole = Plan(layout_of(schema, Limits()), lambda _: False).whole
    return [whole.format.removeprefix("<")] if whole is not None else []


def _avro(schema: Schema, _values: tuple[Any, ...]) -> list[str]:
    return [json.dumps(avro_schema(AvroPlan(schema))["fields"][0]["type"])]


def _thrift(schema: Schema, _values: tuple[Any, ...]) -> list[str]:
    return _declared(emit_thrift(schema), "  1: (.+) x", _shared(emit_thrift))


def _arrow(schema: Schema, _values: tuple[Any, ...]) -> list[str]:
    return [str(columns_of(schema, "arrow").struct.field("x")).removeprefix("pyarrow.Field<x: ").removesuffix(">")]


def _safetensors(schema: Schema, values: tuple[Any, ...]) -> list[str]:
    codec = SafetensorsCodec[Any](schema, Options())
    heads = [bytes(codec.encode_segments(_message(value))[0][8:]) for value in values]
    return [head.decode().rstrip()[1:-1] for head in heads]


def _kserve(schema: Schema, values: tuple[Any, ...]) -> list[str]:
    # Beside an input, without which there is no message.
    row, *others = schema.records
    beside = Field("beside", Tensor("uint8", (0,)), 2)
    records = (Record(row.name, (*row.fields, beside)), *others)
    codec = KserveCodec[Any](Schema(schema.root, records), Options())
    found = []
    for value in values:
        head = bytes(codec.encode_segments({**_message(value), "beside": np.zeros(0, np.uint8)})[0])
        document = json.loads(head.partition(b"\r\n\r\n")[2])
        document["inputs"] = [tensor for tensor in document["inputs"] if tensor["name"] != "beside"]
        kept = {key: part for key, part in document.items() if part}
        found.append(json.dumps(kept, separators=(",", ":"))[1:-1])
    return found


_WORDS = ("message ", "enum ", "table ", "union ", "struct ")


def _declarations(text: str) -> dict[str, str]:
    """The declarations of an emitted schema, by name."""
    blocks = [block.strip() for block in text.split("\n\n")]
    return {block.split()[1]: block for block in blocks if block.startswith(_WORDS)}


def _declared(text: str, field: str, shared: dict[str, str]) -> list[str]:
    """The field's declaration, then those that the schema needed for it alone, each on one line."""
    found = _declarations(text)
    match = re.search(rf"^{field}$", found.pop("Row"), re.MULTILINE)
    if match is None:
        raise ValueError(f"no field x in {text}")
    return [match[1], *(" ".join(block.split()) for name, block in found.items() if name not in shared)]


@cache
def _shared(emit: Callable[[Schema], str]) -> dict[str, str]:
    """Declarations of the kinds that have one wherever they stand."""
    found: dict[str, str] = {}
    for type_, _ in KINDS:
        if type_.kind in {Kind.NULL, Kind.ENUM, Kind.TENSOR, Kind.RECORD}:
            found |= _declarations(emit(_schema(type_)))
    return {name: block for name, block in found.items() if name != "Row"}


WIRES = (
    Wire("json", "The text of the field's value, as `json` writes it.", _json, _PLACES, text=True),
    Wire("msgpack", "The field's value as the msgpack library reads it back, in Python's notation.", _msgpack, _PLACES),
    Wire(
        "cbor",
        "What the cbor2 library is given for the field's value, in Python's notation; tags by number.",
        _cbor,
        _PLACES,
    ),
    Wire("bson", "What the bson library is given for the field's value, in Python's notation.", _bson, _PLACES),
    Wire("pickle", "The field's value as it is unpickled, in Python's notation.", _pickle, _PLACES),
    Wire("pickle-objects", "The field's value as it is unpickled by `pickle`.", _objects, _PLACES),
    Wire(
        "protobuf",
        "The field's declaration in proto3 less its name and number, then the messages made for it.",
        _protobuf,
        _PLACES,
        emit_proto,
    ),
    Wire(
        "flatbuffers",
        "The field's declaration in .fbs less its name and id, then the tables and unions made for it.",
        _flatbuffers,
        _PLACES,
        emit_fbs,
    ),
    Wire(
        "avro",
        "The field's type in the Avro schema; a field that may be absent has null as its default.",
        _avro,
        _PLACES,
    ),
    Wire(
        "thrift",
        "The field's declaration in Thrift less its id and name, then the structs made for it.",
        _thrift,
        _PLACES,
        emit_thrift,
    ),
    Wire("arrow", "The type of the field's column.", _arrow, _PLACES),
    Wire("safetensors", "What the header holds of the field, less its braces.", _safetensors, _PLACES),
    Wire(
        "kserve",
        "What the JSON of the body holds of the field, less its braces, beside another input.",
        _kserve,
        _PLACES,
    ),
    Wire(
        "capnp",
        "The type of the field in .capnp, with the flag that tells whether a scalar is there, then the structs made for it.",
        _capnp,
        _PLACES,
        emit_capnp,
    ),
    Wire("header", "The format of Python's `struct`, little-endian, gaps as `x`.", _header, _FIXED_PLACES),
)


def cell(wire: Wire, type_: Type, sample: Any, place: Place) -> str:
    """One cell, as Markdown."""
    try:
        schema = _schema(place.put(type_), required=place.required)
    except SchemaError as error:
        return f"no such schema: {_short(error)}"
    values = place.fill(sample)
    lowering = lowering_of(schema, text=wire.text)
    if lowering is not None:
        schema, lower = lowering.wire, Conversion(lowering).lower(schema.records[0].fields[0].type)
        values = tuple(value if value is _ABSENT else lower(value) for value in values)
    try:
        texts = wire.show(schema, values)
    except SchemaError as error:
        return f"refused: {_short(error)}"
    joint = "<br>" if wire.emit is not None else " or "
    return joint.join(f"`{_escape(text)}`" if text else "nothing" for text in texts)


def _short(error: SchemaError) -> str:
    return _escape(error.reason.partition(";")[0])


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


def _rows(wire: Wire) -> Iterator[list[str]]:
    rows = [(_label(type_), [cell(wire, type_, sample, place) for place in wire.places]) for type_, sample in KINDS]
    for cells, same in groupby(rows, key=lambda row: row[1]):
        yield [", ".join(label for label, _ in same), *cells]


def _label(type_: Type) -> str:
    match type_:
        case Int(bits=None):
            return "int of any size"
        case Enum():
            return f"{type_}, of {'ints' if type_.of_ints else 'strs'}"
        case Ref():
            return f"record {type_}"
    return _escape(str(type_))


def _section(wire: Wire) -> Iterator[str]:
    yield from ("", f"## {wire.name}", "", wire.shows, "")
    headings = ["kind", *(place.name for place in wire.places)]
    for row in (headings, ["---"] * len(headings), *_rows(wire)):
        yield f"| {' | '.join(row)} |"
    if wire.emit is not None:
        yield from ("", "Declared once, wherever they are used:", "", "```")
        yield "\n\n".join(_shared(wire.emit).values())
        yield "```"


def markdown() -> str:
    """The whole table; ends in a newline."""
    lines = [
        "# The mapping table",
        "",
        "How every kind stands in every place on every wire. Generated from the code by `python -m zcser.mapping`; do not",
        "edit. *refused* is a `SchemaError` when the codec is made, *no such schema* one for all wires; *nothing* is no key",
        "in the message, or no bytes.",
        *(line for wire in WIRES for line in _section(wire)),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(markdown(), end="")
