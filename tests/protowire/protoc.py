"""protoc, the other implementation that these tests compare with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from zcser.protowire.emit import emit_proto


def compile_protos(folder: Path, schemas: dict[str, Any], *outputs: str) -> None:
    """Emit one file per schema, its name being the package, and run protoc over all of them."""
    pytest.importorskip("grpc_tools")
    for package, schema in schemas.items():
        (folder / f"{package}.proto").write_text(emit_proto(schema, package=package))
    command = [
        sys.executable,
        "-m",
        "grpc_tools.protoc",
        f"-I{folder}",
        *outputs,
        *(f"{name}.proto" for name in schemas),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
