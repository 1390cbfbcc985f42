"""Result documents of older versions, brought into the form of this one before they are checked.

What an older version did not take stays null. A document that does not have its own version's form is left as it is: the
check that follows names the place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["UPGRADES"]

_BLIND = "the library also allocates outside Python's allocators"


def _from_1(document: dict[str, Any]) -> dict[str, Any]:
    """Version 2 names the blind spot instead of only saying that there is one, and has counts where 1 had a lone null."""
    cells = document.get("cells")
    upgraded = [_cell_from_1(cell) for cell in cells] if isinstance(cells, list) else cells
    return {**document, "schema_version": 2, "cells": upgraded}


def _cell_from_1(cell: Any) -> Any:
    found = cell.get("allocations") if isinstance(cell, dict) else None
    if not isinstance(found, dict) or not isinstance(found.get("blind"), bool):
        return cell
    return {**cell, "allocations": {**found, "blind": _BLIND if found["blind"] else None}}


def _from_2(document: dict[str, Any]) -> dict[str, Any]:
    """Version 3 only adds what 2 did not take."""
    return {**document, "schema_version": 3}


UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _from_1, 2: _from_2}
"""By version: to the next one."""
