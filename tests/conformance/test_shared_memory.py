"""What messages leave behind: memory, mappings, and what other processes see of them.

The numbers are those of the shared cases (test_shared_cases.py). zcser opens no shared memory: these tests hold that its
values and views keep a region alive exactly as long as they read from it. Every codec is held to all of it.
"""

from __future__ import annotations

import dataclasses
import gc
import mmap
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest

from tests.conformance.laws import INFO, assert_same, codecs, has, written
from tests.growth import blocks_left
from zcser import registry
from zcser.core.codec import Codec
from zcser.core.errors import DecodeError, EncodeError
from zcser.core.options import Limits
from zcser.core.view import release, to_value
from zcser.frame import frame_segments, read_frame
from zcser.schema.annotations import Int32, Length
from zcser.schema.model import Bytes, Tensor

STATM = Path("/proc/self/statm")
NEEDS_PROC = pytest.mark.skipif(not STATM.exists(), reason="needs Linux's /proc")


@dataclasses.dataclass
class Row:
    id: Int32
    weight: float


@dataclasses.dataclass
class Message:
    """Of fixed size, so that every codec carries it."""

    id: Int32
    rows: Annotated[list[Row], Length(3)]
    pair: Annotated[tuple[int, ...], Length(2)]
    blob: Annotated[bytes, Bytes(48)]
    tensor: Annotated[np.ndarray, Tensor("float64", (64,))]


def message(number: int = 7) -> Message:
    rows = [Row(number, 0.5), Row(2, -1.0), Row(3, 1e300)]
    return Message(number, rows, (1, 2**60), bytes(range(48)), np.arange(64.0) * number)


def mapped(data: bytes) -> mmap.mmap:
    region = mmap.mmap(-1, len(data))
    region[:] = data
    return region


def resident_bytes() -> int:
    return int(STATM.read_text(encoding="ascii").split()[1]) * mmap.PAGESIZE


def turns_of(name: str) -> list[Callable[[], object]]:
    """Every operation of a codec once, refusals among them."""
    codec = registry.codec(name, Message)
    small = registry.codec(name, Message, limits=Limits(bytes=8))
    data = written(name, Message, message())
    turns: list[Callable[[], object]] = [lambda: codec.decode(data), lambda: codec.decode(data, copy=False)]

    def refused(kind: type[Exception], call: Callable[[], object]) -> Callable[[], object]:
        def turn() -> None:
            with pytest.raises(kind):
                call()

        return turn

    turns += [refused(DecodeError, lambda: codec.decode(b"\xff" * 9)), refused(DecodeError, lambda: small.decode(data))]
    if has(name, "encode"):
        value, wrong = message(), message()
        wrong.rows[2].weight = "x"  # type: ignore[assignment]
        turns += [lambda: codec.encode(value), refused(EncodeError, lambda: codec.encode(wrong))]
    if has(name, "encode_into"):
        out = bytearray(len(data) + 100)
        turns += [lambda: codec.encode_into(value, out), refused(EncodeError, lambda: codec.encode_into(wrong, out))]
    if has(name, "encode_segments"):
        turns += [lambda: codec.decode_segments(codec.encode_segments(value))]
    if has(name, "view"):
        turns += [
            lambda: to_value(codec.view(data)),
            lambda: release(codec.view(data)),
            lambda: list(codec.view(data).rows)[1].weight,
            lambda: codec.view(data).tensor,
        ]
    return turns


@pytest.mark.parametrize("name", codecs())
def test_20_no_operation_leaves_an_object_behind(name):
    # One object that is left by each call shows, and one by each third call.
    for turn in turns_of(name):
        assert blocks_left(turn, calls=100) < 33


@pytest.mark.parametrize("name", codecs())
def test_26_what_is_read_without_copies_keeps_its_mapping(name):
    codec = registry.codec(name, Message)
    data = written(name, Message, message())
    shown: list[Any] = [codec.decode(mapped(data), copy=False).tensor]
    if has(name, "view"):
        shown += [codec.view(mapped(data)).tensor, codec.view(mapped(data))["tensor"]]
    gc.collect()
    for tensor in shown:
        assert_same(tensor, message().tensor)
        assert not tensor.flags.writeable


@pytest.mark.parametrize("name", codecs())
def test_26_a_mapping_cannot_be_closed_under_an_array_that_aliases_it(name):
    codec = registry.codec(name, Message)
    region = mapped(written(name, Message, message()))
    tensor = codec.decode(region, copy=False).tensor
    if INFO[name].reads.get("tensor") == "alias":
        with pytest.raises(BufferError):
            region.close()
        del tensor
    region.close()


@pytest.mark.parametrize("name", codecs())
def test_27_a_mapping_closes_once_nothing_reads_from_it(name):
    codec = registry.codec(name, Message)
    data = written(name, Message, message())
    region = mapped(data)
    assert_same(codec.decode(region), message())  # copied: nothing is held
    region.close()
    region = mapped(data)
    if has(name, "view"):
        view = codec.view(region)
        row = view.rows[1]
        assert row.weight == -1.0
        release(view)  # of the view and all that was made from it, while both still live
    region.close()
    region = mapped(b"\xff" * 9)
    with pytest.raises(DecodeError):
        codec.decode(region)
    region.close()


