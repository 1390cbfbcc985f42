"""Messages that are mostly tensors, as inference engines, robots and detectors send them; see `zcser.payloads.tensors`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from zcser.payloads.messages import NamedTensor, Tensor, Usage
from zcser.schema.annotations import Float32, Int64, UInt32, UInt64

__all__ = [
    "BytesTensor",
    "DetectorInput",
    "DoubleArray",
    "EmbeddingBatch",
    "ImagePatches",
    "KvBlock",
    "Logprobs",
    "PromptEmbeds",
    "RobotAction",
    "RobotObservation",
    "RoutedExperts",
    "VideoClip",
    "VisionPatches",
]


@dataclass(slots=True)
class EmbeddingBatch:
    """Embeddings of a batch of texts, one row each, in any element type."""

    id: str
    model: str
    embeddings: Tensor
    usage: Usage


@dataclass(slots=True)
class Logprobs:
    """Token ids and their log probabilities, [tokens, alternatives] each."""

    request_id: str
    token_ids: npt.NDArray[np.int32]
    logprobs: npt.NDArray[np.float32]


@dataclass(slots=True)
class RoutedExperts:
    """The experts that a mixture-of-experts model chose, [tokens, layers, experts of a token]."""

    request_id: str
    experts: npt.NDArray[np.uint8]


@dataclass(slots=True)
class ImagePatches:
    """The patches of one image, [patches, values of a patch], and how many there are down and across."""

    rows: UInt32
    columns: UInt32
    patches: Tensor


@dataclass(slots=True)
class VisionPatches:
    """The images of a request, as a vision encoder takes them."""

    request_id: str
    images: list[ImagePatches]


@dataclass(slots=True)
class PromptEmbeds:
    """A prompt that comes as embeddings, [tokens, hidden size]."""

    request_id: str
    model: str
    embeds: Tensor


@dataclass(slots=True)
class VideoClip:
    """Frames of a video, [frames, height, width, channels]."""

    id: str
    frames_per_second: Float32
    frames: npt.NDArray[np.uint8]


@dataclass(slots=True)
class RobotObservation:
    """What a robot sees and feels, for a policy to act on."""

    step: UInt32
    stamp_ns: Int64
    instruction: str
    cameras: list[NamedTensor]
    state: npt.NDArray[np.float32]


@dataclass(slots=True)
class RobotAction:
    """A policy's answer, [steps, action size]."""

    step: UInt32
    stamp_ns: Int64
    actions: npt.NDArray[np.float32]


@dataclass(slots=True)
class KvBlock:
    """Keys and values of some tokens, [layers, 2, tokens, heads, head size], with the hash that it is found by."""

    block_hash: UInt64
    parent_hash: UInt64 | None
    first_token: UInt32
    keys_and_values: Tensor


@dataclass(slots=True)
class DetectorInput:
    """A batch of images, [batch, height, width, channels]."""

    frame_ids: list[UInt64]
    images: npt.NDArray[np.uint8]


@dataclass(slots=True)
class BytesTensor:
    """Triton's tensor of type BYTES: each element has a length of its own."""

    name: str
    shape: list[Int64]
    elements: list[bytes]


@dataclass(slots=True)
class DoubleArray:
    """An array of float64."""

    name: str
    values: npt.NDArray[np.float64]
