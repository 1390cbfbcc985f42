"""What codecs share whose messages are a head and then the data of tensors, one behind the other.

A codec gives three methods: how a tree becomes a head and data, how a head is read, and how it becomes a tree again. The
segments of a message are the head and each tensor's own memory; joined, they are the message.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

from zcser.core.buffers import Buffer, byte_views, writable_view, write_pieces
from zcser.core.codec import Reads
from zcser.core.errors import BufferTooSmallError, DecodeError, EncodeError, TruncatedError
from zcser.core.options import Options
from zcser.core.view import View
from zcser.schema.model import Schema
from zcser.tree.codec import TreeWriter
from zcser.tree.form import Form
from zcser.tree.read import tree_reader
from zcser.tree.views import Span, TreeViews, filled

__all__ = ["DataOf", "Head", "MemoryOf", "SplitCodec"]

T = TypeVar("T")

DataOf = Callable[[int, int], Any]
"""What stands in a tree for the data of a tensor, by its number; less some bytes at their beginning."""

MemoryOf = Callable[[int], memoryview]
"""The data of a tensor themselves."""


class Head(NamedTuple):
    """A head that was read.

    Attributes
    ----------
    parsed
        What the codec makes of it.
    size
        Its bytes.
    sizes
        Those of the data behind it.
    """

    parsed: Any
    size: int
    sizes: list[int]


class SplitCodec(TreeWriter[T]):
    """A head, and data behind it.

    Notes
    -----
    Copies: `encode` and `encode_into` copy each tensor once, `encode_segments` none. `decode` copies what it gives; with
    ``copy=False``, and in views, tensors and bytes alias the message, but for a tensor whose address does not fit its dtype,
    which is copied. Lifetime: what aliases keeps the buffer alive.
    """

    form = Form(native_bytes=True, finite=True, text_keys=True, big_ints=False, surrogates=True, tags_unions=True)
    reads: ClassVar[dict[str, Reads]] = {"str": "parse", "bytes": "alias", "tensor": "alias", "list": "parse"}
    joinable = True
    ends_itself = True
    self_delimiting = True

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        self._read = functools.partial(tree_reader(schema, self.form, options, copy=True, lifts=True), blobs=())
        self._read_nocopy = functools.partial(tree_reader(schema, self.form, options, copy=False, lifts=True), blobs=())
        self._views = TreeViews(schema, self.form, options, self.name)

    def _take_apart(self, tree: Any) -> list[bytes | memoryview]:
        """The head, and then the data of each tensor."""
        raise NotImplementedError

    def _read_head(self, data: memoryview) -> Head:
        """Read the head at the beginning of a message, which `data` may hold more of."""
        raise NotImplementedError

    def _put_together(self, parsed: Any, data_of: DataOf, memory_of: MemoryOf) -> Any:
        """The tree of a head."""
        raise NotImplementedError

    def _dumps(self, tree: Any, /) -> bytes:
        return b"".join(self._take_apart(tree))

    def _loads(self, data: Any, /) -> Any:
        view = memoryview(data).toreadonly()
        head, places = self._whole(view)
        return self._put_together(
            head.parsed,
            lambda number, skip: view[places[number][0] + skip : places[number][1]],
            lambda number: view[slice(*places[number])],
        )

    def _whole(self, data: memoryview) -> tuple[Head, list[tuple[int, int]]]:
        """The head of a message in one piece, and where the data lie."""
        head = self._read_head(data)
        ends = list(itertools.accumulate(head.sizes, initial=head.size))
        if len(data) < ends[-1]:
            raise TruncatedError(f"the data end at {ends[-1]}", codec=self.name, offset=len(data))
        if len(data) > ends[-1]:
            raise DecodeError("bytes stand behind the data", codec=self.name, offset=ends[-1])
        return head, list(itertools.pairwise(ends))

    def _parts(self, value: T) -> tuple[list[bytes | memoryview], int]:
        """The segments of a value, and their size."""
        tree = self.convert(value)
        try:
            segments = self._take_apart(tree)
        except Exception as error:  # noqa: BLE001 - of many kinds, by what the value holds
            normal = self._write_normal(value, error, self._write)
            try:
                segments = self._take_apart(normal)
            except EncodeError:
                raise
            except Exception:  # noqa: BLE001 - the first error is the one to tell
                self._give_up(error)
        size = sum(map(len, segments))
        self._bound_bytes(size)
        if size > self.options.limits.elements and self._guarded:
            self._normalise(value)
        return segments, size

    def encode(self, value: T) -> bytes:
        """See `Codec.encode`."""
        return b"".join(self._parts(value)[0])

    def dump(self, native: Any) -> bytes:
        """Bytes of a tree."""
        try:
            return super().dump(native)
        except EncodeError as error:
            raise error.__cause__ if isinstance(error.__cause__, EncodeError) else error from None

    def encode_segments(self, value: T) -> list[memoryview]:
        """See `Codec.encode_segments`: the head, then a segment for each tensor."""
        return [memoryview(segment) for segment in self._parts(value)[0]]

    def encode_into(self, value: T, out: Buffer, offset: int = 0) -> int:
        """See `Codec.encode_into`."""
        segments, size = self._parts(value)
        room = writable_view(out, offset, codec=self.name)
        if size > len(room):
            raise BufferTooSmallError(size, len(room), codec=self.name)
        write_pieces(segments, room, size)
        return size

    def encoded_size(self, value: T) -> int:
        """See `Codec.encoded_size`; the head is written for it."""
        return self._parts(value)[1]

    def decode_segments(self, segments: Sequence[Buffer], *, copy: bool = True) -> T:
        """See `Codec.decode_segments`. The segments are cut as `encode_segments` cuts them, or are one message."""
        parts = self._cut(segments)
        if len(parts) == 1:
            return self.decode(parts[0], copy=copy)
        head = self._head_of(parts)

        def tree_of() -> Any:
            return self._put_together(
                head.parsed, lambda number, skip: parts[number + 1][skip:], lambda number: parts[number + 1]
            )

        tree = self._guarded_tree(tree_of, parts)
        try:
            value: T = self._read(tree) if copy else self._read_nocopy(tree)
        except Exception as error:
            raise self._not_restored(tree_of(), error) from error
        return value

    def view(self, data: Buffer, *, verify: bool = True) -> View:  # noqa: ARG002 - nothing is left to be trusted
        """See `Codec.view`. The head is checked whatever `verify` says: nothing can be found without it."""
        flat = memoryview(self._flat(data)).toreadonly()
        head, places = self._whole(flat)
        return self._opened(
            head.parsed,
            lambda number, skip: Span(0, places[number][0] + skip, places[number][1]),
            lambda number: flat[slice(*places[number])],
            [flat],
        )

    def view_segments(self, segments: Sequence[Buffer], *, verify: bool = True) -> View:
        """See `Codec.view_segments` and `decode_segments`."""
        parts = self._cut(segments)
        if len(parts) == 1:
            return self.view(parts[0], verify=verify)
        head = self._head_of(parts)
        return self._opened(
            head.parsed,
            lambda number, skip: Span(number + 1, skip, head.sizes[number]),
            lambda number: parts[number + 1],
            parts,
        )

    def _cut(self, segments: Sequence[Buffer]) -> list[memoryview]:
        parts = [part.toreadonly() for part in byte_views(segments, codec=self.name)]
        if not parts:
            raise DecodeError("a message has one segment at least", codec=self.name)
        if sum(map(len, parts)) > self.options.limits.bytes:
            raise DecodeError("the segments together are more than limits.bytes", codec=self.name)
        return parts

    def _head_of(self, parts: Sequence[memoryview]) -> Head:
        head = self._read_head(parts[0])
        if len(parts[0]) != head.size or [len(part) for part in parts[1:]] != head.sizes:
            raise DecodeError(f"these {len(parts)} segments are not those of one message", codec=self.name)
        return head

    def _opened(self, parsed: Any, data_of: DataOf, memory_of: MemoryOf, data: list[memoryview]) -> View:
        tree = self._guarded_tree(lambda: self._put_together(parsed, data_of, memory_of), data)
        view: View = self._views.open(tree, data)
        return view

    def _guarded_tree(self, tree_of: Callable[[], Any], data: Sequence[memoryview]) -> Any:
        """A tree whose items were counted, where the first segment is long enough to hold too many."""
        try:
            tree = tree_of()
        except DecodeError:
            raise
        except Exception as error:
            raise self._not_loaded(error) from error
        if len(data[0]) > self.options.limits.elements:
            self._bound_elements(filled(tree, data))
        return tree
