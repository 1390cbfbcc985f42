"""How often `zcser diff` cries wolf, and how often it sees a true +5%: whole diffs, resampled from one long run.

1. A trial is one whole diff with all cells of the run. Its two sides are disjoint halves of the run's processes, drawn at
   random; where the run has too few processes for that they are drawn with replacement.
2. Cells of one codec that have a figure of every process share the draw, as they shared the processes: what disturbed one
   of them disturbed the others.
3. Nothing differs between the sides, so that each regression is a false alarm. For the power the new side's figures of one
   cell, another one in each trial, are made 5% slower.
4. A random draw evens out what drifts during a run. Stretches of consecutive processes keep it: all pairs of them are
   compared too, and counted apart.
5. Several results are also compared as they are, two by two: real runs, one after the other, in which nothing differs.

Run: ``python benchmarks/gate_study.py RESULT.json ... [--trials 500] [--processes 12]``; several results are pooled, as if
they were one run.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from zcser.core.errors import ZcserError
from zcser.gate.diff import Diff, GateError, diff
from zcser.gate.judge import MIN_PROCESSES
from zcser.gate.rules import parse_rules
from zcser.gate.stats import incomplete_beta
from zcser.measure.baseline import CODEC as BASELINE
from zcser.measure.result import Cell, Result, load_result

RULES = parse_rules(["p10>3%"])
INJECTED = 1.05

Draw = Callable[[str, int], Sequence[int]]
"""From a codec and a cell's number of processes to the numbers of those to take."""


def upper_bound(hits: int, trials: int) -> float:
    """The upper end of the one-sided 95% interval of a share, by Clopper and Pearson (Biometrika 26, 1934)."""
    if hits == trials:
        return 1.0
    low, high = hits / trials, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if incomplete_beta(hits + 1, trials - hits, middle) < 0.95 else (low, middle)
    return high


def pooled(results: Sequence[Result]) -> Result:
    """One result with the processes of all, of the cells that all of them have."""
    first, *others = results
    cells = []
    for cell in first.cells:
        costs = [found.cost for found in (one.cell(*cell_key(cell)) for one in others) if found is not None]
        if cell.cost is None or len(costs) < len(others) or None in costs:
            continue
        all_costs = [cost for cost in (cell.cost, *costs) if cost is not None]
        figures_ns = itertools.chain.from_iterable(cost.process_p10_ns for cost in all_costs)
        undisturbed = itertools.chain.from_iterable(cost.undisturbed for cost in all_costs)
        cost = replace(cell.cost, process_p10_ns=tuple(figures_ns), undisturbed=tuple(undisturbed))
        cells.append(replace(cell, cost=cost))
    rounds = sum(one.settings.rounds for one in results)
    return replace(first, cells=tuple(cells), settings=replace(first.settings, rounds=rounds))


def cell_key(cell: Cell) -> tuple[str, str, str]:
    """What a cell is found by."""
    return cell.payload, cell.codec, cell.operation


def taken(result: Result, draw: Draw) -> Result:
    """The result as if only some of its processes had been measured."""
    return replace(result, cells=tuple(_taken(cell, draw) for cell in result.cells))


def _taken(cell: Cell, draw: Draw) -> Cell:
    if cell.cost is None:
        return cell
    numbers = draw(cell.codec, len(cell.cost.process_p10_ns))
    figures_ns = tuple(cell.cost.process_p10_ns[number] for number in numbers)
    undisturbed = tuple(cell.cost.undisturbed[number] for number in numbers) if cell.cost.undisturbed else ()
    return replace(cell, cost=replace(cell.cost, process_p10_ns=figures_ns, undisturbed=undisturbed))


def random_halves(result: Result, processes: int, rng: random.Random) -> tuple[Result, Result]:
    """Two sides of `processes` each, disjoint where the run has enough."""
    draws: dict[tuple[str, int], list[int]] = {}

    def drawn(codec: str, count: int) -> list[int]:
        if (codec, count) not in draws:
            wanted = 2 * processes
            numbers = range(count)
            draws[codec, count] = rng.sample(numbers, wanted) if count >= wanted else rng.choices(numbers, k=wanted)
        return draws[codec, count]

    return (
        taken(result, lambda codec, count: drawn(codec, count)[:processes]),
        taken(result, lambda codec, count: drawn(codec, count)[processes:]),
    )


