"""Laws about the codec itself: what it says of itself, that it can be shared, and that its options are kept."""

from __future__ import annotations

import pickle
import sys
import threading
from collections.abc import Iterator
from typing import Any

from zcser.core.codec import LEDGER, OPERATIONS
from zcser.core.errors import DecodeError, EncodeError, UnsupportedOperation
from zcser.core.fidelity import difference
from zcser.core.options import Limits
from zcser.schema.from_python import schema_of
from zcser.schema.normal import normal
from zcser.testing.cases import Label, Narrow, Node, Wide
from zcser.testing.subject import Subject

__all__ = [
    "info_is_true",
    "it_can_be_shared",
    "it_is_immutable_and_pickles",
    "limits_hold",
    "messages_are_bounded",
    "options_are_kept",
    "unknown_fields_are_dropped_or_refused",
]


def info_is_true(subject: Subject) -> Iterator[str]:
    """What info says is complete and agrees with the operations; an operation that is missing raises `UnsupportedOperation`."""
    codec, info = subject.codec, subject.codec.info
    empty = [
        name for name in ("name", "format", "wire", "library", "version", "implementation") if not getattr(info, name)
    ]
    if empty:
        yield f"info does not say {', '.join(empty)}"
    if info.operations != {name for name in OPERATIONS if hasattr(codec, name)}:
        yield "info.operations are not the operations that the codec has"
    for pair in (("convert", "dump"), ("load", "restore"), ("encode_segments", "decode_segments")):
        if len(info.operations & set(pair)) == 1:
            yield f"of {pair[0]} and {pair[1]} there is one alone"
    if info.fused and info.operations & set(LEDGER):
        yield "info says fused, and there is a middle stage"
    if bool(info.reads) != subject.has("view"):
        yield "info.reads speaks of views; it is given where there is view(), and nowhere else"
    for operation in sorted(set(OPERATIONS) - info.operations):
        try:
            getattr(codec, operation)
        except UnsupportedOperation:
            continue
        except AttributeError:
            yield f"the missing {operation} is a plain AttributeError; is the class a subclass of zcser.Codec?"


def it_is_immutable_and_pickles(subject: Subject) -> Iterator[str]:
    """Attributes cannot be set; a pickled codec reads and writes the same."""
    codec = subject.codec
    for name in ("schema", "options", "anything"):
        try:
            setattr(codec, name, getattr(codec, name, None))
        except AttributeError:
            continue
        yield f"{name!r} of the codec can be set; end __init__ with self._seal()"
    try:
        back = pickle.loads(pickle.dumps(codec))
    except Exception as error:  # noqa: BLE001 - whatever it is, the law forbids it
        yield f"the codec does not pickle: {type(error).__name__}: {error}"
        return
    if type(back) is not type(codec) or (back.schema, back.options) != (codec.schema, codec.options):
        yield "a pickled codec comes back with another class, schema or options"
        return
    for message in subject.messages[:2]:
        data = back.encode(message.value) if subject.has("encode") else message.data
        fault = difference(back.decode(data), message.normal)
        if fault is not None:
            yield f"a pickled codec reads something else: {fault}"


def it_can_be_shared(subject: Subject) -> Iterator[str]:
    """Threads that use one codec at once each have what they would have alone."""
    codec, messages = subject.codec, subject.messages
    failures: list[str] = []
    start = threading.Barrier(4)

    def work(number: int) -> None:
        try:
            start.wait()
            for turn in range(10):
                message = messages[(number * 3 + turn) % len(messages)]
                data = codec.encode(message.value) if subject.has("encode") else message.data
                fault = difference(codec.decode(data), message.normal)
                if fault is not None:
                    failures.append(f"threads disturb each other: {fault}")
                    return
        except Exception as error:  # noqa: BLE001 - carried to the thread that checks
            failures.append(f"in threads: {type(error).__name__}: {error}")

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    yield from failures[:1]


