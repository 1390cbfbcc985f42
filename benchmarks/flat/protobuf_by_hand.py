"""protobuf as one writes it by hand for these messages: code without glue, and a schema without the codec's wrappers.

The codec maps a union to a message of its own, since a list may hold unions; by hand a parameter holds its ``oneof`` itself,
which saves protobuf a message for each.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message_factory import GetMessages

from benchmarks.flat.subjects import Calls
from zcser.payloads.messages import FinishReason, InferRequest, Param, TokenChunk

__all__ = ["chunk_calls", "chunk_parser", "request_calls", "request_parser"]

_Kind = FieldDescriptorProto.Type

_REQUEST: dict[str, Any] = {
    "model_id": _Kind.TYPE_STRING,
    "trace_id": _Kind.TYPE_UINT64,
    "created_ns": _Kind.TYPE_INT64,
    "priority": _Kind.TYPE_INT32,
    "flags": _Kind.TYPE_UINT32,
    "temperature": _Kind.TYPE_FLOAT,
}
_PARAM: dict[str, Any] = {
    "key": _Kind.TYPE_STRING,
    "i": _Kind.TYPE_INT64,
    "f": _Kind.TYPE_DOUBLE,
    "s": _Kind.TYPE_STRING,
    "b": _Kind.TYPE_BOOL,
}
_CHUNK: dict[str, Any] = {
    "id": _Kind.TYPE_STRING,
    "model": _Kind.TYPE_STRING,
    "created": _Kind.TYPE_INT64,
    "index": _Kind.TYPE_UINT32,
    "token_id": _Kind.TYPE_UINT32,
    "logprob": _Kind.TYPE_FLOAT,
    "text": _Kind.TYPE_STRING,
    "finish_reason": _Kind.TYPE_UINT32,
    "system_fingerprint": _Kind.TYPE_STRING,
}
_REASONS = (None, *FinishReason)
_NUMBERS = {reason: number for number, reason in enumerate(_REASONS)}


def _message(file: FileDescriptorProto, name: str, fields: dict[str, Any]) -> DescriptorProto:
    made = file.message_type.add(name=name)
    for number, (field, kind) in enumerate(fields.items(), start=1):
        made.field.add(name=field, number=number, type=kind, label=FieldDescriptorProto.LABEL_OPTIONAL)
    return made


@functools.cache
def _classes() -> dict[str, Any]:
    file = FileDescriptorProto(name="by_hand.proto", package="by_hand", syntax="proto3")
    request = _message(file, "Request", _REQUEST)
    request.field.add(
        name="params",
        number=7,
        type=_Kind.TYPE_MESSAGE,
        type_name=".by_hand.Param",
        label=FieldDescriptorProto.LABEL_REPEATED,
    )
    param = _message(file, "Param", _PARAM)
    param.oneof_decl.add(name="value")
    for field in param.field[1:]:
        field.oneof_index = 0
    chunk = _message(file, "Chunk", _CHUNK)
    chunk.oneof_decl.add(name="_system_fingerprint")
    chunk.field[-1].proto3_optional, chunk.field[-1].oneof_index = True, 0
    return GetMessages([file])


def request_parser() -> Callable[[bytes], Any]:
    """From bytes to protobuf's own message of a request."""
    parse: Callable[[bytes], Any] = _classes()["by_hand.Request"].FromString
    return parse


def chunk_parser() -> Callable[[bytes], Any]:
    """As `request_parser`, of a chunk."""
    parse: Callable[[bytes], Any] = _classes()["by_hand.Chunk"].FromString
    return parse


def request_calls() -> Calls:
    """Of `InferRequest` without tensors."""
    make, parse = _classes()["by_hand.Request"], request_parser()
    serialize = make.SerializeToString

    def encode(value: InferRequest) -> bytes:
        message = make()
        message.model_id = value.model_id
        message.trace_id = value.trace_id
        message.created_ns = value.created_ns
        message.priority = value.priority
        message.flags = value.flags
        message.temperature = value.temperature
        add = message.params.add
        for item in value.params:
            param = add()
            param.key = item.key
            held = item.value
            kind = held.__class__
            if kind is str:
                param.s = held
            elif kind is float:
                param.f = held
            elif kind is bool:
                param.b = held
            else:
                param.i = held
        data: bytes = serialize(message)
        return data

    def decode(data: bytes) -> InferRequest:
        message = parse(data)
        return InferRequest(
            message.model_id,
            message.trace_id,
            message.created_ns,
            message.priority,
            message.flags,
            message.temperature,
            [Param(item.key, getattr(item, item.WhichOneof("value"))) for item in message.params],
            [],
        )

    return Calls(encode, decode)


def chunk_calls() -> Calls:
    """Of `TokenChunk`."""
    make, parse = _classes()["by_hand.Chunk"], chunk_parser()
    serialize = make.SerializeToString

    def encode(value: TokenChunk) -> bytes:
        message = make()
        message.id = value.id
        message.model = value.model
        message.created = value.created
        message.index = value.index
        message.token_id = value.token_id
        message.logprob = value.logprob
        message.text = value.text
        if value.finish_reason is not None:
            message.finish_reason = _NUMBERS[value.finish_reason]
        if value.system_fingerprint is not None:
            message.system_fingerprint = value.system_fingerprint
        data: bytes = serialize(message)
        return data

    def decode(data: bytes) -> TokenChunk:
        message = parse(data)
        return TokenChunk(
            message.id,
            message.model,
            message.created,
            message.index,
            message.token_id,
            message.logprob,
            message.text,
            _REASONS[message.finish_reason],
            message.system_fingerprint if message.HasField("system_fingerprint") else None,
        )

    return Calls(encode, decode)
