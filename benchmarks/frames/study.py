"""The arms, and the rows that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.flat.arms import Arm, Cost, Effort, prove, rotating, time_arms
from benchmarks.support.command import Progress
from benchmarks.support.document import Begin, document
from benchmarks.support.figures import Figure, Goal, markdown, spread_of
from benchmarks.support.fresh import in_fresh_process
from zcser import registry
from zcser.frame import frame_segments, read_frame
from zcser.frame.checksum import ALGORITHMS, Checksum

__all__ = ["arms", "figures", "study", "time_all"]

_SIZES = {"1 KB": (1 << 10, 64), "64 KB": (1 << 16, 64), "1 MB": (1 << 20, 4)}
"""Bytes of a payload, and how many differ."""

_GOALS = {"read, 1 KB, none": Goal("<=", 1.0)}


def _segments(data: bytes) -> list[memoryview]:
    return read_frame(data).segments


def arms(effort: Effort) -> list[Arm]:
    """Made here, and held to give what was put in."""
    codec = registry.codec("msgpack", bytes)
    found = []
    for size, (size_bytes, count) in _SIZES.items():
        values = [bytes([number]) * (size_bytes - number) for number in range(count)]
        found += [
            rotating(effort, f"copy, {size}", "memcpy", bytearray, values),
            rotating(effort, f"encode, {size}", "msgpack", codec.encode, values),
        ]
        for checksum in ALGORITHMS:

            def make(value: bytes, checksum: Checksum | None = checksum) -> list[memoryview]:
                return frame_segments(codec, value, checksum=checksum)

            frames = [b"".join(make(value)) for value in values]
            subject = checksum or "none"
            prove(f"frames of {size}", [read_frame(data).decode(codec) for data in frames], values)
            found += [
                rotating(effort, f"read, {size}", subject, read_frame, frames),
                rotating(effort, f"read and segments, {size}", subject, _segments, frames),
                rotating(effort, f"make, {size}", subject, make, values),
            ]
    return found


def time_all(effort: Effort, seed: int) -> list[Cost]:
    """In this process: make all arms, and time them."""
    return time_arms(arms(effort), seed)


def figures(processes: Sequence[Sequence[Cost]]) -> list[Figure]:
    """A row for each arm."""
    found = []
    for place, arm in enumerate(processes[0]):
        name = f"{arm.operation}, {arm.subject}"
        values_us = [process[place].p10_ns / 1000 for process in processes]
        found.append(spread_of(name, "µs", values_us, f"over {len(processes)} processes", _GOALS.get(name)))
    return found


def study(effort: Effort, progress: Progress) -> tuple[str, dict[str, Any]]:
    """Take all figures; the table, and the raw result."""
    begin = Begin()
    processes = []
    for seed in range(effort.processes):
        progress(seed + 1, effort.processes, "all arms")
        processes.append(in_fresh_process(time_all, effort, seed))
    found = figures(processes)
    return markdown(found), document(
        begin,
        ("msgpack",),
        effort=asdict(effort),
        figures=[asdict(one) | {"met": one.met} for one in found],
        raw=[[asdict(cost) for cost in process] for process in processes],
    )
