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
from zcser.flat.program import Choice, Node, Op, Place, Program
from zcser.flat.segments import segment_views
from zcser.native import _flat
from zcser.schema.model import Ref
from zcser.schema.normal import Normaliser

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
        "normal_part": _normal_part(program, options, codec),
        "encode_error": lambda reason: EncodeError(reason, codec=codec),
        "patch_error": lambda reason, steps: EncodeError(reason, codec=codec, path=pointer(steps)),
        "too_small": lambda needed, available: BufferTooSmallError(needed, available, codec=codec),
        "misaligned": lambda address, alignment: EncodeError(
            f"the address {address:#x} is no multiple of {alignment}; pass another offset or an aligned buffer",
            codec=codec,
        ),
        "writable_view": lambda out, offset: writable_view(out, offset, codec=codec),
        "decode_error": _decode_error(codec),
        "unreadable": lambda error: DecodeError(f"the message cannot be read: {error}", codec=codec),
        "byte_view": lambda data: byte_view(data, codec=codec).toreadonly(),
        "segment_views": lambda segments: segment_views(segments, codec=codec),
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
        identifier=program.identifier,
        is_prefixed=program.is_prefixed,
        limits=(program.counts_depth, limits.depth, limits.elements, limits.bytes, MOST_DIMENSIONS),
        refuse_unknown=options.unknown_fields == "refuse",
        strict=options.strict,
        calls=calls,
    )
    install_views(engine, program)
    return engine


def _order(program: Program, node: Node) -> list[int]:
    """Of each place of a node, the number of its field in the record's own order."""
    if node.op not in {Op.TABLE, Op.STRUCT} or not isinstance(node.neutral, Ref):
        return list(range(len(node.places)))
    fields = program.schema.record(node.neutral.name).fields
    numbers = {item.name: number for number, item in enumerate(fields)}
    return [numbers[place.name] for place in node.places if place.name is not None]


def _node(node: Node, order: Sequence[int]) -> tuple[Any, ...]:
    by_value = None
    if node.op is Op.ENUM and type(node.values[0][1]) in {int, str}:
        by_value = {value: position for position, (_, value) in enumerate(node.values)}
    places = map(_option, node.choices, range(len(node.choices))) if node.choices else map(_place, node.places, order)
    return (
        int(node.op),
        node.size,
        node.align,
        int(node.number),
        node.values,
        by_value,
        node.bound,
        node.item,
        node.container is tuple,
        node.wide_length,
        node.is_shared,
        node.options,
        tuple(places),
        node.cls,
        0 if node.cls is None else _MAKE[node.construct],
        node.dtype,
        node.shape,
    )


def _place(place: Place, position: int) -> tuple[Any, ...]:
    lacking = place.make_default if place.missing is Missing.DEFAULT else place.zero
    missing = _MISSING[place.missing]
    return (
        place.index, place.node, missing, place.name, lacking, position, place.may_lack, place.offset, place.is_key
    )  # fmt: skip


def _option(choice: Choice, position: int) -> tuple[Any, ...]:
    """An option of a union, as if it were a place."""
    return (choice.number, choice.node, _MISSING[Missing.NONE], choice.name, None, position, False, -1, False)


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


def _normal_part(program: Program, options: Options, codec: str) -> Callable[[int, Any, Sequence[str | int]], Any]:
    normaliser = Normaliser(program.schema, strict=options.strict, finite=False, limits=options.limits, codec=codec)

    def normal(node: int, value: Any, steps: Sequence[str | int]) -> Any:
        try:
            return normaliser.part(program.nodes[node].neutral, value)
        except EncodeError as error:
            raise EncodeError(error.reason, codec=codec, path=pointer(steps)) from None

    return normal


def _no_field(record: str, names: Sequence[str], name: object) -> KeyError:
    return KeyError(f"{name!r} is not a field of {record}: {', '.join(names)}")


def _tensor_bytes(array: np.ndarray[Any, Any]) -> tuple[int, Buffer] | None:
    name = dtype_name(array.dtype)
    if name is None or array.dtype.byteorder == ">" or not array.flags.c_contiguous:
        return None
    return number_of(name), tensor_bytes(array)
