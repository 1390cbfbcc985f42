"""The user's own Python: ``module:name``.

1. The module is imported with the current folder on ``sys.path``, as ``python -m`` has it.
2. A function takes no arguments and returns one value, a list, tuple or iterator of values, or a `Payload`. A list is
   many values: a value that is itself a list is returned as ``[value]``.
3. Whatever the user's code raises becomes a `PayloadError` that names it; the original is its cause.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from zcser.payloads.base import Payload, PayloadError

__all__ = ["call", "is_reference", "resolve"]

_REFERENCE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def is_reference(text: str) -> bool:
    """Whether a text has the form ``package.module:name``."""
    return _REFERENCE.fullmatch(text) is not None


def resolve(reference: str) -> Any:
    """What stands under a name of a module.

    Parameters
    ----------
    reference
        ``package.module:name``.

    Raises
    ------
    PayloadError
        The module is missing, raises while it is imported, or has no such name.
    """
    module_name, _, name = reference.partition(":")
    folder = os.getcwd()  # noqa: PTH109 - sys.path holds strings
    if folder not in sys.path and "" not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module_name}.".startswith(f"{error.name}."):
            raise PayloadError(
                f"{reference}: there is no module {error.name!r}, in this folder or installed"
            ) from error
        raise PayloadError(f"{reference}: {module_name} imports {error.name!r}, which is not installed") from error
    except (Exception, SystemExit) as error:
        raise PayloadError(f"{reference}: importing {module_name} raised {_shown(error)}") from error
    try:
        return getattr(module, name)
    except AttributeError:
        raise PayloadError(f"{reference}: module {module_name} has no {name!r}") from None


def call(reference: str, limit: int) -> Payload | list[Any]:
    """Call a function for its values.

    Parameters
    ----------
    reference
        ``package.module:function``.
    limit
        Values that are drawn from an iterator, which may be endless; a list is taken whole.

    Raises
    ------
    PayloadError
        As for `resolve`; or the name is no function, the function raises, or it returns nothing.
    """
    function = resolve(reference)
    if isinstance(function, type):
        raise PayloadError(f"{reference}: this is a class, which is no data; write a function that returns instances")
    if not callable(function):
        raise PayloadError(f"{reference}: this is of type {type(function).__name__}; write a function that returns it")
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise PayloadError(f"{reference}: the function is async; write a plain one that returns the values")
    try:
        result = function()
        values = list(itertools.islice(result, limit)) if isinstance(result, Iterator) else result
    except (Exception, SystemExit) as error:
        raise PayloadError(f"{reference}: the function raised {_shown(error)}") from error
    if values is None:
        raise PayloadError(f"{reference}: the function returned None; it must return the values")
    if isinstance(values, Payload):
        return values
    values = list(values) if type(values) in (list, tuple) else [values]
    if not values:
        raise PayloadError(f"{reference}: the function returned no values")
    return values


def _shown(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
