"""Running the bake-off: workers one after the other, and what they measured put together.

1. A fresh process per codec and round; before its first round, one more that checks its results and counts allocations.
   The order of codecs moves on by one with each round and the cells of a worker are
   shuffled, so that a slow minute of the machine does not fall on one codec.
2. Only one worker runs at a time, and nothing is said to the user while it does.
3. A worker that dies or hangs takes the cell it was at with it; the others of that worker go to a new one.
4. On Ctrl-C, what was measured is kept, and the result says that it is not complete.
"""

from __future__ import annotations

import platform
import random
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np

from zcser import registry
from zcser.measure.baseline import CODEC
from zcser.measure.data import data_fingerprint
from zcser.measure.document import document
from zcser.measure.job import Began, Finished, Job, Load
from zcser.measure.pace import Patience
from zcser.measure.plan import Key, MeasureError, Plan, Request, make_plan, share_out
from zcser.measure.process import WorkerLostError, run_job
from zcser.measure.result import ProcessNoise, Result
from zcser.measure.state import Record, State

__all__ = ["Event", "FirstLook", "run"]


@dataclass(frozen=True, slots=True)
class FirstLook:
    """Costs by operation in the first process of a codec, in nanoseconds: what there is to see before a run is over."""

    codec: str
    costs_ns: dict[str, float]


@dataclass(frozen=True, slots=True)
class Event:
    """Progress, told between two workers.

    Attributes
    ----------
    round, rounds
        The round that the next worker belongs to, from 1, and how many there are.
    codec
        The next worker's codec; None at the end.
    done, workers
        Workers that have run, and all that are planned.
    measuring_s, elapsed_s
        Time spent in timed calls, and since the start.
    trouble
        What went wrong with the last worker, in one line.
    first_look
        What the last worker found, in the first round of a run over one payload.
    """

    round: int
    rounds: int
    codec: str | None
    done: int
    workers: int
    measuring_s: float
    elapsed_s: float
    trouble: str | None = None
    first_look: FirstLook | None = None


def run(request: Request, progress: Callable[[Event], None] = lambda _: None) -> Result:
    """Measure.

    Parameters
    ----------
    request
        What.
    progress
        Called between workers, never while one times.

    Returns
    -------
    Result
        With ``complete=False`` where it was interrupted.

    Raises
    ------
    MeasureError
        See `make_plan`; also where `request.samples` cannot be written.
    """
    plan = make_plan(request)
    with _opened(request.samples) as file:
        begin = time.perf_counter()
        data = {name: data_fingerprint(payload, plan.preset.rotation) for name, payload in plan.payloads.items()}
        running = _Run(plan, request, begin)
        complete = True
        try:
            for event in running.rounds():
                progress(event)
        except KeyboardInterrupt:
            complete = False
        wall_s = time.perf_counter() - begin
        if file is not None:
            _save_samples(file, running.state)
    return document(plan, request, running.state, running.noise, data=data, complete=complete, wall_s=wall_s)


