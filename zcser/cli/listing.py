"""``zcser list``: the codecs, with the pip command of those that are not installed, and the built-in payloads."""

from __future__ import annotations

import argparse

from zcser import payloads, registry
from zcser.cli.screen import screen
from zcser.core.codec import OPERATIONS, CodecInfo
from zcser.core.errors import CodecUnavailableError, ZcserError
from zcser.core.units import bytes_text
from zcser.payloads.base import Payload
from zcser.report.model import ABSENT, Column, Entry, Table, one_line

__all__ = ["run"]


def run(_: argparse.Namespace) -> int:
    """Print both tables."""
    out = screen()
    found = registry.available()
    out.table(_codecs([info for info in found.values() if isinstance(info, CodecInfo)]))
    missing = [str(error) for error in found.values() if isinstance(error, CodecUnavailableError)]
    if missing:
        out.line()
    for reason in missing:
        out.line(one_line(reason))
    out.line()
    out.table(_payloads([payloads.get(name) for name in payloads.names()]))
    out.line()
    out.table(_on_request([name for name in payloads.all_names() if name not in payloads.names()]))
    return 0


def _codecs(infos: list[CodecInfo]) -> Table:
    columns = (
        Column("codec", align="left"),
        Column("wire", "wire", "left"),
        Column("format", "wire", "left"),
        Column("library", "library", "left"),
        Column("operations", "operations", "left"),
    )
    rows = []
    for info in infos:
        library = f"{info.library} {info.version} ({info.implementation})"
        operations = " ".join(name for name in OPERATIONS if name in info.operations)
        texts = (info.name, info.wire, info.format, library, operations)
        rows.append(tuple(Entry(one_line(text)) for text in texts))
    return Table("", columns, tuple(rows))


def _payloads(found: list[Payload]) -> Table:
    columns = (Column("payload", align="left"), Column("as JSON"), Column("what it is", align="left"))
    rows = tuple((Entry(payload.name), _size(payload), Entry(one_line(payload.doc))) for payload in found)
    return Table("", columns, rows)


def _on_request(names: list[str]) -> Table:
    """Those that are too large, or too many, to be measured unless asked for."""
    columns = (
        Column("--payload NAME:KNOB=VALUE,...", align="left"),
        Column("what it is", align="left"),
        Column("knobs", align="left"),
    )
    rows = tuple(
        (
            Entry(name),
            Entry(one_line(payloads.doc_of(name))),
            Entry(" ".join(f"{knob}={one.default}" for knob, one in payloads.knobs_of(name).items())),
        )
        for name in names
    )
    return Table("", columns, rows)


def _size(payload: Payload) -> Entry:
    """Bytes of the first value as JSON text, which needs nothing installed."""
    try:
        return Entry(bytes_text(len(registry.codec("json", payload.schema).encode(payload.make(0)))))
    except ZcserError:
        return ABSENT
