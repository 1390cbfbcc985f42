"""Memory over many encodes and decodes: whether a process grows."""

from __future__ import annotations

import mmap
from pathlib import Path

from benchmarks.protowire import subjects

__all__ = ["TURNS", "growth_bytes"]

TURNS: dict[subjects.Walk, int] = {"native": 200_000, "pure": 50_000}
"""Of each operation, for as long as a process may take."""

_WARM_TURNS = 20_000


def growth_bytes(walk: subjects.Walk, turns: int) -> int:
    """In this process: how far resident memory grows over encodes, decodes and views of a request with a tensor of 2 KB.

    Raises
    ------
    OSError
        This system has no /proc.
    """
    codec = subjects.codecs()[walk]
    (value,) = subjects.values(1, 2048)

    def turn(times: int) -> None:
        for _ in range(times):
            data = codec.encode(value)
            codec.decode(data)
            _ = codec.view(data).tensors[0].data

    turn(min(turns, _WARM_TURNS))
    before = _resident_bytes()
    turn(turns)
    return _resident_bytes() - before


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * mmap.PAGESIZE
