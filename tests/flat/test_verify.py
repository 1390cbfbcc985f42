"""The verifier: what it accepts and refuses, on bytes made by hand, by the official builder, and by Google."""

from __future__ import annotations

import dataclasses
import enum
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import flatbuffers
import numpy as np
import pytest

from zcser.core.errors import DecodeError, TruncatedError, VerifyError
from zcser.core.options import Limits
from zcser.flat.plan import layout_of
from zcser.flat.program import program_of
from zcser.flat.verify import Verifier
from zcser.schema.annotations import Float32, Id, Int32, Int64, UInt16
from zcser.schema.from_python import schema_of
from zcser.schema.model import Bytes, Str, Tensor


def verifier(source: Any, limits: Limits | None = None, *, refuse_unknown: bool = False) -> Verifier:
    return Verifier(program_of(layout_of(schema_of(source))), limits or Limits(), refuse_unknown=refuse_unknown)


def fault(source: Any, message: bytes) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        verifier(source)(message)
    return caught.value


# By hand, after the FlatBuffers internals document --------------------------------------------------------------------


class Mode(enum.IntEnum):
    OFF = 0
    ON = 3


@dataclasses.dataclass
class Small:
    number: Int32
    text: str
    mode: Mode


SMALL = struct.pack(
    "<I HHHHH xx i i I B xxx I 3s x",
    *(16,),  # root at 16
    *(10, 13, 4, 8, 12),  # vtable at 4: its size, the table's, three slots
    *(12, 7, 8, 3),  # table at 16: back to 4; the number; the string 8 after byte 24; the enum
    *(2, b"hi\0"),  # string at 32
)


def patched(*patches: tuple[int, str, int]) -> bytes:
    message = bytearray(SMALL)
    for offset, code, value in patches:
        struct.pack_into(f"<{code}", message, offset, value)
    return bytes(message)


def test_a_message_made_by_hand_is_accepted_from_any_buffer() -> None:
    check = verifier(Small)
    check(SMALL)
    check(memoryview(bytearray(SMALL)))
    check(memoryview(b"x" + SMALL)[1:])


@pytest.mark.parametrize(
    ("patch", "words", "path", "offset"),
    [
        ((0, "I", 0), "root", "", 0),
        ((0, "I", 18), "root", "", 0),
        ((0, "I", 400), "past the end", "", 0),
        ((16, "i", 17), "vtable", "", 0),
        ((16, "i", 11), "vtable", "", 5),
        ((16, "i", -200), "past the end", "", 216),
        ((4, "H", 3), "3 bytes", "", 4),
        ((4, "H", 11), "11 bytes", "", 4),
        ((4, "H", 300), "past the end", "", 4),
        ((6, "H", 2), "2 bytes", "", 6),
        ((6, "H", 64), "past the end", "", 16),
        ((8, "H", 2), "slot 0", "", 8),
        ((8, "H", 24), "past the end", "", 16),
        ((8, "H", 5), "aligned", "", 8),
        ((10, "H", 0), "missing", "/text", 16),
        ((24, "I", 0), "offset is 0", "/text", 24),
        ((24, "I", 6), "aligned", "/text", 30),
        ((24, "I", 2**32 - 8), "past the end", "/text", 16),
        ((32, "I", 4), "past the end", "/text", 32),
        ((32, "I", 2**32 - 1), "past the end", "/text", 32),
        ((32, "I", 1), "terminator", "/text", 37),
        ((36, "B", 0xFF), "UTF-8", "/text", 16),
        ((28, "B", 1), "no member", "/mode", 28),
    ],
)
def test_each_fault_is_named_with_its_path_and_offset(
    patch: tuple[int, str, int], words: str, path: str, offset: int
) -> None:
    error = fault(Small, patched(patch))
    assert words in error.reason
    assert (error.path, error.offset) == (path, offset)
    assert isinstance(error, TruncatedError) == ("past the end" in words)


def test_a_vtable_shared_with_a_smaller_table_is_accepted() -> None:
    # The official Python builder before 25.12.19 writes such: the table has 13 bytes, its vtable says 9.
    verifier(Small)(patched((6, "H", 9)))


