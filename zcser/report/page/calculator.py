"""The calculator: the controls of a profile, and the measured figures that scripts score by the formulas of `zcser.decide`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zcser.decide.figures import COMPRESSIONS
from zcser.decide.formulas import as_json, profile_as_json
from zcser.decide.profiles import PROFILES, Profile
from zcser.measure.result import Result
from zcser.report.markup import Html, plain_name, tag
from zcser.report.page.tables import scrolling

__all__ = ["calculator_data", "calculator_form"]

STEPS = 120

SLIDERS: dict[str, tuple[str, float, float, bool, bool]] = {
    "reads_per_write": ("reads per message written", 1e-3, 1e3, False, True),
    "writer_weight": ("weight of the writer's core time", 1e-2, 10, False, True),
    "reader_weight": ("weight of the readers' core time", 1e-2, 10, False, True),
    "cpu_share": ("cores for serialization", 1e-2, 100, False, False),
    "bandwidth_out": ("bandwidth out", 1e5, 1e11, True, False),
    "bandwidth_in": ("bandwidth in", 1e5, 1e11, True, False),
    "p99_ns": ("p99 objective of one message", 1e3, 1e9, True, False),
    "messages_per_s": ("messages per second to carry", 1e1, 1e7, True, False),
}
"""Field of a profile to its words, least and most, and whether its end stands for none and its start for 0."""

TITLES = ("rank", "codec", "per message", "", "core time", "wire time", "bytes", "messages per s", "to know")


def calculator_data(runs: Sequence[tuple[str, Result]], profile: Profile) -> dict[str, Any]:
    """What the page's scripts compute from: the runs, and the profile to start with."""
    several = len(runs) > 1
    return {
        "profile": profile_as_json(profile),
        "runs": [
            {"label": plain_name(label) if several else "", "figures": _packed(as_json(result))}
            for label, result in runs
        ],
    }


def _packed(figures: dict[str, Any]) -> dict[str, Any]:
    """The same with each step and each reason once, and their numbers where they stood: half of the page would be repetition."""
    steps: dict[tuple[Any, ...], int] = {}
    reasons: dict[str, int] = {}
    keys: list[str] = []
    for payload in figures["payloads"].values():
        for candidate in payload["candidates"]:
            for kind in ("steps", "trusting"):
                for task, step in candidate[kind].items():
                    keys = list(step)
                    values = tuple(tuple(value) if isinstance(value, list) else value for value in step.values())
                    candidate[kind][task] = steps.setdefault(values, len(steps))
            for task, reason in candidate["missing"].items():
                candidate["missing"][task] = reasons.setdefault(reason, len(reasons))
    return {**figures, "keys": keys, "steps": list(steps), "reasons": list(reasons)}


def calculator_form(profile: Profile) -> Html:
    """The controls and the place of the ranking; hidden until scripts fill it."""
    profiles = [
        tag(
            "label",
            tag("input", type="radio", name="profile", value=name, checked=name == profile.name),
            name,
        )
        for name in PROFILES
    ]
    form = tag(
        "form",
        tag("label", "Payload ", tag("select", name="choice")),
        tag("fieldset", tag("legend", "Profile"), profiles, class_="row"),
        tag("p", class_="sub", data_part="doc"),
        tag("div", _tasks(), [_slider(name) for name in SLIDERS], class_="controls"),
        tag("p", class_="verdict", data_part="sentence"),
        tag("p", role="status", class_="visually-hidden", data_part="spoken"),
        tag("p", class_="sub", data_part="note"),
        tag("p", "The same in a terminal: ", tag("code", data_part="command"), class_="sub"),
        _ranking(),
        tag("p", "Out", class_="label", data_part="outs-label"),
        tag("ul", class_="problems", data_part="outs"),
        class_="calculator",
        hidden=True,
    )
    without = tag(
        "noscript", tag("p", "The calculator needs scripts; every figure that it uses is in the tables below.")
    )
    return Html(without + form)


def _tasks() -> list[Html]:
    compressions = [tag("option", name, value=name) for name in ("none", *COMPRESSIONS)]
    return [
        tag("label", "written by ", tag("select", name="write")),
        tag("label", "read by ", tag("select", name="read")),
        tag("label", "compression ", tag("select", compressions, name="compression")),
        tag("label", tag("input", type="checkbox", name="unvalidated"), "bytes may be taken on trust"),
    ]


def _slider(name: str) -> Html:
    title, low, high, ends_in_none, starts_at_zero = SLIDERS[name]
    slider = tag(
        "input",
        type="range",
        name=name,
        min=0,
        max=STEPS + ends_in_none,
        step=1,
        data_low=f"{low:g}",
        data_high=f"{high:g}",
        data_none=ends_in_none,
        data_zero=starts_at_zero,
    )
    return tag("label", tag("span", f"{title}: ", tag("output", data_part=f"{name}-text")), slider, class_="slider")


def _ranking() -> Html:
    heads = [
        tag("th", title or tag("span", "share of the slowest", class_="visually-hidden"), scope="col")
        for title in TITLES
    ]
    table = tag(
        "table",
        tag("caption", "Ranking by time per message, core time over the cores plus time on the wire; less is better"),
        tag("thead", tag("tr", heads)),
        tag("tbody", data_part="rows"),
        class_="figures ranking",
    )
    return scrolling("ranking", "ranking", table)
