"""Paths into values: JSON Pointers (RFC 6901) or tuples of names and indices, parsed once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["Path", "parse_path", "pointer"]

Path = str | Sequence[str | int]


def parse_path(path: Path) -> tuple[str | int, ...]:
    """The steps of a path.

    Parameters
    ----------
    path
        ``"/choices/0/text"`` (``~1`` is ``/``, ``~0`` is ``~``; ``""`` is the whole value) or ``("choices", 0, "text")``.
        A step of digits in a pointer stays a string: whether it is an index or a key depends on what it meets.

    Raises
    ------
    ValueError
        A pointer that is neither empty nor starts with ``/``.
    """
    if not isinstance(path, str):
        return tuple(path)
    if path == "":
        return ()
    if not path.startswith("/"):
        raise ValueError(f"a path starts with '/', as in '/{path}'; got {path!r}")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in path[1:].split("/"))


def pointer(steps: Iterable[str | int]) -> str:
    """The JSON Pointer of some steps."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)
