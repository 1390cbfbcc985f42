"""The profiles and figures as JSON, for a calculator that is not Python.

Whoever evaluates this in IEEE doubles, in the order that is written here, gets the totals of `zcser.decide.score` to the
last digit, and its ranks. A step is a task's entry in ``candidate.steps``; where the profile's ``unvalidated`` is true, that in
``candidate.trusting`` goes before. ``null`` for a bandwidth is infinite. Value, low and high are computed alike::

    writing = writer_weight
    reading = reader_weight * reads_per_write
    written = 0 + write.value [+ compress.value]              of the steps "write" and "compress-NAME"
    read    = 0 + read.value [+ decompress.value]             of the steps "read" and "decompress-NAME"
    core    = written * writing + read * reading              a side whose weight is 0 is 0, and needs no step
    out_ns, in_ns = 1e9 / bandwidth_out, 1e9 / bandwidth_in
    wire    = bytes * (out_ns + reads_per_write * in_ns)      0 where the bracket is; bytes: wire_bytes or packed_bytes[NAME]
    total   = core / cpu_share + wire

A codec is out where a step is not there or the bytes that are needed are null; where a step's p99_ns, or nothing, plus ``hop`` is above
p99_ns; or where its capacity is below messages_per_s::

    hop      = bytes * (out_ns + (in_ns if reads_per_write > 0 else 0))
    capacity = min(1e9 / core.low * cpu_share, bandwidth_out / bytes, bandwidth_in / bytes / reads_per_write)

``a`` is shown to be less than ``b`` where ``a.high < b.low`` and ``b.value > a.value * ratio``; a rank is 1 and the number of
codecs shown to be less; the order is by rank, total and name.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from zcser.decide.figures import Candidate, Figures, Step, figures_of, payloads_of
from zcser.decide.profiles import PROFILES, RANGES, Profile
from zcser.measure.result import Result
from zcser.measure.stats import MIN_RATIO

__all__ = ["as_json", "profile_as_json"]


def as_json(result: Result) -> dict[str, Any]:
    """Everything that a calculator needs, as plain JSON.

    Returns
    -------
    dict
        "ratio"; "ranges": least and most of each number; "profiles": name to the fields of `Profile`; "payloads": name to
        "message_bytes", "named_fields", "tasks" (what can be asked for as write or read), "stand_ins" (task to the operation
        that stands for it) and "candidates". A candidate has "codec", "writer", "wire_bytes", "packed_bytes"; "steps" by task,
        "trusting" with those that are others where bytes may be taken on trust, and "missing" with the reasons of tasks
        without a step. A step has "operation", "value", "low", "high", "processes", "p99_ns", "p999_ns" and "flags". Times
        are in ns.
    """
    return {
        "ratio": MIN_RATIO,
        "ranges": {name: [_finite(end) for end in ends] for name, ends in RANGES.items()},
        "profiles": {name: profile_as_json(profile) for name, profile in PROFILES.items()},
        "payloads": {name: _payload(figures_of(result, name)) for name in payloads_of(result)},
    }


def profile_as_json(profile: Profile) -> dict[str, Any]:
    """A profile's fields; null for an infinite bandwidth, and for what is not asked."""
    return {
        name: _finite(value) if isinstance(value, float) else value
        for name, value in dataclasses.asdict(profile).items()
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _payload(figures: Figures) -> dict[str, Any]:
    asked = [task for profile in PROFILES.values() for task in (profile.write, profile.read)]
    tasks = tuple(dict.fromkeys([*figures.tasks(), *asked]))
    stand_ins = {task: figures.stand_in(task) for task in tasks}
    return {
        "message_bytes": figures.message_bytes,
        "named_fields": figures.named_fields,
        "tasks": list(tasks),
        "stand_ins": {task: operation for task, operation in stand_ins.items() if operation is not None},
        "candidates": [_candidate(figures, one, tasks) for one in figures.candidates],
    }


def _candidate(figures: Figures, candidate: Candidate, tasks: tuple[str, ...]) -> dict[str, Any]:
    steps = {task: figures.step(candidate, task) for task in tasks}
    trusting = {task: figures.step(candidate, task, unvalidated=True) for task in tasks}
    return {
        "codec": candidate.codec,
        "writer": candidate.writer,
        "wire_bytes": candidate.wire_bytes,
        "packed_bytes": dict(candidate.packed_bytes),
        "steps": {task: _step(step) for task, step in steps.items() if step is not None},
        "trusting": {task: _step(step) for task, step in trusting.items() if step is not None and step != steps[task]},
        "missing": {task: candidate.reason(figures.operations(task)) for task, step in steps.items() if step is None},
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "operation": step.operation,
        "value": step.cost.value,
        "low": step.cost.low,
        "high": step.cost.high,
        "processes": step.processes,
        "p99_ns": step.p99_ns,
        "p999_ns": step.p999_ns,
        "flags": list(step.flags),
    }
