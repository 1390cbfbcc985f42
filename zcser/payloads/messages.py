"""The inference messages that the built-in payloads are made of.

1. Shapes are those of services in use: Triton's and KServe's tensor requests, OpenAI's stream chunks and embeddings,
   OpenTelemetry's records, a scheduler's batch header. Widths are the narrowest that such services use.
2. Declaration order is the order of the field numbers on binary wires: new fields are only appended.
3. `zcser.payloads.chat_messages` and `zcser.payloads.tensor_messages` hold those of the payloads that are asked for by name.
4. ``schemas/`` holds all of them as ``.proto`` and ``.fbs``, written from these classes by
   ``python -m zcser.payloads.schemas``.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from zcser.schema.annotations import Float32, Int8, Int32, Int64, UInt16, UInt32, UInt64

__all__ = [
    "BatchMeta",
    "CacheDType",
    "EmbeddingResponse",
    "FinishReason",
    "InferRequest",
    "NamedTensor",
    "Param",
    "Record",
    "Records",
    "Resource",
    "Severity",
    "Stage",
    "Telemetry",
    "TokenChunk",
    "Usage",
]

Tensor: TypeAlias = npt.NDArray[Any]
"""An array of any dtype and shape."""


@dataclass(slots=True)
class Param:
    """One request parameter, as in KServe's InferParameter."""

    key: str
    value: int | float | str | bool


@dataclass(slots=True)
class NamedTensor:
    """An input of a model."""

    name: str
    data: Tensor


@dataclass(slots=True)
class InferRequest:
    """A request to a model: metadata, parameters, tensors."""

    model_id: str
    trace_id: UInt64
    created_ns: Int64
    priority: Int32
    flags: UInt32
    temperature: Float32
    params: list[Param]
    tensors: list[NamedTensor]


class FinishReason(enum.Enum):
    """Why a stream ended."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CONTENT_FILTER = "content_filter"


@dataclass(slots=True)
class TokenChunk:
    """One token of a streamed answer."""

    id: str
    model: str
    created: Int64
    index: UInt32
    token_id: UInt32
    logprob: Float32
    text: str
    finish_reason: FinishReason | None
    system_fingerprint: str | None


class Severity(enum.IntEnum):
    """OpenTelemetry's severity numbers, the first of each range."""

    DEBUG = 5
    INFO = 9
    WARN = 13
    ERROR = 17


@dataclass(slots=True)
class Resource:
    """Who reports."""

    service: str
    host: str
    pid: UInt32
    region: str | None
    accelerator: str | None


@dataclass(slots=True)
class Stage:
    """One step of handling a request."""

    name: str
    started_ns: Int64
    duration_ns: UInt64
    error: str | None


@dataclass(slots=True)
class Telemetry:
    """What a service reports about one request."""

    trace_id: UInt64
    span_id: UInt64
    parent_id: UInt64 | None
    time_ns: Int64
    severity: Severity
    message: str | None
    resource: Resource
    labels: dict[str, str]
    counters: dict[str, UInt64]
    gauges: dict[str, float]
    stages: list[Stage]


@dataclass(slots=True)
class Record:
    """A row of a result set."""

    id: UInt64
    score: float
    label: str
    tag: str
    flag: bool
    parent: UInt32 | None


@dataclass(slots=True)
class Records:
    """A result set."""

    records: list[Record]


class CacheDType(enum.IntEnum):
    """Element type of a KV cache."""

    FLOAT16 = 0
    BFLOAT16 = 1
    FLOAT8 = 2
    INT8 = 3


@dataclass(slots=True)
class BatchMeta:
    """What a scheduler sends ahead of each batch: 64 bytes in natural alignment, without a gap."""

    batch_id: UInt64
    created_ns: Int64
    kv_cache_offset: UInt64
    kv_cache_bytes: UInt64
    seq_len: UInt32
    num_tokens: UInt32
    num_requests: UInt32
    step: UInt32
    kv_cache_usage: Float32
    num_blocks: UInt32
    block_size: UInt16
    worker: UInt16
    priority: Int8
    cache_dtype: CacheDType
    is_prefill: bool
    is_last: bool


@dataclass(slots=True)
class Usage:
    """Tokens counted."""

    prompt_tokens: UInt32
    total_tokens: UInt32
    cached_tokens: UInt32 | None


@dataclass(slots=True)
class EmbeddingResponse:
    """Embeddings of a batch of texts, one row each."""

    id: str
    model: str
    created: Int64
    embeddings: npt.NDArray[np.float32]
    usage: Usage
