"""The reader in pure Python: equal to the official codec, as strict as the verifier, and safe where nothing was verified."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import random
import struct
from collections.abc import Callable, Iterator
from typing import Any, TypedDict

import numpy as np
import pytest

from tests.conformance.laws import assert_same, assert_shows, encoded
from tests.conformance.schemas import CASES
from tests.conformance.strategies import plain, samples
from tests.flat.rich import Rich, rich_value
from zcser.codecs.flatbuffers_official import FlatbuffersOfficialCodec
from zcser.core.buffers import address
from zcser.core.errors import DecodeError, ReleasedViewError, TruncatedError, VerifyError
from zcser.core.options import Limits, Options
from zcser.core.view import MapView, RecordView, SequenceView, at, release, retained_bytes, to_value
from zcser.flat.plan import layout_of
from zcser.flat.program import program_of
from zcser.flat.pure.read import PureReader
from zcser.flat.pure.read_form import Forms, Inline
from zcser.schema.annotations import Int8, Int32, UInt8
from zcser.schema.from_python import schema_of
from zcser.schema.model import Schema

CARRIED = {name: schema for name, schema in CASES.items() if name != "unbounded"} | {"rich": schema_of(Rich)}


@functools.cache
def official_of(case: str) -> FlatbuffersOfficialCodec[Any]:
    return official(CARRIED[case])


def reader(source: Any, **options: Any) -> PureReader:
    return PureReader(program_of(layout_of(schema_of(source))), Options(**options), codec="pure")


def official(source: Any, **options: Any) -> FlatbuffersOfficialCodec[Any]:
    return FlatbuffersOfficialCodec(schema_of(source), Options(**options))


@functools.cache
def messages(case: str, count: int) -> list[bytes]:
    values = (rich_value(),) if case == "rich" else samples(CARRIED[case], count)
    found = [encoded(official_of(case), value) for value in values]
    return [message for message in found if isinstance(message, bytes)]


# Equal to the official codec ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CARRIED)
@pytest.mark.parametrize("guard", ["on", "off"])
def test_decode_and_views_give_what_the_official_codec_gives(case: str, guard: str) -> None:
    schema = CARRIED[case]
    ours, theirs = reader(schema, guard=guard), official_of(case)
    for message in messages(case, 3):
        expected = theirs.decode(message)
        for data in (message, bytearray(message), memoryview(b"x" + message)[1:]):
            assert_same(ours.decode(data), expected)
            assert_same(plain(ours.decode(data, copy=False)), plain(theirs.decode(message, copy=False)))
            view = ours.view(data)
            assert_shows(view, expected, schema, schema.root)
            assert_same(to_value(view), expected)


def test_one_reader_reads_messages_that_begin_differently() -> None:
    # What is remembered of the last message must not stand for the next one.
    ours, theirs = reader(CASES["absent_or_none"]), official(CASES["absent_or_none"])
    for message in messages("absent_or_none", 12) * 2:
        assert_same(to_value(ours.view(message)), theirs.decode(message))


# As strict as the verifier --------------------------------------------------------------------------------------------


def changed(found: list[bytes], rng: random.Random, count: int) -> Iterator[bytes]:
    """Messages with words, halves and bytes replaced, moved and cut off."""
    for _ in range(count):
        data = bytearray(rng.choice(found))
        for _ in range(rng.randint(1, 3)):
            size = rng.choice((1, 2, 4))
            if len(data) < 12:
                break
            place, other = (rng.randrange(len(data) // size) * size for _ in range(2))
            match rng.randrange(4):
                case 0:
                    data[place] ^= 1 << rng.randrange(8)
                case 1:
                    data[place : place + size] = data[other : other + size]
                case 2:
                    number = rng.choice((0, 1, 3, 4, 8, 255, len(data) - place, rng.randrange(len(data)), 2**32 - 4))
                    data[place : place + size] = (number % (1 << 8 * size)).to_bytes(size, "little")
                case _:
                    del data[rng.randrange(len(data)) & -4 if rng.random() < 0.5 else place :]
        yield bytes(data)


def outcome(read: Callable[[bytes], Any], message: bytes) -> Any:
    """What a read gives, or its `DecodeError`."""
    try:
        return read(message)
    except DecodeError as error:
        return error


@pytest.mark.parametrize("case", CARRIED)
def test_decode_refuses_exactly_what_the_verifier_refuses(case: str) -> None:
    schema, rng = CARRIED[case], random.Random(case)
    theirs = official(schema, guard="off")
    readers = [reader(schema), reader(schema, unknown_fields="refuse", limits=Limits(depth=6, elements=30))]
    for number, message in enumerate(changed(messages(case, 6), rng, 30)):
        ours = readers[number % 2]
        fault = outcome(ours.verify, message)
        if isinstance(fault, DecodeError):
            for found in (outcome(ours.decode, message), outcome(ours.view, message)):
                assert (type(found), str(found), found.path) == (type(fault), str(fault), fault.path)
        else:
            assert_same(ours.decode(message), theirs.decode(message))
            assert_same(to_value(ours.view(message)), theirs.decode(message))


def walk(part: Any, depth: int = 0) -> Iterator[Any]:
    """Everything that a view gives; what is refused with `DecodeError` is left out."""
    steps: list[Any] = []
    if depth > 20:
        return
    try:
        if isinstance(part, RecordView | MapView):
            steps = list(part)[:20]
        elif isinstance(part, SequenceView):
            steps = list(range(min(len(part), 20)))
        else:
            yield part
    except DecodeError:
        return
    for step in steps:
        try:
            yield from walk(part[step], depth + 1)
        except (DecodeError, KeyError):  # a map whose keys are not in order does not find them
            continue


@pytest.mark.parametrize("case", CARRIED)
def test_unverified_reads_answer_from_the_buffer_or_refuse(case: str) -> None:
    schema, rng = CARRIED[case], random.Random(f"unverified {case}")
    readers = [reader(schema, guard="off"), reader(schema)]
    for number, message in enumerate(changed(messages(case, 6), rng, 20)):
        # The buffer stands between two others that would show in the answers if it were left.
        frame = b"SECRET" * 100 + message + b"SECRET" * 100
        for data in (message, memoryview(frame)[600 : 600 + len(message)]):
            try:
                view = readers[number % 2].view(data, verify=False)
            except DecodeError:
                continue
            for found in walk(view):
                shown = found.tobytes() if isinstance(found, np.ndarray | memoryview) else str(found).encode()
                assert b"SECRET" not in shown
            with contextlib.suppress(DecodeError):
                to_value(view)


@dataclasses.dataclass
class Node:
    name: str
    kids: list[Node]


def test_limits_hold_for_decode_as_for_the_verifier() -> None:
    value = Node("a", [Node("b", [Node("c", [])])])
    message = official(Node).encode(value)
    assert_same(reader(Node, limits=Limits(depth=6, elements=2, bytes=len(message))).decode(message), value)
    for limits in (Limits(depth=5), Limits(elements=1), Limits(bytes=len(message) - 1)):
        with pytest.raises(VerifyError, match=r"limits\."):
            reader(Node, limits=limits).decode(message)


@dataclasses.dataclass
class Picky:
    number: int

    def __post_init__(self) -> None:
        if self.number > 5:
            raise KeyError("too large")


def test_what_the_class_does_not_take_is_a_decode_error() -> None:
    picky = Picky(5)
    picky.number = 7
    message = official(Picky).encode(picky)
    for read in (reader(Picky).decode, lambda data: to_value(reader(Picky).view(data))):
        with pytest.raises(DecodeError, match=r"cannot be read.*too large"):
            read(message)
    assert reader(Picky).view(message)["number"] == 7


def test_no_buffer_is_a_decode_error() -> None:
    for data in ("text", 5, np.arange(20)[::2]):
        for read in (reader(int).decode, reader(int).view, reader(int).verify):
            with pytest.raises(DecodeError):
                read(data)


# Tables of several forms ----------------------------------------------------------------------------------------------


class Pair(TypedDict):
    a: Int32
    b: Int32 | None


TWO_FORMS = struct.pack(
    "<I HHH xx iI III HHHH iii HHH xx ii",
    *(12, 6, 8, 4),  # root at 12; its vtable at 4: 8 bytes, one slot
    *(8, 4),  # the root, a box, back to 4; the vector 4 after byte 16
    *(2, 16, 32),  # the vector at 20: tables at 24 + 16 and 28 + 32
    *(8, 12, 4, 8),  # vtable at 32: two slots
    *(8, 1, 2),  # table at 40
    *(6, 8, 4),  # vtable at 52: one slot
    *(8, 3),  # table at 60, the last 8 bytes of the message: shorter than the one before
)


def test_a_table_may_be_shorter_than_the_one_before_it() -> None:
    # By hand. Of 12 bytes, as the first table has them, the second would lead past the end.
    ours = reader(list[Pair])
    ours.verify(TWO_FORMS)
    assert ours.decode(TWO_FORMS) == [{"a": 1, "b": 2}, {"a": 3, "b": None}]
    assert [to_value(item) for item in ours.view(TWO_FORMS)] == [{"a": 1, "b": 2}, {"a": 3, "b": None}]
    with pytest.raises(TruncatedError) as caught:
        ours.decode(TWO_FORMS[:-4])
    assert caught.value.path == "/1"


def vtable(size: int, *offsets: int) -> bytes:
    return struct.pack(f"<{2 + len(offsets)}H", 4 + 2 * len(offsets), size, *offsets)


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        ((8, 4), (0, 2, 1)),  # in the order of reading: the word at 8, the offset at 4
        ((4, 8), (0, 1, 2)),
        ((4, 4), (0, 1, 1)),  # overlapping
        ((0, 4), (0, "lacking", 1)),
        ((4, 0), (0, 1, b"")),
        ((0, 0), (0, "lacking", b"")),
        ((8,), (0, 2, b"")),
        ((), (0, "lacking", b"")),
    ],
)
def test_slots_are_read_in_one_order_wherever_they_lie(offsets: tuple[int, ...], expected: tuple[Any, ...]) -> None:
    forms = Forms(0, 1, [Inline(0, "I", 4, False, "lacking"), Inline(1, "I", 4, True)], refuse_unknown=False)
    buffer = vtable(12, *offsets) + struct.pack("<iII", 0, 1, 2)
    for _ in range(2):
        unpack, mask, rest, size, *refer = forms.find(buffer, 0, {})
        assert unpack(buffer, len(buffer) - 12) == expected
        assert (mask, rest, size) == (3, 0, 12)
        assert refer == [offsets[1] if len(offsets) > 1 else 0]
        with pytest.raises(struct.error):
            unpack(buffer, len(buffer) - 11)


def test_hostile_vtables_do_not_grow_what_is_remembered() -> None:
    forms = Forms(0, 1, [Inline(0, "I", 4, True)], refuse_unknown=False)
    sizes = list(range(8, 2008, 4))
    for size in sizes:
        assert forms.find(vtable(size, 4), 0, {})[3] == size
    assert len(forms.known) <= 64
    # Slots beyond those of the schema are not remembered at all.
    long = vtable(8, 4, *range(2000))
    forms = Forms(0, 1, [Inline(0, "I", 4, True)], refuse_unknown=False)
    assert forms.find(long, 0, {})[3] == 8
    assert max(map(len, forms.known)) == 7


# Copies, lifetime, views ----------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Carrier:
    blob: bytes
    tensor: np.ndarray
    numbers: list[int]
    small: list[UInt8]
    flags: list[bool]
    named: dict[Int8, str]


CARRIER = Carrier(
    b"blob", np.arange(6, dtype="f8").reshape(2, 3), [1, -2, 2**40], [7, 8], [True, False], {-1: "x", 3: "y"}
)
MESSAGE = official(Carrier).encode(CARRIER)


def lies_inside(part: Any, data: Any) -> bool:
    return address(data) <= address(part) and address(part) + memoryview(part).nbytes <= address(data) + len(data)


@pytest.mark.parametrize("shift", [0, 8])  # an unaligned tensor is copied; the conformance suite shows it
def test_bytes_and_tensors_alias_the_buffer(shift: int) -> None:
    frame = bytearray(bytes(shift) + MESSAGE)
    data = memoryview(frame)[shift:]
    ours = reader(Carrier)
    value, view = ours.decode(data, copy=False), ours.view(data)
    for part in (value.blob, value.tensor, view.blob, view.tensor, np.asarray(view.numbers)):
        assert lies_inside(part, data)
        with pytest.raises((ValueError, TypeError)):
            part[0] = 0
    for array in (value.tensor, view.tensor):
        assert_same(array.copy(), CARRIER.tensor)
        with pytest.raises(ValueError, match=r"(?i)writeable"):
            array.flags.writeable = True
    own = ours.decode(data)
    assert type(own.blob) is bytes
    assert own.tensor.flags.writeable
    assert not lies_inside(own.tensor, data)


def test_an_array_holds_the_buffer_after_its_view_is_released() -> None:
    data = bytearray(MESSAGE)
    view = reader(Carrier).view(data)
    tensor, blob, numbers = view.tensor, view.blob, view.numbers
    array = np.asarray(numbers)
    assert retained_bytes(numbers) == len(data)
    release(numbers)
    for read in (
        lambda: view.blob,
        lambda: view["named"],
        lambda: numbers[0],
        lambda: np.asarray(numbers),
        lambda: len(numbers),
    ):
        with pytest.raises(ReleasedViewError):
            read()
    assert retained_bytes(view) == 0
    assert_same(tensor.copy(), CARRIER.tensor)
    assert (bytes(blob), array.tolist()) == (b"blob", CARRIER.numbers)
    del blob
    with pytest.raises(BufferError):  # the memory cannot move away below the arrays
        data.clear()
    del tensor, array
    data.clear()


def test_absent_fields_too_are_gone_after_release() -> None:
    view: Any = reader(CASES["absent"]).view(official(CASES["absent"]).encode({"here": 1}))
    assert view["flag"] is None
    assert "flag" not in view
    release(view)
    for read in (lambda: view["flag"], lambda: view["here"], lambda: "flag" in view, lambda: to_value(view)):
        with pytest.raises(ReleasedViewError):
            read()


def test_lists_of_numbers_are_arrays_without_a_copy() -> None:
    view: Any = reader(Carrier).view(MESSAGE)
    array = np.asarray(view.numbers)
    assert (array.dtype, array.tolist()) == (np.dtype("<i8"), [1, -2, 2**40])
    assert (np.asarray(view.small).dtype, np.asarray(view.flags).dtype) == (np.dtype("u1"), np.dtype("?"))
    assert lies_inside(array, MESSAGE)
    assert not lies_inside(view.numbers.__array__(copy=True), MESSAGE)
    assert view.numbers.__array__(copy=True).flags.writeable
    assert lies_inside(view.numbers.__array__(np.dtype("i8"), copy=False), MESSAGE)
    assert view.small.__array__(np.float32).tolist() == [7.0, 8.0]
    with pytest.raises(ValueError, match="without a copy"):
        view.small.__array__(np.float32, copy=False)


def test_paths_lead_into_views() -> None:
    view = reader(Carrier).view(MESSAGE)
    assert (at(view, "/numbers/2"), at(view, "/named/3"), at(view, "/tensor/1/2")) == (2**40, "y", 5.0)


def test_a_schema_of_any_source_makes_a_reader() -> None:
    assert isinstance(CARRIED["nulls"], Schema)
    assert reader(CARRIED["root_null"]).decode(official(CARRIED["root_null"]).encode(None)) is None
