"""The engine of a layout: the one in C where it was built, else the one in Python."""

from __future__ import annotations

from typing import Any, Protocol

from zcser.core.buffers import Buffer
from zcser.core.view import RecordView
from zcser.header.records.model import Struct
from zcser.native import backend

__all__ = ["Engine", "make_engine"]


class Engine(Protocol):
    """What both engines do."""

    def unpack_from(self, buffer: Buffer, offset: int = 0) -> Any:
        """See `RecordLayout.unpack_from`."""

    def view(self, buffer: Buffer, offset: int = 0) -> RecordView:
        """See `RecordLayout.view`."""


def make_engine(record: Struct) -> Engine:
    """The engine of a record."""
    if backend == "native":
        from zcser.header.records.native import make_engine as make_native

        return make_native(record)
    from zcser.header.records.pure import PureEngine

    return PureEngine(record)
