"""FlatBuffers by the official package: what the conformance suite cannot know, and the shared cases 47 to 55."""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Callable
from typing import Annotated, Any, NotRequired, TypedDict

import flatbuffers
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given

from tests.conformance.strategies import plain, values
from tests.flat.rich import Point, Rich, rich_value
from zcser.codecs.flatbuffers_official import FlatbuffersOfficialCodec
from zcser.core.errors import DecodeError, EncodeError, ReleasedViewError, SchemaError
from zcser.core.fidelity import difference, equal
from zcser.core.options import Limits, Options
from zcser.core.view import release, retained_bytes, to_value
from zcser.flat.plan import layout_of
from zcser.flat.program import program_of
from zcser.flat.verify import Verifier
from zcser.schema.annotations import Float32, Id, Int32, UInt16
from zcser.schema.from_python import schema_of
from zcser.schema.model import Int, List, Schema
from zcser.schema.normal import normal


def codec(source: Any, **options: Any) -> FlatbuffersOfficialCodec[Any]:
    return FlatbuffersOfficialCodec(schema_of(source), Options(**options))


RICH = codec(Rich)

# The law of fidelity --------------------------------------------------------------------------------------------------


@given(values(schema_of(Rich), loose=True))
def test_decode_of_encode_is_normal(value: Any) -> None:
    message = RICH.encode(value)
    expected = normal(RICH.schema, value)
    assert difference(RICH.decode(message), expected) is None
    assert difference(plain(RICH.decode(message, copy=False)), expected) is None
    assert difference(to_value(RICH.view(message)), expected) is None


@pytest.mark.parametrize("number", [0.0, -0.0, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("source", [float, Float32, float | None, list[float], dict[str, float], float | str])
def test_floats_that_equal_their_default_or_nothing_at_all_survive(source: Any, number: float) -> None:
    one = codec(source)
    root = one.schema.root
    value: Any = [number] if isinstance(root, List) else {"k": number} if source == dict[str, float] else number
    assert difference(one.decode(one.encode(value)), value) is None


class Presence(TypedDict):
    text: NotRequired[str | None]
    items: NotRequired[list[int] | None]
    number: NotRequired[int | None]
    either: NotRequired[int | str | None]


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"text": None, "items": None, "number": None, "either": None},
        {"text": "", "items": [], "number": 0, "either": 0},
        {"text": "a", "items": [0], "number": 1, "either": ""},
    ],
)
def test_absent_none_and_empty_are_three_values(value: dict[str, Any]) -> None:
    one = codec(Presence)
    assert difference(one.decode(one.encode(value)), value) is None
    view = one.view(one.encode(value))
    assert set(view) == set(value)
    assert difference(to_value(view), value) is None


def test_equal_maps_give_equal_bytes_whatever_their_order() -> None:
    one = codec(dict[str, int])
    assert one.encode({"b": 1, "a": 2}) == one.encode({"a": 2, "b": 1})


@dataclasses.dataclass
class Older:
    name: str


@dataclasses.dataclass
class Newer:
    name: str
    count: int = 5
    ratio: float = -0.0
    tags: list[str] = dataclasses.field(default_factory=lambda: ["new"])
    zero: int = 0


@dataclasses.dataclass
class Demanding:
    name: str
    label: str


def test_an_older_message_gives_the_defaults_and_a_written_zero_stays() -> None:
    message = codec(Older).encode(Older("a"))
    assert difference(codec(Newer).decode(message), Newer("a")) is None
    zeros = Newer("a", 0, 0.0, [])
    assert difference(codec(Newer).decode(codec(Newer).encode(zeros)), zeros) is None
    with pytest.raises(DecodeError, match="missing"):
        codec(Demanding).decode(message)


def test_unknown_fields_are_dropped_or_refused() -> None:
    message = codec(Newer).encode(Newer("a"))
    assert codec(Older).decode(message) == Older("a")
    with pytest.raises(DecodeError, match="unknown_fields"):
        codec(Older, unknown_fields="refuse").decode(message)


