# The walk over protobuf messages; see zcser/native/protowire and zcser.protowire.engine, its only user.
from collections.abc import Sequence
from typing import Self

from zcser.core.buffers import Buffer

class Walker:
    def __new__(cls, nodes: tuple[tuple[tuple[int, int], ...], ...], root: int) -> Self: ...
    def cut(self, data: Buffer, least: int, gaps: Sequence[tuple[int, int]] = (), /) -> bytes | None: ...
    def splice(self, head: bytes, aligned: bool, /) -> tuple[bytes, list[int]] | None: ...
