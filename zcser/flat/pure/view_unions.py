"""Lazy views of unions, vectors of them, and nested messages, generated from a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zcser.core.view import record_view_class
from zcser.flat.checks import SMALLEST
from zcser.flat.pure import read_unions
from zcser.flat.pure.view_parts import NestedBox, OneofsView, OneofView

if TYPE_CHECKING:
    from zcser.flat.pure.view import ViewGenerator

__all__ = ["nested_opener", "opener", "vector_opener"]


def opener(generator: ViewGenerator, index: int) -> str:
    """The function that shows the option of number ``k``, to which the offset at ``q`` leads."""
    return generator.eager.later("oneofview", index, lambda name, index: _oneof(generator, name, index))


def _oneof(generator: ViewGenerator, name: str, index: int) -> None:
    line, node = generator.source.line, generator.program.nodes[index]
    numbers = {choice.name: choice.number for choice in node.choices}
    with generator.source.block(f"def {name}(box, q, k):"):
        line(f"if k not in {generator.source.constant(frozenset(numbers.values()))}: refuse()")
        line("b = box[0]")
        generator.follow("q")
        line(f"x = new(View{index})")
        line("x._zc_box = box; x._zc_pos = q; x._zc_kind = k")
        line("return x")
    for choice in node.choices:
        with generator.source.block(f"def get{index}_{choice.number}(view):"):
            with generator.source.block("try:"):
                line("box = view._zc_box; b = box[0]; q = view._zc_pos")
                with generator.source.block(f"if view._zc_kind == {choice.number}:"):
                    generator.show(choice.node, "q")
                line("if b is None: raise released()")
                line("return None")
            line("except Exception as error: raise view._zc_fail(error) from error")
    read = read_unions.oneof(generator.eager, index)
    record = generator.program.schema.resolve(node.neutral)  # type: ignore[arg-type]  # a Ref

    def make(namespace: dict[str, Any]) -> None:
        whole, state = namespace[read], generator.state
        attributes: dict[str, Any] = {
            "__slots__": (),
            "_zc_codec": generator.codec,
            "_zc_numbers": numbers,
            "_zc_whole": staticmethod(lambda box, q, k: whole(box[0], q, k, state(box), {}, True, 0)),
        }
        namespace[f"View{index}"] = record_view_class(
            type("OneofView", (OneofView,), attributes),
            record.name,
            {option: namespace[f"get{index}_{number}"] for option, number in numbers.items()},
        )

    generator.classes.append(make)


def vector_opener(generator: ViewGenerator, index: int) -> str:
    """The function that shows a vector of unions: of the offsets to their numbers at ``k``, and to their values at ``q``."""
    return generator.eager.later("oneofsview", index, lambda name, index: _oneofs(generator, name, index))


def _oneofs(generator: ViewGenerator, name: str, index: int) -> None:
    line, node = generator.source.line, generator.program.nodes[index]
    with generator.source.block(f"def {name}(box, k, q):"):
        line("b = box[0]")
        generator.follow("q")
        line("u = U32(b, k)[0]; k += u; n = U32(b, q)[0]")
        line("if not u or U32(b, k)[0] != n or k + 4 + n > len(b) or q + 4 + 4 * n > len(b): refuse()")
        line(f"x = new(View{index})")
        line("x._zc_box = box; x._zc_pos = q + 4; x._zc_length = n; x._zc_kinds = k + 4")
        line("return x")
    with generator.source.block(f"def item{index}(box, q, k):"):
        line("b = box[0]; k = b[k]")
        line(f"if k: return {opener(generator, node.item)}(box, q, k)")
        line("if U32(b, q)[0]: refuse()")
        line("return None")
    read = read_unions.oneofs(generator.eager, index)

    def make(namespace: dict[str, Any]) -> None:
        whole, state = namespace[read], generator.state
        attributes: dict[str, Any] = {
            "__slots__": (),
            "_zc_codec": generator.codec,
            "_zc_width": 4,
            "_zc_at": staticmethod(namespace[f"item{index}"]),
            "_zc_whole": staticmethod(lambda box, k, q: whole(box[0], k - 4, q - 4, state(box), {}, True, 0)),
        }
        namespace[f"View{index}"] = type("OneofsView", (OneofsView,), attributes)

    generator.classes.append(make)


def nested_opener(generator: ViewGenerator, index: int) -> str:
    """The function that shows the root of the message from ``q`` to ``x``."""
    return generator.eager.later("nestedview", index, lambda name, index: _nested(generator, name, index))


def _nested(generator: ViewGenerator, name: str, index: int) -> None:
    line, node = generator.source.line, generator.program.nodes[index]
    generator.source.namespace["NestedBox"] = NestedBox
    with generator.source.block(f"def {name}(box, q, x):"):
        line(f"if x - q < {SMALLEST}: refuse()")
        line("box = NestedBox(box, q, x); p = U32(box[0], 0)[0]")
        line("if not p: refuse()")
        line(f"return {generator.opener(node.item)}(box, p)")
