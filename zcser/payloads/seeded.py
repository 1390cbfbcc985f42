"""Seeded values: number n of a payload depends on the payload, `SEED` and n alone, the same in every process."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from zcser.core.dtypes import dtype_named

__all__ = [
    "EPOCH_NS",
    "MODELS",
    "SEED",
    "TOKENS",
    "Build",
    "Rng",
    "Seeded",
    "float32",
    "floats",
    "generator",
    "hexadecimal",
    "integer",
    "maybe",
    "mixed",
    "pick",
    "text",
]

SEED = 20_260_101

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

Rng: TypeAlias = np.random.Generator
Build: TypeAlias = Callable[[Rng, int], Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Seeded:
    """`Payload.make` of a built-in payload; pickles by the name of its function."""

    name: str
    build: Build

    def __call__(self, number: int) -> Any:
        """Value number `number`, as a fresh object."""
        return self.build(generator(self.name, number), number)


def generator(name: str, number: int) -> Rng:
    """The source of randomness of one value."""
    # crc32, because hash() of a str differs from process to process.
    return np.random.default_rng((zlib.crc32(name.encode()), SEED, number))


def integer(rng: Rng, low: int, high: int) -> int:
    """From `low` to `high` - 1."""
    return int(rng.integers(low, high))


def hexadecimal(rng: Rng, low: int, high: int) -> str:
    """Between `low` and `high` - 1 hexadecimal digits."""
    return rng.bytes(high // 2 + 1).hex()[: integer(rng, low, high)]


def pick(rng: Rng, items: tuple[T, ...]) -> T:
    """One of the items."""
    return items[integer(rng, 0, len(items))]


def maybe(rng: Rng, value: T) -> T | None:
    """The value, or in one case of three None."""
    return None if integer(rng, 0, 3) == 0 else value


def float32(value: float) -> float:
    """The nearest float32: what a float32 field gives back."""
    return float(np.float32(value))


def mixed(rng: Rng, items: dict[str, T]) -> dict[str, T]:
    """The same entries in another order."""
    keys = list(items)
    return {keys[place]: items[keys[place]] for place in rng.permutation(len(keys))}


def text(rng: Rng, tokens: int) -> str:
    """Prose of so many tokens, beyond ASCII in places."""
    return "".join(TOKENS[place] for place in rng.integers(0, len(TOKENS), tokens).tolist())


def floats(rng: Rng, shape: tuple[int, ...], dtype: str) -> npt.NDArray[Any]:
    """Random numbers from -0.5 up to 0.5 of any floating-point dtype of `zcser.core.dtypes`.

    Raises
    ------
    LookupError
        The dtype needs ml_dtypes, which is not installed.
    """
    values = rng.random(shape, dtype=np.float32)
    values -= np.float32(0.5)
    return values.astype(dtype_named(dtype), copy=False)
