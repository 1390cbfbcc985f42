"""`RecordLayout`: records of fixed layout over any buffer, at any offset.

1. A layout is what a C struct, a ``struct`` format or a numpy dtype says: offsets, byte orders and gaps are kept, and
   nothing in the bytes says what they are. Any bytes of the right size are a record.
2. A record that does not lie in the buffer is refused, with the field that does not; a value that does not fit its field
   is refused, and the buffer unchanged. A bool is False where its byte is 0, else True.
3. Records have no alignment to keep: they may stand at any address.
4. Two engines do the same, one in C and one in Python: see `zcser.native`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from zcser.core.buffers import Buffer, writable_view
from zcser.core.errors import BufferTooSmallError
from zcser.core.view import RecordView
from zcser.header.records.engine import make_engine
from zcser.header.records.from_class import struct_of_class
from zcser.header.records.from_ctypes import struct_of_ctypes
from zcser.header.records.from_dtype import struct_of_dtype
from zcser.header.records.from_struct import struct_of_format
from zcser.header.records.model import ByteOrder, Field, Struct
from zcser.header.records.place import places_of
from zcser.header.records.write import packer_of

__all__ = ["RecordLayout"]


class RecordLayout:
    """A fixed layout; make it once, share it between threads.

    Use one of `from_class`, `from_struct`, `from_dtype` and `from_ctypes`.

    Attributes
    ----------
    name
        The record's name, for messages.
    fields
        `Field` s by name, in the order of the values: each has its `offset` and its `part`.
    size
        Bytes of a record, its padding included.
    alignment
        What C would have its address be a multiple of; nothing here needs it.
    dtype
        numpy's form of a record, with the same offsets and size. Bytes are ``V``, which keeps NULs at the end.
    """

    def __init__(self, record: Struct) -> None:
        self._record = record
        self.name: str = record.name
        self.fields: dict[str, Field] = {field.name: field for field in record.fields}
        self.size: int = record.size
        self.alignment: int = record.alignment
        self.dtype: np.dtype[Any] = record.dtype
        self._pack = packer_of(record)
        engine = make_engine(record)
        # The engine's own, without a call of Python's between.
        self.unpack_from = engine.unpack_from  # type: ignore[method-assign]
        self.view = engine.view  # type: ignore[method-assign]

    @classmethod
    def from_class(cls, source: type, *, byteorder: ByteOrder = "little", packed: bool = False) -> RecordLayout:
        """Lay out the fields of a dataclass or a NamedTuple.

        Parameters
        ----------
        source
            Its annotations may be ``bool``; the widths of `zcser.schema.annotations` (``UInt16``), of which ``int`` is
            ``Int64`` and ``float`` ``Float64``; scalar types of numpy (``np.float16``, also in ``Annotated[float,
            np.float16]``); a dtype in ``Annotated`` (with a byte order of its own); ``Annotated[bytes, Bytes(16)]``;
            ``tuple[T, T]``, ``Annotated[tuple[T, ...], Length(4)]`` and ``Annotated[list[T], Length(4)]``;
            ``Annotated[np.ndarray, Tensor("float32", (2, 3))]``; another such class.
        byteorder
            "little" or "big".
        packed
            Whether fields follow one another without gaps, instead of in C's natural alignment.

        Raises
        ------
        SchemaError
            A field has no fixed size; the error has its path.
        """
        return cls(struct_of_class(source, byteorder=byteorder, packed=packed))

    @classmethod
    def from_struct(cls, format_: str, names: str | Sequence[str], *, name: str = "Record") -> RecordLayout:
        """Name the fields of a format of ``struct``.

        Parameters
        ----------
        format_
            As ``struct.Struct`` takes it; byte order, sizes and alignment are those of its first character. An entry is
            a field: ``4I`` is one array, ``4s`` is bytes.
        names
            One for each entry but ``x``, in a list or a string. Entries with a name that begins with ``_`` are padding.
        name
            Of the record.

        Raises
        ------
        SchemaError
            The format is none, or the names do not go with it.
        """
        return cls(struct_of_format(format_, names, name=name))

    @classmethod
    def from_dtype(cls, dtype: npt.DTypeLike, *, name: str = "Record") -> RecordLayout:
        """Take over a structured dtype of numpy.

        Parameters
        ----------
        dtype
            Structured; its fields numbers, bools, ``S``, ``V``, sub-arrays and structures, without overlap. Fields with a
            name that begins with ``_`` are padding.
        name
            Of the record.

        Raises
        ------
        SchemaError
            A field has no form in a record; the error has its path.
        """
        return cls(struct_of_dtype(np.dtype(dtype), name=name))

    @classmethod
    def from_ctypes(cls, source: type[ctypes.Structure]) -> RecordLayout:
        """Take over a Structure of ctypes, of either byte order.

        Parameters
        ----------
        source
            Without bit fields, unions and pointers. Fields with a name that begins with ``_`` are padding. ``c_char * n``
            is bytes of exactly that size.

        Raises
        ------
        SchemaError
            A field has no form in a record; the error has its path.
        """
        return cls(struct_of_ctypes(source))

    def unpack_from(self, buffer: Buffer, offset: int = 0) -> Any:
        """Read a whole record.

        Parameters
        ----------
        buffer
            Any C-contiguous buffer.
        offset
            Of the record, in bytes.

        Returns
        -------
        Any
            A namedtuple of the fields, or an object of the class that the layout was made from. Numbers are Python's,
            arrays tuples (or what the class says), records inside are as the outer one.

        Raises
        ------
        DecodeError
            `buffer` is no contiguous buffer, `offset` is negative, or the class refuses the fields.
        TruncatedError
            The record goes past the end of the buffer.

        Notes
        -----
        Copies: everything. Lifetime: the value does not depend on the buffer.
        """
        raise NotImplementedError  # of the engine, set when the layout is made

    def pack(self, value: Any) -> bytes:
        """Write a whole record; padding is zeros.

        Parameters
        ----------
        value
            What `unpack_from` gives: an object of the layout's class, or a tuple of the fields where it has none.

        Raises
        ------
        EncodeError
            A field does not fit; the error has its path. Nothing wraps, and nothing is cut or padded.
        """
        return self._pack(value)

    def pack_into(self, buffer: Buffer, offset: int, value: Any) -> None:
        """Write a whole record into a buffer, in the order of ``struct``'s arguments.

        Raises
        ------
        EncodeError
            As `pack`; or the buffer is read-only or not contiguous, or `offset` lies outside of it.
        BufferTooSmallError
            The record would go past the end.

        Notes
        -----
        The buffer is unchanged where it raises.
        """
        data = self._pack(value)
        room = writable_view(buffer, offset)
        if room.nbytes < self.size:
            raise BufferTooSmallError(self.size, room.nbytes)
        room[: self.size] = data

    def view(self, buffer: Buffer, offset: int = 0) -> RecordView:
        """Open a record, to read and write its fields one by one.

        Parameters
        ----------
        buffer
            Any C-contiguous buffer.
        offset
            Of the record, in bytes.

        Returns
        -------
        RecordView
            ``view.field`` and ``view["field"]`` read a field at its place: numbers by value, bytes as a read-only
            memoryview, arrays as numpy arrays (structured, where the items are records), a record inside as a view.
            ``view.field = value`` writes it in place, if the buffer is writable; else it is an `EncodeError`, as a value
            that does not fit is. `zcser.to_value`, `zcser.at` and `zcser.release` take it.

        Raises
        ------
        DecodeError
            `buffer` is no contiguous buffer, or `offset` is negative.
        TruncatedError
            The record goes past the end of the buffer.

        Notes
        -----
        Copies: none. Lifetime: a view holds the buffer, so that a bytearray is not resized nor a mapping closed (both
        say BufferError) before the view is gone or was released with `zcser.release`. Arrays and memoryviews that were
        read from it hold the buffer by themselves, and are writable where it is, memoryviews excepted.
        """
        raise NotImplementedError  # of the engine, set when the layout is made

    def array(self, buffer: Buffer, offset: int = 0, count: int | None = None) -> npt.NDArray[Any]:
        """See a row of records as a structured array of numpy.

        Parameters
        ----------
        buffer
            Any C-contiguous buffer.
        offset
            Of the first record, in bytes.
        count
            Records; None is all that follow, which the rest of the buffer then has to be made of exactly.

        Returns
        -------
        ndarray
            Shape ``(count,)``, the layout's `dtype`. Writable where the buffer is; numpy's own rules apply to writing.

        Raises
        ------
        DecodeError
            `buffer` is no contiguous buffer, `offset` or `count` negative.
        TruncatedError
            A record goes past the end of the buffer; the error names its number and field.

        Notes
        -----
        Copies: none. Lifetime: the array holds the buffer, as a view does.
        """
        memory, at, found = places_of(self._record, buffer, offset, count)
        if found == 0:
            return np.empty(0, self.dtype)
        return np.frombuffer(memory, self.dtype, found, at)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._record,)

    def __repr__(self) -> str:
        return f"<zcser record layout {self.name!r}: {len(self.fields)} fields, {self.size} bytes>"
