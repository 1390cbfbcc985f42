"""Putting a run into the result file's words."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from zcser.core.codec import CodecInfo
from zcser.core.errors import CodecUnavailableError
from zcser.measure.allocations import METHODS, best_method
from zcser.measure.baseline import BASELINES
from zcser.measure.compression import COMPRESSIONS, Compressor
from zcser.measure.env import environment
from zcser.measure.merge import cells
from zcser.measure.operations import GUARD, GUARD_BOUNDARY, OPERATIONS
from zcser.measure.plan import Plan, Request
from zcser.measure.result import (
    Cell,
    CodecRecord,
    Environment,
    Method,
    PartialRead,
    PayloadRecord,
    ProcessNoise,
    Result,
    Settings,
    Tool,
    Unavailable,
)
from zcser.measure.state import State
from zcser.measure.timer import timer_name
from zcser.payloads.base import Payload, Places

__all__ = ["document"]

_PATHS_KEPT = 100


def _method(plan: Plan) -> Method:
    counting = f"{best_method(preloaded=True)}: {METHODS[best_method(preloaded=True)]}; in a process of its own"
    heap = f"{plan.live_objects:,} live objects" if plan.live_objects else "nothing"
    return Method(
        timer=timer_name(),
        cost="p10 of clean batches of calls in each process, median over processes; a batch is clean where the thread was "
        "not preempted inside it and the core was at full speed beside it; processes with few of them count where there is no other",
        latency="every single call timed by itself, all samples of all processes, none dropped",
        freeing="dropping the result is inside the timed window; malloc is in the state after a block of 31 MiB was freed, "
        "so that glibc serves blocks up to that size from its heap",
        gc=f"enabled while timing; what was loaded and prepared before is frozen, and {heap} is scanned besides the "
        "operation's own objects; a pause belongs to the call that it began in; results are discarded, but kept until "
        'the last call for "retained"',
        allocations=counting,
        boundaries={
            **{name: operation.boundary for name, operation in OPERATIONS.items()},
            GUARD: GUARD_BOUNDARY,
            **BASELINES,
        },
    )


def document(
    plan: Plan,
    request: Request,
    state: State,
    noise: Sequence[ProcessNoise],
    *,
    data: Mapping[str, str | None],
    complete: bool,
    wall_s: float,
) -> Result:
    """The result of a run; `data` are the fingerprints of its payloads' values."""
    found = cells(plan, state.records)
    compressors = _compressors(plan)
    return Result(
        tool=Tool("zcser", version("zcser")),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        command=request.command,
        preset=plan.preset.name,
        settings=_settings(plan, request.seed),
        complete=complete,
        measuring_s=state.spent_ns / 1e9,
        wall_s=wall_s,
        method=_method(plan),
        environment=_environment(plan, compressors),
        noise=tuple(noise),
        payloads=tuple(_payload_record(payload, found, data[payload.name]) for payload in plan.payloads.values()),
        codecs=tuple(_codec_record(info) for info in plan.codecs.values()),
        unavailable=(
            *(_unavailable(name, error) for name, error in plan.unavailable.items()),
            *(
                Unavailable(one.name, f"{one.name} is not installed", one.pip)
                for one in compressors
                if not one.installed
            ),
        ),
        cells=found,
    )


def _compressors(plan: Plan) -> tuple[Compressor, ...]:
    """Those that the run was asked for."""
    asked = {key.operation for key in plan.shown}
    return tuple(dict.fromkeys(one for operation, one in COMPRESSIONS.items() if operation in asked))


def _environment(plan: Plan, compressors: Sequence[Compressor]) -> Environment:
    found = environment(plan.codecs.values(), plan.pin)
    libraries = {one.name: one.library for one in compressors if one.installed}
    return dataclasses.replace(found, libraries={**found.libraries, **libraries})


def _settings(plan: Plan, seed: int) -> Settings:
    preset = plan.preset
    return Settings(
        rounds=preset.rounds,
        budget_s=preset.budget_s,
        warm_ms=preset.slot.warm_ns / 1e6,
        batches=preset.slot.batches,
        batch_ms=preset.slot.batch_ns / 1e6,
        latency_ms=preset.slot.latency_ns / 1e6,
        cell_cap_ms=preset.cap_ns / 1e6,
        rotation=preset.rotation,
        seed=seed,
        retained_ms=preset.slot.retained_ns / 1e6,
        live_objects=plan.live_objects,
    )


def _payload_record(payload: Payload, found: Sequence[Cell], data: str | None) -> PayloadRecord:
    places = payload.places
    rotated = [cell.values for cell in found if cell.payload == payload.name and cell.values is not None]
    return PayloadRecord(
        name=payload.name,
        doc=payload.doc,
        source=payload.source,
        schema=str(payload.schema.root),
        fingerprint=payload.schema.fingerprint,
        fields=payload.fields,
        tensor=payload.tensor,
        values=max(rotated, default=0),
        rotation=payload.rotation,
        notes=payload.schema.notes,
        data_fingerprint=data,
        leaves=None if places is None else places.leaves,
        reads={} if places is None else _partial_reads(places),
        changed=None if places is None or places.number is None else places.number.path,
    )


def _partial_reads(places: Places) -> dict[str, PartialRead]:
    return {
        f"read-{part}": PartialRead(len(paths) or places.leaves, paths[:_PATHS_KEPT])
        for part, paths in places.reads.items()
    }


def _codec_record(info: CodecInfo) -> CodecRecord:
    values = {item.name: getattr(info, item.name) for item in dataclasses.fields(CodecRecord)}
    return CodecRecord(**{**values, "operations": tuple(sorted(info.operations)), "reads": dict(info.reads)})


def _unavailable(name: str, error: CodecUnavailableError) -> Unavailable:
    found = re.search(r"pip install .*$", str(error))
    return Unavailable(name, str(error), found[0] if found else None)
