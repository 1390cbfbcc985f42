"""Tensors in files: ``.npy``, ``.npz`` and ``.safetensors``, each file a message whose fields are its tensors.

1. A field has the dtype of its tensors, where it is one, and any shape: what one file shows says little of the next.
2. Arrays of objects are pickles, which are never loaded; what else has no fixed meaning (text, structs, void) is refused too,
   with the tensor's name.
3. The size that a header declares is held against the bytes that are there before an array is made.
"""

from __future__ import annotations

import io
import math
import warnings
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from zcser.core.dtypes import MAX_DIMENSIONS, dtype_name, dtype_named, refusal
from zcser.core.errors import CodecUnavailableError
from zcser.payloads.base import PayloadError
from zcser.payloads.files import MAX_BYTES
from zcser.payloads.sources.base import Message, Source, content, refuse
from zcser.schema.model import Field, Record, Ref, Schema, Tensor

__all__ = ["SUFFIXES", "TensorFiles"]

SUFFIXES = (".npy", ".npz", ".safetensors")

_Array = npt.NDArray[Any]

_SAFETENSORS = {
    "BOOL": "bool", "U8": "uint8", "U16": "uint16", "U32": "uint32", "U64": "uint64", "I8": "int8", "I16": "int16",
    "I32": "int32", "I64": "int64", "F16": "float16", "F32": "float32", "F64": "float64", "BF16": "bfloat16",
    "C64": "complex64", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0fnu",
}  # fmt: skip
"""Of https://github.com/huggingface/safetensors, ``tensor.rs``; its types below a byte are packed, and are refused."""


class TensorFiles(Source):
    """One message a file."""

    def messages(self) -> Iterator[Message]:
        """See `Source`."""
        return map(self._message, self.files)

    def pick(self, numbers: Collection[int]) -> Iterator[Message]:
        """See `Source`."""
        return (self._message(self.files[number]) for number in sorted(numbers))

    def schema(self, read: Callable[[], Iterable[dict[str, _Array]]]) -> Schema:
        """See `Source`."""
        dtypes: dict[str, set[str | None]] = {}
        seen: dict[str, int] = {}
        files = 0
        for value in read():
            files += 1
            for name, array in value.items():
                dtypes.setdefault(name, set()).add(dtype_name(array.dtype))
                seen[name] = seen.get(name, 0) + 1
        fields = tuple(
            Field(name, Tensor(found.pop() if len(found) == 1 else None), number, required=seen[name] == files)
            for number, (name, found) in enumerate(dtypes.items(), 1)
        )
        note = "the root: tensors may have any shape; header, which needs fixed ones, is for a class of your own"
        return Schema(Ref("Tensors"), (Record("Tensors", fields),), (note,))

    def _message(self, file: str) -> Message:
        data = content(file)
        match Path(file).suffix.lower():
            case ".npy":
                value = {"array": _npy(file, io.BytesIO(data), len(data))}
            case ".npz":
                value = _npz(file, data)
            case _:
                value = _safetensors(file, data)
        for name, array in value.items():
            if dtype_name(array.dtype) is None:
                refuse(file, f"tensor {name!r}: {refusal(array.dtype)}")
        return Message(self.place(file), len(data), zlib.crc32(data), tuple(value), value)


def _npz(file: str, data: bytes) -> dict[str, _Array]:
    value: dict[str, _Array] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            total = sum(member.file_size for member in members)
            if total > MAX_BYTES:
                refuse(file, f"{total:,} bytes unpacked are more than {MAX_BYTES:,}; take a smaller message")
            for member in members:
                name = member.filename.removesuffix(".npy")
                with archive.open(member) as stream:
                    value[name] = _npy(file, stream, member.file_size, name)
    except PayloadError:
        raise
    except Exception as error:  # noqa: BLE001 - zipfile has many for bytes that are damaged
        refuse(file, f"not an .npz file: {error}")
    return value


def _npy(file: str, stream: Any, size: int, name: str = "") -> _Array:
    place = f"tensor {name!r}" if name else ""
    try:
        shape, fortran, dtype = _header(stream)
    except Exception as error:  # noqa: BLE001 - numpy tokenises the header, and evaluates it as a literal
        refuse(file, f"not .npy: {error}", place)
    if dtype.hasobject:
        refuse(file, "an array of objects is a pickle, which may run code and is not loaded; store numbers", place)
    if dtype_name(dtype) is None:
        refuse(file, refusal(dtype), place)
    if len(shape) > MAX_DIMENSIONS or min(shape, default=0) < 0:
        refuse(file, f"its shape has {len(shape)} dimensions, or a negative one", place)
    needed, left = math.prod(shape) * dtype.itemsize, size - stream.tell()
    if needed != left:
        refuse(file, f"its shape {list(shape)} of {dtype} takes {needed:,} bytes, and {left:,} are there", place)
    return np.frombuffer(stream.read(left), dtype).reshape(shape, order="F" if fortran else "C")


def _header(stream: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and dtype. Raises `ValueError` and others where it is none."""
    version = np.lib.format.read_magic(stream)
    with warnings.catch_warnings():
        # What Python 2 wrote reads as well, and numpy warns that it reads slower.
        warnings.simplefilter("ignore", UserWarning)
        if version == (1, 0):
            return np.lib.format.read_array_header_1_0(stream)
        if version == (2, 0):
            return np.lib.format.read_array_header_2_0(stream)
    raise ValueError(f"a header of version {version[0]}, which is for structs alone")


def _safetensors(file: str, data: bytes) -> dict[str, _Array]:
    try:
        import safetensors

        deserialize: Any = safetensors.deserialize
    except ImportError as error:
        raise CodecUnavailableError(
            f"{file}: .safetensors files need a library that is not installed ({error}): pip install 'zcser[data]'"
        ) from error
    try:
        found = deserialize(data)
    except safetensors.SafetensorError as error:
        refuse(file, f"not .safetensors: {error}")
    value: dict[str, _Array] = {}
    # The library gives them in no order; that of their names is the same each time.
    for name, item in sorted(found, key=lambda pair: str(pair[0])):
        if item["dtype"] not in _SAFETENSORS:
            refuse(file, f"its dtype {item['dtype']} cannot be carried", f"tensor {name!r}")
        try:
            dtype = dtype_named(_SAFETENSORS[item["dtype"]])
        except LookupError as error:
            refuse(file, str(error), f"tensor {name!r}")
        value[name] = np.frombuffer(item["data"], dtype).reshape(item["shape"])
    return value
