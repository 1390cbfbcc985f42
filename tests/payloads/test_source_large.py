"""Samples and messages that are large: memory is bounded, progress is told, nothing crashes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SCRIPT = """
import resource, sys
from zcser.cli import main
code = main(["schema", *sys.argv[1:]])
print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)
"""

PROTO = """
    syntax = "proto3";
    message Blob { string name = 1; bytes data = 2; repeated Item items = 3; message Item { int64 id = 1; } }
"""


def schema_command(*arguments):
    """Exit code, most memory in MiB, and what else stands on stderr."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(str, arguments)], capture_output=True, text=True, check=True
    )
    *lines, last = done.stderr.splitlines()
    code, most_mib = map(int, last.split())
    return code, most_mib, "\n".join(lines)


def varint(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


@pytest.mark.slow
def test_a_sample_of_100_mb_is_read_in_a_few_times_its_size(tmp_path):
    path = tmp_path / "sample.ndjson"
    with path.open("w") as file:
        size = number = 0
        while size < 100_000_000:
            number += 1
            size += file.write(
                json.dumps({"id": number, "text": "x" * (number * 7919 % 997), "tags": ["a"] * (number % 5)}) + "\n"
            )
    code, most_mib, printed = schema_command(path)
    assert code == 0
    assert most_mib < 600
    assert "zcser: reading " in printed


@pytest.mark.slow
def test_a_message_of_200_mb_is_read_and_one_of_too_many_items_refused(tmp_path):
    pytest.importorskip("grpc_tools")
    (tmp_path / "blob.proto").write_text(PROTO)
    data = 200_000_000
    (tmp_path / "blob.pb").write_bytes(b"\x12" + varint(data) + bytes(data))
    code, most_mib, printed = schema_command("--schema", f"{tmp_path}/blob.proto:Blob", tmp_path / "blob.pb")
    assert code == 0
    assert most_mib < 1200
    assert "zcser: reading " in printed
    (tmp_path / "items.pb").write_bytes(b"\x1a\x02\x08\x01" * 3_000_000)
    code, _, printed = schema_command("--schema", f"{tmp_path}/blob.proto:Blob", tmp_path / "items.pb")
    assert code == 2
    assert "items.pb: protobuf: 3000000 items are more than limits.elements" in printed
