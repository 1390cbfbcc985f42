"""A fingerprint of a payload's data: whether two results of one name measured the same values.

1. It is of the values' normal forms, types included, by the equality of `zcser.core.fidelity`; but for the order of keys,
   which counts here since codecs are measured on it.
2. It depends on nothing else: the same in every process, Python version and machine.
3. It is cheap: values are taken in order until their encoding reaches `ENOUGH_BYTES`. What comes later in a large payload
   is not looked at; how many values differ always counts.
"""

from __future__ import annotations

import contextlib
import enum
import hashlib
import math
import struct
import sys
from typing import Any

import numpy as np

from zcser.core.fidelity import field_names
from zcser.payloads.base import Payload
from zcser.schema.normal import normal
from zcser.schema.values import LOGICAL_OF, VALUE_TYPES

__all__ = ["ENOUGH_BYTES", "data_fingerprint"]

ENOUGH_BYTES = 2 << 20
_DIGEST_BYTES = 8
_DOUBLE = struct.Struct("<d")


def data_fingerprint(payload: Payload, rotation: int) -> str | None:
    """Sixteen hexadecimal digits for the values that a cell rotates.

    Parameters
    ----------
    payload
        Its values are made in this process.
    rotation
        How many of them a cell rotates at most.

    Returns
    -------
    str or None
        None where a value cannot be made or does not fit the schema; the payload's cells then say why.
    """
    count = min(payload.distinct, rotation)
    digest = hashlib.blake2b(b"%d values" % count, digest_size=_DIGEST_BYTES)
    taken = 0
    try:
        # As in a worker, what the user's function prints is no part of a report.
        with contextlib.redirect_stdout(sys.stderr):
            for number in range(count):
                parts: list[bytes] = []
                _encode(normal(payload.schema, payload.make(number)), parts)
                data = b"".join(parts)
                digest.update(data)
                taken += len(data)
                if taken >= ENOUGH_BYTES:
                    break
    except Exception:  # noqa: BLE001 - the user's function may raise anything
        return None
    return digest.hexdigest()


def _encode(value: Any, out: list[bytes]) -> None:
    """Append an encoding that no other value shares: a tag, a length where one is needed, and the content."""
    kind = type(value)
    if kind is str:
        _sized(b"s", value.encode("utf-8", "surrogatepass"), out)
    elif kind is bytes:
        _sized(b"b", value, out)
    elif kind is int:
        # Hexadecimal: decimal digits of large numbers are slow, and limited.
        out.append(b"i%x;" % value)
    elif kind is float:
        out.append(b"d" + _DOUBLE.pack(math.nan if math.isnan(value) else value))
    elif value is None or kind is bool:
        out.append(b"%a;" % value)
    elif isinstance(value, enum.Enum):
        _sized(b"e", value.name.encode(), out)
    elif isinstance(value, np.ndarray):
        out.append(f"a{value.dtype.name} {value.shape}".encode())
        _sized(b"", value.tobytes(), out)
    else:
        _encode_container(value, out)


def _encoded(value: Any) -> list[bytes]:
    out: list[bytes] = []
    _encode(value, out)
    return out


def _sized(tag: bytes, data: bytes, out: list[bytes]) -> None:
    out += (tag + b"%d:" % len(data), data)


def _encode_container(value: Any, out: list[bytes]) -> None:
    if (names := field_names(value)) is not None:
        # The class, since two of a union may have the same fields.
        _sized(b"r", type(value).__name__.encode(), out)
        for name in names:
            _encode(getattr(value, name), out)
    elif isinstance(value, list | tuple):
        out.append(b"l%d:" % len(value))
        for item in value:
            _encode(item, out)
    elif isinstance(value, dict):
        out.append(b"m%d:" % len(value))
        for key, item in value.items():
            _encode(key, out)
            _encode(item, out)
    elif isinstance(value, set | frozenset):
        out.append(b"u%d:" % len(value))
        out += sorted(b"".join(_encoded(item)) for item in value)
    elif type(value) in LOGICAL_OF:
        name = LOGICAL_OF[type(value)].name
        _sized(b"v" + name.encode(), str(VALUE_TYPES[name].text.lower(value)).encode(), out)
    else:
        raise TypeError(f"no value of a schema is a {type(value).__name__}")
