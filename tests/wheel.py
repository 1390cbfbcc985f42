"""What an installed zcser is tested by, with numpy alone: ``python tests/wheel.py [pure]``, outside of a checkout's folder.

As it comes in a wheel, it has its C parts, and its C engine writes the bytes that the engine in Python writes. Installed
where there was no compiler (``pure``), it has none, says so, and does its work.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

import zcser
from zcser.measure import allocations
from zcser.native import zcount


@dataclass
class Request:
    """A little of everything."""

    name: str
    labels: dict[str, float]
    tensor: np.ndarray
    parent: Request | None = None


VALUE = Request("é", {"b": 1.0, "a": 0.5}, np.arange(6, dtype="f4").reshape(2, 3), Request("", {}, np.zeros((0, 2))))


def round_trip() -> None:
    """Encode, decode and view with the engine that the environment asks for, and print the bytes."""
    codec = zcser.codec("flatbuffers", Request)
    data = codec.encode(VALUE)
    if not zcser.equal(codec.decode(data), VALUE) or not zcser.equal(zcser.to_value(codec.view(data)), VALUE):
        raise SystemExit(f"{zcser.backend}: the value did not come back")
    print(zcser.backend, data.hex())


def run(**environment: str) -> list[str]:
    """The engine that a process with these variables has, and the bytes that it writes."""
    given = {name: value for name, value in os.environ.items() if name != "ZCSER_BACKEND"}
    return subprocess.check_output([sys.executable, __file__, "round-trip"], env=given | environment, text=True).split()


def main(engines: tuple[str, ...]) -> None:
    """Hold an installed zcser to the engines that it should have, the one that is taken unasked first."""
    found = {engine: run(ZCSER_BACKEND=engine) for engine in engines}
    if run() != found[engines[0]] or [name for name, _ in found.values()] != list(engines):
        raise SystemExit(f"the engines are not {engines}: {found}")
    if len({data for _, data in found.values()}) != 1:
        raise SystemExit(f"the engines differ: {found}")
    method = allocations.best_method()
    if (zcount.load() is None) == ("native" in engines) or (method == allocations.FALLBACK) == ("native" in engines):
        raise SystemExit(f"allocations are counted by: {method}")
    if not files("zcser").joinpath("py.typed").is_file():
        raise SystemExit("py.typed is missing")
    print(f"{zcser.__file__}: {' and '.join(engines)}; allocations by {method}")


if __name__ == "__main__":
    if sys.argv[1:] == ["round-trip"]:
        round_trip()
    else:
        main(("pure",) if sys.argv[1:] == ["pure"] else ("native", "pure"))
