"""Rows of CSV and Parquet as messages: types, nulls, nesting, and which of many rows."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq

from zcser.core.fidelity import equal
from zcser.payloads import from_source
from zcser.payloads.base import PayloadError
from zcser.payloads.sources import tables
from zcser.schema.model import Bytes, Field, Float, Int, List, Map, Optional, Ref, Str


def parquet(path, table):
    pq.write_table(table, path)
    return str(path)


def test_columns_of_every_type_have_their_values_and_types(tmp_path):
    day, moment = dt.date(1970, 1, 3), dt.datetime(1970, 1, 1, 0, 0, 1)
    table = pa.table(
        {
            "u8": pa.array([1, 255], pa.uint8()),
            "half": pa.array([1.5, None], pa.float16()),
            "money": pa.array([Decimal("1.50"), Decimal("-2.00")], pa.decimal128(10, 2)),
            "day": pa.array([day, None], pa.date32()),
            "us": pa.array([moment, moment], pa.timestamp("us")),
            "key": pa.array(["a", "b"]).dictionary_encode(),
            "blob": pa.array([b"ab", b"cd"], pa.binary(2)),
            "lists": pa.array([[1, None], None], pa.list_(pa.int16())),
            "place": pa.array([{"x": 1, "y": {"z": "q"}}, {"x": None, "y": {"z": "r"}}]),
            "map": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
        }
    )
    payload = from_source(parquet(tmp_path / "t.parquet", table))
    fields = {item.name: item.type for item in payload.schema.record("Row").fields}
    assert fields == {
        "u8": Int(8, signed=False),
        "half": Optional(Float(32)),
        "money": Str(),
        "day": Optional(Int(32)),
        "us": Int(64),
        "key": Str(),
        "blob": Bytes(2),
        "lists": Optional(List(Optional(Int(16)))),
        "place": Ref("Row_place"),
        "map": Map(Str(), Int(64)),
    }
    assert payload.schema.record("Row_place").fields == (
        Field("x", Optional(Int(64)), 1),
        Field("y", Ref("Row_place_y"), 2),
    )
    assert equal(
        payload.make(0),
        {
            "u8": 1, "half": 1.5, "money": "1.50", "day": 2, "us": 1_000_000, "key": "a", "blob": b"ab",
            "lists": [1, None], "place": {"x": 1, "y": {"z": "q"}}, "map": {"a": 1},
        },
    )  # fmt: skip
    assert payload.make(1)["lists"] is payload.make(1)["half"] is payload.make(1)["place"]["x"] is None
    notes = "\n".join(payload.schema.notes)
    for words in ("/money: decimal128(10, 2) becomes text", "/us: timestamp[us] becomes int64", "/half: halffloat"):
        assert words in notes


def test_csv_has_the_types_that_arrow_infers(tmp_path):
    (tmp_path / "t.csv").write_text('n,word,flag\n1,"a,\nb",true\n,,false\n')
    payload = from_source(str(tmp_path / "t.csv"))
    assert [payload.make(number) for number in range(2)] == [
        {"n": 1, "word": "a,\nb", "flag": True},
        {"n": None, "word": None, "flag": False},
    ]
    (tmp_path / "t.tsv").write_text("a\tb\n1.5\tx,y\n")
    assert from_source(str(tmp_path / "t.tsv")).make(0) == {"a": 1.5, "b": "x,y"}


def test_of_many_rows_some_are_looked_at_evenly_spread_and_that_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "MOST_ROWS", 100)
    monkeypatch.setattr(tables, "_BATCH_ROWS", 64)
    path = parquet(tmp_path / "t.parquet", pa.table({"n": range(1000)}))
    payload = from_source(path)
    numbers = {payload.make(number)["n"] for number in range(64)}
    assert len(numbers) == 64
    assert all(number % 10 == 0 for number in numbers)
    assert any("100 of 1,000 rows were looked at" in note for note in payload.schema.notes)


def test_a_column_that_holds_no_null_is_not_optional_across_files(tmp_path):
    one = parquet(tmp_path / "1.parquet", pa.table({"a": [1, 2]}))
    other = parquet(tmp_path / "2.parquet", pa.table({"a": [3], "b": ["x"]}))
    payload = from_source(one, other)
    assert [item.type for item in payload.schema.record("Row").fields] == [Int(64), Optional(Str())]
    assert payload.make(2) == {"a": 3, "b": "x"}


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("t.parquet", b"PAR1PAR1", "not .parquet"),
        ("t.parquet", b"", "not .parquet"),
        ("t.csv", b"", "not .csv: Empty CSV file"),
        ("t.csv", b"a,b\n", "there are no rows"),
        ("t.csv", b"a,b\n1,2\n3\n", "not .csv: .*Expected 2 columns, got 1"),
        ("t.csv", b"a,a\n1,2\n", "not .csv: two columns are named 'a'"),
        ("t.csv", b"a\n" + b"1\n" * 600_000 + b"x\n", "not .csv: .*conversion error to int64: invalid value 'x'"),
    ],
)
def test_bad_tables_are_one_line_with_the_file(tmp_path, name, data, reason):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(PayloadError, match=reason) as caught:
        from_source(str(path))
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
