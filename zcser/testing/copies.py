"""The law of copies: what is called alias is one, and nothing else is."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from zcser.core.buffers import address
from zcser.core.fidelity import difference
from zcser.core.view import at, release, to_value
from zcser.testing.cases import SIZED
from zcser.testing.subject import Subject, owned, parts

__all__ = ["claims_of_aliases_hold", "copies_are_the_callers_own", "what_aliases_keeps_its_message"]


def _lies_inside(part: Any, data: bytearray) -> bool:
    start = address(data)
    return start <= address(part) and address(part) + memoryview(part).nbytes <= start + len(data)


def _invert(data: bytearray) -> None:
    data[:] = bytes(byte ^ 0xFF for byte in data)


def claims_of_aliases_hold(subject: Subject) -> Iterator[str]:
    """What ``info.reads`` calls alias lies in the message, by address and by change; what it calls anything else does not."""
    if subject.schema is not SIZED or not subject.has("view"):
        return
    codec, reads = subject.codec, subject.codec.info.reads
    missing = {"str", "bytes", "tensor", "list"} - set(reads)
    if missing:
        yield f"info.reads says nothing of {', '.join(sorted(missing))}"
        return
    for kind in ("tensor", "bytes"):
        ways: dict[str, Callable[[bytearray], Any]] = {
            "view": codec.view,
            "decode(copy=False)": functools.partial(codec.decode, copy=False),
        }
        for way, read in ways.items():
            data = bytearray(subject.messages[0].data)
            found = read(data)[kind]
            before, inside = bytes(found), _lies_inside(found, data)
            _invert(data)
            seen = bytes(found) != before
            if (reads[kind] == "alias") != (inside and seen):
                place = "lies in the message" if inside else "is a copy"
                yield f"info.reads calls {kind} {reads[kind]!r}, and what {way} gives {place}"
    for kind in ("str", "list"):
        data = bytearray(subject.messages[0].data)
        found = at(codec.view(data), (kind,))
        if kind == "list" and reads[kind] == "alias":
            continue
        taken = list(found) if kind == "list" else found
        _invert(data)
        if difference(taken, subject.messages[0].normal[kind]) is not None:
            yield f"a {kind} that was read from a view changes with the message"


def copies_are_the_callers_own(subject: Subject) -> Iterator[str]:
    """Decode gives writable arrays and bytes that do not change with the message; ``copy=False`` gives read-only ones."""
    codec = subject.codec
    for message in subject.messages:
        data = bytearray(message.data)
        value = codec.decode(data)
        for part in parts(value):
            if isinstance(part, memoryview):
                yield "decode with copies gives a memoryview, not bytes"
            if isinstance(part, np.ndarray) and not part.flags.writeable:
                yield "decode with copies gives an array that is read-only"
            if isinstance(part, np.ndarray) and not part.flags.c_contiguous:
                yield "decode gives an array that is not C-contiguous"
        _invert(data)
        fault = difference(value, message.normal)
        if fault is not None:
            yield f"a decoded value changes with the message: {fault}"
        for part in parts(codec.decode(message.data, copy=False)):
            if isinstance(part, np.ndarray) and part.flags.writeable:
                yield "decode(copy=False) gives an array that can be written to"
            if isinstance(part, bytes):
                yield "decode(copy=False) gives bytes, not a read-only memoryview"
            if isinstance(part, memoryview) and not part.readonly:
                yield "decode(copy=False) gives a memoryview that can be written to"


def what_aliases_keeps_its_message(subject: Subject) -> Iterator[str]:
    """What was read without copies is there when the message, and the view it was read from, are gone."""
    codec, kept = subject.codec, []
    for message in subject.messages[:4]:
        data = bytearray(message.data)
        kept.append((codec.decode(data, copy=False), message.normal))
        if subject.has("view"):
            kept.append((codec.view(data), message.normal))
        del data
    if subject.schema is SIZED:
        gc.collect()
    junk = [b"\xaa" * size for size in range(500)]
    for value, expected in kept:
        fault = difference(owned(to_value(value)), expected)
        if fault is not None:
            yield f"what was read without copies is not there any more: {fault}"
    del junk
    if subject.schema is SIZED and subject.has("view"):
        view = codec.view(bytearray(subject.messages[0].data))
        array = at(view, ("tensor",))
        release(view)
        del view
        if difference(np.array(array), subject.messages[0].normal["tensor"]) is not None:
            yield "an array does not survive the release of its view"
