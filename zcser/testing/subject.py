"""A codec under check, made for one schema, and what all laws need of it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from zcser.core.codec import Codec
from zcser.core.errors import DecodeError, EncodeError, SchemaError
from zcser.core.fidelity import difference, field_names
from zcser.core.options import Options
from zcser.core.view import View, to_value
from zcser.schema.model import Schema
from zcser.schema.normal import normal
from zcser.schema.samples import Manner, samples

__all__ = ["Message", "Subject", "owned", "parts", "shown"]


@dataclass(frozen=True)
class Message:
    """A value that the codec carries."""

    value: Any
    normal: Any
    data: bytes


@dataclass
class Subject:
    """A codec class with one schema.

    Attributes
    ----------
    cls, case, schema, options
        What is checked, and with what.
    writes
        The class of what writes the messages that it reads: its own, where it encodes.
    seed, set_up_calls
        See `check_codec`.
    codec, writer
        Made of them.
    """

    cls: type[Codec[Any]]
    case: str
    schema: Schema
    options: Options
    writes: type[Codec[Any]]
    seed: int = 0
    set_up_calls: int = 0

    def __post_init__(self) -> None:
        self.codec = self.cls(self.schema, self.options)
        self.writer = self.codec if self.writes is self.cls else self.writes(self.schema, self.options)

    def has(self, operation: str) -> bool:
        """Whether the codec has an operation."""
        return operation in self.codec.info.operations

    def made(self, **changes: Any) -> Codec[Any]:
        """Another codec of the schema, with other options."""
        return self.cls(self.schema, dataclasses.replace(self.options, **changes))

    def of(self, schema: Schema) -> Subject | None:
        """The codec with another schema; None where it refuses that."""
        try:
            return dataclasses.replace(self, schema=schema)
        except SchemaError:
            return None

    def values(self, manner: Manner, count: int) -> list[Any]:
        """Fresh values of the schema."""
        return samples(self.schema, manner, count, self.seed)

    @functools.cached_property
    def messages(self) -> list[Message]:
        """Plain values first, then those with edges: encoded, where they come back; those that do not fidelity tells of."""
        found = []
        for value in (*self.values("plain", 3), *self.values("edges", 8)):
            try:
                message = Message(value, normal(self.schema, value), bytes(self.writer.encode(value)))
                back = self.codec.decode(message.data)
            except Exception:  # noqa: BLE001, S112 - of the codec: anything
                continue
            if difference(back, message.normal) is None:
                found.append(message)
        return found

    def two_messages(self) -> tuple[Message, Message] | None:
        """Two whose values differ."""
        first, *rest = self.messages
        return next(((first, one) for one in rest if difference(first.normal, one.normal) is not None), None)

    def read(self, data: Any) -> tuple[Any, str | None]:
        """The law of hostile bytes for one input: the value (or the `DecodeError`), and what is wrong with it."""
        value: Any
        try:
            value = self.codec.decode(data)
        except DecodeError as error:
            return error, self._refused(error, data)
        try:
            fault = difference(normal(self.schema, value, strict=True), value)
        except EncodeError as error:
            fault = str(error)
        if fault is not None:
            return value, f"decode gave no value of the schema: {fault}"
        if self.has("view"):
            try:
                seen = difference(to_value(self.codec.view(data)), value)
            except DecodeError as error:
                seen = f"{error}, against a value"
            if seen is not None:
                return value, f"view and decode disagree: {seen}"
        return value, None

    def _refused(self, error: DecodeError, data: Any) -> str | None:
        if error.codec != self.codec.name:
            return f"the DecodeError names the codec {error.codec!r}, not {self.codec.name!r}: {error}"
        if self.has("view"):
            try:
                to_value(self.codec.view(data))
            except DecodeError:
                return None
            return f"decode refuses what view reads: {error}"
        return None


def parts(value: Any) -> Iterator[Any]:
    """A value and everything inside it."""
    yield value
    inside: Any = ()
    if isinstance(value, list | tuple):
        inside = value
    elif isinstance(value, dict):
        inside = value.values()
    else:
        inside = [getattr(value, name) for name in field_names(value) or ()]
    for part in inside:
        yield from parts(part)


def owned(value: Any) -> Any:
    """A value with memoryviews and views read out, to compare what ``copy=False`` gives."""
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, View):
        return to_value(value)
    if isinstance(value, list | tuple):
        return type(value)(map(owned, value))
    if isinstance(value, dict):
        return {key: owned(item) for key, item in value.items()}
    names = field_names(value)
    if names is None or isinstance(value, type):
        return value
    return type(value)(**{name: owned(getattr(value, name)) for name in names})


def shown(data: bytes | bytearray | memoryview, limit: int = 24) -> str:
    """Bytes in a message."""
    flat = bytes(data[: limit + 1])
    return f"{flat[:limit]!r}{'...' if len(flat) > limit else ''}"


def writable_arrays(value: Any) -> list[np.ndarray[Any, Any]]:
    """Arrays inside a value that can be changed."""
    return [part for part in parts(value) if isinstance(part, np.ndarray) and part.size and part.flags.writeable]
