"""Laws about results: their types, and that each is the caller's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from zcser.core.fidelity import difference, field_names
from zcser.core.view import View
from zcser.schema.normal import normal
from zcser.testing.subject import Subject, parts, shown, writable_arrays

__all__ = [
    "a_changed_value_is_encoded_anew",
    "decoded_values_are_not_shared",
    "results_are_the_callers_own",
    "results_have_the_types",
]


def results_have_the_types(subject: Subject) -> Iterator[str]:
    """Of encode and dump come bytes, of encode_segments memoryviews of bytes; sizes are ints, views are `View`."""
    codec = subject.codec
    for value in subject.values("plain", 2):
        if subject.has("encode"):
            yield from _is(bytes, codec.encode(value), "encode")
        if subject.has("convert") and subject.has("dump"):
            yield from _is(bytes, codec.dump(codec.convert(value)), "dump")
        if subject.has("encoded_size"):
            yield from _is(int, codec.encoded_size(value), "encoded_size")
            if codec.encoded_size(value) != len(codec.encode(value)):
                yield f"encoded_size says {codec.encoded_size(value)}, encode gives {len(codec.encode(value))} bytes"
        if subject.has("encode_segments"):
            segments = codec.encode_segments(value)
            yield from _is(list, segments, "encode_segments")
            if not all(type(part) is memoryview and part.format == "B" and part.ndim == 1 for part in segments):
                yield "encode_segments gives something else than flat memoryviews of bytes"
    for message in subject.messages[:2] if subject.has("view") else ():
        view: Any = codec.view(message.data)
        if _is_part(message.normal) and not isinstance(view, View):
            yield f"view gives a {type(view).__name__}, not a zcser View"


def _is(wanted: type, found: Any, what: str) -> Iterator[str]:
    if type(found) is not wanted:
        yield f"{what} gives a {type(found).__name__}, not {wanted.__name__}"


def _is_part(value: Any) -> bool:
    return isinstance(value, dict | list | tuple) or field_names(value) is not None


def results_are_the_callers_own(subject: Subject) -> Iterator[str]:
    """What encode gave stays as it is whatever is encoded next, and is not given a second time."""
    codec = subject.codec
    for operation in ("encode", "encode_segments"):
        if not subject.has(operation):
            continue
        call = getattr(codec, operation)
        kept = []
        for message in subject.messages[:6]:
            result = call(message.value)
            pieces = result if isinstance(result, list) else [result]
            kept.append((pieces, [bytes(piece) for piece in pieces]))
        if any([bytes(piece) for piece in pieces] != before for pieces, before in kept):
            yield f"a later {operation} changed the bytes of an earlier one: they share a buffer"
        value = subject.messages[0].value
        first, second = call(value), call(value)
        # One byte or none: Python itself has such bytes once.
        if first is second and len(first) > 1:
            yield f"{operation} gives the same object for the same value twice: it keeps encoded messages"


def a_changed_value_is_encoded_anew(subject: Subject) -> Iterator[str]:
    """A value that is changed in place is encoded as it is then; a buffer that is filled anew is decoded as it is then."""
    codec, pair = subject.codec, subject.two_messages()
    if pair is None:
        return
    first, second = pair
    if subject.has("encode"):
        (value, *_), (other, *_) = subject.values("plain", 1), [second.value]
        codec.encode(value)
        if _overwrite(value, other):
            fault = difference(codec.decode(codec.encode(value)), second.normal)
            if fault is not None:
                yield f"after a change of the value, encode gives what it gave before: {fault}"
        (value,) = subject.values("plain", 1)
        for array in writable_arrays(value):
            codec.encode(value)
            array[...] = np.roll(array.reshape(-1), 1).reshape(array.shape)
            fault = difference(codec.decode(codec.encode(value)), normal(subject.schema, value))
            if fault is not None:
                yield f"after a change of an array, encode gives what it gave before: {fault}"
    buffer = bytearray(first.data)
    codec.decode(buffer)
    try:
        buffer[:] = second.data
    except BufferError:
        yield "decode with copies keeps hold of the caller's buffer"
        return
    fault = difference(codec.decode(buffer), second.normal)
    if fault is not None:
        yield f"a buffer with other bytes in it is decoded as before: {fault}"


def _overwrite(value: Any, other: Any) -> bool:
    """Make one object equal to another, in place; False where it cannot be."""
    if type(value) is not type(other):
        return False
    if isinstance(value, dict):
        value.clear()
        value.update(other)
        return True
    if isinstance(value, list):
        value[:] = other
        return True
    names = field_names(value)
    try:
        for name in names or ():
            setattr(value, name, getattr(other, name))
    except AttributeError:
        return False
    return bool(names)


def decoded_values_are_not_shared(subject: Subject) -> Iterator[str]:
    """Two decodes of one message give values that share nothing that can be changed."""
    codec = subject.codec
    for message in subject.messages:
        first, second = codec.decode(message.data), codec.decode(message.data)
        ours = {id(part): part for part in parts(first) if _can_change(part)}
        for part in parts(second):
            if id(part) in ours:
                yield f"two decodes of {shown(message.data)} give the same {type(part).__name__} object"
                return
        arrays = [part for part in parts(first) if isinstance(part, np.ndarray)]
        for part in parts(second):
            if isinstance(part, np.ndarray) and any(np.shares_memory(part, one) for one in arrays):
                yield "two decodes with copies give arrays over the same memory"
                return


def _can_change(part: Any) -> bool:
    if isinstance(part, list | dict | bytearray | np.ndarray):
        return True
    frozen = getattr(getattr(type(part), "__dataclass_params__", None), "frozen", False)
    return field_names(part) is not None and not frozen
