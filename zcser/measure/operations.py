"""The operations of the bake-off: what each one times, and what its result must be.

1. The sentence under `boundary` states what is inside the timed window; it stands in every result.
2. Each operation is one call of one argument. Where a codec's method takes more, a Python function around it adds the
   rest, and is timed with it: the row "empty" shows what such a call costs by itself.
3. Every operation checks the result of one call against the value before it is timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from zcser.core.codec import CodecInfo
from zcser.measure import prepare
from zcser.measure.bench import Bench
from zcser.measure.prepare import Prepared
from zcser.payloads.base import Payload

__all__ = ["DEFAULT", "GUARD", "GUARD_BOUNDARY", "OPERATIONS", "Operation", "missing", "same_as"]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation.

    Attributes
    ----------
    name
        As in cells.
    boundary
        What is inside the timed window.
    needs
        The operation of `Codec` without which it does not exist.
    prepare
        Binds it to a bench.
    unvalidated
        Whether it runs without the guard or without verification.
    """

    name: str
    boundary: str
    needs: str
    prepare: Callable[[Bench], Prepared]
    unvalidated: bool = False


_ALL = (
    Operation(
        "encode",
        "codec.encode(value) of a prepared value: guards, conversion from the user's object and building the library's "
        "message, to fresh bytes; dropping the bytes",
        "encode",
        prepare.encode,
    ),
    Operation(
        "encode-into",
        "codec.encode_into(value, buffer), as encode but into one writable buffer of aligned memory that is there "
        "already; one Python call around it",
        "encode_into",
        prepare.encode_into,
    ),
    Operation(
        "encode-segments",
        "codec.encode_segments(value), as encode but to a list of buffers, in which big parts alias the value; not "
        "joined; dropping the list",
        "encode_segments",
        prepare.encode_segments,
    ),
    Operation(
        "decode",
        "codec.decode(bytes): checks and building the whole value, of the user's class, with copies of tensors and "
        "bytes; dropping the value",
        "decode",
        prepare.decode,
    ),
    Operation(
        "decode-nocopy",
        "codec.decode(bytes, copy=False): as decode, but tensors and bytes alias the message; one Python call around it",
        "decode",
        prepare.decode_nocopy,
    ),
    Operation(
        "view-field",
        "codec.view(bytes) with verification, and reading the payload's named fields, each by subscripts written out; "
        "dropping the view; one Python call around it",
        "view",
        prepare.view_field,
    ),
    Operation(
        "view-field-unverified",
        "as view-field with verify=False: the bytes are trusted, hostile ones could lead anywhere",
        "view",
        prepare.view_field_unverified,
        unvalidated=True,
    ),
    Operation(
        "read-field",
        "the codec's fastest way from bytes to the payload's named fields: view-field where it has views, else "
        "codec.decode(bytes, copy=False) of everything and reading the fields; one Python call around it",
        "decode",
        prepare.read_field,
    ),
    Operation(
        "touch-all",
        "codec.view(bytes) and reading every leaf by a generic walk in Python; where the codec has no views it is "
        "decode, which builds every leaf",
        "view",
        prepare.touch_all,
    ),
    Operation(
        "tensor",
        "from bytes to the payload's first tensor as a numpy array: codec.view(bytes) and its path where the codec has "
        "views, else codec.decode(bytes, copy=False) of everything; elements are not read; one Python call around it",
        "decode",
        prepare.tensor,
    ),
    Operation(
        "convert",
        "codec.convert(value): guards, and building the library's own object from the user's",
        "convert",
        prepare.convert,
    ),
    Operation("dump", "codec.dump(native): the library alone, from its own object to bytes", "dump", prepare.dump),
    Operation("load", "codec.load(bytes): the library alone, from bytes to its own object", "load", prepare.load),
    Operation(
        "restore",
        "codec.restore(native): from the library's own object to the user's; each call takes a freshly loaded object, "
        "which is not dropped inside the window",
        "restore",
        prepare.restore,
    ),
    Operation(
        "encode-unguarded",
        'as encode by a codec made with guard="off": what the library would change silently is changed',
        "encode",
        prepare.encode_unguarded,
        unvalidated=True,
    ),
    Operation(
        "decode-unguarded",
        'as decode by a codec made with guard="off"',
        "decode",
        prepare.decode_unguarded,
        unvalidated=True,
    ),
)

OPERATIONS: dict[str, Operation] = {operation.name: operation for operation in _ALL}
"""The operations that are measured, by name."""

GUARD = "guard"
"""The one operation that is not measured but derived: encode less encode-unguarded, process by process."""

GUARD_BOUNDARY = "cost of encode less cost of encode-unguarded, process by process; below 0 where noise is larger"

DEFAULT: tuple[str, ...] = (*OPERATIONS, GUARD)
"""What `compare` measures unless told otherwise."""


def same_as(operation: str, info: CodecInfo) -> str | None:
    """The operation that is the same one for this codec, None where it is one of its own."""
    if operation == "read-field" and "view" in info.operations:
        return "view-field"
    if operation == "touch-all" and "view" not in info.operations:
        return "decode"
    return None


def missing(operation: str, info: CodecInfo, payload: Payload) -> str | None:
    """Why a codec has no such operation on a payload, as far as that can be known without trying; None where it may."""
    needs = OPERATIONS[operation].needs if operation != GUARD else "encode"
    if needs not in info.operations:
        if needs in ("convert", "dump", "load", "restore") and info.fused:
            return f"{info.name} is fused: it has no {needs}"
        return f"{info.name} has no {needs}"
    if operation == "tensor" and payload.tensor is None:
        return f"payload {payload.name} has no tensor"
    if operation == "view-field-unverified" and info.validates:
        return f"{info.library} always validates: verify=False changes nothing"
    return None
