"""Compressing messages: what a format's bytes come to after zlib, LZ4 and Zstandard, and what that costs.

1. Each library as its documentation recommends for whole messages: zlib and LZ4 frames by one call, which have no context to
   keep; Zstandard by one compressor and one decompressor that serve all calls.
2. Levels are the libraries' own defaults, and stand in the boundary of the operation.
3. What is compressed are the messages of the codec; encoding and decoding them is not inside.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from zcser.measure.bench import Bench
from zcser.measure.figures import Size
from zcser.measure.prepare import Prepared

__all__ = ["COMPRESSIONS", "COMPRESSORS", "Compressor", "preparing"]

Call = Callable[[Any], bytes]


@dataclass(frozen=True, slots=True)
class Compressor:
    """A way to compress.

    Attributes
    ----------
    name
        "zlib", "lz4" or "zstd".
    distribution
        Of the library, which is also its package; None: of the standard library.
    compress, decompress
        What is timed, in words.
    bind
        Gives the two calls.
    """

    name: str
    distribution: str | None
    compress: str
    decompress: str
    bind: Callable[[], tuple[Call, Call]]

    @property
    def installed(self) -> bool:
        """Whether it is here."""
        return self.distribution is None or importlib.util.find_spec(self.distribution) is not None

    @property
    def library(self) -> str:
        """The library's name and version, where it is installed."""
        if self.distribution is None:
            return f"zlib {importlib.import_module('zlib').ZLIB_RUNTIME_VERSION}"
        return f"{self.distribution} {version(self.distribution)}"

    @property
    def pip(self) -> str:
        """The command that installs it."""
        return "pip install 'zcser[compression]'"


def _zlib() -> tuple[Call, Call]:
    library = importlib.import_module("zlib")
    return functools.partial(library.compress, level=6), library.decompress


def _lz4() -> tuple[Call, Call]:
    library = importlib.import_module("lz4.frame")
    return library.compress, library.decompress


def _zstd() -> tuple[Call, Call]:
    library = importlib.import_module("zstandard")
    return library.ZstdCompressor(level=3).compress, library.ZstdDecompressor().decompress


COMPRESSORS: tuple[Compressor, ...] = (
    Compressor("zlib", None, "zlib.compress(bytes, level=6)", "zlib.decompress(bytes)", _zlib),
    Compressor("lz4", "lz4", "lz4.frame.compress(bytes) at level 0", "lz4.frame.decompress(bytes)", _lz4),
    Compressor(
        "zstd",
        "zstandard",
        "compress(bytes) of one zstandard.ZstdCompressor(level=3)",
        "decompress(bytes) of one zstandard.ZstdDecompressor()",
        _zstd,
    ),
)

COMPRESSIONS: dict[str, Compressor] = {
    f"{way}-{one.name}": one for one in COMPRESSORS for way in ("compress", "decompress")
}
"""The operations, by name."""


def preparing(operation: str) -> Callable[[Bench], Prepared]:
    """What binds a compression or decompression to a bench."""
    prepare = _compress if operation.startswith("compress-") else _decompress
    return functools.partial(prepare, COMPRESSIONS[operation])


def _compress(compressor: Compressor, bench: Bench) -> Prepared:
    compress, decompress = compressor.bind()

    def check(number: int, result: bytes) -> str | None:
        return None if decompress(result) == bench.wires[number] else "what was compressed is not what comes back"

    def size() -> Size:
        pairs = bench.derived(lambda number: (len(compress(bench.wires[number])), len(bench.wires[number])))
        made = pairs.arguments(bench.values.distinct)[: pairs.distinct]
        found, plain = (sorted(sizes) for sizes in zip(*made, strict=True))
        middle = (len(made) - 1) // 2
        return Size(found[middle], found[0], found[-1], plain_bytes=plain[middle])

    return Prepared(compress, bench.wires, check, size=size)


def _decompress(compressor: Compressor, bench: Bench) -> Prepared:
    compress, decompress = compressor.bind()

    def check(number: int, result: bytes) -> str | None:
        return None if result == bench.wires[number] else "what comes back is not what was compressed"

    return Prepared(decompress, bench.derived(lambda number: compress(bench.wires[number])), check)
