"""FlatBuffers by zcser's own engine: verified, aligned, and made from the schema at run time.

1. The engine is C where it was built, else Python (``zcser.backend``); both write the same bytes and accept the same
   messages. ``zcser.flat.layout`` says how a schema stands in tables, ``zcser.flat.program`` which bytes are written. A
   schema from .fbs or .bfbs (`zcser.load_fbs`) stands as that says.
2. Reading checks every offset, whether the message was verified or not.
3. A message ends with its last byte, so that one that was cut short is always refused. Those of other writers may end
   with zeros, which can be cut off unnoticed.
4. Segments are never joined: what is read from them aliases them as it would alias one buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

from zcser.core.buffers import Buffer
from zcser.core.codec import Codec, Reads
from zcser.core.errors import EncodeError, SchemaError
from zcser.core.options import Options
from zcser.core.paths import Path, parse_path
from zcser.core.view import View
from zcser.flat.bfbs import normaliser_for, program_for
from zcser.flat.engine import make_engine
from zcser.flat.growth import reserved_size
from zcser.native import backend
from zcser.schema.depth import refuse_deep
from zcser.schema.model import Schema

__all__ = ["FlatbuffersCodec", "Scratch"]

T = TypeVar("T")


class Scratch(NamedTuple):
    """Memory that messages are put together in: its size in bytes, and how often it grew."""

    size: int
    growths: int


class FlatbuffersCodec(Codec[T]):
    """zcser's FlatBuffers engine.

    Notes
    -----
    Copies: `encode` and `encode_into` copy each tensor once, into the message; `encode_segments` copies none of 4096 bytes
    and more. `decode` copies what it gives; with ``copy=False``, and in views, bytes and tensors alias the message, but for
    a tensor whose address does not fit its dtype, which is copied. Lifetime: what aliases keeps the buffer alive.

    Alignment: a tensor's data begins at a multiple of 64 bytes from the start of the message, so that its address is
    aligned where the buffer's is. In a segment of its own its address is that of the segment. `encode_into` needs an address
    that is a multiple of 8.
    """

    name = "flatbuffers"
    format = "FlatBuffers"
    wire = "flatbuffers"
    library = "zcser"
    keyless = True
    reads: ClassVar[dict[str, Reads]] = {"str": "parse", "bytes": "alias", "tensor": "alias", "list": "parse"}
    joinable = True
    self_delimiting = True
    fused = True

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        try:
            program = program_for(schema)
        except SchemaError as error:
            raise SchemaError(error.reason, path=error.path, codec=self.name) from None
        refuse_deep(schema, options.limits, self.name)
        self._normal = normaliser_for(schema, options, codec=self.name)
        self._engine = make_engine(
            program, options, codec=self.name, normal=self._normal if options.guard == "on" else self._refuse
        )
        # The engine's own methods, so that a call has no frame of Python's between the caller and C.
        for operation in (
            "encode", "encode_into", "encode_segments", "encoded_size", "decode", "decode_segments"
        ):  # fmt: skip
            self._quicken(**{operation: getattr(self._engine, operation)})
        if options.guard == "on":
            self._quicken(view=self._engine.view, view_segments=self._engine.view_segments)
        self._seal()

    def _refuse(self, value: Any) -> Any:
        raise EncodeError(
            f"a {type(value).__name__} that does not fit the schema as it is; guard='on' says where", codec=self.name
        )

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of zcser, and which of its engines runs."""
        from importlib.metadata import version  # which takes 20 ms to import

        return version("zcser"), "C extension" if backend == "native" else "pure Python"

    def encode(self, value: T) -> bytes:
        """See `Codec.encode`."""
        return self._engine.encode(value)

    def encode_into(self, value: T, out: Buffer, offset: int = 0) -> int:
        """See `Codec.encode_into`."""
        return self._engine.encode_into(value, out, offset)

    def encode_segments(self, value: T) -> list[memoryview]:
        """See `Codec.encode_segments`.

        Bytes, tensors, nested messages, and what else the tail of a message holds, are segments that alias the value where
        their data have 4096 bytes and more (nested messages are fresh). All segments are read-only, and together the bytes
        of `encode`.
        """
        return self._engine.encode_segments(value)

    def patch(self, buffer: Buffer, path: Path, value: Any) -> None:
        """Change one scalar of a message in place.

        Parameters
        ----------
        buffer
            A writable buffer that holds a message, from its first byte on.
        path
            To a number, bool or enum: a JSON Pointer (``"/usage/total_tokens"``) or a tuple of names and indices. A union
            of a .fbs schema is entered by the name of its option.
        value
            What the field is to be.

        Raises
        ------
        EncodeError
            The value does not fit, the path leads to no scalar, or the message does not hold the field (an optional one
            that is None has no bytes to change). The buffer is unchanged.
        DecodeError
            What leads to the field is damaged.

        Notes
        -----
        Only the steps to the field are checked, not the whole message. Copies: none.
        """
        self._engine.patch(buffer, parse_path(path), value)

    def patcher(self, *paths: Path) -> Callable[..., None]:
        """Compile the paths of scalars that are changed in message after message, as in a template of a streamed answer.

        Parameters
        ----------
        *paths
            What `patch` takes.

        Returns
        -------
        callable
            ``patcher(buffer, *values)`` changes the scalar at each path to the value at its position: all of them, or none
            where one is refused.

        Raises
        ------
        ValueError
            A path is a pointer that does not start with ``/``. Whether it leads to a scalar shows with a message: the
            callable raises what `patch` does.

        Notes
        -----
        As of `patch`: copies none, and only the steps to the fields are checked. Scalars of the message's own record are
        found fastest. Lifetime: the callable keeps the engine alive, and no buffer; threads may share it.
        """
        return self._engine.patcher([parse_path(path) for path in paths])

    def reserve(self, histogram: Mapping[int, int], *, quantile: float = 0.99) -> int:
        """Have scratch memory ready for messages of known sizes.

        Parameters
        ----------
        histogram
            Messages by size in bytes, tensors and bytes of 256 and more left out: those are never in scratch memory.
        quantile
            Share of the messages that is to fit without a growth.

        Returns
        -------
        int
            Bytes of scratch memory there are now.

        Raises
        ------
        ValueError
            See `zcser.flat.growth.reserved_size`.
        """
        self._engine.reserve(reserved_size(histogram, quantile))
        return self._engine.scratch_size

    @property
    def scratch(self) -> Scratch:
        """Scratch memory at present, and how often it had to grow: by doubling, for one message larger than all before."""
        return Scratch(self._engine.scratch_size, self._engine.growths)

    def encoded_size(self, value: T) -> int:
        """See `Codec.encoded_size`. All but the tail, which tensors and big bytes make up, is written to scratch memory."""
        return self._engine.encoded_size(value)

    def decode(self, data: Buffer, *, copy: bool = True) -> T:
        """See `Codec.decode`."""
        value: T = self._engine.decode(data, copy=copy)
        return value

    def view(self, data: Buffer, *, verify: bool = True) -> View:
        """See `Codec.view`. With the guard off nothing is verified, whatever `verify` says."""
        view: View = self._engine.view(data, verify=verify and self.options.guard == "on")
        return view

    def decode_segments(self, segments: Sequence[Buffer], *, copy: bool = True) -> T:
        """See `Codec.decode_segments`.

        Parameters
        ----------
        segments
            A list or tuple of C-contiguous buffers, which together are one message. They may be cut as `encode_segments`
            cuts them, or otherwise: every vector, string, tensor and nested message has its length in one segment, and its
            data in that one or the next, whole; all else is in the first segment.
        copy
            See `Codec.decode`.

        Raises
        ------
        DecodeError
            As for `decode`; also where segments are missing, cut, or cross a vector, and where nothing in the message leads
            to one of them. The latter is taken where the message has a field that the schema does not have, whose the
            segment may be. Offsets of errors are counted from the start of the first segment, through all of them.

        Notes
        -----
        Copies: as those of `decode`; segments are never joined. Lifetime: what aliases a segment keeps it alive.
        """
        value: T = self._engine.decode_segments(segments, copy=copy)
        return value

    def view_segments(self, segments: Sequence[Buffer], *, verify: bool = True) -> View:
        """See `Codec.view_segments`, and `decode_segments` for what is taken. A view keeps all segments alive."""
        view: View = self._engine.view_segments(segments, verify=verify and self.options.guard == "on")
        return view
