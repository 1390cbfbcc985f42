"""How small a change this machine can see now: the same cells measured twice over, as if they were two versions.

1. Two groups of fresh processes run the same code, A and B by turns (A B, B A, A B, ...), through the runner that a
   comparison uses. Nothing differs between them, so that whatever differs in the figures is the machine's.
2. The figure of a process is its p10 of clean batches. Its logarithm is what varies: `sd` is the standard deviation
   within the groups.
3. Smallest change seen with n processes a side, at 5% false alarms (two-sided) and 90% power, for one cell:
   ``exp((t(0.975, 2n-2) + t(0.90, 2n-2)) * sd * sqrt(2/n)) - 1``, the common approximation of the two-sample t test's
   power by two quantiles. A gate over many cells corrects for their number, and sees less.
4. It ends within some 20 s: pairs are added until then, and reported are those that were made.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from zcser import registry
from zcser.core.errors import CodecUnavailableError
from zcser.measure import clock
from zcser.measure.baseline import CODEC, PAYLOAD
from zcser.measure.env import tuning
from zcser.measure.findings import Evidence, Finding, findings, unknown
from zcser.measure.noise import Disturbance, MachineCounters, disturbance, load_average, machine_counters, quota_cores
from zcser.measure.pinning import Pin, make_pin
from zcser.measure.plan import Key, MeasureError, Request
from zcser.measure.presets import Preset
from zcser.measure.result import ProcessNoise, Result
from zcser.measure.runner import run
from zcser.measure.sample import Slot

__all__ = ["FORMULA", "SIDES", "Diagnosis", "Variation", "diagnose", "smallest_change", "t_quantile", "variation_of"]

FORMULA = "exp((t(0.975, 2n-2) + t(0.90, 2n-2)) * sd * sqrt(2/n)) - 1"
SIDES = (8, 12)
"""Processes a side for which the smallest change is told: the least that a gate accepts, and those of a full run."""

_MS = 1_000_000
_BOUND_S = 20
_MOST_PAIRS, _LEAST_PAIRS = 8, 4
_CHUNK = "llm-chunk"
_CODECS = ("json", "orjson")
_OPERATIONS = ("encode", "decode")
_BASELINE = Key(PAYLOAD, CODEC, "struct")

_PAIR = Preset(
    name="quick",
    rounds=2,
    budget_s=5,
    # The batches of quick; latencies are not looked at.
    slot=Slot(warm_ns=3 * _MS, batches=8, batch_ns=2 * _MS, latency_ns=_MS),
    least_ns=2 * _MS,
    cap_ns=250 * _MS,
    rotation=64,
    prepare_ns=20 * _MS,
    verify_ns=_MS,
    allocations_ns=0,
    allocations_op_ns=0,
    silence_s=20,
    wait_s=4,
)


@dataclass(frozen=True, slots=True)
class Variation:
    """One cell of both groups.

    Attributes
    ----------
    processes
        Of each group.
    p10_ns
        Median over all processes.
    sd
        Standard deviation of the logarithm of the p10 within the groups; about the share by which processes vary.
    ratio, low, high
        A to B, of geometric means, and its 95% interval; 1 is inside in 19 of 20 cells.
    """

    payload: str
    codec: str
    operation: str
    processes: int
    p10_ns: float
    sd: float
    ratio: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found.

    Attributes
    ----------
    processes
        Fresh processes of each group and codec.
    wall_s
        Time that it took.
    cells
        Variation of each.
    sd
        Root mean square of the cells' own.
    smallest_change
        Processes a side (as text, for JSON) to the smallest change that is seen, as a share.
    formula
        How that was computed.
    evidence, findings, unknown
        Readings of the machine, what to mend, and what could not be read.
    """

    processes: int
    wall_s: float
    cells: tuple[Variation, ...]
    sd: float
    smallest_change: dict[str, float]
    formula: str
    evidence: Evidence
    findings: tuple[Finding, ...]
    unknown: tuple[str, ...]


def t_quantile(share: float, freedom: int) -> float:
    """A quantile of Student's t distribution; within 0.001 from 6 degrees of freedom on, for shares up to 0.975.

    The expansion is 26.7.5 of Abramowitz and Stegun, Handbook of Mathematical Functions.
    """
    z = statistics.NormalDist().inv_cdf(share)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / math.pow(freedom, power) for power, term in enumerate(terms, start=1))


def smallest_change(sd: float, processes: int) -> float:
    """The smallest change, as a share, that `processes` a side tell apart; see rule 3."""
    freedom = 2 * processes - 2
    return math.expm1((t_quantile(0.975, freedom) + t_quantile(0.90, freedom)) * sd * math.sqrt(2 / processes))


def variation_of(key: Key, left_ns: Sequence[float], right_ns: Sequence[float]) -> Variation:
    """Two groups of one cell's processes, equally many and at least two."""
    left, right = [[math.log(p10_ns) for p10_ns in group] for group in (left_ns, right_ns)]
    count = len(left)
    sd = math.sqrt((statistics.variance(left) + statistics.variance(right)) / 2)
    shift = statistics.fmean(left) - statistics.fmean(right)
    reach = t_quantile(0.975, 2 * count - 2) * sd * math.sqrt(2 / count)
    return Variation(
        *key,
        processes=count,
        p10_ns=statistics.median([*left_ns, *right_ns]),
        sd=sd,
        ratio=math.exp(shift),
        low=math.exp(shift - reach),
        high=math.exp(shift + reach),
    )


