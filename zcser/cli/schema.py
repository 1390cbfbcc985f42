"""``zcser schema``: what was read out of a file, a function or a class, and why."""

from __future__ import annotations

import argparse
import importlib
import sys
from types import ModuleType

from zcser.cli.errors import UsageError
from zcser.cli.sources import schema_from
from zcser.schema.describe import describe

__all__ = ["run"]


def _emitters() -> ModuleType:
    try:
        return importlib.import_module("zcser.schema.emit")
    except ModuleNotFoundError:
        raise UsageError("--emit: this version of zcser writes no schema files") from None


def run(arguments: argparse.Namespace) -> int:
    """Print the schema in words, or as a schema file of another format."""
    schema = schema_from(arguments.source)
    if arguments.emit is None:
        text = describe(schema)
    else:
        emit = _emitters()
        text = {"proto": emit.emit_proto, "fbs": emit.emit_fbs}[arguments.emit](schema)
    sys.stdout.write(text.rstrip("\n") + "\n")
    return 0
