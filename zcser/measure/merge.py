"""From what the workers sent to the cells of the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from zcser.measure.baseline import PAYLOAD
from zcser.measure.composite import IN_PLACE
from zcser.measure.operations import GUARD, OPERATIONS
from zcser.measure.pace import most_ns
from zcser.measure.partial import walks
from zcser.measure.plan import Key, Plan
from zcser.measure.result import Cell, Cost
from zcser.measure.sample import Sample
from zcser.measure.state import Record
from zcser.measure.stats import (
    MIN_ABOVE,
    UNSTABLE,
    collections_of,
    cost_difference,
    cost_of,
    latency_of,
    retained_of,
)

__all__ = ["cells"]

_FEW_SAMPLES = 10 * MIN_ABOVE
"""Below this there is no p90."""


def cells(plan: Plan, records: Mapping[Key, Record]) -> tuple[Cell, ...]:
    """The cells of the result, in the order of the plan; those of which nothing is known yet are left out."""
    judged = _judged(records)
    found = (_cell(key, source, plan, judged) for key, source in plan.shown.items())
    return tuple(cell for cell in found if cell is not None)


def _judged(records: Mapping[Key, Record]) -> dict[Key, Record]:
    """The records, in which all batches of a process that did not know full speed yet are dirty."""
    read_ns = [
        sample.yardstick_ns
        for record in records.values()
        for sample in (*record.samples.values(), *record.fresh.values())
        if sample.yardstick_ns
    ]
    most = most_ns(min(read_ns, default=0))
    return {
        key: replace(
            record,
            samples={number: _knowing(sample, most) for number, sample in record.samples.items()},
            fresh={number: _knowing(sample, most) for number, sample in record.fresh.items()},
        )
        for key, record in records.items()
    }


def _knowing(sample: Sample, most_yardstick_ns: int) -> Sample:
    if sample.yardstick_ns <= most_yardstick_ns:
        return sample
    return replace(sample, cost=replace(sample.cost, dirty_batches=sample.cost.batches))


def _cell(key: Key, source: Key, plan: Plan, records: Mapping[Key, Record]) -> Cell | None:
    if key in plan.unsupported:
        return Cell(*key, status="unsupported", reason=plan.unsupported[key])
    if key.operation == GUARD:
        return _guard(key, records)
    record = records[source]
    if record.problem is not None:
        status, reason = record.problem
        return Cell(*key, status=status, reason=reason, encoded_by=record.encoded_by)
    if not record.samples:
        return None
    samples = list(record.samples.values())
    cost = cost_of([sample.cost for sample in samples])
    return Cell(
        *key,
        status="ok",
        flags=_flags(key, source, samples, cost, plan),
        values=_values(key, samples, plan),
        encoded_by=record.encoded_by,
        cost=cost,
        fresh_cost=cost_of([sample.cost for sample in record.fresh.values()]) if record.fresh else None,
        latency=latency_of([sample.single.latencies_ns for sample in samples]),
        gc=collections_of([sample.single for sample in samples]),
        retained=retained_of([sample.retained for sample in samples if sample.retained is not None]),
        allocations=record.allocations,
        copies=record.copies,
        size=record.size,
        deep_size=record.deep_size,
    )


def _values(key: Key, samples: Sequence[Sample], plan: Plan) -> int:
    rotated = max(sample.values for sample in samples)
    return rotated if key.payload == PAYLOAD else min(rotated, plan.payloads[key.payload].distinct)


def _flags(key: Key, source: Key, samples: Sequence[Sample], cost: Cost, plan: Plan) -> tuple[str, ...]:
    operation = OPERATIONS.get(source.operation)
    payload = None if key.payload == PAYLOAD else plan.payloads[key.payload]
    conditions = {
        "capped": any(sample.capped for sample in samples),
        "few-samples": sum(len(sample.single.latencies_ns) for sample in samples) < _FEW_SAMPLES,
        "few-processes": len(cost.counted_ns) < plan.preset.rounds,
        "all-dirty": not any(cost.undisturbed),
        "unstable": cost.high_ns - cost.low_ns > UNSTABLE * cost.p10_ns,
        "hot": payload is not None and payload.rotation == "copies",
        "unvalidated": operation is not None and operation.unvalidated,
        "walked": payload is not None and walks(source.operation, payload.places),
        "in-place": source.operation in IN_PLACE and "patcher" in plan.codecs[source.codec].operations,
        f"same-as:{source.operation}": source != key,
    }
    return tuple(flag for flag, holds in conditions.items() if holds)


def _guard(key: Key, records: Mapping[Key, Record]) -> Cell | None:
    guarded = records[key._replace(operation="encode")]
    bare = records[key._replace(operation="encode-unguarded")]
    for record in (guarded, bare):
        if record.problem is not None:
            status, reason = record.problem
            return Cell(*key, status=status, reason=reason)
    rounds = sorted(guarded.samples.keys() & bare.samples.keys())
    if not rounds:
        return None
    both = [n for n in rounds if guarded.samples[n].cost.undisturbed and bare.samples[n].cost.undisturbed]
    rounds = both or rounds
    cost = cost_difference(
        [guarded.samples[number].cost.p10_ns for number in rounds],
        [bare.samples[number].cost.p10_ns for number in rounds],
    )
    return Cell(*key, status="ok", flags=("derived",), cost=cost)
