"""What ``--schema`` names: a file by its suffix, or something in the user's Python.

| | |
| --- | --- |
| ``feed.proto``, ``feed.proto:Message`` | protobuf, compiled by protoc |
| ``.desc``, ``.protoset``, ``.binpb``, ``.pb`` | a ``FileDescriptorSet``, as ``protoc --include_imports -o`` and ``buf build -o`` write it |
| ``monster.fbs``, ``monster.bfbs``, ``monster.fbs:Name.Space.Table`` | FlatBuffers |
| ``my_schema.json`` | a schema of zcser's own, as ``zcser schema --emit zcser`` writes it, or a JSON Schema |
| ``module:Class`` | a dataclass, msgspec Struct, pydantic model, ..., a `Schema`, a message class that protoc generated |
| ``feed_pb2`` | a module that protoc generated |
"""

from __future__ import annotations

import re
import sys
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zcser.core.errors import CodecUnavailableError, DecodeError, SchemaError
from zcser.flat.bfbs import load_bfbs
from zcser.flat.fbs import load_fbs
from zcser.payloads.base import PayloadError
from zcser.payloads.functions import is_reference, resolve
from zcser.payloads.sources.base import checked, content, refuse
from zcser.payloads.sources.option_classes import option_classes
from zcser.registry import schema_for
from zcser.schema.from_document import json_object, load_schema
from zcser.schema.model import Schema

__all__ = ["ALONE", "is_type", "load", "of_python", "split"]

DESCRIPTOR_SETS = (".desc", ".protoset", ".binpb", ".pb")
_WITH_ROOT = (".proto", ".fbs", ".bfbs", *DESCRIPTOR_SETS)

ALONE = (".proto", ".fbs", ".bfbs", ".desc", ".protoset")
"""Suffixes of files that are a schema and never a message."""

_GENERATED = re.compile(r"([^\W\d]\w*\.)*[^\W\d]\w*_pb2")


def split(text: str) -> tuple[str, str | None]:
    """The file and the message or table that ``FILE:NAME`` names; None where it names none."""
    file, colon, root = text.rpartition(":")
    return (file, root) if colon and Path(file).suffix.lower() in _WITH_ROOT else (text, None)


def load(text: str, *, include: Sequence[str] = (), size_prefixed: bool = False) -> Schema:
    """The schema that a text names; see the head of this module.

    Parameters
    ----------
    text
        As the user wrote it.
    include
        Directories that protoc and flatc search, besides that of the file.
    size_prefixed
        Whether messages of FlatBuffers begin with their size.

    Raises
    ------
    PayloadError
        It cannot be read or is faulty; one line that names it.
    CodecUnavailableError
        What compiles it is not installed.
    """
    file, root = split(text)
    suffix = Path(file).suffix.lower()
    if suffix in (*_WITH_ROOT, ".json"):
        checked(file)
    try:
        match suffix:
            case ".proto":
                from zcser.protowire.load import load_proto

                return load_proto(Path(file), include=include, root=root)
            case ".fbs":
                return load_fbs(Path(file), include=include, root=root, size_prefixed=size_prefixed)
            case ".bfbs":
                return load_bfbs(content(file), root=root, size_prefixed=size_prefixed)
            case _ if suffix in DESCRIPTOR_SETS:
                from zcser.protowire.load import load_descriptors

                return load_descriptors(content(file), root=root)
            case ".json":
                return _document(file)
        if is_reference(text):
            return of_python(resolve(text))
        if _GENERATED.fullmatch(text):
            from zcser.protowire.load import load_message

            resolve(f"{text}:DESCRIPTOR")  # which imports it
            return load_message(sys.modules[text])
    except CodecUnavailableError:
        raise
    except PayloadError as error:
        raise PayloadError(str(error) if str(error).startswith((file, text)) else f"{text}: {error}") from error
    except (SchemaError, DecodeError) as error:
        refuse(text, str(error))
    except ImportError as error:
        raise CodecUnavailableError(
            f"{text}: schemas of protobuf need a library that is not installed ({error}): pip install 'zcser[protobuf]'"
        ) from error
    refuse(text, f"no schema; schemas are {', '.join(_WITH_ROOT)} and .json files, and module:Class")


def is_type(found: Any) -> bool:
    """Whether something in a module is a schema, or what one is made from."""
    return isinstance(found, type | Schema) or typing.get_origin(found) is not None


def of_python(found: Any) -> Schema:
    """The schema of a class (one that protoc generated too), an annotation, or a `Schema`.

    Raises
    ------
    SchemaError
        It has none.
    """
    if not is_type(found):
        raise SchemaError(f"this is of type {type(found).__name__}; a class or a Schema is needed")
    return schema_for(found)


def _document(file: str) -> Schema:
    """A schema in zcser's own form, or a JSON Schema, told apart by the key "zcser"."""
    document = json_object(Path(file))
    if "zcser" in document:
        return load_schema(Path(file), classes=option_classes(document))
    from zcser.tree.json_schema import load_json_schema

    return load_json_schema(Path(file))
