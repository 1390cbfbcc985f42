"""Arrow IPC by pyarrow: columns, in a stream of one record batch.

1. What stands in which column is `zcser.arrow.types`'; what is written and read is the tree of a value (`zcser.tree.form`),
   which `zcser.arrow.write` and `zcser.arrow.read` put into columns and take out of them.
2. The schema is the same for all messages, and is serialized once: a message is these bytes, a batch by
   ``RecordBatch.serialize``, and the end mark. One that begins with the same bytes has no other schema to be parsed.
3. pyarrow checks what it must to find its buffers; what they hold it trusts. With the guard on, `zcser.arrow.message` has
   read the frame before, and ``validate(full=True)`` the arrays after, before anything is taken from them.
4. Arrow is made for many rows. A message that is one record pays for its columns.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from zcser.arrow.message import END, split
from zcser.arrow.read import Read, Readers, count_items, refuse_disorder
from zcser.arrow.types import VALUE, columns_of
from zcser.arrow.write import batch_writer
from zcser.codecs.arrow.views import Message, Parts, Views
from zcser.core.buffers import Buffer, address, writable_view
from zcser.core.codec import Reads
from zcser.core.errors import BufferTooSmallError, DecodeError
from zcser.core.options import Options
from zcser.core.view import View
from zcser.schema.model import Kind, Schema
from zcser.tree.codec import TreeWriter
from zcser.tree.form import Form, parts_of
from zcser.tree.read import tree_reader

__all__ = ["ArrowCodec"]

T = TypeVar("T")

_ALIGNMENT = 8
"""Of the buffers in a stream, which pyarrow reads where they lie."""

_MOST_SCHEMAS = 16
"""Of other writers, that are remembered."""


class _Plan(NamedTuple):
    """How messages of one Arrow schema are read."""

    arrow: pa.Schema
    read: Read
    views: Callable[[], Views]


class ArrowCodec(TreeWriter[T]):
    """See the head of this module.

    Notes
    -----
    Copies: `encode` copies a tensor twice, into the batch and into the message, `encode_into` once. Several tensors of one
    column are joined first. `decode` copies what it gives; with ``copy=False``, and in views, bytes and tensors alias the
    message, but for a tensor whose address does not fit its dtype, which is copied; a message whose own address is no
    multiple of 8 is copied first. Lifetime: what aliases keeps the buffer alive.
    """

    name = "arrow"
    format = "Arrow IPC stream of one record batch"
    wire = "arrow"
    library = "pyarrow"
    form = Form(native_bytes=True, finite=False, text_keys=False, big_ints=False, tags_unions=True)
    reads: ClassVar[dict[str, Reads]] = {"str": "parse", "bytes": "alias", "tensor": "alias", "list": "parse"}
    ends_itself = True
    self_delimiting = True
    validates = False

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        self._columns = columns_of(schema, self.name)
        self._arrow = self._columns.arrow_schema
        self._head = self._arrow.serialize().to_pybytes()
        self._batch = batch_writer(self._columns)
        # Of a null or an empty struct a message holds no byte, of a bool one bit.
        weightless = any(part.kind is Kind.NULL for part in parts_of(schema)) or not all(
            record.fields for record in schema.records
        )
        self._most_unseen = 0 if weightless else options.limits.elements // 8
        # The trees hold views of a message where others hold bytes: what reads them must know both.
        self._read = functools.partial(tree_reader(schema, self.form, options, copy=True, lifts=True), blobs=())
        self._read_nocopy = functools.partial(tree_reader(schema, self.form, options, copy=False, lifts=True), blobs=())
        self._has_unions = any(part.kind is Kind.UNION for part in parts_of(schema))
        self._parts = Parts(schema, self.form, options, self.name)
        own = self._resolved(self._arrow)
        foreign = functools.lru_cache(_MOST_SCHEMAS)(self._foreign)
        self._plan_of: Callable[[memoryview], _Plan] = lambda head: own if head == self._head else foreign(bytes(head))
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of pyarrow, and its C++ library."""
        return pa.__version__, "C++"

    def _resolved(self, arrow: pa.Schema) -> _Plan:
        refuse = self.options.unknown_fields == "refuse"
        readers = Readers(self._columns, refuse_unknown=refuse, codec=self.name)
        struct = pa.struct(list(arrow))
        return _Plan(arrow, readers.rows(struct), functools.cache(lambda: Views(self._parts, readers, struct)))

    def _foreign(self, head: bytes) -> _Plan:
        """The plan of another writer's schema."""
        return self._resolved(pa.ipc.read_schema(pa.py_buffer(head)))

    # Both directions by way of the tree --------------------------------------------------------------------------------

    def _dumps(self, tree: Any, /) -> bytes:
        return b"".join((self._head, self._batch(tree).serialize(), END))

    def _loads(self, data: Any, /) -> Any:
        plan, rows = self._open(data)
        trees = plan.read(rows)
        return trees if self._columns.many else trees[0][VALUE] if self._columns.bare else trees[0]

    def _open(self, data: Any, *, verify: bool = True) -> tuple[_Plan, pa.StructArray]:
        """The rows of a message, and how they are read."""
        view = memoryview(data).toreadonly()
        if address(view) % _ALIGNMENT:
            view = np.frombuffer(view, np.uint8).copy().data.toreadonly()
        stream = split(view, self.name)
        plan = self._plan_of(stream.head)
        batch = pa.ipc.read_record_batch(pa.py_buffer(stream.batch), plan.arrow)
        if verify and self.options.guard == "on":
            batch.validate(full=True)
        if batch.num_rows != 1 and not self._columns.many:
            raise DecodeError(f"{batch.num_rows} rows: a message of this schema is one", codec=self.name)
        rows = batch.to_struct_array()
        if stream.rows + stream.nodes > self.options.limits.elements:
            self._bound_items(rows)
        if self._has_unions:
            refuse_disorder(rows, self.name)
        return plan, rows

    def _bound_items(self, rows: pa.StructArray) -> None:
        limit = self.options.limits.elements
        if count_items(rows) + (len(rows) if self._columns.many else 0) > limit:
            raise DecodeError(f"more items in all than limits.elements = {limit}", codec=self.name)

    def _bound(self, value: T, data: bytes) -> None:
        self._bound_size(value, len(data))

    def _bound_size(self, value: T, size: int) -> None:
        self._bound_bytes(size)
        if size > self._most_unseen and self._guarded:
            self._normalise(value)

    def _built(self, value: T) -> tuple[pa.RecordBatch, int]:
        """The batch of a value, and the size of the message."""
        tree = self.convert(value)
        try:
            batch = self._batch(tree)
        except Exception as error:  # noqa: BLE001 - of many kinds, by what the value holds
            normal = self._write_normal(value, error, self._write)
            try:
                batch = self._batch(normal)
            except Exception:  # noqa: BLE001 - the first error is the one to tell
                self._give_up(error)
        size = len(self._head) + pa.ipc.get_record_batch_size(batch) + len(END)
        self._bound_size(value, size)
        return batch, size

    def encoded_size(self, value: T) -> int:
        """See `Codec.encoded_size`; the columns are built for it."""
        return self._built(value)[1]

    def encode_into(self, value: T, out: Buffer, offset: int = 0) -> int:
        """See `Codec.encode_into`."""
        batch, size = self._built(value)
        room = writable_view(out, offset, codec=self.name)
        if size > len(room):
            raise BufferTooSmallError(size, len(room), codec=self.name)
        target = pa.py_buffer(room[:size])
        if any(_overlap(buffer, target) for column in batch.columns for buffer in column.buffers()):
            room[:size] = b"".join((self._head, batch.serialize(), END))
            return size
        with pa.ipc.new_stream(pa.FixedSizeBufferWriter(target), self._arrow) as writer:
            writer.write_batch(batch)
        return size

    def view(self, data: Buffer, *, verify: bool = True) -> View:
        """See `Codec.view`. With the guard off the arrays are not validated, whatever `verify` says."""
        flat = self._flat(data)
        try:
            plan, rows = self._open(flat, verify=verify)
            views = plan.views()
            view: View = views.open(Message(rows, views.root, len(flat)))
        except DecodeError:
            raise
        except Exception as error:
            raise self._not_loaded(error) from error
        return view


def _overlap(buffer: pa.Buffer | None, target: pa.Buffer) -> bool:
    """Whether a buffer lies in the memory that is to be written, where it would be written over before it is read."""
    return buffer is not None and (
        buffer.address < target.address + target.size and target.address < buffer.address + buffer.size
    )
