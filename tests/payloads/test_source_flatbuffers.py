"""Messages of FlatBuffers from files: binary, prefixed streams, and JSON by way of flatc."""

from __future__ import annotations

import json

import pytest

from tests.flat.flatc import GOOGLE, flatc
from zcser.core.fidelity import equal
from zcser.payloads import from_source
from zcser.payloads.base import PayloadError
from zcser.payloads.sources.schemas import load

TEXT = 'table Point { x:int; y:short = 7; names:[string]; } root_type Point; file_identifier "PNT1";'
POINTS = [{"x": 1, "names": ["a"]}, {"y": -3}, {"x": 5, "y": 7, "names": []}]
READ = [{"x": 1, "y": 7, "names": ["a"]}, {"x": 0, "y": -3}, {"x": 5, "y": 7, "names": []}]


def of(value):
    """A value without what is absent."""
    return {key: item for key, item in value.items() if item is not None}


@pytest.fixture
def fbs(tmp_path):
    path = tmp_path / "point.fbs"
    path.write_text(TEXT)
    return path


def compiled(tmp_path, fbs, *options):
    """Each point, as flatc writes it."""
    for number, point in enumerate(POINTS):
        (tmp_path / f"{number}.json").write_text(json.dumps(point))
    out = tmp_path / "compiled"
    out.mkdir()
    flatc(tmp_path, "--binary", *options, "-o", out, fbs, *(tmp_path / f"{number}.json" for number in range(3)))
    return [path.read_bytes() for path in sorted(out.iterdir())]


def test_binary_files_and_json_lines_are_the_same_messages(fbs, tmp_path):
    for number, data in enumerate(compiled(tmp_path, fbs)):
        (tmp_path / f"{number}.bin").write_bytes(data)
    binary = from_source(*(str(tmp_path / f"{number}.bin") for number in range(3)), schema=load(str(fbs)))
    (tmp_path / "points.ndjson").write_text("\n".join(map(json.dumps, POINTS)))
    lines = from_source(str(tmp_path / "points.ndjson"), schema=load(str(fbs)))
    for number, expected in enumerate(READ):
        assert of(binary.make(number)) == of(lines.make(number)) == expected
    assert binary.doc == lines.doc  # sizes are of the binary form
    assert binary.schema.fingerprint == lines.schema.fingerprint == load(f"{fbs}:Point").fingerprint


def test_a_stream_of_prefixed_messages_is_what_flatc_wrote(fbs, tmp_path):
    messages = compiled(tmp_path, fbs, "--size-prefixed")
    path = tmp_path / "points.bin"
    path.write_bytes(b"".join(messages))
    schema = load(str(fbs), size_prefixed=True)
    payload = from_source(str(path), schema=schema, delimited=True)
    assert [of(payload.make(number)) for number in range(3)] == READ
    path.write_bytes(b"".join(messages)[:-1])
    start = len(messages[0]) + len(messages[1])
    with pytest.raises(PayloadError, match=rf"points\.bin: message 3 at byte {start}: its length is \d+ bytes, and"):
        from_source(str(path), schema=schema, delimited=True)


@pytest.mark.parametrize("schema", ["monster_test.fbs", "monster_test.bfbs"])
def test_upstreams_monster_in_json_is_upstreams_in_binary(shared_data, schema):
    given = load(str(GOOGLE / schema), include=[str(GOOGLE / "include_test")])
    binary = from_source(str(GOOGLE / "monsterdata_test.mon"), schema=given)
    assert equal(from_source(str(GOOGLE / "monsterdata_test.json"), schema=given).make(0), binary.make(0))
    assert (binary.make(0)["name"], binary.make(0)["hp"]) == ("MyMonster", 80)


def test_models_of_tflite_are_one_sample(shared_data):
    folder = shared_data / "flatbuffers" / "tflite"
    payload = from_source(str(folder), schema=load(str(folder / "schema.fbs")))
    assert payload.distinct == len({path.read_bytes() for path in folder.glob("*.tflite")})
    assert {payload.make(number)["version"] for number in range(payload.distinct)} == {3}


BAD = [
    ("a.bin", b"\x04\0\0", r"a\.bin: flatbuffers: "),
    ("a.bin", b"\xff" * 40, r"a\.bin: flatbuffers: "),
    ("a.json", b'{"z": 1}', r"a\.json: flatc refuses it: .*unknown field: z"),
    ("a.jsonl", b'{"x": 1}\n{"x": "y"}', r"a\.jsonl: flatc refuses it: .*document 2: line"),
    ("a.jsonl", b"\n\n", r"a\.jsonl: the file holds blanks alone"),
]


@pytest.mark.parametrize(("name", "data", "reason"), BAD)
def test_bad_messages_are_one_line_with_the_file(fbs, tmp_path, name, data, reason):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(PayloadError, match=reason) as caught:
        from_source(str(path), schema=load(str(fbs)))
    assert "\n" not in str(caught.value)


def test_without_a_root_the_error_says_how_to_name_one(tmp_path):
    path = tmp_path / "none.fbs"
    path.write_text("table T { a:int; }")
    with pytest.raises(PayloadError, match=r"none\.fbs: .*no root_type; .*FILE:Namespace\.Table in a command"):
        load(str(path))
    assert str(load(f"{path}:T").root) == "T"
