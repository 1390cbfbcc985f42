"""The law of hostile bytes: a value of the schema or a `DecodeError`, in bounded time and memory, for any bytes.

1. The bytes are the same on every run: cut messages, messages with changes, lengths that claim the most, beginnings that
   are repeated without end, messages of common formats, noise.
2. Time is of this thread's CPU, so that a busy machine fails nothing. Memory is counted by tracemalloc where bytes ask for
   much: what Python and numpy allocate; what a library takes by malloc itself is seen in the peak of the process alone.
3. A crash of the interpreter, or a call that never ends, ends the check as well: run it where that tells you enough.
"""

from __future__ import annotations

import json
import pickle
import random
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

from zcser.core.errors import DecodeError
from zcser.testing.subject import Subject, shown

__all__ = [
    "cut_messages_are_refused",
    "hostile_bytes_are_refused",
    "much_is_not_allocated",
    "nesting_without_end_is_refused",
    "what_is_behind_is_passed_over",
    "what_is_no_buffer_is_refused",
]

_CPU_S = 2.0
_MEMORY_BYTES = 64 << 20
_SCALAR_CASES = frozenset(
    {"numbers", "enums", "optionals", "tuples", "nested", "absent", "nulls", "root_number", "odd_names"}
)
"""Without them memory is held, which takes long: what has lengths stands in the others too."""

_PIECES = (
    b"", b"\0", b"\xff", b"\x80", b"\x7f", b"\0\0\0\0", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"[", b"{", b'"',
    b"null", b"true", b"1e999", b"-0", b"\\ud800", b"\xc0\x80", b"\xed\xa0\x80", b"\x91", b"\xdf\xff\xff\xff\xff", b"\x08\x96\x01",
    b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", b"\x0b", b"9" * 40,
)  # fmt: skip
_DOCUMENT = {"a": 1, "value": [1, -2.5, None, True, "text"], "children": [{"value": 1, "children": []}]}
_FOREIGN = (
    json.dumps(_DOCUMENT).encode(),
    pickle.dumps(_DOCUMENT, 5),
    b"\x83\xa1a\x01\xa5value\x93\x01\xff\xc0\xa8children\x90",  # MessagePack
    b"\xa2\x61a\x01\x65value\x83\x01\x20\xf6",  # CBOR
    b"\x08\x01\x12\x04text\x1a\x02\x08\x07",  # protobuf
    b"\x0c\x00\x00\x00\x08\x00\x0c\x00\x04\x00\x08\x00\x08\x00\x00\x00\x01\x00\x00\x00",  # FlatBuffers
    b"<?xml version='1.0'?><a>1</a>",
    b"a: 1\nvalue: [1, 2]\n",
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
)


def _timed(subject: Subject, data: Any) -> tuple[Any, str | None]:
    begin = time.thread_time()
    try:
        value, fault = subject.read(data)
    except Exception as error:  # noqa: BLE001 - whatever it is, the law forbids it
        return error, f"{type(error).__name__} instead of a DecodeError ({error}) for {shown(data)}"
    took = time.thread_time() - begin
    if took > _CPU_S:
        return value, f"{len(data)} bytes took {took:.1f} s of CPU: {shown(data)}"
    return value, f"{fault}, for {shown(data)}" if fault is not None else None


def cut_messages_are_refused(subject: Subject) -> Iterator[str]:
    """A message that ends early is a `DecodeError` or, where the codec is not `self_delimiting`, still a value."""
    for message in sorted(subject.messages, key=lambda one: len(one.data))[:3]:
        size = len(message.data)
        for cut in sorted({*range(min(size, 100)), *range(max(0, size - 24), size)}):
            found, fault = _timed(subject, message.data[:cut])
            if fault is not None:
                yield fault
            elif subject.codec.info.self_delimiting and not isinstance(found, DecodeError):
                yield f"{shown(message.data)} cut at byte {cut} is read, though the codec says self_delimiting"
                break


