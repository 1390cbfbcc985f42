"""``zcser schema``: what was read out of a file, a function or a class, and why."""

from __future__ import annotations

import argparse
import importlib
import sys

from zcser.cli.errors import UsageError
from zcser.cli.forms import FORMS
from zcser.cli.sources import schema_from
from zcser.schema.describe import describe
from zcser.schema.model import Schema

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Print the schema in words, or in another form."""
    schema = schema_from(arguments)
    text = describe(schema) if arguments.emit is None else _emitted(schema, arguments.emit)
    sys.stdout.write(text.rstrip("\n") + "\n")
    return 0


def _emitted(schema: Schema, form: str) -> str:
    module, function, extra = FORMS[form]
    try:
        emit = getattr(importlib.import_module(module), function)
    except ImportError as error:
        raise UsageError(
            f"--emit {form} needs a library that is not installed ({error}): pip install 'zcser[{extra or 'all'}]'"
        ) from error
    text: str = emit(schema)
    return text
