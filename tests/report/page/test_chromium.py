"""The page in a real browser: silent, closed to the outside, as wide as a phone, and its calculator Python's equal."""

import random
import shlex

import pytest

from tests.report.page import chromium
from tests.report.page.absurd import ABSURD
from tests.report.page.profiles import standings_of
from tests.report.results import realistic
from zcser.decide.profiles import profile_named, with_settings
from zcser.report.page.render import Run, page

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium.PATH is None, reason="no Chromium is installed (Debian: apt-get install chromium)"),
]

COMPLAINTS = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")

# Moves every control to a place, then reads what is shown.
DRIVE = """(() => {
  const form = document.querySelector("form.calculator");
  const set = (control, value) => { control.value = value; control.dispatchEvent(new Event("input", { bubbles: true })); };
  const { choice, profile, sliders, read, unvalidated } = PLACES;
  set(form.elements.choice, choice);
  const radio = [...form.elements.profile].find((one) => one.value === profile);
  radio.click();
  for (const [name, share] of Object.entries(sliders)) {
    const slider = form.elements[name];
    set(slider, Math.round(share * Number(slider.max)));
  }
  const options = [...form.elements.read.options];
  set(form.elements.read, options[Math.floor(read * options.length)].value);
  if (form.elements.unvalidated.checked !== unvalidated) form.elements.unvalidated.click();
  const text = (part) => form.querySelector(`[data-part=${part}]`).textContent;
  const rows = [...form.querySelectorAll("[data-part=rows] tr")];
  return {
    ranked: rows.map((row) => [parseInt(row.cells[0].textContent), row.dataset.codec]),
    sentence: text("sentence"),
    command: text("command"),
  };
})()"""

SLIDERS = (
    "reads_per_write",
    "writer_weight",
    "reader_weight",
    "cpu_share",
    "bandwidth_out",
    "bandwidth_in",
    "p99_ns",
    "messages_per_s",
)


@pytest.fixture
def browser(tmp_path):
    made = chromium.Chromium(tmp_path / "profile")
    yield made
    made.close()


def saved(folder, *results):
    path = folder / "page.html"
    runs = [Run(f"run {number}.json", one) for number, one in enumerate(results)]
    path.write_bytes(page(runs).encode("utf-8", "backslashreplace"))
    return path.as_uri()


def test_calculator_ranks_as_the_command_line_does(browser, tmp_path):
    result = realistic()
    browser.open(saved(tmp_path, result))
    rng = random.Random(11)
    names = ("proxy", "server", "log", "train", "custom")
    seen = set()
    for number in range(10):
        places = {
            "choice": number % 3,
            "profile": names[number % len(names)],
            "sliders": {name: rng.choice([rng.random(), 1.0]) for name in SLIDERS if rng.random() < 0.6},
            "read": rng.random(),
            "unvalidated": rng.random() < 0.5,
        }
        shown = browser.evaluate(
            DRIVE.replace("PLACES", repr(places).replace("True", "true").replace("False", "false"))
        )
        # The command that the page gives is what Python is asked.
        words = shlex.split(shown["command"])
        payload, name = (words[words.index(option) + 1] for option in ("--payload", "--profile"))
        settings = [words[place + 1] for place, word in enumerate(words) if word == "--set"]
        expected = standings_of(result, payload, with_settings(profile_named(name), settings))
        assert shown["ranked"] == [[place, codec] for place, codec, _ in expected["ranked"]], words
        assert shown["sentence"] == expected["sentence"]
        seen.add(shown["sentence"])
    assert len(seen) > 5
    assert not browser.told(*COMPLAINTS)


def test_page_asks_for_nothing_and_complains_of_nothing(browser, tmp_path):
    address = saved(tmp_path, realistic(), realistic())
    browser.open(address, width=360, dark=True)
    browser.evaluate("""(() => {
      document.querySelectorAll("details").forEach((one) => { one.open = true; });
      document.querySelectorAll("th button").forEach((one) => one.click());
      document.querySelectorAll(".tools button").forEach((one) => one.click());
      const select = document.querySelector(".tools select");
      select.value = select.options[1].value;
      select.dispatchEvent(new Event("change", { bubbles: true }));
    })()""")
    assert {asked["request"]["url"] for asked in browser.told("Network.requestWillBeSent")} == {address}
    assert not browser.told(*COMPLAINTS)
    # At the width of a phone tables scroll by themselves, and the page does not.
    assert browser.evaluate("document.documentElement.scrollWidth") == 360
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 27)"
    browser.evaluate("document.getElementById('theme-light').click()")
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_sorting_orders_rows_by_figure_and_says_so(browser, tmp_path):
    browser.open(saved(tmp_path, realistic()))
    shown = browser.evaluate("""(() => {
      const table = document.querySelector("#r0p0-cost-table table");
      const heading = [...table.tHead.rows[0].cells].find((one) => one.dataset.o === "Cost: encode");
      const column = heading.cellIndex;
      const values = () => [...table.tBodies[0].rows].map((row) => row.cells[column].dataset.v ?? null);
      return [1, 2].map(() => { heading.querySelector("button").click(); return [heading.getAttribute("aria-sort"), values()]; });
    })()""")
    # request-64k of tests.report.results; simdjson has no encode, and is last both ways.
    costs = ["6240", "13100", "78100", "156000", "412000"]
    assert shown == [["ascending", [*costs, None]], ["descending", [*reversed(costs), None]]]


def test_filters_hide_a_payload_a_codec_and_a_column(browser, tmp_path):
    browser.open(saved(tmp_path, realistic()))
    shown = browser.evaluate("""(() => {
      const box = (kind, value) => document.querySelector(`.tools input[data-kind=${kind}][value="${value}"]`);
      box("codec", "json").click();
      box("column", "Cost: encode").click();
      const select = document.querySelector(".tools select");
      select.value = "token-chunk";
      select.dispatchEvent(new Event("change", { bubbles: true }));
      const seen = (one) => getComputedStyle(one).display !== "none";
      const sections = [...document.querySelectorAll("section.payload")].filter(seen);
      const table = sections[0].querySelector("table.sortable");
      return {
        payloads: sections.map((one) => one.dataset.payload),
        codecs: [...table.tBodies[0].rows].filter(seen).map((row) => row.dataset.codec),
        columns: [...table.tHead.rows[0].cells].filter(seen).slice(0, 3).map((cell) => cell.dataset.o),
        rows: [...sections[0].querySelectorAll("svg g[data-codec=json]")].filter(seen).length,
      };
    })()""")
    assert shown["payloads"] == ["token-chunk"]
    assert set(shown["codecs"]) == {"orjson", "simdjson", "msgpack", "protobuf", "flatbuffers-official"}
    assert shown["columns"] == ["Cost: codec", "Cost: decode", "Cost: one field"]
    assert shown["rows"] == 0


def test_hostile_names_run_nothing(browser, tmp_path):
    address = saved(tmp_path, ABSURD["hostile"])
    browser.open(address)
    assert not browser.told(*COMPLAINTS, "Page.javascriptDialogOpening")
    assert {asked["request"]["url"] for asked in browser.told("Network.requestWillBeSent")} == {address}
    assert browser.evaluate("document.scripts.length") == 2
    assert browser.evaluate("document.images.length") == 0
    assert browser.evaluate("document.querySelectorAll('[data-part=rows] tr').length") > 1
