"""The root of the committed schema files: any one of the inference messages.

A message that is new is appended, so that the numbers of the others stay.
"""

from __future__ import annotations

from dataclasses import dataclass

from zcser.payloads.chat_messages import ChatRequest, MultimodalRequest, SchedulerStep, StreamBatch
from zcser.payloads.messages import BatchMeta, EmbeddingResponse, InferRequest, Records, Telemetry, TokenChunk
from zcser.payloads.tensor_messages import (
    BytesTensor,
    DetectorInput,
    DoubleArray,
    EmbeddingBatch,
    KvBlock,
    Logprobs,
    PromptEmbeds,
    RobotAction,
    RobotObservation,
    RoutedExperts,
    VideoClip,
    VisionPatches,
)

__all__ = ["Envelope"]


@dataclass(slots=True)
class Envelope:
    """Any one message."""

    body: (
        InferRequest
        | TokenChunk
        | Telemetry
        | Records
        | BatchMeta
        | EmbeddingResponse
        | StreamBatch
        | SchedulerStep
        | ChatRequest
        | MultimodalRequest
        | EmbeddingBatch
        | Logprobs
        | RoutedExperts
        | VisionPatches
        | PromptEmbeds
        | VideoClip
        | RobotObservation
        | RobotAction
        | KvBlock
        | DetectorInput
        | BytesTensor
        | DoubleArray
    )
