"""The operations of the bake-off: what each one times, and what its result must be.

1. The sentence under `boundary` states what is inside the timed window; it stands in every result.
2. Each operation is one call of one argument. Where a codec's method takes more, a Python function around it adds the
   rest, and is timed with it: the row "empty" shows what such a call costs by itself.
3. Every operation checks the result of one call against the value before it is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from zcser.core.codec import CodecInfo
from zcser.measure import composite, compression, partial, prepare
from zcser.measure.bench import Bench
from zcser.measure.prepare import Prepared
from zcser.payloads.base import Payload

__all__ = ["DEFAULT", "GROUPS", "GUARD", "GUARD_BOUNDARY", "OPERATIONS", "Operation", "missing", "same_as"]


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


_DEFAULT = (
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

_LEAVES = {"1": "one leaf", "2": "two leaves", "10%": "a tenth of the leaves, 2,000 at most,", "all": "all leaves"}
_BY_WALKING = ' (where the cell is flagged "walked", by a generic walk in Python)'


def _reads() -> Iterator[Operation]:
    for name in partial.READS:
        part, unverified = partial.part_of(name), name.endswith(partial.UNVERIFIED)
        how = (
            "with verify=False, the bytes trusted, "
            if unverified
            else "with verification where the codec has views, else codec.decode(bytes, copy=False) of everything, "
        )
        yield Operation(
            name,
            f"codec.view(bytes) {how}and reading {_LEAVES[part]} by subscripts written out, parts that several share taken "
            f"once{_BY_WALKING if part == 'all' else ''}; dropping them; one Python call around it",
            "view" if unverified else "decode",
            partial.preparing(name),
            unvalidated=unverified,
        )


def _compressions() -> Iterator[Operation]:
    for name, compressor in compression.COMPRESSIONS.items():
        what = f"{compressor.compress} of an encoded message" if name.startswith("compress-") else compressor.decompress
        boundary = f"{what}, to fresh bytes; neither encoding nor decoding; dropping the bytes"
        yield Operation(name, boundary, "encode", compression.preparing(name))


_COMPOSITE = (
    Operation(
        "forward",
        'a proxy: where the cell is flagged "in-place", codec.view(bytes) with verification, reading two leaves, a copy of '
        "the bytes, and changing one number in it by codec.patcher; else codec.decode(bytes, copy=False), reading two "
        "leaves, setting the number, and codec.encode; Python around it",
        "encode",
        composite.forward,
    ),
    Operation(
        "patch",
        "codec.patcher for one number, changing it in a writable message that is there already, with checks of what leads "
        "to it alone; one Python call around it",
        "patcher",
        composite.patch,
    ),
    Operation(
        "fan-in",
        "reading one leaf of each of 8 messages, as read-1 does, and codec.encode of one prepared value; Python around it",
        "encode",
        composite.fan_in,
    ),
    Operation(
        "fan-out",
        'one message to 8 receivers, a number changed for each: where the cell is flagged "in-place", codec.view(bytes) '
        "with verification, and for each a copy of the bytes and codec.patcher; else codec.decode(bytes, copy=False), and "
        "for each setting the number and codec.encode; Python around it",
        "encode",
        composite.fan_out,
    ),
)

OPERATIONS: dict[str, Operation] = {
    operation.name: operation for operation in (*_DEFAULT, *_reads(), *_compressions(), *_COMPOSITE)
}
"""The operations that are measured, by name."""

GUARD = "guard"
"""The one operation that is not measured but derived: encode less encode-unguarded, process by process."""

GUARD_BOUNDARY = "cost of encode less cost of encode-unguarded, process by process; below 0 where noise is larger"

DEFAULT: tuple[str, ...] = (*(operation.name for operation in _DEFAULT), GUARD)
"""What `compare` measures unless told otherwise."""

GROUPS: dict[str, tuple[str, ...]] = {
    "default": DEFAULT,
    "reads": partial.READS,
    "sizes": ("encode", "decode", *compression.COMPRESSIONS),
    "composite": composite.COMPOSITES,
}
"""Names for several operations."""


def same_as(operation: str, info: CodecInfo, payload: Payload) -> str | None:
    """The operation that is the same one for this codec and payload, None where it is one of its own."""
    views = "view" in info.operations
    if operation == "read-field" and views:
        return "view-field"
    if operation == "touch-all" and not views:
        return "decode"
    if operation in partial.READS and payload.places is not None:
        found = partial.source_of(operation, payload.places, payload.fields, views=views)
        return None if found == operation else found
    return None


def missing(operation: str, info: CodecInfo, payload: Payload) -> str | None:
    """Why a codec has no such operation on a payload, as far as that can be known without trying; None where it may."""
    needs = OPERATIONS[operation].needs if operation != GUARD else "encode"
    if needs not in info.operations:
        if needs in ("convert", "dump", "load", "restore") and info.fused:
            return f"{info.name} is fused: it has no {needs}"
        return f"{info.name} has no {needs}"
    if operation in composite.CHANGING and (payload.places is None or payload.places.number is None):
        return f"payload {payload.name} has no number that can be set: one outside of maps, unions and frozen classes"
    if operation in (*partial.READS, "fan-in") and (payload.places is None or not payload.places.reads["1"]):
        return f"payload {payload.name} has no leaf that could be chosen"
    if operation in compression.COMPRESSIONS and not compression.COMPRESSIONS[operation].installed:
        return f"{compression.COMPRESSIONS[operation].name} is not installed: {compression.COMPRESSIONS[operation].pip}"
    if operation == "tensor" and payload.tensor is None:
        return f"payload {payload.name} has no tensor"
    if operation.endswith(partial.UNVERIFIED) and info.validates:
        return f"{info.library} always validates: verify=False changes nothing"
    return None
