"""The process that times: ``python -m zcser.measure.worker``, started by `zcser.measure.process`.

1. It takes one `Job` from standard input, and writes messages to what was its standard output; anything that a library or
   a payload prints goes to standard error instead.
2. It ignores the interrupt key, which is the runner's to answer, and goes when standard input ends: no runner, no worker.
3. Whatever goes wrong in a cell becomes that cell's reason, in one line; the next cell goes on.
4. A job either checks and counts or times: where malloc is counted, malloc is slower (up to 3% of protobuf's decode).
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import sys
import threading
from collections.abc import Generator, Iterator
from typing import IO, Any, TypeAlias

from zcser import registry
from zcser.core.errors import EncodeError, SchemaError, UnsupportedOperation
from zcser.measure import job
from zcser.measure.allocations import allocations_of
from zcser.measure.baseline import CLOCK, CODEC, baseline
from zcser.measure.bench import Bench, MismatchError, make_codec
from zcser.measure.clock import now_ns
from zcser.measure.copies import copies_of
from zcser.measure.figures import Allocations, Status
from zcser.measure.job import Began, Checked, Ended, Finished, Job, Load, Measured
from zcser.measure.noise import disturbance
from zcser.measure.operations import OPERATIONS
from zcser.measure.pace import UNWATCHED, Pace
from zcser.measure.prepare import Prepared, SameAsDecodeError, require
from zcser.measure.sample import Sample, empty_sample, visit
from zcser.native import zcount
from zcser.payloads.base import Payload

__all__ = ["count_allocations", "forget_preload", "main", "outcome", "settle_malloc", "take_order", "work"]

Visits: TypeAlias = Generator[None, None, Sample]
"""A cell that is being timed: see `zcser.measure.sample.visit`."""

_PROBES = 3

_REASON_LENGTH = 300

_LARGEST_KEPT = 31 << 20


def main() -> None:
    """Do one job."""
    order, out = take_order()
    todo: Job = order
    before = disturbance()
    registry.adopt(todo.directory)
    gc.disable()
    if not todo.fresh:
        settle_malloc()
    pace = UNWATCHED if todo.check else Pace(todo.yardstick_ns, todo.wait_ns)
    for message in work(todo, pace):
        job.write(out, message)
    slow_share = pace.slow_readings / pace.readings if pace.readings else None
    job.write(out, Finished(disturbance().since(before), pace.best_ns, pace.waited_ns, slow_share))


def take_order() -> tuple[Any, IO[bytes]]:
    """What this process is to do, and where its messages go; from here on rules 1 and 2 hold."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    order = job.read(sys.stdin.buffer)
    threading.Thread(target=_leave_with_runner, daemon=True).start()
    forget_preload()
    return order, out


def _leave_with_runner() -> None:
    # Blocked in the kernel until the runner is gone, it does not disturb the thread that times.
    with contextlib.suppress(OSError):
        os.read(sys.stdin.fileno(), 1)
    os._exit(1)


def forget_preload() -> None:
    """Take the counter out of what this process hands to its children, which nobody counts."""
    library = zcount.load()
    others = [
        entry for entry in os.environ.pop("LD_PRELOAD", "").split() if library is None or entry != str(library.path)
    ]
    if others:
        os.environ["LD_PRELOAD"] = " ".join(others)


def settle_malloc() -> None:
    """Bring glibc's malloc to the state in which a service that has ever freed a large message has it.

    Until a block of up to 32 MiB was freed, any block above a threshold that starts at 128 KiB is mapped anew on each
    call, and each of its pages faults; afterwards the heap serves it. Which of the two a cell met would depend on the
    cells before it.
    """
    block = bytearray(_LARGEST_KEPT)
    del block


def work(todo: Job, pace: Pace = UNWATCHED) -> Iterator[job.Message]:
    """Do the cells of a job, one message at a time."""
    for load in todo.loads:
        if todo.codec == CODEC:
            yield from _baselines(todo, load, pace)
        elif todo.check:
            yield from _check(todo, load)
        else:
            yield from _time(todo, load, pace)


def _baselines(todo: Job, load: Load, pace: Pace) -> Iterator[job.Message]:
    visits: dict[str, Visits] = {}
    for name, cell_ns in load.cells_ns.items():
        slot = todo.slot.within(cell_ns)
        if name == CLOCK:
            yield Began(load.payload, name)
            yield Measured(load.payload, name, empty_sample(slot))
        else:
            call, inputs = baseline(name, todo.rotation, todo.prepare_ns)
            visits[name] = visit(call, inputs, slot, live_objects=todo.live_objects, pace=pace)
    yield from _by_turns(load, visits)


