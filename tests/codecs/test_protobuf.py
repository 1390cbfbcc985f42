"""What is protobuf's own: its traps (the shared cases 36 to 44 and 65), its limits, and what the mapping promises."""

from __future__ import annotations

import array
import mmap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict

import numpy as np
import pytest

from tests.conformance.laws import assert_same
from tests.conformance.strategies import samples
from tests.protowire.outer import OUTER, OUTER_BYTES, OUTER_CODEC, STRICT_CODEC, Colour, Inner, Outer, codec_of
from tests.protowire.test_emit import ODD
from zcser.codecs.protobuf import ProtobufCodec
from zcser.core.errors import DecodeError, EncodeError, ReleasedViewError
from zcser.core.options import Limits, Options
from zcser.core.view import release, retained_bytes, to_value
from zcser.schema.annotations import Float32, Length
from zcser.schema.normal import normal

# --- the shared cases -------------------------------------------------------------------------------------------------


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * mmap.PAGESIZE


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux' statm")
def test_case_36_decoding_again_and_again_does_not_grow():
    codec = codec_of(list[str])
    data = codec.encode(["w" * 50] * 200)
    for _ in range(200):
        codec.decode(data)
    before = _resident_bytes()
    for _ in range(2000):
        codec.decode(data)
        codec.encode(["w" * 50] * 200)
        codec.view(data)
    # A message that was parsed into 2,000 times holds 42 MB here.
    assert _resident_bytes() - before < 10_000_000


@pytest.mark.parametrize(
    "wrap",
    [
        bytearray,
        memoryview,
        lambda data: memoryview(b"?" + data)[1:],
        lambda data: array.array("B", data),
        lambda data: np.frombuffer(data, np.uint8),
        lambda data: np.frombuffer(b"?" + data, np.uint8)[1:],
    ],
    ids=["bytearray", "memoryview", "odd address", "array", "ndarray", "ndarray at an odd address"],
)
def test_case_38_any_contiguous_buffer_is_decoded(wrap):
    assert_same(OUTER_CODEC.decode(wrap(OUTER_BYTES)), OUTER)
    assert_same(to_value(OUTER_CODEC.view(wrap(OUTER_BYTES))), OUTER)


def test_case_38_a_strided_buffer_is_refused_by_name():
    strided = memoryview(bytes(byte for byte in OUTER_BYTES for _ in range(2)))[::2]
    for call in (OUTER_CODEC.decode, OUTER_CODEC.view, OUTER_CODEC.load):
        with pytest.raises(DecodeError, match="contiguous"):
            call(strided)


def test_case_38_bytes_fields_take_any_bytes():
    codec = codec_of(list[bytes])
    assert codec.decode(codec.encode([bytearray(b"q"), memoryview(b"abcd")[::2], b"z"])) == [b"q", b"ac", b"z"]


def test_case_39_a_list_shared_by_two_fields_is_copied_into_both():
    shared = [Inner(1, ["a"])]
    codec = codec_of(dict[str, list[Inner]])
    assert codec.decode(codec.encode({"a": shared, "b": shared})) == {"a": shared, "b": shared}


def test_case_41_depth_is_bounded_in_nested_lists_and_maps_too():
    deep: Any = int
    for _ in range(6):
        deep = dict[str, list[deep]]
    value: Any = 1
    for _ in range(6):
        value = {"k": [value]}
    assert codec_of(deep).decode(codec_of(deep).encode(value)) == value
    tight = codec_of(deep, limits=Limits(depth=5))
    with pytest.raises(EncodeError, match="deeper than 5"):
        tight.encode(value)
    with pytest.raises(DecodeError, match="deeper than 5"):
        tight.decode(codec_of(deep).encode(value))
    with pytest.raises(DecodeError, match="deeper than 5"):
        tight.view(codec_of(deep).encode(value))


HALF_STEP = 3.4028235677973366e38  # halfway between the largest float32 and what would come after it


@pytest.mark.parametrize(
    ("source", "wrap"),
    [
        (Float32, lambda number: number),
        (Float32 | None, lambda number: number),
        (int | Float32, lambda number: number),
        (list[Float32], lambda number: [0.0, number]),
        (dict[str, Float32], lambda number: {"k": number}),
    ],
    ids=["scalar", "optional", "union", "list", "map"],
)
def test_case_42_a_float32_never_becomes_infinite_by_itself(source, wrap):
    codec = codec_of(source)
    for number in (3e39, -3e39, HALF_STEP):
        with pytest.raises(EncodeError, match="too large for float32"):
            codec.encode(wrap(number))
    for number, stands in ((float("inf"), float("inf")), (np.nextafter(HALF_STEP, 0).item(), 3.4028234663852886e38)):
        assert_same(codec.decode(codec.encode(wrap(number))), wrap(stands))


