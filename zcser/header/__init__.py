"""Floor 2: fixed layouts over struct and memoryview: of a schema, for the codec; of records that others lay out, for all.

`RecordLayout` is the public name; it is resolved on first use, as the codec does without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zcser.header.records.layout import RecordLayout

__all__ = ["RecordLayout"]


def __getattr__(name: str) -> Any:
    if name != "RecordLayout":
        raise AttributeError(f"module 'zcser.header' has no attribute {name!r}")
    from zcser.header.records.layout import RecordLayout

    return RecordLayout
