"""Pictures as parts of the page."""

from __future__ import annotations

from collections.abc import Sequence

from zcser.report.charts.gallery import Exhibit
from zcser.report.markup import Html, tag
from zcser.report.page.tables import scrolling

__all__ = ["chart", "charts"]


def chart(key: str, exhibit: Exhibit) -> Html:
    """A picture that scrolls where the page is narrow; `key` begins its identifier."""
    identifier = "-".join(filter(None, [key, exhibit.kind, exhibit.operation, "chart"]))
    return scrolling(identifier, f"picture of {exhibit.words}", tag("figure", exhibit.picture.svg()))


def charts(drawn: Sequence[Html]) -> Html | None:
    """Pictures side by side where there is room; nothing of none."""
    return tag("div", drawn, class_="charts") if drawn else None
