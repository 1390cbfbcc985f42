"""A diff as a document for the exporters: what changed, how each rule fared, and what could not be told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from zcser.core.units import bytes_text, duration_text, number_text
from zcser.gate.diff import Diff, Key
from zcser.gate.judge import ALPHA, FLOOR, MIN_PROCESSES, Judgement
from zcser.gate.sentence import change_text, sentence
from zcser.report.model import NOT_TAKEN, Column, Document, Emphasis, Entry, Section, Table, one_line

__all__ = ["diff_document"]

_WORDS: dict[str, tuple[str, Emphasis]] = {
    "regressed": ("regressed", "bad"),
    "improved": ("improved", "best"),
    "unknown": ("cannot tell", "muted"),
}
_UNITS: dict[str, Callable[[float], str]] = {"ns": duration_text, "allocs": number_text, "gc": number_text}
_NAMED = 4
"""Cells that a line about many of them names."""


def diff_document(diff: Diff, old_name: str, new_name: str) -> Document:
    """The report of a diff between two files of these names."""
    changes, rules = _changes(diff), _rules(diff)
    sections = [Section("Changes", "", (changes,))] if changes is not None else []
    sections.append(Section("Rules", "", (rules,), tuple(_problems(diff)), tuple(_other_cells(diff))))
    return Document(
        title=one_line(f"zcser diff: {old_name} against {new_name}"),
        sections=tuple(sections),
        baselines=None,
        legend=tuple(_legend(diff)),
        notices=tuple(map(one_line, _notices(diff))),
        verdict=one_line(sentence(diff)),
    )


def _name(key: Key) -> str:
    return one_line(" ".join(key))


def _changes(diff: Diff) -> Table | None:
    """Everything beyond its rule, regressions first; None where nothing is."""
    shown = [one for verdict in ("regressed", "improved", "unknown") for one in diff.of(verdict) if one.old is not None]
    if not shown:
        return None
    titles = ("metric", "old", "new", "change", "95% interval", "p", "verdict")
    columns = (Column("cell", align="left"), *map(Column, titles))
    return Table("", columns, tuple(map(_row, shown)))


def _row(one: Judgement) -> tuple[Entry, ...]:
    word, emphasis = _WORDS[one.verdict]
    interval = (
        None if one.low is None or one.high is None else f"{100 * (one.low - 1):+.1f} to {100 * (one.high - 1):+.1f}%"
    )
    return (
        Entry(_name(one.key)),
        Entry(one.rule.metric.name),
        _figure(one, one.old),
        _figure(one, one.new),
        Entry(change_text(one) or "from 0"),
        Entry("exact", emphasis="muted") if interval is None else Entry(interval),
        Entry("-" if one.p is None else _p_text(one.p), emphasis="muted"),
        Entry(word, emphasis=emphasis),
    )


def _figure(one: Judgement, value: float | None) -> Entry:
    if value is None:
        return NOT_TAKEN
    metric = one.rule.metric
    return Entry(_UNITS.get(metric.unit, _UNITS.get(metric.name, bytes_text))(value))


def _p_text(p: float) -> str:
    return "<0.0001" if p < 0.0001 else f"{p:.2g}"


def _rules(diff: Diff) -> Table:
    titles = ("cells", "regressed", "improved", "held", "cannot tell", "refused")
    columns = (Column("rule", align="left"), *map(Column, titles))
    return Table("", columns, tuple(_rule_row(diff, text) for text in (rule.text for rule in diff.rules)))


def _rule_row(diff: Diff, text: str) -> tuple[Entry, ...]:
    verdicts = [one.verdict for one in diff.judgements if one.rule.text == text]
    counts = [verdicts.count(name) for name in ("regressed", "improved", "same", "unknown", "refused")]
    emphases: tuple[Emphasis, ...] = ("bad", "best", "plain", "plain", "plain")
    return (
        Entry(text),
        Entry(str(len(verdicts))),
        *(
            Entry(str(count), emphasis=emphasis if count else "muted")
            for count, emphasis in zip(counts, emphases, strict=True)
        ),
    )


def _problems(diff: Diff) -> Iterator[str]:
    """Why something cannot be told or was refused, one line for each reason of a rule."""
    groups: dict[tuple[str, str, str], list[Key]] = {}
    for one in diff.of("unknown", "refused"):
        word = "cannot tell" if one.verdict == "unknown" else "refused"
        groups.setdefault((word, one.rule.text, one.reason or ""), []).append(one.key)
    for (word, rule, reason), keys in groups.items():
        yield f"{word}, {rule}: {one_line(reason)} ({_listed(keys)})"


def _other_cells(diff: Diff) -> Iterator[str]:
    for word, cells in (("gone", diff.gone), ("new", diff.added)):
        groups: dict[str, list[Key]] = {}
        for key, reason in cells:
            groups.setdefault(reason, []).append(key)
        for reason, keys in groups.items():
            yield f"{word}, {one_line(reason)}: {_listed(keys)}"


def _listed(keys: Sequence[Key]) -> str:
    names = ", ".join(map(_name, keys[:_NAMED]))
    return names if len(keys) <= _NAMED else f"{names} and {len(keys) - _NAMED} more"


def _notices(diff: Diff) -> Iterable[str]:
    if diff.drift is not None and abs(diff.drift - 1) >= 0.01:
        slower = diff.drift > 1
        percent = 100 * ((diff.drift if slower else 1 / diff.drift) - 1)
        yield (
            f"the baselines, which no change of yours touches, were {percent:.1f}% {'slower' if slower else 'faster'} in the "
            f"new file: {'slower' if slower else 'faster'} cells are judged without that"
        )
    yield from diff.notices


def _legend(diff: Diff) -> Iterator[tuple[str, str]]:
    kinds = {rule.metric.kind for rule in diff.rules}
    if "time" in kinds:
        test = f"Welch's t test on trimmed logarithms gives p <= {ALPHA:g} after Holm's correction over all cells"
        yield (
            "times",
            f"geometric means over processes; changed: by more than the rule and {100 * FLOOR:g}%, where {test}",
        )
        yield "p", "chance of such a change in any cell of the diff where nothing changed"
        yield "95% interval", "of the ratio of new to old, for the cell by itself"
    if "memory" in kinds:
        yield "allocs, bytes", "Python's and, where counted, native ones together, exact"
    if "collections" in kinds:
        yield "gc", "collections per 1000 operations, results discarded"
    if "size" in kinds:
        yield "size", "median bytes on the wire, exact"
    yield "cannot tell", f"the reason is below; times need {MIN_PROCESSES} processes a side"
    yield "refused", "the two figures are not of the same kind"
