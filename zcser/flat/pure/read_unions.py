"""The functions that read unions of one-key dicts, vectors of them, and nested messages, generated from a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zcser.flat.checks import SMALLEST
from zcser.flat.program import Op, Place
from zcser.flat.pure import read_structs

if TYPE_CHECKING:
    from zcser.flat.pure.read_code import ReadGenerator

__all__ = ["nested", "oneof", "oneofs", "write_place"]


def write_place(generator: ReadGenerator, place: Place, tag: str, variable: str) -> None:
    """Read a union, or a vector of them, from its two slots into a variable."""
    line, before = generator.source.line, place.index - 1
    are_many = generator.program.nodes[place.node].op is Op.ONEOFS
    kind, found = f"f{tag}_{before}", f"f{tag}_{place.index}"
    with generator.source.block(f"if {kind}:"):
        line(f"if not {found}: refuse()")
        generator.follow(tag, place.index)
        if are_many:
            numbers = f"p{tag} + o{tag}_{before} + {kind}"
            line(f"{variable} = {oneofs(generator, place.node)}(b, {numbers}, q, s, seen, c, d)")
        else:
            line(f"{variable} = {oneof(generator, place.node)}(b, q, {kind}, s, seen, c, d)")
    # A value without a number; a number of 0 alone is none, an offset of 0 is wrong.
    line(f"elif {found}.__class__ is int{f' or {kind}.__class__ is int' if are_many else ''}: refuse()")
    line(f"else: {variable} = {generator.missing(place)}")


def oneof(generator: ReadGenerator, index: int) -> str:
    """The function that reads the option of number ``k`` at ``q``."""
    return generator.later("oneof", index, lambda name, index: _oneof(generator, name, index))


def _oneof(generator: ReadGenerator, name: str, index: int) -> None:
    line, node = generator.source.line, generator.program.nodes[index]
    with generator.source.block(f"def {name}(b, q, k, s, seen, c, d):"):
        if generator.program.counts_depth:
            line("if d >= LIMIT: refuse()")
            line("d += 1")
        line(f"{generator.data.shared}; w = 0")
        for number, choice in enumerate(node.choices):
            option = generator.program.nodes[choice.node]
            with generator.source.block(f"{'elif' if number else 'if'} k == {choice.number}:"):
                if option.op is Op.STRUCT:
                    if option.align > 1:
                        line(f"if q & {option.align - 1}: refuse()")
                    read_structs.count(generator, choice.node)
                    line(f"x = {read_structs.function(generator, choice.node)}(b[q:q + {option.size}])[0]")
                    line(f"w = {option.size}")
                else:
                    generator.at(choice.node, "x")
                line(f"x = {{{generator.source.constant(choice.name)}: x}}")
        line("else: refuse()")
        line("if w > t: refuse()")
        line("s[1] -= w")
        line("return x")


def oneofs(generator: ReadGenerator, index: int) -> str:
    """The function that reads a vector of unions: of the numbers at ``p``, and the values at ``q``."""
    return generator.later("oneofs", index, lambda name, index: _oneofs(generator, name, index))


def _oneofs(generator: ReadGenerator, name: str, index: int) -> None:
    line, node = generator.source.line, generator.program.nodes[index]
    with generator.source.block(f"def {name}(b, p, q, s, seen, c, d):"):
        line("n = U32(b, q)[0]")
        line("if p & 3 or q & 3 or U32(b, p)[0] != n: refuse()")
        line("s[0] -= n; s[1] -= 5 * n + 8")
        line("if s[0] < 0 or s[1] < 0: refuse()")
        if generator.program.counts_depth:
            line("if d >= LIMIT: refuse()")
            line("d += 1")
        line("i = (q >> 2) + 1; x = s[2][i:i + n].tolist(); y = b[p + 4:p + 4 + n]")
        line("if len(x) != n or len(y) != n: refuse()")
        line("r = []")
        with generator.source.block("for k, u, q in zip(y, x, range(q + 4, q + 4 + 4 * n, 4)):"):
            line("if (not k) is not (not u): refuse()")
            line(f"r.append({oneof(generator, node.item)}(b, q + u, k, s, seen, c, d) if k else None)")
        line(f"return {'r' if node.container is list else 'tuple(r)'}")


def nested(generator: ReadGenerator, index: int) -> str:
    """The function that reads the message from ``q`` to ``x``."""
    return generator.later("nested", index, lambda name, index: _nested(generator, name, index))


def _nested(generator: ReadGenerator, name: str, index: int) -> None:
    line, node = generator.source.line, generator.program.nodes[index]
    with generator.source.block(f"def {name}(b, q, x, s, c, d):"):
        line(f"if x - q < {SMALLEST}: refuse()")
        line("b = b[q:x] if c else memoryview(b)[q:x]")
        line("i = nested_state(b, s); p = U32(b, 0)[0]")
        line("if not p: refuse()")
        line(f"r = {generator.rows(node.item)}(b, (p,), i, {{}}, c, d)")
        line("s[:2] = i[:2]")
        line("return r[0]")
