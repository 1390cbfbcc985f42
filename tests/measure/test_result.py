"""A result survives JSON unchanged, and a file that is none is refused with the place at fault."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.measure.examples import example
from zcser.measure.result import Result, ResultError, load_result

V1 = Path(__file__).parent / "data/v1.json"
"""A part of what zcser wrote when its schema_version was 1."""


def document() -> dict:
    return json.loads(json.dumps(example().to_json()))


def test_a_saved_result_loads_equal(tmp_path):
    path = tmp_path / "result.json"
    example().save(path)
    assert load_result(path) == example()


def test_the_version_stands_first_in_the_file(tmp_path):
    example().save(tmp_path / "r.json")
    assert (tmp_path / "r.json").read_text().startswith('{"schema_version":3,')


def test_saving_leaves_no_other_file_and_replaces_what_was_there(tmp_path):
    path = tmp_path / "r.json"
    path.write_text("old")
    example().save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["r.json"]
    assert load_result(path).preset == "quick"


def test_saving_where_nothing_can_be_written_is_one_clear_error(tmp_path):
    with pytest.raises(ResultError, match=r"cannot write .*missing/r.json: No such file"):
        example().save(tmp_path / "missing" / "r.json")


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "r.json"
    path.write_text("old")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(ResultError, match="No space left"):
        example().save(path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["r.json"]


def test_a_saved_result_is_as_readable_as_any_new_file(tmp_path):
    example().save(tmp_path / "r.json")
    (tmp_path / "other").write_text("")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("r.json", "other")}
    assert len(modes) == 1


def _set(path: tuple, value):
    def change(found):
        for step in path[:-1]:
            found = found[step]
        found[path[-1]] = value

    return change


def _drop(path: tuple):
    def change(found):
        for step in path[:-1]:
            found = found[step]
        del found[path[-1]]

    return change


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (_set(("cells", 0, "cost", "p10_ns"), "fast"), r"cells\[0\]\.cost\.p10_ns: a float is needed, not 'fast'"),
        (_set(("cells", 0, "cost", "p10_ns"), None), r"cells\[0\]\.cost\.p10_ns"),
        (_set(("cells", 0, "cost", "p10_ns"), True), r"cells\[0\]\.cost\.p10_ns"),
        (_set(("cells", 0, "cost", "p10_ns"), 10**400), r"cells\[0\]\.cost\.p10_ns: the number is out of range"),
        (_set(("cells", 0, "cost", "process_p10_ns", 1), float("inf")), r"process_p10_ns\[1\]: .* not finite"),
        (_set(("cells", 0, "latency", "histogram", 0), [1]), r"latency\.histogram\[0\]: an array of 2"),
        (_set(("cells", 0, "latency", "process_p50_ns", 1), "11"), r"latency\.process_p50_ns\[1\]: a float is needed"),
        (
            _set(("cells", 0, "latency", "process_p90_ns"), [14.0]),
            r"cells\[0\]\.latency: each process .* process_p50_ns has 2, process_p90_ns has 1, process_p99_ns has 2",
        ),
        (_set(("cells", 0, "gc", "collections"), [1, 2]), r"gc\.collections"),
        (_set(("cells", 0, "status"), "fine"), r"cells\[0\]\.status: one of 'ok', 'refused'"),
        (_set(("cells", 0, "flags"), "capped"), r"cells\[0\]\.flags: an array is needed"),
        (_set(("cells", 0), []), r"cells\[0\]: an object is needed"),
        (_set(("measuring_s",), float("nan")), "measuring_s"),
        (_set(("environment", "python", "gc_thresholds", 0), float("nan")), r"environment\.python\.gc_thresholds\[0\]"),
        (_set(("method", "boundaries", "encode"), 3), r"method\.boundaries\.encode"),
        (_set(("payloads", 0, "rotation"), "some"), r"payloads\[0\]\.rotation"),
        (_drop(("cells", 0, "codec")), r"cells\[0\]: the key 'codec' is missing"),
        (_drop(("environment",)), "'environment' is missing"),
        (
            _set(("schema_version",), 4),
            "schema_version 4 is newer than 3, the newest that this zcser reads; upgrade zcser",
        ),
        (_set(("schema_version",), 0), "schema_version 0 is none"),
        (_set(("schema_version",), True), "schema_version True is none"),
        (_drop(("schema_version",)), "no schema_version"),
    ],
)
def test_a_mutilated_document_is_refused_with_its_json_path(change, where):
    found = document()
    change(found)
    with pytest.raises(ResultError, match=where):
        Result.from_json(found)


def test_a_file_of_version_1_is_read_and_what_it_did_not_take_is_null():
    raw = json.loads(V1.read_text())
    found = load_result(V1)
    assert (raw["schema_version"], found.schema_version) == (1, 3)
    assert len(found.cells) == len(raw["cells"])
    for cell, was in zip(found.cells, raw["cells"], strict=True):
        assert (cell.cost and cell.cost.p10_ns) == (was["cost"] and was["cost"]["p10_ns"])
        assert cell.retained is None
        assert cell.latency is None or cell.latency.process_p50_ns == cell.latency.process_p999_ns == ()
        assert cell.gc is None or cell.gc.struck is cell.gc.free_p999_ns is None
        if was["allocations"]:
            assert (cell.allocations.blind is not None) == was["allocations"]["blind"]
            assert cell.allocations.peak_bytes == was["allocations"]["peak_bytes"]
            assert cell.allocations.python_allocations is cell.allocations.native_allocations is None
    assert found.settings.live_objects == 0


def test_a_file_of_version_1_is_written_as_one_of_this_version(tmp_path):
    load_result(V1).save(tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["schema_version"] == 3
    assert load_result(tmp_path / "r.json") == load_result(V1)


def test_a_mutilated_file_of_version_1_is_refused_with_its_json_path():
    raw = json.loads(V1.read_text())
    raw["cells"][0]["allocations"] = {"blind": True}
    with pytest.raises(ResultError, match=r"cells\[0\]\.allocations: the key 'method' is missing"):
        Result.from_json(raw)
    for cells in (None, [None], [{"allocations": 3}]):
        with pytest.raises(ResultError, match="cells"):
            Result.from_json({**raw, "cells": cells})


def test_unknown_keys_are_ignored():
    found = document()
    found["later"] = 1
    found["cells"][0]["cost"]["later"] = {"a": [1]}
    assert Result.from_json(found) == example()


def test_an_int_in_a_float_place_is_read_as_a_float():
    found = document()
    found["wall_s"] = 3
    assert type(Result.from_json(found).wall_s) is float


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not UTF-8 at byte 0"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "not a zcser result"),
        (b'{"a": 1}', "no schema_version"),
        (b'{"schema_version": ' + b"9" * 5000 + b"}", "not JSON"),
    ],
)
def test_a_foreign_file_is_refused_in_one_line(tmp_path, content, words):
    path = tmp_path / "r.json"
    path.write_bytes(content)
    with pytest.raises(ResultError, match=words) as caught:
        load_result(path)
    assert "\n" not in str(caught.value)
    assert "r.json" in str(caught.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(ResultError, match="No such file"):
        load_result(tmp_path / "none.json")
    with pytest.raises(ResultError, match="Is a directory"):
        load_result(tmp_path)


def test_a_cell_is_found_by_its_names():
    assert example().cell("p", "json", "view-field").status == "unsupported"
    assert example().cell("p", "json", "load") is None
