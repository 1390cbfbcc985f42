"""The C encoder: its bytes by hand, and what goes on while it encodes. Values of all kinds are the conformance suite's."""

from __future__ import annotations

import dataclasses
import random
import struct
import sys
import threading
from collections.abc import Callable
from typing import Annotated, Any, NotRequired, TypedDict

import numpy as np
import pytest

pytest.importorskip("zcser.native._flat")

from tests.flat.rich import Rich, rich_json, rich_value, to_json
from zcser import registry
from zcser.core.buffers import address
from zcser.core.errors import BufferTooSmallError, EncodeError
from zcser.core.options import Limits, Options
from zcser.flat.emit import emit_fbs
from zcser.flat.native.engine import make_engine
from zcser.flat.plan import layout_of
from zcser.flat.program import program_of
from zcser.schema.annotations import Float32, Id, Int16, Int32, UInt8
from zcser.schema.from_python import schema_of
from zcser.schema.model import Field, Int, List, Optional, Record, Ref, Schema, Str
from zcser.schema.normal import Normaliser


def engine(source: Any, **options: Any) -> Any:
    """A fresh engine, whose scratch memory nobody used before."""
    schema, chosen = schema_of(source), Options(**options)
    normal = Normaliser(schema, strict=chosen.strict, finite=False, limits=chosen.limits, codec="flatbuffers")
    return make_engine(program_of(layout_of(schema)), chosen, codec="flatbuffers", normal=normal)


def read(source: Any, message: bytes) -> Any:
    """The value of a message, by the official package."""
    return registry.codec("flatbuffers-official", source).decode(message)


def filled(size: int) -> bytearray:
    return bytearray(b"\xaa") * size


@dataclasses.dataclass(slots=True)
class Inner:
    tag: UInt8 | None


@dataclasses.dataclass(slots=True)
class Outer:
    small: Int16
    name: str
    wide: int | None
    inners: list[Inner]
    labels: dict[str, Float32]


@dataclasses.dataclass
class Blobs:
    """Without slots, so that its attributes may be properties."""

    blob: bytes
    array: np.ndarray
    names: list[str]
    counts: dict[str, int]


class Node(TypedDict):
    items: list[Node]


class Counted(TypedDict):
    number: int
    more: NotRequired[int]


def blobs(**changes: Any) -> Blobs:
    return dataclasses.replace(Blobs(b"b" * 300, np.arange(1500.0), ["a", "b"], {"k": 1}), **changes)


# Bytes by hand, after the head of zcser/flat/program.py ----------------------------------------------------------------


def test_a_message_is_laid_out_as_the_program_says():
    value = Outer(-2, "hey", 5, [Inner(9), Inner(None), Inner(8)], {"b": 0.5, "a": -0.0})
    assert engine(Outer).encode(value) == struct.pack(
        "<I 7H xx i q III h xx I 3s x I IIIHHH xx i B xxx HH i i B xxxI II HHHH i I f I s xxx i I f I s x",
        20,  # 0: the root
        *(14, 26, 24, 12, 4, 16, 20),  # 4: vtable
        *(16, 5, 16, 20, 64, -2),  # 20: table, 4 before a multiple of 8
        *(3, b"hey"),  # 48: name
        *(3, 20, 28, 28),  # 56: inners, which are at 80, 92, 96
        *(6, 5, 4, 8, 9),  # 72: vtable; 80: table
        *(4, 4, 4),  # 88: vtable without slots; 92: table
        *(24, 8),  # 96: table of the first form
        *(2, 16, 32),  # 104: labels, whose entries are at 124 and 144
        *(8, 12, 4, 8, 8, 8, -0.0, 1, b"a"),  # 116: vtable; 124: table; 136: key
        *(28, 8, 0.5, 1, b"b"),  # 144: table; 156: key
    )


def test_flatc_reads_every_kind(tmp_path):
    assert to_json(emit_fbs(Rich), engine(Rich).encode(rich_value()), tmp_path) == rich_json()


