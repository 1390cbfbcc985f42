"""Schemas that protobuf itself declares: a `ProtoSchema` out of compiled descriptors, and the message classes of one.

1. A `ProtoSchema` is a `zcser.Schema`, so that every codec takes it. Values are dicts, keyed by the fields' names:

   ================================ ===================================================================================
   required                         the value
   optional, in a oneof, a message  the value or None; a dict may lack it, which is None
   optional with a declared default the value; a dict may lack it, which is the default
   proto3 without ``optional``      the value; a dict may lack it, which is its zero
   repeated, map                    a list, a dict; a dict may lack it, which is empty
   enum                             the number, of a member
   group                            a dict, as a message
   ================================ ===================================================================================

2. The codec ``protobuf`` writes and reads such messages by the descriptors as they were given, so that widths, zigzag,
   packing and groups are theirs. Of the members of a oneof at most one may be there.
3. What other files extend a message by is unknown to it, and is skipped as any unknown field.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, OneofDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorSet

from zcser.core.errors import SchemaError
from zcser.protowire.descriptors import Classes
from zcser.protowire.names import map_entry_name
from zcser.protowire.plan import Declared, Label, Message, Oneof, Plan
from zcser.schema.model import (
    MISSING,
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    List,
    Map,
    Optional,
    Record,
    Ref,
    Schema,
    Str,
    Type,
)

__all__ = ["ProtoSchema", "descriptors_of", "given_classes", "given_schema"]

_SCALARS: dict[int, Type] = {
    FieldDescriptor.TYPE_BOOL: Bool(),
    FieldDescriptor.TYPE_BYTES: Bytes(),
    FieldDescriptor.TYPE_DOUBLE: Float(),
    FieldDescriptor.TYPE_FIXED32: Int(32, signed=False),
    FieldDescriptor.TYPE_FIXED64: Int(64, signed=False),
    FieldDescriptor.TYPE_FLOAT: Float(32),
    FieldDescriptor.TYPE_INT32: Int(32),
    FieldDescriptor.TYPE_INT64: Int(64),
    FieldDescriptor.TYPE_SFIXED32: Int(32),
    FieldDescriptor.TYPE_SFIXED64: Int(64),
    FieldDescriptor.TYPE_SINT32: Int(32),
    FieldDescriptor.TYPE_SINT64: Int(64),
    FieldDescriptor.TYPE_STRING: Str(),
    FieldDescriptor.TYPE_UINT32: Int(32, signed=False),
    FieldDescriptor.TYPE_UINT64: Int(64, signed=False),
}


@dataclass(frozen=True)
class ProtoSchema(Schema):
    """The schema of a protobuf message, with the descriptors that declare it; see `zcser.load_proto`.

    Attributes
    ----------
    descriptor_set
        A serialised ``google.protobuf.FileDescriptorSet``, with all that the message needs.
    """

    descriptor_set: bytes = field(default=b"", repr=False)

    @cached_property
    def messages(self) -> tuple[str, ...]:
        """Full names of all messages that may be a root."""
        return tuple(name for name, _ in _declared(FileDescriptorSet.FromString(self.descriptor_set)))

    def with_root(self, root: str) -> ProtoSchema:
        """The schema of another message, by its full name or by its own name where that is unique.

        Raises
        ------
        SchemaError
            There is no such message, or it has what is not supported.
        """
        return given_schema(self.descriptor_set, root)

    @cached_property
    def declared(self) -> Declared:
        """What the descriptors say besides."""
        found = self._descriptors
        return Declared(
            {
                message.full_name: frozenset(item.number for item in message.fields if item.is_required)
                for message in found
            },
            {message.full_name: tuple(map(_oneof, filter(_has_several, message.oneofs))) for message in found},
        )

    @cached_property
    def has_groups(self) -> bool:
        """Whether a message that it reaches has a group, which is no length and bytes on the wire."""
        return any(item.type == FieldDescriptor.TYPE_GROUP for message in self._descriptors for item in message.fields)

    @property
    def _descriptors(self) -> list[Descriptor]:
        pool = _pool(self.descriptor_set)
        return [pool.FindMessageTypeByName(record.name) for record in self.records]

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"descriptor_set": self.descriptor_set}


def given_schema(descriptor_set: bytes, root: str | None) -> ProtoSchema:
    """The schema of a message in a descriptor set.

    Raises
    ------
    SchemaError
        The set contradicts itself, has no such message, or the message has what is not supported: a field number above
        18,999, the wire format of message sets, a syntax newer than the installed protobuf.
    """
    pool = _pool(descriptor_set)
    found = pool.FindMessageTypeByName(_root(descriptor_set, root))
    records: dict[str, Record] = {}
    waiting = [found]
    while waiting:
        message = waiting.pop()
        if message.full_name in records:
            continue
        if message.GetOptions().message_set_wire_format:
            raise SchemaError("the wire format of message sets is not supported", path=message.full_name)
        records[message.full_name] = Record(message.full_name, tuple(map(_field, message.fields)))
        waiting += reversed([item.message_type for item in _flat(message.fields) if item.message_type is not None])
    return ProtoSchema(Ref(found.full_name), tuple(records.values()), descriptor_set=descriptor_set)


def given_classes(schema: ProtoSchema, plan: Plan) -> Classes:
    """The message classes of a plan, by name: as declared, but for fields whose names Python could not read."""
    files = FileDescriptorSet.FromString(schema.descriptor_set)
    records = {message.type.name: message for message in plan.messages if isinstance(message.type, Ref)}
    for name, declared in _declared(files):
        if name in records:
            _rename(declared, records[name])
    pool = _pool(files.SerializeToString())
    return {
        message.name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name))
        for name, message in records.items()
    }


def descriptors_of(schema: ProtoSchema) -> descriptor_pool.DescriptorPool:
    """The descriptors of a schema as they were given, in a pool of their own."""
    return _pool(schema.descriptor_set)


def _rename(declared: DescriptorProto, message: Message) -> None:
    """Give fields the names of their slots; on the wire there are numbers alone."""
    slots = {slot.number: slot for slot in message.slots}
    entries = {nested.name: nested for nested in declared.nested_type}
    for item in declared.field:
        slot = slots[item.number]
        if item.name == slot.name:
            continue
        if slot.label is Label.MAP:
            entry = entries[item.type_name.rpartition(".")[2]]
            entry.name = map_entry_name(slot.name)
            item.type_name = f"{item.type_name.rpartition('.')[0]}.{entry.name}"
        item.name = slot.name
        item.ClearField("json_name")


def _pool(descriptor_set: bytes) -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    try:
        for file in FileDescriptorSet.FromString(descriptor_set).file:
            pool.AddSerializedFile(file.SerializeToString())
    except Exception as error:
        raise SchemaError(f"protobuf refuses the descriptors: {error}", codec="protobuf") from error
    return pool


def _declared(files: FileDescriptorSet) -> Iterator[tuple[str, DescriptorProto]]:
    """All messages by full name, but for the entries of maps."""
    waiting = [(file.package, message) for file in reversed(files.file) for message in reversed(file.message_type)]
    while waiting:
        scope, message = waiting.pop()
        if message.options.map_entry:
            continue
        name = f"{scope}.{message.name}" if scope else message.name
        yield name, message
        waiting += [(name, nested) for nested in reversed(message.nested_type)]


def _root(descriptor_set: bytes, root: str | None) -> str:
    files = FileDescriptorSet.FromString(descriptor_set)
    names = [name for name, _ in _declared(files)]
    if root is None:
        # The messages of the file that was asked for, which is the last one, that no other message holds.
        held = {
            item.type_name.removeprefix(".")
            for name, message in _declared(files)
            for item in message.field
            if item.type_name != f".{name}"
        }
        last = files.file[-1] if files.file else None
        own = [] if last is None else [name for name, _ in _declared(FileDescriptorSet(file=[last]))]
        names = [name for name in own if name not in held]
        if len(names) != 1:
            raise SchemaError(
                f"which message? root=, or FILE:NAME in a command, takes one of "
                f"{', '.join(names or own) or 'none: it declares none'}"
            )
        return names[0]
    found = [name for name in names if name == root] or [name for name in names if name.rpartition(".")[2] == root]
    if len(found) != 1:
        what = f"no message is named {root!r}" if not found else f"{root!r} is {' and '.join(found)}"
        raise SchemaError(f"{what}; there are {', '.join(names) or 'none'}")
    return found[0]


def _flat(fields: Iterable[FieldDescriptor]) -> Iterator[FieldDescriptor]:
    """The fields, but for a map the key and value that its entries hold."""
    for item in fields:
        entry = _entry(item)
        if entry is None:
            yield item
        else:
            yield from entry.fields


def _entry(item: FieldDescriptor) -> Descriptor | None:
    """The message of a map's entries; None where the field is no map."""
    message = item.message_type
    return message if message is not None and message.GetOptions().map_entry else None


