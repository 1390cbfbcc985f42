"""What the C engine's views do beyond what every codec's views are held to: buffers, lifetimes, bytes that lie.

Messages come from the official codec, and expected values from the values that were encoded.
"""

from __future__ import annotations

import dataclasses
import enum
import gc
import pickle
import random
import struct
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from tests.flat.rich import Rich, rich_value
from zcser import registry
from zcser.core.buffers import address
from zcser.core.errors import DecodeError, ReleasedViewError
from zcser.core.fidelity import difference
from zcser.core.options import Options
from zcser.core.view import MapView, RecordView, SequenceView, View, release, retained_bytes, to_value
from zcser.flat.plan import layout_of
from zcser.flat.program import program_of
from zcser.schema.annotations import Float32, Int8, Int16, Int32, UInt8, UInt16, UInt32, UInt64
from zcser.schema.from_python import schema_of

_flat = pytest.importorskip("zcser.native._flat", reason="the C extension is not built")
pytest.importorskip("flatbuffers")

from zcser.flat.native.engine import make_engine  # noqa: E402 - needs the extension
from zcser.flat.native.view import install_views  # noqa: E402


class Weight(enum.IntEnum):
    HEAVY = 7
    LIGHT = -300


@dataclasses.dataclass
class Numbers:
    flags: list[bool]
    i8: list[Int8]
    u8: list[UInt8]
    i16: list[Int16]
    u16: list[UInt16]
    i32: list[Int32]
    u32: list[UInt32]
    i64: list[int]
    u64: list[UInt64]
    f32: list[Float32]
    f64: list[float]
    weights: list[Weight]
    texts: list[str]
    nulls: list[None]
    tensor: np.ndarray
    blob: bytes


NUMBERS = Numbers(
    [True, False], [-1, 2], [255], [-300], [65535], [-(2**31)], [2**32 - 1], [-(2**63), 5], [2**64 - 1], [1.5, -0.25],
    [0.1], [Weight.LIGHT, Weight.HEAVY], ["a"], [None, None], np.arange(4, dtype="f4"), b"bytes",
)  # fmt: skip
DTYPES = {
    "flags": "bool", "i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16", "i32": "int32", "u32": "uint32",
    "i64": "int64", "u64": "uint64", "f32": "float32", "f64": "float64", "weights": "int16",
}  # fmt: skip


def engine_of(source: Any) -> Any:
    program = program_of(layout_of(schema_of(source)))
    engine = make_engine(program, Options(), codec="flatbuffers", normal=lambda value: value)
    install_views(engine, program)
    return engine


ENGINE = engine_of(Numbers)
RICH = engine_of(Rich)
MESSAGE = registry.codec("flatbuffers-official", Numbers).encode(NUMBERS)
RICH_MESSAGE = registry.codec("flatbuffers-official", Rich).encode(rich_value())


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda data: memoryview(b"x" + data)[1:]])
def test_a_view_shows_what_was_encoded_whatever_the_buffer_is(kind, verify):
    view = RICH.view(kind(RICH_MESSAGE), verify=verify)
    value = rich_value()
    assert difference(to_value(view), value) is None
    for item in dataclasses.fields(Rich):
        assert difference(to_value(view[item.name]), getattr(value, item.name)) is None
        assert difference(to_value(getattr(view, item.name)), getattr(value, item.name)) is None


@pytest.mark.parametrize(("name", "dtype"), DTYPES.items())
def test_a_list_of_numbers_is_a_buffer_that_aliases_the_message(name, dtype):
    data = bytearray(MESSAGE)
    view = ENGINE.view(data)[name]
    array, buffer = np.asarray(view), memoryview(view)
    expected = getattr(NUMBERS, name)
    assert array.dtype == np.dtype(dtype)
    assert array.tolist() == buffer.tolist() == [int(item) if name == "weights" else item for item in expected]
    assert not array.flags.writeable
    assert buffer.readonly
    assert (buffer.ndim, buffer.shape, buffer.strides) == (1, (len(expected),), (array.itemsize,))
    assert address(data) <= address(array) == address(buffer) < address(data) + len(data)
    data[address(array) - address(data)] ^= 1
    assert array[0] != expected[0]
    assert buffer[0] != expected[0]