def stretches(result: Result, processes: int) -> Iterator[tuple[Result, Result]]:
    """All pairs of stretches of consecutive processes, of cells that have a figure of every one."""
    whole = result.settings.rounds
    starts = range(0, whole - processes + 1, processes)
    full = [cell for cell in result.cells if cell.cost is not None and len(cell.cost.process_p10_ns) == whole]
    parts = [
        taken(replace(result, cells=tuple(full)), lambda _, __, start=start: range(start, start + processes))
        for start in starts
    ]
    yield from itertools.combinations(parts, 2)


def slowed(result: Result, key: tuple[str, str, str]) -> Result:
    """The result with one cell 5% slower."""
    cells = []
    for cell in result.cells:
        if cell_key(cell) == key and cell.cost is not None:
            figures = tuple(INJECTED * figure for figure in cell.cost.process_p10_ns)
            cells.append(replace(cell, cost=replace(cell.cost, process_p10_ns=figures)))
        else:
            cells.append(cell)
    return replace(result, cells=tuple(cells))


@dataclass(frozen=True)
class Study:
    """What was found: diffs with a false regression or improvement, and trials in which the true +5% was seen."""

    trials: int
    cells: int
    alarms: int
    improvements: int
    seen: int
    in_order: int
    in_order_alarms: int


def study(result: Result, *, trials: int, processes: int, seed: int) -> Study:
    """Make the trials."""
    rng = random.Random(seed)  # noqa: S311 - a resampling, no secret
    enough = [
        cell_key(cell)
        for cell in result.cells
        if cell.cost is not None and cell.codec != BASELINE and len(cell.cost.process_p10_ns) >= processes
    ]
    candidates = sorted({one.key for one in diff(result, result, RULES).of("same")} & set(enough))
    if not candidates:
        raise GateError(f"no cell of the run has {processes} processes")
    alarms = improvements = seen = 0
    for _ in range(trials):
        old, new = random_halves(result, processes, rng)
        found = diff(old, new, RULES)
        alarms += bool(found.of("regressed"))
        improvements += bool(found.of("improved"))
        key = rng.choice(candidates)
        seen += _sees(diff(old, slowed(new, key), RULES), key)
    ordered = [diff(old, new, RULES) for old, new in stretches(result, processes)]
    return Study(
        trials, len(candidates), alarms, improvements, seen, len(ordered), sum(one.exit_code == 1 for one in ordered)
    )


def _sees(found: Diff, key: tuple[str, str, str]) -> bool:
    return any(one.key == key for one in found.of("regressed"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="of long runs: twice --processes for each codec together, or more")
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("--processes", type=int, default=12, help="a side; the preset full has 12")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.processes < MIN_PROCESSES or arguments.trials < 1:
        parser.error(f"--processes is at least {MIN_PROCESSES}, --trials at least 1")
    try:
        results = [load_result(one) for one in arguments.results]
        result = pooled(results)
        whole = [diff(old, new, RULES) for old, new in itertools.combinations(results, 2)]
        found = study(result, trials=arguments.trials, processes=arguments.processes, seed=arguments.seed)
    except ZcserError as error:
        parser.error(str(error))
    bound = upper_bound(found.alarms, found.trials)
    print("| figure | found | goal |\n|:---|---:|---:|")
    print(f"| A/A diffs of {found.cells} cells, {arguments.processes} processes a side | {found.trials} | 500 |")
    print(f"| with a false regression | {found.alarms} ({100 * found.alarms / found.trials:.1f}%) | |")
    print(f"| upper 95% bound of that | {100 * bound:.1f}% | < 5% |")
    print(f"| with a false improvement | {found.improvements} ({100 * found.improvements / found.trials:.1f}%) | |")
    print(f"| true +5% in one cell seen | {100 * found.seen / found.trials:.1f}% | >= 90% |")
    print(f"| stretches of the run in order, with a false regression | {found.in_order_alarms} of {found.in_order} | |")
    whole_alarms = sum(one.exit_code == 1 for one in whole)
    print(f"| whole runs two by two, with a false regression | {whole_alarms} of {len(whole)} | |")


if __name__ == "__main__":
    main()
