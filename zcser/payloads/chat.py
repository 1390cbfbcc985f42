"""Payloads of language models at work: an agent's chat body, a scheduler's step, many streams at once, images in a prompt."""

from __future__ import annotations

import base64
import json

from zcser.payloads.chat_messages import (
    ChatMessage,
    ChatRequest,
    FunctionCall,
    ImagePart,
    JsonSchema,
    MultimodalRequest,
    SchedulerStep,
    StepOutput,
    StreamBatch,
    TensorPart,
    TextPart,
    Tool,
    ToolCall,
)
from zcser.payloads.entry import Entry
from zcser.payloads.knobs import Count
from zcser.payloads.messages import FinishReason, NamedTensor, TokenChunk
from zcser.payloads.seeded import (
    EPOCH_NS,
    MODELS,
    TOKENS,
    Rng,
    float32,
    floats,
    hexadecimal,
    integer,
    maybe,
    mixed,
    pick,
    text,
)

__all__ = ["ENTRIES", "chunk"]

_TEXT, _IMAGE, _TENSOR = 1, 2, 4


def chunk(rng: Rng, number: int) -> TokenChunk:
    """One token of a streamed answer."""
    return TokenChunk(
        id="chatcmpl-" + hexadecimal(rng, 24, 33),
        model=pick(rng, MODELS),
        created=EPOCH_NS // 10**9 + integer(rng, 0, 10**6),
        index=number,
        token_id=integer(rng, 0, 128_256),
        logprob=float32(-rng.exponential()),
        text=pick(rng, TOKENS),
        finish_reason=pick(rng, tuple(FinishReason)) if number % 8 == 7 else None,
        system_fingerprint=maybe(rng, "fp_" + hexadecimal(rng, 8, 13)),
    )


def _stream_batch(rng: Rng, number: int, *, streams: int) -> StreamBatch:
    return StreamBatch([chunk(rng, number + place) for place in range(streams)])


def _scheduler_step(rng: Rng, number: int, *, workers: int, requests: int, tokens: int) -> SchedulerStep:
    count = workers * requests
    ids = rng.integers(0, 1 << 48, count).tolist()
    chosen = rng.integers(0, 128_256, (count, tokens)).tolist()
    logprobs = (-rng.standard_exponential(count, dtype="float32")).tolist()
    ended = rng.integers(0, 16, count).tolist()
    return SchedulerStep(
        step=1_000_000 + number,
        outputs=[
            StepOutput(request, token_ids, logprob, FinishReason.STOP if end == 0 else None)
            for request, token_ids, logprob, end in zip(ids, chosen, logprobs, ended, strict=True)
        ],
    )


def _leaf(kind: str, description: str | None = None) -> JsonSchema:
    return JsonSchema(kind, description, {}, [], None)


def _tool(rng: Rng, number: int) -> Tool:
    properties = {
        "path": _leaf("string", "where to look:" + text(rng, 6)),
        "limit": _leaf("integer"),
        "patterns": JsonSchema("array", None, {}, [], _leaf("string")),
        "options": JsonSchema("object", None, {"recursive": _leaf("boolean")}, [], None),
    }
    return Tool(
        name=f"tool_{number}_{hexadecimal(rng, 4, 9)}",
        description="Use it for" + text(rng, integer(rng, 20, 60)),
        parameters=JsonSchema("object", None, mixed(rng, properties), ["path"], None),
    )


def _turns(rng: Rng, number: int, tokens: int) -> list[ChatMessage]:
    """A question, the model's call of a tool, and the tool's answer."""
    call = "call_" + hexadecimal(rng, 16, 25)
    arguments = json.dumps({"path": "/srv/" + hexadecimal(rng, 4, 17), "limit": integer(rng, 1, 100)})
    return [
        ChatMessage("user", text(rng, tokens), [], None),
        ChatMessage(
            "assistant",
            maybe(rng, text(rng, tokens // 4)),
            [ToolCall(call, FunctionCall(f"tool_{number}", arguments))],
            None,
        ),
        ChatMessage("tool", text(rng, 2 * tokens), [], call),
    ]


def _chat(rng: Rng, number: int, *, turns: int, tokens: int, tools: int) -> ChatRequest:
    messages = [ChatMessage("system", "You are an agent." + text(rng, 4 * tokens), [], None)]
    for turn in range(turns):
        messages += _turns(rng, turn, tokens + integer(rng, -tokens // 8, tokens // 8 + 1))
    return ChatRequest(
        model=pick(rng, MODELS),
        messages=messages,
        tools=[_tool(rng, place) for place in range(tools)],
        temperature=float32(rng.random()),
        max_tokens=integer(rng, 16, 4096),
        stream=number % 2 == 0,
        user=maybe(rng, "user-" + hexadecimal(rng, 8, 20)),
    )


def _multimodal(rng: Rng, _number: int, *, images: int, image_bytes: int, embeds: int) -> MultimodalRequest:
    parts: list[TextPart | ImagePart | TensorPart] = [TextPart("Compare." + text(rng, integer(rng, 20, 60)))]
    parts.append(TensorPart(1, NamedTensor("audio_embeds", floats(rng, (embeds, 1024), "float32"))))
    for _ in range(images):
        file = rng.bytes(image_bytes + integer(rng, -16, 17))
        parts.append(ImagePart("data:image/png;base64," + base64.b64encode(file).decode()))
    return MultimodalRequest(
        id="chatcmpl-" + hexadecimal(rng, 24, 33),
        model=pick(rng, MODELS),
        modalities=_TEXT | _TENSOR | (_IMAGE if images else 0),
        parts=parts,
    )


ENTRIES: dict[str, Entry] = {
    "stream-batch": Entry(
        "the next token of many streams at once",
        StreamBatch,
        _stream_batch,
        "/chunks/0/token_id",
        None,
        {"streams": Count(512)},
    ),
    "scheduler-step": Entry(
        "what one step of a scheduler gave 1,280 requests",
        SchedulerStep,
        _scheduler_step,
        "/step",
        None,
        {"workers": Count(64), "requests": Count(20), "tokens": Count(1)},
    ),
    "chat": Entry(
        "an agent's chat body, with tools and their answers; 1 MB",
        ChatRequest,
        _chat,
        "/max_tokens",
        None,
        {"turns": Count(100), "tokens": Count(500), "tools": Count(40, low=0)},
    ),
    "multimodal": Entry(
        "a prompt of text, images as base64, and embeddings; 41.5 MB",
        MultimodalRequest,
        _multimodal,
        "/modalities",
        "/parts/1/tensor/data",
        {
            "images": Count(4, low=0, high=64),
            "image_bytes": Count(7_776_000, low=64, high=1 << 26),
            "embeds": Count(256),
        },
    ),
}
"""By name, in the order of listings."""
