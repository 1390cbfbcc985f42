"""What users reported of the libraries below, each held here with the value that was right.

The number in a test's name is that of the case in the shared collection; its file names the reports. Those that are not
in this file are held elsewhere, as `ELSEWHERE` says:

====== ==================================================================================================================
15     in test_bombs.py, for every wire and every width of length
20     in test_shared_memory.py, with 26, 27, 29, 31, 32 and 62: lifetimes, memory and what is left of either
21     in test_tensors.py, with 23 and 25: dtypes and layouts
52     in tests/flat, where FlatBuffers are verified
61     in tests/measure: every operation states what lies inside its timed window
====== ==================================================================================================================

Where a case is about more than a codec layer, the part that is a codec's is held: of 29 and 32 (names of shared memory
that are left behind) that views let go of their region, of 58 (gRPC's 4 MiB) that the sender is told.
"""

from __future__ import annotations

import array
import dataclasses
import gc
import json
import math
import mmap
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import ml_dtypes
import numpy as np
import pytest

from tests.conformance.laws import (
    INFO,
    assert_round_trip,
    assert_same,
    carriers,
    encoded,
    has,
    param,
    read,
    written,
)
from tests.conformance.schemas import Branch, Node
from tests.conftest import SHARED_DATA
from zcser import registry
from zcser.core.errors import DecodeError, EncodeError, SchemaError
from zcser.core.options import Limits
from zcser.core.view import to_value
from zcser.schema.annotations import Float32, UInt16
from zcser.schema.model import Int, Tensor
from zcser.schema.normal import normal

Big = Annotated[int, Int(None)]
OPEN = carriers("json_like")
WRITERS = carriers("json_like", "encode")
VIEWERS = carriers("json_like", "view")
JSON = [param(name) for name, info in INFO.items() if info.wire == "json"]


@dataclasses.dataclass
class Row:
    id: int
    name: str
    numbers: list[float]


@dataclasses.dataclass
class Outer:
    nums: list[int]
    words: list[str]
    blob: bytes
    rows: list[Row]


OUTER = Outer([1, 2, 3], ["alpha", "beta"], b"x" * 20, [Row(1, "one", [0.5]), Row(2, "two", [])])


@pytest.mark.parametrize("name", VIEWERS)
def test_01_a_message_is_read_while_views_of_others_live(name):
    codec = registry.codec(name, Outer)
    data = written(name, Outer, OUTER)
    kept = [codec.view(data).rows[-1] for _ in range(20)]
    assert_same(codec.decode(data), OUTER)
    assert codec.view(data).nums[2] == 3
    assert [row.id for row in kept] == [2] * 20


@pytest.mark.parametrize("name", VIEWERS)
def test_02_a_view_outlives_the_codec_and_the_bytes_that_it_came_from(name):
    data = written(name, Outer, OUTER)
    views = [registry.codec(name, Outer).view(bytearray(data)) for _ in range(30)]
    gc.collect()
    junk = [bytearray(b"Z" * 5000) for _ in range(2000)]
    for view in views:
        assert_same(to_value(view), OUTER)
    del junk


@pytest.mark.parametrize("name", JSON)
def test_04_an_integer_over_64_bits_is_exact_or_refused(name):
    codec = registry.codec(name, dict[str, int])
    assert codec.decode(b'{"n":9223372036854775807}') == {"n": 2**63 - 1}
    for literal in (2**63, 2**64, -(2**63) - 1, 147573952589676412927):
        data = b'{"n":%d}' % literal
        assert isinstance(read(codec, data), DecodeError)
        assert_same(registry.codec("json", dict[str, Big]).decode(data), {"n": literal})
        if has(name, "encode"):
            with pytest.raises(EncodeError):
                codec.encode({"n": literal})


