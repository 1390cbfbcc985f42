"""Codecs that give something else than was promised: kept bytes, other kinds, changed values, copies."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from tests.testing.faulty.good import Good, GoodPacked, GoodViews, fault
from zcser.core.buffers import byte_view
from zcser.core.errors import EncodeError
from zcser.core.fidelity import field_names

# --- bytes that are kept ---


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


# --- results of another kind ---


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


# --- values that change ---


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


# --- copies ---


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
