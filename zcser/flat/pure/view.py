"""Lazy views in pure Python, generated from a program: what opens each part of a message, and what reads each field.

1. No class and no code is made for a vtable: a view holds the offsets that its vtable gives, which `Vtables` remembers.
2. What is read is checked as far as safety asks: a vtable keeps the rules of the verifier, an offset leads forward, and
   what it leads to lies inside the buffer. All else is the verifier's.
3. Values with their parts (`zcser.to_value`) are read by the functions of `zcser.flat.pure.read_code`, which check all.

Names in generated code: ``box`` is a `Box`, which holds the buffer ``b``, ``p`` is a table, ``f`` the form of its vtable, ``q`` a value.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from zcser.core.view import record_view_class, released
from zcser.flat.checks import Vtables
from zcser.flat.inline import code_of, is_scalar, slots_of
from zcser.flat.layout import Missing
from zcser.flat.program import Node, Op, Place
from zcser.flat.pure import view_keys, view_structs, view_unions
from zcser.flat.pure.read_code import VECTORS, ReadGenerator, head_of
from zcser.flat.pure.read_state import text_of
from zcser.flat.pure.view_parts import (
    Box,
    EntriesView,
    KeyedView,
    ListView,
    TableView,
    scalars_base,
    segment_box,
    value_at_home,
)
from zcser.schema.model import Str

__all__ = ["ViewGenerator"]


class ViewGenerator:
    """Writes beside the functions that read values, which views use too.

    Parameters
    ----------
    eager
        Writes those functions.
    state
        Makes the state that those functions share about the message in a box.
    codec
        Name that errors carry.
    """

    def __init__(self, eager: ReadGenerator, state: Callable[[Box], list[Any]], codec: str | None) -> None:
        self.eager = eager
        self.program = eager.program
        self.source = eager.source
        self.state = state
        self.codec = codec
        self.classes: list[Callable[[dict[str, Any]], None]] = []
        self.vtables: dict[int, tuple[Vtables, dict[int, int]]] = {}
        self.source.namespace.update(new=object.__new__, released=released, segment_box=segment_box, text_of=text_of)

    def make_classes(self, namespace: dict[str, Any]) -> None:
        """Make the view classes out of the functions in a namespace, and add them to it."""
        for make in self.classes:
            make(namespace)

    def form(self, index: int) -> tuple[Vtables, dict[int, int]]:
        """The vtables of a table, and where what `Vtables.at` gives has the offset of each slot."""
        if index not in self.vtables:
            slots = slots_of(self.program, self.program.nodes[index])
            vtables = Vtables(0, 0, [(*slot, True) for slot in slots], refuse_unknown=False)
            self.vtables[index] = vtables, {slot.number: place for place, slot in enumerate(slots, 3)}
        return self.vtables[index]

    # Tables -----------------------------------------------------------------------------------------------------------

    def opener(self, index: int) -> str:
        """The function that shows the table of a node at ``p``: a view of a record, or what stands in a box."""
        node = self.program.nodes[index]
        return self.eager.later("open", index, self._record if node.op is Op.TABLE else self._box)

    def find_form(self, index: int) -> None:
        """Find the form of the table ``p``."""
        self.source.line(f"f = {self.source.constant(self.form(index)[0].at)}(b, len(b), p - I32(b, p)[0])")

    def _box(self, name: str, index: int) -> None:
        node = self.program.nodes[index]
        with self.source.block(f"def {name}(box, p):"):
            self.source.line("b = box[0]")
            if node.op is Op.TENSOR:
                self.show(index, "p")
                return
            self.find_form(index)
            self.slot(index, node.places[0])

    def _record(self, name: str, index: int) -> None:
        node, line = self.program.nodes[index], self.source.line
        with self.source.block(f"def {name}(box, p):"):
            line("b = box[0]")
            self.find_form(index)
            line(f"x = new(View{index})")
            line("x._zc_box = box; x._zc_pos = p; x._zc_form = f")
            line("return x")
        for place in node.places:
            with self.source.block(f"def get{index}_{place.index}(view):"):
                with self.source.block("try:"):
                    shares = "" if is_scalar(self.program.nodes[place.node]) else "box = view._zc_box; "
                    line(f"{shares}b = view._zc_box[0]; p = view._zc_pos; f = view._zc_form")
                    self.slot(index, place)
                line("except Exception as error: raise view._zc_fail(error) from error")
        rows, where = self.eager.rows(index), self.form(index)[1]
        record = self.program.schema.resolve(node.neutral)  # type: ignore[arg-type]  # a Ref

        def make(namespace: dict[str, Any]) -> None:
            read, state = namespace[rows], self.state
            attributes = {
                "__slots__": (),
                "_zc_codec": self.codec,
                "_zc_whole": staticmethod(lambda box, p: read(box[0], (p,), state(box), {}, True, 0)[0]),
                "_zc_places": {
                    place.name: where[place.index] for place in node.places if place.missing is Missing.ABSENT
                },
            }
            getters = {place.name: namespace[f"get{index}_{place.index}"] for place in node.places}
            namespace[f"View{index}"] = record_view_class(
                type("RecordView", (TableView,), attributes),
                record.name,
                {item.name: getters[item.name] for item in record.fields},
            )

        self.classes.append(make)

    def slot(self, index: int, place: Place) -> None:
        """Return what stands in a slot of the table ``p``."""
        line, node, where = self.source.line, self.program.nodes[place.node], self.form(index)[1]
        line(f"o = f[{where[place.index]}]")
        with self.source.block("if o:"):
            if is_scalar(node):
                self.scalar(node, "p + o")
            elif node.op is Op.STRUCT:
                line(f"return {view_structs.opener(self, place.node)}(box, p + o)")
            elif node.op is Op.ONEOFS:
                line(f"k = f[{where[place.index - 1]}]")
                line("if not k: refuse()")
                line(f"return {view_unions.vector_opener(self, place.node)}(box, p + k, p + o)")
            elif node.op is Op.ONEOF:
                line(f"k = f[{where[place.index - 1]}]")
                line(f"return {view_unions.opener(self, place.node)}(box, p + o, b[p + k] if k else 0)")
            elif node.op is Op.UNION:
                line(f"k = f[{where[place.index - 1]}]")
                line("k = b[p + k] if k else 0")
                self.follow("p + o")
                for number, (_, option) in enumerate(node.options, 1):
                    with self.source.block(f"if k == {number}:"):
                        self.show(option, "q")
                line("refuse()")
            else:
                self.follow("p + o", node)
                self.show(place.node, "q")
        line("if b is None: raise released()")
        line(f"return {self._missing(place)}")

    def _missing(self, place: Place) -> str:
        if place.missing is Missing.ZERO:
            return self.source.constant(place.zero)
        return "None" if place.missing is Missing.ABSENT else self.eager.missing(place)

    def scalar(self, node: Node, position: str) -> None:
        """Return the scalar at a position."""
        read = self.source.constant(struct.Struct(f"<{code_of(node)}").unpack_from)
        found = f"{read}(b, {position})[0]"
        if node.op is Op.ENUM:
            found = f"{self.source.constant(dict(node.values))}[{found}]"
        elif node.op is Op.NULL:
            self.source.line(found)
            found = "None"
        self.source.line(f"return {found}")

    def follow(self, position: str, node: Node | None = None) -> None:
        """Follow the offset at a position to ``q``; forward only, so that nothing contains itself."""
        bits = 64 if node is not None and node.size == 8 else 32
        self.source.line(f"q = {position}; u = U{bits}(b, q)[0]; q += u")
        self.source.line("if not u: refuse()")

    def show(self, index: int, position: str) -> None:
        """Return the value at a position that an offset leads to."""
        line, node = self.source.line, self.program.nodes[index]
        match node.op:
            case Op.STRING | Op.BYTES | Op.NESTED:
                self._show_data(index, node)
            case Op.STRUCT:
                line(f"return {view_structs.opener(self, index)}(box, q)")
            case Op.TENSOR:
                further = ", None, None, box[2]" if self.eager.data.in_segments else ""
                line(f"return {self.eager.tensor(index)}(b, {position}, [0, {1 << 62}{further}], {{}}, False)")
            case op if op in VECTORS:
                line(f"return {self.eager.later('vectorview', index, self._vector)}(box, {position})")
            case _:
                line(f"return {self.opener(index)}(box, {position})")

    def _show_data(self, index: int, node: Node) -> None:
        """Return the string, the bytes or the nested message at ``q``."""
        line, head, is_text = self.source.line, head_of(node), node.op is Op.STRING
        if self.eager.data.in_segments:
            line(f"i, b, q, n = box[2].find(q, {head}, 1, {int(is_text)}); x = q + n")
            box, text = "segment_box(box, i)", "text_of"
        else:
            line(f"n = U{8 * head}(b, q)[0]; q += {head}; x = q + n")
            line("if x > len(b): refuse()")
            box, text = "box", "box[1]"
        if node.op is Op.NESTED:
            line(f"return {view_unions.nested_opener(self, index)}({box}, q, x)")
        else:
            line(f"return {text}(b[q:x])" if is_text else "return memoryview(b)[q:x]")

    # Vectors ----------------------------------------------------------------------------------------------------------

    def _vector(self, name: str, index: int) -> None:
        """Write what opens a vector, and what its view calls."""
        line, node = self.source.line, self.program.nodes[index]
        item = self.program.nodes[node.item]
        head, width = head_of(node), item.size if node.op in {Op.NUMBERS, Op.STRUCTS} else 4
        may_stand_apart = self.eager.data.in_segments and node.op in {Op.NUMBERS, Op.STRUCTS}
        with self.source.block(f"def {name}(box, q):"):
            line(f"x = new(View{index})")
            if may_stand_apart:
                line(f"x._zc_home = box, q + {head}; i, _, q, n = box[2].find(q, {head}, {width})")
                line("x._zc_box = segment_box(box, i); x._zc_pos = q; x._zc_length = n")
            else:
                line(f"b = box[0]; n = U{8 * head}(b, q)[0]; q += {head}")
                line(f"if q + {width} * n > len(b): refuse()")
                line("x._zc_box = box; x._zc_pos = q; x._zc_length = n")
            line("return x")
        functions = {"_zc_at": f"item{index}"}
        if node.op is Op.MAP:
            functions = {"_zc_key": f"key{index}", "_zc_at": f"item{index}"}
            for place, function in zip(item.places, functions.values(), strict=True):
                with self.source.block(f"def {function}(box, q):"):
                    line("b = box[0]; p = q + U32(b, q)[0]")
                    self.find_form(node.item)
                    self.slot(node.item, place)
        else:
            with self.source.block(f"def item{index}(box, q):"):
                line("b = box[0]")
                if is_scalar(item):
                    self.scalar(item, "q")
                else:
                    if node.op is not Op.STRUCTS:
                        self.follow("q")
                    self.show(node.item, "q")
        functions |= view_keys.write(self, index)
        read = self.eager.vector(index)

        def make(namespace: dict[str, Any]) -> None:
            whole, state = namespace[read], self.state
            bound = {attribute: staticmethod(namespace[function]) for attribute, function in functions.items()}
            base, own = vector_base(node, item)
            if may_stand_apart:
                own |= {"__slots__": ("_zc_home",), "_zc_value": value_at_home}
            if "_zc_key" in functions and base is ListView:
                base, own = KeyedView, own | {"_zc_class": view_keys.class_of_key(self.program, item)}
            namespace[f"View{index}"] = type(
                base.__name__,
                (base,),
                {
                    "__slots__": (),
                    "_zc_codec": self.codec,
                    "_zc_whole": staticmethod(lambda box, q: whole(box[0], q - head, state(box), {}, True, 0)),
                    **bound,
                    **own,
                },
            )

        self.classes.append(make)


def vector_base(node: Node, item: Node) -> tuple[type, dict[str, Any]]:
    """The class that the view of a vector derives from, and what it declares of its own."""
    if node.op is Op.MAP:
        return EntriesView, {"_zc_class": str if isinstance(node.neutral.key, Str) else int}  # type: ignore[attr-defined]
    if node.op is not Op.NUMBERS:
        return ListView, {"_zc_width": item.size if node.op is Op.STRUCTS else 4}
    return scalars_base(item)
