"""The inference messages as ``.proto`` and ``.fbs`` text.

``python -m zcser.payloads.schemas [FOLDER]`` writes them (into ``schemas`` by default). A test holds the committed files
equal to what this gives.
"""

from __future__ import annotations

import sys
from pathlib import Path

from zcser.flat.emit import emit_fbs
from zcser.payloads.envelope import Envelope
from zcser.protowire.emit import emit_proto
from zcser.schema.from_python import schema_of

__all__ = ["texts", "write"]

HEAD = "// Written from zcser/payloads/envelope.py by python -m zcser.payloads.schemas; do not edit.\n\n"


def texts() -> dict[str, str]:
    """File name to text."""
    schema = schema_of(Envelope)
    return {
        "inference.proto": HEAD + emit_proto(schema, package="zcser"),
        "inference.fbs": HEAD + emit_fbs(schema, namespace="zcser"),
    }


def write(folder: Path) -> None:
    """Write the files into a folder that exists."""
    for name, text in texts().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "schemas"))
