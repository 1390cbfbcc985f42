"""Schemas from ``.proto`` files and compiled descriptors, as protoc makes them, so that none of its rules are ours."""

from __future__ import annotations

import importlib
import importlib.util
import operator
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from zcser.core.buffers import Buffer, byte_view
from zcser.core.errors import CodecUnavailableError, SchemaError
from zcser.protowire.given import ProtoSchema, given_schema
from zcser.schema.compilers import compile_schema, source_file

__all__ = ["load_descriptors", "load_message", "load_proto"]


def load_descriptors(data: Buffer, *, root: str | None = None) -> ProtoSchema:
    """The schema of a message in a compiled descriptor set, as ``protoc --include_imports -o`` writes it.

    Parameters
    ----------
    data
        A serialised ``google.protobuf.FileDescriptorSet``; copied.
    root
        Full name of the message, or its own name where that is unique. May be left out where the last file has only one
        message that no other one holds.

    Returns
    -------
    ProtoSchema
        For `zcser.codec`. Values are dicts; `zcser.protowire.given` says how.

    Raises
    ------
    SchemaError
        The bytes are no descriptor set, protobuf refuses it, there is no such message, or it has what is not supported: a
        field number above 18,999, the wire format of message sets.
    """
    content = bytes(byte_view(data, codec="protobuf"))
    try:
        FileDescriptorSet.FromString(content)
    except Exception as error:
        raise SchemaError(f"the bytes are no FileDescriptorSet: {error}", codec="protobuf") from error
    return given_schema(content, root)


def load_message(source: Any, *, root: str | None = None) -> ProtoSchema:
    """The schema of a generated message class, or of a message of a generated module.

    Parameters
    ----------
    source
        A class that protoc made, as ``person_pb2.Person``; a module that protoc made; or ``"module:Class"``.
    root
        Of a module: see `load_descriptors`.

    Returns
    -------
    ProtoSchema
        See `load_descriptors`. Values are dicts; a message of the class goes through `dump` of the codec ``protobuf`` as it
        is, and its `encode` takes one too.

    Raises
    ------
    SchemaError
        `source` is none of these; or as for `load_descriptors`.
    """
    if isinstance(source, str):
        module, _, name = source.partition(":")
        try:
            source = importlib.import_module(module)
            source = operator.attrgetter(name)(source) if name else source
        except (ImportError, AttributeError, ValueError) as error:
            raise SchemaError(f"{module}:{name} cannot be imported: {error}", codec="protobuf") from error
    descriptor = getattr(source, "DESCRIPTOR", None)
    if isinstance(descriptor, FileDescriptor):
        return given_schema(_described(descriptor), root)
    if not isinstance(descriptor, Descriptor):
        raise SchemaError(f"{source!r} is no message class or module that protoc made", codec="protobuf")
    return given_schema(_described(descriptor.file), descriptor.full_name)


def _described(file: FileDescriptor) -> bytes:
    """A descriptor set of a file, behind all that it imports."""
    found: dict[str, FileDescriptor] = {}

    def add(one: FileDescriptor) -> None:
        if one.name not in found:
            for other in one.dependencies:
                add(other)
            found[one.name] = one

    add(file)
    described = FileDescriptorSet()
    for one in found.values():
        one.CopyToProto(described.file.add())
    return described.SerializeToString()


def load_proto(
    source: str | os.PathLike[str], *, include: Sequence[str | os.PathLike[str]] = (), root: str | None = None
) -> ProtoSchema:
    """The schema of a message in a ``.proto`` file, or in text.

    Parameters
    ----------
    source
        Path of a ``.proto`` file, or the text of one; a str with a brace or a semicolon in it is text.
    include
        Directories to search for imported files, besides that of the file itself; the file's name is taken as relative
        to the first of them that it lies in.
    root
        See `load_descriptors`.

    Returns
    -------
    ProtoSchema
        See `load_descriptors`.

    Raises
    ------
    SchemaError
        The file cannot be read, or protoc refuses it; or as for `load_descriptors`.
    CodecUnavailableError
        protoc is not installed: ``pip install 'zcser[proto]'`` brings the one of grpcio-tools.
    """
    with tempfile.TemporaryDirectory(prefix="zcser-proto-") as folder:
        file = source_file(source, ".proto", folder)
        out = Path(folder, "out.pb")
        places = [*(Path(directory).absolute() for directory in include), file.parent]
        command = [*_protoc(), *(f"-I{place}" for place in places), "--include_imports", f"-o{out}", str(file)]
        compile_schema("protoc", command, folder, is_reason=lambda line: "warning:" not in line)
        return given_schema(out.read_bytes(), root)


def _protoc() -> list[str]:
    """The command of grpcio-tools' protoc, which brings its own imports, or of the one on the PATH."""
    bundled = importlib.util.find_spec("grpc_tools")
    if bundled is not None:
        imports = [f"-I{Path(place, '_proto')}" for place in bundled.submodule_search_locations or ()]
        return [sys.executable, "-P", "-m", "grpc_tools.protoc", *imports]
    found = shutil.which("protoc")
    if found is None:
        raise CodecUnavailableError(
            ".proto schemas are compiled by protoc, which is not installed: pip install 'zcser[proto]', "
            "or put one on the PATH"
        )
    return [found]
