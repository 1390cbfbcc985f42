"""Laws about writing: into a buffer, and to segments."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from zcser.core.buffers import address
from zcser.core.errors import BufferTooSmallError, DecodeError, EncodeError
from zcser.core.fidelity import difference
from zcser.schema.model import List, Schema, Tensor
from zcser.testing.subject import Subject, owned

__all__ = ["big_tensors_are_not_copied", "encode_into_writes_all_or_nothing", "segments_come_back"]


def _filled(size: int) -> bytearray:
    return bytearray(b"\xaa") * size


def encode_into_writes_all_or_nothing(subject: Subject) -> Iterator[str]:
    """encode_into writes a whole message where it was told to, and on every failure leaves the buffer as it was."""
    if not subject.has("encode_into"):
        return
    codec = subject.codec
    for message in subject.messages[:6]:
        need = len(codec.encode(message.value))
        out = _filled(need + 80)
        written = codec.encode_into(message.value, out, 64)
        if type(written) is not int:
            yield f"encode_into gives a {type(written).__name__}, not the number of bytes"
            return
        fault = difference(codec.decode(out[64 : 64 + written]), message.normal)
        if fault is not None:
            yield f"what encode_into wrote is another value: {fault}"
        if out[:64] != _filled(64) or out[64 + written :] != _filled(need + 16 - written):
            yield "encode_into wrote outside its part of the buffer"
        if not written:
            continue
        for size, offset in ((written - 1, 0), (written + 7, 8), (0, 0)):
            out = _filled(size)
            try:
                codec.encode_into(message.value, out, offset)
            except BufferTooSmallError as error:
                if (error.needed, error.available) != (written, size - offset):
                    yield f"{error}, where {written} bytes are needed and {size - offset} there"
            else:
                yield f"encode_into of {written} bytes into {size - offset} raises no BufferTooSmallError"
            if out != _filled(size):
                yield "encode_into left a part of a message in a buffer that was too small"
        for wrong in (bytes(written), memoryview(_filled(2 * written))[::2], "x" * written, None):
            yield from _refused(subject, message.value, wrong, 0, f"a target of {type(wrong).__name__}")
        for place in (-1, written + 1):
            yield from _refused(subject, message.value, _filled(written), place, f"the offset {place}")
    out = _filled(4096)
    for value in subject.values("junk", 12):
        try:
            codec.encode_into(value, out)
        except EncodeError:
            if out != _filled(4096):
                yield "encode_into left a part of a message behind, of a value that it refused"
        out = _filled(4096)


def _refused(subject: Subject, value: object, out: object, offset: int, what: str) -> Iterator[str]:
    try:
        subject.codec.encode_into(value, out, offset)  # type: ignore[arg-type]
    except EncodeError:
        return
    yield f"encode_into takes {what}"


def segments_come_back(subject: Subject) -> Iterator[str]:
    """Segments decode to the value, joined too where info says so; what are none are a `DecodeError`."""
    if not subject.has("encode_segments"):
        return
    codec = subject.codec
    if not subject.has("decode_segments"):
        yield "there is encode_segments, and no decode_segments"
        return
    for message in subject.messages[:6]:
        segments = codec.encode_segments(message.value)
        found = codec.decode_segments([bytes(part) for part in segments], copy=False)
        if (fault := difference(owned(found), message.normal)) is not None:
            yield f"segments decode to another value: {fault}"
        if codec.info.joinable and (fault := difference(codec.decode(b"".join(segments)), message.normal)) is not None:
            yield f"info says joinable, and joined segments decode to another value: {fault}"
    for wrong in ([], [b""], ["text"], None, 5):
        try:
            codec.decode_segments(wrong)  # type: ignore[arg-type]
        except DecodeError:
            continue
        except Exception as error:  # noqa: BLE001 - whatever it is, the law forbids it
            yield f"decode_segments of {wrong!r} raises {type(error).__name__}, not DecodeError"


def big_tensors_are_not_copied(subject: Subject) -> Iterator[str]:
    """A tensor of 128 KiB lies in segments as itself."""
    big = subject.of(Schema(List(Tensor("float32", (1 << 15,)), length=1)))
    if big is None or not big.has("encode_segments"):
        return
    array = np.arange(1 << 15, dtype=np.float32)
    start = address(array)
    segments = big.codec.encode_segments([array])
    inside = sum(part.nbytes for part in segments if part.nbytes and start <= address(part) < start + array.nbytes)
    if inside != array.nbytes:
        yield f"encode_segments copies {array.nbytes - inside} of the {array.nbytes} bytes of a big tensor"
