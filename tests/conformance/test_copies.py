"""The law of copies: alias is a claim that is proved by changing the input and by address."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.conformance.laws import INFO, assert_same, cells, codecs, has, make, messages, parts, written
from tests.conformance.strategies import plain
from zcser import registry
from zcser.core.buffers import address
from zcser.core.codec import Codec
from zcser.core.view import release, retained_bytes, to_value
from zcser.schema.model import Bytes, Field, Int, List, Record, Ref, Schema, Str, Tensor

# One field of each kind that `info.reads` speaks of, all of fixed size, so that every codec carries it.
FIXED = Schema(
    Ref("Fixed"),
    (
        Record(
            "Fixed",
            (
                Field("tensor", Tensor("uint8", (64,)), 1),
                Field("bytes", Bytes(48), 2),
                Field("str", Str(16), 3),
                Field("list", List(Int(), length=3), 4),
            ),
        ),
    ),
)
VALUE = {
    "tensor": np.arange(64, dtype=np.uint8),
    "bytes": bytes(range(100, 148)),
    "str": "sixteen letters.",
    "list": [1, 2, 3],
}
READS = [
    pytest.param(name, kind, how, id=f"{name}-{kind}-{how}")
    for name, info in INFO.items()
    for kind, how in info.reads.items()
]


def fixed(name: str) -> tuple[Codec[Any], bytearray]:
    return registry.codec(name, FIXED), bytearray(written(name, FIXED, VALUE))


def lies_inside(part: Any, data: bytearray) -> bool:
    start = address(data)
    return start <= address(part) and address(part) + memoryview(part).nbytes <= start + len(data)


def invert(data: bytearray) -> None:
    for index, byte in enumerate(data):
        data[index] = byte ^ 0xFF


@pytest.mark.parametrize("name", codecs("view"))
def test_reads_speaks_of_every_kind_that_can_be_aliased(name):
    assert {"str", "bytes", "tensor", "list"} <= set(INFO[name].reads)
    assert set(INFO[name].reads.values()) <= {"alias", "copy", "parse"}


@pytest.mark.parametrize(("name", "kind", "how"), READS)
def test_what_a_view_hands_out_aliases_the_input_exactly_where_it_says_so(name, kind, how):
    codec, data = fixed(name)
    view = codec.view(data)
    found = view[kind]
    if kind in ("tensor", "bytes"):
        assert lies_inside(found, data) == (how == "alias")
        before = bytes(found)
        assert before == bytes(VALUE[kind])
        invert(data)
        assert bytes(found) == (bytes(byte ^ 0xFF for byte in before) if how == "alias" else before)
    elif kind == "list" and how == "alias":
        index = data.index((2).to_bytes(8, "little"))
        data[index] = 77
        assert found[1] == 77
    else:
        taken = list(found) if kind == "list" else found
        invert(data)
        assert taken == VALUE[kind]


@pytest.mark.parametrize("name", codecs("view"))
def test_a_view_that_aliases_nothing_does_not_see_the_input_change(name):
    if "alias" in INFO[name].reads.values():
        pytest.skip(f"{name} reads from the input")
    codec, data = fixed(name)
    view = codec.view(data)
    invert(data)
    assert_same(to_value(view), VALUE)


@pytest.mark.parametrize("name", codecs())
def test_what_decode_copies_is_the_callers_own(name):
    codec, data = fixed(name)
    value = codec.decode(data)
    invert(data)
    assert_same(value, VALUE)
    assert type(value["bytes"]) is bytes
    assert value["tensor"].flags.writeable
    value["tensor"][0] = 99
    assert value["tensor"][0] == 99
    assert not lies_inside(value["tensor"], data)


@pytest.mark.parametrize("name", codecs())
def test_decode_without_copies_aliases_where_reads_says_so_and_is_read_only(name):
    codec, data = fixed(name)
    value = codec.decode(data, copy=False)
    assert type(value["bytes"]) is memoryview
    assert value["bytes"].readonly
    assert not value["tensor"].flags.writeable
    with pytest.raises(ValueError, match=r"WRITEABLE|writeable"):
        value["tensor"].flags.writeable = True
    assert_same(plain(value), VALUE)
    for kind in ("tensor", "bytes"):
        assert lies_inside(value[kind], data) == (INFO[name].reads.get(kind) == "alias")


@pytest.mark.parametrize(("name", "case"), cells())
def test_whatever_is_read_without_copies_keeps_its_message_alive(name, case):
    codec = make(name, case)
    shown = []
    for data, expected in messages(name, case, 4):
        fresh = bytearray(data)
        shown.append((codec.decode(fresh, copy=False), expected))
        if has(name, "view"):
            shown.append((codec.view(fresh), expected))
    del fresh
    junk = [bytes([0xAA]) * size for size in range(1000)]
    for value, expected in shown:
        assert_same(plain(to_value(value)), expected)
    del junk


@pytest.mark.parametrize(("name", "case"), cells(cases=("tensors", "lists", "sized", "root_tensor", "root_bytes")))
def test_everything_that_decode_copied_is_writable_and_everything_else_is_not(name, case):
    codec = make(name, case)
    for data, _ in messages(name, case, 8):
        for copied in (True, False):
            for part in parts(codec.decode(data, copy=copied)):
                if isinstance(part, np.ndarray):
                    assert part.flags.writeable == copied
                    assert part.flags.c_contiguous
                assert type(part) is not (memoryview if copied else bytes)


@pytest.mark.parametrize("name", codecs("view"))
def test_what_was_read_from_a_view_survives_its_release(name):
    codec, data = fixed(name)
    view = codec.view(data)
    array: npt.NDArray[np.uint8] = view["tensor"]
    blob = view["bytes"]
    release(view)
    del view
    gc.collect()
    assert_same(array, VALUE["tensor"])
    assert bytes(blob) == VALUE["bytes"]


@pytest.mark.parametrize("name", codecs("view"))
def test_what_a_view_retains_is_at_least_its_message(name):
    codec, data = fixed(name)
    view = codec.view(data)
    assert retained_bytes(view) >= len(data)
    assert retained_bytes(view["list"]) >= len(data)


@pytest.mark.parametrize("name", codecs("encode"))
def test_encoded_bytes_do_not_change_with_the_value(name):
    codec = registry.codec(name, FIXED)
    tensor = np.arange(64, dtype=np.uint8)
    data = codec.encode({**VALUE, "tensor": tensor})
    before = bytes(bytearray(data))
    tensor[:] = 0
    assert data == before
