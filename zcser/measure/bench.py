"""One codec on one payload, ready to be timed: the codec, its arguments, and what its results must equal.

Correctness comes first: a codec that changes a value has no time, it has a reason.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from zcser import registry
from zcser.core.codec import Codec
from zcser.core.errors import SchemaError
from zcser.core.fidelity import difference, equal
from zcser.core.view import at, to_value
from zcser.measure.access import shape_of
from zcser.measure.clock import now_ns
from zcser.measure.inputs import Fresh, Rotating
from zcser.payloads.base import Payload, Places
from zcser.schema.model import Schema
from zcser.schema.normal import normal

__all__ = ["MEMORY_BYTES", "Bench", "MismatchError", "make_codec"]

MEMORY_BYTES = 256 << 20
"""Bound on the arguments of a cell, counted as twice their encoded size."""


class MismatchError(Exception):
    """A result is not what it must be; the message says where and how it differs."""


def make_codec(name: str, schema: Schema, writers: Sequence[str]) -> tuple[Codec[Any], Codec[Any]]:
    """A codec, and the one that writes its wire: itself, or the first of `writers` that carries the schema.

    Raises
    ------
    SchemaError
        The codec cannot carry the schema, or no codec that writes its wire can.
    """
    codec = _codec(name, schema)
    if "encode" in codec.operations():
        return codec, codec
    reason = "none is installed"
    for writer in writers:
        try:
            return codec, _codec(writer, schema)
        except SchemaError as error:
            reason = str(error)
    raise SchemaError(f"no codec writes its wire {codec.wire!r} for it: {reason}", codec=name)


def _codec(name: str, schema: Schema, **options: Any) -> Codec[Any]:
    """A codec that reads nothing but what was written here."""
    return registry.codec(name, schema, allow_untrusted_code=registry.codec_class(name).trusted_only, **options)


class Bench:
    """See the head of this module.

    Attributes
    ----------
    payload, codec
        What is measured.
    writer
        The codec whose bytes are read: `codec` itself wherever it encodes.
    fields
        Pointers that the partial reads take.
    values, wires
        The payload's values and their bytes, by number.
    verified
        Numbers of the values whose bytes were decoded and found right.
    """

    def __init__(
        self,
        payload: Payload,
        codec: Codec[Any],
        writer: Codec[Any],
        *,
        fields: Sequence[str],
        rotation: int,
        prepare_ns: int,
    ) -> None:
        self.payload = payload
        self.codec = codec
        self.writer = writer
        self.fields = tuple(fields)
        self.verified: set[int] = set()
        self._prepare_ns = prepare_ns
        first = payload.make(0)
        most = max(1, MEMORY_BYTES // (2 * len(writer.encode(first)) or 1))
        self._numbers = range(min(rotation, most))
        self.values = Rotating(payload.make, self._numbers, prepare_ns)
        self.wires = Rotating(lambda number: writer.encode(self.values[number]), self._numbers, prepare_ns)

    @property
    def places(self) -> Places:
        """The places that the run chose.

        Raises
        ------
        LookupError
            It chose none, since the payload's values could not be looked at.
        """
        if self.payload.places is None:
            raise LookupError(f"no place in payload {self.payload.name} could be chosen")
        return self.payload.places

    @functools.cached_property
    def natives(self) -> Rotating:
        """The library's own objects, made by `convert`."""
        return self.derived(lambda number: self.codec.convert(self.values[number]))

    @functools.cached_property
    def trees(self) -> Fresh:
        """The library's own objects, made by `load`, each for one call."""
        most = max(1, MEMORY_BYTES // (8 * len(self.wires.first()[1]) or 1))
        return Fresh(self.codec.load, self.wires, most)

    @functools.cached_property
    def field_wires(self) -> Rotating:
        """The bytes of those values that have the fields, all of the first one's shape."""
        return self.derived(self.wires.__getitem__, paths=self.fields)

    @functools.cached_property
    def tensor_wires(self) -> Rotating:
        """The bytes of those values that have the tensor."""
        return self.derived(self.wires.__getitem__, paths=(self.payload.tensor or "",))

    @functools.cached_property
    def unguarded(self) -> Codec[Any]:
        """The same codec without its guard."""
        return _codec(self.codec.name, self.payload.schema, guard="off")

    def derived(
        self,
        make: Callable[[int], Any],
        *,
        paths: Sequence[str] = (),
        usable: Callable[[int], bool] | None = None,
    ) -> Rotating:
        """Arguments for some of the values: those that have `paths`, and that are `usable`."""
        shape: tuple[str, ...] | None = None

        def fits(number: int) -> bool:
            nonlocal shape
            found = shape_of(self.values[number], paths)
            shape = found if shape is None else shape
            return found is not None and found == shape and (usable is None or usable(number))

        return Rotating(make, filter(fits, self._numbers), self._prepare_ns)

    @functools.lru_cache(maxsize=4)  # noqa: B019 - a bench lives as long as its worker measures this payload
    def expected(self, number: int) -> Any:
        """What decoding the bytes of a value must give."""
        return normal(self.payload.schema, self.values[number])

    def wrong(self, number: int, decoded: Any) -> str | None:
        """How a decoded value differs from what it must be; None where it does not."""
        expected = self.expected(number)
        return None if equal(decoded, expected) else difference(decoded, expected)

    def wrong_leaves(self, number: int, paths: Sequence[str], found: Sequence[Any]) -> str | None:
        """How leaves that were read of a value differ from what they must be; None where they do not."""
        for path, leaf in zip(paths, found, strict=True):
            wrong = difference(to_value(leaf), at(self.expected(number), path))
            if wrong:
                return f"{path}: {wrong}"
        return None

    def verify(self, budget_ns: int) -> None:
        """Round trips of as many values as the time allows; one at least.

        Raises
        ------
        MismatchError
            A value came back changed.
        ZcserError
            The codec refused one.
        """
        deadline_ns = now_ns() + budget_ns
        for number in self._numbers:
            found = self.wrong(number, self.codec.decode(self.wires[number]))
            if found:
                raise MismatchError(f"value {number} came back changed: {found}")
            self.verified.add(number)
            if now_ns() > deadline_ns:
                return
