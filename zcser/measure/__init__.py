"""Floor 5: the measuring core. It knows the codec interface, and no codec.

Public names are resolved on first use, so that importing this package loads nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zcser.measure.allocations import count_allocations
    from zcser.measure.figures import Allocations
    from zcser.measure.result import Result, ResultError, load_result

_HOME = {
    "Allocations": "zcser.measure.figures",
    "Result": "zcser.measure.result",
    "ResultError": "zcser.measure.result",
    "count_allocations": "zcser.measure.allocations",
    "load_result": "zcser.measure.result",
}

__all__ = ["Allocations", "Result", "ResultError", "count_allocations", "load_result"]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'zcser.measure' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