def test_data_of_the_tail_lie_at_multiples_of_64():
    value = blobs(array=np.array([[1, 2, 3]], np.int16))
    message = engine(Blobs).encode(value)
    root = struct.unpack_from("<I", message)[0]
    blob = root + 4 + struct.unpack_from("<I", message, root + 4)[0]
    assert (blob + 4) % 64 == 0
    assert message[blob : blob + 304] == struct.pack("<I", 300) + value.blob
    data = (blob + 304 + 4 + 63) // 64 * 64
    assert message[blob + 304 : data - 4] == bytes(data - 4 - blob - 304)
    assert message[data - 4 :] == struct.pack("<I3h", 6, 1, 2, 3)


@pytest.mark.parametrize("size", [255, 256])
def test_short_bytes_stand_in_the_head(size):
    message = engine(bytes).encode(b"w" * size)
    # After the root's offset, the vtable, the table and the length; or in the tail.
    assert message.index(b"w") == (24 if size == 255 else 64)
    assert message[-size:] == b"w" * size


# Wide tables -----------------------------------------------------------------------------------------------------------


def wide(count: int) -> Schema:
    fields = (
        Field(f"f{number}", Optional(Int(64 if number % 3 else 8)) if number % 5 else Str(), number + 1)
        for number in range(count)
    )
    return Schema(List(Ref("Wide")), (Record("Wide", tuple(fields)),))


@pytest.mark.parametrize("count", [63, 64, 65, 128, 200, 1000, pytest.param(5000, marks=pytest.mark.slow)])
def test_tables_of_many_slots(count):
    schema, chosen = wide(count), random.Random(count)

    def value(share: float) -> dict[str, Any]:
        return {
            field.name: (
                field.name if isinstance(field.type, Str) else number % 100 if chosen.random() < share else None
            )
            for number, field in enumerate(schema.records[0].fields)
        }

    values = [value(share) for share in (0, 1, 0.5, 0.01, 0.99)]
    message = engine(schema).encode([*values, *values])
    assert read(schema, message) == [*values, *values]
    # Each form has one vtable: what the second half adds is its tables, not again 2 bytes for every slot.
    once = engine(schema).encode(values)
    tables = sum(4 + 8 * len(table) + len("f1234") + 12 for table in values)
    assert len(message) - len(once) <= tables


def test_more_forms_than_are_remembered():
    fields = tuple(Field(f"f{bit}", Optional(Int(8)), bit + 1) for bit in range(7))
    schema = Schema(List(Ref("Bits")), (Record("Bits", fields),))
    values = [{f"f{bit}": bit if number >> bit & 1 else None for bit in range(7)} for number in range(128)]
    message = engine(schema).encode([*values, *values])
    assert read(schema, message) == [*values, *values]
    vtables = set()
    for index in range(256):
        place = 24 + 4 * index  # the vector's items begin there
        table = place + struct.unpack_from("<I", message, place)[0]
        vtables.add(table - struct.unpack_from("<i", message, table)[0])
    assert len(vtables) == 32 + 2 * 96


# Memory ----------------------------------------------------------------------------------------------------------------


def test_scratch_memory_leaves_no_old_bytes():
    cases = [
        Outer(1, "ab" * length, wide, [Inner(None)] * length, {"k": 1.0}) for wide in (1, None) for length in range(9)
    ]
    used = engine(Outer)
    used.encode(Outer(-1, "\xff" * 3000, -1, [Inner(255)] * 500, {"\xff" * length: 1.0 for length in range(99)}))
    for value in cases:
        assert used.encode(value) == engine(Outer).encode(value)


def test_memory_grows_by_doubling_and_stays():
    used = engine(list[str])
    used.encode(["x" * 100] * 1000)
    # 1024 bytes; 4096, as the vector takes 4000; then up to 131,072, as each string takes 108.
    assert used.growths == 7
    assert used.scratch_size == 1 << 17
    used.encode(["x" * 100] * 1000)
    used.encoded_size(["x"])
    assert used.growths == 7


def test_reserved_memory_need_not_grow():
    used = engine(list[str])
    used.reserve(1 << 17)
    used.encode(["x" * 100] * 1000)
    assert used.growths == 0


