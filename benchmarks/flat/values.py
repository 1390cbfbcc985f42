"""The messages: metadata of about 1 KB, a chunk of a streamed answer, and one tensor with little around it.

Value number n is the same in every process.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zcser.payloads import get
from zcser.payloads.messages import InferRequest, NamedTensor, Param, TokenChunk

__all__ = ["DISTINCT", "chunks", "requests", "with_tensor"]

DISTINCT = 64

_NAMES = (
    "max_tokens", "temperature", "top_p", "stream", "top_k", "min_p", "seed", "user", "n", "presence_penalty",
    "frequency_penalty", "ignore_eos", "best_of", "repetition_penalty", "stop", "session_id", "logprobs", "length_penalty",
    "min_tokens", "skip_special_tokens", "prompt_logprobs", "typical_p", "priority_class", "lora_name", "truncate_tokens",
    "diversity_penalty", "guided_grammar", "echo",
)  # fmt: skip


def _head(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "model_id": ("meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-30B-A3B-Instruct")[int(rng.integers(2))],
        "trace_id": int(rng.integers(1 << 64, dtype=np.uint64)),
        "created_ns": 1_767_225_600_000_000_000 + int(rng.integers(1 << 50)),
        "priority": int(rng.integers(-8, 8)),
        "flags": int(rng.integers(1 << 32)),
        "temperature": float(np.float32(rng.random())),
    }


def _param(rng: np.random.Generator, place: int) -> int | float | str | bool:
    match place % 4:
        case 0:
            return "value-" + rng.bytes(int(rng.integers(16, 28))).hex()
        case 1:
            return int(rng.integers(1 << int(rng.integers(4, 53))))
        case 2:
            return float(rng.random())
    return bool(rng.integers(2))


def request(number: int) -> InferRequest:
    """Metadata with 28 parameters of four kinds, in an order of its own, and without tensors."""
    rng = np.random.default_rng((number, 1))
    params = [Param(name, _param(rng, place)) for place, name in enumerate(_NAMES)]
    return InferRequest(**_head(rng), params=[params[place] for place in rng.permutation(len(params))], tensors=[])


def requests() -> list[InferRequest]:
    """As many as differ."""
    return [request(number) for number in range(DISTINCT)]


def chunks() -> list[TokenChunk]:
    """Of the built-in payload `llm-chunk`."""
    return get("llm-chunk").values(DISTINCT)


def with_tensor(number: int, size_bytes: int) -> InferRequest:
    """Metadata without parameters, and one tensor of float32."""
    rng = np.random.default_rng((number, 2))
    # More rows than 256, of which CPython has the ints ready: allocations shall not depend on that.
    data = rng.random((size_bytes // 64, 16), dtype=np.float32)
    return InferRequest(**_head(rng), params=[], tensors=[NamedTensor("input", data)])