def what_is_behind_is_passed_over(subject: Subject) -> bool:
    """Whether bytes behind a message are ignored, as formats of offsets may; where they are not, they are a `DecodeError`."""
    try:
        subject.codec.decode(subject.messages[0].data + b"\x01garbage\xff")
    except DecodeError:
        return False
    return True


def _changed(subject: Subject, count: int) -> Iterator[bytes]:
    """Messages with flipped bits, other bytes, pieces put in, cut out, and taken from another message."""
    messages = [message.data for message in subject.messages]
    rng = random.Random(f"{subject.seed} {subject.case}")  # noqa: S311 - bytes, no secret
    for _ in range(count):
        data = bytearray(rng.choice(messages))
        at = rng.randrange(len(data) + 1)
        match rng.randrange(6):
            case 0 | 1 if data:
                data[at % len(data)] ^= 1 << rng.randrange(8)
            case 2 if data:
                data[at % len(data)] = rng.randrange(256)
            case 3:
                data[at:at] = rng.choice(_PIECES)
            case 4:
                del data[at : at + rng.randrange(1, 9)]
            case _:
                data[at:] = rng.choice(messages)[at:]
        yield bytes(data)


def _behind(subject: Subject) -> Iterator[bytes]:
    data = subject.messages[0].data
    yield data + b"\x01garbage\xff"
    yield data + data


def hostile_bytes_are_refused(subject: Subject) -> Iterator[str]:
    """Changed messages, bytes of other formats and noise are values of the schema or `DecodeError`, and take no time."""
    rng = random.Random(subject.case)  # noqa: S311
    noise = (bytes(100), b"\xff" * 100, *(rng.randbytes(rng.randrange(1, 80)) for _ in range(8)))
    for data in (*_PIECES, *_FOREIGN, *noise, *_behind(subject), *_changed(subject, 50)):
        _, fault = _timed(subject, data)
        if fault is not None:
            yield fault


def nesting_without_end_is_refused(subject: Subject) -> Iterator[str]:
    """Beginnings of a message that are repeated, as lists that are opened and never closed, end in no crash."""
    data = max((message.data for message in subject.messages[:3]), key=len)
    for size in range(1, min(len(data), 8)):
        _, fault = _timed(subject, data[:size] * (20_000 // size))
        if fault is not None:
            yield fault


def _bombs(subject: Subject) -> Iterator[bytes]:
    """Messages with bytes in them that, where they are a length, claim much."""
    data = max((message.data for message in subject.messages[:3]), key=len)
    for at in range(min(len(data), 20)):
        for claim in (b"\xff", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\xff" * 8, b"9" * 12):
            yield data[:at] + claim + data[at + len(claim) :]


def much_is_not_allocated(subject: Subject) -> Iterator[str]:
    """What a few bytes claim is not allocated before it is there."""
    if subject.case in _SCALAR_CASES:
        return
    traced = tracemalloc.is_tracing()
    if not traced:
        tracemalloc.start()
    try:
        for data in _bombs(subject):
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            _, fault = _timed(subject, data)
            _, peak = tracemalloc.get_traced_memory()
            if fault is not None:
                yield fault
            if peak - before > _MEMORY_BYTES:
                yield f"{len(data)} bytes took {peak - before >> 20} MiB of memory: {shown(data)}"
    finally:
        if not traced:
            tracemalloc.stop()


def what_is_no_buffer_is_refused(subject: Subject) -> Iterator[str]:
    """Text, numbers, None and buffers that are not C-contiguous are a `DecodeError`."""
    data = subject.messages[0].data
    strided = memoryview(bytes(byte for one in data for byte in (one, 0x20)))[::2]
    for wrong in ("text", None, 5, [1, 2], *([strided] if len(data) > 1 else [])):
        kind = "a strided buffer" if wrong is strided else f"a {type(wrong).__name__}"
        try:
            subject.codec.decode(wrong)  # type: ignore[arg-type]
        except DecodeError:
            continue
        except Exception as error:  # noqa: BLE001 - whatever it is, the law forbids it
            yield f"decode of {kind} raises {type(error).__name__}, not DecodeError; open buffers by zcser's byte_view"
        else:
            yield f"decode takes {kind}"