def test_what_is_cut_off_is_refused_wherever_it_can_be_reached() -> None:
    # The last byte is padding.
    for size in range(len(SMALL) - 1):
        assert isinstance(fault(Small, SMALL[:size]), DecodeError), size
    verifier(Small)(SMALL[:-1])


def test_no_single_bit_leads_out_of_the_message() -> None:
    check = verifier(Small)
    for bit in range(8 * len(SMALL)):
        message = bytearray(SMALL)
        message[bit >> 3] ^= 1 << (bit & 7)
        try:
            check(bytes(message))
        except DecodeError:
            continue


# By the official builder ----------------------------------------------------------------------------------------------

Build = Callable[[Any], int]


def built(build: Build) -> bytes:
    builder = flatbuffers.Builder(256)
    builder.Finish(build(builder))
    return bytes(builder.Output())


def table(builder: Any, *offsets: int, first: int = 0) -> int:
    """A table of offsets alone; 0 leaves a slot out."""
    builder.StartObject(first + len(offsets))
    for slot, offset in enumerate(offsets, first):
        builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
    return int(builder.EndObject())


def vector(builder: Any, offsets: Sequence[int]) -> int:
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def box(build: Build) -> bytes:
    """A message whose root is a box of what `build` makes."""
    return built(lambda builder: table(builder, build(builder)))


def entries(*pairs: tuple[str, int]) -> bytes:
    def build(builder: Any) -> int:
        offsets = []
        for key, value in pairs:
            text = builder.CreateString(key)
            builder.StartObject(2)
            builder.PrependInt64Slot(1, value, 0)
            builder.PrependUOffsetTRelativeSlot(0, text, 0)
            offsets.append(builder.EndObject())
        return vector(builder, offsets)

    return box(build)


def test_keys_of_a_map_ascend_by_their_bytes() -> None:
    # U+E000 comes before U+1F600 in UTF-8, and after it in UTF-16.
    verifier(dict[str, int])(entries(("", 0), ("a", 1), ("aa", 2), ("b", 3), ("\ue000", 4), ("\U0001f600", 5)))
    for pairs in ([("b", 1), ("a", 2)], [("a", 1), ("a", 1)], [("\U0001f600", 1), ("\ue000", 2)]):
        assert "order, or twice" in fault(dict[str, int], entries(*pairs)).reason


def test_a_fault_in_a_maps_value_is_named_by_its_key() -> None:
    def build(builder: Any) -> int:
        texts = [builder.CreateString("k"), builder.CreateString(b"\xff")]
        return vector(builder, [table(builder, *texts)])

    assert fault(dict[str, str], box(build)).path == "/k"


def test_a_fault_in_a_list_is_named_by_its_index() -> None:
    texts = [b"a", b"b", b"\xff"]
    message = box(lambda builder: vector(builder, [builder.CreateString(text) for text in texts]))
    assert fault(list[str], message).path == "/2"


def test_sizes_and_lengths_of_the_schema_are_held() -> None:
    text = box(lambda builder: builder.CreateString("abcd"))
    verifier(Annotated[str, Str(4)])(text)
    assert "do not fit" in fault(Annotated[str, Str(3)], text).reason
    blob = box(lambda builder: builder.CreateByteVector(b"abcd"))
    verifier(Annotated[bytes, Bytes(4)])(blob)
    assert "is needed" in fault(Annotated[bytes, Bytes(5)], blob).reason
    pair = box(lambda builder: builder.CreateNumpyVector(np.array([1, 2])))
    verifier(tuple[int, int])(pair)
    assert "3 items" in fault(tuple[int, int, int], pair).reason


def test_bytes_in_a_wider_vector_are_not_read_past_its_end() -> None:
    # Case 47: the byte count of ten bytes stands where the count of five shorts belongs.
    message = box(lambda builder: builder.CreateByteVector(np.arange(5, dtype="<u2").tobytes()))
    verifier(bytes)(message)
    assert isinstance(fault(list[UInt16], message), TruncatedError)


