"""One payload of one run as a section: sentence, costs, size, where the cost goes, latencies, memory."""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass

from zcser.measure.result import Result
from zcser.report.cells import Grid, grid_of
from zcser.report.charts.gallery import Exhibit, payload_exhibits
from zcser.report.group_tables import composite_table, further_table, partial_table, sizes_table
from zcser.report.markup import Child, Html, name, plain_name, tag
from zcser.report.model import Section, Table
from zcser.report.page.decision import RunDecision
from zcser.report.page.pictures import chart, charts
from zcser.report.page.tables import figures, sentence_here
from zcser.report.sentence import verdict
from zcser.report.tables import latency_table, ledger_table, main_table, memory_table

__all__ = ["PayloadPart", "payload_section", "sentence_of"]


@dataclass(frozen=True)
class PayloadPart:
    """What a section is made of.

    Attributes
    ----------
    identifier
        Beginning of the identifiers inside; unique on the page.
    fused
        Codecs without a ledger.
    decision
        Of the whole run.
    """

    identifier: str
    result: Result
    payload: str
    section: Section
    fused: frozenset[str]
    decision: RunDecision

    @property
    def grid(self) -> Grid:
        """The cells of the payload."""
        return grid_of(self.result, self.payload)

    @functools.cached_property
    def tables(self) -> dict[str, Table]:
        """All tables of the section, by the word that their identifiers end in; no empty one."""
        grid = self.grid
        record = next((record for record in self.result.payloads if record.name == self.payload), None)
        made = {
            "cost": main_table(grid),
            "further": further_table(grid),
            "composite": composite_table(grid),
            "partial": partial_table(grid, record),
            "sizes": sizes_table(grid),
            "ledger": ledger_table(grid, self.fused),
            "latency": latency_table(grid),
            "memory": memory_table(grid),
        }
        return {word: table for word, table in made.items() if table is not None}

    def exhibits(self) -> tuple[Exhibit, ...]:
        """All pictures of the section."""
        return tuple(payload_exhibits(self.grid, self.fused, self.decision.figures.get(self.payload)))


def sentence_of(result: Result, payload: str) -> str:
    """The verdict on one payload alone."""
    cells = tuple(cell for cell in result.cells if cell.payload == payload)
    return sentence_here(verdict(dataclasses.replace(result, cells=cells)))


def payload_section(part: PayloadPart, level: int = 2) -> Html:
    """The section; its heading is of `level`, those inside one deeper."""
    key, section, decision, exhibits = part.identifier, part.section, part.decision, part.exhibits()
    parts: list[Child] = [
        tag("p", section.subtitle, class_="sub") if section.subtitle else None,
        tag("p", sentence_of(part.result, part.payload), class_="sentence"),
        [tag("p", sentence, class_="sentence") for sentence in decision.sentences(part.payload)],
        _list("problems", "Without a figure", section.problems),
        _list("notes", "To know about these figures", section.notes),
    ]

    def block(slug: str, title: str, content: list[Child]) -> None:
        shown = [child for child in content if child]
        if shown:
            heading = tag(f"h{level + 1}", title, id=f"{key}-{slug}")
            parts.append(tag("section", heading, shown, aria_labelledby=f"{key}-{slug}", class_="block"))

    def table(word: str) -> Html | None:
        made = part.tables.get(word)
        if made is None:
            return None
        return figures(f"{key}-{word}-table", f"{part.payload}: {made.title or 'cost by codec and operation'}", made)

    def drawn(kind: str) -> list[Html]:
        return [chart(key, one) for one in exhibits if one.kind == kind]

    block("cost", "Cost of one operation", [table("cost"), table("composite"), table("further")])
    changes = tuple(decision.changes(part.payload))
    block(
        "changes", "How firm this is", [_list("notes", f"What would change who wins {decision.profile.name}", changes)]
    )
    block("fields", "Reading part of a message", [*drawn("fields"), decision.evens(part.payload), table("partial")])
    block("sizes", "Size", [table("sizes")])
    block("pareto", "Cost against size", [charts(drawn("pareto"))])
    block("ledger", "Where the cost goes", [charts(drawn("ledger")), table("ledger")])
    latencies = charts(drawn("distribution"))
    block("latency", "Latency", [latencies, table("latency") if latencies else None])
    block("memory", "Memory and copies", [table("memory")])
    heading = tag(f"h{level}", name(part.payload), id=key)
    return tag("section", heading, parts, class_="payload", aria_labelledby=key, data_payload=plain_name(part.payload))


def _list(kind: str, heading: str, lines: tuple[str, ...]) -> Html | None:
    if not lines:
        return None
    return tag("div", tag("p", heading, class_="label"), tag("ul", [tag("li", line) for line in lines]), class_=kind)
