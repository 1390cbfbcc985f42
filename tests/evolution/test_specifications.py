"""What codecs do of each change is what the formats' own specifications say."""

from __future__ import annotations

import pytest

from zcser.core.errors import CodecUnavailableError
from zcser.evolution import Direction, evolve
from zcser.evolution.pairs import PAIRS, matched_by

PAIR = {pair.name: pair for pair in PAIRS}

# protobuf.dev/programming-guides/proto3, "Updating A Message Type", and /encoding; each line has the sentence.
PROTOBUF = {
    # "If you add new fields, any messages serialized by code using your old message format can still be parsed by your new
    # generated code", with default values; "old binaries simply ignore the new field when parsing".
    "add a field: required": ("default", "lost as meant"),
    "add a field: optional": ("default", "lost as meant"),
    "remove a field: required": ("lost as meant", "default"),
    # "The binary format uses only the field number": a name is not there to be lost.
    "rename": ("works", "works"),
    "reorder, ids kept": ("works", "works"),
    # "Don't change the field numbers for any existing fields": it is deleting the field and adding one of the same type.
    "another number, order kept": ("works or lost", "works or lost"),
    "reorder, ids by order": ("wrong", "wrong"),
    # "int32, uint32, int64, uint64, and bool are all compatible ... if a number is parsed from the wire which doesn't fit in
    # the corresponding type, you will get the same effect as if you had cast the number to that type in C++".
    "widen: int32 to int64": ("works", "works or lost or wrong"),
    "uint32 to int32": ("works or wrong", "works or wrong"),
    "bool to int32": ("works", "works or wrong"),
    # "enum is compatible with int32"; that zcser's enums are closed is its own policy (README), hence the error.
    "enum to int32": ("works", "works or error"),
    # "string and bytes are compatible as long as the bytes are valid UTF-8".
    "str to bytes": ("works", "works or error"),
    # Wire types 0 and 2 (encoding): the field is unknown. Implicit presence writes no "", so that an empty text is lost too.
    "str to int32": ("lost", "lost"),
    # Wire types 5 and 1 differ as well; a zero is on neither wire, and is right by that.
    "widen: float32 to float64": ("works or lost", "works or lost"),
    # "For string, bytes, and message fields, singular is compatible with repeated ... will take the last input value". Of
    # no presence, "" is not on the wire to become [""].
    "str to list": ("works or lost", "works or default or lost"),
    # "this is not generally safe for numeric types ... serialized in the packed format".
    "list to int32": ("default or lost", "works or lost"),
    # "Implicit presence ... the default value is not serialized": 0 is None to a reader with presence.
    "required to optional": ("works or lost", "works or default"),
    # "For repeated fields, the default is empty", and there is no other.
    "add a field: list with a default": ("wrong", "lost as meant"),
    # "oneof": each option is a field with its own number.
    "union option added": ("works", "works or error"),
}

# flatbuffers.dev/evolution. Required vectors and the verifier's refusals are of flatbuffers.dev/schema, "required".
FLATBUFFERS = {
    # "New fields ... older data will still read correctly, and give you the default value. Older code will simply ignore the
    # new field."
    "add a field: required": ("default", "lost as meant"),
    "add a field: with a default": ("default", "lost as meant"),
    "add a field: list": ("error", "lost as meant"),
    "remove a field: optional": ("lost as meant", "default"),
    # "It's ok to change field names".
    "rename": ("works", "works"),
    # "unless you specify ids": then the order is free; else "new code will misread old data and vice versa".
    "reorder, ids kept": ("works", "works"),
    "reorder, ids by order": ("wrong", "wrong"),
    # "This is only OK when the type change is the same size ... reinterpreting": two's complement.
    "uint32 to int32": ("works or wrong", "works or wrong"),
    # A union's type is its option's number: "the order of union members" must stay.
    "union option added": ("works", "works or error"),
}

# avro.apache.org/docs/1.12.0/specification, "Binary Encoding": no names, no types, no numbers, without the writer's schema.
AVRO = {
    # "A record is encoded by encoding the values of its fields in the order that they are declared".
    "rename": ("works", "works"),
    "another number, order kept": ("works", "works"),
    "swap two numbers, order kept": ("wrong", "wrong"),
    "add a field: with a default": ("error", "error"),
    "fields split off into a record": ("works", "works"),
    # "int and long values are written using variable-length, zig-zag coding": one encoding of both.
    "widen: int32 to int64": ("works", "works or error"),
    # "bytes are encoded as a long followed by that many bytes", "a string is encoded as a long followed by that many bytes".
    "str to bytes": ("works", "works or error"),
    # "An enum is encoded by an int, representing the zero-based position of the symbol in the schema."
    "members renumbered": ("works", "works"),
    "member added": ("works", "works or error"),
    "member added in front, of strs": ("wrong", "error or wrong"),
    # "A union is encoded by first writing an int value indicating the zero-based position within the union".
    "union option added": ("works", "works or error"),
}

