# Guards over trees of builtins; see zcser/native/tree and zcser.tree.native, its only user but for the spans.
from collections.abc import Callable
from typing import Any, Self

class Coder:
    def __new__(
        cls,
        nodes: tuple[tuple[Any, ...], ...],
        root: int,
        checks: bool,
        finite: bool,
        surrogates: bool,
        can_write: bool,
        can_read: bool,
        ends_apart: bool,
        limits: tuple[int, int, int],
        dumps: Callable[[Any], bytes] | None,
        loads: Callable[[Any], Any],
        encode: Callable[[Any], bytes] | None,
        decode: Callable[..., Any],
        write: Callable[[Any], Any] | None,
        read: Callable[[Any], Any],
    ) -> Self: ...
    def encode(self, value: Any, /) -> bytes: ...
    def decode(self, data: Any, *, copy: bool = True) -> Any: ...
    def write(self, value: Any, /) -> Any: ...
    def read(self, tree: Any, /) -> Any: ...

def find_spans(message: Any, least: int, steps: int, /) -> list[tuple[int, int, int]]: ...
