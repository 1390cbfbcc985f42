"""Pictures as files of their own, and an index of them in Markdown.

1. Each file stands alone: its colours, light and dark, are in it, and so is the paper that it is drawn on. A README shows it
   as an image, where neither a style sheet nor a script reaches it.
2. The same result gives the same bytes, so that what is committed changes with the figures alone.
"""

from __future__ import annotations

from importlib import resources

from zcser.measure.result import Result
from zcser.measure.writing import file_name
from zcser.report.charts.gallery import gallery
from zcser.report.charts.svg import Picture
from zcser.report.document import document_of
from zcser.report.markdown import escape
from zcser.report.markup import Html, shorten, tag

__all__ = ["INDEX", "picture_files", "picture_style"]

INDEX = "index.md"
EXTENSION = ".svg"
MARGIN = 16
"""Pixels of paper around a picture."""


def picture_style() -> Html:
    """The style sheet of pictures, on a page and alone."""
    return Html((resources.files(__package__) / "pictures.css").read_text(encoding="utf-8"))


def picture_files(result: Result) -> dict[str, str]:
    """The text of each file by its name, such as ``request-1k.ledger.encode.svg``; the index is the last one.

    A name has nothing but ASCII letters, digits and ``_+-.``, and is unique where case is not told apart.
    """
    style = tag("style", picture_style())
    files: dict[str, str] = {}
    lines = [f"# {escape(document_of(result).title)}", ""]
    for subject, exhibits in gallery(result):
        if exhibits:
            lines += [f"## {escape(shorten(subject, 200))}", ""]
        for one in exhibits:
            name = file_name([subject, one.kind, *filter(None, [one.operation])], EXTENSION, files)
            files[name] = _standalone(one.picture, style)
            lines += [f"![{escape(f'{one.picture.title}. {one.picture.description}')}]({name})", ""]
    if not files:
        lines += ["This result has no figures that could be drawn.", ""]
    files[INDEX] = "\n".join(lines)
    return files


def _standalone(picture: Picture, style: Html) -> str:
    paper = tag(
        "rect",
        x=-MARGIN,
        y=-MARGIN,
        width=picture.width + 2 * MARGIN,
        height=picture.height + 2 * MARGIN,
        fill="#fff",
        class_="paper",
    )
    return picture.svg(style, paper, margin=MARGIN) + "\n"
