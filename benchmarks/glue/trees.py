"""Glue by hand for orjson and msgpack: dicts of what JSON and MessagePack have words for, and the way back."""

from __future__ import annotations

import base64
import datetime as dt
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

__all__ = ["JSON", "MSGPACK"]

Tree = dict[str, Any]

_FIRST_DAY = dt.date(1970, 1, 1).toordinal()
_MICROSECOND = dt.timedelta(microseconds=1)

# A dict is several times as fast as calling the enum.
_REASONS = {reason.value: reason for reason in FinishReason}
_STATES = {state.value: state for state in State}
_CACHE_DTYPES = {dtype.value: dtype for dtype in CacheDType}
_SEVERITIES = {severity.value: severity for severity in Severity}


def _chunk_tree(value: TokenChunk) -> Tree:
    reason = value.finish_reason
    return {
        "id": value.id,
        "model": value.model,
        "created": value.created,
        "index": value.index,
        "token_id": value.token_id,
        "logprob": value.logprob,
        "text": value.text,
        "finish_reason": None if reason is None else reason.value,
        "system_fingerprint": value.system_fingerprint,
    }


def _chunk(tree: Tree) -> TokenChunk:
    reason = tree["finish_reason"]
    return TokenChunk(
        tree["id"],
        tree["model"],
        tree["created"],
        tree["index"],
        tree["token_id"],
        tree["logprob"],
        tree["text"],
        None if reason is None else _REASONS[reason],
        tree["system_fingerprint"],
    )


def _batch_tree(value: BatchMeta) -> Tree:
    return {
        "batch_id": value.batch_id,
        "created_ns": value.created_ns,
        "kv_cache_offset": value.kv_cache_offset,
        "kv_cache_bytes": value.kv_cache_bytes,
        "seq_len": value.seq_len,
        "num_tokens": value.num_tokens,
        "num_requests": value.num_requests,
        "step": value.step,
        "kv_cache_usage": value.kv_cache_usage,
        "num_blocks": value.num_blocks,
        "block_size": value.block_size,
        "worker": value.worker,
        "priority": value.priority,
        "cache_dtype": value.cache_dtype.value,
        "is_prefill": value.is_prefill,
        "is_last": value.is_last,
    }


def _batch(tree: Tree) -> BatchMeta:
    return BatchMeta(
        tree["batch_id"],
        tree["created_ns"],
        tree["kv_cache_offset"],
        tree["kv_cache_bytes"],
        tree["seq_len"],
        tree["num_tokens"],
        tree["num_requests"],
        tree["step"],
        tree["kv_cache_usage"],
        tree["num_blocks"],
        tree["block_size"],
        tree["worker"],
        tree["priority"],
        _CACHE_DTYPES[tree["cache_dtype"]],
        tree["is_prefill"],
        tree["is_last"],
    )


def _telemetry_tree(value: Telemetry) -> Tree:
    resource = value.resource
    return {
        "trace_id": value.trace_id,
        "span_id": value.span_id,
        "parent_id": value.parent_id,
        "time_ns": value.time_ns,
        "severity": value.severity.value,
        "message": value.message,
        "resource": {
            "service": resource.service,
            "host": resource.host,
            "pid": resource.pid,
            "region": resource.region,
            "accelerator": resource.accelerator,
        },
        "labels": value.labels,
        "counters": value.counters,
        "gauges": value.gauges,
        "stages": [
            {
                "name": stage.name,
                "started_ns": stage.started_ns,
                "duration_ns": stage.duration_ns,
                "error": stage.error,
            }
            for stage in value.stages
        ],
    }


def _telemetry(tree: Tree) -> Telemetry:
    resource = tree["resource"]
    return Telemetry(
        tree["trace_id"],
        tree["span_id"],
        tree["parent_id"],
        tree["time_ns"],
        _SEVERITIES[tree["severity"]],
        tree["message"],
        Resource(resource["service"], resource["host"], resource["pid"], resource["region"], resource["accelerator"]),
        tree["labels"],
        tree["counters"],
        tree["gauges"],
        [Stage(stage["name"], stage["started_ns"], stage["duration_ns"], stage["error"]) for stage in tree["stages"]],
    )


# Tensors: text in JSON, bytes in MessagePack ---------------------------------------------------------------------------


def _request_tree(value: InferRequest, tensors: list[Tree]) -> Tree:
    return {
        "model_id": value.model_id,
        "trace_id": value.trace_id,
        "created_ns": value.created_ns,
        "priority": value.priority,
        "flags": value.flags,
        "temperature": value.temperature,
        "params": [{"key": param.key, "value": param.value} for param in value.params],
        "tensors": tensors,
    }


