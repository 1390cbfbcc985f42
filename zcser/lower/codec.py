"""A codec around the codec of a schema's wire schema.

1. It has the operations of the codec inside, whose bytes are its bytes. What is lowered is said in `zcser.schema.lower`.
2. A codec that is fused is not so here: a wire value stands between. `convert` and `restore` are the conversion then,
   `dump` and `load` the codec inside. Where there is a ledger, the conversion is part of `convert` and of `restore`.
3. A value that is refused has the path that it has in the value; one of `decode` that the codec inside took has the path
   of the message and no offset.
4. The parts of a view are lifted when they are read (`zcser.lower.views`).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, NoReturn, TypeVar

from zcser.core.buffers import Buffer
from zcser.core.codec import LEDGER, OPERATIONS, Codec, CodecInfo
from zcser.core.errors import BufferTooSmallError, EncodeError, SchemaError
from zcser.core.options import Options
from zcser.core.paths import Path, parse_path
from zcser.core.view import View
from zcser.lower.code import Conversion
from zcser.lower.explain import explain
from zcser.lower.views import Lifter
from zcser.schema.lower import Lowering, lowering_of
from zcser.schema.model import List, Map, Optional, Record, Ref, Schema, Type
from zcser.schema.normal import Normaliser

__all__ = ["bound"]

T = TypeVar("T")


def bound(cls: type[Codec[Any]], schema: Schema, options: Options) -> Codec[Any]:
    """The codec of a class for any schema.

    Parameters
    ----------
    cls
        Of the codec.
    schema
        With logical values, sets and classes of every kind, or without.

    Returns
    -------
    Codec
        Of `cls` itself where it carries the schema as it is, which is as fast as it ever was.

    Raises
    ------
    SchemaError
        As `cls` does; the path is in `schema`.
    """
    lowering = lowering_of(schema, text=cls.text)
    return cls(schema, options) if lowering is None else _class_around(cls)(lowering, options)  # type: ignore[arg-type]  # a class is hashable


@functools.cache
def _class_around(cls: type[Codec[Any]]) -> type[_Around[Any]]:
    has = cls.operations()
    has = has | frozenset(LEDGER) if cls.fused else has
    namespace: dict[str, Any] = {name: getattr(_Operations, name) for name in OPERATIONS if name in has}
    for name in Codec.__annotations__:
        if hasattr(cls, name):
            namespace[name] = getattr(cls, name)
    return type(f"{cls.__name__}Around", (_Around,), {**namespace, "inner": cls, "fused": False})


class _Around(Codec[T]):
    """See the head of this module."""

    inner: ClassVar[type[Codec[Any]]]

    def __init__(self, lowering: Lowering, options: Options) -> None:
        super().__init__(lowering.schema, options)
        self._lowering = lowering
        self._conversion = Conversion(lowering)
        root = lowering.schema.root
        self._lower_normal = self._conversion.lower(root)
        self._lift = self._conversion.lift(root)
        self._normal = Normaliser(
            lowering.schema, strict=options.strict, finite=False, limits=options.limits, codec=self.name
        )
        try:
            self._codec = self.inner(lowering.wire, options)
        except SchemaError as error:
            raise self._placed(error) from None
        self._show = Lifter(self._conversion, self.name).show(root)
        if not options.strict:
            for name, call in self._codec._owning_calls(_fresh_dicts(lowering)).items():
                self._quicken(**{name: _after(self._lower_normal, call, getattr(self, name))})
        self._seal()

    def __reduce__(self) -> tuple[Any, ...]:
        return bound, (self.inner, self.schema, self.options)

    def __getattr__(self, name: str) -> Any:
        # What this codec alone has, as the scratch memory of flatbuffers; what it has not, in its own words.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._codec, name)

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """See `Codec.library_version`."""
        return cls.inner.library_version()

    @property
    def info(self) -> CodecInfo:
        """See `CodecInfo`: that of the codec inside, which is not fused here."""
        return dataclasses.replace(self._codec.info, operations=self.operations(), fused=False)

    def _placed(self, error: SchemaError) -> SchemaError:
        """An error of the wire schema, with the path in the schema: fields have their own names there."""
        root = self._lowering.schema.root
        if not error.path and self._lowering.schema.bare(root) is not root:
            return SchemaError(f"{root} stands as its root: {error.reason}", path=error.path, codec=error.codec)
        record_name, slash, rest = (error.path or "").partition("/")
        if slash and record_name in self._lowering.records:
            names = self._lowering.names(self.schema.record(record_name))
            # A name may hold slashes: the longest one that fits is meant.
            fits = [(alias, name) for name, alias in names.items() if rest == alias or rest.startswith(f"{alias}/")]
            if fits:
                alias, name = max(fits)
                return SchemaError(error.reason, path=f"{record_name}/{name}{rest[len(alias) :]}", codec=error.codec)
        return error

    def _lowered(self, value: Any) -> Any:
        if self.options.strict:
            self._normal(value)
        try:
            return self._lower_normal(value)
        except Exception:  # noqa: BLE001 - whatever it was, the Normaliser finds the words
            return self._lower_normal(self._normal(value))

    def _refuse(self, value: Any, error: EncodeError) -> NoReturn:
        """Raise the error of a value: where it is the schema's to refuse it, the words and the path are in its terms."""
        if not isinstance(error, BufferTooSmallError):
            self._normal(value)
        raise error

    def _lifted(self, value: Any) -> Any:
        try:
            return self._lift(value)
        except Exception as error:
            raise explain(self._conversion, self.schema.root, value, error, self.name) from error

    def _place(self, path: Path) -> tuple[tuple[str | int, ...], Callable[[Any], Any]]:
        """A path in messages, and what lowers the value that stands there."""
        here: Type | None = self.schema.root
        steps: list[str | int] = []
        for step in parse_path(path):
            while isinstance(here, Optional):
                here = here.item
            record: Record | None = None
            if isinstance(here, Ref):
                record = self.schema.resolve(here)
            if record is not None and step in record.by_name:
                if not record.transparent:
                    names = self._lowering.names(record) if record.name in self._lowering.records else {}
                    steps.append(names.get(str(step), step))
                here = record.by_name[str(step)].type
            else:
                steps.append(step)
                here = here.item if isinstance(here, List) else here.value if isinstance(here, Map) else None
        return tuple(steps), (lambda value: value) if here is None else self._part_lowerer(here)

    def _part_lowerer(self, type_: Type) -> Callable[[Any], Any]:
        lower, normal = self._conversion.lower(type_), self._normal
        return lambda value: lower(normal.part(type_, value))


