"""How much is measured: the presets of `zcser compare`.

A slow cell is bounded over all rounds; it then has fewer samples, then fewer processes down to the least that its preset asks
for, and says so. That least comes before every bound on time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from zcser.measure.context import PresetName
from zcser.measure.sample import Slot

__all__ = ["PRESETS", "Preset"]

_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Preset:
    """How much is measured.

    Attributes
    ----------
    rounds
        Fresh processes per codec.
    budget_s
        Bound on measuring time.
    pair_s
        What each codec on each payload adds to that time, up to the bound; 0: it has all of it.
    slot, least_ns
        The most and the least that a cell takes in one process.
    cap_ns
        The most that a cell takes over all processes, but for one call; or longer where `least_rounds` calls for it.
    least_rounds
        Processes of a cell in any case, however slow it is: two calls in each suffice.
    rotation
        Distinct values of a cell.
    prepare_ns, verify_ns
        Bounds on making one kind of argument, and on round trips, per payload and process.
    allocations_ns, allocations_op_ns
        Bound on each pass of a cell's allocations, and how long a call may take to be counted at all.
    operations
        Operations and groups that are measured unless told otherwise.
    lone_operations
        Those that are measured besides where the payload is a single one.
    both_mallocs
        Whether messages of 1 MB and more are timed a second time, with a malloc that maps each large block anew.
    silence_s
        After so long without a word a worker counts as hung.
    wait_s
        Bound on waiting for the core's full speed, over all processes; see `zcser.measure.pace`. Like `budget_s`, it is
        for as many codecs and payloads as use the whole budget.
    """

    name: PresetName
    rounds: int
    budget_s: float
    slot: Slot
    least_ns: int
    cap_ns: int
    rotation: int
    prepare_ns: int
    verify_ns: int
    allocations_ns: int
    allocations_op_ns: int
    silence_s: float
    operations: tuple[str, ...] = ("default",)
    lone_operations: tuple[str, ...] = ()
    both_mallocs: bool = False
    least_rounds: int = 1
    wait_s: float = 0
    pair_s: float = 0

    def within(self, pairs: float) -> Preset:
        """The same for so many pairs of a codec and a payload, with the usual operations: with less time where they need less."""
        if self.pair_s * pairs >= self.budget_s or not self.pair_s:
            return self
        share = self.pair_s * pairs / self.budget_s
        return replace(self, budget_s=self.budget_s * share, wait_s=self.wait_s * share)


PRESETS: dict[str, Preset] = {
    "quick": Preset(
        name="quick",
        rounds=4,
        budget_s=54,
        slot=Slot(warm_ns=3 * _MS, batches=8, batch_ns=2 * _MS, latency_ns=16 * _MS, retained_ns=4 * _MS),
        least_ns=2 * _MS,
        cap_ns=250 * _MS,
        rotation=64,
        prepare_ns=100 * _MS,
        verify_ns=20 * _MS,
        allocations_ns=4 * _MS,
        allocations_op_ns=20 * _MS,
        silence_s=120,
        wait_s=12,
        # Ten formats on one payload are told in half a minute.
        pair_s=0.8,
    ),
    # 12 processes, for the gate's power. It seeks one cell that is 5% slower among some 440, with Holm's correction for
    # their number. Where processes vary by 1.5%, it finds that in 85% of diffs with 10 processes a side, and in 98% with
    # 12; by 1.75%, in 66% and 89% (simulated with `zcser.gate.stats`). Measuring stays within the same budget; the two
    # rounds more cost the start and the preparation of as many workers. The gate tells nothing of fewer than 8 processes
    # a side, so that every cell has these: a call of 1 s then takes 16 s in place of its bound of 5 s.
    "full": Preset(
        name="full",
        rounds=12,
        budget_s=20 * 60,
        slot=Slot(warm_ns=20 * _MS, batches=12, batch_ns=10 * _MS, latency_ns=160 * _MS, retained_ns=40 * _MS),
        least_ns=10 * _MS,
        cap_ns=5_000 * _MS,
        rotation=64,
        prepare_ns=2_000 * _MS,
        verify_ns=500 * _MS,
        allocations_ns=200 * _MS,
        allocations_op_ns=500 * _MS,
        silence_s=600,
        both_mallocs=True,
        least_rounds=8,
        wait_s=4 * 60,
        # On one payload all of it fits: 24 codecs have some 500 cells then, and the built-in payloads 1,100 without.
        lone_operations=("reads", "sizes", "composite"),
    ),
    # p99.9 is sure from 100,000 samples on: 8 processes of 12,500, where the time of a cell suffices.
    "tails": Preset(
        name="tails",
        rounds=8,
        budget_s=20 * 60,
        slot=Slot(warm_ns=20 * _MS, batches=8, batch_ns=5 * _MS, latency_ns=1_500 * _MS, retained_ns=400 * _MS),
        least_ns=100 * _MS,
        cap_ns=16_000 * _MS,
        rotation=64,
        prepare_ns=500 * _MS,
        verify_ns=100 * _MS,
        allocations_ns=50 * _MS,
        allocations_op_ns=100 * _MS,
        silence_s=600,
        wait_s=60,
        operations=("encode", "decode", "read-field"),
    ),
}
