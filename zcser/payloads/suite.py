"""The built-in payloads, seeded.

1. Value number n depends on the payload, `SEED` and n alone: the same in every process.
2. Any two of the first 64 values differ, in the lengths of strings and lists, in which optionals are absent and in the
   order of keys, so that a codec's caches meet what they meet in service. Their sizes stay within a few percent.
3. Each call makes a fresh object. Only `records-10k` shares parts between its values: a value is a window of 10,000 out
   of a pool of `POOL` records, made once per process, so that a worker can hold 64 of them.
4. Making values is cheap (a worker makes 64 of each before it measures): tensors are raw random bits.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from zcser.payloads.base import Payload
from zcser.payloads.messages import (
    BatchMeta,
    CacheDType,
    EmbeddingResponse,
    FinishReason,
    InferRequest,
    NamedTensor,
    Param,
    Record,
    Records,
    Resource,
    Severity,
    Stage,
    Telemetry,
    TokenChunk,
    Usage,
)
from zcser.schema.from_python import schema_of

__all__ = ["BUILTIN", "POOL", "SEED", "Seeded", "builtin"]

SEED = 20_260_101
POOL = 12_000
WINDOW = 10_000

EPOCH_NS = 1_767_225_600_000_000_000  # 2026-01-01T00:00:00Z
MODELS = (
    "meta-llama/Llama-3.1-8B-Instruct",
    "Qwen/Qwen3-30B-A3B-Instruct",
    "mistralai/Mistral-Small-3.2-24B",
    "deepseek-ai/DeepSeek-V3.1",
)
TOKENS = (
    " the",
    " transformers",
    "ing",
    ",",
    "\n",
    " größer",
    "你好",
    " café",
    "🙂",
    " def",
    "():",
    " 2026",
    " représente",
)

Rng = np.random.Generator
Build = Callable[[Rng, int], Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Seeded:
    """`Payload.make` of a built-in payload; pickles by the name of its function."""

    name: str
    build: Build

    def __call__(self, number: int) -> Any:
        """Value number `number`, as a fresh object."""
        return self.build(_generator(self.name, number), number)


def _generator(name: str, number: int) -> Rng:
    # crc32, because hash() of a str differs from process to process.
    return np.random.default_rng((zlib.crc32(name.encode()), SEED, number))


def _int(rng: Rng, low: int, high: int) -> int:
    return int(rng.integers(low, high))


def _hex(rng: Rng, low: int, high: int) -> str:
    """Between `low` and `high` - 1 hexadecimal digits."""
    return rng.bytes(high // 2 + 1).hex()[: _int(rng, low, high)]


def _pick(rng: Rng, items: tuple[T, ...]) -> T:
    return items[_int(rng, 0, len(items))]


def _maybe(rng: Rng, value: T) -> T | None:
    return None if _int(rng, 0, 3) == 0 else value


def _float32(value: float) -> float:
    """The nearest float32: what a float32 field gives back."""
    return float(np.float32(value))


def _mixed(rng: Rng, items: dict[str, T]) -> dict[str, T]:
    """The same entries in another order."""
    keys = list(items)
    return {keys[place]: items[keys[place]] for place in rng.permutation(len(keys))}


def _request(rng: Rng, number: int, *, rows: int, width: int, ids: int) -> InferRequest:
    length = ids + _int(rng, -4, 5)
    params: dict[str, int | float | str | bool] = {
        "max_tokens": _int(rng, 16, 4096),
        "top_p": round(float(rng.random()), 3),
        "stream": number % 2 == 0,
        "user": "user-" + _hex(rng, 8, 20),
        "stop": _pick(rng, ("</s>", "<|eot_id|>", "\n\n")),
        "seed": _int(rng, 0, 1 << 53),
    }
    if number % 3 == 0:
        del params["stop"]
    embeds = rng.random((1, rows, width), dtype=np.float32)
    embeds -= np.float32(0.5)
    return InferRequest(
        model_id=_pick(rng, MODELS),
        trace_id=int(rng.integers(0, 1 << 64, dtype=np.uint64)),
        created_ns=EPOCH_NS + _int(rng, 0, 1 << 50),
        priority=_int(rng, -8, 8),
        flags=_int(rng, 0, 1 << 32),
        temperature=_float32(rng.random()),
        params=[Param(key, value) for key, value in _mixed(rng, params).items()],
        tensors=[
            NamedTensor("prompt_embeds", embeds),
            NamedTensor("input_ids", rng.integers(0, 128_256, (1, length), dtype=np.int32)),
        ],
    )


# An embeds tensor and token ids of 128 B, 1 KiB and 4 KiB: 1 KiB, 64 KiB and 1 MiB together.
_request_1k = functools.partial(_request, rows=7, width=32, ids=32)
_request_64k = functools.partial(_request, rows=63, width=256, ids=256)
_request_1m = functools.partial(_request, rows=255, width=1024, ids=1024)


def _llm_chunk(rng: Rng, number: int) -> TokenChunk:
    return TokenChunk(
        id="chatcmpl-" + _hex(rng, 24, 33),
        model=_pick(rng, MODELS),
        created=EPOCH_NS // 10**9 + _int(rng, 0, 10**6),
        index=number,
        token_id=_int(rng, 0, 128_256),
        logprob=_float32(-rng.exponential()),
        text=_pick(rng, TOKENS),
        finish_reason=_pick(rng, tuple(FinishReason)) if number % 8 == 7 else None,
        system_fingerprint=_maybe(rng, "fp_" + _hex(rng, 8, 13)),
    )


def _telemetry(rng: Rng, number: int) -> Telemetry:
    started_ns = EPOCH_NS + _int(rng, 0, 1 << 50)
    stages = []
    for name in ("queue", "tokenize", "prefill", "decode", "respond")[number % 2 :]:
        duration_ns = _int(rng, 10_000, 50_000_000)
        error = f"retried after {duration_ns // 1000} us" if _int(rng, 0, 8) == 0 else None
        stages.append(Stage(name, started_ns, duration_ns, error))
        started_ns += duration_ns
    labels = {"team": "search-" + _hex(rng, 2, 6), "tier": "gold", "route": "/v2/models/ranker/infer", "zone": "b"}
    gauges = {name: float(rng.random()) for name in ("kv_cache_usage", "gpu_utilization", "batch_fill")}
    counters = {
        name: _int(rng, 0, 1 << 20) for name in ("prompt_tokens", "generated_tokens", "cache_hits", "preempted")
    }
    return Telemetry(
        trace_id=int(rng.integers(0, 1 << 64, dtype=np.uint64)),
        span_id=int(rng.integers(0, 1 << 64, dtype=np.uint64)),
        parent_id=_maybe(rng, int(rng.integers(0, 1 << 64, dtype=np.uint64))),
        time_ns=started_ns,
        severity=_pick(rng, tuple(Severity)),
        message=_maybe(rng, "request finished, " + _hex(rng, 16, 33)),
        resource=Resource(
            service="ranker-" + _hex(rng, 4, 9),
            host=f"node-{_int(rng, 0, 1000)}.eu-west-3.internal",
            pid=_int(rng, 1, 1 << 22),
            region=_maybe(rng, "eu-west-3"),
            accelerator=_maybe(rng, "H200 SXM"),
        ),
        labels=_mixed(rng, labels),
        counters=_mixed(rng, counters),
        gauges=_mixed(rng, gauges),
        stages=stages,
    )


@functools.cache
def _pool() -> list[Record]:
    rng = _generator("pool of records-10k", 0)
    ids = rng.integers(0, 1 << 40, POOL).tolist()
    scores = rng.standard_normal(POOL).tolist()
    labels = rng.integers(0, 10**6, POOL).tolist()
    tags = rng.integers(0, 17, POOL).tolist()
    flags = rng.integers(0, 2, POOL, dtype=np.bool_).tolist()
    parents = rng.integers(-(1 << 20), 1 << 20, POOL).tolist()
    return [
        Record(row, score, f"label-{label}", f"tag_{tag}", flag, parent if parent >= 0 else None)
        for row, score, label, tag, flag, parent in zip(ids, scores, labels, tags, flags, parents, strict=True)
    ]


def _records(_rng: Rng, number: int) -> Records:
    start = number * 31 % (POOL - WINDOW + 1)
    return Records(_pool()[start : start + WINDOW])


def _batch_meta(rng: Rng, number: int) -> BatchMeta:
    is_prefill = number % 4 == 0
    num_requests = _int(rng, 1, 257)
    num_blocks = _int(rng, 1, 1 << 16)
    return BatchMeta(
        batch_id=int(rng.integers(0, 1 << 64, dtype=np.uint64)),
        created_ns=EPOCH_NS + _int(rng, 0, 1 << 50),
        kv_cache_offset=_int(rng, 0, 1 << 20) << 21,
        kv_cache_bytes=num_blocks << 21,
        seq_len=_int(rng, 1, 131_073),
        num_tokens=num_requests * _int(rng, 1, 512) if is_prefill else num_requests,
        num_requests=num_requests,
        step=number,
        kv_cache_usage=_float32(rng.random()),
        num_blocks=num_blocks,
        block_size=16,
        worker=_int(rng, 0, 64),
        priority=_int(rng, -8, 8),
        cache_dtype=_pick(rng, tuple(CacheDType)),
        is_prefill=is_prefill,
        is_last=_int(rng, 0, 2) == 1,
    )


def _embedding(rng: Rng, number: int) -> EmbeddingResponse:
    rows = rng.random((15, 1024), dtype=np.float32)
    rows -= np.float32(0.5)
    tokens = _int(rng, 15, 8192)
    return EmbeddingResponse(
        id="embd-" + _hex(rng, 24, 33),
        model=_pick(rng, ("BAAI/bge-m3", "intfloat/multilingual-e5-large", "Qwen/Qwen3-Embedding-0.6B")),
        created=EPOCH_NS // 10**9 + number,
        embeddings=rows,
        usage=Usage(tokens, tokens, _maybe(rng, _int(rng, 0, tokens))),
    )


@dataclass(frozen=True, slots=True)
class _Entry:
    doc: str
    cls: type
    build: Build
    field: str
    tensor: str | None = None


BUILTIN: dict[str, _Entry] = {
    "request-1k": _Entry(
        "inference request: metadata and two tensors of 1 KiB",
        InferRequest,
        _request_1k,
        "/priority",
        "/tensors/0/data",
    ),
    "request-64k": _Entry(
        "inference request: metadata and two tensors of 64 KiB",
        InferRequest,
        _request_64k,
        "/priority",
        "/tensors/0/data",
    ),
    "request-1m": _Entry(
        "inference request: metadata and two tensors of 1 MiB",
        InferRequest,
        _request_1m,
        "/priority",
        "/tensors/0/data",
    ),
    "llm-chunk": _Entry("one token of a streamed answer", TokenChunk, _llm_chunk, "/token_id"),
    "telemetry-1k": _Entry("nested metadata with maps and optionals", Telemetry, _telemetry, "/resource/host"),
    "records-10k": _Entry("10,000 small records", Records, _records, "/records/5000/label"),
    "batch-meta": _Entry("a scheduler's header of 64 bytes", BatchMeta, _batch_meta, "/kv_cache_offset"),
    "embedding": _Entry(
        "15 embeddings of 1,024 float32", EmbeddingResponse, _embedding, "/usage/prompt_tokens", "/embeddings"
    ),
}
"""By name, in the order of tables."""


def builtin(name: str) -> Payload:
    """The built-in payload of a name.

    Raises
    ------
    KeyError
        There is none.
    """
    entry = BUILTIN[name]
    return Payload(
        name=name,
        doc=entry.doc,
        schema=schema_of(entry.cls),
        make=Seeded(name, entry.build),
        field=entry.field,
        fields=(entry.field,),
        tensor=entry.tensor,
    )
