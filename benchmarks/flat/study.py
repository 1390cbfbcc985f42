"""All of it: groups of arms, what is counted, and the document."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from benchmarks.flat import messages, subjects, tensors, values
from benchmarks.flat.allocations import allocations
from benchmarks.flat.arms import Arm, Cost, Effort, time_arms
from benchmarks.flat.forms import FORMS
from benchmarks.flat.rows import ROWS, ratio
from benchmarks.flat.table import costs_table, ratios_table
from benchmarks.support.command import Progress
from benchmarks.support.document import Begin, document
from benchmarks.support.figures import Figure, Goal, markdown, not_measured
from benchmarks.support.fresh import in_fresh_process
from zcser.payloads.messages import InferRequest, TokenChunk

__all__ = ["GROUPS", "study", "time_group"]

GROUPS: dict[str, Callable[[Effort], list[Arm]]] = {
    "metadata": messages.metadata,
    "metadata met once": messages.once,
    "chunk": messages.chunk,
    "tensors": tensors.tensors,
}
"""Arms that are timed together, in one process."""

_LIBRARIES = ("flatbuffers", "flatbuffers-official", "protobuf")


def time_group(name: str, effort: Effort, seed: int) -> list[Cost]:
    """In this process: make the arms of a group, and time them."""
    return time_arms(GROUPS[name](effort), seed)


def study(effort: Effort, progress: Progress) -> tuple[str, dict[str, Any]]:
    """Take all figures; the tables, and the raw result."""
    begin = Begin()
    parts = [*itertools.product(range(effort.processes), GROUPS)]
    processes = []
    for number, (seed, name) in enumerate(parts, start=1):
        progress(number, len(parts) + 1, name)
        processes.append((seed, name, in_fresh_process(time_group, name, effort, seed)))
    progress(len(parts) + 1, len(parts) + 1, "allocations and addresses")
    counted, counts = allocations()
    checks = [*counted, *_alignment()]
    costs = [costs for _, _, costs in processes]
    ratios = [
        one for row in ROWS for which in subjects.ENGINES for form in FORMS for one in ratio(row, costs, which, form)
    ]
    found = document(
        begin,
        _LIBRARIES,
        effort=asdict(effort),
        message_bytes=message_bytes(),
        figures=[asdict(one) | {"met": one.met} for one in (*ratios, *checks)],
        raw={
            "processes": [
                {"group": name, "seed": seed, "costs": [asdict(cost) for cost in of_process]}
                for seed, name, of_process in processes
            ],
            "allocations": counts,
        },
    )
    return _tables(costs, checks, found["message_bytes"]), found


def message_bytes() -> dict[str, dict[str, list[int]]]:
    """Least and greatest size of the messages, by codec."""
    sizes = {}
    for name, source, items in (("metadata", InferRequest, values.requests()), ("chunk", TokenChunk, values.chunks())):
        encoders = {
            "flatbuffers": subjects.engines(source)["pure"].encode,
            "flatbuffers-official": subjects.official(source).encode,
            "protobuf": subjects.protobuf(source).encode,
        }
        sizes[name] = {
            codec: [bound(len(encode(value)) for value in items) for bound in (min, max)]
            for codec, encode in encoders.items()
        }
    return sizes


def _alignment() -> list[Figure]:
    figures = []
    for which in subjects.ENGINES:
        name, goal = (
            f"tensors of messages in aligned memory, {which}: addresses that are no multiple of 64",
            Goal("<=", 0),
        )
        if which == "native" and not subjects.has_native():
            figures.append(not_measured(name, "the C extension was not built", goal))
            continue
        found, looked_at = tensors.misaligned(which)
        figures.append(Figure(name, "", found, found, found, f"of {looked_at}", goal))
    return figures


def _tables(costs: list[list[Cost]], checks: list[Figure], sizes: dict[str, dict[str, list[int]]]) -> str:
    told = "; ".join(
        f"{name}: " + ", ".join(f"{codec} {low:,} to {high:,}" for codec, (low, high) in of_name.items())
        for name, of_name in sizes.items()
    )
    return (
        "Time of our engine ÷ time of the other; less is better. Our engines check what they encode and verify what they "
        "decode, and what they open unless the row says otherwise. The others check nothing: *official* and *protobuf* are "
        "driven by hand with schemas that suit them (a chunk and fields of the official package: by code that is generated "
        "from the schema), *codec* is zcser's own over the same package with the guard off, *msgspec* is its MessagePack of "
        "the same class. In brackets the least and the greatest ratio of a process.\n\n"
        f"{ratios_table(ROWS, costs)}\n"
        f"{markdown(checks)}\n"
        "Nanoseconds of a call: the median over processes of the p10 of clean batches.\n\n"
        f"{costs_table(costs)}\n"
        f"Bytes of a message, {told}.\n\n{_NOTES}"
    )


_NOTES = """What the ratios leave out:

- Values and messages rotate, so that they lie in near caches, and what objects keep from an earlier encoding helps; the
  rows *met once* show both without that. Addresses that a tensor's message is copied to are the same each time.
- The collector is on, but results are dropped at once, so that it hardly ever runs. A program that keeps what it decodes
  pays for collections besides, with every library about the same time, which brings its ratios nearer to 1.
- A row with *verified* against an arm that verifies nothing compares what users get, not the same work.
- msgspec is slow on dataclasses, and fast on its own Structs: the column Struct is the one to beat.
- A union is a table of its own in our FlatBuffers, and a message of its own in the protobuf codec; by hand it is neither.
- memcpy copies the tensor alone, through a memoryview; `encode_into` writes the rest of the message besides.
"""
