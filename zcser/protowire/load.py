"""Schemas from ``.proto`` files and compiled descriptors, as protoc makes them, so that none of its rules are ours."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorSet

from zcser.core.buffers import Buffer, byte_view
from zcser.core.errors import CodecUnavailableError, SchemaError
from zcser.protowire.given import ProtoSchema, given_schema
from zcser.schema.compilers import compile_schema, source_file

__all__ = ["load_descriptors", "load_proto"]


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
