"""The reader in pure Python of messages that come in segments; `zcser.flat.segments` says what stands where.

It is generated as `zcser.flat.pure.read` generates that of whole messages, which stays as fast as it is for being another.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from zcser.core.buffers import Buffer
from zcser.core.errors import DecodeError
from zcser.core.options import Options
from zcser.core.view import View
from zcser.flat.checks import SMALLEST
from zcser.flat.program import Program
from zcser.flat.pure.read import Start
from zcser.flat.pure.read_code import ReadGenerator
from zcser.flat.pure.read_data import SegmentData
from zcser.flat.pure.read_state import state_of, text_of
from zcser.flat.pure.view import ViewGenerator
from zcser.flat.pure.view_parts import Box, failure
from zcser.flat.segments import Segments, segment_views
from zcser.flat.verify import SegmentVerifier

__all__ = ["SegmentReader"]

_U32 = struct.Struct("<I").unpack_from


class SegmentReader:
    """Reads the messages of one program from segments.

    Parameters
    ----------
    program
        What the messages are made of.
    options
        ``limits``, ``unknown_fields`` and ``guard`` are heeded.
    codec
        Name that errors carry.

    Notes
    -----
    Copies: as those of `zcser.flat.pure.read.PureReader`; nothing is joined. Lifetime: what aliases keeps its segment alive,
    a view all of them.
    """

    def __init__(self, program: Program, options: Options, *, codec: str | None = None) -> None:
        self._codec = codec
        self._limits = options.limits
        self._guarded = options.guard == "on"
        refuse_unknown = options.unknown_fields == "refuse"
        self._start = Start(program)
        self._verifier = SegmentVerifier(program, options.limits, refuse_unknown=refuse_unknown, codec=codec)
        eager = ReadGenerator(program, options.limits, refuse_unknown=refuse_unknown, data=SegmentData)
        lazy = ViewGenerator(eager, self._state, codec)
        rows, opener = eager.rows(program.root), lazy.opener(program.root)
        namespace = eager.compile()
        lazy.make_classes(namespace)
        self._rows, self._open = namespace[rows], namespace[opener]

    def _state(self, box: Box) -> list[Any]:
        segments: Segments = box[2]
        return [*state_of(box[0], self._limits, segments.total), segments]

    def decode(self, segments: Sequence[Buffer], *, copy: bool = True) -> Any:
        """Decode a message; see `zcser.core.codec.Codec.decode_segments`.

        Raises
        ------
        VerifyError, TruncatedError
            The bytes contradict the schema or themselves, lead past the end, or are cut otherwise than a reader of segments
            takes.
        DecodeError
            `segments` are no list of buffers, or the class of a value does not take what the message holds.
        """
        found = Segments(segment_views(segments, codec=self._codec))
        head = found.buffers[0]
        try:
            if len(head) >= SMALLEST and found.total <= self._limits.bytes:
                state = self._state([head, text_of, found])
                (root,) = self._start.root(head, found.total)
                (value,) = self._rows(head, (root,) if root else (), state, {}, copy, 0)
                if state[1] >= 0:
                    if found.unreached() is not None:
                        self._verifier(found)
                    return value
        except DecodeError:
            raise
        except Exception as error:
            self._verifier(found)
            raise DecodeError(f"the message cannot be read: {error}", codec=self._codec) from error
        self._verifier(found)
        raise DecodeError("the message cannot be read", codec=self._codec)  # pragma: no cover - the verifier has raised

    def view(self, segments: Sequence[Buffer], *, verify: bool = True) -> View:
        """Open a message lazily; see `zcser.core.codec.Codec.view_segments`, and `decode` for what is raised."""
        found = Segments(segment_views(segments, codec=self._codec))
        if verify and self._guarded:
            self._verifier(found)
        box = [found.buffers[0], text_of, found]
        try:
            (position,) = self._start.root(box[0], found.total)
            view: View = self._open(box, position)
        except Exception as error:
            raise failure(box, error, self._codec) from error
        return view
