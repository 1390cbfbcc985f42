"""Lazy views of structs and of the arrays in them, generated from a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zcser.core.view import record_view_class
from zcser.flat.inline import is_scalar
from zcser.flat.program import Op
from zcser.flat.pure import read_structs
from zcser.flat.pure.view_parts import ListView, StructView, scalars_base

if TYPE_CHECKING:
    from zcser.flat.pure.view import ViewGenerator

__all__ = ["opener"]


def opener(generator: ViewGenerator, index: int) -> str:
    """The function that shows the struct, or the array, of a node at a place."""
    write = _array if generator.program.nodes[index].op is Op.ARRAY else _struct
    return generator.eager.later("inlineview", index, lambda name, index: write(generator, name, index))


def _struct(generator: ViewGenerator, name: str, index: int) -> None:
    line, node = generator.source.line, generator.program.nodes[index]
    with generator.source.block(f"def {name}(box, q):"):
        line(f"if q + {node.size} > len(box[0]): refuse()")
        line(f"x = new(View{index})")
        line("x._zc_box = box; x._zc_pos = q")
        line("return x")
    for place in node.places:
        with generator.source.block(f"def get{index}_{place.offset}(view):"):
            with generator.source.block("try:"):
                line(f"box = view._zc_box; b = box[0]; q = view._zc_pos + {place.offset}")
                _show(generator, place.node)
            line("except Exception as error: raise view._zc_fail(error) from error")
    read = read_structs.function(generator.eager, index)
    record = generator.program.schema.resolve(node.neutral)  # type: ignore[arg-type]  # a Ref

    def make(namespace: dict[str, Any]) -> None:
        whole = namespace[read]
        attributes: dict[str, Any] = {
            "__slots__": (),
            "_zc_codec": generator.codec,
            "_zc_whole": staticmethod(lambda box, q: whole(box[0][q : q + node.size])[0]),
        }
        getters = {place.name: namespace[f"get{index}_{place.offset}"] for place in node.places}
        namespace[f"View{index}"] = record_view_class(
            type("StructView", (StructView,), attributes),
            record.name,
            {item.name: getters[item.name] for item in record.fields},
        )

    generator.classes.append(make)


def _array(generator: ViewGenerator, name: str, index: int) -> None:
    line, node = generator.source.line, generator.program.nodes[index]
    item = generator.program.nodes[node.item]
    with generator.source.block(f"def {name}(box, q):"):
        line(f"if q + {node.size} > len(box[0]): refuse()")
        line(f"x = new(View{index})")
        line(f"x._zc_box = box; x._zc_pos = q; x._zc_length = {node.bound}")
        line("return x")
    with generator.source.block(f"def item{index}(box, q):"):
        line("b = box[0]")
        _show(generator, node.item)
    read = read_structs.array(generator.eager, index)

    def make(namespace: dict[str, Any]) -> None:
        whole = namespace[read]
        base, own = scalars_base(item) if is_scalar(item) else (ListView, {"_zc_width": item.size})
        attributes: dict[str, Any] = {
            "__slots__": (),
            "_zc_codec": generator.codec,
            "_zc_whole": staticmethod(lambda box, q: whole(box[0][q : q + node.size])),
            "_zc_at": staticmethod(namespace[f"item{index}"]),
        }
        namespace[f"View{index}"] = type(base.__name__, (base,), attributes | own)

    generator.classes.append(make)


def _show(generator: ViewGenerator, index: int) -> None:
    """Return what stands inline at ``q``."""
    node = generator.program.nodes[index]
    if is_scalar(node):
        generator.scalar(node, "q")
    else:
        generator.source.line(f"return {opener(generator, index)}(box, q)")