def diagnose(
    pin: tuple[int, ...] = (), numa: int | None = None, progress: Callable[[int, int], None] = lambda _done, _all: None
) -> Diagnosis:
    """Measure the A/A check and judge the machine; some 20 s.

    Parameters
    ----------
    pin, numa
        Where workers run, as for a comparison.
    progress
        Called before each pair of processes with the number of pairs done and planned.

    Raises
    ------
    MeasureError
        No cell could be measured often enough.
    PinError
        See `zcser.measure.pinning.make_pin`.
    KeyboardInterrupt
        It was interrupted: half a check says nothing.
    """
    chosen = make_pin(pin, numa)
    load = load_average()
    before, counted, begin = disturbance(), machine_counters(), time.perf_counter()
    results: list[Result] = []
    for number in range(_MOST_PAIRS):
        if number >= _LEAST_PAIRS and time.perf_counter() - begin > _BOUND_S * number / (number + 1):
            break
        progress(number, _MOST_PAIRS)
        results.append(run(_request(number, pin, numa, _fastest_ns(results))))
        if not results[-1].complete:
            raise KeyboardInterrupt
    wall_s = time.perf_counter() - begin
    cells = _variations(results)
    sd = math.sqrt(statistics.fmean(cell.sd**2 for cell in cells))
    noise = [process for result in results for process in result.noise]
    evidence = _evidence(
        chosen, load, disturbance().since(before), machine_counters().since(counted), noise, wall_s=wall_s
    )
    return Diagnosis(
        processes=max(cell.processes for cell in cells),
        wall_s=wall_s,
        cells=cells,
        sd=sd,
        smallest_change={str(side): smallest_change(sd, side) for side in SIDES},
        formula=FORMULA,
        evidence=evidence,
        findings=findings(evidence),
        unknown=unknown(evidence),
    )


def _fastest_ns(results: Sequence[Result]) -> int:
    return min((one.yardstick_ns for result in results for one in result.noise if one.yardstick_ns), default=0)


def _request(number: int, pin: tuple[int, ...], numa: int | None, yardstick_ns: int) -> Request:
    return Request(
        payloads=(_CHUNK,),
        codecs=tuple(filter(_installed, _CODECS)),
        operations=_OPERATIONS,
        preset=_PAIR,
        # Another order of cells in each pair.
        seed=number,
        yardstick_ns=yardstick_ns,
        pin=pin,
        numa=numa,
    )


def _installed(codec: str) -> bool:
    try:
        registry.info(codec)
    except CodecUnavailableError:
        return False
    return True


def _variations(results: Sequence[Result]) -> tuple[Variation, ...]:
    found = []
    for key in (_BASELINE, *(Key(_CHUNK, codec, operation) for codec in _CODECS for operation in _OPERATIONS)):
        left_ns, right_ns = [], []
        for number, result in enumerate(results):
            cell = result.cell(*key)
            # One figure alone belongs to no pair: its twin's worker was lost.
            if cell is None or cell.cost is None or len(cell.cost.process_p10_ns) != 2:
                continue
            first_ns, second_ns = cell.cost.process_p10_ns
            left_ns.append(second_ns if number % 2 else first_ns)
            right_ns.append(first_ns if number % 2 else second_ns)
        if len(left_ns) >= _LEAST_PAIRS:
            found.append(variation_of(key, left_ns, right_ns))
    if not found:
        raise MeasureError(f"no cell was measured in {_LEAST_PAIRS} pairs of processes; does zcser compare run here?")
    return tuple(found)


def _evidence(
    pin: Pin | None,
    load: float | None,
    seen: Disturbance,
    counters: MachineCounters,
    noise: Sequence[ProcessNoise],
    *,
    wall_s: float,
) -> Evidence:
    slow = [process.slow_share for process in noise if process.slow_share is not None]
    dirty = [process.dirty_share for process in noise if process.dirty_share is not None]
    wanted_ticks = (counters.busy_ticks or 0) + (counters.steal_ticks or 0)
    return Evidence(
        **asdict(tuning()),
        clock=clock.source(),
        pinned=None if pin is None else pin.cpus,
        quota_cores=quota_cores(),
        throttled_periods=seen.throttled_periods,
        throttled_share=None if seen.throttled_us is None else seen.throttled_us / 1e6 / wall_s,
        stalled_share=None if seen.stalled_us is None else seen.stalled_us / 1e6 / wall_s,
        steal_share=counters.steal_ticks / wanted_ticks if counters.steal_ticks is not None and wanted_ticks else None,
        slow_share=statistics.fmean(slow) if slow else None,
        preempted_share=statistics.fmean(dirty) if dirty else None,
        swapped_pages=counters.swapped_pages,
        load=load,
    )
