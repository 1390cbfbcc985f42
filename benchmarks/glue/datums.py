"""Glue by hand for fastavro: dicts in the form of our Avro schemas.

An unsigned number of 64 bits is its bytes, an enum the name of its symbol, and what may be null stands beside the name of
its branch, without which fastavro tries one branch after the other.
"""

from __future__ import annotations

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

__all__ = ["AVRO"]

Datum = dict[str, Any]

_FIRST_DAY = dt.date(1970, 1, 1).toordinal()
_MICROSECOND = dt.timedelta(microseconds=1)
_BRANCHES = {str: "string", bool: "boolean", int: "long", float: "double"}


def _chunk_datum(value: TokenChunk) -> Datum:
    reason, fingerprint = value.finish_reason, value.system_fingerprint
    return {
        "id": value.id,
        "model": value.model,
        "created": value.created,
        "index": value.index,
        "token_id": value.token_id,
        "logprob": value.logprob,
        "text": value.text,
        "finish_reason": None if reason is None else ("FinishReason", reason.name),
        "system_fingerprint": None if fingerprint is None else ("string", fingerprint),
    }


def _chunk(datum: Datum) -> TokenChunk:
    reason = datum["finish_reason"]
    return TokenChunk(
        datum["id"],
        datum["model"],
        datum["created"],
        datum["index"],
        datum["token_id"],
        datum["logprob"],
        datum["text"],
        None if reason is None else FinishReason[reason],
        datum["system_fingerprint"],
    )


def _batch_datum(value: BatchMeta) -> Datum:
    return {
        "batch_id": value.batch_id.to_bytes(8, "little"),
        "created_ns": value.created_ns,
        "kv_cache_offset": value.kv_cache_offset.to_bytes(8, "little"),
        "kv_cache_bytes": value.kv_cache_bytes.to_bytes(8, "little"),
        "seq_len": value.seq_len,
        "num_tokens": value.num_tokens,
        "num_requests": value.num_requests,
        "step": value.step,
        "kv_cache_usage": value.kv_cache_usage,
        "num_blocks": value.num_blocks,
        "block_size": value.block_size,
        "worker": value.worker,
        "priority": value.priority,
        "cache_dtype": value.cache_dtype.name,
        "is_prefill": value.is_prefill,
        "is_last": value.is_last,
    }


def _batch(datum: Datum) -> BatchMeta:
    return BatchMeta(
        int.from_bytes(datum["batch_id"], "little"),
        datum["created_ns"],
        int.from_bytes(datum["kv_cache_offset"], "little"),
        int.from_bytes(datum["kv_cache_bytes"], "little"),
        datum["seq_len"],
        datum["num_tokens"],
        datum["num_requests"],
        datum["step"],
        datum["kv_cache_usage"],
        datum["num_blocks"],
        datum["block_size"],
        datum["worker"],
        datum["priority"],
        CacheDType[datum["cache_dtype"]],
        datum["is_prefill"],
        datum["is_last"],
    )


def _text(value: str | None) -> tuple[str, str] | None:
    return None if value is None else ("string", value)


def _telemetry_datum(value: Telemetry) -> Datum:
    resource, parent = value.resource, value.parent_id
    return {
        "trace_id": value.trace_id.to_bytes(8, "little"),
        "span_id": value.span_id.to_bytes(8, "little"),
        "parent_id": None if parent is None else ("UInt64", parent.to_bytes(8, "little")),
        "time_ns": value.time_ns,
        "severity": value.severity.name,
        "message": _text(value.message),
        "resource": {
            "service": resource.service,
            "host": resource.host,
            "pid": resource.pid,
            "region": _text(resource.region),
            "accelerator": _text(resource.accelerator),
        },
        "labels": value.labels,
        "counters": {key: number.to_bytes(8, "little") for key, number in value.counters.items()},
        "gauges": value.gauges,
        "stages": [
            {
                "name": stage.name,
                "started_ns": stage.started_ns,
                "duration_ns": stage.duration_ns.to_bytes(8, "little"),
                "error": _text(stage.error),
            }
            for stage in value.stages
        ],
    }


def _telemetry(datum: Datum) -> Telemetry:
    resource, parent = datum["resource"], datum["parent_id"]
    return Telemetry(
        int.from_bytes(datum["trace_id"], "little"),
        int.from_bytes(datum["span_id"], "little"),
        None if parent is None else int.from_bytes(parent, "little"),
        datum["time_ns"],
        Severity[datum["severity"]],
        datum["message"],
        Resource(resource["service"], resource["host"], resource["pid"], resource["region"], resource["accelerator"]),
        datum["labels"],
        {key: int.from_bytes(number, "little") for key, number in datum["counters"].items()},
        datum["gauges"],
        [
            Stage(stage["name"], stage["started_ns"], int.from_bytes(stage["duration_ns"], "little"), stage["error"])
            for stage in datum["stages"]
        ],
    )


def _request_datum(value: InferRequest) -> Datum:
    tensors = []
    for tensor in value.tensors:
        array = tensor.data
        data = {"dtype": array.dtype.name, "shape": array.shape, "data": array.data.cast("B")}
        tensors.append({"name": tensor.name, "data": data})
    return {
        "model_id": value.model_id,
        "trace_id": value.trace_id.to_bytes(8, "little"),
        "created_ns": value.created_ns,
        "priority": value.priority,
        "flags": value.flags,
        "temperature": value.temperature,
        "params": [{"key": param.key, "value": (_BRANCHES[type(param.value)], param.value)} for param in value.params],
        "tensors": tensors,
    }


def _request(datum: Datum) -> InferRequest:
    tensors = []
    for tensor in datum["tensors"]:
        data = tensor["data"]
        array = np.frombuffer(data["data"], data["dtype"]).reshape(data["shape"]).copy()
        tensors.append(NamedTensor(tensor["name"], array))
    return InferRequest(
        datum["model_id"],
        int.from_bytes(datum["trace_id"], "little"),
        datum["created_ns"],
        datum["priority"],
        datum["flags"],
        datum["temperature"],
        [Param(param["key"], param["value"]) for param in datum["params"]],
        tensors,
    )


def _job_datum(value: Job) -> Datum:
    parent = value.parent
    return {
        "id": value.id.bytes,
        "parent": None if parent is None else ("Bytes16", parent.bytes),
        "submitted": value.submitted.isoformat(),
        "patience": value.patience // _MICROSECOND,
        "state": value.state.name,
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


def _job(datum: Datum) -> Job:
    parent = datum["parent"]
    return Job(
        UUID(bytes=datum["id"]),
        None if parent is None else UUID(bytes=parent),
        dt.datetime.fromisoformat(datum["submitted"]),
        dt.timedelta(microseconds=datum["patience"]),
        State[datum["state"]],
        Decimal(datum["budget"]),
        set(datum["tags"]),
        [
            Charge(
                charge["model"],
                charge["tokens"],
                Decimal(charge["price"]),
                dt.date.fromordinal(charge["day"] + _FIRST_DAY),
            )
            for charge in datum["charges"]
        ],
    )


AVRO = {
    "llm-chunk": Glue(_chunk_datum, _chunk),
    "batch-meta": Glue(_batch_datum, _batch),
    "telemetry-1k": Glue(_telemetry_datum, _telemetry),
    "request-1k": Glue(_request_datum, _request),
    "job": Glue(_job_datum, _job),
}
