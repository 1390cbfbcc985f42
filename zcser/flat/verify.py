"""A verifier of FlatBuffers, generated from a layout: whether bytes are a message of a schema.

1. Every table that can be reached from the root is checked: its vtable, the place and alignment of each field, the
   length and alignment of each vector, the terminator and UTF-8 of each string, the number of each enum and union, the
   order of each map's keys, dtype and shape of each tensor, and that nothing required is missing. Bytes that nothing
   points to are not looked at.
2. What passes can be read in any way without leaving the buffer, and every reader finds the same value in it.
3. Offsets lead forward only, so that there are no cycles. What is reached twice counts twice, towards
   ``limits.elements`` and towards `AMPLIFICATION`: a few bytes cannot stand for a large message.
4. The first fault is an error with the path of the field and the offset of the bytes.

The rules are those of the FlatBuffers internals document and of the C++ ``Verifier``, and stricter in this: tables lie
inside the buffer as a whole, vectors are aligned to their elements, map keys ascend, enums and unions are closed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np

from zcser.core.errors import TruncatedError, VerifyError
from zcser.core.options import Limits
from zcser.core.paths import pointer
from zcser.core.source import Source
from zcser.flat import checks
from zcser.flat.checks import MOST_DIMENSIONS, Fault, Vtables, tensor_check
from zcser.flat.layout import Form, Layout, Missing, Slot, Table, element_form
from zcser.schema.model import Bytes, Enum, List, Map, Ref, Str, Tensor, Type, Union

__all__ = ["AMPLIFICATION", "SMALLEST", "Verifier"]

AMPLIFICATION = (1 << 20, 16)
"""The bytes of a message, each counted as often as it is reached, may be the first and the second times its size."""

SMALLEST = 12
"""Bytes of the smallest message: the root's offset, a table without fields, its vtable."""


class Verifier:
    """Checks messages of one layout; to be called with the buffer.

    Parameters
    ----------
    layout
        What the messages are made of.
    limits
        Bounds on depth, elements and bytes.
    refuse_unknown
        Refuse a table with a field in a slot that the layout does not have.
    codec
        Name that an error carries.
    """

    def __init__(
        self, layout: Layout, limits: Limits, *, refuse_unknown: bool = False, codec: str | None = None
    ) -> None:
        self.limits = limits
        self.codec = codec
        self._root = _Generator(layout, limits, refuse_unknown=refuse_unknown).compile()

    def __call__(self, buffer: bytes | memoryview) -> None:
        """Check a whole message.

        Parameters
        ----------
        buffer
            bytes, or a memoryview of format B and one dimension, that begins with the message.

        Raises
        ------
        VerifyError, TruncatedError
            The bytes contradict the schema or themselves, or lead past the end.
        """
        end = len(buffer)
        if end > self.limits.bytes:
            raise VerifyError(f"{end} bytes are more than limits.bytes = {self.limits.bytes}", codec=self.codec)
        if end < SMALLEST:
            raise TruncatedError(f"{end} bytes are fewer than any message has", codec=self.codec, offset=end)
        try:
            self._root(buffer, end, [self.limits.elements, AMPLIFICATION[0] + AMPLIFICATION[1] * end])
        except Fault as fault:
            kind = TruncatedError if fault.cut else VerifyError
            raise kind(
                fault.reason, codec=self.codec, path=pointer(reversed(fault.steps)), offset=fault.offset
            ) from None
        except RecursionError as error:
            raise VerifyError("nested deeper than Python's stack", codec=self.codec) from error


