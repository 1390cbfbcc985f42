"""Changing scalars of a message in place: their bytes are made as encoding makes them, and nothing else is touched."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from zcser.core.buffers import Buffer, writable_view
from zcser.core.errors import EncodeError, TruncatedError, VerifyError
from zcser.core.options import Options
from zcser.core.paths import pointer
from zcser.flat.checks import SMALLEST, Fault
from zcser.flat.inline import code_of, is_scalar
from zcser.flat.program import Node, Op, Program
from zcser.flat.pure.patch_walk import Tables, Walk
from zcser.flat.pure.write_calls import Misfit, exact_float
from zcser.flat.pure.write_values import class_of
from zcser.schema.normal import Normaliser

__all__ = ["PurePatcher"]

_U32 = struct.Struct("<I").unpack_from
_I32 = struct.Struct("<i").unpack_from

Pack: TypeAlias = Callable[[Any], bytes]
Change: TypeAlias = tuple[int, bytes]
"""Where bytes are to stand, and which."""

_NO_SCALAR = Misfit, struct.error, OverflowError


class PurePatcher:
    """Changes scalars in the messages of one program.

    Parameters
    ----------
    program
        What the messages are made of.
    options
        ``limits``, ``unknown_fields`` and ``strict`` are heeded.
    codec
        Name that errors carry.
    """

    def __init__(self, program: Program, options: Options, *, codec: str | None = None) -> None:
        self.program = program
        self.codec = codec
        self.options = options
        self.tables: Tables = {}
        self._normal = Normaliser(
            program.schema, strict=options.strict, finite=False, limits=options.limits, codec=codec
        )
        self._packs: dict[int, Pack] = {}

    def patch(self, buffer: Buffer, steps: Sequence[str | int], value: Any) -> None:
        """Change a scalar in place; see `zcser.flat.engine.Engine.patch`."""
        data = writable_view(buffer, codec=self.codec)
        _write(data, [self.change(data, tuple(steps), value)])

    def patcher(self, paths: Sequence[Sequence[str | int]]) -> Callable[..., None]:
        """Compile paths; see `zcser.flat.engine.Engine.patcher`."""
        return _Compiled(self, [tuple(steps) for steps in paths])

    def walk(self, data: memoryview, steps: Sequence[str | int]) -> Walk:
        """A walk that is to begin."""
        return Walk(self.program, data, steps, self.tables, self.options, self.codec)

    def pack(self, index: int) -> Pack:
        """What makes the bytes of the scalars of a node."""
        if index not in self._packs:
            self._packs[index] = _pack(self.program.nodes[index])
        return self._packs[index]

    def change(self, data: memoryview, way: Sequence[str | int], value: Any) -> Change:
        """The change of one scalar."""
        size, limit = len(data), self.options.limits.bytes
        if size > limit:
            raise VerifyError(f"{size} bytes are more than limits.bytes = {limit}", codec=self.codec)
        if size < SMALLEST:
            raise TruncatedError(f"{size} bytes are fewer than any message has", codec=self.codec, offset=size)
        walk = self.walk(data, way)
        try:
            walk.begin()
            walk.go_all()
        except (Fault, struct.error, IndexError) as error:
            fault = error if isinstance(error, Fault) else Fault("an offset leads past the end", walk.table, cut=True)
            kind = TruncatedError if fault.cut else VerifyError
            raise kind(
                fault.reason,
                codec=self.codec,
                path=pointer(way[: walk.taken]),
                offset=walk.origin + fault.offset,
            ) from None
        return walk.origin + walk.at, self._bytes(walk, value)

    def _bytes(self, walk: Walk, value: Any) -> bytes:
        """The bytes of a value, or of its normal form, as encoding has them."""
        pack = self.pack(walk.index)
        if not self.options.strict:
            try:
                return pack(value)
            except _NO_SCALAR:
                pass
        try:
            return pack(self._normal.part(walk.node.neutral, value))
        except EncodeError as error:
            raise EncodeError(error.reason, codec=self.codec, path=pointer(walk.steps)) from None


class _Compiled:
    """Changes the scalars at some paths, all or none. Those of the root are found without a walk, where all is well."""

    def __init__(self, patcher: PurePatcher, ways: Sequence[tuple[str | int, ...]]) -> None:
        self._patcher = patcher
        self._ways = ways
        program = patcher.program
        self._vtables, where = patcher.walk(memoryview(b""), ()).vtables_of(program.root)
        places = {place.name: place for place in program.nodes[program.root].places}
        self._root: list[tuple[int, Pack]] = []
        self._most_bytes = patcher.options.limits.bytes
        for way in ways:
            place = places.get(way[0]) if len(way) == 1 and isinstance(way[0], str) else None
            if place is not None and is_scalar(program.nodes[place.node]):
                self._root.append((where[place.index], patcher.pack(place.node)))
        self._is_plain = (
            len(self._root) == len(ways)
            and not (program.is_prefixed or program.identifier or patcher.options.strict)
            and program.nodes[program.root].op is Op.TABLE
        )

    def __call__(self, buffer: Buffer, *values: Any) -> None:
        if len(values) != len(self._ways):
            raise TypeError(f"a patcher of {len(self._ways)} paths takes a buffer and as many values, by position")
        patcher = self._patcher
        data = memoryview(buffer) if type(buffer) is bytearray else writable_view(buffer, codec=patcher.codec)
        changes = self._at_once(data, values) if self._is_plain else None
        if changes is None:
            changes = [patcher.change(data, way, value) for way, value in zip(self._ways, values, strict=True)]
        _write(data, changes)

    def _at_once(self, data: memoryview, values: Sequence[Any]) -> list[Change] | None:
        """The changes in the root's table; None: the walk, or the normal form, has to say what there is."""
        end, changes = len(data), []
        if not SMALLEST <= end <= self._most_bytes:
            return None
        (at,) = _U32(data)
        if at < 4 or at & 3 or at + 4 > end:
            return None
        try:
            found = self._vtables.at(data, end, at - _I32(data, at)[0])
            if at & found[1] != found[2] or at + found[0] > end:
                return None
            for place, value in enumerate(values):
                where, pack = self._root[place]
                if not found[where]:
                    return None
                changes.append((at + found[where], pack(value)))
        except (Fault, *_NO_SCALAR):
            return None
        return changes


def _write(data: memoryview, changes: Sequence[Change]) -> None:
    for at, packed in changes:
        data[at : at + len(packed)] = packed


def _pack(node: Node) -> Pack:
    """What makes the bytes of a scalar that is in normal form."""
    pack = struct.Struct(f"<{code_of(node)}").pack
    if node.op in {Op.FLOAT32, Op.FLOAT64}:
        return lambda value: pack(value if value.__class__ is float else exact_float(value))
    cls = class_of(node)

    def pack_value(value: Any) -> bytes:
        if value.__class__ is not cls:
            raise Misfit(f"no {cls.__name__}")
        return pack(value)

    def pack_member(value: Any) -> bytes:
        number = next((number for number, member in node.values if member == value), None)
        if value.__class__ is not cls or number is None:
            raise Misfit("no member of the enum")
        return pack(number)

    def pack_none(value: Any) -> bytes:
        if value is not None:
            raise Misfit("no None")
        return pack(0)

    return pack_member if node.op is Op.ENUM else pack_none if node.op is Op.NULL else pack_value
