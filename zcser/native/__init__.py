"""Floor 1: C sources, and the one place that chooses between native and pure.

1. The C engines are used where they were built, all of them; ``ZCSER_BACKEND=pure`` or ``ZCSER_BACKEND=native`` in the
   environment forces the choice when this package is first imported, for the life of the process.
2. Both engines of a format do the same to the last byte; only the time differs.
"""

from __future__ import annotations

import importlib
import os
from typing import Literal

from zcser.core.errors import CodecUnavailableError

__all__ = ["Backend", "backend"]

Backend = Literal["native", "pure"]

_EXTENSIONS = ("_flat", "_frame", "_header", "_protowire", "_tree")
"""Modules of this package that are an engine in C, each with a twin in Python."""


def _choose() -> Backend:
    wanted = os.environ.get("ZCSER_BACKEND", "")
    if wanted not in {"", "native", "pure"}:
        raise ValueError(f"ZCSER_BACKEND must be native or pure, not {wanted!r}")
    if wanted == "pure":
        return "pure"
    try:
        for name in _EXTENSIONS:
            importlib.import_module(f"{__name__}.{name}")
    except ImportError as error:
        if wanted == "native":
            raise CodecUnavailableError(
                f"ZCSER_BACKEND=native, but zcser's C extension is not there ({error}); install zcser again where a C "
                "compiler is found, or unset it"
            ) from error
        return "pure"
    return "native"


backend: Backend = _choose()
"""Which engines run: "native", in C, or "pure", in Python."""
