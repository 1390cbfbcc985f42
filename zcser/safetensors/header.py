"""The safetensors format: a length, a JSON header, and the tensors' bytes.

From the format's README and the checks of the reference library (safetensors/src/tensor.rs):

1. Eight bytes, little-endian, hold the header's size; then the header, a JSON object, padded with spaces so that the data
   begin at a multiple of 8; then the data.
2. The header maps a tensor's name to its dtype, shape and ``data_offsets``, which count from where the data begin; and
   ``__metadata__``, where there is one, from text to text.
3. The data have no gaps, no overlaps and no bytes that belong to no tensor. They are written in the order of the reference
   library, widest dtypes first, so that each is aligned where the data are.
4. A header has 100 MB at the most. A key that stands in it twice is refused, which the reference library does not do.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from zcser.core.dtypes import MAX_DIMENSIONS
from zcser.core.errors import DecodeError, TruncatedError

__all__ = ["DTYPES", "METADATA", "Entry", "pack_header", "unpack_header"]

METADATA = "__metadata__"

_MOST = 100_000_000
_SIZE = struct.Struct("<Q")

_BITS = {
    "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
    "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64,
}  # fmt: skip
"""Of one element, in the order of the reference library."""

_RANK = {name: rank for rank, name in enumerate(_BITS)}

DTYPES = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "float8_e5m2": "F8_E5M2", "float8_e4m3fn": "F8_E4M3",
    "float8_e8m0fnu": "F8_E8M0", "int16": "I16", "uint16": "U16", "float16": "F16", "bfloat16": "BF16", "int32": "I32",
    "uint32": "U32", "float32": "F32", "complex64": "C64", "float64": "F64", "int64": "I64", "uint64": "U64",
}  # fmt: skip
"""The format's name of a dtype. It packs elements narrower than a byte, which zcser's table does not."""


class Entry(NamedTuple):
    """One tensor of a header.

    Attributes
    ----------
    dtype
        The format's name.
    shape
        Its extents.
    start, stop
        Where its bytes lie, counted from where the data begin.
    """

    dtype: str
    shape: Sequence[int]
    start: int
    stop: int


def order(dtype: str, alignment: int) -> int:
    """The place of a tensor among others: the higher, the further in front."""
    return max(_RANK[dtype], _RANK["C64"] if alignment >= 8 else 0)


def pack_header(entries: Mapping[str, Entry], metadata: Mapping[str, str]) -> bytes:
    """The bytes before the data.

    Parameters
    ----------
    entries
        By name, in the order of their data.
    metadata
        Left out where it is empty.

    Raises
    ------
    ValueError
        The header is larger than readers accept.
    """
    document: dict[str, Any] = {METADATA: dict(metadata)} if metadata else {}
    for name, (dtype, shape, start, stop) in entries.items():
        document[name] = {"dtype": dtype, "shape": shape, "data_offsets": (start, stop)}
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > _MOST:
        raise ValueError(f"a header of {len(text)} bytes is more than the {_MOST} that readers of the format accept")
    return _SIZE.pack(len(text)) + text


def unpack_header(data: memoryview, codec: str) -> tuple[dict[str, Entry], dict[str, str], int]:
    """Read and check a header.

    Parameters
    ----------
    data
        A message, or its beginning that holds the header.
    codec
        Name that an error carries.

    Returns
    -------
    tuple
        Entries by name, in the order of their data; the metadata; the offset at which the data begin. That `data` holds
        all of them is for the caller to check: they end where the last entry does.

    Raises
    ------
    DecodeError
        The header breaks a rule of the format.
    """
    if len(data) < _SIZE.size:
        raise TruncatedError("shorter than the size of a header", codec=codec, offset=len(data))
    (size,) = _SIZE.unpack_from(data)
    start = _SIZE.size + size
    if size > _MOST:
        raise DecodeError(f"a header of {size} bytes is more than {_MOST}", codec=codec, offset=0)
    if start > len(data):
        raise TruncatedError(f"the message ends inside its header of {size} bytes", codec=codec, offset=len(data))
    if size == 0 or data[_SIZE.size] != ord("{"):
        raise DecodeError("the header does not begin with a brace", codec=codec, offset=_SIZE.size)
    try:
        document = _DECODER.decode(str(data[_SIZE.size : start], "utf-8"))
        metadata = _metadata(document.pop(METADATA, {}))
        entries = {name: _entry(name, entry) for name, entry in document.items()}
        entries = dict(sorted(entries.items(), key=lambda pair: pair[1][2:]))
        _check_cover(entries)
    except (ValueError, RecursionError) as error:
        raise DecodeError(f"the header: {error}", codec=codec, offset=_SIZE.size) from None
    return entries, metadata, start


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"{twice!a} stands there twice")
    return found


def _no_constant(token: str) -> NoReturn:
    raise ValueError(f"{token} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)


def _metadata(found: Any) -> dict[str, str]:
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise ValueError(f"{METADATA} must map text to text")
    return found


def _entry(name: str, entry: Any) -> Entry:
    if not isinstance(entry, dict) or not entry.keys() >= {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"tensor {name!a} has no dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _BITS:
        raise ValueError(f"tensor {name!a} has an unknown dtype")
    if not _are_sizes(shape) or len(shape) > MAX_DIMENSIONS:
        raise ValueError(f"tensor {name!a} has a shape that is none")
    if not _are_sizes(offsets) or len(offsets) != 2:
        raise ValueError(f"tensor {name!a} has data_offsets that are none")
    bits = math.prod(shape) * _BITS[dtype]
    if offsets[1] - offsets[0] != bits // 8 or bits % 8:
        raise ValueError(f"tensor {name!a} of {dtype} {shape[:8]} does not take {offsets[1] - offsets[0]} bytes")
    return Entry(dtype, shape, *offsets)


def _are_sizes(found: Any) -> bool:
    return isinstance(found, list) and all(type(n) is int and 0 <= n < 1 << 63 for n in found)


def _check_cover(entries: Mapping[str, Entry]) -> None:
    end = 0
    for name, entry in entries.items():
        if entry.start != end:
            raise ValueError(f"tensor {name!a} begins at {entry.start}, and the one before it ends at {end}")
        end = entry.stop
