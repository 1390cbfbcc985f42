"""The body of the Open Inference Protocol (KServe V2), with Triton's binary tensor data extension, in one buffer.

1. Over HTTP a body with binary tensors is a JSON object and then the tensors' bytes, and a header field of HTTP says where
   the one ends: ``Inference-Header-Content-Length``. In one buffer that field stands in front of the body, as HTTP writes
   it: ``Inference-Header-Content-Length: 135``, an empty line (both ended by CR LF), the body. What comes after the empty
   line is what is posted; other fields may stand there too. A buffer that begins with a brace is JSON alone.
2. The binary data are the inputs' (of a response: outputs') in their order, without gaps; each says how many bytes by its
   parameter ``binary_data_size``. Elements are little-endian, in C order; those of BYTES have their length, four bytes, in
   front. The JSON is padded with spaces, so that the data begin at a multiple of 8 from the buffer's start.
3. A tensor with ``data`` in the JSON is read too: its numbers, nested or flat, and for BYTES its strings.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from zcser.core.dtypes import MAX_DIMENSIONS
from zcser.core.errors import DecodeError, TruncatedError

__all__ = ["BYTES", "DATATYPES", "Body", "Slot", "elements_of", "joined", "pack_body", "unpack_body"]

BYTES = "BYTES"

DATATYPES = {
    "bool": "BOOL", "uint8": "UINT8", "uint16": "UINT16", "uint32": "UINT32", "uint64": "UINT64", "int8": "INT8",
    "int16": "INT16", "int32": "INT32", "int64": "INT64", "float16": "FP16", "float32": "FP32", "float64": "FP64",
    "bfloat16": "BF16",
}  # fmt: skip
"""The protocol's name of a dtype."""

_FIELD = b"Inference-Header-Content-Length"
_END = b"\r\n\r\n"
_MOST_FIELDS = 4096
"""Bytes of header fields that are looked through for the empty line."""
_LENGTH = re.compile(
    rb"^inference-header-content-length[ \t]*:[ \t]*([0-9]{1,19})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE
)
_SIZE = struct.Struct("<I")
_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class Slot(NamedTuple):
    """A tensor of a body.

    Attributes
    ----------
    datatype, shape
        As the body has them.
    number
        Of its binary data; None where they stand in the JSON.
    data
        From the JSON.
    """

    datatype: str
    shape: list[int]
    number: int | None
    data: Any


class Body(NamedTuple):
    """A body that was read, less its binary data.

    Attributes
    ----------
    document
        The JSON object, without its tensors.
    slots
        The tensors by name, in their order.
    """

    document: dict[str, Any]
    slots: dict[str, Slot]


def pack_body(document: Mapping[str, Any]) -> bytes:
    """What stands before the binary data: the header field, and the JSON."""
    text = _ENCODE(document).encode()
    head = b"%s: %d%s" % (_FIELD, len(text), _END)
    for _ in range(2):  # padding may make the length a digit longer, and then be another
        padding = -(len(head) + len(text)) % 8
        head = b"%s: %d%s" % (_FIELD, len(text) + padding, _END)
    padding = -(len(head) + len(text)) % 8
    head = b"%s: %d%s" % (_FIELD, len(text) + padding, _END)
    return b"".join((head, text, b" " * padding))


def unpack_body(
    data: memoryview, tensors: str, text_of_json: Callable[[memoryview], Any], codec: str
) -> tuple[Body, int, list[int]]:
    """Read and check what stands before the binary data.

    Parameters
    ----------
    data
        A message, or its beginning that holds the JSON.
    tensors
        ``"inputs"`` or ``"outputs"``.
    text_of_json
        The reader of JSON text.
    codec
        Name that an error carries.

    Returns
    -------
    tuple
        The body; the offset at which the data begin; the bytes of each tensor's.

    Raises
    ------
    DecodeError
        It is no body of the protocol.
    """
    start, end = _json_span(data, codec)
    try:
        document = text_of_json(data[start:end])
    except (ValueError, RecursionError) as error:
        raise DecodeError(f"the JSON: {error}", codec=codec, offset=start) from None
    if not isinstance(document, dict) or not isinstance(document.get(tensors), list):
        raise DecodeError(f"an object with a list of {tensors} is needed", codec=codec, offset=start)
    slots: dict[str, Slot] = {}
    sizes: list[int] = []
    for tensor in document.pop(tensors):
        name, slot = _slot(tensor, len(sizes), sizes, codec)
        if name in slots:
            raise DecodeError(f"two of the {tensors} have the name {name!a}", codec=codec, offset=start)
        slots[name] = slot
    return Body(document, slots), end, sizes


