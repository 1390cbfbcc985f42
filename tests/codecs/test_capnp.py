"""Cap'n Proto: bytes worked out from the encoding spec, messages that the library alone built, and its traps."""

from __future__ import annotations

import dataclasses
import gc
import struct
import tempfile
from typing import Annotated, Any

import numpy as np
import pytest

pytest.importorskip("capnp", reason="pycapnp is not installed: pip install 'zcser[capnp]'")

import capnp

from tests.conformance.schemas import CASES, Circle, Node, Point
from zcser import registry
from zcser.capnp.emit import emit_capnp
from zcser.cli import main
from zcser.core.errors import DecodeError, TruncatedError
from zcser.core.view import to_value
from zcser.schema.annotations import Float32, Id, Int16, Int32


@dataclasses.dataclass
class Small:
    id: Int32
    flag: bool
    level: Int16 | None
    ratio: float
    name: str
    shape: Point | Circle
    blob: bytes | None = None


TEXT = """\
struct Small {  # the root
  id @0 :Int32;
  flag @1 :Bool;
  hasLevel @2 :Bool;
  level @3 :Int16;
  ratio @4 :Float64;
  name @5 :Text;
  shape @6 :PointOrCircle;
  blob @7 :Data;
}

struct Point {
  x @0 :Float64;
  y @1 :Float32;
}

struct Circle {
  centre @0 :Point;
  name @1 :Text;
}

struct PointOrCircle {
  union {
    point @0 :Point;
    circle @1 :Circle;
  }
}
"""

SMALL = Small(-2, True, -3, 0.5, "abc", Point(1.0, 2.0), b"xy")
# By the encoding spec. In the root's data: id in bits 0..31, flag in 32, hasLevel in 33, level in 48..63, ratio in the next
# word; a pointer counts its offset in words from its own end.
SMALL_BYTES = struct.pack(
    "<II QIBxhd QQQ 8s QQ df4x 8s",
    *(0, 12),
    2 << 32 | 3 << 48,  # the root: right behind this pointer, two words of data and three pointers
    *(0xFFFFFFFE, 3, -3, 0.5),
    1 | 2 << 2 | 2 << 32 | 4 << 35,  # text: bytes, four with the NUL
    0 | 2 << 2 | 1 << 32 | 1 << 48,  # the union's struct: its tag, and one pointer that its members share
    1 | 5 << 2 | 2 << 32 | 2 << 35,
    b"abc",
    *(0, 2 << 32),  # tag 0, then the point behind its pointer
    *(1.0, 2.0),
    b"xy",
)


def loaded(text: str, tmp_path: Any) -> Any:
    path = tmp_path / "schema.capnp"
    path.write_text(text)
    return capnp.SchemaParser().load(str(path))


def test_the_text_declares_what_the_layout_says_and_is_the_same_every_time():
    text = emit_capnp(Small)
    head, _, body = text.partition("\n\n")
    assert body == TEXT
    assert text == emit_capnp(Small)
    number = int(head.removeprefix("@0x").removesuffix(";"), 16)
    assert number >> 63 == 1
    assert emit_capnp(Small, file_id=(1 << 63) + 5).startswith("@0x8000000000000005;\n")
    with pytest.raises(ValueError, match="64 bits"):
        emit_capnp(Small, file_id=5)


def test_a_message_is_the_bytes_of_the_spec():
    codec = registry.codec("capnp", Small)
    assert codec.encode(SMALL) == SMALL_BYTES
    assert codec.decode(SMALL_BYTES) == SMALL


def test_the_command_line_writes_the_text(capsys):
    assert main(["schema", "zcser.payloads.messages:BatchMeta", "--emit", "capnp"]) == 0
    assert "struct BatchMeta {" in capsys.readouterr().out


def test_names_are_made_legal_and_kept_beside_the_field(tmp_path):
    text = emit_capnp(CASES["odd_names"])
    assert '  aB @1 :Text;  # "a/b"\n' in text
    assert '  aB2 @2 :Int64;  # "a~b"\n' in text
    loaded(text, tmp_path)


def test_a_field_of_a_new_id_moves_no_other():
    @dataclasses.dataclass
    class Old:
        b: Annotated[int, Id(7)]
        a: Annotated[str | None, Id(2)]

    @dataclasses.dataclass
    class New:
        c: Annotated[bool | None, Id(9)]
        a: Annotated[str | None, Id(2)]
        b: Annotated[int, Id(7)]

    old, new = emit_capnp(Old).splitlines(), emit_capnp(New).splitlines()
    assert old[3:5] == new[3:5] == ["  a @0 :Text;", "  b @1 :Int64;"]
    data = registry.codec("capnp", Old).encode(Old(5, "x"))
    assert registry.codec("capnp", New).decode(data) == New(None, "x", 5)


