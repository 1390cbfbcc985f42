"""Schemas from the code that protoc generated: a message class, or what its module calls DESCRIPTOR."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from zcser.core.errors import SchemaError
from zcser.protowire.given import ProtoSchema, given_schema

__all__ = ["schema_of_generated"]


def schema_of_generated(found: Any) -> ProtoSchema:
    """The schema of generated code.

    Parameters
    ----------
    found
        A message class; a module that protoc generated, or the descriptor of its file, which has one message that no other
        holds.

    Raises
    ------
    SchemaError
        It is nothing of the kind, or the message has what is not supported; see `zcser.load_descriptors`.
    """
    descriptor = getattr(found, "DESCRIPTOR", found)
    if isinstance(descriptor, Descriptor):
        return given_schema(_descriptor_set(descriptor.file), descriptor.full_name)
    if isinstance(descriptor, FileDescriptor):
        return given_schema(_descriptor_set(descriptor), None)
    raise SchemaError(f"{found!r} is neither a message class nor a module that protoc generated")


def _descriptor_set(file: FileDescriptor) -> bytes:
    """A file and all that it imports, each behind what it imports itself."""
    files: dict[str, FileDescriptor] = {}

    def add(one: FileDescriptor) -> None:
        if one.name not in files:
            for imported in one.dependencies:
                add(imported)
            files[one.name] = one

    add(file)
    protos = [FileDescriptorProto.FromString(one.serialized_pb) for one in files.values()]
    return FileDescriptorSet(file=protos).SerializeToString()