def test_nothing_keeps_what_was_encoded():
    used = engine(Blobs)
    good, bad = blobs(), blobs(counts={"k": 2**64})
    parts = [good.blob, good.array, good.names, good.counts, bad.blob, bad.array, bad.names, bad.counts]
    before = [sys.getrefcount(part) for part in parts]
    for _ in range(10):
        used.encode(good)
        used.encode_into(good, bytearray(20_000))
        used.encode_segments(good)
        with pytest.raises(EncodeError):
            used.encode(bad)
        with pytest.raises(BufferTooSmallError):
            used.encode_into(good, bytearray(10))
    assert [sys.getrefcount(part) for part in parts] == before


# Segments --------------------------------------------------------------------------------------------------------------


def test_big_data_alias_the_value_and_small_are_copied():
    value = blobs(blob=b"b" * 4096, array=np.arange(512.0).reshape(2, 256))
    segments = engine(Blobs).encode_segments(value)
    assert [segment.nbytes for segment in segments[1::2]] == [4096, 4096]
    assert address(segments[1]) == address(value.blob)
    assert address(segments[3]) == address(value.array)
    assert all(segment.readonly and segment.format == "B" and segment.ndim == 1 for segment in segments)
    assert b"".join(segments) == engine(Blobs).encode(value)
    smaller = blobs(blob=b"b" * 4095, array=np.arange(511.0))
    (whole,) = engine(Blobs).encode_segments(smaller)
    assert whole == engine(Blobs).encode(smaller)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "bool", "float16", "bfloat16"])
def test_segments_of_many_tensors(dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    made = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    arrays = [np.ones(size, made) for size in (0, 5000, 1, 0, 4096, 4096, 3)] + [np.ones((), made)]
    used = engine(list[np.ndarray])
    segments = used.encode_segments(arrays)
    assert len(segments) == 7
    assert b"".join(segments) == used.encode(arrays)
    for index, segment in zip((1, 4, 5), segments[1::2], strict=True):
        assert address(segment) == arrays[index].ctypes.data
    found = read(list[np.ndarray], b"".join(segments))
    assert [(item.shape, item.dtype) for item in found] == [(item.shape, item.dtype) for item in arrays]


def test_segments_keep_the_value_alive():
    segments = engine(np.ndarray).encode_segments(np.full(5000, 7.0))
    assert (np.frombuffer(segments[1]) == 7).all()


# Into a buffer ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "size", "offset", "limits"),
    [
        (blobs(), 100, 0, {}),
        (blobs(), 13_000, 3, {}),
        (blobs(), 13_000, 4, {}),
        (blobs(), 13_000, -1, {}),
        (blobs(), 13_000, 13_001, {}),
        (blobs(), 13_000, 2**70, {}),
        (blobs(), 13_000, True, {}),
        (blobs(counts={"k": 2**63}), 13_000, 0, {}),
        (blobs(names=["\ud800"]), 13_000, 0, {}),
        (blobs(array=np.zeros(2, object)), 13_000, 0, {}),
        (blobs(), 13_000, 0, {"bytes": 1000}),
        (blobs(), 13_000, 0, {"elements": 2}),
        (None, 13_000, 0, {}),
    ],
)
def test_a_failure_leaves_the_buffer_untouched(value, size, offset, limits):
    out = filled(size)
    with pytest.raises(EncodeError):
        engine(Blobs, limits=Limits(**limits)).encode_into(value, out, offset)
    assert out == filled(size)
    out += b"more"  # the buffer is not held any longer


def test_an_address_is_a_multiple_of_8_only_where_it_matters():
    out = filled(200)
    assert engine(Inner).encode_into(Inner(1), out, 4) == len(engine(Inner).encode(Inner(1)))
    assert out[:4] == b"\xaa" * 4
    with pytest.raises(EncodeError, match="no multiple of 8"):
        engine(Outer).encode_into(Outer(1, "", 2, [], {}), out, 4)
    with pytest.raises(EncodeError, match="no multiple of 4"):
        engine(Inner).encode_into(Inner(1), out, 2)


