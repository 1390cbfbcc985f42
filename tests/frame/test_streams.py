"""Frames over sockets, files and memory, with real servers on the loopback interface."""

from __future__ import annotations

import contextlib
import io
import mmap
import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tests.frame.pieces import PIECES
from zcser import registry
from zcser.core.buffers import address
from zcser.core.errors import (
    BufferTooSmallError,
    EncodeError,
    FrameChecksumError,
    FrameError,
    FrameTruncatedError,
)
from zcser.frame import frame_segments, read_frame, read_frames, write_frame

TEXT = registry.codec("json", str)
MIXED = [b"abc", b"", b"defgh"]


def frame(codec, value, **options) -> bytes:
    return b"".join(frame_segments(codec, value, **options))


@contextlib.contextmanager
def pair(kind):
    """Two connected sockets that give up after 20 seconds."""
    if kind == "unix":
        left, right = socket.socketpair()
    else:
        with socket.create_server(("127.0.0.1", 0)) as server:
            left = socket.create_connection(server.getsockname(), timeout=20)
            right, _ = server.accept()
    with left, right:
        left.settimeout(20)
        right.settimeout(20)
        yield left, right


@pytest.fixture(params=["unix", "tcp"])
def sockets(request):
    with pair(request.param) as both:
        yield both


@pytest.fixture
def executor():
    with ThreadPoolExecutor(1) as pool:
        yield pool


def test_frames_go_one_after_the_other_until_the_stream_ends(sockets):
    left, right = sockets
    sizes = [write_frame(left, TEXT, text, alignment=alignment) for text in ("", "abc") for alignment in (1, 64)]
    sizes.append(write_frame(left, PIECES, MIXED))
    left.close()
    *texts, mixed = list(read_frames(right))
    assert [found.decode(TEXT) for found in texts] == ["", "", "abc", "abc"]
    assert mixed.decode(PIECES) == MIXED
    assert [found.end for found in (*texts, mixed)] == sizes
    assert read_frame(right) is None


def test_large_segments_cross_in_parts_and_are_aligned_where_they_arrive(sockets, executor):
    left, right = sockets
    left.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 20_000)
    tensor = np.random.default_rng(1).integers(0, 256, 5_000_003, np.uint8)
    sent = executor.submit(write_frame, left, PIECES, [b"meta", tensor, b"tail"], checksum="xxh3")
    found = read_frame(right)
    assert sent.result(20) == found.end
    assert [address(piece) % 64 for piece in found.segments] == [0, 0, 0]
    assert [bytes(piece) for piece in found.segments] == [b"meta", tensor.tobytes(), b"tail"]
    assert all(piece.readonly for piece in found.segments)


def test_more_pieces_than_one_call_takes_are_sent(sockets, executor):
    left, right = sockets
    pieces = [n.to_bytes(2, "big") * (n % 3) for n in range(5000)]
    sent = executor.submit(write_frame, left, PIECES, pieces, alignment=8)
    assert read_frame(right).decode(PIECES) == pieces
    sent.result(20)


class Trickle(socket.socket):
    """Takes and gives a few bytes at a time, as a network may."""

    def sendmsg(self, buffers):
        return super().send(b"".join(buffers)[:7])

    def recv_into(self, buffer):
        return super().recv_into(buffer, min(5, len(buffer)))


class Enciphered(socket.socket):
    """As ssl.SSLSocket."""

    def sendmsg(self, buffers):
        raise NotImplementedError("sendmsg not allowed on instances of this class")


@pytest.mark.parametrize("cls", [Trickle, Enciphered])
def test_partial_reads_and_writes_and_sockets_without_sendmsg(cls):
    with pair("unix") as (left, right):
        sender, receiver = cls(fileno=os.dup(left.fileno())), Trickle(fileno=os.dup(right.fileno()))
        with sender, receiver:
            write_frame(sender, PIECES, MIXED)
            write_frame(sender, TEXT, "abc")
            assert read_frame(receiver).decode(PIECES) == MIXED
            assert read_frame(receiver).decode(TEXT) == "abc"


