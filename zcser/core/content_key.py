"""What a content key is, and the hashes that make one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any, Protocol

from zcser.core.errors import CodecUnavailableError
from zcser.core.words import brief

__all__ = ["ContentKey", "Hasher", "new_hasher"]


class Hasher(Protocol):
    """What hashlib, blake3 and xxhash have in common."""

    def update(self, data: Any, /) -> Any:
        """Take more bytes."""

    def digest(self) -> bytes:
        """Of all bytes taken."""


ALGORITHMS = {
    "sha256": ("hashlib", "sha256", 32),
    "blake3": ("blake3", "blake3", 32),
    "xxh3_128": ("xxhash", "xxh3_128", 16),
}
"""By name: a module, its class, bytes of a digest. Nobody can make two values meet in the first two; the third is for
caches in which nobody would try."""


def new_hasher(algorithm: str) -> Hasher:
    """The hash of an algorithm's name, of nothing yet.

    Raises
    ------
    ValueError, CodecUnavailableError
        There is no such algorithm, or its library is not installed.
    """
    _check_algorithm(algorithm)
    module, name, _ = ALGORITHMS[algorithm]
    try:
        hasher: Hasher = getattr(import_module(module), name)()
    except ImportError:
        raise CodecUnavailableError(f"content keys of {algorithm!r} need {module}: pip install 'zcser[hash]'") from None
    return hasher


def _check_algorithm(algorithm: str) -> None:
    if algorithm not in ALGORITHMS:
        raise ValueError(f"no hash of content keys is named {algorithm!r}; known: {', '.join(ALGORITHMS)}")


@dataclass(frozen=True, slots=True)
class ContentKey:
    """A key that equal content has everywhere: in every process and codec, on every platform, in every version.

    A key may stand in a value in place of what it is the key of, so that keys are made of keys.

    Attributes
    ----------
    algorithm
        The hash: a name out of sha256, blake3 and xxh3_128.
    digest
        32 bytes; 16 of xxh3_128.
    parts
        The keys of named parts, where it is their combination; they do not count when two keys are compared.
    """

    algorithm: str
    digest: bytes
    parts: Mapping[str, ContentKey] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        _check_algorithm(self.algorithm)
        size = ALGORITHMS[self.algorithm][2]
        if type(self.digest) is not bytes or len(self.digest) != size:
            raise ValueError(f"a digest of {self.algorithm} is {size} bytes, not {brief(self.digest)}")
        object.__setattr__(self, "parts", MappingProxyType(dict(self.parts)))

    @classmethod
    def parse(cls, text: str) -> ContentKey:
        """The key of a text that `str` gave.

        Raises
        ------
        ValueError
            It is none.
        """
        algorithm, _, digits = text.partition(":")
        if digits != digits.lower() or not digits.isalnum():
            raise ValueError(f"a content key is written as ALGORITHM:HEX in lower case, not {brief(text)}")
        return cls(algorithm, bytes.fromhex(digits))

    def __str__(self) -> str:
        return f"{self.algorithm}:{self.digest.hex()}"

    def __bytes__(self) -> bytes:
        return self.digest

    def __reduce__(self) -> tuple[Any, ...]:
        # A mappingproxy does not pickle.
        return ContentKey, (self.algorithm, self.digest, dict(self.parts))
