"""Keys that a wire cannot hold: `Form.key_fault`, where values are looked at one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zcser.schema.model import Map, Type
from zcser.schema.normal import Normaliser

__all__ = ["KeyNormaliser"]


class KeyNormaliser(Normaliser):
    """`normal` for a codec whose maps cannot have every text as a key: refuses the others with their path."""

    def __init__(self, *args: Any, fault: Callable[[str], str | None], **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._fault = fault

    def _of(self, type_: Type, value: Any, path: tuple[str | int, ...]) -> Any:
        found = super()._of(type_, value, path)
        if isinstance(type_, Map):
            for key in found:
                reason = self._fault(key) if key.__class__ is str else None
                if reason is not None:
                    self._refuse(reason, (*path, key))
        return found
