"""What is measured: the built-in inference payloads, seeded, and the user's own data.

Nothing is imported before it is asked for.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zcser.payloads.base import Payload
    from zcser.payloads.entry import Entry
    from zcser.payloads.knobs import Knob
    from zcser.payloads.source import Watch
    from zcser.schema.model import Schema

__all__ = ["all_names", "doc_of", "from_source", "get", "knobs_of", "names"]


def names() -> tuple[str, ...]:
    """The names of the built-in payloads that are measured unless told otherwise, in the order of tables."""
    from zcser.payloads.suite import BUILTIN

    return tuple(BUILTIN)


def all_names() -> tuple[str, ...]:
    """The names of all built-in payloads: those of `names`, and then those that are asked for by name."""
    return tuple(_entries())


def doc_of(name: str) -> str:
    """What a built-in payload is, in words."""
    return _entries()[name].doc


def knobs_of(name: str) -> dict[str, Knob]:
    """What can be turned in a built-in payload, by name."""
    return dict(_entries()[name].knobs)


def get(name: str) -> Payload:
    """The built-in payload of a name, with its sizes as asked for.

    Parameters
    ----------
    name
        ``NAME``, or ``NAME:KNOB=VALUE,KNOB=VALUE``.

    Raises
    ------
    PayloadError
        There is none, or it has no such knob; near names are offered. Or it needs ml_dtypes, which is not installed.
    """
    from zcser.payloads.base import PayloadError
    from zcser.payloads.knobs import split

    entries = _entries()
    short, said = split(name)
    if short not in entries:
        near = difflib.get_close_matches(short, entries, n=3, cutoff=0.5)
        offer = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(entries)}"
        raise PayloadError(f"no built-in payload is named {short!r}; {offer}")
    return entries[short].payload(short, said)


def _entries() -> dict[str, Entry]:
    from zcser.payloads import chat, suite, tensors

    return {**suite.BUILTIN, **suite.SIZED, **chat.ENTRIES, **tensors.ENTRIES}


def from_source(
    *texts: str,
    schema: Schema | None = None,
    delimited: bool = False,
    fields: Sequence[str] = (),
    watch: Watch | None = None,
) -> Payload:
    """A payload from the user's data; see `zcser.payloads.source.from_source`."""
    from zcser.payloads.source import from_source as read

    return read(*texts, schema=schema, delimited=delimited, fields=fields, watch=watch)
