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
    first, *others = arguments.source
    if arguments.schema is None and not others:
        file, _ = schemas.split(first)
        if Path(file).suffix.lower() in (*schemas.ALONE, ".binpb"):
            return schemas.load(first, include=arguments.include, size_prefixed=arguments.delimited)
        if is_reference(first):
            found = resolve(first)
            if schemas.is_type(found):
                return schemas.of_python(found)
    return payload_from(arguments).schema


def title_of(arguments: argparse.Namespace) -> str:
    """What was named, for tables."""
    first, *others = arguments.source
    name = Path(first).name
    return f"{name} and {len(others)} more" if others else name


def _given(arguments: argparse.Namespace) -> Schema | None:
    if arguments.schema is None:
        if arguments.include:
            raise UsageError("--include is for the --schema, and there is none")
        return None
    return schemas.load(arguments.schema, include=arguments.include, size_prefixed=arguments.delimited)
