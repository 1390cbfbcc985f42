"""HTML as text that cannot be broken by what stands in it.

1. `Html` is markup; every other text is escaped on its way in. Nothing makes `Html` of a text from a result but `tag`.
2. What is not printable, such as marks of direction, is shown as ``?``.
3. An attribute's value is always quoted and escaped, and its name is Python's own (``aria_sort`` is ``aria-sort``), so
   that neither can come out of a result. There are no attributes of events and of styles: the content policy of the page
   would forbid them.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from zcser.report.model import one_line

__all__ = ["Child", "Html", "join", "name", "plain_name", "shorten", "tag"]

VOID = frozenset(("br", "col", "input", "meta"))
LONGEST_NAME = 200
"""Characters of a name that a page shows."""


class Html(str):
    """Markup."""

    __slots__ = ()


Child = Html | str | None | Iterable["Child"]


def join(children: Child) -> Html:
    """Markup as it is, other text escaped, nothing for None, all of an iterable one after the other."""
    if children is None:
        return Html()
    if isinstance(children, Html):
        return children
    if isinstance(children, str):
        return Html(escape(_printable(children), quote=False))
    return Html("".join(map(join, children)))


def tag(element: str, /, *children: Child, **attributes: str | float | bool | None) -> Html:
    """An element.

    Parameters
    ----------
    element
        Its name.
    *children
        What it holds; see `join`.
    **attributes
        Underscores stand for hyphens and one at the end for nothing (``class_``); None and False leave an attribute out,
        True writes it without a value.
    """
    text = "".join(
        f" {_attribute(key)}" if value is True else f' {_attribute(key)}="{escape(_printable(str(value)))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return Html(f"<{element}{text}>" if element in VOID else f"<{element}{text}>{join(children)}</{element}>")


def _printable(text: str) -> str:
    # Marks of direction and control characters too: what they do would reach beyond the text.
    return text if text.isprintable() else one_line(text)


def _attribute(key: str) -> str:
    return "viewBox" if key == "viewBox" else key.rstrip("_").replace("_", "-")


def shorten(text: str, longest: int) -> str:
    """One printable line of so many characters at the most."""
    line = one_line(text) or "(no name)"
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def plain_name(text: str) -> str:
    """A name out of a result as an attribute has it, and a script compares it."""
    return shorten(text, LONGEST_NAME)


def name(text: str) -> Html:
    """A name out of a result, which may be of any length and direction: it leaves the text around it as it is."""
    return tag("bdi", plain_name(text))
