"""Partial reads: from bytes to k leaves of the message, for k = 1, 2, a tenth and all of them.

1. Each codec reads by its fastest way: a view where it has views, verified unless the operation says otherwise; else it
   decodes everything without copies, and the leaves are read from that.
2. Which leaves, `zcser.payloads.spread` says, once for all codecs. They are read by code that names each
   (`zcser.measure.access`); where all leaves are asked for and values differ in which they have, or they are too many, by a
   walk, which costs every codec more.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from zcser.core.fidelity import difference
from zcser.core.view import to_value
from zcser.measure.access import flat_leaves, touch
from zcser.measure.bench import Bench
from zcser.measure.prepare import Prepared, read_paths
from zcser.payloads.base import Places
from zcser.payloads.spread import PARTS

__all__ = ["READS", "part_of", "preparing", "source_of", "walks"]

UNVERIFIED = "-unverified"

READS: tuple[str, ...] = tuple(f"read-{part}{ending}" for ending in ("", UNVERIFIED) for part in PARTS)
"""The partial reads, in the order of tables."""


def part_of(operation: str) -> str:
    """How much a partial read takes: "1", "2", "10%" or "all"."""
    return operation.removeprefix("read-").removesuffix(UNVERIFIED)


def walks(operation: str, places: Places | None) -> bool:
    """Whether an operation is a partial read that walks instead of naming its leaves."""
    return operation in READS and places is not None and not places.reads[part_of(operation)]


def source_of(operation: str, places: Places, fields: tuple[str, ...], *, views: bool) -> str:
    """The first operation that reads the same leaves in the same way: the read of the named fields, or of fewer parts."""
    paths = places.reads[part_of(operation)]
    unverified = UNVERIFIED if operation.endswith(UNVERIFIED) else ""
    if paths == fields:
        return f"view-field{unverified}" if views or unverified else "read-field"
    same = (part for part in PARTS if places.reads[part] == paths)
    return f"read-{next(same)}{unverified}"


def preparing(operation: str) -> Callable[[Bench], Prepared]:
    """What binds a partial read to a bench."""
    return functools.partial(_read, operation)


def _read(operation: str, bench: Bench) -> Prepared:
    views = "view" in bench.codec.operations()
    opener: Callable[..., Any] = bench.codec.view if views else bench.codec.decode
    keywords = {"verify": False} if operation.endswith(UNVERIFIED) else {} if views else {"copy": False}
    paths = bench.places.reads[part_of(operation)]
    if not paths:
        return _walk(bench, functools.partial(opener, **keywords) if keywords else opener)
    source = ", ".join(["data", *(f"{name}={value}" for name, value in keywords.items())])
    wires = bench.derived(bench.wires.__getitem__, paths=paths)
    return read_paths(bench, opener, f"open({source})", paths, wires)


def _walk(bench: Bench, opener: Callable[[Any], Any]) -> Prepared:
    def call(data: Any) -> None:
        touch(opener(data))

    def check(number: int, _: None) -> str | None:
        found = to_value(opener(bench.wires[number]))
        return difference(list(flat_leaves(found)), list(flat_leaves(bench.expected(number))))

    return Prepared(call, bench.wires, check)
