"""Big tensors and bytes of MessagePack: in the message as any reader expects, and never copied where that is promised."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from zcser import registry
from zcser.core.buffers import address
from zcser.core.dtypes import NAMES as DTYPES
from zcser.core.dtypes import dtype_named
from zcser.core.errors import CodecUnavailableError, DecodeError, EncodeError
from zcser.core.fidelity import difference, equal
from zcser.core.options import Limits
from zcser.tree.splice import BIG, NONCE

msgpack = pytest.importorskip("msgpack")
NAMES = [name for name, found in registry.available().items()
         if not isinstance(found, CodecUnavailableError) and found.wire == "msgpack"]  # fmt: skip
pytestmark = pytest.mark.parametrize("name", NAMES)


@dataclasses.dataclass
class Request:
    model: str
    tensors: list[np.ndarray]
    blob: bytes
    named: dict[str, np.ndarray | int | bytes]
    last: np.ndarray | None = None


def request(size: int = BIG) -> Request:
    rng = np.random.default_rng(7)
    floats = rng.random(size).astype(np.float32)
    return Request(
        "größe",
        [floats, np.arange(3), floats.reshape(4, -1), rng.integers(0, 9, (2, size), np.int8)],
        rng.bytes(size),
        {"a": floats[: size // 2].astype(np.float64), "b": 5, "c": rng.bytes(size + 1), "d": b"small"},
        np.array(1.5),
    )


def as_tree(value: Any) -> Any:
    """What any reader of MessagePack is to find, worked out here."""
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.name, "shape": list(value.shape), "data": value.tobytes()}
    if isinstance(value, list):
        return [as_tree(item) for item in value]
    if isinstance(value, dict):
        return {key: as_tree(item) for key, item in value.items()}
    return value


def inside(part: Any, whole: Any) -> bool:
    start = address(whole)
    return start <= address(part) < start + memoryview(whole).nbytes


def test_the_message_is_what_any_reader_of_the_format_expects(name):
    value = request()
    wanted = {item.name: as_tree(getattr(value, item.name)) for item in dataclasses.fields(value)}
    codec = registry.codec(name, Request)
    for data in (codec.encode(value), b"".join(codec.encode_segments(value)), codec.dump(codec.convert(value))):
        assert msgpack.unpackb(data) == wanted
        assert equal(codec.decode(data), value)
        assert NONCE not in data


def test_no_dtype_asks_for_more_than_the_8_bytes_that_tensors_are_aligned_to(name):
    assert max(dtype_named(dtype).alignment for dtype in DTYPES) == 8


def test_segments_alias_what_is_big_and_joined_are_the_message(name):
    value, codec = request(), registry.codec(name, Request)
    segments = codec.encode_segments(value)
    assert b"".join(segments) == codec.encode(value)
    big = [*(item for item in value.tensors if item.nbytes >= BIG), value.blob, value.named["a"], value.named["c"]]
    assert [address(segment) for segment in segments[1::2]] == [address(item) for item in big]
    assert sum(segment.nbytes for segment in segments[::2]) < 1000


def test_segments_are_read_where_they_lie(name):
    value, codec = request(), registry.codec(name, Request)
    segments = [bytes(segment) for segment in codec.encode_segments(value)]
    found = codec.decode_segments(segments, copy=False)
    assert difference(found.tensors, value.tensors) is None
    assert inside(found.tensors[0], segments[1])
    assert inside(found.blob, segments[7])
    assert not found.tensors[0].flags.writeable
    copied = codec.decode_segments(segments)
    assert equal(copied, value)
    assert not inside(copied.tensors[0], segments[1])


def test_a_big_tensor_is_a_read_only_view_of_the_message(name):
    value, codec = request(), registry.codec(name, Request)
    data = bytearray(codec.encode(value))
    found = codec.decode(data, copy=False)
    for array in (found.tensors[0], found.tensors[2], found.tensors[3], found.named["a"]):
        assert inside(array, data)
        assert array.flags.aligned
        assert not array.flags.writeable
        with pytest.raises(ValueError, match=r"WRITEABLE|writeable"):
            array.flags.writeable = True
    assert inside(found.blob, data)
    assert found.blob.readonly
    for item in (found.tensors[0], found.blob):
        before = bytes(item)
        place = address(item) - address(data)
        data[place] ^= 0xFF
        assert bytes(item)[0] == before[0] ^ 0xFF
        data[place] ^= 0xFF
    del data
    gc.collect()
    assert equal(dataclasses.replace(found, blob=bytes(found.blob), named={**found.named, "c": bytes(found.named["c"]), "d": bytes(found.named["d"])}), value)  # fmt: skip


def test_what_decode_copies_is_the_callers_own(name):
    value, codec = request(), registry.codec(name, Request)
    data = bytearray(codec.encode(value))
    found = codec.decode(data)
    data[:] = bytes(len(data))
    assert equal(found, value)
    assert type(found.blob) is bytes
    assert all(array.flags.writeable and array.flags.owndata for array in found.tensors)


@pytest.mark.parametrize("pad", range(9))
def test_tensors_lie_at_multiples_of_8_wherever_the_message_is_aligned(name, pad):
    codec = registry.codec(name, dict[str, np.ndarray])
    array = np.arange(BIG, dtype=np.int64).reshape(2, 1, -1)
    data = codec.encode({"k" * pad: array, "z": array})
    for part in codec.decode(data, copy=False).values():
        assert (address(part) - address(data)) % 8 == 0
        assert inside(part, data)
    assert [item["shape"] for item in msgpack.unpackb(data).values()] == [[2, 1, BIG // 2]] * 2
    # Elsewhere it is copied, so that native code can read it.
    odd = memoryview(b"?" + data)[1:]
    for part in codec.decode(odd, copy=False).values():
        assert part.flags.aligned
        assert np.array_equal(part, array)


@pytest.mark.parametrize("shape", [(65_536,), (70_000, 1), (1,) * 17 + (5000,), (2, 127, 128)])
def test_every_shape_is_written_as_the_library_would(name, shape):
    codec = registry.codec(name, np.ndarray)
    array = np.zeros(shape, np.uint8)
    assert msgpack.unpackb(codec.encode(array)) == as_tree(array)
    assert codec.decode(codec.encode(array)).shape == shape


def test_encode_into_writes_the_message_with_one_copy_or_nothing(name):
    value, codec = request(), registry.codec(name, Request)
    data = codec.encode(value)
    out = bytearray(b"\xaa" * (len(data) + 8))
    assert codec.encode_into(value, out, 8) == len(data)
    assert out == b"\xaa" * 8 + data
    out = bytearray(b"\xaa" * len(data))
    bad = dataclasses.replace(value, last=np.array([None]))
    with pytest.raises(EncodeError, match="object") as caught:
        codec.encode_into(bad, out)
    assert caught.value.path == "/last"
    assert out == b"\xaa" * len(data)


def test_messages_of_other_writers_are_read_the_same(name):
    value, codec = request(), registry.codec(name, Request)
    tree = {item.name: as_tree(getattr(value, item.name)) for item in dataclasses.fields(value)}
    data = msgpack.packb({"unknown": bytes(3 * BIG), **tree, "more": [bytes(BIG)]})
    assert equal(codec.decode(data), value)
    found = codec.decode(data, copy=False)
    assert inside(found.blob, data)
    assert inside(found.tensors[3], data)
    with pytest.raises(DecodeError, match=r"unknown|more"):
        registry.codec(name, Request, unknown_fields="refuse").decode(data)


def test_many_small_things_beside_a_big_one_are_read_by_the_library(name):
    # The walk to the tensor would take longer than the copy.
    codec = registry.codec(name, list[np.ndarray | list[int]])
    value = [list(range(50_000)), np.arange(BIG)]
    assert equal(codec.decode(codec.encode(value), copy=False), value)


def test_a_nonce_in_the_value_is_data_like_any_other(name):
    codec = registry.codec(name, list[bytes])
    for small in (NONCE, NONCE + bytes(4), NONCE + b"\xff" * 4, b"\xc4\x14" + NONCE):
        assert codec.decode(codec.encode([small, small])) == [small, small]


def test_damaged_messages_are_values_or_decode_errors(name):
    codec = registry.codec(name, Request, limits=Limits(elements=100_000))
    whole = codec.encode(request())
    heads = [index for index in range(len(whole)) if whole[index] == 0xC6]
    rng = random.Random(name)
    for turn in range(400):
        data = bytearray(whole)
        match turn % 4:
            case 0:
                data[rng.randrange(120)] = rng.randrange(256)
            case 1:
                at = rng.choice(heads[:8]) + rng.randrange(-20, 6)
                data[max(0, at)] = rng.randrange(256)
            case 2:
                del data[rng.randrange(len(data)) :]
            case _:
                at = rng.randrange(len(data))
                data[at : at + rng.randrange(1, 5000)] = rng.randbytes(rng.randrange(0, 40))
        for copied in (True, False):
            with contextlib.suppress(DecodeError):
                codec.decode(data, copy=copied)


def test_faults_of_a_big_message_are_named_as_in_a_small_one(name):
    codec = registry.codec(name, Request)
    tree = {item.name: as_tree(getattr(request(), item.name)) for item in dataclasses.fields(Request)}
    tree["tensors"][3]["shape"] = [3, BIG]
    for data, copied in ((msgpack.packb(tree), True), (msgpack.packb(tree), False)):
        with pytest.raises(DecodeError, match="do not hold a int8 tensor") as caught:
            codec.decode(data, copy=copied)
        assert caught.value.path == "/tensors/3"
        assert NONCE.hex() not in str(caught.value)


def test_segments_of_no_message_are_refused(name):
    codec = registry.codec(name, Request)
    parts = [bytes(part) for part in codec.encode_segments(request())]
    swapped = [parts[0], parts[3], *parts[2:]]
    for wrong in (parts[:-1], parts[:-2], parts[1:], [*parts, b""], [*parts, b"", b""], swapped[::-1], [*parts[:1], b"", *parts[2:]]):  # fmt: skip
        with pytest.raises(DecodeError):
            codec.decode_segments(wrong)
    with pytest.raises(DecodeError, match="segments"):
        registry.codec(name, int).decode_segments([b"\x01", b"", b""])


def test_limits_hold_for_what_the_library_never_saw(name):
    value = request()
    size = len(registry.codec(name, Request).encode(value))
    tight = registry.codec(name, Request, limits=Limits(bytes=size - 1))
    for encode in (tight.encode, tight.encode_segments, lambda value: tight.encode_into(value, bytearray(size))):
        with pytest.raises(EncodeError, match="bytes"):
            encode(value)
    segments = registry.codec(name, Request).encode_segments(value)
    with pytest.raises(DecodeError, match="bytes"):
        tight.decode_segments(segments)


def test_strict_codecs_splice_what_is_normal_and_refuse_the_rest(name):
    codec = registry.codec(name, list[np.ndarray], strict=True)
    array: npt.NDArray[Any] = np.arange(2 * BIG)
    assert equal(codec.decode(codec.encode([array])), [array])
    with pytest.raises(EncodeError, match="strict"):
        codec.encode([array[::2]])


def test_without_the_guard_the_same_bytes_are_written_and_read(name):
    value = request()
    loose, checked = registry.codec(name, Request, guard="off"), registry.codec(name, Request)
    assert loose.encode(value) == checked.encode(value)
    assert equal(loose.decode(checked.encode(value)), value)