def _check(todo: Job, load: Load) -> Iterator[job.Message]:
    """Round trips, results, sizes and allocations."""
    yield Began(load.payload, None)
    try:
        bench = _bench(todo, load)
        bench.verify(todo.verify_ns)
    except Exception as error:  # noqa: BLE001 - rule 3
        yield Ended(load.payload, None, *outcome(error))
        return
    writer = bench.writer.name if bench.writer is not bench.codec else None
    for name in load.cells_ns:
        yield Began(load.payload, name)
        try:
            prepared = OPERATIONS[name].prepare(bench)
            require(prepared)
            size = prepared.size() if prepared.size is not None else None
            deep_size = prepared.deep_size() if todo.deep and prepared.deep_size is not None else None
            begin_ns = now_ns()
            allocations = count_allocations(
                prepared,
                bench.codec.info.library,
                rotation=todo.rotation,
                op_limit_ns=todo.allocations_op_ns,
                budget_ns=todo.allocations_ns,
            )
            spent_ns = now_ns() - begin_ns
            copies = copies_of(bench, name, prepared, allocations)
        except Exception as error:  # noqa: BLE001 - rule 3
            yield Ended(load.payload, name, *outcome(error))
            continue
        wire_bytes = len(bench.wires.first()[1])
        yield Checked(load.payload, name, writer, size, deep_size, allocations, copies, wire_bytes, spent_ns)


def _time(todo: Job, load: Load, pace: Pace) -> Iterator[job.Message]:
    yield Began(load.payload, None)
    try:
        bench = _bench(todo, load)
    except Exception as error:  # noqa: BLE001 - rule 3
        yield Ended(load.payload, None, *outcome(error))
        return
    yield from _by_turns(load, {name: _visits(todo, load, bench, name, pace) for name in load.cells_ns})


def _visits(todo: Job, load: Load, bench: Bench, name: str, pace: Pace) -> Visits:
    prepared = OPERATIONS[name].prepare(bench)
    return (
        yield from visit(
            prepared.call,
            prepared.inputs,
            todo.slot.within(load.cells_ns[name]),
            most_kept=load.most_kept.get(name, 0),
            live_objects=todo.live_objects,
            pace=pace,
        )
    )


def _by_turns(load: Load, visits: dict[str, Visits]) -> Iterator[job.Message]:
    """One visit of each cell, then the next of each, until all are done."""
    while visits:
        for name in tuple(visits):
            yield Began(load.payload, name)
            try:
                next(visits[name])
            except StopIteration as end:
                del visits[name]
                yield Measured(load.payload, name, end.value)
            except Exception as error:  # noqa: BLE001 - rule 3
                del visits[name]
                yield Ended(load.payload, name, *outcome(error))


def _bench(todo: Job, load: Load) -> Bench:
    payload: Payload = pickle.loads(load.pickled)
    codec, writer = make_codec(todo.codec, payload.schema, todo.writers)
    return Bench(payload, codec, writer, fields=payload.fields, rotation=todo.rotation, prepare_ns=todo.prepare_ns)


def count_allocations(
    prepared: Prepared,
    library: str,
    *,
    rotation: int,
    op_limit_ns: int,
    budget_ns: int,
    most_distinct: int | None = None,
) -> Allocations | None:
    """What a call allocates; None where it takes too long to be made again and again.

    Parameters
    ----------
    library
        The library that works below; "" where it is unknown.
    rotation
        How many values are counted over, as a cell rotates them; fewer where there is no time to make them.
    op_limit_ns
        How long a call may take.
    budget_ns
        Bound on each pass.
    most_distinct
        How many of the values differ at most; None: all.
    """
    op_ns = 1
    for argument in prepared.inputs.arguments(_PROBES):
        called_ns = now_ns()
        prepared.call(argument)
        op_ns = max(1, now_ns() - called_ns)
        if op_ns > op_limit_ns:
            return None
    # `leading` repeats only those that were made.
    prepared.inputs.arguments(rotation)
    made = prepared.inputs.distinct
    return allocations_of(
        prepared.call,
        prepared.inputs.leading,
        distinct=made if most_distinct is None else min(made, most_distinct),
        op_ns=op_ns,
        budget_ns=budget_ns,
        library=library,
    )


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
