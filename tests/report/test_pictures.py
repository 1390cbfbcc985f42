"""Pictures as files: each stands alone, no name leaves its folder, and they are those of the page."""

import re
import xml.etree.ElementTree as ET

import pytest

from tests.report.page.absurd import ABSURD
from tests.report.page.reading import Page
from tests.report.results import cell, latency, payload, result
from zcser.measure.result import Size
from zcser.report.charts.files import picture_files
from zcser.report.page.render import Run, page

SVG = "{http://www.w3.org/2000/svg}"


def swept(first="s-1", second="s-2"):
    """One schema at two sizes, two codecs."""
    cells = [
        cell(codec, operation, cost * size, payload=name, size=Size(size, size, size), latency=latency(cost * size))
        for name, size in ((first, 100), (second, 9000))
        for codec, cost in (("a", 1.0), ("b", 2.0))
        for operation in ("encode", "decode", "read-field")
    ]
    return result(cells, payloads=(payload(first), payload(second)))


def parsed(files):
    return {name: ET.fromstring(text) for name, text in files.items() if name.endswith(".svg")}  # noqa: S314 - ours


def texts(root):
    return tuple(root.find(f"{SVG}{name}").text for name in ("title", "desc"))


@pytest.mark.parametrize("name", [*ABSURD, "swept"])
def test_files_are_the_pictures_of_the_page_and_stand_alone(name):
    made = swept() if name == "swept" else ABSURD[name]
    files = picture_files(made)
    roots = parsed(files)
    shown = Page(page([Run("r", made)]))
    on_page = [
        tuple(one[2] for one in shown.all(kind) if one[3][-1] == "svg" and one[3].count("svg") == 1)
        for kind in ("title", "desc")
    ]
    assert sorted(map(texts, roots.values())) == sorted(zip(*on_page, strict=True))
    for file, text in files.items():
        assert re.fullmatch(r"[\w+-]+(\.[\w+-]+)*\.svg|index\.md", file, re.ASCII)
        assert len(file) < 250
        assert len(text.encode()) < 60_000
    assert len({file.lower() for file in files}) == len(files)
    for root in roots.values():
        assert root.tag == f"{SVG}svg"
        left, top, width, height = map(float, root.get("viewBox").split())
        assert (float(root.get("width")), float(root.get("height"))) == (width, height)
        (style,), paper = root.findall(f"{SVG}style"), root.find(f"{SVG}rect")
        assert "light-dark(" in style.text
        # The paper covers the whole, so that it does not matter what the picture lies on.
        assert [float(paper.get(key)) for key in ("x", "y", "width", "height")] == [left, top, width, height]
        assert not re.search(r"url\(|@import|https?:", style.text)
        for element in root.iter():
            assert element.tag.removeprefix(SVG) not in {"script", "image", "use", "a", "foreignObject"}
            for key, value in element.attrib.items():
                assert not re.search(r"^on|href", key)
                assert "url(" not in value


def test_names_say_payload_kind_and_operation():
    names = set(picture_files(swept()))
    for one in (
        "s-1_to_s-2.cost-over-size.encode.svg",
        "s-1.ledger.encode.svg",
        "s-2.pareto.read-field.svg",
        "s-2.distribution.decode.svg",
        "index.md",
    ):
        assert one in names


def test_no_name_leaves_the_folder_and_none_collides():
    names = picture_files(swept("../x", "/X"))
    assert {"_x.ledger.encode.svg", "_X.ledger.encode.2.svg"} <= set(names)
    assert "_.ledger.encode.svg" in picture_files(swept("", "b"))


def test_index_shows_every_picture_by_its_words():
    files = picture_files(swept("[x](y)", "s-2"))
    index = files.pop("index.md")
    shown = dict(re.findall(r"^!\[(.+)\]\(([^()]+)\)$", index, re.MULTILINE))
    assert sorted(shown.values()) == sorted(files)
    for words, name in shown.items():
        title, description = texts(ET.fromstring(files[name]))  # noqa: S314 - ours
        assert re.sub(r"\\(.)", r"\1", words) == f"{title}. {description}"
    assert "## \\[x\\](y)" in index
    assert "no figures that could be drawn" in picture_files(ABSURD["nothing"])["index.md"]
