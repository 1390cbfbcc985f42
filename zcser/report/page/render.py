"""The page as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import Template

from zcser.decide.profiles import PROFILES, Profile
from zcser.measure.result import Result
from zcser.report.charts.files import picture_style
from zcser.report.comparison import comparison_document
from zcser.report.document import document_of, payload_names
from zcser.report.legend import legend_of, machine_lines
from zcser.report.markup import Child, Html, join, name, plain_name, tag
from zcser.report.model import Document, Table, one_line
from zcser.report.page.calculator import calculator_data, calculator_form
from zcser.report.page.comparison import comparison
from zcser.report.page.decision import RunDecision
from zcser.report.page.embed import asset, json_block, policy
from zcser.report.page.evolution import evolution_section
from zcser.report.page.payload import PayloadPart, payload_section
from zcser.report.page.run import environment_section
from zcser.report.page.tables import sentence_here
from zcser.report.page.tools import tools_bar

__all__ = ["Run", "page"]

SCRIPTS = ("tables.js", "formulas.js", "texts.js", "sentence.js", "calculator.js")


@dataclass(frozen=True, slots=True)
class Run:
    """A result and the name that the page calls it by, such as that of its file."""

    label: str
    result: Result


def page(runs: Sequence[Run], profile: Profile = PROFILES["server"]) -> str:
    """The page of one run, or of several beside each other.

    Parameters
    ----------
    runs
        At least one. What the results say is shown as text, whatever it is.
    profile
        What the verdict is by, and what the calculator starts with.
    """
    style = picture_style() + asset("page.css")
    # One script of its own scope: names of the assets reach nothing else.
    script = "".join(('"use strict";\n{\n', *map(asset, SCRIPTS), "}\n"))
    parts = [_RunPart(number, run, profile) for number, run in enumerate(runs)]
    calculator = _section("calculator", "Your own service", calculator_form(profile))
    labelled = [(plain_name(run.label), run.result) for run in runs]
    several = (
        [_section("comparison", "The runs compared", comparison(comparison_document(labelled)))]
        if len(runs) > 1
        else []
    )
    sections = [*_verdict(parts), *several, calculator, *_figures(parts), *_circumstances(parts)]
    title = parts[0].document.title if len(parts) == 1 else f"zcser report: {len(parts)} runs compared"
    return Template(asset("page.html")).substitute(
        policy=policy([style], [script]),
        title=join(title),
        subtitle=join(_subtitle(parts)),
        style=style,
        contents=_contents(sections),
        main=join([html for _, _, html in sections]),
        footer=join("Made by zcser from raw results alone; nothing was loaded from anywhere to show it."),
        data=json_block("figures", calculator_data([(run.label, run.result) for run in runs], profile)),
        script=script,
    )


class _RunPart:
    """What the sections of one run are made of."""

    def __init__(self, number: int, run: Run, profile: Profile) -> None:
        self.label = run.label
        self.result = run.result
        self.identifier = f"r{number}"
        self.document: Document = document_of(run.result, ledger=False, latency=False)
        fused = frozenset(codec.name for codec in run.result.codecs if codec.fused)
        self.decision = RunDecision(run.result, profile)
        self.payloads = [
            PayloadPart(f"{self.identifier}p{place}", run.result, payload, section, fused, self.decision)
            for place, (payload, section) in enumerate(
                zip(payload_names(run.result), self.document.sections, strict=True)
            )
        ]

    def tables(self) -> list[Table]:
        return [table for part in self.payloads for table in part.tables.values()]


Titled = tuple[str, str, Html]
"""Identifier, title in the contents, and the section."""


def _subtitle(parts: Sequence[_RunPart]) -> str:
    return "; ".join(
        f"{plain_name(part.label)}: {part.result.environment.cpu}, {part.result.created}"[:200] for part in parts
    )


def _contents(sections: Sequence[Titled]) -> Html:
    return tag(
        "ul", [tag("li", tag("a", name(title), href=f"#{identifier}")) for identifier, title, _ in sections if title]
    )


def _section(identifier: str, title: str, *children: Child) -> Titled:
    heading = tag("h2", title, id=identifier)
    return identifier, title, tag("section", heading, *children, aria_labelledby=identifier)


def _verdict(parts: Sequence[_RunPart]) -> list[Titled]:
    content: list[Child] = []
    for part in parts:
        if len(parts) > 1:
            content.append(tag("h3", name(part.label)))
        content += [tag("p", notice, class_="notice") for notice in part.document.notices]
        own, *others = part.decision.summaries() or [""]
        content += [tag("p", text, class_="verdict") for text in (own, sentence_here(part.document.verdict)) if text]
        content += [tag("ul", [tag("li", text) for text in others]) if others else None]
        content.append(part.decision.winners(part.identifier))
    content.append(parts[0].decision.terms())
    return [_section("verdict", "Verdict", content)]


def _figures(parts: Sequence[_RunPart]) -> list[Titled]:
    sections: list[Titled] = [("", "", tools_bar(part for run in parts for part in run.payloads))]
    for run in parts:
        if len(parts) > 1:
            sections.append((run.identifier, run.label, tag("h2", name(run.label), id=run.identifier)))
        crossing = list(run.decision.sweeps(run.identifier))
        if crossing:
            sections.append(_section(f"{run.identifier}-sizes", f"Cost over size{_suffix(run, parts)}", crossing))
        for part in run.payloads:
            made = payload_section(part, 2 if len(parts) == 1 else 3)
            sections.append((part.identifier, part.payload if len(parts) == 1 else "", made))
    return sections


def _suffix(run: _RunPart, parts: Sequence[_RunPart]) -> str:
    return f" of {plain_name(run.label)}" if len(parts) > 1 else ""


def _circumstances(parts: Sequence[_RunPart]) -> list[Titled]:
    sections = []
    for run in parts:
        suffix = _suffix(run, parts)
        sections.append(
            _section(
                f"{run.identifier}-environment",
                f"Environment and noise{suffix}",
                environment_section(run.result, run.identifier),
            )
        )
    shown = {record.name for run in parts for record in run.result.codecs}
    sections.append(_section("evolution", "When a schema changes", evolution_section(shown)))
    lines = [line for run in parts for line in _legend(run)]
    terms = [(tag("dt", term), tag("dd", text)) for term, text in dict.fromkeys(lines)]
    sections.append(_section("legend", "Legend", tag("dl", terms, class_="legend")))
    return sections


def _legend(run: _RunPart) -> list[tuple[str, str]]:
    """The legend of a run, without what is said of its machine in a section of its own; every operation's boundary is in it."""
    machine = set(machine_lines(run.result))
    lines = [line for line in legend_of(run.result, run.tables()) if line not in machine]
    told = {text for _, text in lines}
    for operation in dict.fromkeys(cell.operation for cell in run.result.cells):
        boundary = one_line(run.result.method.boundaries.get(operation, ""))
        if boundary and boundary not in told:
            lines.append((operation, boundary))
    return lines