def test_items_of_8_bytes_are_aligned_to_8() -> None:
    head = struct.pack("<I HHH xx i", 12, 6, 8, 4, 8)  # root at 12, vtable at 4 with one slot at 4
    aligned = head + struct.pack("<I I qq", 4, 2, 1, 2)  # vector at 20, its items at 24
    verifier(list[Int64])(aligned)
    skewed = head + struct.pack("<I xxxx I qq", 8, 2, 1, 2)  # vector at 24, its items at 28
    assert "not aligned" in refusal(list[Int64], skewed)


def refusal(source: Any, message: bytes) -> str:
    try:
        verifier(source)(message)
    except DecodeError as error:
        return error.reason
    return ""


def union(number: int, *, value: bool) -> bytes:
    def build(builder: Any) -> int:
        builder.StartObject(1)
        option = builder.EndObject()
        builder.StartObject(2)
        builder.PrependUOffsetTRelativeSlot(1, option if value else 0, 0)
        builder.PrependUint8Slot(0, number, 0)
        return int(builder.EndObject())

    return built(build)


def test_a_union_has_an_option_of_the_schema_or_neither_number_nor_value() -> None:
    verifier(int | float)(union(1, value=True))
    verifier(int | float | None)(union(0, value=False))
    assert "missing" in refusal(int | float, union(0, value=False))
    assert "no option" in refusal(int | float, union(3, value=True))
    assert "no value" in refusal(int | float | None, union(1, value=False))
    assert "no type" in refusal(int | float | None, union(0, value=True))


def tensor(number: int, shape: list[int], data: bytes) -> bytes:
    def build(builder: Any) -> int:
        bytes_, extents = builder.CreateByteVector(data), builder.CreateNumpyVector(np.array(shape, "<i8"))
        builder.StartObject(3)
        builder.PrependUOffsetTRelativeSlot(1, extents, 0)
        builder.PrependUOffsetTRelativeSlot(2, bytes_, 0)
        builder.PrependUint8Slot(0, number, 0)
        return int(builder.EndObject())

    return built(build)


@pytest.mark.parametrize(
    ("number", "shape", "size", "words"),
    [
        (10, [2, 3], 24, ""),
        (1, [], 1, ""),
        (11, [0, 5], 0, ""),
        (10, [2, 3], 20, "does not take"),
        (10, [-2, -3], 24, "negative"),
        (1, [-1], 1, "negative"),
        (200, [1], 1, "unknown dtype"),
        (10, [2**31, 2**31], 24, "does not take"),
        (10, [0, 2**62], 0, "larger than an array"),
        (1, [1] * 65, 1, "65 dimensions"),
    ],
)
def test_shape_and_dtype_of_a_tensor_account_for_its_bytes(
    number: int, shape: list[int], size: int, words: str
) -> None:
    found = refusal(np.ndarray, tensor(number, shape, bytes(size)))
    assert (words in found) if words else not found


def test_a_tensor_has_the_dtype_and_shape_of_the_schema() -> None:
    matrix = Annotated[np.ndarray, Tensor("float32", (2, None))]
    verifier(matrix)(tensor(10, [2, 5], bytes(40)))
    for message in (tensor(11, [2, 5], bytes(80)), tensor(10, [3, 5], bytes(60)), tensor(10, [2], bytes(8))):
        assert "is needed" in refusal(matrix, message)


# Growth: older and newer schemas --------------------------------------------------------------------------------------


@dataclasses.dataclass
class Older:
    number: Int32


@dataclasses.dataclass
class Newer:
    number: Int32
    more: Int32


def newer() -> bytes:
    def build(builder: Any) -> int:
        builder.StartObject(2)
        builder.PrependInt32Slot(0, 1, 0)
        builder.PrependInt32Slot(1, 2, 0)
        return int(builder.EndObject())

    return built(build)


def test_an_unknown_field_is_refused_only_where_that_is_asked_for() -> None:
    verifier(Older)(newer())
    verifier(Newer, refuse_unknown=True)(newer())
    with pytest.raises(VerifyError, match="unknown_fields"):
        verifier(Older, refuse_unknown=True)(newer())


# Bounds ---------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Node:
    name: str | None
    kids: list[Node]