def test_a_message_may_be_written_over_its_own_tensor():
    memory = filled(40_000)
    value = blobs(array=np.frombuffer(memory, np.float64, 2000, 800))
    value.array[:] = np.arange(2000)
    expected = engine(Blobs).encode(value)
    assert engine(Blobs).encode_into(value, memory) == len(expected)
    assert memory[: len(expected)] == expected


# While it encodes ------------------------------------------------------------------------------------------------------


def hooked(hook: Callable[[Any], Any]) -> Any:
    """A class of `Blobs`' form, whose third attribute calls a function before it gives the list."""

    @dataclasses.dataclass
    class Hooked:
        blob: bytes
        array: np.ndarray
        names: list[str]
        counts: dict[str, int]

    def get(self: Any) -> Any:
        hook(self)
        return self.__dict__["names"]

    Hooked.names = property(get, lambda self, value: self.__dict__.update(names=value))  # type: ignore[assignment]
    return Hooked


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value.__dict__.update(blob=b"", counts={}),
        lambda value: value.counts.clear(),
        lambda value: value.counts.update(new=2),
        lambda value: value.__dict__["names"].append("c"),
        lambda value: value.__dict__["names"].clear(),
        lambda value: value.__dict__.pop("blob", None),
    ],
)
def test_a_value_that_changes_meanwhile_is_written_as_it_is_at_some_moment_or_refused(change):
    cls = hooked(change)
    value = cls(b"b" * 300, np.arange(3), ["a", "b"], {"k": 1})
    try:
        message = engine(cls).encode(value)
    except EncodeError:
        return
    found = read(cls, message)
    assert found.blob in (b"b" * 300, b"")
    assert found.__dict__["names"][:2] in (["a", "b"], [])
    assert set(found.counts) <= {"k", "new"}


def test_a_list_that_becomes_shorter_is_written_as_it_has_become():
    rows: list[Any] = []
    cls = hooked(lambda _value: rows.pop() if len(rows) > 2 else None)
    rows += [cls(b"", np.arange(2), ["x"], {}) for _ in range(6)]
    assert len(read(list[cls], engine(list[cls]).encode(rows))) == len(rows) == 2


def test_a_list_that_never_stays_as_it_is_is_refused():
    rows: list[Any] = []
    cls = hooked(lambda _value: rows.append(rows[0]))
    rows.append(cls(b"", np.arange(2), ["x"], {}))
    with pytest.raises(EncodeError, match=r"limits\.elements|changed"):
        engine(list[cls], limits=Limits(elements=50)).encode(rows)


def test_an_engine_may_be_called_while_it_encodes():
    inner: list[bytes] = []

    def encode_another(value: Any) -> None:
        if value.blob:
            inner.append(used.encode(cls(b"", np.arange(99), ["inner"] * 999, {})))

    cls, quiet = hooked(encode_another), hooked(lambda _value: None)
    used = engine(cls)
    message = used.encode(cls(b"b" * 300, np.arange(3), ["outer"], {"k": 1}))
    assert message == engine(quiet).encode(quiet(b"b" * 300, np.arange(3), ["outer"], {"k": 1}))
    assert inner == [engine(quiet).encode(quiet(b"", np.arange(99), ["inner"] * 999, {}))]


def test_threads_share_an_engine():
    used, wrong = engine(Blobs), []

    def work(seed: int) -> None:
        value = blobs(array=np.full(200_000 + seed, seed, np.float64), names=[str(seed)] * 300)
        expected = engine(Blobs).encode(value)
        wrong.extend(index for index in range(20) if used.encode(value) != expected)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# Errors ----------------------------------------------------------------------------------------------------------------


def failing(error: BaseException) -> Any:
    def hook(_value: Any) -> None:
        raise error

    cls = hooked(hook)
    return engine(cls), cls(b"", np.arange(2), [], {})


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(), MemoryError()])
def test_what_is_no_matter_of_the_value_passes_through(error):
    used, value = failing(error)
    with pytest.raises(type(error)):
        used.encode(value)