@pytest.mark.parametrize("value", [MIXED, [b"one"]], ids=len)
def test_the_end_of_a_stream_is_told_from_a_cut(value):
    data = frame(PIECES, value)
    for size in range(len(data) + 1):
        with pair("unix") as (left, right):
            left.sendall(data[:size])
            left.close()
            if size == 0:
                assert read_frame(right) is None
            elif size < len(data):
                with pytest.raises(FrameTruncatedError, match="ended inside") as caught:
                    read_frame(right)
                assert caught.value.offset == size
            else:
                assert read_frame(right).decode(PIECES) == value
                assert read_frame(right) is None


def test_a_sender_that_stalls_inside_a_frame_is_the_sockets_time_out(sockets):
    left, right = sockets
    right.settimeout(0.05)
    left.sendall(frame(TEXT, "abc")[:70])
    with pytest.raises(TimeoutError):
        read_frame(right)


def test_a_frame_over_the_limit_is_refused_by_its_head_alone(sockets):
    # Case 58: gRPC takes 4 MiB by default and not a byte more, which the sender learns from the receiver.
    left, right = sockets
    data = frame(TEXT, "x" * (4 << 20))
    left.sendall(data[:64])  # and nothing of the rest
    with pytest.raises(FrameError, match=rf"{len(data)} bytes, where max_bytes is 4194304"):
        read_frame(right, into=lambda size: pytest.fail(f"{size} bytes were asked for"), max_bytes=4 << 20)
    with pytest.raises(EncodeError, match=rf"{len(data)} bytes, where max_bytes is 4194304"):
        write_frame(left, TEXT, "x" * (4 << 20), max_bytes=4 << 20)


def test_foreign_and_damaged_streams_are_refused(sockets):
    left, right = sockets
    left.sendall(b"HTTP/1.1 502 Bad Gateway\r\nServer: nginx\r\nContent-Length: 157\r\n\r\n")
    with pytest.raises(FrameError, match="no frame"):
        read_frame(right)  # takes no more than a head, which these 64 bytes are
    damaged = bytearray(frame(PIECES, MIXED))
    damaged[-1] ^= 1
    left.sendall(damaged)
    with pytest.raises(FrameChecksumError):
        read_frame(right)


@pytest.mark.parametrize("kind", ["buffer", "function"])
def test_a_frame_is_received_in_the_callers_memory(sockets, kind):
    left, right = sockets
    mine = bytearray(1000)
    asked = []
    write_frame(left, PIECES, MIXED)
    found = read_frame(right, into=mine if kind == "buffer" else lambda size: asked.append(size) or mine)
    assert found.segments == MIXED
    assert address(mine) <= address(found.segments[0]) < address(mine) + 1000
    assert asked == ([] if kind == "buffer" else [found.end])
    mine[mine.index(b"abc")] = ord("A")
    assert found.segments[0] == b"Abc"


def test_memory_that_cannot_hold_the_frame_is_refused(sockets):
    left, right = sockets
    size = write_frame(left, TEXT, "abc")
    with pytest.raises(FrameError, match=rf"{size} bytes, where `into` has {size - 1}"):
        read_frame(right, into=bytearray(size - 1))
    right.recv(1000)
    write_frame(left, TEXT, "abc")
    with pytest.raises(TypeError, match="read-only"):
        read_frame(right, into=bytes(1000))


@pytest.mark.parametrize("buffering", [0, -1], ids=["raw", "buffered"])
def test_frames_in_a_file_are_read_back_and_mapped(tmp_path, buffering):
    path = tmp_path / "frames"
    with path.open("wb", buffering=buffering) as file:
        sizes = [write_frame(file, PIECES, MIXED), write_frame(file, TEXT, "abc", alignment=256)]
        write_frame(file, PIECES, [b"x" * 300_000, b"y"])
    with path.open("rb", buffering=buffering) as file:
        first, second, third = list(read_frames(file))
        assert read_frame(file) is None
    assert (first.decode(PIECES), second.decode(TEXT)) == (MIXED, "abc")
    assert third.decode(PIECES) == [b"x" * 300_000, b"y"]

    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        frames = list(read_frames(mapped))
        assert [found.end for found in frames[:2]] == [sizes[0], sum(sizes)]
        views = frames[2].view(PIECES)
        assert views == [b"x" * 300_000, b"y"]
        assert address(mapped) + frames[2].offset < address(views[0]) < address(mapped) + len(mapped)
        assert [address(piece) % 64 for piece in (*frames[0].segments, *views) if piece.nbytes] == [0] * 4
        with pytest.raises(BufferError):
            mapped.close()  # views of it live
        del frames, views