def chain(levels: int, width: int) -> bytes:
    """Nodes whose kids are all the same one node below: `levels` of them stand for ``width ** levels``."""

    def build(builder: Any) -> int:
        node = table(builder, vector(builder, []), first=1)
        for _ in range(levels):
            node = table(builder, vector(builder, [node] * width), first=1)
        return node

    return built(build)


def test_a_few_bytes_cannot_stand_for_a_large_message() -> None:
    for levels, width in ((10, 10), (40, 2), (40, 8)):
        message = chain(levels, width)
        assert len(message) < 2000
        assert "again and again" in fault(Node, message).reason


def test_one_long_string_cannot_stand_for_many() -> None:
    def build(builder: Any) -> int:
        return vector(builder, [builder.CreateString("x" * 100_000)] * 10_000)

    assert "again and again" in fault(list[str], box(build)).reason


def test_shared_strings_of_the_official_builder_are_accepted() -> None:
    labels = [f"label {number % 3}" for number in range(1000)]
    message = box(lambda builder: vector(builder, [builder.CreateSharedString(label) for label in labels]))
    assert len(message) < 6000
    verifier(list[str])(message)


def test_depth_counts_records_and_lists_as_the_limit_says() -> None:
    # A node, its kids, a node, its empty kids: four levels.
    message = chain(1, 1)
    verifier(Node, Limits(depth=4))(message)
    with pytest.raises(VerifyError, match=r"limits\.depth"):
        verifier(Node, Limits(depth=3))(message)


def test_elements_count_the_items_of_all_lists() -> None:
    message = box(lambda builder: builder.CreateNumpyVector(np.arange(5)))
    verifier(list[int], Limits(elements=5))(message)
    with pytest.raises(VerifyError, match=r"limits\.elements"):
        verifier(list[int], Limits(elements=4))(message)


def test_bytes_bound_the_message() -> None:
    verifier(Small, Limits(bytes=len(SMALL)))(SMALL)
    with pytest.raises(VerifyError, match=r"limits\.bytes"):
        verifier(Small, Limits(bytes=len(SMALL) - 1))(SMALL)


def test_a_depth_beyond_pythons_stack_is_an_error_of_the_message() -> None:
    with pytest.raises(VerifyError, match="stack"):
        verifier(Node, Limits(depth=10**6))(chain(5000, 1))


# Google's own malformed files -----------------------------------------------------------------------------------------

Food = enum.IntEnum("Food", {"NOTHING": 0, "APPLE": 1, "BANANA": 2, "KIWI": 3})


@dataclasses.dataclass
class Baz:
    meal: Food


@dataclasses.dataclass
class Bar:
    a: float
    b: Float32
    c: Baz | None


@dataclasses.dataclass
class Foo:
    """``annotated_binary.fbs``, but for its structs and vectors of unions, whose slots are left empty."""

    counter: Int32
    healthy: bool
    level: Int64
    meal: Food
    bar: Bar | None
    name: Annotated[str | None, Id(7)]
    bars: list[Bar] | None
    bar_baz: Bar | Baz | None
    accounts: list[UInt16] | None
    bob: str | None
    alice: str | None
    maybe_i32: Int32 | None
    default_i32: Int32
    just_i32: Int32
    names: list[str] | None
    temperature: Annotated[Float32, Id(24)]
    teetotaler: Bar | None
    charlie: str | None


@pytest.fixture
def annotated_binary(shared_data: Path) -> Path:
    return shared_data / "flatbuffers" / "google" / "annotated_binary"


def test_googles_annotated_binary_is_accepted(annotated_binary: Path) -> None:
    verifier(Foo)((annotated_binary / "annotated_binary.bin").read_bytes())


def test_googles_invalid_binaries_are_refused(annotated_binary: Path) -> None:
    # Case 52. The one left out is broken in a vector of unions, which no neutral schema has.
    names = sorted(path.name for path in (annotated_binary / "tests").glob("invalid_*.bin"))
    names.remove("invalid_vector_union_type_value.bin")
    assert len(names) >= 12
    for name in names:
        assert refusal(Foo, (annotated_binary / "tests" / name).read_bytes()), name