def test_case_44_equal_values_give_equal_bytes_where_asked():
    keys = [f"k{number}" for number in range(12)]
    codec = codec_of(dict[str, int], deterministic=True)
    assert codec.encode(dict.fromkeys(keys, 1)) == codec.encode(dict.fromkeys(reversed(keys), 1))


def test_case_65_a_message_cut_between_fields_cannot_be_told_from_a_shorter_one():
    @dataclass
    class Three:
        a: list[int]
        b: list[str]
        c: bytes

    codec = codec_of(Three)
    data = codec.encode(Three([1, 2, 3], ["alpha", "beta"], b"x" * 20))
    #        a: 2 + 3            b: 2 + 5, 2 + 4          c
    whole = {0: Three([], [], b""), 5: Three([1, 2, 3], [], b""), 12: Three([1, 2, 3], ["alpha"], b""),
             18: Three([1, 2, 3], ["alpha", "beta"], b"")}  # fmt: skip
    for size in range(len(data)):
        if size in whole:
            assert codec.decode(data[:size]) == whole[size]
        else:
            with pytest.raises(DecodeError):
                codec.decode(data[:size])
    assert not codec.info.self_delimiting


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ("f801 01", "Outer"),  # field 31 is nobody's
        ("09 0000000000000000", "Outer"),  # field 1 is a varint, not 64 bits
        ("22 04 0801 1801", "Inner"),  # field 3 of Inner, in a required record
        ("2a 04 0801 1801", "Inner"),  # in a list
        ("32 09 0a016b 1204 0801 1801", "Inner"),  # in a map
        ("3a 06 1a04 0801 1801", "Inner"),  # in a union
        ("4a 02 2005", "Outer/tensor"),
        ("42 02 1005", "Outer/grid/*"),
        ("5a 04 0801 1801", "Inner"),  # in an optional
    ],
)
def test_case_65_fields_left_over_are_refused_where_asked(data, path):
    foreign = OUTER_BYTES + bytes.fromhex(data)
    with pytest.raises(DecodeError, match="unknown, or of another wire type") as caught:
        STRICT_CODEC.decode(foreign)
    assert caught.value.path == path
    with pytest.raises(DecodeError, match="unknown, or of another wire type"):
        STRICT_CODEC.view(foreign)
    assert_same(STRICT_CODEC.decode(OUTER_BYTES), OUTER)


def test_case_65_fields_left_over_are_dropped_else():
    assert_same(OUTER_CODEC.decode(OUTER_BYTES + bytes.fromhex("f801 01")), OUTER)


# --- what a message lacks ---------------------------------------------------------------------------------------------


@dataclass
class Needs:
    record: Inner
    tensor: np.ndarray
    either: int | str


@pytest.mark.parametrize("name", ["record", "tensor", "either"])
def test_a_required_message_that_is_missing_is_refused_by_its_path(name):
    codec = codec_of(Needs)
    native = codec.convert(Needs(Inner(1, []), np.zeros(2), 0))
    native.ClearField(name)
    for call in (codec.decode, codec.view):
        with pytest.raises(DecodeError, match=r"lacks|missing") as caught:
            call(codec.dump(native))
        assert caught.value.path == f"Needs/{name}"
        assert caught.value.codec == "protobuf"


@dataclass
class Defaults:
    zero: int = 0
    five: int = 5
    minus_zero: float = -0.0
    text: str = "x"
    colour: Colour = Colour.RED
    inner: Inner = field(default_factory=lambda: Inner(3, ["d"]))
    corner: Annotated[list[int], Length(2)] = field(default_factory=lambda: [1, 2])
    items: list[int] = field(default_factory=lambda: [1])
    maybe: int | None = 4


def test_what_an_older_message_lacks_takes_its_default():
    codec = codec_of(Defaults)
    # A list and an optional cannot be told from empty and None, which protobuf writes as nothing.
    expected = Defaults(items=[], maybe=None)
    assert_same(codec.decode(b""), expected)
    assert_same(to_value(codec.view(b"")), expected)
    assert codec.view(b"")["corner"] == [1, 2]
    assert codec.view(b"")["inner"] == Inner(3, ["d"])
    for value in (Defaults(0, 0, 0.0, "", Colour.GREEN, Inner(0, []), [0, 0], [], 0), Defaults()):
        assert_same(codec.decode(codec.encode(value)), value)


def test_an_enum_without_a_zero_refuses_unspecified():
    codec = codec_of(list[Colour])
    assert codec.encode([Colour.RED, Colour.GREEN]) == bytes.fromhex("0a 02 01 02")
    for data in ("0a 01 00", "0a 01 03", "0a 0a ffffffffffffffffff01"):
        for call in (codec.decode, codec.view):
            with pytest.raises(DecodeError, match="Colour has no member"):
                call(bytes.fromhex(data))


# --- limits and errors ------------------------------------------------------------------------------------------------


