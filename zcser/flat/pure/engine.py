"""The engine in Python of a program: what the C engine does, for where it was not built."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from zcser.core.buffers import Buffer
from zcser.core.options import Options
from zcser.flat.program import Program
from zcser.flat.pure.patch import PurePatcher
from zcser.flat.pure.read import PureReader
from zcser.flat.pure.read_segments import SegmentReader
from zcser.flat.pure.write import PureWriter

__all__ = ["PureEngine", "make_engine"]


class PureEngine:
    """A writer and a reader of one program, with the operations of a codec; see `zcser.flat.native.engine` for its twin."""

    def __init__(
        self,
        writer: PureWriter,
        reader: PureReader,
        patcher: PurePatcher,
        segment_reader: Callable[[], SegmentReader],
    ) -> None:
        self.encode = writer.encode
        self.encode_into = writer.encode_into
        self.encode_segments = writer.encode_segments
        self.encoded_size = writer.encoded_size
        self.reserve = writer.reserve
        self.decode = reader.decode
        self.verify = reader.verify
        self.view = reader.view
        self.patch = patcher.patch
        self.patcher = patcher.patcher
        self._writer = writer
        # Made when it is first asked for: most engines never are, and its code is as long as the other reader's.
        self._segment_reader = functools.cache(segment_reader)

    def decode_segments(self, segments: Sequence[Buffer], *, copy: bool = True) -> Any:
        """See `zcser.core.codec.Codec.decode_segments`."""
        return self._segment_reader().decode(segments, copy=copy)

    def view_segments(self, segments: Sequence[Buffer], *, verify: bool = True) -> Any:
        """See `zcser.core.codec.Codec.view_segments`."""
        return self._segment_reader().view(segments, verify=verify)

    @property
    def scratch_size(self) -> int:
        """Bytes of scratch memory."""
        return self._writer.scratch_size

    @property
    def growths(self) -> int:
        """How often it had to grow."""
        return self._writer.growths


def make_engine(program: Program, options: Options, *, codec: str, normal: Callable[[Any], Any]) -> PureEngine:
    """The engine of a program; see `zcser.flat.engine.make_engine`."""
    return PureEngine(
        PureWriter(program, options, codec=codec, normal=normal),
        PureReader(program, options, codec=codec),
        PurePatcher(program, options, codec=codec),
        lambda: SegmentReader(program, options, codec=codec),
    )