@pytest.mark.parametrize("name", JSON)
def test_05_view_and_decode_give_one_answer_to_a_repeated_key(name):
    codec = registry.codec(name, dict[str, int])
    assert codec.decode(b'{"limit": 1, "limit": 1000000}') == {"limit": 1_000_000}
    if has(name, "view"):
        view = codec.view(b'{"limit": 1, "limit": 1000000}')
        assert (view["limit"], len(view), to_value(view)) == (1_000_000, 1, {"limit": 1_000_000})


def nested(levels: int) -> Any:
    value: Any = {"name": "", "by_key": {}}
    for _ in range(levels // 2 - 1):
        value = {"name": "", "by_key": {"k": value}}
    return value


@pytest.mark.parametrize("name", carriers("recursive_dict", "encode"))
def test_08_there_is_one_depth_for_every_codec_and_a_cycle_is_over_it(name):
    codec = registry.codec(name, Branch)
    assert_same(codec.decode(codec.encode(nested(100))), nested(100))
    for levels in (102, 200, 300, 5000):
        with pytest.raises(EncodeError, match="deeper than 100"):
            codec.encode(nested(levels))
    cycle = nested(2)
    cycle["by_key"]["self"] = cycle
    with pytest.raises(EncodeError, match="contains itself"):
        codec.encode(cycle)


@pytest.mark.parametrize("name", JSON)
def test_07_input_of_any_depth_is_refused_the_same_way(name):
    codec = registry.codec(name, list[Branch])
    for levels in (100, 1000, 1025, 5000, 1_000_000):
        assert isinstance(read(codec, b"[" * levels + b"]" * levels), DecodeError)
    for levels in (102, 1000, 5000):
        data = b'[{"name":"","by_key":' + b'{"k":{"name":"","by_key":' * levels + b"{}" + b"}}" * levels + b"}]"
        assert isinstance(read(codec, data), DecodeError)


@pytest.mark.parametrize("name", JSON)
def test_10_what_stands_behind_a_slice_does_not_count(name):
    lists = registry.codec(name, list[list[int]])
    assert isinstance(read(lists, memoryview(b"[[]]   " + b" " * 64)[:3]), DecodeError)
    assert isinstance(read(registry.codec(name, dict[str, int]), memoryview(b'{"a":123456789}')[:6]), DecodeError)
    assert read(registry.codec(name, int), memoryview(b"12345678" + b" " * 64)[:4]) == 1234
    assert read(registry.codec(name, float), memoryview(b"0.12345678")[:4]) == 0.12


@pytest.mark.parametrize("name", OPEN)
def test_11_buffers_that_the_libraries_refuse_are_read(name):
    codec = registry.codec(name, Outer)
    data = written(name, Outer, OUTER)
    region = mmap.mmap(-1, len(data))
    region[:] = data
    for buffer in (array.array("B", data), region, np.frombuffer(data, np.uint8), memoryview(data).cast("b")):
        assert_same(codec.decode(buffer), OUTER)
    with pytest.raises(DecodeError, match="contiguous"):
        codec.decode(memoryview(bytes(byte for one in data for byte in (one, 0xC1)))[::2])


@pytest.mark.parametrize("name", OPEN)
def test_13_a_codec_that_ran_out_of_data_reads_the_next_message(name):
    codec = registry.codec(name, Outer)
    data = written(name, Outer, OUTER)
    for cut in range(0, len(data), 7):
        read(codec, data[:cut])
        assert_same(codec.decode(data), OUTER)


class Calling:
    """A tensor of another library, whose export calls back."""

    def __init__(self, array: np.ndarray[Any, Any], call: Callable[[], object]) -> None:
        self.array = array
        self.call = call

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        self.call()
        return self.array.__dlpack__(**options)


@dataclasses.dataclass
class Hooked:
    texts: list[str]
    tensors: list[np.ndarray]

    def __post_init__(self):
        for text in self.texts:
            HOOKS.get(text, lambda: None)()


HOOKS: dict[str, Callable[[], object]] = {}


@pytest.mark.parametrize("name", WRITERS)
def test_14_a_codec_that_is_called_while_it_works_does_both(name):
    codec = registry.codec(name, Hooked)
    small = Hooked(["text"], [np.arange(3.0), np.arange(4.0), np.arange(5000.0)])
    large = Hooked(["other"] * 500, [np.arange(20000.0)])
    data, other = codec.encode(small), codec.encode(large)

    def again() -> None:
        assert codec.encode(large) == other
        with pytest.raises(EncodeError):
            codec.encode(Hooked([5], []))
        assert_same(codec.decode(other), large)

    calling = Hooked(["text"], [np.arange(3.0), Calling(np.arange(4.0), again), np.arange(5000.0)])
    assert codec.encode(calling) == data
    if has(name, "encode_segments"):
        assert codec.encode(codec.decode_segments(codec.encode_segments(calling))) == data
    if has(name, "encode_into"):
        out = bytearray(len(data))
        codec.encode_into(calling, out)
        assert out == data
    HOOKS["text"] = again
    try:
        assert_same(codec.decode(data), small)
    finally:
        HOOKS.clear()


@pytest.mark.parametrize("name", WRITERS)
def test_14_a_value_that_changes_while_it_is_encoded_gives_a_message_or_an_error(name):
    codec = registry.codec(name, Hooked)
    for change in (
        lambda value: value.texts.clear(),
        lambda value: value.texts.extend(["more"] * 1000),
        lambda value: value.tensors.clear(),
        lambda value: value.tensors.extend([np.ones(100)] * 100),
        lambda value: value.tensors[2].resize(1, refcheck=False),
        lambda value: value.tensors[2].resize(10**5, refcheck=False),
        lambda value: value.tensors[1].array.resize(0, refcheck=False),
        lambda value: vars(value).clear(),
    ):
        value = Hooked(["text"], [np.arange(3.0), np.zeros(0), np.arange(5000.0)])
        value.tensors[1] = Calling(np.arange(4.0), lambda value=value, change=change: change(value))
        data = encoded(codec, value)
        if isinstance(data, bytes):
            codec.decode(data)


@pytest.mark.parametrize("name", WRITERS)
def test_17_bytes_given_as_views_are_taken_in_logical_order_with_their_length(name):
    codec = registry.codec(name, bytes)
    numbers = np.arange(6, dtype=np.int32).reshape(2, 3)
    for view in (
        numbers.data,
        numbers.ravel().data,
        numbers.T.data,
        numbers.ravel()[::2].data,
        numbers.ravel()[::-1].data,
        numbers[:0].data,
        np.array(5, np.int32).data,
        memoryview(b"abcdef")[::-2],
    ):
        assert codec.decode(codec.encode(view)) == view.tobytes()


@pytest.mark.parametrize("name", WRITERS)
def test_17_a_view_that_was_released_is_refused_with_its_path(name):
    codec = registry.codec(name, list[bytes])
    released = memoryview(b"abc")
    released.release()
    for operation in ("encode", "encode_into", "encode_segments"):
        if has(name, operation):
            with pytest.raises(EncodeError, match="released") as caught:
                getattr(codec, operation)([b"", released], *([bytearray(999)] if operation == "encode_into" else []))
            assert caught.value.path == "/1"
    with pytest.raises(EncodeError, match="released"):
        normal(bytes, released)


@pytest.mark.parametrize("name", WRITERS)
def test_18_keys_of_maps_come_back_as_they_were_or_are_refused(name):
    numbers = registry.codec(name, dict[int, str])
    assert_same(numbers.decode(numbers.encode({1: "x", -2: "y"})), {1: "x", -2: "y"})
    for wrong in ({"1": "x"}, {1: "a", "1": "b"}, {True: "x"}, {None: "x"}, {1.0: "x"}, {(1, 2): "x"}, {b"k": "x"}):
        with pytest.raises(EncodeError):
            numbers.encode(wrong)
    texts = registry.codec(name, dict[str, str])
    for wrong in ({1: "x"}, {b"k": "x"}, {None: "x"}):
        with pytest.raises(EncodeError):
            texts.encode(wrong)
    for key in (bytes, float, None, tuple[int, int]):
        with pytest.raises(SchemaError, match="keys"):
            registry.codec(name, dict[key, str])


@pytest.mark.parametrize("name", WRITERS)
def test_21_types_that_numpy_itself_forgets_come_back_by_name(name):
    codec = registry.codec(name, list[np.ndarray])
    types = (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.int4)
    # Large ones too, which some codecs take past their library.
    arrays = [np.resize(np.array([1, 2, 3, -1], dtype), shape) for dtype in types for shape in ((3,), (2, 8192))]
    found = codec.decode(codec.encode(arrays))
    assert [item.dtype for item in found] == [item.dtype for item in arrays]
    assert [item.view(np.uint8).tobytes() for item in found] == [item.view(np.uint8).tobytes() for item in arrays]


@pytest.mark.parametrize("name", WRITERS)
def test_25_pointers_are_no_data(name):
    codec = registry.codec(name, list[np.ndarray])
    structured = np.zeros(3, np.dtype([("a", np.int32), ("b", object)]))
    for wrong in (np.array([None, "x"], object), np.zeros((0,), object), np.array(None, object), structured):
        with pytest.raises(EncodeError, match="dtype") as caught:
            codec.encode([np.zeros(2), wrong])
        assert caught.value.path == "/1"
    with pytest.raises(DecodeError, match=r"object|pointers"):
        codec.decode(np.array([None], object))


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


@pytest.mark.parametrize("name", [value for value in JSON if has(value.values[0], "encode")])
def test_35_a_tensor_as_numbers_is_json_or_refused_with_the_way_out(name):
    codec = registry.codec(name, Annotated[np.ndarray, Tensor("float32")], tensors="numbers")
    for wrong in (np.array([1, np.nan], np.float32), np.array([np.inf], np.float32)):
        with pytest.raises(EncodeError, match="base64"):
            codec.encode(wrong)
        assert_same(registry.codec(name, np.ndarray).decode(registry.codec(name, np.ndarray).encode(wrong)), wrong)
    base = np.arange(6, dtype=np.float32).reshape(2, 3)
    for given in (base.astype(">f4"), np.asfortranarray(base), base[:, ::2], base[::-1]):
        text = json.loads(codec.encode(given))
        assert (text["shape"], text["data"]) == (list(given.shape), given.ravel().tolist())
        assert_same(codec.decode(codec.encode(given)), np.ascontiguousarray(given, np.float32))
    with pytest.raises(EncodeError, match="float32"):
        codec.encode(base.astype(np.float64))
    with pytest.raises(DecodeError, match="shape"):
        codec.decode(b'{"dtype":"float32","shape":[4],"data":[0,1,2,3,4,5]}')


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("name", OPEN)
def test_36_decoding_again_and_again_holds_no_more_memory(name):
    # Parsing into one protobuf message again and again took 21 KB a turn, Clear() or not.
    codec = registry.codec(name, list[str])
    data = written(name, list[str], ["w" * 50] * 200)
    for _ in range(200):
        codec.decode(data)
    before = resident_bytes()
    for _ in range(1500):
        codec.decode(data)
    assert resident_bytes() - before < 8 << 20


@pytest.mark.parametrize("name", WRITERS)
def test_38_a_bytes_field_takes_any_of_its_buffers_and_is_read_as_one(name):
    codec = registry.codec(name, list[bytes])
    numbers = np.arange(3.0)
    given = [b"q", bytearray(b"q"), memoryview(b"q"), numbers.data, memoryview(bytearray(5000)), b""]
    data = codec.encode(given)
    assert codec.decode(data) == [b"q", b"q", b"q", numbers.tobytes(), bytes(5000), b""]
    found = codec.decode(data, copy=False)
    assert all(type(item) is memoryview and item.readonly for item in found)
    assert [bytes(item) for item in found] == codec.decode(data)


@pytest.mark.parametrize("name", carriers("recursive", "encode"))
def test_39_one_object_in_several_places_is_written_several_times(name):
    codec = registry.codec(name, Node)
    leaf = Node(3, [])
    children = [leaf, leaf]
    value = Node(1, [Node(2, children), Node(2, children)], leaf)
    assert_same(codec.decode(codec.encode(value)), value)


@pytest.mark.parametrize("name", carriers("recursive_dict"))
def test_41_the_depth_limit_holds_for_maps_too(name):
    codec = registry.codec(name, Branch, limits=Limits(depth=6))
    assert_same(codec.decode(written(name, Branch, nested(6))), nested(6))
    with pytest.raises(DecodeError):
        codec.decode(written(name, Branch, nested(8)))


@pytest.mark.parametrize("name", WRITERS)
def test_42_what_is_not_finite_keeps_its_type_or_is_refused(name):
    for value in (math.inf, -math.inf, math.nan):
        for schema, frame in (
            (float, value),
            (Float32, value),
            (float | None, value),
            (list[float], [0.0, value]),
            (dict[str, float | str], {"k": value}),
        ):
            assert_round_trip(registry.codec(name, schema), frame)
    with pytest.raises(EncodeError, match="float32"):
        registry.codec(name, Float32).encode(3e39)


@pytest.mark.parametrize("name", WRITERS)
def test_44_equal_values_give_equal_bytes_where_that_is_asked_for(name):
    codec = registry.codec(name, dict[str, float], deterministic=True)
    keys = [f"k{number}" for number in range(12)]
    assert codec.encode(dict.fromkeys(keys, math.pi)) == codec.encode(dict.fromkeys(reversed(keys), math.pi))


@pytest.mark.parametrize("name", WRITERS)
def test_47_bytes_are_no_list_of_wider_numbers(name):
    codec = registry.codec(name, list[UInt16])
    for wrong in (np.array([10, 11], np.uint16).tobytes(), bytearray(4), memoryview(b"abcd"), "ab"):
        with pytest.raises(EncodeError, match="list"):
            codec.encode(wrong)


@pytest.mark.parametrize("name", OPEN)
def test_49_arrays_are_aligned_and_read_only_wherever_the_message_lies(name):
    # protobuf leaves tensors where they fall, and says so in their flags, unless it is asked for aligned ones.
    codec = registry.codec(name, list[np.ndarray], aligned=True)
    value = [np.arange(4.0), np.arange(3, dtype=np.int16), np.array(1 + 2j)]
    data = written(name, list[np.ndarray], value)
    frame = np.zeros(len(data) + 64, np.uint8)
    for offset in range(17):
        part = frame[offset : offset + len(data)]
        part[:] = np.frombuffer(data, np.uint8)
        found = [codec.decode(part, copy=False)]
        if has(name, "view"):
            found.append(list(codec.view(part)))
        for arrays in found:
            assert_same(arrays, value)
            assert all(item.flags.aligned and not item.flags.writeable for item in arrays)
        assert all(item.flags.aligned and item.flags.writeable for item in codec.decode(part))


@pytest.mark.parametrize("name", OPEN)
def test_51_nothing_that_is_no_message_reads_as_one(name):
    codec = registry.codec(name, Outer)
    for data in (bytes(64), b"\xff" * 64, b"", b"\0", b"<html><body>502 Bad Gateway</body></html>"):
        if INFO[name].wire == "protobuf" and data == b"":
            continue  # on this wire an empty message is a record of zeros
        assert isinstance(read(codec, data), DecodeError), data


@pytest.mark.parametrize("name", WRITERS)
def test_54_messages_do_not_remember_those_before_them(name):
    used, fresh = registry.codec(name, Outer), registry.codec(name, Outer)
    first = used.encode(OUTER)
    for other in (
        Outer([], [], b"", []),
        Outer([9] * 500, ["same"] * 300, b"\xaa" * 5000, [Row(1, "same", [1.0] * 100)] * 50),
        Outer([1], ["\ud800"], b"", []),
        Outer([1], ["x"], b"", [Row(2**70, "", [])]),
    ):
        encoded(used, other)
        assert used.encode(OUTER) == first == fresh.encode(OUTER)


@dataclasses.dataclass
class Bulk:
    blob: bytes
    bits: Annotated[np.ndarray, Tensor("uint8")]
    numbers: Annotated[np.ndarray, Tensor("float32")]


@pytest.mark.parametrize("name", WRITERS)
def test_55_bytes_and_tensors_cross_in_one_piece(name):
    # A megabyte through the object API of flatbuffers took a second, byte by byte.
    codec = registry.codec(name, Bulk)
    value = Bulk(bytes(1 << 20), np.zeros(1 << 20, np.uint8), np.zeros((512, 512), np.float32))
    calls = 0

    def count(*_):
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        data = codec.encode(value)
        codec.decode(data)
        codec.decode(data, copy=False)
    finally:
        sys.setprofile(None)
    assert calls < 3000


@pytest.mark.parametrize("name", WRITERS)
def test_58_a_message_over_the_receivers_limit_is_refused_by_its_sender(name):
    codec = registry.codec(name, list[bytes], limits=Limits(bytes=4 << 20))
    assert_same(codec.decode(codec.encode([bytes(2 << 20)])), [bytes(2 << 20)])
    large = [bytes(2 << 20), bytes(2 << 20)]
    with pytest.raises(EncodeError, match="bytes"):
        codec.encode(large)
    with pytest.raises(DecodeError, match="bytes"):
        codec.decode(written(name, list[bytes], large))


@pytest.mark.parametrize("name", OPEN)
def test_65_bytes_of_another_message_are_refused_on_request(name):
    strict = registry.codec(name, Row, unknown_fields="refuse")
    assert_same(strict.decode(written(name, Row, Row(1, "x", [0.5]))), Row(1, "x", [0.5]))
    for data in (written(name, Outer, OUTER), b"data", b"<html><body>502 Bad Gateway</body></html>"):
        assert isinstance(read(strict, data), DecodeError)


ELSEWHERE = {
    15: "conformance/test_bombs.py::test_15_",
    20: "conformance/test_shared_memory.py::test_20_",
    21: "conformance/test_tensors.py::test_21_",
    23: "conformance/test_tensors.py::test_23_",
    25: "conformance/test_tensors.py::test_25_",
    26: "conformance/test_shared_memory.py::test_26_",
    27: "conformance/test_shared_memory.py::test_27_",
    29: "conformance/test_shared_memory.py::test_29_",
    31: "conformance/test_shared_memory.py::test_31_",
    32: "conformance/test_shared_memory.py::test_32_",
    52: "flat/test_verify.py::test_googles_invalid_binaries_are_refused",
    61: "measure/test_plan.py::test_every_operation_states_its_boundary",
    62: "conformance/test_shared_memory.py::test_62_",
}
NUMBERS = (
    1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 15, 17, 18, 20, 21, 23, 25, 26, 27, 29, 31, 32, 35, 36, 38, 39, 41, 42, 44, 47, 49, 51,
    52, 54, 55, 58, 61, 62, 65,
)  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS)
def test_every_case_is_held_by_a_test(number):
    file, _, test = ELSEWHERE.get(number, f"conformance/{Path(__file__).name}::test_{number:02}_").partition("::")
    assert f"\ndef {test}" in (Path(__file__).parents[1] / file).read_text(encoding="utf-8")


def test_no_case_of_the_collection_is_left_out():
    collection = SHARED_DATA.parent / "cases"
    if not collection.is_dir():
        pytest.skip("the shared cases are not beside this checkout")
    assert {int(path.name[:2]) for path in collection.glob("[0-9][0-9]-*.md")} == set(NUMBERS)
