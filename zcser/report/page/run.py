"""Where and how a run was measured: machine, software, settings, noise, and the floors that no codec can beat."""

from __future__ import annotations

from collections.abc import Iterator

from zcser.core.units import number_text
from zcser.measure.result import Result
from zcser.report.legend import machine_lines
from zcser.report.markup import Child, Html, name, tag
from zcser.report.page.tables import figures, simple
from zcser.report.tables import baseline_table

__all__ = ["environment_section"]


def environment_section(result: Result, key: str) -> Iterator[Html]:
    """What follows the heading of the section."""
    terms = [(tag("dt", term), tag("dd", text)) for term, text in machine_lines(result)]
    yield tag("dl", terms, class_="legend")
    baselines = baseline_table(result)
    if baselines is not None:
        yield figures(f"{key}-baselines", "Floors of this machine: what no codec can beat", baselines)
    if result.codecs:
        yield simple(f"{key}-codecs", "Codecs of this run", _CODECS, list(_codec_rows(result)), words=True)
    if result.payloads:
        rows = [
            (name(one.name), one.doc, one.source, f"{one.values:,}", ", ".join(one.fields), one.tensor or "-")
            for one in result.payloads
        ]
        yield simple(f"{key}-payloads", "Payloads of this run", _PAYLOADS, rows, words=True)
    if result.noise:
        yield simple(f"{key}-noise", "What disturbed each worker, by codec", _NOISE, list(_noise_rows(result)))


_CODECS = ("codec", "format", "wire", "library", "implementation", "fused", "validates", "needs trust", "keyless")
_PAYLOADS = ("payload", "what it is", "source", "distinct values", "fields of partial reads", "tensor")
_NOISE = (
    "codec",
    "processes",
    "involuntary switches",
    "batches left out",
    "core below full speed",
    "waited for it",
    "waited for a CPU",
    "throttled",
)


def _codec_rows(result: Result) -> Iterator[tuple[Child, ...]]:
    for one in result.codecs:
        facts = (one.fused, one.validates, one.trusted_only, one.keyless)
        yield (
            name(one.name),
            one.format,
            one.wire,
            f"{one.library} {one.version}",
            one.implementation,
            *("" if fact is None else "yes" if fact else "no" for fact in facts),
        )


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _share(values: list[float | None]) -> str:
    mean = _mean(values)
    return "n/a" if mean is None else f"{100 * mean:.1f}%"


def _seconds(values: list[float | None], unit: float) -> str:
    known = [value for value in values if value is not None]
    return f"{number_text(sum(known) * unit)} s" if known else "n/a"


def _noise_rows(result: Result) -> Iterator[tuple[Child, ...]]:
    for codec in dict.fromkeys(one.codec for one in result.noise):
        found = [one for one in result.noise if one.codec == codec]
        yield (
            name(codec),
            str(len(found)),
            f"{sum(one.involuntary_switches for one in found):,}",
            _share([one.dirty_share for one in found]),
            _share([one.slow_share for one in found]),
            _seconds([one.waited_s for one in found], 1),
            _seconds([one.stalled_us for one in found], 1e-6),
            _seconds([one.throttled_us for one in found], 1e-6),
        )