def _json_span(data: memoryview, codec: str) -> tuple[int, int]:
    if bytes(data[:1]) == b"{":
        return 0, len(data)
    head = bytes(data[:_MOST_FIELDS])
    end = head.find(_END)
    if end < 0:
        kind = TruncatedError if _FIELD.startswith(head[: len(_FIELD)]) and len(data) < _MOST_FIELDS else DecodeError
        raise kind(f"neither JSON nor a field {_FIELD.decode()} and an empty line begin it", codec=codec, offset=0)
    found = _LENGTH.findall(head[:end])
    if len(found) != 1:
        raise DecodeError(f"{len(found)} fields {_FIELD.decode()} stand before it", codec=codec, offset=0)
    start = end + len(_END)
    stop = start + int(found[0])
    if stop > len(data):
        raise TruncatedError(f"the JSON ends at {stop}", codec=codec, offset=len(data))
    return start, stop


def _slot(tensor: Any, number: int, sizes: list[int], codec: str) -> tuple[str, Slot]:
    if not isinstance(tensor, dict) or not isinstance(tensor.get("name"), str):
        raise DecodeError("a tensor is an object with a name", codec=codec)
    name, datatype, shape = tensor["name"], tensor.get("datatype"), tensor.get("shape")
    if not isinstance(datatype, str) or datatype not in {*DATATYPES.values(), BYTES}:
        raise DecodeError(f"tensor {name!a} has an unknown datatype", codec=codec)
    if (
        not isinstance(shape, list)
        or len(shape) > MAX_DIMENSIONS
        or any(type(extent) is not int or not 0 <= extent < 1 << 63 for extent in shape)
    ):
        raise DecodeError(f"tensor {name!a} has a shape that is none", codec=codec)
    parameters = tensor.get("parameters", {})
    size = parameters.get("binary_data_size") if isinstance(parameters, dict) else None
    if size is None:
        if not isinstance(tensor.get("data"), list):
            raise DecodeError(f"tensor {name!a} has neither data nor a binary_data_size", codec=codec)
        return name, Slot(datatype, shape, None, tensor["data"])
    if type(size) is not int or not 0 <= size < 1 << 63 or "data" in tensor:
        raise DecodeError(f"tensor {name!a} has a binary_data_size that is none, or data besides", codec=codec)
    sizes.append(size)
    return name, Slot(datatype, shape, number, None)


def joined(elements: Sequence[bytes]) -> bytes:
    """The binary data of a BYTES tensor."""
    return b"".join(part for element in elements for part in (_SIZE.pack(len(element)), element))


def elements_of(data: memoryview, count: int) -> list[bytes]:
    """The elements of a BYTES tensor.

    Raises
    ------
    ValueError
        The data do not hold exactly so many.
    """
    found = [bytes(element) for element in _elements(data)]
    if len(found) != count:
        raise ValueError(f"{len(found)} elements are not the {count} of the shape")
    return found


def _elements(data: memoryview) -> Iterator[memoryview]:
    at = 0
    while at < len(data):
        if len(data) - at < _SIZE.size:
            raise ValueError("the data end inside a length")
        start = at + _SIZE.size
        at = start + _SIZE.unpack_from(data, at)[0]
        if at > len(data):
            raise ValueError("the data end inside an element")
        yield data[start:at]


def flat(data: list[Any], shape: Sequence[int]) -> list[Any]:
    """The elements of nested lists.

    Raises
    ------
    ValueError
        There are more or fewer than the shape holds.
    """
    found = data
    while found and isinstance(found[0], list):
        if not all(isinstance(part, list) for part in found):
            raise ValueError("numbers and lists are mixed")
        found = [item for part in found for item in part]
    if len(found) != math.prod(shape):
        raise ValueError(f"{len(found)} elements are not those of shape {list(shape)[:8]}")
    return found
