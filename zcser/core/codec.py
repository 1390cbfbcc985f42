"""The interface of every codec.

1. What a codec's library cannot do natively the codec does not have: reading the attribute raises
   `UnsupportedOperation`, which names the codecs that have it. Nothing is emulated.
2. A codec is immutable after construction, safe to share between threads, after a fork, and picklable.
3. `encode` returns bytes that belong to the caller alone; `encode_into` leaves its target unchanged on every failure.
4. ``decode(encode(value))`` equals ``normal(schema, value)``, or `encode` raises `EncodeError`.
5. For any bytes, `decode` and `view` give a value of the schema's type or raise `DecodeError`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from zcser.core.buffers import Buffer
from zcser.core.errors import UnsupportedOperation
from zcser.core.options import Options
from zcser.core.paths import Path
from zcser.core.pointer import Pointer
from zcser.core.view import View

__all__ = ["LEDGER", "OPERATIONS", "Codec", "CodecInfo", "Reads", "set_directory"]

T = TypeVar("T")

Reads = Literal["alias", "copy", "parse"]
"""How a view reads a kind: from the caller's buffer, from a copy of it, or by parsing it into the library's own form."""

LEDGER: tuple[str, ...] = ("convert", "dump", "load", "restore")
"""The middle stage of a codec that is not fused: value <-> native object <-> bytes."""

OPERATIONS: tuple[str, ...] = (
    "encode",
    "encode_into",
    "encode_segments",
    "encoded_size",
    "decode",
    "decode_segments",
    "view",
    "view_segments",
    "encode_lines",
    "decode_lines",
    "view_lines",
    "patch",
    "patcher",
    *LEDGER,
)


@dataclass(frozen=True, slots=True)
class CodecInfo:
    """What a codec is and can do.

    Attributes
    ----------
    name
        The registry's name.
    format
        The wire format, in words.
    wire
        Codecs of one wire read each other's bytes.
    library, version, implementation
        The library below, its version, and which of its implementations runs ("upb", "C extension", "pure Python").
    operations
        Names out of `OPERATIONS` that this codec has.
    reads
        Per kind ("str", "bytes", "tensor", "list"): how a view reads it. Empty without `view`.
    joinable
        Whether ``b"".join(encode_segments(v))`` is what `decode` reads.
    self_delimiting
        Whether a message that was cut short anywhere is always refused.
    trusted_only
        Whether decoding can run code of the sender.
    fused
        Whether the codec goes from value to bytes without a middle object.
    validates
        Whether the library, with the guard off, still refuses bytes that lead outside the message.
    keyless
        Whether messages hold no names of fields, so that nobody reads them without the schema.
    """

    name: str
    format: str
    wire: str
    library: str
    version: str
    implementation: str
    operations: frozenset[str]
    reads: MappingProxyType[str, Reads] = field(default_factory=lambda: MappingProxyType({}))
    joinable: bool = False
    self_delimiting: bool = False
    trusted_only: bool = False
    fused: bool = False
    validates: bool = True
    keyless: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        # A mappingproxy does not pickle.
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values["reads"] = dict(self.reads)
        return _info, (values,)


def _info(values: dict[str, Any]) -> CodecInfo:
    return CodecInfo(**{**values, "reads": MappingProxyType(values["reads"])})


def _nobody(_operation: str) -> Sequence[str]:
    return ()


_directory: Callable[[str], Sequence[str]] = _nobody


def set_directory(directory: Callable[[str], Sequence[str]]) -> None:
    """Tell this floor who has an operation; the registry, which knows, stands above it."""
    global _directory  # noqa: PLW0603
    _directory = directory


class _Unsupported:
    """Stands in a codec class for an operation that it does not have, so that the ones it has are found at full speed."""

    def __init__(self, operation: str) -> None:
        self.operation = operation

    def __get__(self, _codec: Any, cls: type[Codec[Any]]) -> Any:
        raise UnsupportedOperation(lambda: self.explain(cls))

    def explain(self, cls: type[Codec[Any]]) -> str:
        have = ", ".join(_directory(self.operation)) or "no codec that is installed"
        why = " because it is fused: it has no middle stage" if self.operation in LEDGER and cls.fused else ""
        return f"codec {cls.name!r} has no {self.operation}(){why}; these have it: {have}"


class Codec(Generic[T]):
    """One format, bound to one schema.

    A subclass sets the class variables, overrides the operations that its library has, and makes what it needs of the
    schema in ``__init__`` (ending with ``self._seal()``), where a kind that it cannot carry is a `SchemaError`.

    Attributes
    ----------
    schema
        The `zcser.Schema` that the codec was made from.
    options
        See `Options`.
    info
        See `CodecInfo`.
    text
        Whether messages are text: a date stands as text there, and not as a number (`zcser.schema.values`).
    """

    name: ClassVar[str]
    format: ClassVar[str]
    wire: ClassVar[str]
    library: ClassVar[str]
    reads: ClassVar[dict[str, Reads]] = {}
    text: ClassVar[bool] = False
    joinable: ClassVar[bool] = False
    self_delimiting: ClassVar[bool] = False
    trusted_only: ClassVar[bool] = False
    fused: ClassVar[bool] = False
    validates: ClassVar[bool] = True
    keyless: ClassVar[bool] = False

    schema: Any
    options: Options

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        for operation in OPERATIONS:
            if not hasattr(cls, operation):
                setattr(cls, operation, _Unsupported(operation))

    def __init__(self, schema: Any, options: Options) -> None:
        self.schema = schema
        self.options = options

    def _owning_calls(self, fresh: frozenset[str]) -> dict[str, Callable[[Any], Any]]:  # noqa: ARG002 - of codecs that have some
        """Operations on a value that is theirs to change, and of no use where they raise: `zcser.lower` makes such values.

        Parameters
        ----------
        fresh
            The records that are a new dict wherever they stand, of all their fields in the schema's order.
        """
        return {}

    def _is_own(self, operation: str) -> bool:
        """Whether an operation is zcser's own, and not one that a user's subclass overrides."""
        owner = next((cls for cls in type(self).__mro__ if operation in vars(cls)), Codec)
        return owner.__module__.partition(".")[0] == "zcser"

    def _quicken(self, **calls: Callable[..., Any]) -> None:
        """Put quicker forms of operations in the place of zcser's own methods, so that a call has no frame around them."""
        for name, call in calls.items():
            if self._is_own(name):
                setattr(self, name, call)

    def _seal(self) -> None:
        object.__setattr__(self, "_sealed", True)

    def __setattr__(self, name: str, value: Any) -> None:
        if "_sealed" in self.__dict__:
            raise AttributeError(f"a codec is immutable; make another one to change {name!r}")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a codec is immutable; {name!r} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.schema, self.options)

    def __repr__(self) -> str:
        return f"<zcser codec {self.name!r} for {self.schema}>"

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version and implementation of the library below."""
        raise NotImplementedError

    @classmethod
    def operations(cls) -> frozenset[str]:
        """The operations that this codec has."""
        return frozenset(name for name in OPERATIONS if hasattr(cls, name))

    @classmethod
    @functools.cache
    def describe(cls) -> CodecInfo:
        """What the codec is and can do, without a schema."""
        version, implementation = cls.library_version()
        return CodecInfo(
            name=cls.name,
            format=cls.format,
            wire=cls.wire,
            library=cls.library,
            version=version,
            implementation=implementation,
            operations=cls.operations(),
            reads=MappingProxyType(cls.reads),
            joinable=cls.joinable,
            self_delimiting=cls.self_delimiting,
            trusted_only=cls.trusted_only,
            fused=cls.fused,
            validates=cls.validates,
            keyless=cls.keyless,
        )

    @property
    def info(self) -> CodecInfo:
        """See `CodecInfo`."""
        return self.describe()

    def pointer(self, path: Path) -> Pointer:
        """One place in the messages of this codec, found in the schema once, to be read from many messages.

        Parameters
        ----------
        path
            A JSON Pointer (``"/choices/0/text"``) or a tuple of names and indices.

        Returns
        -------
        Pointer
            Call it with a view of this codec, or with a buffer, to have what `zcser.at` finds there.

        Raises
        ------
        SchemaError
            No message of the schema has such a place.
        UnsupportedOperation
            The codec has no views.
        """
        return Pointer(self, *self.schema.along(path))

    if TYPE_CHECKING:
        # Declared for type checkers only: at run time a codec has exactly what its subclass defines.

        def encode(self, value: T) -> bytes:
            """Encode to fresh bytes, the caller's own.

            Raises
            ------
            EncodeError
                The value would not come back as ``normal(schema, value)``; carries the path.
            """

        def encode_into(self, value: T, out: Buffer, offset: int = 0) -> int:
            """Encode into the caller's buffer.

            Parameters
            ----------
            value
                What to encode.
            out
                A writable C-contiguous buffer.
            offset
                Where in `out` to start, in bytes.

            Returns
            -------
            int
                Bytes written.

            Raises
            ------
            EncodeError
                As for `encode`; `BufferTooSmallError` where the room does not suffice. `out` is unchanged.
            """

        def encode_segments(self, value: T) -> list[memoryview]:
            """Encode to a list of buffers, in which big bytes and tensors alias the caller's memory.

            Notes
            -----
            Copies: small parts only. Lifetime: do not change the value's tensors before the segments are sent.
            """

        def encoded_size(self, value: T) -> int:
            """Bytes that `encode` would give, found without encoding."""

        def decode(self, data: Buffer, *, copy: bool = True) -> T:
            """Decode a message to the class that the schema came from.

            Parameters
            ----------
            data
                Any C-contiguous buffer that holds exactly one message.
            copy
                False: tensors are read-only arrays and bytes read-only memoryviews, which alias `data` where
                ``info.reads`` says "alias", and keep it alive.

            Raises
            ------
            DecodeError
                The bytes are not a message of this schema.
            """

        def decode_segments(self, segments: Sequence[Buffer], *, copy: bool = True) -> T:
            """Inverse of `encode_segments`."""

        def view(self, data: Buffer, *, verify: bool = True) -> View:
            """Open a message lazily.

            Parameters
            ----------
            data
                Any C-contiguous buffer that holds exactly one message. It must not change while the view lives.
            verify
                False: trust the bytes. Figures taken so are labelled *unvalidated*.
            """

        def view_segments(self, segments: Sequence[Buffer], *, verify: bool = True) -> View:
            """Open segments lazily."""

        def encode_lines(self, values: Iterable[T]) -> bytes:
            """Encode to one message a line (NDJSON, JSON Lines), each with a line feed behind it."""

        def decode_lines(self, data: Buffer, *, copy: bool = True) -> Iterator[T]:
            """Decode one message a line, one after the other.

            Parameters
            ----------
            data
                Lines end with a line feed, the last one need not; lines of white space are skipped. Bounds on size and
                elements are those of a line.
            copy
                See `decode`.

            Raises
            ------
            DecodeError
                While iterating; `line` and `offset` say where in `data`. A line that is no message ends the iteration.
            """

        def view_lines(self, data: Buffer, *, verify: bool = True) -> Iterator[View]:
            """Open one message a line, each with a view of its own. Otherwise as `decode_lines` and `view`."""

        def patch(self, buffer: Buffer, path: Path, value: Any) -> None:
            """Change one scalar of a message in place.

            Parameters
            ----------
            buffer
                A writable buffer that holds a message.
            path
                To a number, bool or enum.
            value
                What the field is to be.

            Raises
            ------
            EncodeError
                The value does not fit, or there is no such scalar in the message. The buffer is unchanged.
            DecodeError
                What leads to the field is damaged.
            """

        def patcher(self, *paths: Path) -> Callable[..., None]:
            """Compile the paths of `patch`: ``patcher(buffer, *values)`` changes the scalars at all of them, or none."""

        def convert(self, value: T) -> Any:
            """The library's own object for a value, guards included: the first half of `encode`."""

        def dump(self, native: Any) -> bytes:
            """Bytes of the library's own object: the second half of `encode`."""

        def load(self, data: Buffer) -> Any:
            """The library's own object of a message: the first half of `decode`."""

        def restore(self, native: Any) -> T:
            """The value of the library's own object, which may be used up: the second half of `decode`."""
