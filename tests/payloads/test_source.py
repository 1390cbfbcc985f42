"""The user's own data: what is read, what is measured of it, and one clear line for everything that is wrong."""

from __future__ import annotations

import json
import os
import pickle
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from zcser.core.fidelity import equal
from zcser.core.view import at
from zcser.payloads import from_source
from zcser.payloads.base import Payload, PayloadError
from zcser.payloads.files import MAX_BYTES
from zcser.payloads.sources.schemas import load as load_schema
from zcser.schema.model import Bytes, Field, Float, Kind, Record, Ref, Schema, Tensor

MODULE = """
from __future__ import annotations
import dataclasses, functools, itertools
import numpy as np
import numpy.typing as npt
from zcser.payloads import get

@dataclasses.dataclass
class Point:
    x: int
    y: float
    name: str | None = None

@dataclasses.dataclass
class Image:
    label: str
    pixels: npt.NDArray[np.uint8]

CONSTANT = {"a": 1}
def one(): return Point(1, 2.0, "a")
def many(): return [Point(n, n / 2) for n in range(100)]
def twins(): return [Point(1, 2.0), Point(1, 2.0), Point(2, 2.0)]
def endless(): return (Point(n, 0.5) for n in itertools.count())
def plain(): return {"a": 1, "b": [1.5, 2]}
def image(): return Image("cat", np.arange(6, dtype=np.uint8).reshape(2, 3))
def mixed(): return [Point(1, 1.0), Image("a", np.zeros(1, np.uint8))]
def nothing(): return None
def none_at_all(): return []
def raises(): raise LookupError("no such\\ntable")
def leaves(): raise SystemExit(3)
def needs(argument): return argument
async def later(): return 1
def lone(): return {"a": "\\ud800"}
def wrong(): return Point("x", 2.0)
def tensors(): return {"a": np.zeros(2)}
def local():
    @dataclasses.dataclass
    class Hidden:
        x: int
    return Hidden(1)
def payload(): return get("llm-chunk")
def unpicklable(): return dataclasses.replace(get("llm-chunk"), make=lambda n: None)
def broken_make(number): raise ValueError("no value")
def broken(): return dataclasses.replace(get("llm-chunk"), make=broken_make)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with ``userdata.py`` in it, and an importer that forgets it afterwards."""
    (tmp_path / "userdata.py").write_text(MODULE)
    (tmp_path / "failing.py").write_text("raise RuntimeError('not today')\n")
    (tmp_path / "needy.py").write_text("import a_library_that_nobody_has\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    sys.path[:] = [entry for entry in sys.path if entry]
    yield tmp_path
    for name in ("userdata", "failing", "needy"):
        sys.modules.pop(name, None)


def write(folder, name, data):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(path)


def test_one_document_comes_in_copies_that_are_fresh_objects(folder):
    payload = from_source(write(folder, "body.json", '{"a": [1, 2.5], "b": {"c": "x"}}'))
    assert (payload.name, payload.rotation, payload.distinct) == ("body.json", "copies", 1)
    first, other = payload.make(0), payload.make(1)
    assert equal(first, {"a": [1.0, 2.5], "b": {"c": "x"}})  # the normal form: the int among floats is a float
    assert equal(first, other)
    assert first is not other
    assert first["b"] is not other["b"]


def test_lines_are_distinct_values_and_the_schema_is_that_of_all(folder):
    lines = [json.dumps({"n": number, "late": 1} if number > 990 else {"n": number}) for number in range(1000)]
    payload = from_source(write(folder, "rows.jsonl", "\n\r\n".join(lines) + "\n"))
    assert (payload.rotation, payload.distinct) == ("distinct", 64)
    values = [payload.make(number) for number in range(65)]
    assert len({value["n"] for value in values}) == 64
    assert values[64] == values[0]
    assert [item.name for item in payload.schema.records[0].fields] == ["n", "late"]


def test_a_sample_that_is_chosen_from_says_of_how_many_and_how_large(folder):
    # 990 lines of 9 bytes and 10 of 109: nearest-rank p50 and p99 are 9, the largest is 109.
    lines = [f'["{number:05}"]' for number in range(990)] + [f'["{number:0105}"]' for number in range(10)]
    payload = from_source(write(folder, "rows.jsonl", "\n".join(lines)))
    assert payload.doc.startswith("1,000 lines of 9 bytes at p50, 9 at p99, 109 at most; 64 of them stand for all")


def test_a_ping_that_is_most_of_the_traffic_is_most_of_what_is_measured(folder):
    lines = ['{"ping":1}'] * 900 + [json.dumps({"data": "x" * 50, "n": number}) for number in range(100)]
    payload = from_source(write(folder, "rows.jsonl", "\n".join(lines)))
    pings = sum("ping" in payload.make(number) for number in range(64))
    # Its share is 57.6 of 64, and what is chosen out of each sixteenth of the sizes may be one off.
    assert 56 <= pings <= 59
    assert payload.distinct == 64 - pings + 1
    assert payload.rotation == "copies"


def test_files_and_folders_are_one_sample(folder):
    (folder / "many").mkdir()
    for number in range(3):
        write(folder, f"many/{number}.json", json.dumps({"a": number, **({"b": "x"} if number else {})}))
    (folder / "many/.hidden").write_text("no data")
    (folder / "many/service.proto").write_text("a schema")
    payload = from_source(str(folder / "many"))
    assert [payload.make(number)["a"] for number in range(3)] == [0, 1, 2]
    assert payload.name == "0.json and 2 more"
    assert [item.required for item in payload.schema.records[0].fields] == [True, False]
    with pytest.raises(PayloadError, match=r"field /b is not in the value of 0\.json"):
        from_source(str(folder / "many"), fields=["/b"])
    write(folder, "many/bad.json", "{")
    with pytest.raises(PayloadError, match=r"^.*many/bad\.json: not JSON"):
        from_source(str(folder / "many"))
    write(folder, "many/more.npz", "")
    with pytest.raises(PayloadError, match=r"several kinds, \.json and \.npz"):
        from_source(str(folder / "many"))


def test_a_list_of_many_is_chosen_from_too(folder):
    payload = from_source("userdata:many")
    assert payload.doc == "100 values of Point; 64 of them stand for all by size and shape"


def test_a_class_reads_json_as_the_codec_json_does(folder):
    source = write(folder, "points.jsonl", '{"x":1,"y":2.5,"name":null}\n{"x":2,"y":3,"name":"a"}')
    payload = from_source(source, schema=load_schema("userdata:Point"))
    cls = sys.modules["userdata"].Point
    assert [payload.make(0), payload.make(1)] == [cls(1, 2.5), cls(2, 3.0, "a")]
    for line, reason in [('{"x":1,"y":2.5,"name":null,"z":1}', "z"), ('{"x":"1","y":1,"name":null}', "/x")]:
        with pytest.raises(PayloadError, match=f"points.jsonl: line 1: .*{reason}"):
            from_source(write(folder, "points.jsonl", line), schema=load_schema("userdata:Point"))


def test_few_lines_are_copies_and_repeated_lines_count_once(folder):
    payload = from_source(write(folder, "rows.ndjson", '{"a":1}\n{"a":1}\n{"a":2}\n\n'))
    assert (payload.rotation, payload.distinct) == ("copies", 2)
    assert [payload.make(number)["a"] for number in range(3)] == [1, 2, 1]


def test_a_line_separator_inside_a_string_does_not_end_a_line(folder):
    payload = from_source(write(folder, "rows.jsonl", '{"a":"x\u2028y"}\n{"a":"z"}'))
    assert payload.make(0) == {"a": "x\u2028y"}
    assert payload.distinct == 2


def test_a_byte_order_mark_is_no_error(folder):
    assert from_source(write(folder, "bom.json", b"\xef\xbb\xbf[1]")).make(0) == [1]


def test_repeated_keys_keep_the_last_value_and_are_noted(folder):
    payload = from_source(write(folder, "twice.json", '{"a": {"k": 1, "k": 2, "j": 3}, "b": {"k": 1, "k": 1, "k": 4}}'))
    assert payload.make(0) == {"a": {"k": 2, "j": 3}, "b": {"k": 4}}
    assert any("3 repeated keys ('k'), of which the last value stands" in note for note in payload.schema.notes)


def test_the_file_is_read_once(folder):
    path = write(folder, "body.json", '{"a": 1}')
    payload = from_source(path)
    write(folder, "body.json", "changed")
    assert pickle.loads(pickle.dumps(payload)).make(0) == {"a": 1}


def test_the_field_is_the_scalar_leaf_in_the_middle(folder):
    # Leaves in document order: /a, /b/0, /b/1, /b/2, /c: the middle one of five is /b/1.
    assert from_source(write(folder, "a.json", '{"a": 1, "b": [1, 2, 3], "c": "x"}')).field == "/b/1"
    # None is no scalar: /a, /c remain, and the later of the two is the middle.
    assert from_source(write(folder, "b.json", '{"a": 1, "b": null, "c": "x"}')).field == "/c"
    assert from_source(write(folder, "c.json", "7")).field == ""
    assert from_source(write(folder, "d.json", '{"x/y": {"a~b": 1}}')).field == "/x~1y/a~0b"


def test_the_field_exists_in_every_line(folder):
    # The middle of the first line is /b/0, which the second lacks; /c is the nearest that both have.
    payload = from_source(write(folder, "rows.jsonl", '{"a":1,"b":[1],"c":2}\n{"a":1,"b":[],"c":2}\n'))
    assert payload.field == "/c"


def test_the_users_fields_come_first(folder):
    payload = from_source(write(folder, "a.json", '{"a": 1, "b": [1, {"c": null}]}'), fields=["/b/1/c", "/a"])
    assert payload.fields == ("/b/1/c", "/a")
    assert payload.field == "/b/1/c"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/statu", r"field /statu is not in the value: the root has status"),
        ("/user/nam", r"field /user/nam is not in the value: /user has name"),
        ("/ids/7", r"field /ids/7 is not in the value: /ids is a list of 2 items"),
        ("/ids/x", r"field /ids/x is not in the value: /ids is a list of 2 items"),
        ("/status/x", r"field /status/x is not in the value: /status has no parts"),
        ("/user", r"field /user of the value has parts of its own: it has name"),
        ("/ids", r"field /ids of the value has parts of its own: it is a list of 2 items"),
        ("", r"field the root of the value has parts of its own"),
        ("user/name", r"a path starts with '/', as in '/user/name'"),
    ],
)
def test_a_field_that_cannot_be_read_is_refused_with_the_nearest_path(folder, path, reason):
    source = write(folder, "a.json", '{"status": "ok", "user": {"name": "x"}, "ids": [1, 2]}')
    with pytest.raises(PayloadError, match=reason):
        from_source(source, fields=[path])


