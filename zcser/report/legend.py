"""What the reader must know to read the figures: marks, timed boundaries, the method, the machine and its noise.

Only what the shown tables use is explained; the words about the method are the result's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from zcser.core.units import bytes_text, number_text
from zcser.measure.env import python_name
from zcser.measure.result import Result
from zcser.report.cells import flag_mark, flag_text
from zcser.report.group_tables import GROUP_TITLES, MEMORY_TITLE
from zcser.report.model import ABSENT, NOT_TAKEN, Table, one_line
from zcser.report.tables import HOLDING, TITLES

__all__ = ["legend_of", "machine_lines"]

Line = tuple[str, str]
"""A term and what it means."""


def legend_of(result: Result, tables: Sequence[Table]) -> tuple[Line, ...]:
    """The legend of some tables of a result; a symbol that none of them uses is not explained."""
    method = result.method
    shown = {column.title for table in tables for column in table.columns}
    lines = [*_symbols(tables), *_flags(flag for cell in result.cells for flag in cell.flags)]
    for operation, title in {**TITLES, **GROUP_TITLES}.items():
        if title in shown and operation in method.boundaries:
            lines.append((title, method.boundaries[operation]))
    lines.append(("cost", method.cost))
    # Some columns share a line.
    lines += dict.fromkeys(line for column, line in _beside(result).items() if column in shown)
    lines.append(("timer", f"{method.timer}; {method.freeing}; collector: {method.gc}"))
    lines += machine_lines(result)
    return tuple((term, one_line(text)) for term, text in lines if text)


def _beside(result: Result) -> dict[str, Line]:
    """Terms of the columns that are not costs, by a column that they come with."""
    method = result.method
    holds = (
        "holds",
        "bytes kept alive while the view or the array is in use: the message, and what the library holds itself",
    )
    return {
        **dict.fromkeys(HOLDING.values(), holds),
        MEMORY_TITLE: (
            MEMORY_TITLE,
            "what keeping one more decoded message takes: the sizes of all objects that it alone reaches, and of their arrays",
        ),
        "p99 enc": ("p99 enc, p99 dec", method.latency),
        "enc p50": ("p50 to max", method.latency),
        "GC/1k dec": ("GC/1k dec", "garbage collections per 1000 decodes, all generations"),
        "enc p99.9 no GC": ("p99.9 no GC", "of the calls that no pause of the collector began in"),
        "enc kept GC": (
            "kept",
            "a pass in which every result is kept until the last call; kept GC: share of its time that the collector took",
        ),
        "allocs dec": (
            "allocs enc, allocs dec",
            f"allocations of a call: through Python's allocators + through malloc; {method.allocations}",
        ),
        "alloc bytes dec": ("alloc bytes enc, alloc bytes dec", "bytes that these allocations ask for, all together"),
        "decode fresh malloc": (
            "fresh malloc",
            "the cost where malloc maps each block of 128 KiB and more anew, in processes of their own",
        ),
        "peak dec": ("peak enc, peak dec", f"memory at its highest during a call; {method.allocations}"),
        "blocks": ("blocks", "small-object blocks that a kept decoded result holds"),
    }


def _symbols(tables: Sequence[Table]) -> Iterator[Line]:
    entries = [entry for table in tables for row in table.rows for entry in row[1:]]
    ratios = {entry.ratio for entry in entries}
    texts = {entry.text for entry in entries}
    yield "rows", "by encode + decode, fastest first; codecs that lack one of the two come below"
    if "best" in ratios:
        yield "best", "lowest of its column, and told apart from all others"
    if "tie" in ratios:
        yield "tie", "not told apart from the lowest: their ranges over processes overlap, or they are within 3%"
    if any(ratio.endswith("x") for ratio in ratios):
        yield "1.9x", "times the lowest of its column"
    if ABSENT.text in texts:
        yield ABSENT.text, "the codec has no such operation"
    if NOT_TAKEN.text in texts:
        yield NOT_TAKEN.text, "not taken, or fewer than 10 samples above the percentile"
    words = texts | ratios
    if "alias" in words:
        yield (
            "alias",
            "arrays and bytes of the result lie in the memory that went in, proved by address and by changing it",
        )
    if "copy" in words:
        yield "copy", "some of these, or all, are copies"
    if any(text.startswith("~") for text in texts):
        yield "~", "fewer than 100 samples above the percentile"
    if any(text.startswith("≥") for text in texts):
        yield "≥", "a lower bound: the library also allocates where the counter is blind"


def _flags(flags: Iterable[str]) -> Iterator[Line]:
    seen: dict[str, list[str]] = {}
    for flag in dict.fromkeys(flags):
        mark, text = flag_mark(flag), flag_text(flag)
        if mark and text not in seen.setdefault(mark, []):
            seen[mark].append(text)
    for mark, texts in seen.items():
        yield mark, "; ".join(texts)


def machine_lines(result: Result) -> Iterator[Line]:
    """The run, the machine, the software and the noise."""
    env, settings = result.environment, result.settings
    heap = f", {settings.live_objects:,} live objects for the collector to scan" if settings.live_objects else ""
    yield (
        "run",
        (
            f"{one_line(result.tool.name)} {one_line(result.tool.version)}, {one_line(result.created)}, {result.preset}: "
            f"{settings.rounds} fresh processes a codec, {number_text(result.measuring_s)} s measuring, "
            f"{number_text(result.wall_s)} s in all{heap}"
        ),
    )
    quota = "" if env.quota_cores is None else f" (quota {number_text(env.quota_cores)})"
    pin = "" if env.pin is None else f", pinned to CPU {env.pin.get('cpus', '?')}"
    if env.pin is not None and "numa_node" in env.pin:
        pin += f" of NUMA node {env.pin['numa_node']}, memory {env.pin.get('memory', 'unknown')}"
    memory = "" if env.memory_bytes is None else f", {bytes_text(env.memory_bytes)}"
    governor = "" if env.governor is None else f", governor {env.governor}"
    yield (
        "machine",
        one_line(
            f"{env.cpu}, {env.cores} core{'s' * (env.cores != 1)}{quota}{memory}{governor}{pin}; {env.kernel}, {env.libc}; "
            f"clock {env.clock}, steps of {env.clock_lattice_ns} ns"
        ),
    )
    libraries = (f"numpy {what}" if name == "numpy" else what for name, what in env.libraries.items())
    yield "software", ", ".join([python_name(env.python), *dict.fromkeys(libraries)])
    if result.noise:
        yield "noise", _noise(result)


def _noise(result: Result) -> str:
    noise = result.noise
    shares = [process.dirty_share for process in noise if process.dirty_share is not None]
    stalled = [process.stalled_us for process in noise if process.stalled_us is not None]
    throttled = [process.throttled_us for process in noise if process.throttled_us is not None]
    slow = [process.slow_share for process in noise if process.slow_share is not None]
    waited_s = sum(process.waited_s or 0 for process in noise)
    periods = [process.throttled_periods for process in noise if process.throttled_periods is not None]
    facts = [
        f"{len(noise)} process{'es' * (len(noise) != 1)}, preempted {sum(process.involuntary_switches for process in noise):,} times",
        f"the core below its full speed in {100 * sum(slow) / len(slow):.0f}% of readings, {number_text(waited_s)} s waited for it"
        if slow
        else "",
        f"{100 * sum(shares) / len(shares):.1f}% of batches left out of the cost for {'either' if slow else 'it'}"
        if shares
        else "",
        f"tasks of this machine waited for a CPU {number_text(sum(stalled) / 1e6)} s" if stalled else "",
        f"throttled {number_text(sum(throttled) / 1e6)} s in {sum(periods)} periods of the quota"
        if any(throttled)
        else "",
    ]
    return "; ".join(fact for fact in facts if fact)
