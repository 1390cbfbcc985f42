"""Tagged netstrings (https://tnetstrings.info): ``SIZE:DATA`` and a byte that says what the data is."""

from __future__ import annotations

import re
from typing import Any, TypeVar

from zcser.core.errors import DecodeError, TruncatedError
from zcser.core.options import Options
from zcser.schema.model import Schema
from zcser.tree.codec import TreeWriter
from zcser.tree.form import Form

T = TypeVar("T")

_SIZE = re.compile(rb"(0|[1-9][0-9]{0,9}):")
_INT = re.compile(rb"-?(0|[1-9][0-9]*)")
_FLOAT = re.compile(rb"-?([0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?|inf)|nan")
_WORDS = {(b"~", b""): None, (b"!", b"true"): True, (b"!", b"false"): False}


class TnetstringsCodec(TreeWriter[T]):
    """Text and bytes have one tag in this format, so that bytes and tensors are base64, as in JSON."""

    name = wire = "tnetstrings"
    format = "Tagged netstrings"
    library = "zcser-tnetstrings"
    form = Form(native_bytes=False, finite=False, text_keys=True, big_ints=True)
    ends_itself = True

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        return "1.0", "pure Python"

    def _dumps(self, tree: Any, /) -> bytes:
        return _write(tree)

    def _loads(self, data: Any, /) -> Any:
        data = bytes(data)
        tree, end = _read(data, 0, len(data))
        if end != len(data):
            raise DecodeError("the message ends before its bytes do", codec=self.name, offset=end)
        return tree


def _write(tree: Any) -> bytes:
    match tree:
        case None | bool():
            data, tag = {None: (b"", b"~"), True: (b"true", b"!"), False: (b"false", b"!")}[tree]
        case str():
            data, tag = tree.encode(), b","
        case int():
            data, tag = str(tree).encode(), b"#"
        case float():
            data, tag = repr(tree).encode(), b"^"
        case dict():
            data, tag = b"".join(_write(key) + _write(item) for key, item in tree.items()), b"}"
        case _:
            data, tag = b"".join(map(_write, tree)), b"]"
    return b"%d:%b%b" % (len(data), data, tag)


def _read(data: bytes, at: int, end: int) -> tuple[Any, int]:
    """The value at a place before `end`, and the place behind it."""
    head = _SIZE.match(data, at, end)
    if head is None:
        raise DecodeError("a size is needed", codec=TnetstringsCodec.name, offset=at)
    start, stop = head.end(), head.end() + int(head[1])
    if stop >= end:
        raise TruncatedError("a value ends behind what holds it", codec=TnetstringsCodec.name, offset=at)
    tag, raw = data[stop : stop + 1], data[start:stop] if data[stop] not in b"]}" else b""
    if tag == b",":
        return raw.decode(), stop + 1
    if tag == b"#" and _INT.fullmatch(raw):
        return int(raw), stop + 1
    if tag == b"^" and _FLOAT.fullmatch(raw):
        return float(raw), stop + 1
    if (tag, raw) in _WORDS:
        return _WORDS[tag, raw], stop + 1
    if tag not in (b"]", b"}"):
        raise DecodeError(f"{raw[:20]!r} is nothing of tag {tag!r}", codec=TnetstringsCodec.name, offset=at)
    items = []
    while start < stop:
        item, start = _read(data, start, stop)
        items.append(item)
    if tag == b"]":
        return items, stop + 1
    if len(items) % 2 or not all(isinstance(key, str) for key in items[::2]):
        raise DecodeError("a dict needs a text before each value", codec=TnetstringsCodec.name, offset=at)
    return dict(zip(items[::2], items[1::2], strict=True)), stop + 1
