"""Which reader a file has: by its suffix, and by the schema where one is given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zcser.payloads.base import PayloadError
from zcser.payloads.files import SUFFIXES as JSON
from zcser.payloads.sources.base import Source, refuse
from zcser.payloads.sources.schemas import ALONE
from zcser.schema.model import Schema

__all__ = ["files_of", "source_of"]

TENSORS = (".npy", ".npz", ".safetensors")
TABLES = (".csv", ".tsv", ".parquet")


def files_of(names: Sequence[str]) -> list[str]:
    """The files that names stand for: a folder for those in it, hidden ones and schemas left out, by name.

    Raises
    ------
    PayloadError
        A folder has none, or cannot be read.
    """
    found: list[str] = []
    for name in names:
        if not _is_folder(name):
            found.append(name)
            continue
        try:
            inside = sorted(Path(name).iterdir())
        except OSError as error:
            refuse(name, f"cannot be read: {error.strerror or error}")
        files = [one for one in inside if one.is_file() and one.name[0] != "." and one.suffix.lower() not in ALONE]
        if not files:
            refuse(name, "this is a directory without a file of data; name one that has some, or a file")
        found += map(str, files)
    return found


def source_of(names: Sequence[str], schema: Schema | None, *, delimited: bool) -> Source:
    """The reader of some files.

    Parameters
    ----------
    names
        Files and folders.
    schema
        What the messages are; None where that is to be found out.
    delimited
        Whether each file holds many binary messages, each behind its length.

    Raises
    ------
    PayloadError
        The files are of several kinds, or what they hold is not known.
    """
    files = files_of(names)
    kinds = {_kind(file, schema, delimited=delimited): file for file in files}
    if len(kinds) > 1:
        several = " and ".join(sorted(Path(file).suffix or "no suffix" for file in kinds.values()))
        raise PayloadError(f"{names[0]}: the files are of several kinds, {several}; name those of one")
    kind = next(iter(kinds))
    if delimited and not kind.endswith("stream"):
        refuse(files[0], "--delimited is for binary messages with a --schema of protobuf or FlatBuffers")
    return _open(kind, files, schema)


def _kind(file: str, schema: Schema | None, *, delimited: bool) -> str:
    suffix = Path(file).suffix.lower()
    if suffix in TENSORS + TABLES:
        if schema is not None:
            refuse(file, f"{suffix} files bring their own schema; leave --schema out")
        return "tensors" if suffix in TENSORS else "tables"
    form = _form(schema)
    if form is None:
        if schema is None and suffix in ALONE:
            refuse(file, f"this is a schema; messages of it are read with --schema {file} MESSAGE")
        if schema is None and suffix in (".pb", ".binpb", ".bin", ".delimited", ".pbs", ".pbstream"):
            refuse(file, f"a {suffix} file needs its schema: --schema FILE.proto:Message, or FILE.fbs")
        return "json"
    if suffix in JSON:
        return f"{form} json"
    if form == "protobuf":
        from zcser.payloads.sources.protobuf import TEXT
        from zcser.payloads.sources.streams import SUFFIXES

        if suffix in TEXT:
            return "protobuf text"
        delimited = delimited or suffix in SUFFIXES
    return f"{form} stream" if delimited else form


def _form(schema: Schema | None) -> str | None:
    """Whose messages a schema declares. Told by what only such schemas have, so that no library is loaded to ask."""
    if hasattr(schema, "descriptor_set"):
        return "protobuf"
    return "flatbuffers" if hasattr(schema, "bfbs") else None


def _open(kind: str, files: Sequence[str], schema: Any) -> Source:
    if kind == "json":
        from zcser.payloads.sources.json_files import JsonBySchema, JsonSample

        return JsonSample(files) if schema is None else JsonBySchema(files, schema)
    if kind == "tensors":
        from zcser.payloads.sources.tensors import TensorFiles

        return TensorFiles(files)
    if kind == "tables":
        from zcser.payloads.sources.tables import TableFiles

        return TableFiles(files)
    delimited = kind.endswith("stream")
    if kind.startswith("flatbuffers"):
        from zcser.payloads.sources.flatbuffers import FlatBinary, FlatJson

        return FlatJson(files, schema) if kind.endswith("json") else FlatBinary(files, schema, delimited=delimited)
    from zcser.payloads.sources.protobuf import ProtoBinary, ProtoText, proto_json

    if kind.endswith("json"):
        return proto_json(files, schema)
    return ProtoText(files, schema) if kind.endswith("text") else ProtoBinary(files, schema, delimited=delimited)


def _is_folder(name: str) -> bool:
    try:
        return bool(name) and Path(name).is_dir()
    except OSError:  # what is wrong with the name is for its reader to say
        return False
