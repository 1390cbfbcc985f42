"""The rows of the table: which arm is divided by which other one, and what the ratio is to be."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.flat.arms import Cost
from benchmarks.flat.forms import Form
from benchmarks.support.figures import Figure, Goal, spread_of

__all__ = ["ROWS", "Row", "median_ns", "ratio"]

Goals = tuple[float, ...]
"""Upper limits of a ratio: the goal, and perhaps a later one."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row.

    Attributes
    ----------
    operation
        Of our engines.
    against
        Subject that they are divided by; None: the engine itself.
    base
        Operation of that subject; None: the same.
    native, pure
        Goals of each engine; empty: the ratio is shown.
    name
        For tables, where the operation alone does not say it.
    """

    operation: str
    against: str | None
    base: str | None = None
    native: Goals = ()
    pure: Goals = ()
    name: str = ""

    @property
    def label(self) -> str:
        """First column of the row."""
        return self.name or self.operation

    @property
    def as_part(self) -> bool:
        """Whether tables show its ratios as 1/n: beside the official package."""
        return self.against is not None and self.against.startswith("official")

    @property
    def other(self) -> str:
        """Second column of the row."""
        base = "" if self.base is None else self.base.removeprefix("chunk: ")
        return ": ".join(part for part in (self.against or "itself", base) if part)


_SMALL, _LARGE = ", 4 messages of 64 KB", ", 4 messages of 16 MB"
_SEGMENTS = "encode_segments, 4 values of "

ROWS = (
    Row("field", "official", native=(1 / 25,), pure=(1 / 10,), name="field of an open view"),
    Row("open and field", "official", native=(1 / 18,), pure=(1 / 5,), name="open and field, unverified"),
    Row("open and field, verified", "official", "open and field"),
    Row("open and field, verified", "protobuf", "open and field"),
    Row("open and field of a bytearray, verified", "official", "open and field"),
    Row("encode", "official", native=(1 / 80,), pure=(1 / 12,)),
    Row("encode", "official codec", native=(1 / 80,), pure=(1 / 12,)),
    Row("encode", "protobuf", native=(0.30,)),
    Row("encode", "protobuf codec", native=(0.30,)),
    Row("encode", "msgspec", native=(1.5, 1.0)),
    Row("encode, met once", "official"),
    Row("encode, met once", "protobuf"),
    Row("encode, met once", "msgspec"),
    Row("decode", "official", native=(1 / 60,), pure=(1 / 7,)),
    Row("decode", "official codec", native=(1 / 60,), pure=(1 / 7,)),
    Row("decode", "protobuf"),
    Row("decode", "protobuf codec"),
    Row("decode", "msgspec", native=(2.0, 1.3)),
    Row("decode, met once", "official"),
    Row("decode, met once", "protobuf"),
    Row("decode, met once", "msgspec"),
    Row("chunk: encode", "protobuf", native=(0.25,)),
    Row("chunk: encode", "protobuf codec", native=(0.25,)),
    Row("chunk: encode", "official codec"),
    Row("chunk: encode", "msgspec"),
    Row(
        "chunk: template patched",
        None,
        "chunk: encode, called by Python",
        native=(0.5,),
        pure=(0.5,),
        name="chunk: two numbers of a template patched",
    ),
    Row("chunk: open and two fields, verified", "protobuf", "chunk: open and two fields", native=(0.35,)),
    Row("chunk: open and two fields, verified", "official", "chunk: open and two fields"),
    Row("chunk: open and two fields", "protobuf", name="chunk: open and two fields, unverified"),
    Row("chunk: decode", "protobuf"),
    Row("chunk: decode", "msgspec"),
    Row("open and tensor, verified", "numpy", "open and tensor", native=(2.5,)),
    Row("open and tensor", "numpy", name="open and tensor, unverified"),
    Row(
        f"open and tensor, verified{_LARGE}",
        None,
        f"open and tensor, verified{_SMALL}",
        native=(1.1,),
        pure=(1.1,),
    ),
    Row("encode_into, 64 KB", "memcpy", native=(1.5,)),
    Row("encode_into, 1 MB", "memcpy", native=(1.10,), pure=(1.6,)),
    Row("encode_into, 16 MB", "memcpy", native=(1.10,)),
    Row(f"{_SEGMENTS}16 MB", None, f"{_SEGMENTS}64 KB", native=(1.15,), pure=(1.15,)),
    Row(f"{_SEGMENTS}16 MB", "memcpy", "encode_into, 16 MB", native=(0.02,), pure=(0.02,)),
)


def _p10_ns(process: Iterable[Cost], operation: str, subject: str, form: Form) -> float | None:
    wanted = operation, subject, form
    return next((cost.p10_ns for cost in process if (cost.operation, cost.subject, cost.form) == wanted), None)


def ratio(row: Row, processes: Sequence[Sequence[Cost]], which: str, form: Form) -> tuple[Figure, ...]:
    """The figure of an engine in a row, once for each goal, or once without one; nothing where an arm is lacking."""
    found = []
    for process in processes:
        ours = _p10_ns(process, row.operation, which, form)
        base = _p10_ns(process, row.base or row.operation, row.against or which, form)
        if ours is not None and base is not None:
            found.append(ours / base)
    if not found:
        return ()
    limits = (row.native if which == "native" else row.pure) or (None,)
    over = f"over {len(found)} processes"
    name = f"{row.label} / {row.other}: {which}, {form}"
    return tuple(spread_of(name, "x", found, over, None if limit is None else Goal("<=", limit)) for limit in limits)


def median_ns(processes: Sequence[Sequence[Cost]], operation: str, subject: str, form: Form) -> Sequence[float]:
    """Median, least and greatest p10 of an arm over processes; nothing where there is no such arm."""
    found = [_p10_ns(process, operation, subject, form) for process in processes]
    known = [value for value in found if value is not None]
    return (statistics.median(known), min(known), max(known)) if known else ()