# What does not fit ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"i8": 128}, "/i8"),
        ({"u64": -1}, "/u64"),
        ({"f32": 1e300}, "/f32"),
        ({"flag": 1}, "/flag"),
        ({"text": "\ud800"}, "/text"),
        ({"tag": "abcde"}, "/tag"),
        ({"digest": b"ab"}, "/digest"),
        ({"weight": 8}, "/weight"),
        ({"ints": [1, True]}, "/ints/1"),
        ({"ints": [2**63]}, "/ints/0"),
        ({"f32s": [0.0, 1e39]}, "/f32s/1"),
        ({"flags": [0]}, "/flags/0"),
        ({"texts": ["a", b"b"]}, "/texts/1"),
        ({"mixed": [1.5]}, "/mixed/0"),
        ({"by_name": {1: 1.0}}, "/by_name/1"),
        ({"by_int": {2**31: Point(0.0, 0.0)}}, "/by_int/2147483648"),
        ({"floats": np.zeros(3)}, "/floats"),
        ({"points": [Point(1.0, "x")]}, "/points/0/y"),  # type: ignore[arg-type]  # the fault under test
        ({"partial": {"nobody": 1}}, "/partial"),
        ({"node": None}, "/node"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_path(change: dict[str, Any], path: str) -> None:
    with pytest.raises(EncodeError) as caught:
        RICH.encode(dataclasses.replace(rich_value(), **change))
    assert caught.value.path == path


def test_case_47_bytes_are_refused_where_wider_items_belong() -> None:
    with pytest.raises(EncodeError, match="needed"):
        codec(list[UInt16]).encode(np.array([10, 11, 12], np.uint16).tobytes())


def test_strict_refuses_what_normal_would_change() -> None:
    assert codec(float).decode(codec(float).encode(1)) == 1.0
    with pytest.raises(EncodeError, match="strict"):
        codec(float, strict=True).encode(1)


def test_limits_hold_on_encode_as_on_decode() -> None:
    few = codec(list[int], limits=Limits(elements=4))
    assert few.decode(few.encode([1] * 4)) == [1] * 4
    with pytest.raises(EncodeError, match=r"limits\.elements"):
        few.encode([1] * 5)
    with pytest.raises(EncodeError, match=r"limits\.elements"):
        codec(list[list[int]], limits=Limits(elements=4)).encode([[1, 2], [3, 4]])
    with pytest.raises(EncodeError, match=r"limits\.bytes"):
        codec(bytes, limits=Limits(bytes=100)).encode(bytes(100))


@dataclasses.dataclass
class Deep:
    kids: list[Deep]


def test_depth_is_bounded_alike_on_encode_and_decode() -> None:
    def deep(levels: int) -> Deep:
        value = Deep([])
        for _ in range(levels - 1):
            value = Deep([value])
        return value

    four = codec(Deep, limits=Limits(depth=8))
    assert four.decode(four.encode(deep(4))) == deep(4)  # each Deep is a record and a list
    with pytest.raises(EncodeError, match="nested deeper"):
        four.encode(deep(5))
    with pytest.raises(DecodeError, match="nested deeper"):
        four.decode(codec(Deep).encode(deep(5)))
    with pytest.raises(EncodeError, match="stack"):
        codec(Deep, limits=Limits(depth=10**6)).encode(deep(20_000))
    loop = Deep([])
    loop.kids.append(loop)
    with pytest.raises(EncodeError, match="contains itself"):
        codec(Deep).encode(loop)


def test_a_schema_that_no_message_could_fit_is_refused() -> None:
    with pytest.raises(SchemaError, match=r"limits\.depth"):
        codec(list[list[list[int]]], limits=Limits(depth=2))
    with pytest.raises(SchemaError, match="flatbuffers-official") as caught:
        codec(Schema(List(Int(None))))
    assert caught.value.codec == "flatbuffers-official"


# Builders -------------------------------------------------------------------------------------------------------------


def test_case_54_a_reused_builder_leaves_no_trace() -> None:
    one = codec(Older)
    first = one.encode(Older("same"))
    one.encode(Older("X" * 5000))
    assert one.encode(Older("same")) == first == codec(Older).encode(Older("same"))
    with pytest.raises(EncodeError):
        one.encode(Older("\ud800"))
    assert one.encode(Older("same")) == first


def test_threads_never_share_a_builder() -> None:
    one, messages = codec(Older), {}

    def work(number: int) -> None:
        value = Older(f"thread {number} " * number)
        messages[number] = all(one.decode(one.encode(value)) == value for _ in range(200))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert messages == dict.fromkeys(range(8), True)


@pytest.mark.parametrize(
    ("source", "make"),
    [
        (bytes, bytes),
        (list[int], lambda count: [7] * count),
        (list[Float32], lambda count: [0.5] * count),
        (list[bool], lambda count: [True] * count),
        (np.ndarray, lambda count: np.ones(count, "f4")),
    ],
)
def test_case_55_no_vector_of_scalars_goes_item_by_item(
    source: Any, make: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    class Counting(flatbuffers.Builder):  # type: ignore[misc]  # the package has no types
        __slots__ = ()

        def Prep(self, *arguments: Any) -> None:  # before whatever is written
            calls.append(arguments)
            super().Prep(*arguments)

    monkeypatch.setattr(flatbuffers, "Builder", Counting)
    one, counts = codec(source), []
    for count in (4, 4000):
        one.encode(make(count))
        counts.append(len(calls))
        calls.clear()
    assert counts[0] == counts[1]


# Tensors and views ----------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Holder:
    name: str
    blob: bytes
    data: npt.NDArray[np.float64]
    more: list[np.ndarray]


def holder() -> Holder:
    return Holder("n", b"blob", np.arange(6.0).reshape(2, 3), [np.arange(3, dtype="i2"), np.zeros(0), np.array(1j)])


def test_tensors_lie_at_multiples_of_64_in_the_message() -> None:
    value = holder()
    message = codec(Holder).encode(value)
    assert message.index(value.data.tobytes()) % 64 == 0
    assert message.index(value.more[0].tobytes()) % 64 == 0


def test_case_49_a_tensor_is_aliased_where_its_address_fits_and_else_copied() -> None:
    one, value = codec(Holder), holder()
    message = one.encode(value)
    for shift in range(16):
        frame = np.zeros(len(message) + 80, np.uint8)
        start = -frame.ctypes.data % 64 + shift
        frame[start : start + len(message)] = np.frombuffer(message, np.uint8)
        part = memoryview(frame)[start : start + len(message)]
        for array in (one.view(part).data, one.decode(part, copy=False).data):
            assert array.flags.aligned
            assert not array.flags.writeable
            assert np.shares_memory(array, frame) == (shift % 8 == 0)
            assert equal(array, value.data)


def test_views_and_uncopied_values_alias_and_copies_do_not() -> None:
    one = codec(Holder)
    buffer = bytearray(one.encode(holder()))
    view, kept, copied = one.view(buffer), one.decode(buffer, copy=False), one.decode(buffer)
    array, blob = view.data, view.blob
    buffer[buffer.index(b"blob")] = ord("B")
    buffer[buffer.index(np.arange(6.0).tobytes()) + 6 : buffer.index(np.arange(6.0).tobytes()) + 8] = b"\xf0\x3f"
    assert array[0, 0] == kept.data[0, 0] == 1.0
    assert bytes(blob) == bytes(kept.blob) == b"Blob"
    assert copied.data[0, 0] == 0.0
    assert copied.blob == b"blob"
    assert copied.data.flags.writeable
    assert copied.data.flags.owndata


def test_release_ends_every_view_of_the_message_and_no_array() -> None:
    message = RICH.encode(rich_value())
    view = RICH.view(message)
    points, by_name, node, tensor = view.points, view.by_name, view.node, view.tensor
    assert retained_bytes(points[0]) == len(message)
    release(view)
    release(view)
    for read in (
        lambda: view.text,
        lambda: view["ints"],
        lambda: points[0],
        lambda: len(points),
        lambda: by_name["a"],
        lambda: list(by_name),
        lambda: node.name,
        lambda: to_value(view),
        lambda: "maybe_int" in view.node,
    ):
        with pytest.raises(ReleasedViewError):
            read()
    assert retained_bytes(view) == 0
    assert equal(tensor, rich_value().tensor)


def test_release_leaves_the_callers_memoryview_alone() -> None:
    mine = memoryview(RICH.encode(rich_value()))
    release(RICH.view(mine))
    assert mine[0] == mine.tobytes()[0]


def test_a_map_is_looked_up_by_its_sorted_keys() -> None:
    one = codec(dict[str, int])
    value = {f"key {number}": number for number in range(37)} | {"": -1, "\U0001f600": -2, "\ue000": -3}
    view = one.view(one.encode(value))
    assert {key: view[key] for key in value} == value == dict(view)
    for absent in ("key", "zzz", "\ufffd", 5, None):
        assert absent not in view
        with pytest.raises(KeyError):
            view[absent]


def test_a_root_without_parts_opens_as_its_value() -> None:
    for source, value in ((int, 7), (str, "a"), (int | None, None)):
        one = codec(source)
        assert one.view(one.encode(value)) == value


# Trust, and other people's classes --------------------------------------------------------------------------------------


def test_without_the_guard_nothing_is_verified_and_values_are_the_same() -> None:
    trusting = codec(Rich, guard="off")
    assert trusting.encode(rich_value()) == RICH.encode(rich_value())
    assert equal(trusting.decode(RICH.encode(rich_value())), rich_value())
    with pytest.raises(EncodeError):
        codec(int, guard="off").encode("text")


def test_an_exception_of_the_users_class_is_a_decode_error() -> None:
    with pytest.raises(DecodeError, match="never positive"):
        codec(Picky).decode(codec(Plain).encode(Plain(1)))


@dataclasses.dataclass
class Plain:
    number: Int32


@dataclasses.dataclass
class Picky:
    number: Int32

    def __post_init__(self) -> None:
        if self.number > 0:
            raise RuntimeError("never positive")


@dataclasses.dataclass
class Sparse:
    late: Annotated[int, Id(1000)]
    early: Annotated[str, Id(2)]


def test_ids_far_apart_are_carried() -> None:
    one = codec(Sparse)
    assert one.decode(one.encode(Sparse(1, "a"))) == Sparse(1, "a")


def test_what_the_official_builder_writes_passes_the_verifier() -> None:
    # The builder with every default forced, whose vtables and tables are the largest that there are.
    builder = flatbuffers.Builder(0)
    builder.ForceDefaults(True)
    builder.StartObject(2)
    builder.PrependFloat64Slot(0, 0.0, 0.0)
    builder.PrependFloat32Slot(1, 0.0, 0.0)
    builder.Finish(builder.EndObject())
    message = bytes(builder.Output())
    Verifier(program_of(layout_of(schema_of(Point))), Limits())(message)
    assert codec(Point).decode(message) == Point(0.0, 0.0)
