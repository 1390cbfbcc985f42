"""The process that times: ``python -m zcser.measure.worker``, started by `zcser.measure.process`.

1. It takes one `Job` from standard input, and writes messages to what was its standard output; anything that a library or
   a payload prints goes to standard error instead.
2. It ignores the interrupt key, which is the runner's to answer, and goes when standard input ends: no runner, no worker.
3. Whatever goes wrong in a cell becomes that cell's reason, in one line; the next cell goes on.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import sys
import threading
from collections.abc import Iterator

from zcser.core.codec import Codec
from zcser.core.errors import EncodeError, SchemaError, UnsupportedOperation
from zcser.measure import job
from zcser.measure.allocations import WARM_CALLS, allocations_of
from zcser.measure.baseline import CODEC, baseline
from zcser.measure.bench import Bench, MismatchError, make_codec
from zcser.measure.clock import now_ns
from zcser.measure.job import Began, Counted, Ended, Finished, Job, Load, Measured
from zcser.measure.noise import disturbance
from zcser.measure.operations import OPERATIONS
from zcser.measure.prepare import Prepared, SameAsDecodeError, require
from zcser.measure.result import Size, Status
from zcser.measure.sample import Sample, collecting, take_sample
from zcser.payloads.base import Payload

__all__ = ["main", "outcome", "work"]

_NATIVE = frozenset({"protobuf", "pysimdjson"})
"""Libraries known to allocate outside Python's allocators."""

_REASON_LENGTH = 300

_LARGEST_KEPT = 31 << 20


def main() -> None:
    """Do one job."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    todo: Job = job.read(sys.stdin.buffer)
    threading.Thread(target=_leave_with_runner, daemon=True).start()
    before = disturbance()
    gc.disable()
    _settle_malloc()
    for message in work(todo):
        job.write(out, message)
    job.write(out, Finished(disturbance().since(before)))


def _leave_with_runner() -> None:
    # Blocked in the kernel until the runner is gone, it does not disturb the thread that times.
    with contextlib.suppress(OSError):
        os.read(sys.stdin.fileno(), 1)
    os._exit(1)


def _settle_malloc() -> None:
    """Bring glibc's malloc to the state in which a service that has ever freed a large message has it.

    Until a block of up to 32 MiB was freed, any block above a threshold that starts at 128 KiB is mapped anew on each
    call, and each of its pages faults; afterwards the heap serves it. Which of the two a cell met would depend on the
    cells before it.
    """
    block = bytearray(_LARGEST_KEPT)
    del block


def work(todo: Job) -> Iterator[job.Message]:
    """Measure the cells of a job, one message at a time."""
    for load in todo.loads:
        yield from _baselines(todo, load) if todo.codec == CODEC else _payload(todo, load)


def _baselines(todo: Job, load: Load) -> Iterator[job.Message]:
    for name, cell_ns in load.cells_ns.items():
        yield Began(load.payload, name)
        call, inputs = baseline(name, todo.rotation, todo.prepare_ns)
        yield Measured(load.payload, name, take_sample(call, inputs, todo.slot.within(cell_ns)), None, None)


def _payload(todo: Job, load: Load) -> Iterator[job.Message]:
    yield Began(load.payload, None)
    try:
        bench = _bench(todo, load)
        if todo.first:
            bench.verify(todo.verify_ns)
    except Exception as error:  # noqa: BLE001 - rule 3
        yield Ended(load.payload, None, *outcome(error))
        return
    timed: dict[str, tuple[Prepared, Sample]] = {}
    for name, cell_ns in load.cells_ns.items():
        yield Began(load.payload, name)
        try:
            prepared = OPERATIONS[name].prepare(bench)
            if todo.first:
                require(prepared)
            sample = take_sample(prepared.call, prepared.inputs, todo.slot.within(cell_ns))
            size = _size(bench) if todo.first and name == "encode" else None
        except Exception as error:  # noqa: BLE001 - rule 3
            yield Ended(load.payload, name, *outcome(error))
            continue
        timed[name] = prepared, sample
        writer = bench.writer.name if bench.writer is not bench.codec else None
        yield Measured(load.payload, name, sample, writer, size)
    if todo.first:
        yield from _count(todo, load.payload, bench.codec, timed)


def _bench(todo: Job, load: Load) -> Bench:
    payload: Payload = pickle.loads(load.pickled)
    codec, writer = make_codec(todo.codec, payload.schema, todo.writers)
    return Bench(payload, codec, writer, fields=payload.fields, rotation=todo.rotation, prepare_ns=todo.prepare_ns)


def _size(bench: Bench) -> Size:
    # Of as many values as a cell rotates; those that were not encoded yet are needed for decoding anyway.
    sizes = sorted(map(len, bench.wires.arguments(bench.values.distinct)[: bench.wires.distinct]))
    return Size(sizes[(len(sizes) - 1) // 2], sizes[0], sizes[-1])


def _count(
    todo: Job, payload: str, codec: Codec[object], timed: dict[str, tuple[Prepared, Sample]]
) -> Iterator[job.Message]:
    """Allocations, after everything of this payload was timed."""
    blind = codec.info.library in _NATIVE
    for name, (prepared, sample) in timed.items():
        if sample.op_ns > todo.allocations_op_ns:
            continue
        yield Began(payload, name)
        begin_ns = now_ns()
        try:
            with collecting():
                found = allocations_of(
                    prepared.call,
                    prepared.inputs.leading,
                    op_ns=sample.op_ns,
                    budget_ns=todo.allocations_ns,
                    warm_calls=max(0, WARM_CALLS - sample.cost.operations),
                    blind=blind,
                )
        except Exception as error:  # noqa: BLE001 - rule 3
            yield Ended(payload, name, *outcome(error))
            continue
        yield Counted(payload, name, found, now_ns() - begin_ns)


def outcome(error: Exception) -> tuple[Status, str]:
    """The status and the reason of a cell in which an error came up."""
    text = " ".join(str(error).split())
    if isinstance(error, SameAsDecodeError | UnsupportedOperation):
        return "unsupported", text[:_REASON_LENGTH]
    if isinstance(error, SchemaError | EncodeError):
        return "refused", text[:_REASON_LENGTH]
    if isinstance(error, MismatchError):
        return "failed", text[:_REASON_LENGTH]
    return "failed", f"{type(error).__name__}: {text}".removesuffix(": ")[:_REASON_LENGTH]


if __name__ == "__main__":
    main()
