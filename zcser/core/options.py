"""The options that every codec takes, checked once at construction."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

__all__ = ["Guard", "Limits", "Options", "TensorText", "UnknownFields"]

Guard = Literal["on", "off"]
UnknownFields = Literal["drop", "refuse"]
TensorText = Literal["base64", "numbers"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that hold for every codec alike, on encode and on decode.

    Attributes
    ----------
    depth
        Records, lists and maps nested inside each other, the outermost counted as 1. 100 is what protobuf decoders
        accept, so that whatever one codec writes within it every other can carry.
    elements
        Items of all lists and maps of one message: bounds the work that a few hostile bytes can ask for.
    bytes
        Size of one message. 2**31 - 1 is what protobuf and FlatBuffers can address.
    """

    depth: int = 100
    elements: int = 50_000_000
    bytes: int = 2**31 - 1

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if type(value) is not int or value < 1:
                raise ValueError(f"limits.{item.name} must be a positive int, not {value!r}")


@dataclass(frozen=True, slots=True)
class Options:
    """What a codec is built with, besides its schema.

    Attributes
    ----------
    limits
        See `Limits`.
    unknown_fields
        What decode does with a field that the schema does not know: ``"drop"`` it, or ``"refuse"`` the message.
    deterministic
        Equal values give equal bytes: maps are written in the order of their keys.
    guard
        ``"on"``: whatever would not come back as it was is an error, and hostile bytes are a `DecodeError`.
        ``"off"``: no checks beyond the library's own, for values and bytes that are trusted already.
    strict
        Encode refuses what `zcser.normal` would change (a numpy scalar, an int in a float field, a strided array).
    tensors
        How formats of text write the elements of a tensor: as ``"base64"`` of their bytes, which holds every dtype and
        value, or as a list of ``"numbers"``, which people and other programs read, and which has no form for NaN,
        infinities and complex numbers. Both are read, whatever this says. Formats that hold bytes ignore it.
    aligned
        protobuf alone, whose tensors else stand where they fall: encode pads, so that the data of each begins at a
        multiple of 64 bytes from the start of the message, and a read without copies does copy a tensor whose address
        does not fit its dtype. FlatBuffers does both always.
    allow_untrusted_code
        Decode with a codec that is for trusted bytes alone (``info.trusted_only``); the others do not need it.
    """

    limits: Limits = field(default_factory=Limits)
    unknown_fields: UnknownFields = "drop"
    deterministic: bool = False
    guard: Guard = "on"
    strict: bool = False
    tensors: TensorText = "base64"
    aligned: bool = False
    allow_untrusted_code: bool = False

    def __post_init__(self) -> None:
        _one_of("unknown_fields", self.unknown_fields, get_args(UnknownFields))
        _one_of("guard", self.guard, get_args(Guard))
        _one_of("deterministic", self.deterministic, (False, True))
        _one_of("strict", self.strict, (False, True))
        _one_of("tensors", self.tensors, get_args(TensorText))
        _one_of("aligned", self.aligned, (False, True))
        _one_of("allow_untrusted_code", self.allow_untrusted_code, (False, True))
        if not isinstance(self.limits, Limits):
            raise TypeError(f"limits must be zcser.Limits(...), not {self.limits!r}")
        if self.strict and self.guard == "off":
            raise ValueError("strict=True needs guard='on': without the guard nothing is checked")


def _one_of(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    if value not in allowed or (isinstance(allowed[0], bool) and type(value) is not bool):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, not {value!r}")
