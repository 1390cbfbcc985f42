"""Codecs with one deliberate fault each, around a good one. `FAULTS` says which law must find it."""

from __future__ import annotations

import dataclasses
import hashlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from zcser import registry
from zcser.core.buffers import byte_view
from zcser.core.codec import Codec
from zcser.core.errors import DecodeError, EncodeError, SchemaError
from zcser.core.fidelity import field_names
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


# --- bytes that are kept --------------------------------------------------------------------------------------------------


@fault("changed values", "what it gave before")
class KeepsBytesByIdentity(Good):
    def encode(self, value: Any) -> Any:
        data, _ = self.kept.setdefault(id(value), (self.inner.encode(value), value))
        return bytes(bytearray(data))


@fault("results of one's own", "keeps encoded messages")
class KeepsBytesByContent(Good):
    def encode(self, value: Any) -> Any:
        data = self.inner.encode(value)
        return self.kept.setdefault(data, data)


@fault("results of one's own", "share a buffer")
class ReusesItsBuffer(Good):
    def prepare(self) -> None:
        self.scratch = bytearray(1 << 16)

    def encode(self, value: Any) -> Any:
        data = self.inner.encode(value)
        self.scratch[: len(data)] = data
        return memoryview(self.scratch)[: len(data)]


@fault("results of one's own", "share a buffer")
class ReusesItsSegments(GoodPacked):
    def prepare(self) -> None:
        self.scratch = bytearray(1 << 16)

    def encode_segments(self, value: Any) -> list[memoryview]:
        data = self.inner.encode(value)
        self.scratch[: len(data)] = data
        return [memoryview(self.scratch)[: len(data)]]


@fault("decoded values of one's own", "same dict object")
class KeepsDecodedValues(Good):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        value = self.inner.decode(data, copy=copy)
        return self.kept.setdefault((bytes(data), copy), value)


@fault("decoded values of one's own", "same list object", "lists")
class SharesEmptyLists(Good):
    def prepare(self) -> None:
        self.nothing: list[Any] = []

    def decode(self, data: Any, *, copy: bool = True) -> Any:
        value = self.inner.decode(data, copy=copy)
        return dataclasses.replace(value, flags=value.flags or self.nothing)


@fault("changed values", "decoded as before")
class KeepsDecodedBuffers(Good):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        if type(data) is not bytearray:
            return self.inner.decode(data, copy=copy)
        known = self.kept.setdefault(id(data), (data, bytes(data)))[1]
        return self.inner.decode(known, copy=copy)


# --- results of another kind ----------------------------------------------------------------------------------------------


@fault("types of results", "bytearray, not bytes")
class GivesBytearrays(Good):
    def encode(self, value: Any) -> Any:
        return bytearray(self.inner.encode(value))


@fault("types of results", "str, not bytes")
class DumpsText(Good):
    def convert(self, value: Any) -> Any:
        return self.inner.convert(value)

    def dump(self, native: Any) -> Any:
        return self.inner.dump(native).decode()


@fault("types of results", "encoded_size says")
class SaysAnotherSize(Good):
    def encoded_size(self, value: Any) -> int:
        return len(self.inner.encode(value)) + 1


@fault("types of results", "not a zcser View")
class ViewsAreDicts(GoodViews):
    def view(self, data: Any, *, verify: bool = True) -> Any:
        return self.inner.decode(data)


@fault("fidelity", "a dict where Texts objects were promised", "texts")
class GivesDicts(Good):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        value = self.inner.decode(data, copy=copy)
        return dataclasses.asdict(value) if dataclasses.is_dataclass(value) else value


@fault("fidelity", "list", "tuples")
class GivesListsForTuples(Good):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        value = self.inner.decode(data, copy=copy)
        return dataclasses.replace(value, any_length=list(value.any_length))


# --- values that change ---------------------------------------------------------------------------------------------------


@fault("fidelity", "changed on the way", "numbers")
class RoundsFloats(Good):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        value = self.inner.decode(data, copy=copy)
        return dataclasses.replace(value, f64=float(np.float32(value.f64)))


@fault("fidelity", "takes what does not fit", "numbers")
class TakesAnything(GoodPacked):
    def encode(self, value: Any) -> Any:
        try:
            return self.inner.encode(value)
        except EncodeError:
            return b"\xc0"


@fault("fidelity", "has no path", "numbers")
class RefusesWithoutAPath(Good):
    def encode(self, value: Any) -> Any:
        try:
            return self.inner.encode(value)
        except EncodeError as error:
            raise EncodeError(error.reason, codec=self.name) from None


@fault("fidelity", "KeyError", "numbers")
class RaisesWhatItLikes(Good):
    def encode(self, value: Any) -> Any:
        try:
            return self.inner.encode(value)
        except EncodeError:
            raise KeyError("what the library raises") from None


@fault("plain values", "a plain value is refused", "numbers")
class RefusesEverything(Good):
    def encode(self, value: Any) -> Any:
        if field_names(value):
            raise EncodeError("no", path="", codec=self.name)
        return self.inner.encode(value)


@fault("every way of reading", "decode(copy=False)")
class ReadsOtherwiseWithoutCopies(Good):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        value = self.inner.decode(data, copy=copy)
        return value if copy else {**value, "str": value["str"].upper()}


# --- set-up on the clock --------------------------------------------------------------------------------------------------


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


# --- copies ---------------------------------------------------------------------------------------------------------------