def test_an_exception_of_the_value_is_an_encode_error_with_its_cause():
    used, value = failing(ValueError("boom"))
    with pytest.raises(EncodeError, match="the message cannot be built: boom") as caught:
        used.encode(value)
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_message_over_the_limit_says_its_size():
    message = engine(Blobs).encode(blobs())
    size = len(message)
    assert engine(Blobs, limits=Limits(bytes=size)).encode(blobs()) == message
    for call in ("encode", "encode_segments", "encoded_size"):
        with pytest.raises(EncodeError, match=f"{size} bytes are more than limits.bytes = {size - 1}"):
            getattr(engine(Blobs, limits=Limits(bytes=size - 1)), call)(blobs())


def test_elements_are_those_of_all_lists_and_maps():
    assert engine(Blobs, limits=Limits(elements=3)).encode(blobs())
    with pytest.raises(EncodeError, match=r"limits\.elements = 2"):
        engine(Blobs, limits=Limits(elements=2)).encode(blobs())


def nested(depth: int) -> Any:
    value: Any = {"items": []}
    for _ in range(depth):
        value = {"items": [value]}
    return value


def test_depth_counts_records_and_lists():
    # 49 around, the innermost: 50 records and 50 lists.
    assert read(Node, engine(Node).encode(nested(49))) == nested(49)
    with pytest.raises(EncodeError, match="nested deeper"):
        engine(Node).encode(nested(50))


def test_nesting_deeper_than_the_stack_is_an_encode_error():
    with pytest.raises(EncodeError, match="stack"):
        engine(Node, limits=Limits(depth=10**9)).encode(nested(200_000))


def test_dicts_with_missing_or_unknown_keys_are_refused():
    used = engine(Counted)
    assert used.encode({"more": 1, "number": 2}) == used.encode({"number": 2, "more": 1})
    for wrong in ({}, {"more": 1}, {"number": 1, "none": 2}, {"number": 1, 5: 2}):
        with pytest.raises(EncodeError):
            used.encode(wrong)


def test_strict_refuses_what_would_be_changed():
    cls = list[float]
    assert engine(cls).encode([1]) == engine(cls).encode([1.0])
    with pytest.raises(EncodeError, match="strict"):
        engine(cls, strict=True).encode([1])


@pytest.mark.parametrize(("value", "fits"), [(2**53, True), (-(2**53), True), (2**53 + 1, False), (2**60, True)])
def test_an_int_is_a_float_where_it_is_exact(value, fits):
    if fits:
        assert engine(list[float]).encode([value]) == engine(list[float]).encode([float(value)])
    else:
        with pytest.raises(EncodeError, match="not exact"):
            engine(list[float]).encode([value])


# The same value ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [str, int, bool])
def test_maps_are_sorted_whatever_their_order(key):
    keys: list[Any] = [True, False] if key is bool else [3, -5, 0, 2**62, -(2**63), 7]
    if key is str:
        keys = ["b", "", "é", "z", "\U0001f600", "\uffff", "a\0", "a", "日本"]
    schema, chosen = dict[key, int], random.Random(1)  # type: ignore[valid-type]
    messages = set()
    for _ in range(8):
        chosen.shuffle(keys)
        messages.add(engine(schema).encode({item: number for number, item in enumerate(sorted(keys))}))
        messages.add(engine(schema).encode({item: sorted(keys).index(item) for item in keys}))
    (message,) = messages
    by_utf8 = sorted(keys, key=lambda item: item.encode() if key is str else item)
    assert list(read(schema, message)) == by_utf8


def test_sparse_ids_leave_their_slots_empty():
    @dataclasses.dataclass
    class Sparse:
        last: Annotated[Int32, Id(20)]
        first: Annotated[Int32, Id(2)]

    message = engine(Sparse).encode(Sparse(7, 8))
    vtable = struct.pack("<22H", 44, 12, 0, 4, *[0] * 17, 8)
    assert message == struct.pack("<I", 48) + vtable + struct.pack("<iii", 44, 8, 7)
