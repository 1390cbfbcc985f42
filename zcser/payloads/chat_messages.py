"""Requests and answers of language models at work, beyond a single chunk; see `zcser.payloads.chat`."""

from __future__ import annotations

from dataclasses import dataclass

from zcser.payloads.messages import FinishReason, NamedTensor, TokenChunk
from zcser.schema.annotations import Float32, UInt8, UInt32, UInt64

__all__ = [
    "ChatMessage",
    "ChatRequest",
    "FunctionCall",
    "ImagePart",
    "JsonSchema",
    "MultimodalRequest",
    "SchedulerStep",
    "StepOutput",
    "StreamBatch",
    "TensorPart",
    "TextPart",
    "Tool",
    "ToolCall",
]


@dataclass(slots=True)
class FunctionCall:
    """The name of a tool, and its arguments as JSON text."""

    name: str
    arguments: str


@dataclass(slots=True)
class ToolCall:
    """A call of a tool by the model."""

    id: str
    function: FunctionCall


@dataclass(slots=True)
class ChatMessage:
    """One turn: a tool's answer names the call that it answers."""

    role: str
    content: str | None
    tool_calls: list[ToolCall]
    tool_call_id: str | None


@dataclass(slots=True)
class JsonSchema:
    """The part of JSON Schema that describes a tool's parameters."""

    type: str
    description: str | None
    properties: dict[str, JsonSchema]
    required: list[str]
    items: JsonSchema | None


@dataclass(slots=True)
class Tool:
    """A function that the model may call."""

    name: str
    description: str
    parameters: JsonSchema


@dataclass(slots=True)
class ChatRequest:
    """The body of a chat completion, as OpenAI's API has it."""

    model: str
    messages: list[ChatMessage]
    tools: list[Tool]
    temperature: Float32
    max_tokens: UInt32
    stream: bool
    user: str | None


@dataclass(slots=True)
class StepOutput:
    """What one step of a scheduler gave one request."""

    request: UInt64
    token_ids: list[UInt32]
    logprob: Float32
    finish_reason: FinishReason | None


@dataclass(slots=True)
class SchedulerStep:
    """One step's outputs of all workers."""

    step: UInt64
    outputs: list[StepOutput]


@dataclass(slots=True)
class StreamBatch:
    """The chunks of many streams, sent on at once."""

    chunks: list[TokenChunk]


@dataclass(slots=True)
class TextPart:
    """Text of a prompt."""

    text: str


@dataclass(slots=True)
class ImagePart:
    """An image, as the data URL of its file."""

    url: str


@dataclass(slots=True)
class TensorPart:
    """Something that was encoded before, with its place in the prompt."""

    offset: UInt32
    tensor: NamedTensor


@dataclass(slots=True)
class MultimodalRequest:
    """A prompt of several kinds of parts, flagged by kind: 1 text, 2 images, 4 tensors."""

    id: str
    model: str
    modalities: UInt8
    parts: list[TextPart | ImagePart | TensorPart]
