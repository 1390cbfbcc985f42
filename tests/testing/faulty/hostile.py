"""Codecs that bytes of others harm."""

from __future__ import annotations

import time
from typing import Any

from tests.testing.faulty.good import Good, GoodViews, fault
from zcser.core.buffers import byte_view
from zcser.core.errors import DecodeError

# --- hostile bytes ---


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