# RFC 8259: "An object is an unordered collection of zero or more name/value pairs"; numbers have no width. That a member is
# required is the schema's rule, and so is that an unknown one is passed over (`unknown_fields="drop"`).
JSON = {
    "add a field: required": ("error", "lost as meant"),
    "add a field: with a default": ("default", "lost as meant"),
    "rename": ("error", "error"),
    "reorder, ids kept": ("works", "works"),
    "reorder, ids by order": ("works", "works"),
    "swap two numbers, order kept": ("works", "works"),
    "widen: int32 to int64": ("works", "works or error"),
    "int32 to str": ("error", "error"),
    "required to optional": ("works", "works or error"),
    "union options reordered": ("works", "works"),
}

# github.com/msgpack/msgpack/blob/master/spec.md: maps by key as JSON; integers by value; str and bin are two families.
MSGPACK = {
    "rename": ("error", "error"),
    "reorder, ids by order": ("works", "works"),
    "widen: int32 to int64": ("works", "works or error"),
    "str to bytes": ("error", "error"),
    "member added in front, of strs": ("works", "works or error"),
}

# Slee, Agarwal, Kwiatkowski, "Thrift: Scalable Cross-Language Services Implementation" (2007), section 4: fields are known by
# identifiers with a type in front, what is unknown or of another type is skipped, and isset tells what was not there.
THRIFT = {
    "rename": ("works", "works"),
    "reorder, ids kept": ("works", "works"),
    "add a field: optional": ("default", "lost as meant"),
    "add a field: required": ("error", "lost as meant"),
    "another number, order kept": ("error", "error"),
    "widen: int32 to int64": ("error", "error"),
    # T_STRING and T_BINARY are one type of the wire.
    "str to bytes": ("works", "works or error"),
    # An enum is an i32 on the wire.
    "enum to int32": ("works", "works or error"),
}

# capnproto.org/language.html, "Evolving Your Protocol".
CAPNP = {
    # "New fields ... may be added to structs, as long as each new member's number is larger than all previous members"; "The
    # default value" stands in.
    "add a field: required": ("default", "lost as meant"),
    "add a field: with a default": ("default", "lost as meant"),
    # "Any symbolic name can be changed, as long as the type ID / ordinal numbers stay the same."
    "rename": ("works", "works"),
    "reorder, ids kept": ("works", "works"),
    "swap two numbers, order kept": ("wrong", "wrong"),
    # "New enumerants ... may be added"; that zcser's enums are closed is its own policy.
    "member added": ("works", "works or error"),
}

# RFC 8949: maps by key, integers by value, and text and bytes are two major types.
CBOR = MSGPACK

# C's layout, which zcser.header states: members one after the other, no tags; docs.python.org/3/library/struct.
HEADER = {
    "rename": ("works", "works"),
    "reorder, ids kept": ("wrong", "wrong"),
    "swap two numbers, order kept": ("works", "works"),
    "add a field: with a default": ("error", "error"),
    "uint32 to int32": ("works or wrong", "works or wrong"),
}

TABLES = {
    "protobuf": PROTOBUF,
    "flatbuffers": FLATBUFFERS,
    "flatbuffers-official": FLATBUFFERS,
    "avro": AVRO,
    "json": JSON,
    "orjson": JSON,
    "msgpack": MSGPACK,
    "ormsgpack": MSGPACK,
    "thrift": THRIFT,
    "capnp": CAPNP,
    "cbor2": CBOR,
    "header": HEADER,
}

BY = {"json": "name", "msgpack": "name", "protobuf": "number", "flatbuffers": "number", "thrift": "number",
      "avro": "position", "header": "position"}  # fmt: skip


@pytest.mark.parametrize("codec", TABLES)
def test_outcomes_are_those_of_the_specification(codec):
    seen = {}
    for name in TABLES[codec]:
        try:
            (report,) = evolve(PAIR[name].old, PAIR[name].new, codecs=[codec]).codecs
        except CodecUnavailableError as error:
            pytest.skip(str(error))
        seen[name] = tuple(str(report.whole[direction]) for direction in Direction)
    assert seen == TABLES[codec]


@pytest.mark.parametrize("codec", BY)
def test_fields_are_found_as_the_specification_says(codec):
    try:
        assert matched_by(codec) == BY[codec]
    except CodecUnavailableError as error:
        pytest.skip(str(error))
