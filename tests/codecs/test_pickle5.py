"""Pickle, protocol 5: what is in the bytes, who may read them, and that buffers are not copied."""

from __future__ import annotations

import dataclasses
import pickle
import pickletools
from typing import Any

import numpy as np
import pytest

from zcser import registry
from zcser.core.buffers import address
from zcser.core.errors import DecodeError
from zcser.core.fidelity import equal
from zcser.tree.splice import BIG


@dataclasses.dataclass
class Pair:
    name: str
    data: np.ndarray
    blob: bytes
    many: tuple[int, ...] = ()


VALUE = Pair("x", np.arange(BIG, dtype=np.float32), b"z" * BIG, (1, 2))


def trusting(schema: Any = Pair, **options: Any) -> Any:
    return registry.codec("pickle5", schema, allow_untrusted_code=True, **options)


def test_decoding_is_refused_until_the_user_says_that_the_bytes_are_trusted():
    plain = registry.codec("pickle5", Pair)
    data = plain.encode(VALUE)
    for read in (plain.decode, plain.load, lambda data: plain.decode_segments([data])):
        with pytest.raises(DecodeError, match="allow_untrusted_code=True"):
            read(data)
    assert plain.info.trusted_only
    assert equal(trusting().decode(data), VALUE)


def test_the_guard_does_not_lift_the_refusal():
    with pytest.raises(DecodeError, match="allow_untrusted_code"):
        registry.codec("pickle5", int, guard="off").decode(pickle.dumps(5))


def test_a_message_is_a_pickle_of_builtins_that_any_python_reads():
    value = dataclasses.replace(VALUE, data=np.arange(3, dtype=np.int16), blob=b"small")
    tree = {
        "name": "x",
        "data": {"dtype": "int16", "shape": [3], "data": b"\0\0\1\0\2\0"},
        "blob": b"small",
        "many": [1, 2],
    }
    assert pickle.loads(trusting().encode(value)) == tree
    assert trusting().decode(pickle.dumps(tree)).many == (1, 2)


def test_a_message_names_no_class_and_calls_nothing():
    codes = {code.name for code, _, _ in pickletools.genops(trusting().encode(VALUE))}
    assert not codes & {"GLOBAL", "STACK_GLOBAL", "REDUCE", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "BUILD", "PERSID"}
    assert "FRAME" in codes


class Spy:
    called = 0

    def __reduce__(self) -> Any:
        return _call, ()


def _call() -> int:
    Spy.called += 1
    return 5


@pytest.mark.parametrize("guard", ["on", "off"])
def test_nothing_that_a_pickle_names_is_called(guard):
    Spy.called = 0
    with pytest.raises(DecodeError, match="_call"):
        trusting(int, guard=guard).decode(pickle.dumps(Spy()))
    assert Spy.called == 0
    assert pickle.loads(pickle.dumps(Spy())) == 5, "the same bytes do call it elsewhere"


def test_segments_are_the_pickle_and_its_buffers_which_alias():
    codec = trusting()
    first, *buffers = codec.encode_segments(VALUE)
    assert len(first) < 300
    assert [address(buffer) for buffer in buffers] == [address(VALUE.data), address(VALUE.blob)]
    assert all(buffer.readonly for buffer in buffers)
    tree = pickle.loads(first, buffers=buffers)
    assert bytes(tree["data"]["data"]) == VALUE.data.tobytes()
    found = codec.decode_segments([first, *buffers], copy=False)
    assert address(found.data) == address(VALUE.data)
    assert address(found.blob) == address(VALUE.blob)
    assert not found.data.flags.writeable
    copied = codec.decode_segments([first, *buffers])
    assert equal(copied, VALUE)
    assert copied.data.flags.writeable


def test_a_buffer_that_may_change_is_read_only_to_who_decodes_it():
    codec = trusting()
    first, data, blob = codec.encode_segments(VALUE)
    found = codec.decode_segments([first, bytearray(data), blob], copy=False)
    with pytest.raises(ValueError, match=r"WRITEABLE|writeable"):
        found.data.flags.writeable = True


def test_bytes_after_the_pickle_are_refused():
    codec = trusting(int)
    for data in (pickle.dumps(5, 5), pickle.dumps(5, 0)):
        assert codec.decode(data) == 5
        with pytest.raises(DecodeError, match="ends before") as caught:
            codec.decode(data + b"more")
        assert caught.value.offset == len(data)


def test_one_object_in_two_places_is_pickled_once_and_read_as_two_records():
    codec = trusting(list[dict[str, bytes | None]])
    shared = {"a": b"x" * 1000}
    assert len(codec.encode([shared] * 5)) > 1000
    found = codec.decode(pickle.dumps([shared] * 5), copy=False)
    assert [bytes(item["a"]) for item in found] == [b"x" * 1000] * 5
