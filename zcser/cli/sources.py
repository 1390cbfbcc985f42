"""A schema or a payload from what the user named on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from zcser import payloads
from zcser.cli.errors import UsageError
from zcser.cli.reading import Reading
from zcser.payloads.base import Payload
from zcser.payloads.functions import is_reference, resolve
from zcser.payloads.sources import schemas
from zcser.schema.model import Schema

__all__ = ["payload_from", "schema_from", "title_of"]


def payload_from(arguments: argparse.Namespace, fields: Sequence[str] = ()) -> Payload:
    """The payload of the files or the function that were named, with progress on stderr.

    Parameters
    ----------
    arguments
        With ``source``, ``schema``, ``include`` and ``delimited``.
    fields
        See `zcser.payloads.source.from_source`.

    Raises
    ------
    PayloadError, CodecUnavailableError
        It cannot be read, or what reads it is not installed.
    """
    reading = Reading(arguments.source[0])
    try:
        return payloads.from_source(
            *arguments.source,
            schema=_given(arguments),
            delimited=arguments.delimited,
            fields=fields,
            watch=reading,
        )
    finally:
        reading.clear()


def schema_from(arguments: argparse.Namespace) -> Schema:
    """The schema of what was named: of a schema file or a class itself, else of the data.

    Raises
    ------
    PayloadError, CodecUnavailableError, SchemaError
        As for `payload_from`; or the class has a field that is no data.
    """
    if not arguments.source:
        found = _given(arguments)
        if found is None:
            raise UsageError("a file, a function or a class is required, or --schema SCHEMA (see zcser schema --help)")
        return found
    found = _schema_alone(arguments)
    if found is None:
        return payload_from(arguments).schema
    if arguments.schema is not None:
        raise UsageError(f"{arguments.source[0]} is a schema itself; --schema reads values")
    return found


def _schema_alone(arguments: argparse.Namespace) -> Schema | None:
    """The schema that what was named is itself, without values; None where it is none."""
    first, *others = arguments.source
    if others:
        return None
    file, _ = schemas.split(first)
    suffix = Path(file).suffix.lower()
    if suffix in schemas.ALONE or (suffix == ".binpb" and arguments.schema is None):
        return schemas.load(first, include=arguments.include, size_prefixed=arguments.delimited)
    if is_reference(first):
        named = resolve(first)
        if schemas.is_type(named):
            return schemas.of_python(named)
    return None


def title_of(arguments: argparse.Namespace) -> str:
    """What was named, for tables."""
    first, *others = arguments.source or [arguments.schema]
    name = Path(first).name
    return f"{name} and {len(others)} more" if others else name


def _given(arguments: argparse.Namespace) -> Schema | None:
    if arguments.schema is None:
        if arguments.include:
            raise UsageError("--include is for the --schema, and there is none")
        return None
    return schemas.load(arguments.schema, include=arguments.include, size_prefixed=arguments.delimited)
