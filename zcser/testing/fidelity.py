"""Laws about values: what comes back, what is refused, and how."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from zcser.core.errors import DecodeError, EncodeError
from zcser.core.fidelity import difference, field_names
from zcser.core.view import to_value
from zcser.schema.normal import normal
from zcser.testing.subject import Subject, owned

__all__ = ["every_way_reads_alike", "plain_values_are_carried", "values_come_back"]


def plain_values_are_carried(subject: Subject) -> Iterator[str]:
    """A schema that is not refused carries its plain values: small positive numbers, ASCII, nothing empty or None."""
    for value in subject.values("plain", 3):
        try:
            subject.writer.encode(value)
        except EncodeError as error:
            yield f"a plain value is refused: {error}; refuse the schema by a SchemaError if it cannot be carried"


def values_come_back(subject: Subject) -> Iterator[str]:
    """``decode(encode(value))`` is ``normal(schema, value)``, or encode raises an `EncodeError` with path and codec."""
    if not subject.has("encode"):
        return
    for manner, count in (("plain", 3), ("edges", 16), ("loose", 10), ("junk", 16)):
        for value in subject.values(manner, count):  # type: ignore[arg-type]
            fault = _round_trip(subject, value)
            if fault is not None:
                yield f"{fault} (one of the {manner} values)"


def _round_trip(subject: Subject, value: Any) -> str | None:
    codec = subject.codec
    try:
        expected, refusal = normal(subject.schema, value, strict=codec.options.strict), None
    except EncodeError as error:
        expected, refusal = None, error
    try:
        data = codec.encode(value)
    except EncodeError as error:
        if error.codec != codec.name:
            return f"the EncodeError names the codec {error.codec!r}, not {codec.name!r}: {error}"
        if error.path is None:
            return f"an EncodeError has no path: {error}"
        return None
    if refusal is not None:
        return f"encode takes what does not fit the schema: {refusal}"
    try:
        found = codec.decode(data)
    except DecodeError as error:
        return f"decode refuses what encode wrote: {error}"
    return _compare(found, expected)


def _compare(found: Any, expected: Any) -> str | None:
    fault = difference(found, expected)
    if fault is None:
        return None
    if isinstance(found, dict) and field_names(expected) is not None:
        return f"decode gives a dict where {type(expected).__name__} objects were promised"
    return f"the value changed on the way: {fault}"


def every_way_reads_alike(subject: Subject) -> Iterator[str]:
    """``decode(copy=False)``, views, segments and load with restore give what decode gives, of any contiguous buffer."""
    for message in subject.messages:
        data = message.data
        buffers: list[Any] = [data]
        if message is subject.messages[0]:
            inside = memoryview(b"?" + data + b"?")[1:-1]
            buffers += [bytearray(data), memoryview(data), inside, np.frombuffer(data, np.uint8)]
        for buffer in buffers:
            for way, found in _read(subject, buffer):
                fault = difference(found, message.normal)
                if fault is not None:
                    yield f"{way} of a {type(buffer).__name__}: {fault}"
        for way, found in _write(subject, message.value):
            fault = difference(found, message.normal)
            if fault is not None:
                yield f"{way}: {fault}"


def _read(subject: Subject, buffer: Any) -> Iterator[tuple[str, Any]]:
    codec = subject.codec
    yield "decode", codec.decode(buffer)
    yield "decode(copy=False)", owned(codec.decode(buffer, copy=False))
    if subject.has("view"):
        yield "view", to_value(codec.view(buffer))
        yield "view(verify=False)", to_value(codec.view(buffer, verify=False))
    if subject.has("load") and subject.has("restore"):
        yield "restore(load())", codec.restore(codec.load(buffer))


def _write(subject: Subject, value: Any) -> Iterator[tuple[str, Any]]:
    codec = subject.codec
    if subject.has("convert") and subject.has("dump"):
        yield "dump(convert())", codec.decode(codec.dump(codec.convert(value)))
    if subject.has("encode_segments") and subject.has("decode_segments"):
        yield "decode_segments(encode_segments())", codec.decode_segments(codec.encode_segments(value))
    if subject.has("encode_lines") and subject.has("decode_lines"):
        lines = list(codec.decode_lines(codec.encode_lines([value, value])))
        yield "decode_lines(encode_lines()), of two", lines[0] if len(lines) == 2 else lines