def test_a_field_that_a_line_lacks_is_refused_with_the_line(folder):
    source = write(folder, "rows.jsonl", '{"a":1}\n\n{"b":1}\n')
    with pytest.raises(PayloadError, match="field /a is not in the value of line 3"):
        from_source(source, fields=["/a"])


BAD_FILES = [
    ("empty.json", b"", "the file is empty"),
    ("blank.json", b" \n\t", "the file holds blanks alone"),
    ("blank.jsonl", b"\n \n", "the file holds blanks alone"),
    ("text.json", b"hello", "not JSON: Expecting value at line 1 column 1"),
    ("cut.json", b'{"a":\n [1, 2', "not JSON: Expecting ',' delimiter at line 2 column 7"),
    ("two.json", b"{}\n{}", "not JSON: Extra data at line 2 column 1; a document per line is what .jsonl files hold"),
    ("bad.jsonl", b'{"a":1}\n{"a":\n', "line 2: not JSON: Expecting value at column 6"),
    ("nan.json", b'{"a": NaN}', "NaN is not JSON"),
    ("inf.jsonl", b"[1]\n[-Infinity]", "line 2: -Infinity is not JSON"),
    ("large.json", b"[1e400]", "the number 1e400 is beyond float64"),
    ("digits.json", b"[" + b"9" * 5000 + b"]", "an integer has more digits than Python converts"),
    ("deep.json", b"[" * 100_000 + b"]" * 100_000, "nested deeper"),
    ("101.json", b"[" * 101 + b"1" + b"]" * 101, "nested deeper than 100 levels"),
    ("utf16.json", '{"a": 1}'.encode("utf-16"), "not UTF-8: byte 0xff at offset 0"),
    ("latin.jsonl", b'["a"]\n["\xe9"]', "line 2: not UTF-8: byte 0xe9 at offset 2"),
    ("zeros.json", bytes(64), "not JSON: Expecting value at line 1 column 1"),
    ("lone.json", b'{"a": ["\\ud800"]}', r"lone surrogate '\\ud800' at character 0 has no UTF-8 form \(at /a/0\)"),
    ("data.yaml", b"a: 1", "only .json, .jsonl, .ndjson, .npy, .* files are read without --schema"),
]


