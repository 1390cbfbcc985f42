"""What a run measures, and how long each part of it may take.

1. The matrix is payloads x codecs x operations. What a codec does not have is known before anything starts, and stands in
   the result with its reason.
2. A round is one fresh process per codec. The time of a round is shared out so that every cell gets the same, except
   that one whose single call takes longer gets that call: any matrix ends within the budget, and no cell is skipped.
"""

from __future__ import annotations

import contextlib
import difflib
import pickle
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from zcser import payloads, registry
from zcser.core.codec import CodecInfo
from zcser.core.errors import CodecUnavailableError, ZcserError
from zcser.core.paths import parse_path
from zcser.measure.baseline import BASELINES, CODEC, PAYLOAD
from zcser.measure.composite import COMPOSITES
from zcser.measure.compression import COMPRESSIONS
from zcser.measure.context import PresetName
from zcser.measure.operations import DEFAULT, GROUPS, GUARD, OPERATIONS, missing, same_as
from zcser.measure.partial import READS
from zcser.measure.pinning import Pin, make_pin
from zcser.measure.presets import PRESETS, Preset
from zcser.payloads.base import Payload, Places
from zcser.payloads.spread import places_of

__all__ = ["Key", "MeasureError", "Plan", "Request", "make_plan", "share_out"]

_PLACED = frozenset((*READS, *COMPOSITES))
"""Operations for which places of the payload are chosen."""


class MeasureError(ZcserError, ValueError):
    """A run was asked for that cannot be made; the message is one line for a person."""


