"""Messages of a FlatBuffers schema out of JSON, as flatc reads it: enums by name, unions by type, defaults left out."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from zcser.core.errors import SchemaError
from zcser.flat.bfbs import FlatSchema
from zcser.flat.fbs import flatc
from zcser.schema.compilers import compile_schema

__all__ = ["binaries"]

_BATCH = 256
"""Documents for one run of flatc, whose command line has an end."""


def binaries(schema: FlatSchema, documents: Sequence[bytes]) -> list[bytes]:
    """The messages of JSON documents.

    Parameters
    ----------
    schema
        From `zcser.load_fbs` or `zcser.load_bfbs`.
    documents
        UTF-8, each the whole of a message.

    Returns
    -------
    list of bytes
        With a size before each where the schema says so.

    Raises
    ------
    SchemaError
        flatc refuses a document, in its words; of many, with the number of the document, from 1.
    CodecUnavailableError
        flatc is not installed.
    """
    found: list[bytes] = []
    with tempfile.TemporaryDirectory(prefix="zcser-fbs-") as folder:
        bfbs = Path(folder, "schema.bfbs")
        bfbs.write_bytes(schema.bfbs)
        prefix = ["--size-prefixed"] if schema.size_prefixed else []
        command = [flatc(), "--binary", *prefix, "--root-type", str(schema.root), "-o", folder, str(bfbs)]
        for start in range(0, len(documents), _BATCH):
            texts = [
                Path(folder, f"document-{number}.json") for number in range(len(documents))[start : start + _BATCH]
            ]
            for text in texts:
                text.write_bytes(documents[int(text.stem.partition("-")[2])])
            try:
                compile_schema("flatc", [*command, *map(str, texts)], folder, is_reason=lambda line: "error: " in line)
            except SchemaError as error:
                raise SchemaError(_numbered(error.reason, several=len(documents) > 1)) from None
            for text in texts:
                text.unlink()
                made = next(Path(folder).glob(f"{text.stem}.*"), None)
                if made is None:
                    raise SchemaError("flatc makes no message of it")
                found.append(made.read_bytes())
                made.unlink()
    return found


def _numbered(reason: str, *, several: bool) -> str:
    def number(match: re.Match[str]) -> str:
        return f"document {int(match[1]) + 1}: line" if several else "line"

    return re.sub(r"document-(\d+)\.json:", number, reason)