def test_the_library_and_the_codec_read_each_other(tmp_path):
    module = loaded(emit_capnp(CASES["maps"]), tmp_path)
    built = module.Maps.new_message(
        flags=[{"key": "f", "value": True}],
        byInt=[{"key": -1, "value": "one"}],
        colours=[{"key": "c", "value": "green"}],
    )
    for name in ("ints", "floats", "texts", "blobs", "points", "weights", "byByte", "byUnsigned", "byBool"):
        built.init(name, 0)
    codec = registry.codec("capnp", CASES["maps"])
    value = codec.decode(built.to_bytes())
    assert (value.flags, value.by_int, value.colours["c"].name) == ({"f": True}, {-1: "one"}, "GREEN")
    with module.Maps.from_bytes(codec.encode(value)) as reader:
        assert [(entry.key, entry.value) for entry in reader.byInt] == [(-1, "one")]
        assert str(reader.colours[0].value) == "green"


def test_messages_of_many_segments_are_read(tmp_path):
    module = loaded(emit_capnp(Node), tmp_path)
    built = capnp._MallocMessageBuilder(1).init_root(module.Node.schema)
    # The root alone fills the first segment; children that are set later are far from it.
    built.value = 1
    for child, value in zip(built.init("children", 300), range(300), strict=True):
        child.value = value
        child.init("children", 0)
    last = built.init("next")
    last.value = 7
    last.init("children", 0)
    data = built.to_bytes()
    assert data[:4] != bytes(4)
    codec = registry.codec("capnp", Node, unknown_fields="refuse")
    expected = Node(1, [Node(value, []) for value in range(300)], Node(7, []))
    assert codec.decode(data) == expected
    assert to_value(codec.view(data)) == expected
    for cut in range(0, len(data), 97):
        with pytest.raises(TruncatedError):
            codec.decode(data[:cut])


def test_nothing_of_a_schema_stays_on_disk(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    codec = registry.codec("capnp", CASES["sparse_ids"])
    assert list(tmp_path.iterdir()) == []
    assert codec.info.name == "capnp"


@pytest.mark.parametrize("size", [0, 5, 100_000])
def test_no_message_stays_in_memory_once_it_was_read(size):
    # pycapnp 2.2 loses a reference to whatever it lends the memory of.
    codec = registry.codec("capnp", CASES["optionals"])
    empty = dict.fromkeys(field.name for field in dataclasses.fields(CASES["optionals"].records[0].cls))
    value = CASES["optionals"].records[0].cls(**{**empty, "blob": bytes(size), "tensor": np.zeros(size, np.int16)})
    data = bytearray(codec.encode(value))
    for read in (codec.decode, lambda data: codec.decode(data, copy=False), lambda data: to_value(codec.view(data))):
        assert bytes(read(data).blob) == bytes(size)
        view = codec.view(data)
        assert (len(view.blob), view.tensor.shape) == (size, (size,))
        del view
        gc.collect()
        data.append(0)  # which what still reads from it would not allow
        data.pop()


def test_a_view_may_be_read_for_ever():
    codec = registry.codec("capnp", dict[str, list[str]])
    view = codec.view(codec.encode({"k": ["text"] * 100, "l": []}))
    words = 100 * 2
    for _ in range(30 + 1024 // words):
        assert list(view["k"]) == ["text"] * 100
        assert view["k"][-1] == "text"
    again = view["k"]
    for _ in range(30 + 1024 // words):
        assert [again[index] for index in range(100)] == ["text"] * 100
    assert len(view) == 2


def test_an_address_that_is_no_multiple_of_a_word_is_copied_and_read_all_the_same():
    codec = registry.codec("capnp", Small)
    buffer = bytearray(len(SMALL_BYTES) + 8)
    for offset in range(8):
        data = memoryview(buffer)[offset : offset + len(SMALL_BYTES)]
        data[:] = SMALL_BYTES
        assert codec.decode(data) == SMALL
        assert bytes(codec.decode(data, copy=False).blob) == b"xy"
        assert bytes(codec.view(data).blob) == b"xy"


def test_a_field_that_shares_a_word_with_known_ones_is_unknown_too():
    @dataclasses.dataclass
    class Flags:
        a: bool
        b: bool

    @dataclasses.dataclass
    class Flag:
        a: bool

    codec = registry.codec("capnp", Flag, unknown_fields="refuse")
    assert codec.decode(registry.codec("capnp", Flags).encode(Flags(True, False))) == Flag(True)
    with pytest.raises(DecodeError, match="does not know"):
        codec.decode(registry.codec("capnp", Flags).encode(Flags(True, True)))


def test_a_float_that_float32_would_make_infinite_is_refused_in_every_place():
    for source, value in ((Float32, 3.5e38), (list[Float32], [3.5e38]), (Float32 | None, -3.5e38)):
        with pytest.raises(ValueError, match="too large for float32"):
            registry.codec("capnp", source).encode(value)