class _Generator:
    """Writes one function per table, which checks its fields in their order.

    A function takes the buffer ``b``, its end ``e``, the table's position ``p``, what is left ``s`` (of items, of bytes),
    the vtables ``seen`` in this message, and the depth ``d`` of records, lists and maps around the table. ``k``
    and ``j`` hold the field and the item at work, for the path of a fault.
    """

    def __init__(self, layout: Layout, limits: Limits, *, refuse_unknown: bool) -> None:
        self.layout = layout
        self.refuse_unknown = refuse_unknown
        # Without recursion no message nests deeper than its schema.
        self.counts_depth = bool(layout.schema.recursive)
        self.source = Source()
        self.source.namespace.update(
            {name: getattr(checks, name) for name in checks.__all__},
            U32=struct.Struct("<I").unpack_from,
            I32=struct.Struct("<i").unpack_from,
            EACH=struct.Struct("<I").iter_unpack,
            ERRORS=(Fault, struct.error, IndexError, UnicodeDecodeError),
            LIMIT=limits.depth,
            frombuffer=np.frombuffer,
            unpack=struct.unpack_from,
        )
        self.functions: dict[tuple[str, Type], str] = {}
        self.waiting: list[tuple[str, Type]] = []
        self.vtables: list[Vtables] = []

    def compile(self) -> Callable[..., None]:
        source, root = self.source, self.function("alone", self.layout.schema.root)
        while self.waiting:
            self.table(*self.waiting.pop())
        with source.block("def root(b, e, s):"):
            source.line("p = U32(b, 0)[0]")
            source.line("if p < 4 or p & 3: raise Fault(f'the root would be at byte {p}', 0)")
            source.line("if p + 4 > e: raise Fault(f'the root at byte {p} is past the end', 0, cut=True)")
            source.line(f"{root}(b, e, p, s, {{}}, 0)")
            source.line("if s[1] < 0: overspent(s, 0)")
        for vtables in self.vtables:
            vtables.count = len(self.vtables)
        source.namespace["COUNT"] = len(self.vtables)
        compiled: Callable[..., None] = source.compile("FlatBuffers verifier")["root"]
        return compiled

    def function(self, role: str, type_: Type) -> str:
        """The function of a value that stands alone in a table, or of a map's entries."""
        if (role, type_) not in self.functions:
            self.functions[role, type_] = f"{role}{len(self.functions)}"
            self.waiting.append((role, type_))
        return self.functions[role, type_]

    def table(self, role: str, type_: Type) -> None:
        line, block = self.source.line, self.source.block
        is_entry = role == "entry" and isinstance(type_, Map)
        table = self.layout.entries[type_] if is_entry else self.layout.table(type_)  # type: ignore[index]  # a Map
        names = self.source.constant(tuple(slot.field.name if slot.field else None for slot in table.slots))
        with block(f"def {self.functions[role, type_]}(b, e, p, s, seen, d):"):
            line("k = j = -1")
            if is_entry:
                line("key = None")
                names = "(None, key)"
            with block("try:"):
                self.head(table)
                if self.counts_depth and isinstance(type_, Ref):
                    line("d += 1")
                    line("if d > LIMIT: raise Fault(f'nested deeper than limits.depth = {LIMIT}', p)")
                if isinstance(type_, Tensor) and not is_entry:
                    self.tensor(type_)
                else:
                    for number, slot in enumerate(table.slots):
                        self.slot(number, slot)
                if is_entry:
                    line("return key")
            with block("except ERRORS as error:"):
                line(f"raise located(error, p, {names}, k, j) from None")

    def head(self, table: Table) -> None:
        """The table's place and vtable."""
        line, number = self.source.line, len(self.vtables)
        sizes: list[tuple[int, int, bool]] = []
        asked = []
        for slot in table.slots:
            if slot.form is Form.UNION:
                sizes.append((slot.index - 1, 1, True))
                asked.append(f"o{slot.index - 1}")
            wanted = slot.form is not Form.SCALAR or slot.key or isinstance(slot.type, Enum)
            sizes.append((slot.index, self.layout.number(slot.type).size if slot.form is Form.SCALAR else 4, wanted))
            if wanted:
                asked.append(f"o{slot.index}")
        vtables = Vtables(number, 0, sizes, refuse_unknown=self.refuse_unknown)
        self.vtables.append(vtables)
        line("v = p - I32(b, p)[0]")
        line(f"f = seen.get(v * COUNT + {number})")
        line(f"if f is None: f = {self.source.constant(vtables)}(b, e, v, seen)")
        line(f"{', '.join(['z', 'm', 'r', *asked])} = f")
        line("if p & m != r or p + z > e: bad_table(e, p, z, m, r)")
        line("s[1] -= z")
        line("if s[1] < 0: overspent(s, p)")

    def slot(self, number: int, slot: Slot) -> None:
        line, offset, type_ = self.source.line, f"o{slot.index}", slot.type
        if slot.form is Form.SCALAR:
            if slot.key or isinstance(type_, Enum):
                line(f"k = {number}")
                self.scalar(slot)
            return
        line(f"k = {number}")
        if slot.form is Form.UNION and isinstance(type_, Union):
            self.union(slot, type_)
            return
        if slot.missing is Missing.REFUSED:
            line(f"if not {offset}: raise Fault('a required field is missing', p)")
            self.reference(slot)
        else:
            with self.source.block(f"if {offset}:"):
                self.reference(slot)

    def scalar(self, slot: Slot) -> None:
        offset, type_ = f"o{slot.index}", slot.type
        read = self.source.constant(struct.Struct(f"<{self.layout.number(type_).code}").unpack_from)
        if slot.key:
            self.source.line(f"key = {read}(b, p + {offset})[0] if {offset} else {self.layout.zero(type_)!r}")
        elif isinstance(type_, Enum):
            fail = f"raise Fault(f'{{n}} is no member of the enum', p + {offset})"
            with self.source.block(f"if {offset}:"):
                self.source.line(f"n = {read}(b, p + {offset})[0]")
                self.source.line(f"if n not in {self.members(type_)}: {fail}")

    def members(self, type_: Enum) -> str:
        return self.source.constant(frozenset(number for _, number, _ in self.layout.enums[type_].members))

    def union(self, slot: Slot, type_: Union) -> None:
        line, kind, value = self.source.line, f"o{slot.index - 1}", f"o{slot.index}"
        line(f"t = b[p + {kind}] if {kind} else 0")
        with self.source.block("if not t:"):
            line(f"if {value}: raise Fault('a union has a value but no type', p)")
            if slot.missing is Missing.REFUSED:
                line("raise Fault('a required field is missing', p)")
        with self.source.block("else:"):
            line(f"if not {value}: raise Fault('a union has a type but no value', p)")
            line(f"q = p + {value}")
            for option in self.layout.unions[type_].options:
                with self.source.block(f"{'if' if option.number == 1 else 'elif'} t == {option.number}:"):
                    self.call(self.function("alone", option.type), "d")
            line("else: raise Fault(f'{t} is no option of the union', p)")

    def call(self, function: str, depth: str) -> None:
        """Follow the offset at ``q`` to a table."""
        self.source.line("u = U32(b, q)[0]")
        self.source.line("if not u: raise Fault('an offset is 0', q)")
        self.source.line(f"{function}(b, e, q + u, s, seen, {depth})")

    def reference(self, slot: Slot) -> None:
        """What the offset in a slot leads to."""
        type_ = slot.type
        self.source.line(f"q = p + o{slot.index}")
        match type_:
            case Str():
                self.string(type_)
                if slot.key:
                    self.source.line("key = x")
            case Bytes(size):
                self.vector(1)
                if size is not None:
                    self.source.line(f"if n != {size}: raise Fault(f'{type_} is needed, not {{n}} bytes', q)")
            case List():
                self.list(type_)
            case Map():
                self.map(type_)
            case _:
                self.call(self.function("alone", type_), "d")

    def string(self, type_: Str) -> None:
        line = self.source.line
        line("u = U32(b, q)[0]; q += u; n = U32(b, q)[0]; x = q + 4 + n")
        line("if not u or q & 3 or x >= e or b[x]: bad_string(e, u, q, x)")
        if type_.size is not None:
            line(f"if n > {type_.size}: raise Fault(f'{{n}} bytes do not fit {type_}', q)")
        line("x = str(b[q + 4:x], 'utf-8'); s[1] -= n + 5")

    def vector(self, width: int) -> None:
        """A vector's length and alignment; leaves ``n`` items, from ``q + 4`` up to ``x``."""
        line = self.source.line
        items = "n" if width == 1 else f"{width} * n"
        line(f"u = U32(b, q)[0]; q += u; n = U32(b, q)[0]; x = q + 4 + {items}")
        line("if not u or q & 3 or x > e: bad_vector(e, u, q, x)")
        if width == 8:
            line("if n and q + 4 & 7: raise Fault('a vector of 8-byte items is not aligned', q)")
        line("s[1] -= x - q")

    def nested(self) -> str:
        """Count the ``n`` items of a list or map, and check its depth; the depth that its items have around them."""
        self.source.line("s[0] -= n")
        self.source.line("if s[0] < 0: overspent(s, q)")
        if not self.counts_depth:
            return "d"
        self.source.line("if d >= LIMIT: raise Fault(f'nested deeper than limits.depth = {LIMIT}', q)")
        return "d + 1"

    def list(self, type_: List) -> None:
        line, form = self.source.line, element_form(type_)
        number = self.layout.number(type_.item) if form is Form.SCALAR else None
        self.vector(number.size if number else 4)
        depth = self.nested()
        if type_.length is not None:
            line(f"if n != {type_.length}: raise Fault(f'{type_.length} items are needed, not {{n}}', q)")
        if number and isinstance(type_.item, Enum):
            numbers = f"frombuffer(b, {number.dtype!r}, n, q + 4).tolist()"
            line(f"if not {self.members(type_.item)}.issuperset({numbers}):")
            line("    raise Fault('an item is no member of the enum', q)")
        elif form is Form.STRING and isinstance(type_.item, Str):
            line("h = q + 4")
            with self.source.block("for j in range(n):"):
                line("q = h + 4 * j")
                self.string(type_.item)
                line("if s[1] < 0: overspent(s, q)")
            line("j = -1")
        elif form is Form.TABLE:
            with self.source.block("for j, (u,) in enumerate(EACH(b[q + 4:x])):"):
                line("if not u: raise Fault('an offset is 0', q)")
                line(f"{self.function('alone', type_.item)}(b, e, q + 4 + 4 * j + u, s, seen, {depth})")
            line("j = -1")

    def map(self, type_: Map) -> None:
        line = self.source.line
        self.vector(4)
        depth = self.nested()
        line("last = None")
        with self.source.block("for i, (u,) in enumerate(EACH(b[q + 4:x])):"):
            line("if not u: raise Fault('an offset is 0', q)")
            line(f"new = {self.function('entry', type_)}(b, e, q + 4 + 4 * i + u, s, seen, {depth})")
            line("if i and not last < new: raise Fault(f'key {new!r} comes after {last!r}: not in order, or twice', q)")
            line("last = new")

    def tensor(self, type_: Tensor) -> None:
        line = self.source.line
        line("if not o1 or not o2: raise Fault('a tensor without shape or data', p)")
        line("q = p + o1")
        self.vector(8)
        line(f"if n > {MOST_DIMENSIONS}: raise Fault(f'a tensor has {{n}} dimensions', q)")
        line("g = unpack(f'<{n}q', b, q + 4)")
        line("q = p + o2")
        self.vector(1)
        line(f"{self.source.constant(tensor_check(type_))}(b[p + o0] if o0 else 0, g, n, p)")