BROKEN: dict[str, tuple[Any, tuple[bytes, ...]]] = {
    "json": (dict[str, str], (b"", b"{", b'{"a":1}', b'{"a":"\xff"}', b"\xff" * 9)),
    "msgpack": (dict[str, str], (b"", b"\x81", b"\x81\xa1a\x01", b"\x81\xa1a\xa1\xff", b"\xc1" * 9)),
    "protobuf": (dict[str, str], (b"\x0a", b"\x0a\x02\x0a\x05", b"\x0a\x03\x0a\x01\xff", b"\xff" * 9)),
    "flatbuffers": (dict[str, str], (b"", b"\0" * 9, b"\xff" * 64)),
    "header": (Row, (b"", b"\0" * 99)),
    "kserve": (list[str], (b"", b"{", b'{"inputs":[]}', b"\xff" * 64)),
}


def read_whole(codec: Codec[Any], operation: str, data: Any) -> Any:
    read = getattr(codec, operation)(data)
    return codec.restore(read) if operation == "load" else to_value(read)


@pytest.mark.parametrize("name", codecs())
def test_27_a_buffer_whose_message_was_refused_is_free_at_once(name):
    schema, broken = BROKEN.get(INFO[name].wire, (Row, (b"", b"\xff" * 9)))
    codec = registry.codec(name, schema)
    gc.disable()  # at once, and not when cycles are collected
    try:
        for data in broken:
            for operation in ("decode", "view", "load"):
                if has(name, operation):
                    region = bytearray(data)
                    with pytest.raises(DecodeError):
                        read_whole(codec, operation, region)
                    region.append(0)
    finally:
        gc.enable()


READER = """
import sys
from multiprocessing.shared_memory import SharedMemory
from tests.conformance.test_shared_memory import Message
import zcser
from zcser.frame import read_frame
names = sys.argv[2:]
def read(name, place):
    shared = SharedMemory(name=place)
    codec = zcser.codec(name, Message)
    frame = read_frame(shared.buf)
    value = frame.decode(codec)
    if "view" in codec.info.operations:
        view = frame.view(codec)
        assert view.id == value.id
        zcser.release(view)
        del view
    del frame
    shared.close()
    return value.tensor.sum()
print([float(read(name, sys.argv[1] + name)) for name in names])
"""
OWNER = """
import multiprocessing, subprocess, sys
from multiprocessing.shared_memory import SharedMemory
from tests.conformance.test_shared_memory import Message, READER, message
import zcser
from zcser.frame import frame_segments, write_frame
names = sys.argv[2:]
shared = []
for name in names:
    size = sum(map(len, frame_segments(zcser.codec(name, Message), message())))
    shared.append(SharedMemory(name=sys.argv[1] + name, create=True, size=size))
    write_frame(shared[-1].buf, zcser.codec(name, Message), message())
reader = multiprocessing.get_context("fork").Process(target=exec, args=(READER, {}))
reader.start()
reader.join()
for region in shared:
    region.close()
    region.unlink()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork and /dev/shm")
def test_29_frames_cross_shared_memory_without_noise_or_leftovers():
    names = [name for name, info in INFO.items() if has(name, "encode") and not info.trusted_only]
    prefix = f"zcser-test-{os.getpid()}-"
    run = subprocess.run(
        [sys.executable, "-c", OWNER, prefix, *names], capture_output=True, text=True, timeout=100, check=False
    )
    assert run.stderr == ""
    assert run.stdout.strip() == str([float(message().tensor.sum())] * len(names))
    assert not list(Path("/dev/shm").glob(f"{prefix}*"))  # noqa: S108 - where the names would be left


@pytest.mark.parametrize("name", codecs("encode"))
def test_31_a_slot_that_is_torn_between_two_messages_is_neither(name):
    codec = registry.codec(name, Message)
    old, new = (b"".join(frame_segments(codec, message(number))) for number in (1, 2))
    size = max(len(old), len(new))
    refused = 0
    for cut in range(0, size, 3):
        slot = (new[:cut] + old[cut:]).ljust(size, b"\0")
        try:
            found = read_frame(slot).decode(codec)
        except DecodeError:
            refused += 1
        else:
            assert found.id in {1, 2}
            assert_same(found, message(found.id))
    assert refused > size // 12


@NEEDS_PROC
@pytest.mark.parametrize("name", codecs())
def test_32_regions_that_come_and_go_leave_neither_memory_nor_descriptors(name):
    schema = Annotated[np.ndarray, Tensor("uint8", (1 << 20,))]
    codec = registry.codec(name, schema)
    data = written(name, schema, np.zeros(1 << 20, np.uint8))

    def turn() -> None:
        region = mapped(data)
        shown = codec.decode(region, copy=False)
        if has(name, "view"):
            shown = codec.view(region)
        assert shown[5] == 0
        del shown
        region.close()

    for _ in range(10):
        turn()
    before, descriptors = resident_bytes(), len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(60):
        turn()
    assert resident_bytes() - before < 16 << 20
    # Fewer, where what earlier tests left behind was collected meanwhile.
    assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors


@NEEDS_PROC
@pytest.mark.parametrize("name", codecs("view"))
def test_62_a_released_view_holds_nothing_of_its_message(name):
    schema = dataclasses.make_dataclass("Blob", [("data", Annotated[bytes, Bytes(1 << 20)])])
    codec = registry.codec(name, schema)
    data = written(name, schema, schema(bytes(1 << 20)))
    kept = []
    for number in range(70):
        view = codec.view(bytearray(data))
        assert len(view.data) == 1 << 20
        release(view)
        kept.append(view)  # of which the bytes must be gone all the same
        if number == 9:
            before = resident_bytes()
    assert resident_bytes() - before < 16 << 20
