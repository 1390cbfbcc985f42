"""Payloads that are mostly tensors, in the shapes that services send; every size is a knob.

1. At their default each has the shape that its public users report, but for the video, which has 16 of 121 frames.
2. Only `rng` and the value's number decide what is made; text and optionals vary as in `zcser.payloads.suite`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from zcser.payloads.entry import Entry
from zcser.payloads.knobs import Choice, Count
from zcser.payloads.messages import NamedTensor, Usage
from zcser.payloads.seeded import EPOCH_NS, MODELS, Rng, floats, hexadecimal, integer, maybe, pick, text
from zcser.payloads.tensor_messages import (
    BytesTensor,
    DetectorInput,
    DoubleArray,
    EmbeddingBatch,
    ImagePatches,
    KvBlock,
    Logprobs,
    PromptEmbeds,
    RobotAction,
    RobotObservation,
    RoutedExperts,
    VideoClip,
    VisionPatches,
)

__all__ = ["ENTRIES"]

_FLOATS = ("float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
_CAMERAS = ("base", "wrist", "left", "right", "front", "rear", "top", "gripper")


def _embeddings(rng: Rng, _number: int, *, batch: int, dims: int, dtype: str) -> EmbeddingBatch:
    tokens = integer(rng, batch, batch * 512 + 1)
    return EmbeddingBatch(
        id="embd-" + hexadecimal(rng, 24, 33),
        model=pick(rng, ("BAAI/bge-m3", "intfloat/multilingual-e5-large", "Qwen/Qwen3-Embedding-0.6B")),
        embeddings=floats(rng, (batch, dims), dtype),
        usage=Usage(tokens, tokens, maybe(rng, integer(rng, 0, tokens))),
    )


def _logprobs(rng: Rng, _number: int, *, tokens: int, alternatives: int) -> Logprobs:
    return Logprobs(
        request_id="cmpl-" + hexadecimal(rng, 24, 33),
        token_ids=rng.integers(0, 128_256, (tokens, alternatives), dtype=np.int32),
        logprobs=-rng.standard_exponential((tokens, alternatives), dtype=np.float32),
    )


def _experts(rng: Rng, _number: int, *, tokens: int, layers: int, chosen: int) -> RoutedExperts:
    return RoutedExperts("cmpl-" + hexadecimal(rng, 24, 33), _bytes(rng, (tokens, layers, chosen)))


def _vision_patches(rng: Rng, _number: int, *, images: int, patches: int, width: int, dtype: str) -> VisionPatches:
    return VisionPatches(
        request_id="chatcmpl-" + hexadecimal(rng, 24, 33),
        images=[ImagePatches(1, patches, floats(rng, (patches, width), dtype)) for _ in range(images)],
    )


def _prompt_embeds(rng: Rng, _number: int, *, tokens: int, hidden: int, dtype: str) -> PromptEmbeds:
    return PromptEmbeds("cmpl-" + hexadecimal(rng, 24, 33), pick(rng, MODELS), floats(rng, (tokens, hidden), dtype))


def _video(rng: Rng, number: int, *, frames: int, height: int, width: int) -> VideoClip:
    return VideoClip("clip-" + hexadecimal(rng, 8, 17), 24.0 + number % 2, _bytes(rng, (frames, height, width, 3)))


def _robot_observation(
    rng: Rng, number: int, *, cameras: int, height: int, width: int, joints: int
) -> RobotObservation:
    return RobotObservation(
        step=number,
        stamp_ns=EPOCH_NS + integer(rng, 0, 1 << 50),
        instruction="pick up" + text(rng, integer(rng, 4, 12)),
        cameras=[NamedTensor(name, _bytes(rng, (height, width, 3))) for name in _CAMERAS[:cameras]],
        state=floats(rng, (joints,), "float32"),
    )


def _robot_action(rng: Rng, number: int, *, steps: int, size: int) -> RobotAction:
    return RobotAction(number, EPOCH_NS + integer(rng, 0, 1 << 50), floats(rng, (steps, size), "float32"))


def _kv_block(rng: Rng, number: int, *, tokens: int, layers: int, heads: int, head_size: int, dtype: str) -> KvBlock:
    return KvBlock(
        block_hash=int(rng.integers(0, 1 << 64, dtype=np.uint64)),
        parent_hash=maybe(rng, int(rng.integers(0, 1 << 64, dtype=np.uint64))),
        first_token=number * tokens,
        keys_and_values=floats(rng, (layers, 2, tokens, heads, head_size), dtype),
    )


def _detector(rng: Rng, _number: int, *, batch: int, height: int, width: int) -> DetectorInput:
    first = integer(rng, 0, 1 << 40)
    return DetectorInput(list(range(first, first + batch)), _bytes(rng, (batch, height, width, 3)))


def _bytes_tensor(rng: Rng, _number: int, *, rows: int, size: int) -> BytesTensor:
    lengths = (size + rng.integers(-(size // 8), size // 8 + 1, rows)).tolist()
    return BytesTensor("TEXT_" + hexadecimal(rng, 2, 9), [rows, 1], [rng.bytes(length) for length in lengths])


def _arrays(rng: Rng, _number: int, *, rows: int, columns: int, depth: int) -> DoubleArray:
    return DoubleArray("points_" + hexadecimal(rng, 2, 9), rng.standard_normal((rows, columns, depth)))


def _bytes(rng: Rng, shape: tuple[int, ...]) -> npt.NDArray[np.uint8]:
    return rng.integers(0, 256, shape, dtype=np.uint8)


ENTRIES: dict[str, Entry] = {
    "embeddings": Entry(
        "embeddings of a batch of texts; 0.5 MiB",
        EmbeddingBatch,
        _embeddings,
        "/usage/prompt_tokens",
        "/embeddings",
        {"batch": Count(64), "dims": Count(4096), "dtype": Choice("float16", _FLOATS)},
    ),
    "logprobs": Entry(
        "token ids and log probabilities; 0.5 MiB",
        Logprobs,
        _logprobs,
        "/request_id",
        "/logprobs",
        {"tokens": Count(32_768), "alternatives": Count(2)},
    ),
    "experts": Entry(
        "routed experts of a mixture of experts, uint8; 11.5 MB",
        RoutedExperts,
        _experts,
        "/request_id",
        "/experts",
        {"tokens": Count(30_000), "layers": Count(48), "chosen": Count(8)},
    ),
    "vision-patches": Entry(
        "image patches for a vision encoder; 21.5 MiB an image",
        VisionPatches,
        _vision_patches,
        "/images/0/columns",
        "/images/0/patches",
        {
            "images": Count(1, high=64),
            "patches": Count(4784),
            "width": Count(1176),
            "dtype": Choice("float32", _FLOATS),
        },
    ),
    "prompt-embeds": Entry(
        "a prompt as embeddings; 60 MiB",
        PromptEmbeds,
        _prompt_embeds,
        "/model",
        "/embeds",
        {"tokens": Count(8192), "hidden": Count(3840), "dtype": Choice("bfloat16", _FLOATS)},
    ),
    "video": Entry(
        "frames of a video, uint8; 47 MB (frames=121: 357 MB)",
        VideoClip,
        _video,
        "/frames_per_second",
        "/frames",
        {"frames": Count(16), "height": Count(768), "width": Count(1280)},
    ),
    "robot-observation": Entry(
        "camera images and joints of a robot; 0.3 MB",
        RobotObservation,
        _robot_observation,
        "/step",
        "/cameras/0/data",
        {"cameras": Count(2, high=8), "height": Count(224), "width": Count(224), "joints": Count(14)},
    ),
    "robot-action": Entry(
        "the actions of a robot's policy; 6.4 kB",
        RobotAction,
        _robot_action,
        "/step",
        "/actions",
        {"steps": Count(50), "size": Count(32)},
    ),
    "kv-block": Entry(
        "a block of a KV cache, 8B-class model; 2 MiB (tokens=256: 32 MiB)",
        KvBlock,
        _kv_block,
        "/block_hash",
        "/keys_and_values",
        {
            "tokens": Count(16),
            "layers": Count(32),
            "heads": Count(8),
            "head_size": Count(128),
            "dtype": Choice("bfloat16", _FLOATS),
        },
    ),
    "detector": Entry(
        "a batch of images for a detector, uint8; 2.9 MB",
        DetectorInput,
        _detector,
        "/frame_ids/0",
        "/images",
        {"batch": Count(4), "height": Count(384), "width": Count(640)},
    ),
    "bytes-tensor": Entry(
        "Triton's BYTES tensor; 9 MB",
        BytesTensor,
        _bytes_tensor,
        "/name",
        None,
        {"rows": Count(10_000), "size": Count(900)},
    ),
    "arrays": Entry(
        "an array of float64; 0.96 MB",
        DoubleArray,
        _arrays,
        "/name",
        "/values",
        {"rows": Count(10_000), "columns": Count(3), "depth": Count(4)},
    ),
}
"""By name, in the order of listings."""
