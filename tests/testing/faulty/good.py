"""Codecs without a fault, which those with one are made of, and the list of the latter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zcser import registry
from zcser.core.codec import Codec
from zcser.core.options import Options

FAULTS: list[tuple[type[Codec[Any]], str, str, str]] = []
"""Codec, law, a word of the finding, and the schema with which it shows."""


def fault(law: str, word: str, case: str = "sized") -> Callable[[type], type]:
    def register(cls: type) -> type:
        FAULTS.append((cls, law, word, case))
        return cls

    return register


class Good(Codec[Any]):
    """Passes everything on to a good codec, of which it has what it says it has."""

    inner_name = "json"
    name, format, wire, library = "json", "of the good codec", "json", "json"
    self_delimiting = True

    def __init__(self, schema: Any, options: Options) -> None:
        super().__init__(schema, options)
        self.inner = registry.codec_class(self.inner_name)(schema, self.inner_options(options))
        self.kept: dict[Any, Any] = {}
        self.prepare()
        self._seal()

    def inner_options(self, options: Options) -> Options:
        return options

    def prepare(self) -> None:
        pass

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        return "1", "Python"

    def encode(self, value: Any) -> Any:
        return self.inner.encode(value)

    def decode(self, data: Any, *, copy: bool = True) -> Any:
        return self.inner.decode(data, copy=copy)


class GoodPacked(Good):
    """The same of MessagePack, with segments and encode_into."""

    inner_name = name = wire = "msgpack"

    def encode_into(self, value: Any, out: Any, offset: int = 0) -> Any:
        return self.inner.encode_into(value, out, offset)

    def encode_segments(self, value: Any) -> list[memoryview]:
        return self.inner.encode_segments(value)

    def decode_segments(self, segments: Any, *, copy: bool = True) -> Any:
        return self.inner.decode_segments(segments, copy=copy)


class GoodViews(Good):
    """The same of flatbuffers, with views."""

    inner_name = name = wire = "flatbuffers"
    self_delimiting = False
    reads = {"str": "parse", "bytes": "alias", "tensor": "alias", "list": "alias"}

    def view(self, data: Any, *, verify: bool = True) -> Any:
        return self.inner.view(data, verify=verify)