def _field(item: FieldDescriptor) -> Field:
    entry = _entry(item)
    if entry is not None:
        key: Any = _type(entry.fields_by_name["key"])  # protobuf takes no other keys than str, int and bool
        return _with_default(item, Map(key, _type(entry.fields_by_name["value"])), factory=dict)
    if item.is_repeated:
        return _with_default(item, List(_type(item)), factory=list)
    type_ = _type(item)
    if item.is_required:
        return Field(item.name, type_, item.number)
    if item.containing_oneof is None and (item.has_default_value or not item.has_presence):
        return _with_default(item, type_, default=item.default_value)
    return _with_default(item, Optional(type_), default=None)


def _with_default(item: FieldDescriptor, type_: Type, *, default: Any = MISSING, factory: Any = None) -> Field:
    return Field(item.name, type_, item.number, required=False, default=default, default_factory=factory)


def _type(item: FieldDescriptor) -> Type:
    if item.message_type is not None:
        return Ref(_full_name(item.message_type))
    if item.enum_type is not None:
        return _enum(item.enum_type)
    return _SCALARS[item.type]


def _has_several(oneof: OneofDescriptor) -> bool:
    # One that protoc makes for a proto3 ``optional`` has one member.
    return len(oneof.fields) > 1


def _oneof(oneof: OneofDescriptor) -> Oneof:
    return oneof.name, tuple(item.number for item in oneof.fields)


def _full_name(message: Descriptor) -> str:
    return str(message.full_name)


def _enum(declared: EnumDescriptor) -> Enum:
    """The members of distinct numbers: a later one of a number is another name for it."""
    names: dict[int, str] = {}
    for value in declared.values:
        names.setdefault(value.number, value.name)
    return Enum(declared.full_name, tuple((name, number) for number, name in names.items()))
