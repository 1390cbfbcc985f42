"""Why a decoded wire value is no value of the schema: the part at fault, by a walk that is slow and has words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zcser.core.errors import DecodeError
from zcser.core.paths import pointer
from zcser.core.words import brief
from zcser.lower.code import Conversion
from zcser.schema.lower import BOXED
from zcser.schema.model import Bytes, List, Logical, Map, Optional, Ref, Set, Type, Union

__all__ = ["explain"]

Path = tuple[str | int, ...]


def explain(conversion: Conversion, type_: Type, value: Any, error: Exception, codec: str) -> DecodeError:
    """The error of a wire value that was not lifted.

    Parameters
    ----------
    type_
        Of the schema, which the value should have been.
    value
        Of the wire schema.
    error
        What lifting raised.
    """
    fault = next(_Walk(conversion).faults(type_, value, ()), None)
    path, reason = fault if fault is not None else ((), _words(error)[1])
    return DecodeError(reason, codec=codec, path=pointer(path))


def _words(error: Exception) -> tuple[Path, str]:
    """Where a class's constructor says that the fault is, and what it says."""
    errors = getattr(error, "errors", None)
    if callable(errors):  # pydantic's, whose own text shows the whole input
        first = errors(include_url=False, include_input=False, include_context=False)[0]
        return tuple(first["loc"]), str(first["msg"])
    return (), brief(str(error), 200) if str(error) else type(error).__name__


class _Walk:
    def __init__(self, conversion: Conversion) -> None:
        self.lowering = conversion.lowering
        self.lift = conversion.lift

    def faults(self, type_: Type, value: Any, path: Path) -> Iterator[tuple[Path, str]]:
        """The faults of a value, those of its parts first."""
        if value is None or not self.lowering.touches(type_):
            return
        match type_:
            case Optional(item):
                yield from self.faults(item, value, path)
                return
            case List(item=item) | Set(item):
                for index, one in enumerate(value):
                    yield from self.faults(item, one, (*path, index))
            case Map(key, item):
                for name, one in value.items():
                    where = (*path, name if isinstance(name, str) else brief(name))
                    if isinstance(key, Logical):
                        yield from self.logical(key, name, where, key=True)
                    yield from self.faults(item, one, where)
            case Union():
                yield from self.union(type_, value, path)
                return
            case Ref():
                yield from self.record(type_, value, path)
            case Logical():
                yield from self.logical(type_, value, path)
                return
        try:
            self.lift(type_)(value)
        except Exception as error:  # noqa: BLE001 - a class's constructor may raise anything
            below, reason = _words(error)
            refused = f"{type_} refuses its fields: {reason}" if isinstance(type_, Ref) else reason
            yield (*path, *below), refused

    def logical(self, type_: Logical, value: Any, path: Path, *, key: bool = False) -> Iterator[tuple[Path, str]]:
        try:
            self.lowering.form(type_, key=key).lift(value)
        except Exception as error:  # noqa: BLE001 - of the standard library, for whatever the value is
            why = f" ({error})" if isinstance(error, ValueError) else ""
            yield path, f"{brief(value)} is no {type_}{why}"

    def union(self, type_: Union, value: Any, path: Path) -> Iterator[tuple[Path, str]]:
        wire, schema = self.lowering.unions[type_], self.lowering.wire
        for option, wired in zip(type_.options, wire.options, strict=True):
            cls = schema.python_type(wired)
            if type(value) is cls or (isinstance(wired, Bytes) and isinstance(value, memoryview)):
                inner = getattr(value, BOXED) if (type_, option) in self.lowering.boxes else value
                yield from self.faults(option, inner, path)

    def record(self, type_: Ref, value: Any, path: Path) -> Iterator[tuple[Path, str]]:
        record = self.lowering.schema.resolve(type_)
        if record.transparent:
            yield from self.faults(record.fields[0].type, value, path)
            return
        fields = value if isinstance(value, dict) else vars(value)
        for name, alias in self.lowering.names(record).items():
            if alias in fields:
                yield from self.faults(record.by_name[name].type, fields[alias], (*path, alias))
