"""The messages in the other forms that a user may have them in: dicts, and msgspec's Structs, which it is fastest with."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypedDict, get_args

import msgspec
import numpy.typing as npt

from zcser.payloads.messages import FinishReason, InferRequest, TokenChunk
from zcser.schema.annotations import Float32, Int32, Int64, UInt32, UInt64

__all__ = ["FORMS", "Form", "InferRequestDict", "InferRequestStruct", "TokenChunkDict", "TokenChunkStruct", "formed"]

Form = Literal["class", "dict", "struct"]
"""Dataclasses, dicts by a TypedDict, and Structs."""

FORMS: tuple[Form, ...] = get_args(Form)


class ParamDict(TypedDict):
    """`Param`."""

    key: str
    value: int | float | str | bool


class NamedTensorDict(TypedDict):
    """`NamedTensor`."""

    name: str
    data: npt.NDArray[Any]


class InferRequestDict(TypedDict):
    """`InferRequest`."""

    model_id: str
    trace_id: UInt64
    created_ns: Int64
    priority: Int32
    flags: UInt32
    temperature: Float32
    params: list[ParamDict]
    tensors: list[NamedTensorDict]


class TokenChunkDict(TypedDict):
    """`TokenChunk`."""

    id: str
    model: str
    created: Int64
    index: UInt32
    token_id: UInt32
    logprob: Float32
    text: str
    finish_reason: FinishReason | None
    system_fingerprint: str | None


class ParamStruct(msgspec.Struct):
    """`Param`."""

    key: str
    value: int | float | str | bool


class NamedTensorStruct(msgspec.Struct):
    """`NamedTensor`."""

    name: str
    data: npt.NDArray[Any]


class InferRequestStruct(msgspec.Struct):
    """`InferRequest`."""

    model_id: str
    trace_id: UInt64
    created_ns: Int64
    priority: Int32
    flags: UInt32
    temperature: Float32
    params: list[ParamStruct]
    tensors: list[NamedTensorStruct]


class TokenChunkStruct(msgspec.Struct):
    """`TokenChunk`."""

    id: str
    model: str
    created: Int64
    index: UInt32
    token_id: UInt32
    logprob: Float32
    text: str
    finish_reason: FinishReason | None
    system_fingerprint: str | None


_SOURCES: dict[Any, dict[Form, Any]] = {
    InferRequest: {"class": InferRequest, "dict": InferRequestDict, "struct": InferRequestStruct},
    TokenChunk: {"class": TokenChunk, "dict": TokenChunkDict, "struct": TokenChunkStruct},
}


def formed(cls: type, items: Sequence[Any], form: Form) -> tuple[Any, list[Any]]:
    """What codecs of a form are made from, and dataclasses in that form; their strings are the same objects."""
    source = _SOURCES[cls][form]
    convert: Callable[[Any], Any] = {
        "class": lambda value: value,
        "dict": dataclasses.asdict,
        "struct": lambda value: msgspec.convert(value, source, from_attributes=True),
    }[form]
    return source, [convert(value) for value in items]
