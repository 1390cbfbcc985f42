"""A schema or a payload from what the user named on the command line."""

from __future__ import annotations

import typing
from pathlib import Path
from typing import Any

from zcser import load_bfbs, load_fbs, payloads
from zcser.cli.errors import UsageError
from zcser.cli.progress import Reading
from zcser.core.errors import SchemaError
from zcser.payloads.base import Payload
from zcser.payloads.functions import is_reference, resolve
from zcser.registry import schema_for
from zcser.schema.from_document import json_object, load_schema
from zcser.schema.model import Schema

__all__ = ["payload_from", "schema_from", "schema_in"]


def schema_from(source: str | None, schema_file: str | None = None) -> Schema:
    """The schema of a file, of a function's values, or of a class.

    Parameters
    ----------
    source
        A ``.json``, ``.jsonl`` or ``.ndjson`` file; a ``.fbs`` or ``.bfbs`` schema; ``module:function``; or
        ``module:name`` of a class (one that protoc generated too), an annotation or a `Schema`. None where there is a
        `schema_file`.
    schema_file
        See `schema_in`. It is the schema then, and the values of the source have to fit it.

    Raises
    ------
    PayloadError, OSError
        It cannot be read, or a value does not fit.
    DecodeError, SchemaError
        The class has a field that is no data, or the schema is faulty.
    UsageError
        Neither is given, or two schemas are.
    """
    if source is None:
        if schema_file is None:
            raise UsageError("a file, a function or a class is required, or --schema FILE (see zcser schema --help)")
        return schema_in(schema_file)
    found = _schema_alone(source)
    if found is None:
        return payload_from(source, schema_file=schema_file).schema
    if schema_file is not None:
        raise UsageError(f"{source} is a schema itself; --schema reads values")
    return found


def schema_in(file: str) -> Schema:
    """The schema in a file: ``.fbs``, ``.bfbs``, else a zcser schema document or a JSON Schema, told apart by "zcser"."""
    match Path(file).suffix:
        case ".fbs":
            return load_fbs(Path(file))
        case ".bfbs":
            return load_bfbs(Path(file).read_bytes())
    try:
        if "zcser" in json_object(Path(file)):
            return load_schema(Path(file))
        from zcser.tree.json_schema import load_json_schema

        return load_json_schema(Path(file))
    except SchemaError as error:
        raise UsageError(f"{file}: {error}") from error


def payload_from(source: str, *, fields: tuple[str, ...] = (), schema_file: str | None = None) -> Payload:
    """The payload of a file or function, with the progress of reading a long file on stderr."""
    schema = None if schema_file is None else schema_in(schema_file)
    reading = Reading(Path(source).name)
    try:
        return payloads.from_source(source, fields=fields, schema=schema, progress=reading)
    finally:
        reading.clear()


def _schema_alone(source: str) -> Schema | None:
    """The schema that a source is itself, which has no values."""
    if Path(source).suffix in (".fbs", ".bfbs"):
        return schema_in(source)
    if is_reference(source):
        found = resolve(source)
        if _is_type(found):
            return schema_for(found)
    return None


def _is_type(found: Any) -> bool:
    return isinstance(found, type | Schema) or typing.get_origin(found) is not None
