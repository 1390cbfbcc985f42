"""The page as a document: well formed, closed to the outside, complete without scripts, and unhurt by what a file says."""

import base64
import dataclasses
import hashlib
import itertools
import random
import re

import pytest

from tests.report.page.absurd import ABSURD, HOSTILE
from tests.report.page.reading import Page
from tests.report.results import around, cell, realistic, result
from zcser import registry
from zcser.measure.operations import DEFAULT
from zcser.measure.result import Latency, Size
from zcser.report.page.render import Run, page

OUTSIDE = {"src", "srcset", "action", "formaction", "data", "poster", "background", "ping", "cite", "manifest"}
VISIBLE = ("caption", "th", "td", "p", "li", "h1", "h2", "h3", "text", "title")


def made(*results):
    return page([Run(f"run {number}.json", one) for number, one in enumerate(results)])


@pytest.fixture(scope="module")
def text():
    return made(realistic())


@pytest.fixture(scope="module")
def read(text):
    return Page(text)


def check_document(text):
    """What holds of every page."""
    found = Page(text)
    assert found.faults == []
    identifiers = [attributes["id"] for _, attributes, _, _ in found.elements if "id" in attributes]
    assert len(set(identifiers)) == len(identifiers)
    for name, attributes, _, _ in found.elements:
        assert not OUTSIDE & attributes.keys(), (name, attributes)
        assert not any(key.startswith("on") or key == "style" for key in attributes), (name, attributes)
        if "href" in attributes:
            assert attributes["href"].removeprefix("#") in identifiers
        for key in ("aria-labelledby", "for"):
            assert key not in attributes or attributes[key] in identifiers
    assert [
        name for name, _, _, _ in found.all("link", "img", "iframe", "object", "embed", "base", "image", "use")
    ] == []
    # Names of XML's namespaces are no addresses that anybody looks up.
    assert set(re.findall(r"https?://[^\s\"'<]*", text)) <= {"http://www.w3.org/2000/svg"}
    return found


@pytest.mark.parametrize("name", ABSURD)
def test_every_result_gives_an_honest_page(name):
    found = check_document(made(ABSURD[name]))
    words = " ".join(text for _, _, text, _ in found.all(*VISIBLE))
    assert not re.search(r"\b(nan|None(?! of)|undefined|Infinity)\b", words)
    numbers = " ".join(
        " ".join(map(str, attributes.values())) for _, attributes, _, inside in found.elements if "svg" in inside
    )
    assert not re.search(r"\b(nan|inf)\b", numbers)
    if not ABSURD[name].cells:
        assert "Nothing could be measured" in words


def test_hostile_texts_stay_texts():
    found = check_document(made(ABSURD["hostile"], ABSURD["hostile"]))
    scripts = [attributes for _, attributes, _, _ in found.all("script")]
    assert scripts == [{"id": "figures", "type": "application/json"}, {}]
    shown = " ".join(text for _, _, text, _ in found.all("bdi"))
    for name in (
        HOSTILE[0],
        HOSTILE[1],
        HOSTILE[2],
        HOSTILE[3],
        "?gnp.exe",
        "$title ${style}",
        "x" * 199 + "…",
        "(no name)",
    ):
        assert name in shown
    # Marks of direction and halves of characters are shown as such, nowhere left to act.
    assert not re.search("[\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]", made(ABSURD["hostile"]))
    names = {
        one["codec"]
        for payload in found.data()["runs"][0]["figures"]["payloads"].values()
        for one in payload["candidates"]
    }
    assert names == set(HOSTILE)


def test_policy_allows_the_one_style_and_the_one_script(read):
    policy = next(attributes["content"] for _, attributes, _, _ in read.all("meta") if "http-equiv" in attributes)
    directives = dict(one.strip().split(" ", 1) for one in policy.split(";"))
    assert directives["default-src"] == "'none'"

    def source(text):
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    (style,), scripts = read.all("style"), read.all("script")
    assert directives["style-src"] == source(style[2])
    assert directives["script-src"] == source(scripts[-1][2])


