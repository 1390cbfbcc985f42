"""What is measured: the built-in inference payloads, seeded, and the user's own data.

Nothing is imported before it is asked for.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zcser.payloads.base import Payload

__all__ = ["from_source", "get", "names"]


def names() -> tuple[str, ...]:
    """The names of the built-in payloads, in the order of tables."""
    from zcser.payloads.suite import BUILTIN

    return tuple(BUILTIN)


def get(name: str) -> Payload:
    """The built-in payload of a name.

    Raises
    ------
    PayloadError
        There is none; near names are offered.
    """
    from zcser.payloads.base import PayloadError
    from zcser.payloads.suite import builtin

    if name not in names():
        near = difflib.get_close_matches(name, names(), n=3, cutoff=0.5)
        offer = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names())}"
        raise PayloadError(f"no built-in payload is named {name!r}; {offer}")
    return builtin(name)


def from_source(text: str, *, fields: Sequence[str] = ()) -> Payload:
    """A payload from the user's data; see `zcser.payloads.source.from_source`."""
    from zcser.payloads.source import from_source as read

    return read(text, fields=fields)