def test_only_lists_of_numbers_are_buffers_and_none_is_writable():
    view = ENGINE.view(MESSAGE)
    for other in (view.texts, view.nulls, view):
        with pytest.raises(TypeError, match="bytes-like"):
            memoryview(other)
    with pytest.raises((BufferError, TypeError)):
        struct.pack_into("<b", view.i8, 0, 5)
    assert np.asarray(view.texts).tolist() == ["a"]
    assert list(view.nulls) == [None, None]


@pytest.mark.parametrize("order", range(3))
def test_release_leaves_what_was_handed_out_and_then_lets_go(order):
    data = bytearray(MESSAGE)
    view = ENGINE.view(data)
    numbers, tensor, blob = np.asarray(view.i64), view.tensor, view.blob
    released = view.i64
    release(view)
    for read in (lambda: view.blob, lambda: view["i8"], lambda: released[0], lambda: len(released),
                 lambda: released[:], lambda: memoryview(released), lambda: "i8" in view, lambda: pickle.dumps(view)):  # fmt: skip
        with pytest.raises(ReleasedViewError):
            read()
    assert retained_bytes(view) == retained_bytes(released) == 0
    assert numbers.tolist() == NUMBERS.i64
    assert tensor.tolist() == NUMBERS.tensor.tolist()
    assert blob == NUMBERS.blob
    held = [numbers, tensor, blob]
    del numbers, tensor, blob
    held = held[order:] + held[:order]
    while held:
        with pytest.raises(BufferError):  # a bytearray that something points into does not change its size
            data.append(0)
        held.pop()
    data.append(0)


def test_a_message_lives_as_long_as_its_last_view():
    class Owned(bytearray):
        """Takes weak references, as bytearray does not."""

    data = Owned(MESSAGE)
    alive = weakref.ref(data)
    numbers = ENGINE.view(data).i64
    del data
    gc.collect()
    assert alive() is not None
    assert list(numbers) == NUMBERS.i64
    del numbers
    gc.collect()
    assert alive() is None


def test_a_cycle_through_the_buffer_is_collected():
    class Owned(bytearray):
        pass

    data = Owned(MESSAGE)
    data.view = ENGINE.view(data)
    alive, view_alive = weakref.ref(data), weakref.ref(data.view)
    del data
    gc.collect()
    assert alive() is None
    assert view_alive() is None


def test_an_engine_and_its_view_classes_are_collected():
    view = engine_of(Numbers).view(MESSAGE)
    alive = weakref.ref(type(view))
    del view
    gc.collect()
    assert alive() is None


def test_reading_leaves_no_references_behind():
    view = RICH.view(RICH_MESSAGE)
    names = [item.name for item in dataclasses.fields(Rich)]

    def read() -> None:
        for name in names:
            part = view[name]
            if isinstance(part, SequenceView | MapView):
                list(part)
                part[:1] if isinstance(part, SequenceView) else part.get("nobody")
        to_value(view)
        for wrong in ("nobody", [], 5):
            with pytest.raises(KeyError):
                view[wrong]
        with pytest.raises(DecodeError):
            RICH.view(RICH_MESSAGE[:50])

    watched = (RICH_MESSAGE, view, None, True, type(view))
    read()
    gc.collect()
    before = [sys.getrefcount(item) for item in watched]
    for _ in range(50):
        read()
    gc.collect()
    after = [sys.getrefcount(item) for item in watched]
    assert all(abs(one - other) < 50 for one, other in zip(before, after, strict=True))


@dataclasses.dataclass
class Keyed:
    texts: dict[str, int]
    ints: dict[int, int]
    unsigned: dict[UInt64, int]
    flags: dict[bool, int]


