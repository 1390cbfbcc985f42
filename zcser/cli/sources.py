"""A schema or a payload from what the user named on the command line."""

from __future__ import annotations

import typing
from pathlib import Path
from typing import Any

from zcser import load_bfbs, load_fbs, payloads
from zcser.payloads.functions import is_reference, resolve
from zcser.registry import schema_for
from zcser.schema.model import Schema

__all__ = ["schema_from"]


def schema_from(source: str) -> Schema:
    """The schema of a file, of a function's values, or of a class.

    Parameters
    ----------
    source
        A ``.json``, ``.jsonl`` or ``.ndjson`` file; a ``.fbs`` or ``.bfbs`` schema; ``module:function``; or
        ``module:name`` of a class (one that protoc generated too), an annotation or a `Schema`.

    Raises
    ------
    PayloadError, OSError
        It cannot be read.
    DecodeError, SchemaError
        The class has a field that is no data, or the schema is faulty.
    """
    match Path(source).suffix:
        case ".fbs":
            return load_fbs(Path(source))
        case ".bfbs":
            return load_bfbs(Path(source).read_bytes())
    if is_reference(source):
        found = resolve(source)
        if _is_type(found):
            return schema_for(found)
    return payloads.from_source(source).schema


def _is_type(found: Any) -> bool:
    return isinstance(found, type | Schema) or typing.get_origin(found) is not None
