"""``zcser compare``: measure, write, print.

1. Every name and every place to write is checked before anything is measured.
2. Files are written before the report is printed: a reader that closes the pipe loses no figures. Where a file cannot
   be written after all, the report is printed and then the error.
3. An interrupted run is written and printed like any other, says so, and ends in exit code 1.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import PurePath

from zcser import payloads, registry
from zcser.cli import exports
from zcser.cli.decide import named_profile
from zcser.cli.errors import UsageError
from zcser.cli.progress import Progress
from zcser.cli.screen import screen
from zcser.cli.sources import payload_from
from zcser.core.errors import ZcserError
from zcser.decide.decision import decide
from zcser.decide.profiles import Profile
from zcser.measure.baseline import CODEC as BASELINE
from zcser.measure.operations import DEFAULT, OPERATIONS
from zcser.measure.plan import Request
from zcser.measure.result import Result
from zcser.measure.runner import run as measure
from zcser.payloads.base import Payload, PayloadError
from zcser.payloads.knobs import swept
from zcser.payloads.places import check_field
from zcser.report.decision import decision_document
from zcser.report.document import document_of
from zcser.report.tables import LEDGER_OPERATIONS

__all__ = ["run"]

FURTHER = frozenset(
    (
        "arrow",
        "avro",
        "bson",
        "capnp",
        "cbor2",
        "fory",
        "kserve",
        "pickle",
        "safetensors",
        "thrift",
        "thrift-binary",
        "ujson",
    )
)
"""Codecs that the built-in payloads are measured with on request alone: with all of them it would take minutes."""


def _shareable(argument: str) -> str:
    """An argument as a result file keeps it: a result is made to be shown, and a folder of somebody's machine is not."""
    name, equals, value = argument.partition("=")
    if equals and name.startswith("-"):
        return f"{name}={_shareable(value)}"
    return PurePath(argument).name if PurePath(argument).is_absolute() else argument


def run(arguments: argparse.Namespace) -> int:
    """Compare, and say whether all went well: 0, or 1 where a round trip failed, it was interrupted or nothing came."""
    profile = named_profile(arguments)
    chosen = _payloads(arguments)
    places = exports.prepare(arguments)
    request = Request(
        payloads=tuple(chosen),
        codecs=_codecs(arguments),
        operations=arguments.ops or _asked_by(profile),
        fields=arguments.fields or (),
        preset=arguments.preset,
        live_objects=arguments.live_objects,
        pin=arguments.pin,
        numa=arguments.numa,
        samples=None if places.folder is None else places.folder / "samples.npz",
        command=("zcser", *map(_shareable, arguments.typed)),
    )
    progress = Progress()
    try:
        result = measure(request, progress)
    finally:
        progress.clear()
    failure: ZcserError | None = None
    try:
        exports.write(result, places, "this run", profile)
    except ZcserError as error:
        failure = error
    ledger = arguments.ledger or not set(LEDGER_OPERATIONS).isdisjoint(request.operations)
    latency = arguments.latency
    shown = document_of(result, ledger=ledger, memory=arguments.memory, latency=latency, distribution=latency)
    output = screen()
    output.document(shown)
    if profile is not None:
        output.line()
        output.document(decision_document(decide(result, profile)))
    if failure is not None:
        raise failure
    return 0 if _went_well(result) else 1


def _asked_by(profile: Profile | None) -> tuple[str, ...]:
    """The usual operations and what a profile weighs besides; none, which is all of the usual, where it weighs nothing else."""
    if profile is None:
        return ()
    packing = (f"compress-{profile.compression}", f"decompress-{profile.compression}")
    names = (profile.write, profile.read, f"read-{profile.read}", f"read-{profile.read}-unverified", *packing)
    further = tuple(name for name in names if name in OPERATIONS and name not in DEFAULT)
    return (*DEFAULT, *further) if further else ()


def _codecs(arguments: argparse.Namespace) -> tuple[str, ...]:
    """The codecs to measure; none for all."""
    if arguments.codecs:
        return () if arguments.codecs == ("all",) else tuple(arguments.codecs)
    if arguments.source or arguments.payload or arguments.sweep:
        return ()
    return tuple(name for name in registry.names() if name not in FURTHER)


def _payloads(arguments: argparse.Namespace) -> list[Payload]:
    fields: tuple[str, ...] = arguments.fields or ()
    if arguments.source:
        if arguments.payload or arguments.sweep:
            option = "--payload" if arguments.payload else "--sweep"
            raise UsageError(f"{option} names built-in payloads; leave it out, or leave the file or function out")
        payload = payload_from(arguments, fields)
        return [dataclasses.replace(payload, source=_shareable(payload.source))]
    if arguments.schema is not None or arguments.include or arguments.delimited:
        raise UsageError(
            "--schema, --include and --delimited say how a file is read; built-in payloads have schemas of their own"
        )
    sizes = [name for text in arguments.sweep or () for name in swept(text)]
    names = dict.fromkeys([*(arguments.payload or ()), *sizes] or payloads.names())
    return [_with_fields(payloads.get(name), fields) for name in names]


def _with_fields(payload: Payload, fields: tuple[str, ...]) -> Payload:
    """A built-in payload with the user's fields, which must be in every value of it."""
    if not fields:
        return payload
    values = payload.values(payload.distinct)
    for path in fields:
        try:
            check_field(path, values, [f"value {number}" for number in range(len(values))])
        except PayloadError as error:
            raise PayloadError(f"{payload.name}: {error}") from None
    return dataclasses.replace(payload, field=fields[0], fields=fields)


def _went_well(result: Result) -> bool:
    statuses = {cell.status for cell in result.cells if cell.codec != BASELINE}
    return result.complete and "ok" in statuses and "failed" not in statuses
