"""The functions that check a message, generated from a program.

A table has a function, which checks its fields in their order; so have unions and nested messages. ``p`` is the table, ``k``
and ``j`` hold the field and the item at work, for the path of a fault.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable

from zcser.core.options import Limits
from zcser.flat.checks import Vtables
from zcser.flat.inline import HAS_NUMBER, code_of, is_scalar, slots_of
from zcser.flat.layout import Missing
from zcser.flat.program import Node, Op, Place, Program
from zcser.flat.verify_values import ValueCode, head_of

__all__ = ["VerifyCode"]


class VerifyCode(ValueCode):
    """Writes the functions; those of tables take all variables that code has, and the vtables ``seen`` in this message."""

    def __init__(self, program: Program, limits: Limits, *, refuse_unknown: bool, in_segments: bool = False) -> None:
        super().__init__(program, limits, in_segments=in_segments)
        self.refuse_unknown = refuse_unknown
        self.functions: dict[Hashable, str] = {}
        self.waiting: list[Callable[[], None]] = []
        self.vtables: list[Vtables] = []

    def compile(self) -> Callable[..., None]:
        """Write and run the code; the function of the root, of buffer, end, and what is left."""
        line, root = self.source.line, self.table(self.program.root)
        while self.waiting:
            self.waiting.pop()()
        start = 4 if self.program.is_prefixed else 0
        with self.source.block("def root(b, e, s):"):
            if self.program.is_prefixed:
                line("check_prefix(b, s[2].total)" if self.in_segments else "check_prefix(b, e)")
            if self.program.identifier:
                line(f"check_identifier(b, {start + 4}, {self.source.constant(self.program.identifier)})")
            self.find_root(root, start)
            line("if s[1] < 0: overspent(s, 0)")
        for vtables in self.vtables:
            vtables.count = len(self.vtables)
        self.source.namespace["COUNT"] = len(self.vtables)
        compiled: Callable[..., None] = self.source.compile("FlatBuffers verifier")["root"]
        return compiled

    def find_root(self, root: str, start: int, depth: str = "0") -> None:
        """Follow the offset of a root, and check its table."""
        line, place = self.source.line, f"p + {start}" if start else "p"
        line(f"p = U32(b, {start})[0]")
        line(f"if p < 4 or p & 3: raise Fault(f'the root would be at byte {{{place}}}', {start})")
        line(f"if {place} + 4 > e: raise Fault(f'the root at byte {{{place}}} is past the end', {start}, cut=True)")
        line(f"{root}(b, e, {place}, s, {{}}, {depth})")

    def later(self, key: Hashable, write: Callable[[str], None]) -> str:
        """The name of the function of a key, which `write` will write."""
        if key not in self.functions:
            name = self.functions[key] = f"check{len(self.functions)}"
            self.waiting.append(lambda: write(name))
        return self.functions[key]

    # Tables -----------------------------------------------------------------------------------------------------------

    def table(self, index: int) -> str:
        """The function of a table. Those of equal types are one, whatever the classes of the values are."""
        node = self.nodes[index]
        return self.later((node.op, node.neutral), lambda name: self._table(name, node))

    def _table(self, name: str, node: Node) -> None:
        line, block = self.source.line, self.source.block
        names = self.source.constant(tuple(place.name for place in node.places))
        with block(f"def {name}(b, e, p, s, seen, d):"):
            line("k = j = -1")
            if node.op is Op.ENTRY:
                line("key = None")
                names = "(None, key)"
            with block("try:"):
                self.head(node)
                if node.op is Op.TABLE:
                    self.record("p")
                if node.op is Op.TENSOR:
                    self.tensor(node)
                for number, place in enumerate(node.places):
                    self.slot(number, place, is_key=node.op is Op.ENTRY and number == 0)
                if node.op is Op.ENTRY:
                    line("return key")
            with block("except ERRORS as error:"):
                line(f"raise located(error, p, {names}, k, j) from None")

    def head(self, node: Node) -> None:
        """The table's place and vtable."""
        line, number = self.source.line, len(self.vtables)
        # The offsets of scalars are asked for where their numbers are looked at.
        unasked = {place.index for place in node.places if is_scalar(self.nodes[place.node])}
        unasked -= {place.index for place in node.places if self.nodes[place.node].op is Op.ENUM}
        if node.op is Op.ENTRY:
            unasked.discard(node.places[0].index)
        slots = [(*slot, slot.number not in unasked) for slot in slots_of(self.program, node)]
        vtables = Vtables(number, 0, slots, refuse_unknown=self.refuse_unknown)
        self.vtables.append(vtables)
        asked = [f"o{slot[0]}" for slot in slots if slot[3]]
        line("v = p - I32(b, p)[0]")
        line(f"f = seen.get(v * COUNT + {number})")
        line(f"if f is None: f = {self.source.constant(vtables)}(b, e, v, seen)")
        line(f"{', '.join(['z', 'm', 'r', *asked])} = f")
        line("if p & m != r or p + z > e: bad_table(e, p, z, m, r)")
        line("s[1] -= z")
        line("if s[1] < 0: overspent(s, p)")

    def slot(self, number: int, place: Place, *, is_key: bool) -> None:
        """What stands in a slot of the table."""
        line, offset, node = self.source.line, f"o{place.index}", self.nodes[place.node]
        if is_scalar(node):
            if is_key or node.op is Op.ENUM:
                line(f"k = {number}")
                self.scalar(place, node, is_key=is_key)
            return
        line(f"k = {number}")
        if node.op in HAS_NUMBER:
            self.numbered(place, node)
            return
        if place.missing is Missing.REFUSED:
            line(f"if not {offset}: raise Fault('a required field is missing', p)")
            self.reference(place, node, is_key=is_key)
        else:
            with self.source.block(f"if {offset}:"):
                self.reference(place, node, is_key=is_key)

    def scalar(self, place: Place, node: Node, *, is_key: bool) -> None:
        """An enum, or a key, which is left in ``key``."""
        offset = f"o{place.index}"
        read = self.source.constant(struct.Struct(f"<{code_of(node)}").unpack_from)
        if is_key:
            self.source.line(f"key = {read}(b, p + {offset})[0] if {offset} else {place.zero!r}")
        elif node.op is Op.ENUM:
            fail = f"raise Fault(f'{{n}} is no member of the enum', p + {offset})"
            with self.source.block(f"if {offset}:"):
                self.source.line(f"n = {read}(b, p + {offset})[0]")
                self.source.line(f"if n not in {self.members(node)}: {fail}")

    def call(self, function: str, depth: str) -> None:
        """Follow the offset at ``q`` to a table."""
        self.source.line("u = U32(b, q)[0]")
        self.source.line("if not u: raise Fault('an offset is 0', q)")
        self.source.line(f"{function}(b, e, q + u, s, seen, {depth})")

    def reference(self, place: Place, node: Node, *, is_key: bool) -> None:
        """What stands in a slot, or what the offset in it leads to."""
        line = self.source.line
        line(f"q = p + o{place.index}")
        match node.op:
            case Op.STRING:
                self.string(node)
                if is_key:
                    line("key = x")
            case Op.BYTES:
                self.vector(node, 1)
                if node.bound >= 0:
                    line(f"if n != {node.bound}: raise Fault(f'{node.neutral} is needed, not {{n}} bytes', q)")
            case Op.NUMBERS | Op.STRINGS | Op.TABLES:
                self.list(node)
            case Op.MAP:
                self.map(node)
            case Op.STRUCT:
                self.struct(node)
            case Op.STRUCTS:
                self.structs(node)
            case Op.NESTED:
                buffer, first = self.vector(node, 1)
                line(f"{self.nested(node)}({buffer}[{first}:{first} + n], q + {head_of(node)}, n, s, d)")
            case _:
                self.call(self.table(place.node), "d")

    # Vectors and maps -------------------------------------------------------------------------------------------------

    def list(self, node: Node) -> None:
        """The list that the offset at ``q`` leads to."""
        line, item = self.source.line, self.nodes[node.item]
        width = item.size if node.op is Op.NUMBERS else 4
        buffer, first = self.vector(node, width, width, has_offsets=node.op is not Op.NUMBERS)
        depth = self.count()
        if node.bound >= 0:
            line(f"if n != {node.bound}: raise Fault(f'{node.bound} items are needed, not {{n}}', q)")
        if item.op is Op.ENUM:
            numbers = f"frombuffer({buffer}, '<{code_of(item)}', n, {first}).tolist()"
            line(f"if not {self.members(item)}.issuperset({numbers}):")
            line("    raise Fault('an item is no member of the enum', q)")
        elif node.op is Op.STRINGS:
            line("h = q + 4")
            with self.source.block("for j in range(n):"):
                line("q = h + 4 * j")
                self.string(item)
                line("if s[1] < 0: overspent(s, q)")
            line("j = -1")
        elif node.op is Op.TABLES:
            with self.source.block("for j, (u,) in enumerate(EACH(b[q + 4:x])):"):
                line("if not u: raise Fault('an offset is 0', q)")
                line(f"{self.table(node.item)}(b, e, q + 4 + 4 * j + u, s, seen, {depth})")
            line("j = -1")

    def map(self, node: Node) -> None:
        """The map that the offset at ``q`` leads to."""
        line = self.source.line
        self.vector(node, 4, has_offsets=True)
        depth = self.count()
        line("last = None")
        with self.source.block("for i, (u,) in enumerate(EACH(b[q + 4:x])):"):
            line("if not u: raise Fault('an offset is 0', q)")
            line(f"new = {self.table(node.item)}(b, e, q + 4 + 4 * i + u, s, seen, {depth})")
            line("if i and not last < new: raise Fault(f'key {new!r} comes after {last!r}: not in order, or twice', q)")
            line("last = new")

    # Unions, nested messages ------------------------------------------------------------------------------------------

    def numbered(self, place: Place, node: Node) -> None:
        """A union, or a vector of unions: what stands in its two slots."""
        line, kind, value = self.source.line, f"o{place.index - 1}", f"o{place.index}"
        line(f"t = {kind}" if node.op is Op.ONEOFS else f"t = b[p + {kind}] if {kind} else 0")
        with self.source.block("if not t:"):
            line(f"if {value}: raise Fault('a union has a value but no type', p)")
            if place.missing is Missing.REFUSED:
                line("raise Fault('a required field is missing', p)")
        with self.source.block("else:"):
            line(f"if not {value}: raise Fault('a union has a type but no value', p)")
            if node.op is Op.ONEOFS:
                self.oneofs(place, node)
                return
            line(f"q = p + {value}")
            if node.op is Op.ONEOF:
                line(f"{self.oneof(node)}(b, e, q, t, s, seen, d)")
                return
            for number, (_, option) in enumerate(node.options, 1):
                with self.source.block(f"{'if' if number == 1 else 'elif'} t == {number}:"):
                    self.call(self.table(option), "d")
            line("else: raise Fault(f'{t} is no option of the union', p)")

    def oneof(self, node: Node) -> str:
        """The function of a union of option ``t``, to which the offset at ``q`` leads."""
        return self.later((node.op, node.neutral), lambda name: self._oneof(name, node))

    def _oneof(self, name: str, node: Node) -> None:
        line, block = self.source.line, self.source.block
        names = self.source.constant(tuple(choice.name for choice in node.choices))
        with block(f"def {name}(b, e, q, t, s, seen, d):"):
            line("k = -1; p = q")
            with block("try:"):
                self.record("p")
                for number, choice in enumerate(node.choices):
                    with block(f"{'if' if number == 0 else 'elif'} t == {choice.number}:"):
                        line(f"k = {number}")
                        self.option(choice.node)
                line("else: raise Fault(f'{t} is no option of the union', p)")
            with block("except ERRORS as error:"):
                line(f"raise located(error, p, {names}, k, -1) from None")

    def option(self, index: int) -> None:
        """What the offset of a union leads to."""
        line, node = self.source.line, self.nodes[index]
        if node.op is Op.STRING:
            self.string(node)
        elif node.op is Op.STRUCT:
            past = f"a struct of {node.size} bytes leads past the end at {{e}}"
            line("u = U32(b, q)[0]; q += u")
            line("if not u: raise Fault('an offset is 0', p)")
            if node.align > 1:
                line(f"if q & {node.align - 1}: raise Fault(f'a struct at byte {{q}} is not aligned', q)")
            line(f"if q + {node.size} > e: raise Fault(f{past!r}, q, cut=True)")
            line(f"s[1] -= {node.size}")
            line("if s[1] < 0: overspent(s, q)")
            self.struct(node)
        else:
            self.call(self.table(index), "d")

    def oneofs(self, place: Place, node: Node) -> None:
        """A vector of unions, both of whose slots are there."""
        line = self.source.line
        line(f"q = p + o{place.index - 1}")
        self.vector(node, 1, has_offsets=True)
        line(f"h = q + 4; i = n; q = p + o{place.index}")
        self.vector(node, 4, has_offsets=True)
        line("if n != i: raise Fault(f'{n} unions have {i} types', q)")
        depth = self.count()
        with self.source.block("for j, (u,) in enumerate(EACH(b[q + 4:x])):"):
            line("t = b[h + j]")
            line("if not t and u: raise Fault('a union has a value but no type', q)")
            line("if t and not u: raise Fault('a union has a type but no value', q)")
            line(f"if t: {self.oneof(self.nodes[node.item])}(b, e, q + 4 + 4 * j, t, s, seen, {depth})")
        line("j = -1")

    def nested(self, node: Node) -> str:
        """The function of the nested message that is the ``e`` bytes ``b``, at ``q`` in the message around it."""
        return self.later((node.op, node.item), lambda name: self._nested(name, node))

    def _nested(self, name: str, node: Node) -> None:
        line, block = self.source.line, self.source.block
        with block(f"def {name}(b, q, e, s, d):"):
            line("if e < SMALLEST: raise Fault(f'{e} bytes are fewer than any message has', q, cut=True)")
            if self.in_segments:
                line("o = s; s = [*s[:2], Segments([b])]")
            with block("try:"):
                self.find_root(self.table(node.item), 0, "d")
                if self.in_segments:
                    line("o[:2] = s[:2]")
            with block("except Fault as fault:"):
                line("fault.offset += q")
                line("raise")