def messages_are_bounded(subject: Subject) -> Iterator[str]:
    """A message over ``limits.bytes`` is refused both ways, and one of just so many is not."""
    message = subject.messages[0]
    size = len(message.data)
    if size > 1:
        yield from _both_refuse(
            subject, Limits(bytes=size - 1), message.value, message.data, f"limits.bytes={size - 1}"
        )
        exact = subject.made(limits=Limits(bytes=size))
        if (fault := difference(exact.decode(message.data), message.normal)) is not None:
            yield f"a message of limits.bytes is not read: {fault}"


def limits_hold(subject: Subject) -> Iterator[str]:
    """Values over ``limits.depth`` and ``limits.elements`` are refused both ways."""
    deep = subject.of(schema_of(Node))
    if deep is not None:
        value = Node(1, [Node(2, [Node(3, [])])])
        yield from _both_refuse(deep, Limits(depth=4), value, deep.writer.encode(value), "limits.depth=4")
    many = subject.of(schema_of(list[int]))
    if many is not None:
        numbers = list(range(60))
        yield from _both_refuse(many, Limits(elements=50), numbers, many.writer.encode(numbers), "limits.elements=50")


def _both_refuse(subject: Subject, limits: Limits, value: Any, data: bytes, what: str) -> Iterator[str]:
    codec = subject.made(limits=limits)
    if subject.has("encode"):
        try:
            codec.encode(value)
        except EncodeError:
            pass
        else:
            yield f"encode passes over {what}"
    try:
        codec.decode(data)
    except DecodeError:
        return
    yield f"decode passes over {what}"


def options_are_kept(subject: Subject) -> Iterator[str]:
    """A strict codec refuses what would be changed, a deterministic one gives equal values equal bytes."""
    if not subject.has("encode"):
        return
    strict, unguarded, fixed = (
        subject.made(strict=True),
        subject.made(guard="off", strict=False),
        subject.made(deterministic=True),
    )
    for value in (*subject.values("plain", 2), *subject.values("loose", 8)):
        try:
            normal(subject.schema, value, strict=True)
        except EncodeError as refusal:
            try:
                strict.encode(value)
            except EncodeError:
                continue
            yield f"strict=True takes what would be changed: {refusal}"
    for message in subject.messages[:4]:
        if (fault := difference(unguarded.decode(unguarded.encode(message.normal)), message.normal)) is not None:
            yield f"guard='off' changes a good value: {fault}"
        turned = _turned(message.normal)
        data = fixed.encode(message.normal)
        if fixed.encode(turned) != data:
            yield "deterministic=True gives equal values other bytes: the order of a dict's keys shows"
        if (fault := difference(fixed.decode(data), message.normal)) is not None:
            yield f"deterministic=True changes a value: {fault}"


def _turned(value: Any) -> Any:
    """An equal value, its dicts in the other order."""
    if isinstance(value, dict):
        return {key: _turned(item) for key, item in reversed(value.items())}
    if isinstance(value, list):
        return [_turned(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return type(value)(**{name: _turned(getattr(value, name)) for name in value.__dataclass_fields__})
    return value


def unknown_fields_are_dropped_or_refused(subject: Subject) -> Iterator[str]:
    """A field that the schema does not know is dropped, and refused with unknown_fields="refuse"."""
    wide, narrow = subject.of(schema_of(Wide)), subject.of(schema_of(Narrow))
    if wide is None or narrow is None:
        return
    data = wide.writer.encode(Wide(1, [Label("x")], 7))
    try:
        fault = difference(narrow.codec.decode(data), Narrow(1, [Label("x")]))
        if fault is not None:
            yield f"an unknown field changes what is read: {fault}"
    except DecodeError as error:
        yield f"a message with a field more is refused by an older schema: {error}"
    try:
        narrow.made(unknown_fields="refuse").decode(data)
    except DecodeError:
        return
    yield "unknown_fields='refuse' takes a message with an unknown field"