def _fresh_dicts(lowering: Lowering) -> frozenset[str]:
    """The records that lowering makes a dict of an object."""
    objects = {name for name in lowering.records if lowering.schema.record(name).cls is not None}
    # A transparent record has none in the wire schema.
    return frozenset(record.name for record in lowering.wire.records if record.cls is None and record.name in objects)


def _after(lower: Callable[[Any], Any], call: Callable[[Any], Any], slow: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call_lowered(value: Any) -> Any:
        try:
            return call(lower(value))
        except Exception:  # noqa: BLE001 - whatever it was, the operation has the words, and a wire value of its own
            return slow(value)

    return call_lowered


class _Operations(_Around[T]):
    """The operations, of which a class around another takes those that it has."""

    def encode(self, value: T) -> bytes:
        """See `Codec.encode`."""
        try:
            return self._codec.encode(self._lowered(value))
        except EncodeError as error:
            self._refuse(value, error)

    def encode_into(self, value: T, out: Buffer, offset: int = 0) -> int:
        """See `Codec.encode_into`."""
        try:
            return self._codec.encode_into(self._lowered(value), out, offset)
        except EncodeError as error:
            self._refuse(value, error)

    def encode_segments(self, value: T) -> list[memoryview]:
        """See `Codec.encode_segments`."""
        try:
            return self._codec.encode_segments(self._lowered(value))
        except EncodeError as error:
            self._refuse(value, error)

    def encoded_size(self, value: T) -> int:
        """See `Codec.encoded_size`."""
        try:
            return self._codec.encoded_size(self._lowered(value))
        except EncodeError as error:
            self._refuse(value, error)

    def encode_lines(self, values: Iterable[T]) -> bytes:
        """See `Codec.encode_lines`."""
        # The inner class's own, over this codec's encode: an error is in the terms of the value.
        return self.inner.encode_lines(self, values)

    def decode(self, data: Buffer, *, copy: bool = True) -> T:
        """See `Codec.decode`."""
        value: T = self._lifted(self._codec.decode(data, copy=copy))
        return value

    def decode_segments(self, segments: Sequence[Buffer], *, copy: bool = True) -> T:
        """See `Codec.decode_segments`."""
        value: T = self._lifted(self._codec.decode_segments(segments, copy=copy))
        return value

    def decode_lines(self, data: Buffer, *, copy: bool = True) -> Iterator[T]:
        """See `Codec.decode_lines`."""
        # As above, over this codec's decode: whatever is refused, the error says the line.
        return self.inner.decode_lines(self, data, copy=copy)

    def view(self, data: Buffer, *, verify: bool = True) -> View:
        """See `Codec.view`."""
        view: View = self._show(self._codec.view(data, verify=verify))
        return view

    def view_segments(self, segments: Sequence[Buffer], *, verify: bool = True) -> View:
        """See `Codec.view_segments`."""
        view: View = self._show(self._codec.view_segments(segments, verify=verify))
        return view

    def view_lines(self, data: Buffer, *, verify: bool = True) -> Iterator[View]:
        """See `Codec.view_lines`."""
        return map(self._show, self._codec.view_lines(data, verify=verify))

    def convert(self, value: T) -> Any:
        """See `Codec.convert`."""
        try:
            wire = self._lowered(value)
            return wire if self.inner.fused else self._codec.convert(wire)
        except EncodeError as error:
            self._refuse(value, error)

    def dump(self, native: Any) -> bytes:
        """See `Codec.dump`."""
        return self._codec.encode(native) if self.inner.fused else self._codec.dump(native)

    def load(self, data: Buffer) -> Any:
        """See `Codec.load`."""
        return self._codec.decode(data) if self.inner.fused else self._codec.load(data)

    def restore(self, native: Any) -> T:
        """See `Codec.restore`."""
        value: T = self._lifted(native if self.inner.fused else self._codec.restore(native))
        return value

    def patch(self, buffer: Buffer, path: Path, value: Any) -> None:
        """See `FlatbuffersCodec.patch`."""
        steps, lower = self._place(path)
        self._codec.patch(buffer, steps, lower(value))

    def patcher(self, *paths: Path) -> Callable[..., None]:
        """See `FlatbuffersCodec.patcher`."""
        places = [self._place(path) for path in paths]
        patch = self._codec.patcher(*(steps for steps, _ in places))
        lowers = [lower for _, lower in places]

        def lowered_patch(buffer: Buffer, *values: Any) -> None:
            patch(buffer, *(lower(value) for lower, value in zip(lowers, values, strict=True)))

        return lowered_patch