def test_a_message_larger_than_the_limit_is_refused_both_ways():
    tight = codec_of(bytes, limits=Limits(bytes=100))
    assert len(tight.encode(bytes(98))) == 100
    with pytest.raises(EncodeError, match=r"101 bytes are more than limits\.bytes = 100"):
        tight.encode(bytes(99))
    with pytest.raises(DecodeError, match=r"101 bytes are more than limits\.bytes = 100"):
        tight.decode(bytes(101))


@pytest.mark.parametrize("shape", [(), (0,), (0, 5), (3, 0), (1,) * 32])
def test_tensors_of_odd_shapes_come_back(shape):
    codec = codec_of(np.ndarray)
    array_ = np.ones(shape, np.int16)
    assert_same(codec.decode(codec.encode(array_)), array_)
    assert_same(codec.view(codec.encode(array_)), array_)


def test_a_constructor_that_refuses_is_a_decode_error():
    @dataclass
    class Even:
        n: int

        def __post_init__(self) -> None:
            if self.n % 2:
                raise RuntimeError("odd")

    codec = codec_of(Even)
    assert codec.decode(b"\x08\x02") == Even(2)
    with pytest.raises(DecodeError, match="odd"):
        codec.decode(b"\x08\x01")
    with pytest.raises(DecodeError, match="odd"):
        to_value(codec.view(b"\x08\x01"))


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": "\ud800"}, "/a"),
        ({"a": b"bytes"}, "/a"),
        ({"a": "x", "b": [1, True]}, "/b/1"),
        ({"a": "x", "b": [2**63]}, "/b/0"),
        ({"a": "x", "c": {"k": 2.5}}, "/c/k"),
        ({"a": "x", "d": 1}, ""),
        ({"b": []}, ""),
        ([], ""),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused_with_its_path(value, path):
    class Some(TypedDict):
        a: str
        b: NotRequired[list[int]]
        c: NotRequired[dict[str, int]]

    with pytest.raises(EncodeError) as caught:
        codec_of(Some).encode(value)
    assert caught.value.path == path
    assert caught.value.codec == "protobuf"


def test_without_the_guard_good_values_still_come_back():
    codec = codec_of(Outer, guard="off")
    assert codec.encode(OUTER) == OUTER_BYTES
    assert_same(codec.decode(OUTER_BYTES), OUTER)
    assert_same(to_value(codec.view(OUTER_BYTES)), OUTER)
    with pytest.raises(EncodeError):
        codec.encode({"not": "an Outer"})
    with pytest.raises(DecodeError):
        codec.decode(b"\xff")


# --- views and the ledger ---------------------------------------------------------------------------------------------


def test_release_ends_access_through_all_views_but_not_arrays():
    view = OUTER_CODEC.view(OUTER_BYTES)
    inner, table, grid, tensor, blob = (view[name] for name in ("inner", "table", "grid", "tensor", "blob"))
    assert retained_bytes(view) == retained_bytes(inner) == len(OUTER_BYTES)
    release(view)
    release(view)
    for use in (
        lambda: view["id"],
        lambda: inner["n"],
        lambda: table["k"],
        lambda: len(grid),
        lambda: list(grid),
        lambda: to_value(inner),
        lambda: to_value(grid),
    ):
        with pytest.raises(ReleasedViewError):
            use()
    assert retained_bytes(view) == 0
    assert_same(tensor, OUTER.tensor)
    assert bytes(blob) == OUTER.blob


def test_a_map_view_does_not_grow_by_being_asked():
    view = OUTER_CODEC.view(OUTER_BYTES)
    for key in ("absent", 1, None, "\ud800"):
        assert key not in view["table"]
        with pytest.raises(KeyError):
            view["table"][key]
    assert list(view["table"]) == ["k"]


def test_the_stages_of_the_ledger_are_the_whole():
    native = OUTER_CODEC.convert(OUTER)
    assert native is not OUTER_CODEC.convert(OUTER)
    assert OUTER_CODEC.dump(native) == OUTER_BYTES
    assert OUTER_CODEC.load(OUTER_BYTES) == native
    assert_same(OUTER_CODEC.restore(native), OUTER)


def test_without_a_copy_tensors_and_bytes_are_read_only_and_see_the_message_change():
    data = bytearray(OUTER_BYTES)
    value = OUTER_CODEC.decode(data, copy=False)
    assert not value.tensor.flags.writeable
    assert type(value.blob) is memoryview
    assert value.blob.readonly
    assert_same(value.tensor, OUTER.tensor)
    assert value.blob == OUTER.blob
    data[:] = bytes(len(data))
    assert_same(value.tensor, np.zeros((2, 1), np.float32))
    assert value.blob == bytes(2)
    assert OUTER_CODEC.decode(OUTER_BYTES).tensor.flags.writeable


@pytest.mark.parametrize("name", ODD)
def test_no_name_stands_in_the_way_of_a_round_trip(name):
    codec = ProtobufCodec(ODD[name], Options())
    for value in samples(ODD[name], 8):
        assert_same(codec.decode(codec.encode(value)), normal(ODD[name], value))
        assert_same(to_value(codec.view(codec.encode(value))), value)
