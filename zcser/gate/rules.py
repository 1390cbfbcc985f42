"""The rules of a gate: how much worse which figure may get.

1. ``rule = METRIC ">" NUMBER ["%"]``, blanks allowed between the parts: ``p10>5%``, ``allocs > 0``, ``size>16``.
2. METRIC is one of `METRICS` or an alias of one. NUMBER is decimal digits with at most one point.
3. With ``%`` the limit is a share of the old figure; without, it is in the metric's own unit (`Metric.unit`).
4. A metric has one rule: of two limits on the same figure one would say nothing.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from zcser.core.errors import ZcserError
from zcser.core.words import brief

__all__ = ["ALIASES", "DEFAULT_RULES", "METRICS", "Metric", "Rule", "RuleError", "parse_rule", "parse_rules"]

_RULE = re.compile(r"\s*(?P<metric>[\w.-]+)\s*>\s*(?P<limit>\d+(?:\.\d*)?|\.\d+)\s*(?P<percent>%?)\s*", re.ASCII)


class RuleError(ZcserError, ValueError):
    """A rule cannot be read; the message says what to write instead."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure that a rule may limit.

    Attributes
    ----------
    kind
        "time": varies from process to process, and is tested; "memory": counted exactly; "collections": counted, but
        where a run begins and ends matters; "size": exact.
    unit
        Of a limit without ``%``.
    """

    name: str
    kind: Literal["time", "memory", "collections", "size"]
    unit: str


METRICS = {
    metric.name: metric
    for metric in (
        Metric("p10", "time", "ns"),
        Metric("p50", "time", "ns"),
        Metric("p90", "time", "ns"),
        Metric("p99", "time", "ns"),
        Metric("p999", "time", "ns"),
        Metric("allocs", "memory", "allocations per operation"),
        Metric("bytes", "memory", "bytes allocated per operation"),
        Metric("gc", "collections", "collections per 1000 operations"),
        Metric("size", "size", "bytes on the wire"),
    )
}

ALIASES = {"cost": "p10"}

DEFAULT_RULES = ("p10>3%", "allocs>0", "size>0")
"""What is asked where nothing is said."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A limit on one metric; `text` is the rule in its shortest form."""

    metric: Metric
    limit: float
    percent: bool

    @property
    def text(self) -> str:
        """The rule as it is shown."""
        return f"{self.metric.name}>{self.limit:.12g}{'%' if self.percent else ''}"

    def exceeded(self, low: float, high: float) -> bool:
        """Whether `high` is more than `low` by more than the limit."""
        # In this form 0% of equal figures is exactly nothing.
        return high - low > (low * self.limit / 100 if self.percent else self.limit)


def parse_rule(text: str) -> Rule:
    """Read one rule.

    Raises
    ------
    RuleError
        It does not follow the grammar, or names no metric; near names are offered.
    """
    found = _RULE.fullmatch(text)
    if found is None:
        raise RuleError(f"{brief(text)} is not a rule; write METRIC>NUMBER or METRIC>NUMBER%, such as 'p10>5%'")
    name = found["metric"].lower()
    metric = METRICS.get(ALIASES.get(name, name))
    if metric is None:
        known = [*METRICS, *ALIASES]
        near = difflib.get_close_matches(name.replace(".", ""), known, n=2)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
        raise RuleError(f"{brief(text)}: there is no metric {brief(found['metric'])}; {hint}")
    limit = float(found["limit"])
    if not math.isfinite(limit):
        raise RuleError(f"{brief(text)}: the limit is out of range")
    return Rule(metric, limit, bool(found["percent"]))


def parse_rules(texts: Iterable[str]) -> tuple[Rule, ...]:
    """Read rules; the default ones where there are none.

    Raises
    ------
    RuleError
        One cannot be read, or two limit the same metric.
    """
    rules = tuple(map(parse_rule, tuple(texts) or DEFAULT_RULES))
    seen: dict[str, Rule] = {}
    for rule in rules:
        other = seen.setdefault(rule.metric.name, rule)
        if other is not rule:
            raise RuleError(f"two rules limit {rule.metric.name}, {other.text} and {rule.text}; leave one out")
    return rules