class _Run:
    """The workers of a run, one after the other."""

    def __init__(self, plan: Plan, request: Request, begin: float) -> None:
        self.plan = plan
        self.state = State(plan)
        self.noise: list[ProcessNoise] = []
        self._seed = request.seed
        self._begin = begin
        codecs = {key.codec for key in plan.measured}
        # The baselines last: whoever waits for the first figures waits for a codec's.
        self._order = [*(name for name in plan.codecs if name in codecs), CODEC]
        workers = plan.preset.rounds * len(self._order)
        self._patience = Patience(request.yardstick_ns, int(plan.preset.wait_s * 1e9), workers)

    def rounds(self) -> Iterator[Event]:
        """Run all workers; one event before each, and one at the end."""
        order = self._order
        trouble = look = None
        for number in range(self.plan.preset.rounds):
            share_ns = self._share_ns(number)
            if share_ns is None:
                break
            turn = number % len(order)
            for place, codec in enumerate(order[turn:] + order[:turn]):
                yield self._event(number, codec, number * len(order) + place, trouble, look)
                trouble = (self._check(codec) if number == 0 else None) or self._worker(codec, number, share_ns)
                look = self._first_look(codec) if number == 0 else None
        rounds = self.plan.preset.rounds
        yield self._event(rounds - 1, None, rounds * len(order), trouble, look)

    def _event(self, number: int, codec: str | None, done: int, trouble: str | None, look: FirstLook | None) -> Event:
        rounds = self.plan.preset.rounds
        return Event(
            round=number + 1,
            rounds=rounds,
            codec=codec,
            done=done,
            workers=rounds * len(self._order),
            measuring_s=self.state.spent_ns / 1e9,
            elapsed_s=time.perf_counter() - self._begin,
            trouble=trouble,
            first_look=look,
        )

    def _first_look(self, codec: str) -> FirstLook | None:
        if codec == CODEC or len(self.plan.payloads) > 1:
            return None
        costs_ns = {
            shown.operation: self.state.records[measured].samples[0].cost.p10_ns
            for shown, measured in self.plan.shown.items()
            if shown.codec == codec and measured in self.state.records and self.state.records[measured].samples
        }
        return FirstLook(codec, costs_ns) if costs_ns else None

    def _share_ns(self, number: int) -> int | None:
        """The time of a cell in a round; None where the budget is used up and this round is none that comes in any case."""
        preset = self.plan.preset
        left_ns = preset.budget_s * 1e9 - self.state.spent_ns
        if number >= preset.least_rounds and left_ns <= 0:
            return None
        floors_ns = [self.state.floor_ns(key) for key in self.state.due()]
        return share_out(left_ns / (preset.rounds - number), floors_ns, preset.least_ns, preset.slot.total_ns)

    def _check(self, codec: str) -> str | None:
        """Check the results of one codec and count its allocations; what went wrong, if anything."""
        if codec == CODEC:
            return None
        return self._workers(codec, -1, 0, lambda record: record.checked)

    def _worker(self, codec: str, number: int, share_ns: int) -> str | None:
        """Time the cells of one codec in one round; what went wrong, if anything."""
        trouble = self._workers(codec, number, share_ns, lambda record: number in record.samples)
        if not self.plan.preset.both_mallocs or platform.libc_ver()[0] != "glibc":
            return trouble
        return trouble or self._workers(codec, number, share_ns, lambda record: number in record.fresh, fresh=True)

    def _workers(
        self, codec: str, number: int, share_ns: int, done: Callable[[Record], bool], *, fresh: bool = False
    ) -> str | None:
        """Do all cells that are due, in one worker, or in more where one is lost; round -1 is the check."""
        left = self.state.large(codec) if fresh else self.state.due(codec)
        trouble = None
        while left:
            at: Began | None = None
            begin = time.perf_counter()
            todo = replace(self._job(codec, number, share_ns, left), fresh=fresh)
            try:
                with closing(run_job(todo, self.plan.preset.silence_s, self.plan.pin)) as said:
                    for message in said:
                        if isinstance(message, Began):
                            at = message
                        elif not isinstance(message, Finished):
                            self.state.take(message, codec, number, fresh=fresh)
                        elif not todo.check:
                            self._patience.spend(message.yardstick_ns, message.waited_ns)
                            if not fresh:
                                self._note(codec, number, message, time.perf_counter() - begin)
            except WorkerLostError as error:
                trouble = f"{codec}: {error}"
                left = [key for key in left if not done(self.state.records[key])]
                left = self.state.blame(error, at, codec, [key for key in left if key in self.state.due(codec)])
            else:
                break
        return trouble

    def _job(self, codec: str, number: int, share_ns: int, keys: Sequence[Key]) -> Job:
        preset = self.plan.preset
        # Not for secrets: the same seed gives the same order.
        shuffled = random.Random(f"{self._seed} {number} {codec}")  # noqa: S311
        by_payload: dict[str, list[Key]] = {}
        for key in shuffled.sample(keys, len(keys)):
            by_payload.setdefault(key.payload, []).append(key)
        return Job(
            codec=codec,
            writers=() if codec == CODEC else self.plan.writers(codec),
            loads=tuple(self._load(name, cells, share_ns) for name, cells in by_payload.items()),
            slot=preset.slot,
            rotation=preset.rotation,
            prepare_ns=preset.prepare_ns,
            verify_ns=preset.verify_ns,
            allocations_ns=preset.allocations_ns,
            allocations_op_ns=preset.allocations_op_ns,
            check=number < 0,
            deep=self.plan.deep,
            live_objects=self.plan.live_objects,
            yardstick_ns=self._patience.best_ns,
            wait_ns=self._patience.share_ns,
            directory=registry.directory(),
        )

    def _load(self, payload: str, keys: Sequence[Key], share_ns: int) -> Load:
        return Load(
            payload,
            self.plan.pickled.get(payload, b""),
            cells_ns={key.operation: min(share_ns, self.state.allowed_ns(key)) for key in keys},
            most_kept={key.operation: self.state.most_kept(key) for key in keys},
        )

    def _note(self, codec: str, number: int, end: Finished, wall_s: float) -> None:
        seen = end.disturbance
        costs = [
            record.samples[number].cost
            for key, record in self.state.records.items()
            if key.codec == codec and number in record.samples
        ]
        batches = sum(cost.batches for cost in costs)
        dirty = sum(cost.dirty_batches for cost in costs)
        self.noise.append(
            ProcessNoise(
                codec=codec,
                round=number + 1,
                involuntary_switches=seen.involuntary_switches,
                voluntary_switches=seen.voluntary_switches,
                dirty_share=dirty / batches if batches else None,
                stalled_us=seen.stalled_us,
                throttled_us=seen.throttled_us,
                throttled_periods=seen.throttled_periods,
                yardstick_ns=end.yardstick_ns,
                slow_share=end.slow_share,
                waited_s=end.waited_ns / 1e9,
                wall_s=wall_s,
            )
        )


@contextmanager
def _opened(path: Path | None) -> Iterator[IO[bytes] | None]:
    """The file for raw samples, opened before anything is measured, so that a wrong path costs no minute."""
    if path is None:
        yield None
        return
    try:
        file = path.open("wb")
    except OSError as error:
        raise MeasureError(f"cannot write {path}: {error.strerror or error}") from None
    with file:
        yield file


def _save_samples(file: IO[bytes], state: State) -> None:
    """Every latency sample in order: an .npz of arrays named ``payload/codec/operation/round``."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, record in state.records.items():
            for number, sample in record.samples.items():
                with archive.open("/".join((*key, f"{number + 1}.npy")), "w", force_zip64=True) as entry:
                    np.save(entry, sample.single.latencies_ns)
