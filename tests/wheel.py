"""What a wheel is tested by, with numpy alone: ``python tests/wheel.py``, outside of a checkout's folder.

It has its C engine, which runs, and which writes the bytes that the engine in Python writes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np

import zcser


@dataclass
class Request:
    """A little of everything."""

    name: str
    labels: dict[str, float]
    tensor: np.ndarray
    parent: Request | None = None


VALUE = Request("é", {"b": 1.0, "a": 0.5}, np.arange(6, dtype="f4").reshape(2, 3), Request("", {}, np.zeros((0, 2))))


def main() -> None:
    """Encode, decode and view with the engine that the environment asks for, and print the bytes."""
    codec = zcser.codec("flatbuffers", Request)
    data = codec.encode(VALUE)
    if not zcser.equal(codec.decode(data), VALUE) or not zcser.equal(zcser.to_value(codec.view(data)), VALUE):
        raise SystemExit(f"{zcser.backend}: the value did not come back")
    print(zcser.backend, data.hex())


if __name__ == "__main__":
    if "ZCSER_BACKEND" in os.environ:
        main()
    else:
        lines = [
            subprocess.check_output([sys.executable, __file__], env={**os.environ, "ZCSER_BACKEND": backend}, text=True)
            for backend in ("native", "pure")
        ]
        print(*lines, sep="")
        if [line.split()[0] for line in lines] != ["native", "pure"] or len({line.split()[1] for line in lines}) != 1:
            raise SystemExit("the engines differ")
