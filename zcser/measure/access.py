"""Reading parts of a message the way a program would, so that the reading is timed and not its generality.

1. A path becomes source code once, before timing: ``/choices/0/text`` over a view is ``view(data)["choices"][0]["text"]``.
   `zcser.at`, which looks at every step anew, would cost more than most views. Where several paths go through one part, it
   is taken once and kept in a variable, as one would write it.
2. A path has a shape: where it steps by name, by index and by attribute. A cell takes only values of one shape, since a
   field that some values lack cannot be timed on those.
3. `touch` reads every leaf of a view, or of a value, by walking it; its own cost per node is one dict look-up and one call.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from zcser.core.buffers import address
from zcser.core.fidelity import field_names
from zcser.core.paths import Path, parse_path, pointer
from zcser.core.view import MapView, RecordView, SequenceView

__all__ = ["aliases", "flat_leaves", "reader", "setter", "shape_of", "touch"]


def reader(opener: Callable[..., Any] | None, call: str, sample: Any, paths: Sequence[Path]) -> Callable[[Any], Any]:
    """Compile a function that opens a message and reads some places of it.

    Parameters
    ----------
    opener
        What opens a message: ``codec.view`` or ``codec.decode``; None where it is open already.
    call
        The call as source, such as ``"open(data, copy=False)"``; ``"data"`` where there is none.
    sample
        A message that was opened so; it shows how each step is taken.
    paths
        What to read.

    Returns
    -------
    callable
        Of the encoded bytes; gives one value for one path, a tuple for several.

    Raises
    ------
    KeyError
        A path leads nowhere in `sample`.
    """
    ways = [tuple(source for _, source in _steps(sample, path)) for path in paths]
    if len(ways) == 1:
        lines = [f"return {call}{''.join(ways[0])}"]
    else:
        lines, reads = _shared(ways)
        lines = [f"root = {call}", *lines, f"return ({', '.join(reads)},)"]
    source = "\n    ".join(["def read(data):", *lines])
    return _compiled(source, "read", {"open": opener})


def setter(sample: Any, path: Path) -> Callable[[Any, Any], None]:
    """Compile a function that sets one place of a decoded value.

    Parameters
    ----------
    sample
        A decoded value; it shows how each step is taken.
    path
        The place.

    Returns
    -------
    callable
        Of the value, which it changes, and of what is to stand there.

    Raises
    ------
    KeyError
        The path leads nowhere in `sample`.
    """
    target = "".join(source for _, source in _steps(sample, path))
    return _compiled(f"def put(value, leaf):\n    value{target} = leaf", "put", {})


def _compiled(source: str, name: str, names: dict[str, Any]) -> Callable[..., Any]:
    # Made of reprs of the steps alone; whoever can choose a path runs this program anyway.
    exec(compile(source, "<field reader>", "exec"), names)
    made: Callable[..., Any] = names[name]
    return made


def _shared(ways: Sequence[tuple[str, ...]]) -> tuple[list[str], list[str]]:
    """Assignments of the parts in which ways branch, and the expression at the end of each way."""
    after: dict[tuple[str, ...], set[str]] = {}
    for way in ways:
        for depth, step in enumerate(way):
            after.setdefault(way[:depth], set()).add(step)
    lines: list[str] = []
    names: dict[tuple[str, ...], str] = {(): "root"}
    reads = []
    for way in ways:
        text = "root"
        for depth in range(1, len(way)):
            above = way[:depth]
            text = names.get(above, text + way[depth - 1])
            if above not in names and len(after[above]) > 1:
                names[above] = f"part{len(names)}"
                lines.append(f"{names[above]} = {text}")
                text = names[above]
        reads.append(text + "".join(way[-1:]))
    return lines, reads


def shape_of(value: Any, paths: Sequence[Path]) -> tuple[str, ...] | None:
    """How the paths step through a value; None where one leads nowhere."""
    try:
        return tuple(kind for path in paths for kind, _ in _steps(value, path))
    except (KeyError, IndexError):
        return None


def _steps(value: Any, path: Path) -> Iterator[tuple[str, str]]:
    """The kind and the source of each step."""
    here = value
    steps = parse_path(path)
    for number, step in enumerate(steps):
        try:
            kind, source, here = _step(here, step)
        except (KeyError, IndexError, AttributeError, TypeError, ValueError) as error:
            raise KeyError(f"nothing at {pointer(steps[: number + 1])}: {error}") from None
        yield kind, source


def _step(here: Any, step: str | int) -> tuple[str, str, Any]:
    if isinstance(here, Mapping):
        key = step if step in here else int(step)
        return "key", f"[{key!r}]", here[key]
    if isinstance(here, RecordView):
        return "key", f"[{str(step)!r}]", here[str(step)]
    if isinstance(here, str | bytes) or here is None:
        raise KeyError(f"{type(here).__name__} has no parts")
    if isinstance(here, tuple) and str(step) in (field_names(here) or ()):
        return "attribute", f".{step}", getattr(here, str(step))
    if isinstance(here, Sequence | np.ndarray | memoryview):
        return "index", f"[{int(step)}]", here[int(step)]
    return "attribute", f".{step}", getattr(here, str(step))


def touch(node: Any) -> None:
    """Read every leaf of a view or of a value."""
    cls = type(node)
    try:
        walk = _WALKS[cls]
    except KeyError:
        walk = _WALKS[cls] = _walk_of(cls, node)
    if walk is not None:
        walk(node)


_WALKS: dict[type, Callable[[Any], None] | None] = {}


def _walk_of(cls: type, node: Any) -> Callable[[Any], None] | None:
    if issubclass(cls, RecordView):
        return _walk_by(tuple(cls._zc_getters.values()))
    if (names := field_names(node)) is not None:
        return _walk_by(tuple(map(operator.attrgetter, names)))
    if issubclass(cls, MapView | dict):
        return _walk_map
    return _walk_sequence if issubclass(cls, SequenceView | list | tuple) else None


def _walk_by(getters: tuple[Callable[[Any], Any], ...]) -> Callable[[Any], None]:
    def walk_record(node: Any) -> None:
        for getter in getters:
            touch(getter(node))

    return walk_record


def _walk_map(node: Any) -> None:
    for item in node.values():
        touch(item)


def _walk_sequence(node: Any) -> None:
    for item in node:
        touch(item)


def flat_leaves(value: Any) -> Iterator[Any]:
    """The leaves of a decoded value in order, each with the keys and lengths above it; a memoryview stands as its bytes.

    So can a message decoded with ``copy=False`` be compared with one decoded with copies.
    """
    if isinstance(value, memoryview):
        yield bytes(value)
    elif isinstance(value, dict):
        for key in sorted(value, key=repr):
            yield key
            yield from flat_leaves(value[key])
    elif (names := field_names(value)) is not None:
        yield type(value)
        for name in names:
            yield from flat_leaves(getattr(value, name))
    elif isinstance(value, list | tuple):
        yield type(value), len(value)
        for item in value:
            yield from flat_leaves(item)
    else:
        yield value


def aliases(value: Any, data: Any) -> bool:
    """Whether an array or memoryview inside a decoded value lies in the memory of `data`."""
    start = address(data)
    return any(start <= place < start + len(data) for place in _addresses(value))


def _addresses(value: Any) -> Iterator[int]:
    if isinstance(value, memoryview):
        yield address(value)
    elif isinstance(value, np.ndarray):
        yield int(value.ctypes.data)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _addresses(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _addresses(item)
    else:
        for name in field_names(value) or ():
            yield from _addresses(getattr(value, name))