def _request(tree: Tree, tensors: list[NamedTensor]) -> InferRequest:
    return InferRequest(
        tree["model_id"],
        tree["trace_id"],
        tree["created_ns"],
        tree["priority"],
        tree["flags"],
        tree["temperature"],
        [Param(param["key"], param["value"]) for param in tree["params"]],
        tensors,
    )


def _request_json(value: InferRequest) -> Tree:
    tensors = []
    for tensor in value.tensors:
        array = tensor.data
        text = base64.b64encode(array).decode()
        data = {"dtype": array.dtype.name, "shape": array.shape, "base64": text}
        tensors.append({"name": tensor.name, "data": data})
    return _request_tree(value, tensors)


def _request_of_json(tree: Tree) -> InferRequest:
    tensors = []
    for tensor in tree["tensors"]:
        data = tensor["data"]
        array = np.frombuffer(base64.b64decode(data["base64"]), data["dtype"]).reshape(data["shape"]).copy()
        tensors.append(NamedTensor(tensor["name"], array))
    return _request(tree, tensors)


def _request_msgpack(value: InferRequest) -> Tree:
    tensors = []
    for tensor in value.tensors:
        array = tensor.data
        data = {"dtype": array.dtype.name, "shape": array.shape, "data": array.data.cast("B")}
        tensors.append({"name": tensor.name, "data": data})
    return _request_tree(value, tensors)


def _request_of_msgpack(tree: Tree) -> InferRequest:
    tensors = []
    for tensor in tree["tensors"]:
        data = tensor["data"]
        array = np.frombuffer(data["data"], data["dtype"]).reshape(data["shape"]).copy()
        tensors.append(NamedTensor(tensor["name"], array))
    return _request(tree, tensors)


# Dates, decimals, UUIDs and sets ---------------------------------------------------------------------------------------


def _job_json(value: Job) -> Tree:
    parent = value.parent
    return {
        "id": str(value.id),
        "parent": None if parent is None else str(parent),
        "submitted": value.submitted.isoformat(),
        "patience": value.patience // _MICROSECOND,
        "state": value.state.value,
        "budget": str(value.budget),
        "tags": sorted(value.tags),
        "charges": [
            {
                "model": charge.model,
                "tokens": charge.tokens,
                "price": str(charge.price),
                "day": charge.day.isoformat(),
            }
            for charge in value.charges
        ],
    }


def _job_of_json(tree: Tree) -> Job:
    parent = tree["parent"]
    return Job(
        UUID(tree["id"]),
        None if parent is None else UUID(parent),
        dt.datetime.fromisoformat(tree["submitted"]),
        dt.timedelta(microseconds=tree["patience"]),
        _STATES[tree["state"]],
        Decimal(tree["budget"]),
        set(tree["tags"]),
        [
            Charge(charge["model"], charge["tokens"], Decimal(charge["price"]), dt.date.fromisoformat(charge["day"]))
            for charge in tree["charges"]
        ],
    )


def _job_msgpack(value: Job) -> Tree:
    parent = value.parent
    return {
        "id": value.id.bytes,
        "parent": None if parent is None else parent.bytes,
        "submitted": value.submitted.isoformat(),
        "patience": value.patience // _MICROSECOND,
        "state": value.state.value,
        "budget": str(value.budget),
        "tags": sorted(value.tags),
        "charges": [
            {
                "model": charge.model,
                "tokens": charge.tokens,
                "price": str(charge.price),
                "day": charge.day.toordinal() - _FIRST_DAY,
            }
            for charge in value.charges
        ],
    }


def _job_of_msgpack(tree: Tree) -> Job:
    parent = tree["parent"]
    return Job(
        UUID(bytes=tree["id"]),
        None if parent is None else UUID(bytes=parent),
        dt.datetime.fromisoformat(tree["submitted"]),
        dt.timedelta(microseconds=tree["patience"]),
        _STATES[tree["state"]],
        Decimal(tree["budget"]),
        set(tree["tags"]),
        [
            Charge(
                charge["model"],
                charge["tokens"],
                Decimal(charge["price"]),
                dt.date.fromordinal(charge["day"] + _FIRST_DAY),
            )
            for charge in tree["charges"]
        ],
    )


_PLAIN = {
    "llm-chunk": Glue(_chunk_tree, _chunk),
    "batch-meta": Glue(_batch_tree, _batch),
    "telemetry-1k": Glue(_telemetry_tree, _telemetry),
}

JSON = _PLAIN | {"request-1k": Glue(_request_json, _request_of_json), "job": Glue(_job_json, _job_of_json)}
MSGPACK = _PLAIN | {
    "request-1k": Glue(_request_msgpack, _request_of_msgpack),
    "job": Glue(_job_msgpack, _job_of_msgpack),
}
