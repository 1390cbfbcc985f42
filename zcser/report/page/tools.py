"""The bar of filters: which payload, codecs and columns are shown. Scripts alone use it, so that it is hidden without."""

from __future__ import annotations

from collections.abc import Iterable

from zcser.report.markup import Html, plain_name, tag
from zcser.report.page.payload import PayloadPart
from zcser.report.page.tables import column_key

__all__ = ["tools_bar"]


def tools_bar(parts: Iterable[PayloadPart]) -> Html:
    """The bar for some sections."""
    parts = list(parts)
    payloads = dict.fromkeys(plain_name(part.payload) for part in parts)
    codecs = dict.fromkeys(plain_name(codec) for part in parts for codec in part.grid.codecs)
    columns: dict[str, dict[str, str]] = {}
    for part in parts:
        for table in part.tables.values():
            for column in table.columns[1:]:
                key = column_key(table, column)
                columns.setdefault(key.partition(":")[0], {})[key] = column.title
    return tag(
        "div",
        _payloads(list(payloads)) if len(payloads) > 1 else None,
        _boxes("codec", "Codecs", {"Codecs": {codec: codec for codec in codecs}}) if len(codecs) > 1 else None,
        _boxes("column", "Operations and columns", columns) if columns else None,
        class_="tools",
        role="group",
        aria_label="Filters",
        hidden=True,
    )


def _payloads(names: list[str]) -> Html:
    options = [tag("option", "all", value=""), *(tag("option", payload, value=payload) for payload in names)]
    return tag("label", "Payload ", tag("select", options, data_kind="payload"))


def _boxes(kind: str, title: str, groups: dict[str, dict[str, str]]) -> Html:
    fields = [
        tag(
            "fieldset",
            tag("legend", group, " ", _set("all"), " ", _set("none")),
            [
                tag("label", tag("input", type="checkbox", checked=True, value=key, data_kind=kind), tag("bdi", words))
                for key, words in boxes.items()
            ],
        )
        for group, boxes in groups.items()
    ]
    count = tag("span", "all", data_count=kind)
    return tag("details", tag("summary", f"{title}: ", count), tag("div", fields))


def _set(what: str) -> Html:
    return tag("button", what, type="button", class_="plain", data_set=what)
