"""The ``.proto`` text of a schema, for peers that are not zcser.

protoc makes of it exactly the descriptor that the codec builds at run time, so that code generated from it, in any
language, reads and writes the codec's bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from zcser.core.errors import SchemaError
from zcser.lower.wire import wire_schema
from zcser.protowire.descriptors import file_descriptor
from zcser.protowire.given import ProtoSchema
from zcser.protowire.planner import plan_of
from zcser.schema.from_python import schema_of

__all__ = ["emit_proto"]

_SCALARS = {
    FieldDescriptorProto.TYPE_BOOL: "bool",
    FieldDescriptorProto.TYPE_INT32: "int32",
    FieldDescriptorProto.TYPE_INT64: "int64",
    FieldDescriptorProto.TYPE_UINT32: "uint32",
    FieldDescriptorProto.TYPE_UINT64: "uint64",
    FieldDescriptorProto.TYPE_FLOAT: "float",
    FieldDescriptorProto.TYPE_DOUBLE: "double",
    FieldDescriptorProto.TYPE_STRING: "string",
    FieldDescriptorProto.TYPE_BYTES: "bytes",
}

# What the language would take for something else where a type's name is expected.
_WORDS = frozenset(_SCALARS.values()) | {
    "enum", "extend", "extensions", "fixed32", "fixed64", "group", "map", "message", "oneof", "option", "optional",
    "repeated", "required", "reserved", "sfixed32", "sfixed64", "sint32", "sint64",
}  # fmt: skip


def emit_proto(schema: Any, *, package: str = "zcser") -> str:
    """The ``.proto`` text (proto3) of a schema.

    Parameters
    ----------
    schema
        A `zcser.Schema`, or what one can be made from.
    package
        The protobuf package that its messages stand in.

    Raises
    ------
    SchemaError
        protobuf has no form for a part of the schema; or it came from protobuf, whose bytes have more forms than it tells
        of (``sint64``, ``fixed64``, defaults): its messages are those of its own file.
    """
    found = schema_of(schema)
    if isinstance(found, ProtoSchema):
        raise SchemaError("it is a protobuf schema already; its messages are those of its own file")
    file = file_descriptor(plan_of(wire_schema(found)), package)
    return "\n".join(_file(file)) + "\n"


def _file(file: FileDescriptorProto) -> Iterator[str]:
    yield 'syntax = "proto3";'
    yield ""
    yield f"package {file.package};"
    for message in file.message_type:
        yield ""
        yield from _message(message, f".{file.package}.")
    for enum in file.enum_type:
        yield ""
        yield from _enum(enum)


def _enum(enum: EnumDescriptorProto) -> Iterator[str]:
    yield f"enum {enum.name} {{"
    for value in enum.value:
        yield f"  {value.name} = {value.number};"
    yield "}"


def _message(message: DescriptorProto, prefix: str) -> Iterator[str]:
    if not message.field:
        yield f"message {message.name} {{}}"
        return
    yield f"message {message.name} {{"
    entries = {f"{prefix}{message.name}.{entry.name}": entry for entry in message.nested_type}
    nested = {entry.name for entry in message.nested_type}
    members = [field for field in message.field if field.HasField("oneof_index") and not field.proto3_optional]
    if members:
        # Only a union's message has a real oneof, and nothing beside it.
        yield f"  oneof {message.oneof_decl[0].name} {{"
        yield from (f"    {_type(field, prefix, nested)} {field.name} = {field.number};" for field in members)
        yield "  }"
    else:
        for field in message.field:
            yield f"  {_label(field, entries)}{_occurrence(field, entries, prefix, nested)} {field.name} = {field.number};"
    yield "}"


def _label(field: FieldDescriptorProto, entries: dict[str, DescriptorProto]) -> str:
    if field.proto3_optional:
        return "optional "
    return "repeated " if field.label == FieldDescriptorProto.LABEL_REPEATED and field.type_name not in entries else ""


def _occurrence(field: FieldDescriptorProto, entries: dict[str, DescriptorProto], prefix: str, nested: set[str]) -> str:
    entry = entries.get(field.type_name)
    if entry is None:
        return _type(field, prefix, nested)
    key, value = entry.field
    return f"map<{_type(key, prefix, nested)}, {_type(value, prefix, nested)}>"


def _type(field: FieldDescriptorProto, prefix: str, nested: set[str]) -> str:
    if not field.type_name:
        return _SCALARS[field.type]
    name = field.type_name.removeprefix(prefix)
    # A map's entry message, nested here, would hide a message of the same name.
    return field.type_name if name in _WORDS or name in nested else name
