"""``zcser schema``: what was read out of a file, a function or a class, and why."""

from __future__ import annotations

import argparse
import sys

from zcser.cli.errors import UsageError
from zcser.cli.sources import schema_from
from zcser.schema.describe import describe
from zcser.schema.model import Schema

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Print the schema in words, or as a schema file of another format."""
    schema = schema_from(arguments)
    text = describe(schema) if arguments.emit is None else _emitted(schema, arguments.emit)
    sys.stdout.write(text.rstrip("\n") + "\n")
    return 0


def _emitted(schema: Schema, form: str) -> str:
    try:
        if form == "fbs":
            from zcser.flat.bfbs import FlatSchema
            from zcser.flat.emit import emit_fbs

            if isinstance(schema, FlatSchema):
                raise UsageError("--emit fbs: it is a FlatBuffers schema already")
            return emit_fbs(schema)
        if form == "avro":
            from zcser.avro.emit import emit_avro

            return emit_avro(schema)
        if form == "thrift":
            from zcser.thrift.emit import emit_thrift

            return emit_thrift(schema)
        from zcser.protowire.emit import emit_proto

        return emit_proto(schema)
    except ImportError as error:
        raise UsageError(
            f"--emit {form} needs a library that is not installed ({error}): pip install 'zcser[all]'"
        ) from error
