"""Glue by hand for protobuf: messages filled field by field, which upb does faster than with keywords, and read likewise."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np

from benchmarks.glue.messages import Charge, Glue, Job, State
from zcser.payloads.messages import (
    BatchMeta,
    CacheDType,
    FinishReason,
    InferRequest,
    NamedTensor,
    Param,
    Resource,
    Severity,
    Stage,
    Telemetry,
    TokenChunk,
)

__all__ = ["PROTOBUF"]

Class = Callable[[], Any]
"""Of a message, as protoc would generate it."""

_FIRST_DAY = dt.date(1970, 1, 1).toordinal()
_MICROSECOND = dt.timedelta(microseconds=1)

# The numbers that the enums of the message definition have.
_DTYPE_NUMBERS = {np.dtype(np.int32): 7, np.dtype(np.float32): 10}
_DTYPES = {number: dtype for dtype, number in _DTYPE_NUMBERS.items()}
_REASONS = dict(enumerate(FinishReason, 1))
_REASON_NUMBERS = {reason.value: number for number, reason in _REASONS.items()}
_STATES = dict(enumerate(State, 1))
_STATE_NUMBERS = {state.value: number for number, state in _STATES.items()}
_CACHE_DTYPES = {dtype.value: dtype for dtype in CacheDType}
_SEVERITIES = {severity.value: severity for severity in Severity}


def _chunk(cls: Class) -> Glue:
    def convert(value: TokenChunk) -> Any:
        message = cls()
        message.id = value.id
        message.model = value.model
        message.created = value.created
        message.index = value.index
        message.token_id = value.token_id
        message.logprob = value.logprob
        message.text = value.text
        if value.finish_reason is not None:
            message.finish_reason = _REASON_NUMBERS[value.finish_reason.value]
        if value.system_fingerprint is not None:
            message.system_fingerprint = value.system_fingerprint
        return message

    def restore(message: Any) -> TokenChunk:
        return TokenChunk(
            message.id,
            message.model,
            message.created,
            message.index,
            message.token_id,
            message.logprob,
            message.text,
            _REASONS[message.finish_reason] if message.HasField("finish_reason") else None,
            message.system_fingerprint if message.HasField("system_fingerprint") else None,
        )

    return Glue(convert, restore)


def _batch(cls: Class) -> Glue:
    def convert(value: BatchMeta) -> Any:
        message = cls()
        message.batch_id = value.batch_id
        message.created_ns = value.created_ns
        message.kv_cache_offset = value.kv_cache_offset
        message.kv_cache_bytes = value.kv_cache_bytes
        message.seq_len = value.seq_len
        message.num_tokens = value.num_tokens
        message.num_requests = value.num_requests
        message.step = value.step
        message.kv_cache_usage = value.kv_cache_usage
        message.num_blocks = value.num_blocks
        message.block_size = value.block_size
        message.worker = value.worker
        message.priority = value.priority
        message.cache_dtype = value.cache_dtype.value
        message.is_prefill = value.is_prefill
        message.is_last = value.is_last
        return message

    def restore(message: Any) -> BatchMeta:
        return BatchMeta(
            message.batch_id,
            message.created_ns,
            message.kv_cache_offset,
            message.kv_cache_bytes,
            message.seq_len,
            message.num_tokens,
            message.num_requests,
            message.step,
            message.kv_cache_usage,
            message.num_blocks,
            message.block_size,
            message.worker,
            message.priority,
            _CACHE_DTYPES[message.cache_dtype],
            message.is_prefill,
            message.is_last,
        )

    return Glue(convert, restore)


def _request(cls: Class) -> Glue:
    def convert(value: InferRequest) -> Any:
        message = cls()
        message.model_id = value.model_id
        message.trace_id = value.trace_id
        message.created_ns = value.created_ns
        message.priority = value.priority
        message.flags = value.flags
        message.temperature = value.temperature
        add = message.params.add
        for param in value.params:
            added = add()
            added.key = param.key
            given = param.value
            kind = type(given)
            if kind is str:
                added.value.str = given
            elif kind is int:
                added.value.int = given
            elif kind is float:
                added.value.float = given
            else:
                added.value.bool = given
        add = message.tensors.add
        for tensor in value.tensors:
            added, array = add(), tensor.data
            added.name = tensor.name
            data = added.data
            data.dtype = _DTYPE_NUMBERS[array.dtype]
            data.shape.extend(array.shape)
            data.data = array.tobytes()
        return message

    def restore(message: Any) -> InferRequest:
        params = []
        for param in message.params:
            value = param.value
            params.append(Param(param.key, getattr(value, value.WhichOneof("kind"))))
        tensors = []
        for tensor in message.tensors:
            data = tensor.data
            array = np.frombuffer(data.data, _DTYPES[data.dtype]).reshape(data.shape).copy()
            tensors.append(NamedTensor(tensor.name, array))
        return InferRequest(
            message.model_id,
            message.trace_id,
            message.created_ns,
            message.priority,
            message.flags,
            message.temperature,
            params,
            tensors,
        )

    return Glue(convert, restore)


def _telemetry(cls: Class) -> Glue:
    def convert(value: Telemetry) -> Any:
        message = cls()
        message.trace_id = value.trace_id
        message.span_id = value.span_id
        if value.parent_id is not None:
            message.parent_id = value.parent_id
        message.time_ns = value.time_ns
        message.severity = value.severity.value
        if value.message is not None:
            message.message = value.message
        resource, given = message.resource, value.resource
        resource.service = given.service
        resource.host = given.host
        resource.pid = given.pid
        if given.region is not None:
            resource.region = given.region
        if given.accelerator is not None:
            resource.accelerator = given.accelerator
        message.labels.update(value.labels)
        message.counters.update(value.counters)
        message.gauges.update(value.gauges)
        add = message.stages.add
        for stage in value.stages:
            added = add()
            added.name = stage.name
            added.started_ns = stage.started_ns
            added.duration_ns = stage.duration_ns
            if stage.error is not None:
                added.error = stage.error
        return message

    def restore(message: Any) -> Telemetry:
        resource = message.resource
        return Telemetry(
            message.trace_id,
            message.span_id,
            message.parent_id if message.HasField("parent_id") else None,
            message.time_ns,
            _SEVERITIES[message.severity],
            message.message if message.HasField("message") else None,
            Resource(
                resource.service,
                resource.host,
                resource.pid,
                resource.region if resource.HasField("region") else None,
                resource.accelerator if resource.HasField("accelerator") else None,
            ),
            dict(message.labels),
            dict(message.counters),
            dict(message.gauges),
            [
                Stage(
                    stage.name,
                    stage.started_ns,
                    stage.duration_ns,
                    stage.error if stage.HasField("error") else None,
                )
                for stage in message.stages
            ],
        )

    return Glue(convert, restore)


def _job(cls: Class) -> Glue:
    def convert(value: Job) -> Any:
        message = cls()
        message.id = value.id.bytes
        if value.parent is not None:
            message.parent = value.parent.bytes
        message.submitted = value.submitted.isoformat()
        message.patience = value.patience // _MICROSECOND
        message.state = _STATE_NUMBERS[value.state.value]
        message.budget = str(value.budget)
        message.tags.extend(sorted(value.tags))
        add = message.charges.add
        for charge in value.charges:
            added = add()
            added.model = charge.model
            added.tokens = charge.tokens
            added.price = str(charge.price)
            added.day = charge.day.toordinal() - _FIRST_DAY
        return message

    def restore(message: Any) -> Job:
        return Job(
            UUID(bytes=message.id),
            UUID(bytes=message.parent) if message.HasField("parent") else None,
            dt.datetime.fromisoformat(message.submitted),
            dt.timedelta(microseconds=message.patience),
            _STATES[message.state],
            Decimal(message.budget),
            set(message.tags),
            [
                Charge(
                    charge.model,
                    charge.tokens,
                    Decimal(charge.price),
                    dt.date.fromordinal(charge.day + _FIRST_DAY),
                )
                for charge in message.charges
            ],
        )

    return Glue(convert, restore)


PROTOBUF: dict[str, Callable[[Class], Glue]] = {
    "llm-chunk": _chunk,
    "batch-meta": _batch,
    "request-1k": _request,
    "telemetry-1k": _telemetry,
    "job": _job,
}
"""Of the class of a message."""