def test_maps_find_every_key_and_no_other():
    # Code points in UTF-8 order: one byte, two, three, and four, which UTF-16 would sort before the last of three.
    texts = ["", "a", "a\0", "aa", "b", "\x7f", "\u00e9", "\u07ff", "\ufffd", "\U0001f600", "\U0010ffff"]
    ints = [-(2**63), -5, 0, 1, 7, 2**63 - 1]
    unsigned = [0, 2**63 - 1, 2**63, 2**64 - 1]
    value = Keyed(*({key: n for n, key in enumerate(keys)} for keys in (texts, ints, unsigned, [False, True])))
    view = engine_of(Keyed).view(registry.codec("flatbuffers-official", Keyed).encode(value))
    for name, keys in (("texts", texts), ("ints", ints), ("unsigned", unsigned), ("flags", [False, True])):
        found = view[name]
        assert list(found) == keys
        assert [found[key] for key in keys] == list(range(len(keys)))
        for other in (None, (), (1, 2), [], 1.0, b"a", "nobody", "\ud800", "\U0001f601", 3, -1, 2**64, -(2**64)):
            if type(other) is not type(keys[0]) or other not in keys:
                assert found.get(other, "none") == "none"
                with pytest.raises(KeyError) as error:
                    found[other]
                assert error.value.args == (other,)
    assert view.ints[Weight.HEAVY] == ints.index(7)


def test_views_are_made_by_the_engine_alone():
    view = ENGINE.view(MESSAGE)
    for cls in (type(view), type(view.i8), type(view.texts), _flat.TableView, _flat.MapView):
        with pytest.raises(TypeError):
            cls()
        with pytest.raises(TypeError):
            object.__new__(cls)
    with pytest.raises(TypeError, match="another record"):
        type(view).i8.__get__(RICH.view(RICH_MESSAGE))
    for fields in ({"x": 5}, {"i8": type(RICH.view(RICH_MESSAGE)).i8}):
        with pytest.raises(ValueError, match="set_view"):
            ENGINE.set_view(0, type(view), fields)
    with pytest.raises(ValueError, match="set_view"):
        ENGINE.set_view(0, int, {})


def test_a_fault_names_the_field_and_the_place():
    data = bytearray(MESSAGE)
    view = ENGINE.view(data)
    place = data.index(b"a\0", data.index((1).to_bytes(4, "little") + b"a\0"))
    data[place] = 0xFF
    with pytest.raises(DecodeError, match="UTF-8") as error:
        view.texts[0]
    assert error.value.path == "/0"
    assert error.value.codec == "flatbuffers"
    data[:] = b"\xff" * len(data)
    for name in view._zc_getters:
        with pytest.raises(DecodeError) as error:
            view[name]
        assert error.value.path == f"/{name}"


def walk(view: Any, left: list[int]) -> None:
    """Read all that a view shows; only DecodeError may come of it."""
    left[0] -= 1
    if left[0] < 0 or not isinstance(view, View):
        if isinstance(view, memoryview | np.ndarray):
            view.tobytes()
        return
    steps: list[Any]
    if isinstance(view, RecordView):
        steps = list(view._zc_getters)
    else:
        try:
            steps = list(range(len(view))) if isinstance(view, SequenceView) else [*list(view), "a", 5]
        except DecodeError:
            return
    for step in steps[:20]:
        try:
            walk(view[step], left)
        except (DecodeError, KeyError):
            continue
    repr(view)


def test_unverified_views_of_lying_bytes_give_values_or_decode_errors():
    rng = random.Random(5)
    opened = 0
    for _ in range(600):
        data = bytearray(RICH_MESSAGE)
        for _ in range(rng.choice((1, 2, 5))):
            place = rng.randrange(len(data))
            data[place : place + 1] = rng.choice((b"\0", b"\xff", b"\x04", bytes([rng.randrange(256)])))
        try:
            view = RICH.view(data, verify=False)
        except DecodeError:
            continue
        opened += 1
        walk(view, [300])
        data[rng.randrange(len(data))] ^= 0x80
        walk(view, [100])
    assert opened > 400


def test_views_may_be_released_while_other_threads_read():
    views: list[Any] = []
    wrong: list[BaseException] = []

    def read() -> None:
        while not done.is_set():
            try:
                view = views[-1]
                list(view.i64), view.tensor, view["blob"]
            except (ReleasedViewError, IndexError):
                continue
            except BaseException as error:  # noqa: BLE001 - whatever it is, the test fails
                wrong.append(error)
                return

    done = threading.Event()
    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for _ in range(300):
        views.append(ENGINE.view(bytearray(MESSAGE)))
        release(views[-1])
    done.set()
    for reader in readers:
        reader.join()
    assert not wrong