def test_tables_pictures_and_controls_can_be_read_without_eyes(read):
    for _, attributes, _, _ in read.all("th"):
        assert attributes["scope"] in {"col", "row"}
    tables = len(read.all("table"))
    assert len(read.all("caption")) == tables
    for _, attributes, _, _ in read.all("svg"):
        assert attributes["role"] == "img"
    pictures = len(read.all("svg"))
    assert len([one for one in read.all("title") if one[3][-1] == "svg"]) == pictures == len(read.all("desc"))
    for name, attributes, _, inside in read.all("input", "select"):
        assert "label" in inside, (name, attributes)
    for _, attributes, _, _ in read.all("div"):
        if attributes.get("class") == "scroll":
            assert attributes["tabindex"] == "0"
            assert attributes["aria-label"]
    assert {name for name, _, _, _ in read.all("header", "nav", "main", "footer")} == {
        "header",
        "nav",
        "main",
        "footer",
    }
    # One level after the other.
    levels = [int(name[1]) for name, _, _, _ in read.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_figures_are_there_without_scripts(read):
    cells = {text for _, _, text, _ in read.all("td")}
    # request-64k: msgpack encodes in 6240 ns, best, by processes 1% about it; protobuf in 13.1 µs.
    assert "6.24 µsbest · 6.18 to 6.30 µs" in cells
    assert "13.1 µs2.1x · 13.0 to 13.2 µs" in cells
    captions = " ".join(text for _, _, text, _ in read.all("caption"))
    for name in ("request-64k", "token-chunk", "batch-meta"):
        assert f"{name}: cost by codec and operation" in captions
    titles = [text for _, _, text, inside in read.all("title") if inside[-1] == "svg"]
    for words in ("latency of decode", "where the cost of encode goes", "cost of decode against size"):
        assert f"request-64k: {words}" in " ".join(titles)


def test_columns_sort_by_plain_numbers(read):
    values = {attributes["data-v"] for _, attributes, text, _ in read.all("td") if text.startswith("6.24 µs")}
    assert values == {"6240"}


def test_runs_are_compared_by_what_their_intervals_show():
    def run(json_ns, **rest):
        cells = [
            cell("json", "encode", json_ns, size=Size(9, 9, 9)),
            cell("orjson", "encode", 200.0, size=Size(9, 9, 9)),
        ]
        return result(cells, **rest)

    found = check_document(made(run(1000.0), run(1500.0)))
    cells = [text for _, _, text, inside in found.all("td")]
    assert "1.50 µsslower 1.5x" in cells
    assert "200 nstie" in cells
    assert "1 of 1 pairs" in " ".join(text for _, _, text, _ in found.all("li"))


def test_what_was_measured_otherwise_is_not_set_against_each_other():
    first = result([cell("json", "encode", 1000.0)])
    other = result(
        [cell("json", "encode", around(5000.0))],
        method=first.method.__class__(
            **{**{name: getattr(first.method, name) for name in first.method.__slots__}, "timer": "a C loop"}
        ),
    )
    found = Page(made(first, other))
    assert not any("slower" in text for _, _, text, _ in found.all("td"))
    assert "the timers differ" in " ".join(text for _, _, text, _ in found.all("p"))


@pytest.mark.slow
def test_twenty_codecs_on_six_payloads_stay_below_a_megabyte_and_a_half():
    base = realistic().cell("request-64k", "msgpack", "encode")
    rng, codecs = random.Random(5), registry.names()[:20]
    cells = [
        dataclasses.replace(
            base,
            payload=f"payload-{place}",
            codec=codec,
            operation=operation,
            cost=around(1e5 * rng.random()),
            latency=spread(number),
        )
        for place in range(6)
        for number, codec in enumerate(codecs)
        for operation in DEFAULT
    ]
    text = made(result(cells))
    assert text.count(codecs[-1]) > 100
    assert len(text.encode()) < 1_500_000


def spread(codec):
    """Forty buckets, as many as a real cell has."""
    buckets = tuple((round(1000 * 1.2**place) + codec, 1 + place * 7 % 50) for place in range(40))
    return Latency(sum(count for _, count in buckets), 2000.0, 5000.0, 9000.0, None, 1.5e6, (), buckets)
