"""Leaves that a tree cannot hold as they are: bytes as text, floats that were written as integers, keys that are no text.

Writers take normal values. Readers take whatever the wire gave, and raise `BadTree` with the reason.
"""

from __future__ import annotations

import binascii
import struct
from collections.abc import Callable
from typing import Any

from zcser.schema.model import Bool, Int

__all__ = [
    "BadTree",
    "RoundedIntError",
    "bytes_of_text",
    "float_of",
    "floats_of",
    "is_text",
    "key_reader",
    "round_float32",
    "text_key",
    "text_of_bytes",
]

_FLOAT = struct.Struct("<f")


class BadTree(Exception):  # noqa: N818 - never leaves this floor
    """A tree does not fit the schema; turned into `DecodeError` with the path by `zcser.tree.explain`."""


class RoundedIntError(Exception):
    """A float may stand for an integer that the library has rounded; the codec reads the text again, exactly."""


def text_of_bytes(data: bytes | memoryview) -> str:
    """Base64 of bytes."""
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def bytes_of_text(text: Any) -> bytes:
    """Bytes of base64."""
    if text.__class__ is not str:
        raise BadTree(f"base64 text is needed, not {type(text).__name__}")
    if len(text) % 4:
        # Some versions of Python take, in strict_mode too, more padding than is due.
        raise BadTree(f"not base64: {len(text)} characters are no multiple of 4")
    try:
        return binascii.a2b_base64(text, strict_mode=True) if text else b""
    except ValueError as error:
        raise BadTree(f"not base64: {error}") from None


def is_text(text: str) -> bool:
    """Whether a str has a UTF-8 form: no lone surrogate stands in it."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def round_float32(number: float) -> float:
    """The nearest 32-bit float; OverflowError where there is none."""
    rounded: float = _FLOAT.unpack(_FLOAT.pack(number))[0]
    return rounded


def float_of(number: Any) -> float:
    """A float from what a wire gives for one: JSON does not tell 1 from 1.0."""
    if number.__class__ is float:
        return float(number)
    if number.__class__ is int:
        try:
            return float(number)
        except OverflowError:
            raise BadTree("the integer is too large for a float") from None
    raise BadTree(f"a number is needed, not {type(number).__name__}")


def floats_of(numbers: list[Any]) -> list[float]:
    """A list of floats from a list of numbers."""
    return [float_of(number) for number in numbers]


def text_key(key: int | bool) -> str:
    """The text of a key that is an int or bool."""
    return str(key) if key.__class__ is int else "true" if key else "false"


def key_reader(type_: Int | Bool) -> Callable[[str], int | bool]:
    """The inverse of `text_key` for one type of key; only the text that `text_key` writes is taken."""
    if isinstance(type_, Bool):
        return _bool_key
    low, high = type_.low, type_.high

    def int_key(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise BadTree(f"key {text!r} is no integer") from None
        if str(number) != text:
            raise BadTree(f"key {text!r} is not written as {number}")
        if (low is not None and number < low) or (high is not None and number > high):
            raise BadTree(f"key {text} is outside {type_}")
        return number

    return int_key


def _bool_key(text: str) -> bool:
    if text not in ("true", "false"):
        raise BadTree(f"key {text!r} is neither 'true' nor 'false'")
    return text == "true"