@pytest.mark.parametrize(("name", "data", "reason"), BAD_FILES, ids=[row[0] for row in BAD_FILES])
def test_a_bad_file_is_one_line_that_names_the_file_and_the_reason(folder, name, data, reason):
    path = write(folder, name, data)
    with pytest.raises(PayloadError, match=reason) as caught:
        from_source(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert len(message) < len(path) + 200


def test_paths_that_are_no_readable_file_are_one_line(folder):
    (folder / "folder.json").mkdir()
    os.mkfifo(folder / "pipe.json")
    (folder / "loop.json").symlink_to("loop.json")
    with (folder / "huge.json").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    for text, reason in [
        ("folder.json", "this is a directory"),
        ("pipe.json", "this is no regular file"),
        ("loop.json", "cannot be read: Too many levels of symbolic links"),
        ("huge.json", "268,435,457 bytes are more than 268,435,456"),
        ("missing.json", "missing.json: there is no such file$"),
        ("nul\0.json", "cannot be read: .*embedded null"),
        ("x" * 300 + ".json", "cannot be read: File name too long"),
        ("request-1k", "no such file; the built-in request-1k is asked for with --payload request-1k"),
        ("", "this is a directory"),
    ]:
        with pytest.raises(PayloadError, match=reason):
            from_source(text)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_one_line(folder):
    path = write(folder, "secret.json", "1")
    Path(path).chmod(0)
    with pytest.raises(PayloadError, match="cannot be read: Permission denied"):
        from_source(path)


def test_a_function_brings_the_schema_of_its_class(folder):
    payload = from_source("userdata:one")
    cls = sys.modules["userdata"].Point
    assert payload.schema.records[0].cls is cls
    assert payload.make(0) == cls(1, 2.0, "a")
    assert (payload.name, payload.source, payload.distinct) == ("userdata:one", "userdata:one", 1)


def test_a_list_or_iterator_is_many_values(folder):
    assert from_source("userdata:many").distinct == 64
    assert from_source("userdata:endless").make(5).x == 5
    twins = from_source("userdata:twins")
    assert (twins.distinct, twins.rotation) == (2, "copies")


def test_plain_values_of_a_function_have_their_schema_inferred(folder):
    payload = from_source("userdata:plain")
    assert payload.schema.records[0].cls is None
    assert equal(payload.make(0), {"a": 1, "b": [1.5, 2.0]})


def test_the_tensor_of_a_users_value_is_found(folder):
    payload = from_source("userdata:image")
    assert payload.tensor == "/pixels"
    assert payload.schema.records[0].fields[1].type.kind is Kind.TENSOR
    assert equal(at(payload.make(0), "/pixels"), np.arange(6, dtype=np.uint8).reshape(2, 3))


def test_a_payload_of_the_users_own_is_taken_as_it_is(folder):
    payload = from_source("userdata:payload", fields=["/text"])
    assert isinstance(payload, Payload)
    assert (payload.name, payload.source, payload.field) == ("llm-chunk", "userdata:payload", "/text")
    assert from_source("userdata:payload").field == "/token_id"


BAD_REFERENCES = [
    ("no_such_module:f", "there is no module 'no_such_module', in this folder or installed"),
    ("no_such.module:f", "there is no module 'no_such'"),
    ("failing:f", "importing failing raised RuntimeError: not today"),
    ("needy:f", "needy imports 'a_library_that_nobody_has', which is not installed"),
    ("userdata:absent", "module userdata has no 'absent'"),
    ("userdata:Point", "this is a class, which is no data"),
    ("userdata:CONSTANT", "this is of type dict; write a function that returns it"),
    ("userdata:raises", "the function raised LookupError: no such table"),
    ("userdata:leaves", "the function raised SystemExit: 3"),
    ("userdata:needs", "the function raised TypeError: needs.. missing 1 required positional argument"),
    ("userdata:later", "the function is async"),
    ("userdata:nothing", "the function returned None"),
    ("userdata:none_at_all", "the function returned no values"),
    ("userdata:mixed", r"the values are of several classes \(Image, Point\)"),
    ("userdata:lone", r"lone surrogate .* \(at /a\)"),
    ("userdata:wrong", r"int64 is needed, not str 'x' \(at /x\)"),
    ("userdata:tensors", "userdata:tensors: "),
    ("userdata:local", "the values cannot be sent to another process"),
    ("userdata:unpicklable", "the payload cannot be sent to another process"),
    ("userdata:broken", "make raised ValueError: no value"),
]


@pytest.mark.parametrize(("reference", "reason"), BAD_REFERENCES, ids=[row[0] for row in BAD_REFERENCES])
def test_a_bad_reference_is_one_line_that_names_it(folder, reference, reason):
    with pytest.raises(PayloadError, match=reason) as caught:
        from_source(reference)
    assert str(caught.value).startswith(f"{reference}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["inference/openai/chat_completion.json", "inference/kserve/sklearn_mixedtype_v1.json"]
)
def test_shared_bodies_are_read_as_the_standard_library_reads_them(shared_data, name):
    payload = from_source(str(shared_data / name))
    expected = json.loads((shared_data / name).read_text())
    assert payload.make(0) == expected  # up to 1 == 1.0, which is what normal may change
    assert not isinstance(at(expected, payload.field), dict | list)


def test_texts_that_a_fast_parser_would_change_are_read_strictly(folder):
    big, small, wide = 2**64, -(2**63) - 1, "1.2345678901234567890123456789e-5"
    for text, expected in [
        (f'{{"a": {big}}}', {"a": big}),
        (f'{{"a": [{small}, 1]}}', {"a": [small, 1]}),
        (f'{{"a": {wide}, "b": "{big}"}}', {"a": float(wide), "b": str(big)}),
        ('{"a": 1e300}', {"a": 1e300}),
        ('{"a": -0.0}', {"a": -0.0}),
    ]:
        assert equal(from_source(write(folder, "a.json", text)).make(0), expected)
        assert equal(from_source(write(folder, "a.jsonl", f'{{"a": null}}\n{text}')).make(1), expected)


@pytest.mark.parametrize("fast", ["orjson", "json"])
def test_repeated_keys_are_noted_whatever_else_stands_in_the_strings(folder, monkeypatch, fast):
    if fast == "json":
        monkeypatch.setitem(sys.modules, "zcser.codecs.orjson", None)
    strings = [r"\"", r"\\", r"\\\"", r"\u0022", r"\u0022\u0022", r"\\u0022", "\u2028é", ""]
    for text in strings:
        for key in ("k", *strings):
            once = f'{{"{key}x": "{text}", "b": [{{"{text}y": 1}}, "{text}"]}}'
            twice = f'{{"{key}x": null, "{key}x": "{text}", "b": [{{"{text}y": 1}}, "{text}"]}}'
            payload = from_source(write(folder, "once.ndjson", f'{{"c":"\\""}}\n{once}'))
            assert payload.make(1) == json.loads(once)
            assert not [note for note in payload.schema.notes if "repeated" in note]
            payload = from_source(write(folder, "twice.ndjson", f'{{"c":"\\""}}\n{twice}'))
            assert payload.make(1) == json.loads(once)
            assert [note for note in payload.schema.notes if note.startswith("the root: 1 repeated keys (")]


def test_bad_lines_are_found_by_the_standard_library_alone_too(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "zcser.codecs.orjson", None)
    for name, data, reason in BAD_FILES:
        with pytest.raises(PayloadError, match=reason):
            from_source(write(folder, name, data))
    assert from_source(write(folder, "a.ndjson", f'{{"a": {2**70}}}\n')).make(0) == {"a": 2**70}


def test_lines_are_read_in_blocks_whatever_their_length(folder, monkeypatch):
    lines = [
        json.dumps({"n": number, "text": "x" * length}) for number, length in enumerate([0, 5, 70, 300, 64, 65, 1])
    ]
    expected = [json.loads(line) for line in lines]
    path = write(folder, "rows.ndjson", "\r\n\n".join(lines))
    for size in (1, 7, 64, 1000):
        monkeypatch.setattr("zcser.payloads.files._BLOCK", size)
        seen = []
        payload = from_source(path, watch=lambda count, done, total, seen=seen: seen.append((count, total)))
        assert payload.values(7) == expected
        whole = Path(path).stat().st_size
        assert seen[-1] == (7, whole)
        assert len(seen) > (1 if size == 1000 else 2)
        with pytest.raises(PayloadError, match="line 13: not JSON"):
            from_source(write(folder, "bad.ndjson", "\r\n\n".join([*lines[:6], "{"])))
    monkeypatch.setattr("zcser.payloads.files._BLOCK", 64)
    monkeypatch.setattr("zcser.payloads.files.MAX_BYTES", 200)
    with pytest.raises(PayloadError, match="a line is longer than 200 bytes"):
        from_source(path)


def test_a_large_file_of_lines_takes_no_more_memory_than_a_small_one(folder):
    line = json.dumps({"id": 1, "text": "x" * 1000, "tags": ["a"] * 20}) + "\n"
    path = Path(write(folder, "rows.ndjson", line * 64))
    from_source(str(path))
    tracemalloc.start()
    try:
        peaks = []
        for _ in range(2):
            path.write_text(path.read_text() * 8)
            tracemalloc.reset_peak()
            from_source(str(path))
            peaks.append(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0] + (1 << 22)  # of files of 0.6 MB and of 4.7 MB


def test_values_are_read_by_a_schema_that_is_given(folder):
    schema = Schema(
        Ref("Row"),
        (
            Record(
                "Row",
                (
                    Field("data", Bytes(), 1),
                    Field("pixels", Tensor("uint8", (2,)), 2, required=False),
                    Field("n", Float(), 3, required=False, default=0.5),
                ),
            ),
        ),
    )
    path = write(
        folder,
        "a.jsonl",
        '\ufeff{"data": "AAE="}\n{"data": "", "n": 1, "pixels": {"dtype":"uint8","shape":[2],"base64":"AQI="}}',
    )
    payload = from_source(path, schema=schema)
    assert payload.schema is schema
    assert equal(payload.make(0), {"data": b"\0\1", "n": 0.5})
    assert equal(payload.make(1), {"data": b"", "n": 1.0, "pixels": np.array([1, 2], np.uint8)})
    with pytest.raises(PayloadError, match=r"a.jsonl: line 2: .*base64.*\(at /data\)"):
        from_source(write(folder, "a.jsonl", '{"data": "AAE="}\n{"data": "A"}'), schema=schema)
    with pytest.raises(PayloadError, match="has a schema of its own"):
        from_source("userdata:payload", schema=schema)
    with pytest.raises(PayloadError, match="'a' is not a field of Row"):
        from_source("userdata:plain", schema=schema)