def test_a_pipe_is_a_file():
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as source, os.fdopen(writing, "wb", buffering=0) as sink:
        write_frame(sink, TEXT, "abc")
        sink.close()
        assert read_frame(source).decode(TEXT) == "abc"
        assert read_frame(source) is None


def test_a_file_that_does_not_block_is_refused():
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    with os.fdopen(reading, "rb", buffering=0) as source, os.fdopen(writing, "wb", buffering=0) as sink:
        with pytest.raises(BlockingIOError):
            read_frame(source)
        with pytest.raises(BlockingIOError):
            write_frame(sink, TEXT, "x" * 10_000_000)


@pytest.mark.parametrize(
    "make", [bytearray, lambda size: memoryview(bytearray(size)), lambda size: mmap.mmap(-1, size)]
)
def test_a_frame_is_written_into_memory_and_read_where_it_lies(make):
    memory = make(4096)
    size = write_frame(memory, PIECES, MIXED, offset=128)
    found = read_frame(memory, offset=128)
    assert (found.decode(PIECES), found.offset, found.end) == (MIXED, 128, 128 + size)
    assert bytes(memory[:128]) == bytes(128)
    assert address(found.segments[0]) == address(memory) + 128 + 128
    found = read_frame(memoryview(memory)[100:], offset=28)
    assert found.segments == MIXED
    del found


@pytest.mark.parametrize("place", [0, 64, 128, 4096, 19_000, 20_000, 20_100])
def test_segments_that_lie_in_the_memory_of_their_frame_are_written_as_they_were(place):
    memory = bytearray(100_000)
    memory[place : place + 20_000] = bytes(range(250)) * 80
    inside, other = memoryview(memory)[place : place + 20_000], b"other" * 4000
    write_frame(memory, PIECES, [other, inside])
    assert read_frame(memory).decode(PIECES) == [other, bytes(range(250)) * 80]


def test_memory_without_room_is_unchanged():
    memory = bytearray(b"\xaa" * 200)
    size = len(frame(TEXT, "abc"))
    with pytest.raises(BufferTooSmallError) as caught:
        write_frame(memory, TEXT, "abc", offset=100)
    assert (caught.value.needed, caught.value.available) == (size, 100)
    assert memory == b"\xaa" * 200
    for wrong in (bytes(200), memoryview(bytes(200))):
        with pytest.raises(EncodeError, match="read-only"):
            write_frame(wrong, TEXT, "abc")


def test_an_offset_is_of_buffers():
    with pytest.raises(ValueError, match="offset"):
        write_frame(io.BytesIO(), TEXT, "abc", offset=1)
    with pytest.raises(ValueError, match="offset"):
        read_frame(io.BytesIO(frame(TEXT, "abc")), offset=1)


def test_a_slot_that_is_written_again_and_again_is_read_whole_or_refused():
    # Case 31: writer and reader share memory without a lock.
    memory = mmap.mmap(-1, 1 << 16)
    values = [[bytes([n]) * 20_000, bytes([n]) * 10_000] for n in range(4)]
    stop = threading.Event()

    def write():
        n = 0
        while not stop.is_set():
            write_frame(memory, PIECES, values[n % 4])
            n += 1

    write_frame(memory, PIECES, values[0])
    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(300):
            copied = bytes(memory)  # what is checked must not change afterwards
            try:
                found = read_frame(copied).decode(PIECES)
            except FrameError:
                continue
            assert found in values
    finally:
        stop.set()
        writer.join(20)
    assert read_frame(memory).decode(PIECES) in values


def test_frames_hold_no_memory_once_they_are_gone():
    # Case 62: a view that was released kept its message.
    def resident():
        return int(statm.read_text().split()[1]) * mmap.PAGESIZE

    statm = Path("/proc/self/statm")
    if not statm.exists():
        pytest.skip("needs Linux's /proc")
    data = frame(PIECES, [b"m", bytes(1 << 20)], checksum=None)

    def once():
        assert read_frame(io.BytesIO(data)).view(PIECES)[1].nbytes == 1 << 20

    for _ in range(20):
        once()
    before = resident()
    for _ in range(200):
        once()
    assert resident() - before < 20 << 20
