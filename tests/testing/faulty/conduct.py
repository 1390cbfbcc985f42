"""Codecs that do not behave: set-up on the clock, half-written buffers, options and limits passed over."""

from __future__ import annotations

import dataclasses
import hashlib
import time
from typing import Any

from tests.testing.faulty.good import Good, GoodPacked, fault
from zcser.core.errors import EncodeError, SchemaError
from zcser.core.options import Options

# --- set-up on the clock ---


@fault("set-up", "first encode of a codec makes")
class SetsUpInTheFirstEncode(Good):
    def encode(self, value: Any) -> Any:
        if "table" not in self.kept:
            self.kept["table"] = [chr(number) for number in range(500)]
        return self.inner.encode(value)


@fault("set-up", "first decode of a codec makes")
class SetsUpInTheFirstDecode(Good):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        if "table" not in self.kept:
            self.kept["table"] = [chr(number) for number in range(500)]
        return self.inner.decode(data, copy=copy)


@fault("set-up", "ms more than later ones")
class SetsUpInOneCallOfC(Good):
    def encode(self, value: Any) -> Any:
        if "table" not in self.kept:
            self.kept["table"] = hashlib.pbkdf2_hmac("sha256", b"", b"", 60_000)
        return self.inner.encode(value)


# --- writing ---


@fault("encode_into", "left a part of a message in a buffer that was too small")
class WritesHalf(GoodPacked):
    def encode_into(self, value: Any, out: Any, offset: int = 0) -> Any:
        try:
            return self.inner.encode_into(value, out, offset)
        except EncodeError:
            if type(out) is bytearray and len(out) > offset >= 0:
                out[offset] = 0x83
            raise


@fault("encode_into", "raises no BufferTooSmallError")
class GrowsTheBuffer(GoodPacked):
    def encode_into(self, value: Any, out: Any, offset: int = 0) -> Any:
        data = self.inner.encode(value)
        out[offset : offset + len(data)] = data
        return len(data)


@fault("encode_into", "wrote outside")
class WritesBehindItsPart(GoodPacked):
    def encode_into(self, value: Any, out: Any, offset: int = 0) -> Any:
        size = self.inner.encode_into(value, out, offset)
        if len(out) > offset + size:
            out[offset + size] = 0
        return size


@fault("encode_into", "not the number of bytes")
class GivesNoSize(GoodPacked):
    def encode_into(self, value: Any, out: Any, offset: int = 0) -> Any:
        self.inner.encode_into(value, out, offset)


@fault("big tensors", "copies 131072 of the 131072 bytes")
class CopiesIntoSegments(GoodPacked):
    def encode_segments(self, value: Any) -> list[memoryview]:
        return [memoryview(bytes(part)) for part in self.inner.encode_segments(value)]


@fault("segments", "segments decode to another value")
class LosesASegment(GoodPacked):
    def decode_segments(self, segments: Any, *, copy: bool = True) -> Any:
        value = self.inner.decode_segments(segments, copy=copy)
        return {**value, "list": value["list"][::-1]}


@fault("info", "of encode_segments and decode_segments there is one alone")
class HasNoInverse(Good):
    def encode_segments(self, value: Any) -> list[memoryview]:
        return [memoryview(self.inner.encode(value))]


# --- conduct ---


@fault("info", "info does not say library")
class NamesNoLibrary(Good):
    library = ""


@fault("immutable", "'options' of the codec can be set")
class CanBeChanged(Good):
    def _seal(self) -> None:
        pass


@fault("immutable", "does not pickle")
class DoesNotPickle(Good):
    def __reduce__(self) -> Any:
        raise TypeError("cannot pickle a parser")


@fault("immutable", "another class, schema or options")
class PicklesWithoutItsOptions(Good):
    def inner_options(self, options: Options) -> Options:
        return options

    def __reduce__(self) -> Any:
        return type(self), (self.schema, dataclasses.replace(self.options, limits=type(self.options.limits)(depth=7)))


@fault("threads", "hreads")
class HasOneScratch(Good):
    def encode(self, value: Any) -> Any:
        self.kept["value"] = value
        time.sleep(0.0005)
        return self.inner.encode(self.kept["value"])


@fault("size of messages", "passes over limits.bytes")
@fault("limits", "passes over limits.depth", "recursive")
class KnowsNoLimits(Good):
    def inner_options(self, options: Options) -> Options:
        return dataclasses.replace(options, limits=Options().limits)


@fault("options", "strict=True takes", "numbers")
class IsNeverStrict(Good):
    def inner_options(self, options: Options) -> Options:
        return dataclasses.replace(options, strict=False)


@fault("options", "the order of a dict's keys shows", "maps")
class IsNeverDeterministic(Good):
    def inner_options(self, options: Options) -> Options:
        return dataclasses.replace(options, deterministic=False)


@fault("unknown fields", "takes a message with an unknown field")
class NeverRefusesUnknownFields(Good):
    def inner_options(self, options: Options) -> Options:
        return dataclasses.replace(options, unknown_fields="drop")


@fault("trusted bytes", "without allow_untrusted_code")
class TrustsEverybody(Good):
    inner_name = name = wire = "pickle5"
    trusted_only = True

    def inner_options(self, options: Options) -> Options:
        return dataclasses.replace(options, allow_untrusted_code=True)


@fault("schemas", "every schema is refused")
class RefusesEverySchema(Good):
    def prepare(self) -> None:
        raise SchemaError("no", path="", codec=self.name)