@fault("aliases", "calls tensor 'alias', and what view gives is a copy")
class CallsACopyAnAlias(GoodViews):
    def view(self, data: Any, *, verify: bool = True) -> Any:
        return self.inner.view(bytes(byte_view(data, codec=self.name)), verify=verify)


@fault("aliases", "calls bytes 'copy', and what view gives lies in the message")
class CallsAnAliasACopy(GoodViews):
    reads = {"str": "parse", "bytes": "copy", "tensor": "copy", "list": "alias"}


@fault("aliases", "says nothing of list")
class SaysNothingOfLists(GoodViews):
    reads = {"str": "parse", "bytes": "alias", "tensor": "alias"}


@fault("copies", "read-only")
class GivesReadOnlyArrays(Good):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        value = self.inner.decode(data, copy=copy)
        value["tensor"].flags.writeable = False
        return value


@fault("copies", "changes with the message")
class NeverCopies(GoodViews):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        value = self.inner.decode(data, copy=False)
        return {**value, "bytes": bytes(value["bytes"])} if copy else value


@fault("copies", "can be written to")
class GivesWritableViews(Good):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        value = self.inner.decode(data, copy=copy)
        return value if copy else {**value, "tensor": value["tensor"].copy()}


@fault("lifetime", "not there any more")
class ReadsFromItsScratch(GoodViews):
    reads = {"str": "parse", "bytes": "copy", "tensor": "copy", "list": "copy"}

    def prepare(self) -> None:
        self.scratch = bytearray(1 << 16)

    def decode(self, data: Any, *, copy: bool = True) -> Any:
        flat = byte_view(data, codec=self.name)
        if copy or len(flat) > len(self.scratch):
            return self.inner.decode(flat, copy=copy)
        self.scratch[: len(flat)] = flat
        return self.inner.decode(memoryview(self.scratch)[: len(flat)], copy=False)


@fault("changed values", "keeps hold of the caller's buffer")
class KeepsTheBuffer(Good):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        self.kept[len(self.kept)] = memoryview(data) if isinstance(data, bytearray) else None
        return self.inner.decode(data, copy=copy)


# --- writing --------------------------------------------------------------------------------------------------------------


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


# --- conduct --------------------------------------------------------------------------------------------------------------


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


# --- hostile bytes --------------------------------------------------------------------------------------------------------


@fault("hostile bytes", "instead of a DecodeError")
class LetsErrorsThrough(Good):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        try:
            return self.inner.decode(data, copy=copy)
        except DecodeError as error:
            raise error.__cause__ or IndexError("out of range") from None


@fault("hostile bytes", "no value of the schema")
class AnswersAnything(Good):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        try:
            return self.inner.decode(data, copy=copy)
        except DecodeError:
            return {"tensor": None}


@fault("hostile bytes", "names the codec")
class NamesNobody(Good):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        try:
            return self.inner.decode(data, copy=copy)
        except DecodeError as error:
            raise DecodeError(error.reason) from None


@fault("hostile bytes", "view and decode disagree")
class ViewsMore(GoodViews):
    def encode(self, value: Any) -> Any:
        data = self.inner.encode(value)
        self.kept[data] = True
        return data

    def decode(self, data: Any, *, copy: bool = True) -> Any:
        value = self.inner.decode(data, copy=copy)
        is_known = bytes(data) in self.kept or not isinstance(value, dict)
        return value if is_known else {**value, "str": "other"}


@fault("hostile bytes", "s of CPU")
class TakesItsTime(Good):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        try:
            return self.inner.decode(data, copy=copy)
        except DecodeError:
            end = time.thread_time() + 0.06
            while time.thread_time() < end:
                pass
            raise


@fault("cut messages", "though the codec says self_delimiting")
class ReadsCutMessages(Good):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        flat = bytes(byte_view(data, codec=self.name))
        for missing in (b"", b"}", b"]}"):
            try:
                return self.inner.decode(flat + missing, copy=copy)
            except DecodeError as error:
                last = error
        raise last


class Prefixed(Good):
    """Four bytes of length before each message."""

    def encode(self, value: Any) -> Any:
        data = self.inner.encode(value)
        return len(data).to_bytes(4, "little") + data

    def size(self, data: Any) -> tuple[int, memoryview]:
        flat = byte_view(data, codec=self.name)
        if len(flat) > self.options.limits.bytes:
            raise DecodeError("more than limits.bytes", codec=self.name)
        return int.from_bytes(flat[:4], "little"), flat[4:]


@fault("memory", "MiB of memory", "texts")
class BelievesLengths(Prefixed):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        size, rest = self.size(data)
        room = bytearray(min(size, 1 << 27))
        if len(room) != len(rest):
            raise DecodeError("another length", codec=self.name)
        return self.inner.decode(rest, copy=copy)


@fault("nesting", "RecursionError")
class RecursesWithoutEnd(Good):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        flat = bytes(byte_view(data, codec=self.name))

        def inside(at: int) -> int:
            return inside(at + 1) if flat[at : at + 1] == b"{" else at

        inside(0)
        return self.inner.decode(flat, copy=copy)


@fault("no buffer", "decode takes a str")
class TakesText(Good):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        if data == "text":
            return {"tensor": None}
        return self.inner.decode(data, copy=copy)


@fault("no buffer", "decode of a int raises TypeError")
class LeaksTypeErrors(Good):
    def decode(self, data: Any, *, copy: bool = True) -> Any:
        return self.inner.decode(memoryview(data), copy=copy)