class Key(NamedTuple):
    """A cell's names."""

    payload: str
    codec: str
    operation: str


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for.

    Attributes
    ----------
    payloads
        Payloads, or names of built-in ones; empty: all built-in ones. Workers get them pickled.
    codecs
        Names; empty: all that are installed.
    operations
        Names of operations, or of groups of them (`zcser.measure.operations.GROUPS`); empty: those of the preset.
    fields
        Pointers that partial reads take, instead of the payloads' own.
    preset
        "quick", "full", "tails", or one of the caller's own.
    seed
        Of the order of cells.
    live_objects
        Objects that the collector has to scan besides an operation's own, as in a service that holds as many.
    yardstick_ns
        The fastest that the pace's work is known to run here, as an earlier run found; 0: unknown.
    pin, numa
        CPUs that workers run on, and the NUMA node that these and their memory belong to; empty and None: any.
    samples
        Where to write every latency sample as .npz; None: nowhere.
    command
        What the user typed, for the result.
    """

    payloads: tuple[Payload | str, ...] = ()
    codecs: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    preset: PresetName | Preset = "quick"
    seed: int = 1
    live_objects: int = 0
    yardstick_ns: int = 0
    pin: tuple[int, ...] = ()
    numa: int | None = None
    samples: Path | None = None
    command: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """What will be measured.

    Attributes
    ----------
    payloads, pickled
        By name, in the order of tables; and as the workers get them.
    codecs
        By name, the available ones.
    unavailable
        Why the others are not.
    shown
        The cells of the result, with the operation that is measured for each; derived cells included.
    unsupported
        Why a shown cell does not exist.
    measured
        The cells that are timed.
    pin
        Where workers run; None: anywhere.
    live_objects
        See `Request`.
    """

    preset: Preset
    payloads: dict[str, Payload]
    pickled: dict[str, bytes]
    codecs: dict[str, CodecInfo]
    unavailable: dict[str, CodecUnavailableError]
    shown: dict[Key, Key]
    unsupported: dict[Key, str]
    measured: tuple[Key, ...]
    pin: Pin | None = None
    live_objects: int = 0

    @property
    def deep(self) -> bool:
        """Whether the memory of decoded values is asked for: it belongs to the sizes."""
        return any(key.operation in COMPRESSIONS for key in self.shown)

    def writers(self, codec: str) -> tuple[str, ...]:
        """Installed codecs that write the wire which `codec` reads."""
        wire = self.codecs[codec].wire
        found = registry.available()
        return tuple(
            name
            for name, info in found.items()
            if isinstance(info, CodecInfo) and info.wire == wire and "encode" in info.operations
        )


def make_plan(request: Request) -> Plan:
    """Lay out a run.

    Raises
    ------
    MeasureError
        An unknown operation, a negative number of live objects, a path that is none, a payload that cannot be pickled, two payloads of one name.
    ZcserError
        An unknown payload or codec, no codec that is installed, or CPUs that cannot be had.
    """
    if request.live_objects < 0:
        raise MeasureError(f"live_objects is {request.live_objects}; it cannot be negative")
    preset = PRESETS[request.preset] if isinstance(request.preset, str) else request.preset
    chosen = _payloads(request)
    lone = preset.lone_operations if len(chosen) == 1 else ()
    operations = _operations(request.operations or (*preset.operations, *lone))
    if not _PLACED.isdisjoint(operations):
        chosen = {name: replace(payload, places=_places(payload, request.fields)) for name, payload in chosen.items()}
    codecs, unavailable = _codecs(request.codecs)
    shown, unsupported, measured = _matrix(chosen, codecs, operations)
    return Plan(
        preset=preset.within(len(chosen) * len(codecs) * max(1, len(operations) / len(DEFAULT))),
        payloads=chosen,
        pickled={name: _pickled(payload) for name, payload in chosen.items()},
        codecs=codecs,
        unavailable=unavailable,
        shown=shown,
        unsupported=unsupported,
        measured=measured,
        pin=make_pin(request.pin, request.numa),
        live_objects=request.live_objects,
    )


def _operations(names: Sequence[str]) -> tuple[str, ...]:
    every = dict.fromkeys((*DEFAULT, *OPERATIONS))
    known = (*every, *GROUPS)
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=2, cutoff=0.5)
            offer = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
            raise MeasureError(f"no operation is named {name!r}; {offer}")
    asked = {operation for name in names for operation in GROUPS.get(name, (name,))}
    return tuple(name for name in every if name in asked)


def _payloads(request: Request) -> dict[str, Payload]:
    try:
        for field in request.fields:
            parse_path(field)
    except ValueError as error:
        raise MeasureError(str(error)) from None
    found: dict[str, Payload] = {}
    for item in request.payloads or payloads.names():
        payload = payloads.get(item) if isinstance(item, str) else item
        if found.get(payload.name, payload) != payload:
            raise MeasureError(f"two payloads are named {payload.name!r}")
        fields = request.fields or payload.fields or (payload.field,)
        found[payload.name] = replace(payload, fields=fields)
    return found


def _places(payload: Payload, named: tuple[str, ...]) -> Places | None:
    """The places of a payload; None where its values cannot be made, which its cells then say."""
    try:
        # As in a worker, what the user's function prints is no part of a report.
        with contextlib.redirect_stdout(sys.stderr):
            return places_of(payload, named)
    except Exception:  # noqa: BLE001 - the user's function may raise anything
        return None


def _codecs(names: Sequence[str]) -> tuple[dict[str, CodecInfo], dict[str, CodecUnavailableError]]:
    available: dict[str, CodecInfo] = {}
    unavailable: dict[str, CodecUnavailableError] = {}
    for name in names or registry.names():
        try:
            available[name] = registry.info(name)
        except CodecUnavailableError as error:
            unavailable[name] = error
    if not available:
        raise next(iter(unavailable.values()), MeasureError("no codec is registered"))
    return available, unavailable


def _pickled(payload: Payload) -> bytes:
    try:
        return pickle.dumps(payload, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise MeasureError(
            f"payload {payload.name!r} cannot be sent to a worker: {error}; "
            "define its function and its classes at the top level of a module"
        ) from error


def _matrix(
    chosen: dict[str, Payload], codecs: dict[str, CodecInfo], operations: Sequence[str]
) -> tuple[dict[Key, Key], dict[Key, str], tuple[Key, ...]]:
    shown: dict[Key, Key] = {Key(PAYLOAD, CODEC, name): Key(PAYLOAD, CODEC, name) for name in BASELINES}
    unsupported: dict[Key, str] = {}
    measured = dict.fromkeys(shown)
    for payload in chosen.values():
        for codec, info in codecs.items():
            for operation in operations:
                key = Key(payload.name, codec, operation)
                source = Key(payload.name, codec, same_as(operation, info, payload) or operation)
                shown[key] = source
                why = missing(source.operation, info, payload)
                if why:
                    unsupported[key] = why
                elif operation == GUARD:
                    measured[key._replace(operation="encode")] = None
                    measured[key._replace(operation="encode-unguarded")] = None
                else:
                    measured[source] = None
    return shown, unsupported, tuple(measured)


def share_out(budget_ns: float, floors_ns: Sequence[int], least_ns: int, most_ns: int) -> int:
    """The equal share of each cell in a round.

    Parameters
    ----------
    budget_ns
        What the round may take.
    floors_ns
        Per cell, what it takes in any case; a cell takes the larger of this and its share.
    least_ns, most_ns
        Bounds on the share.

    Returns
    -------
    int
        The share s for which ``sum(max(s, floor))`` is the budget, within the bounds.
    """
    left, cells = budget_ns, len(floors_ns)
    for floor in sorted(floors_ns, reverse=True):
        if floor * cells <= left:
            break
        left -= floor
        cells -= 1
    share = left / cells if cells else 0
    return int(min(max(share, least_ns), most_ns))
