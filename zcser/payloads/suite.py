"""The built-in payloads that are measured unless told otherwise.

1. Values are seeded (`zcser.payloads.seeded`): the same in every process.
2. Any two of the first 64 values differ, in the lengths of strings and lists, in which optionals are absent and in the
   order of keys, so that a codec's caches meet what they meet in service. Their sizes stay within a few percent.
3. Each call makes a fresh object. Only `records-10k` shares parts between its values: a value is a window of 10,000 out
   of a pool of `POOL` records, made once per process, so that a worker can hold 64 of them.
4. Making values is cheap (a worker makes 64 of each before it measures): tensors are raw random bits.
"""

from __future__ import annotations

import functools

import numpy as np

from zcser.payloads.chat import chunk
from zcser.payloads.entry import Entry
from zcser.payloads.knobs import Count
from zcser.payloads.messages import (
    BatchMeta,
    CacheDType,
    EmbeddingResponse,
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
from zcser.payloads.seeded import EPOCH_NS, MODELS, Rng, float32, generator, hexadecimal, integer, maybe, mixed, pick

__all__ = ["BUILTIN", "POOL", "SIZED"]

POOL = 12_000
WINDOW = 10_000


def _request(rng: Rng, number: int, *, rows: int, width: int, ids: int) -> InferRequest:
    length = ids + integer(rng, -4, 5)
    params: dict[str, int | float | str | bool] = {
        "max_tokens": integer(rng, 16, 4096),
        "top_p": round(float(rng.random()), 3),
        "stream": number % 2 == 0,
        "user": "user-" + hexadecimal(rng, 8, 20),
        "stop": pick(rng, ("</s>", "<|eot_id|>", "\n\n")),
        "seed": integer(rng, 0, 1 << 53),
    }
    if number % 3 == 0:
        del params["stop"]
    embeds = rng.random((1, rows, width), dtype=np.float32)
    embeds -= np.float32(0.5)
    return InferRequest(
        model_id=pick(rng, MODELS),
        trace_id=int(rng.integers(0, 1 << 64, dtype=np.uint64)),
        created_ns=EPOCH_NS + integer(rng, 0, 1 << 50),
        priority=integer(rng, -8, 8),
        flags=integer(rng, 0, 1 << 32),
        temperature=float32(rng.random()),
        params=[Param(key, value) for key, value in mixed(rng, params).items()],
        tensors=[
            NamedTensor("prompt_embeds", embeds),
            NamedTensor("input_ids", rng.integers(0, 128_256, (1, length), dtype=np.int32)),
        ],
    )


# An embeds tensor and token ids of 128 B, 1 KiB and 4 KiB: 1 KiB, 64 KiB and 1 MiB together.
_request_1k = functools.partial(_request, rows=7, width=32, ids=32)
_request_64k = functools.partial(_request, rows=63, width=256, ids=256)
_request_1m = functools.partial(_request, rows=255, width=1024, ids=1024)


def _request_of(rng: Rng, number: int, *, kib: int) -> InferRequest:
    """Rows of 32 numbers below 16 KiB, and of 256 from there on; as many token ids as a row has numbers."""
    width = 32 if kib < 16 else 256
    return _request(rng, number, rows=kib * 1024 // (4 * width) - 1, width=width, ids=width)


def _telemetry(rng: Rng, number: int) -> Telemetry:
    started_ns = EPOCH_NS + integer(rng, 0, 1 << 50)
    stages = []
    for name in ("queue", "tokenize", "prefill", "decode", "respond")[number % 2 :]:
        duration_ns = integer(rng, 10_000, 50_000_000)
        error = f"retried after {duration_ns // 1000} us" if integer(rng, 0, 8) == 0 else None
        stages.append(Stage(name, started_ns, duration_ns, error))
        started_ns += duration_ns
    labels = {
        "team": "search-" + hexadecimal(rng, 2, 6),
        "tier": "gold",
        "route": "/v2/models/ranker/infer",
        "zone": "b",
    }
    gauges = {name: float(rng.random()) for name in ("kv_cache_usage", "gpu_utilization", "batch_fill")}
    counters = {
        name: integer(rng, 0, 1 << 20) for name in ("prompt_tokens", "generated_tokens", "cache_hits", "preempted")
    }
    return Telemetry(
        trace_id=int(rng.integers(0, 1 << 64, dtype=np.uint64)),
        span_id=int(rng.integers(0, 1 << 64, dtype=np.uint64)),
        parent_id=maybe(rng, int(rng.integers(0, 1 << 64, dtype=np.uint64))),
        time_ns=started_ns,
        severity=pick(rng, tuple(Severity)),
        message=maybe(rng, "request finished, " + hexadecimal(rng, 16, 33)),
        resource=Resource(
            service="ranker-" + hexadecimal(rng, 4, 9),
            host=f"node-{integer(rng, 0, 1000)}.eu-west-3.internal",
            pid=integer(rng, 1, 1 << 22),
            region=maybe(rng, "eu-west-3"),
            accelerator=maybe(rng, "H200 SXM"),
        ),
        labels=mixed(rng, labels),
        counters=mixed(rng, counters),
        gauges=mixed(rng, gauges),
        stages=stages,
    )


@functools.cache
def _pool() -> list[Record]:
    rng = generator("pool of records-10k", 0)
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


def _records(_rng: Rng, number: int, *, rows: int = WINDOW) -> Records:
    start = number * 31 % (POOL - rows + 1)
    return Records(_pool()[start : start + rows])


def _batch_meta(rng: Rng, number: int) -> BatchMeta:
    is_prefill = number % 4 == 0
    num_requests = integer(rng, 1, 257)
    num_blocks = integer(rng, 1, 1 << 16)
    return BatchMeta(
        batch_id=int(rng.integers(0, 1 << 64, dtype=np.uint64)),
        created_ns=EPOCH_NS + integer(rng, 0, 1 << 50),
        kv_cache_offset=integer(rng, 0, 1 << 20) << 21,
        kv_cache_bytes=num_blocks << 21,
        seq_len=integer(rng, 1, 131_073),
        num_tokens=num_requests * integer(rng, 1, 512) if is_prefill else num_requests,
        num_requests=num_requests,
        step=number,
        kv_cache_usage=float32(rng.random()),
        num_blocks=num_blocks,
        block_size=16,
        worker=integer(rng, 0, 64),
        priority=integer(rng, -8, 8),
        cache_dtype=pick(rng, tuple(CacheDType)),
        is_prefill=is_prefill,
        is_last=integer(rng, 0, 2) == 1,
    )


def _embedding(rng: Rng, number: int) -> EmbeddingResponse:
    rows = rng.random((15, 1024), dtype=np.float32)
    rows -= np.float32(0.5)
    tokens = integer(rng, 15, 8192)
    return EmbeddingResponse(
        id="embd-" + hexadecimal(rng, 24, 33),
        model=pick(rng, ("BAAI/bge-m3", "intfloat/multilingual-e5-large", "Qwen/Qwen3-Embedding-0.6B")),
        created=EPOCH_NS // 10**9 + number,
        embeddings=rows,
        usage=Usage(tokens, tokens, maybe(rng, integer(rng, 0, tokens))),
    )


BUILTIN: dict[str, Entry] = {
    "request-1k": Entry(
        "inference request: metadata and two tensors of 1 KiB",
        InferRequest,
        _request_1k,
        "/priority",
        "/tensors/0/data",
    ),
    "request-64k": Entry(
        "inference request: metadata and two tensors of 64 KiB",
        InferRequest,
        _request_64k,
        "/priority",
        "/tensors/0/data",
    ),
    "request-1m": Entry(
        "inference request: metadata and two tensors of 1 MiB",
        InferRequest,
        _request_1m,
        "/priority",
        "/tensors/0/data",
    ),
    "llm-chunk": Entry("one token of a streamed answer", TokenChunk, chunk, "/token_id"),
    "telemetry-1k": Entry("nested metadata with maps and optionals", Telemetry, _telemetry, "/resource/host"),
    "records-10k": Entry("10,000 small records", Records, _records, "/records/5000/label"),
    "batch-meta": Entry("a scheduler's header of 64 bytes", BatchMeta, _batch_meta, "/kv_cache_offset"),
    "embedding": Entry(
        "15 embeddings of 1,024 float32", EmbeddingResponse, _embedding, "/usage/prompt_tokens", "/embeddings"
    ),
}
"""By name, in the order of tables."""

SIZED: dict[str, Entry] = {
    "request": Entry(
        "an inference request as request-1k, of any size",
        InferRequest,
        _request_of,
        "/priority",
        "/tensors/0/data",
        knobs={"kib": Count(64, high=1 << 16)},
    ),
    "records": Entry(
        "small records as in records-10k, so many of them",
        Records,
        _records,
        "/records/0/label",
        knobs={"rows": Count(100, high=WINDOW)},
    ),
}
"""Families of the same messages in all sizes, to find where one format overtakes another."""
