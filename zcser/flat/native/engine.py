"""The C engine of a program: what it is given, and what it calls back for.

The engine does the work that can be done without words. What it calls here is off its fast path: the normal form of a
value, errors, buffers other than bytes, arrays whose dtype the buffer protocol has no letter for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from zcser.core.buffers import Buffer, byte_view, frozen_copy, writable_view
from zcser.core.dtypes import NAMES, dtype_name, dtype_numbered, number_of, tensor_bytes
from zcser.core.errors import BufferTooSmallError, DecodeError, EncodeError, TruncatedError, VerifyError
from zcser.core.options import Options
from zcser.core.paths import pointer
from zcser.core.view import released
from zcser.flat.checks import MOST_DIMENSIONS
from zcser.flat.layout import Missing
from zcser.flat.native.view import install_views
from zcser.flat.program import Node, Op, Place, Program
from zcser.native import _flat
from zcser.schema.model import Ref

__all__ = ["make_engine"]

_MISSING = {
    Missing.ZERO: 0,
    Missing.NONE: 1,
    Missing.ABSENT: 2,
    Missing.DEFAULT: 3,
    Missing.REFUSED: 4,
}
_MAKE = {"direct": 1, "positional": 2, "keywords": 3}


def make_engine(program: Program, options: Options, *, codec: str, normal: Callable[[Any], Any]) -> _flat.Engine:
    """The engine of a program.

    Parameters
    ----------
    program
        What it runs.
    options
        Of the codec.
    codec
        Name that errors carry.
    normal
        The normal form of a value that the engine does not take as it is, or an `EncodeError`.
    """
    limits = options.limits
    dtypes = tuple(map(_dtype, range(len(NAMES))))
    calls = {
        "normal": normal,
        "encode_error": lambda reason: EncodeError(reason, codec=codec),
        "too_small": lambda needed, available: BufferTooSmallError(needed, available, codec=codec),
        "misaligned": lambda address, alignment: EncodeError(
            f"the address {address:#x} is no multiple of {alignment}; pass another offset or an aligned buffer",
            codec=codec,
        ),
        "writable_view": lambda out, offset: writable_view(out, offset, codec=codec),
        "decode_error": _decode_error(codec),
        "unreadable": lambda error: DecodeError(f"the message cannot be read: {error}", codec=codec),
        "byte_view": lambda data: byte_view(data, codec=codec).toreadonly(),
        "byte_array": lambda view: np.frombuffer(view, np.uint8),
        "released": released,
        "no_field": _no_field,
        "tensor_bytes": _tensor_bytes,
        "ndarray": np.ndarray,
        "copy_array": np.ndarray.copy,
        "frozen_copy": frozen_copy,
        "dtypes": dtypes,
        "itemsizes": bytes(0 if dtype is None else dtype.itemsize for dtype in dtypes),
        "alignments": bytes(0 if dtype is None else dtype.alignment for dtype in dtypes),
    }
    engine = _flat.Engine(
        nodes=tuple(_node(node, _order(program, node)) for node in program.nodes),
        root=program.root,
        limits=(program.counts_depth, limits.depth, limits.elements, limits.bytes, MOST_DIMENSIONS),
        refuse_unknown=options.unknown_fields == "refuse",
        strict=options.strict,
        calls=calls,
    )
    install_views(engine, program)
    return engine


def _order(program: Program, node: Node) -> list[int]:
    """Of each place of a node, the number of its field in the record's own order."""
    if node.op is not Op.TABLE or not isinstance(node.neutral, Ref):
        return list(range(len(node.places)))
    fields = program.layout.schema.record(node.neutral.name).fields
    numbers = {item.name: number for number, item in enumerate(fields)}
    return [numbers[place.name] for place in node.places if place.name is not None]


def _node(node: Node, order: Sequence[int]) -> tuple[Any, ...]:
    by_value = None
    if node.op is Op.ENUM and type(node.values[0][1]) in {int, str}:
        by_value = {value: position for position, (_, value) in enumerate(node.values)}
    return (
        int(node.op),
        node.size,
        int(node.number),
        node.values,
        by_value,
        node.bound,
        node.item,
        node.container is tuple,
        node.options,
        tuple(map(_place, node.places, order)),
        node.cls,
        0 if node.cls is None else _MAKE[node.construct],
        node.dtype,
        node.shape,
    )


def _place(place: Place, position: int) -> tuple[Any, ...]:
    lacking = place.make_default if place.missing is Missing.DEFAULT else place.zero
    return (place.index, place.node, _MISSING[place.missing], place.name, lacking, position)


def _dtype(number: int) -> np.dtype[Any] | None:
    try:
        return dtype_numbered(number)
    except LookupError:
        return None


def _decode_error(codec: str) -> Callable[[str, int | None, bool, Sequence[str | int] | None], DecodeError]:
    def make(reason: str, offset: int | None, is_cut: bool, steps: Sequence[str | int] | None) -> DecodeError:
        kind = TruncatedError if is_cut else VerifyError
        return kind(reason, codec=codec, path=None if steps is None else pointer(reversed(steps)), offset=offset)

    return make


def _no_field(record: str, names: Sequence[str], name: object) -> KeyError:
    return KeyError(f"{name!r} is not a field of {record}: {', '.join(names)}")


def _tensor_bytes(array: np.ndarray[Any, Any]) -> tuple[int, Buffer] | None:
    name = dtype_name(array.dtype)
    if name is None or array.dtype.byteorder == ">" or not array.flags.c_contiguous:
        return None
    return number_of(name), tensor_bytes(array)
