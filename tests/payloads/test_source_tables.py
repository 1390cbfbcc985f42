"""Rows of CSV and Parquet as messages: types, nulls, nesting, and which of many rows."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq

import zcser
from zcser.core.fidelity import equal
from zcser.payloads import from_source
from zcser.payloads.base import PayloadError
from zcser.payloads.sources import tables
from zcser.schema.model import Bytes, Field, Float, Int, List, Logical, Map, Optional, Ref, Str


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
        "money": Logical("decimal"),
        "day": Optional(Logical("date")),
        "us": Logical("datetime_naive"),
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
            "u8": 1, "half": 1.5, "money": Decimal("1.50"), "day": day, "us": moment, "key": "a", "blob": b"ab",
            "lists": [1, None], "place": {"x": 1, "y": {"z": "q"}}, "map": {"a": 1},
        },
    )  # fmt: skip
    assert payload.make(1)["lists"] is payload.make(1)["half"] is payload.make(1)["place"]["x"] is None
    notes = "\n".join(payload.schema.notes)
    assert "/half: halffloat" in notes
    assert len(payload.schema.notes) == 1


def test_times_of_every_unit_are_python_s_where_it_has_them_all(tmp_path):
    utc, half = dt.UTC, dt.timedelta(hours=0.5)
    key = uuid.UUID(int=5)
    table = pa.table(
        {
            # By hand: 1e18 ns are 10**9 s, 2001-09-09 01:46:40 UTC.
            "ns": pa.array([10**18, None], pa.timestamp("ns", "Europe/Paris")),
            "finer": pa.array([10**18 + 1, 0], pa.timestamp("ns")),
            "far": pa.array([2**40, 0], pa.timestamp("s")),  # Parquet has milliseconds
            "days": pa.array([86_400_000, 0], pa.date64()),
            "before": pa.array([-719_163, 0], pa.date32()),  # a day before the year 1
            "clock": pa.array([61, 0], pa.time32("s")),
            "fine_clock": pa.array([1, 0], pa.time64("ns")),
            "span": pa.array([1_800_000, 0], pa.duration("ms")),
            "big": pa.array([Decimal("1e-38"), 0], pa.decimal256(76, 38)),
            "key": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([key.bytes, None], pa.binary(16))),
            "by_day": pa.array([[(0, 10**18)], []], pa.map_(pa.date32(), pa.timestamp("ns"))),
        }
    )
    payload = from_source(parquet(tmp_path / "t.parquet", table))
    types = {item.name: item.type for item in payload.schema.record("Row").fields}
    date, naive = Logical("date"), Logical("datetime_naive")
    assert types == {
        "ns": Optional(Logical("datetime_utc")), "finer": Int(64), "far": Int(64), "days": date, "before": Int(32),
        "clock": Logical("time"), "fine_clock": Int(64), "span": Logical("timedelta"), "big": Logical("decimal"),
        "key": Optional(Logical("uuid")), "by_day": Map(date, naive),
    }  # fmt: skip
    row = payload.make(0)
    moment = dt.datetime(2001, 9, 9, 1, 46, 40)
    assert equal(
        row,
        {
            "ns": moment.replace(tzinfo=utc), "finer": 10**18 + 1, "far": 2**40 * 1000, "days": dt.date(1970, 1, 2),
            "before": -719_163, "clock": dt.time(0, 1, 1), "fine_clock": 1, "span": half, "big": Decimal("1e-38"),
            "key": key, "by_day": {dt.date(1970, 1, 1): moment},
        },
    )  # fmt: skip
    assert [note.partition(":")[0] for note in payload.schema.notes] == ["/finer", "/far", "/before", "/fine_clock"]
    assert "timestamp[ns] becomes int64, in its unit: it has values that no Python datetime_naive has" in "\n".join(
        payload.schema.notes
    )
    codec = zcser.codec("msgpack", payload.schema)
    assert equal(codec.decode(codec.encode(row)), row)


def test_dates_of_csv_are_dates_and_text_is_text(tmp_path):
    (tmp_path / "t.csv").write_text("day,at,id\n2026-01-02,2026-01-02 03:04:05Z,00000000-0000-0000-0000-000000000005\n")
    payload = from_source(str(tmp_path / "t.csv"))
    at = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
    expected = {"day": dt.date(2026, 1, 2), "at": at, "id": "00000000-0000-0000-0000-000000000005"}
    assert equal(payload.make(0), expected)
    assert payload.schema.notes == ()


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


def test_few_bytes_that_stand_for_a_huge_row_are_refused_before_they_are_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "MAX_BYTES", 100_000)
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"a": ["x" * 200_000]}), path, compression="zstd")
    assert path.stat().st_size < 10_000
    with pytest.raises(PayloadError, match=r"bomb\.parquet: not \.parquet: rows of 200,\d+ bytes"):
        from_source(str(path))
