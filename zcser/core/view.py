"""What every lazy view promises.

1. ``view["field"]`` reads one field: scalars and strings by value, bytes as a read-only memoryview, a tensor as a
   read-only ndarray; records, lists and maps are views again. An absent optional is None, an unknown name is KeyError.
2. ``view.field`` is the same where no Python name collides. Views have no public methods: what can be done with one is
   a function of this module (`to_value`, `release`, `at`, `lookup`, `retained_bytes`), so that no field's name can
   collide.
3. A view keeps alive what it reads from. `release` ends access through the view and all views made from it; arrays and
   memoryviews that were handed out stay valid.
4. A view is read-only, and equal only to itself.
"""

from __future__ import annotations

import keyword
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, overload

import numpy as np

from zcser.core.errors import DecodeError, ReleasedViewError
from zcser.core.fidelity import field_names
from zcser.core.paths import Path, parse_path, pointer

__all__ = [
    "MapView",
    "RecordView",
    "SequenceView",
    "View",
    "at",
    "lookup",
    "record_view_class",
    "release",
    "released",
    "retained_bytes",
    "to_value",
]

Getter = Callable[[Any], Any]


class View:
    """Base of all views. A codec derives one class per record from the three shapes below."""

    __slots__ = ("__weakref__",)

    def _zc_value(self) -> Any:
        """Decode this part of the message, with copies."""
        raise NotImplementedError

    def _zc_release(self) -> None:
        """Drop the message; later access raises `ReleasedViewError`."""
        raise NotImplementedError

    def _zc_retained(self) -> int:
        """Bytes that this view keeps alive."""
        raise NotImplementedError

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        # A view pickles as the value that it shows: the buffer below it belongs to this process.
        return _identity, (self._zc_value(),)


def _identity(value: Any) -> Any:
    return value


def released() -> ReleasedViewError:
    """The error of a read through a released view."""
    return ReleasedViewError("this view was released; decode the message, or take what you need before release()")


class RecordView(View):
    """View of a record: fields by name."""

    __slots__ = ()
    _zc_record: ClassVar[str] = ""
    _zc_getters: ClassVar[Mapping[str, Getter]] = {}

    def __getitem__(self, name: str) -> Any:
        try:
            getter = self._zc_getters[name]
        except (KeyError, TypeError):
            raise KeyError(f"{name!r} is not a field of {self._zc_record}: {', '.join(self._zc_getters)}") from None
        return getter(self)

    def _zc_present(self, name: str) -> bool:
        """Whether a field that may be absent is there."""
        return self[name] is not None

    def __contains__(self, name: object) -> bool:
        return name in self._zc_getters and self._zc_present(str(name))

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._zc_getters if self._zc_present(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *self._zc_getters]

    def __repr__(self) -> str:
        try:
            shown = ", ".join(f"{name}={_brief(self[name])}" for name in self._zc_getters)
        except ReleasedViewError:
            shown = "released"
        except DecodeError as error:
            shown = f"not readable, {error}"
        return f"<view of {self._zc_record}: {shown}>"


def record_view_class(base: type[RecordView], record: str, getters: Mapping[str, Getter]) -> type[RecordView]:
    """Derive the view class of one record.

    Parameters
    ----------
    base
        The codec's own subclass of `RecordView`, which holds the position in the message.
    record
        The record's name, for messages.
    getters
        Field name to a function of the view that reads the field.
    """
    taken = set(dir(base))
    namespace: dict[str, Any] = {
        name: property(getter)
        for name, getter in getters.items()
        if name.isidentifier() and not keyword.iskeyword(name) and name not in taken and not name.startswith("_zc_")
    }
    return type(
        f"{record}View", (base,), {"__slots__": (), "_zc_record": record, "_zc_getters": dict(getters), **namespace}
    )


class SequenceView(View, Sequence[Any]):
    """View of a list: items by index, slices as lists of items."""

    __slots__ = ()

    def _zc_item(self, index: int) -> Any:
        """The item at ``0 <= index < len(self)``."""
        raise NotImplementedError

    def _zc_lookup(self, key: Any) -> Any:  # noqa: ARG002 - of those that have keys
        """The item with a key; None where there is none."""
        raise TypeError("the items of this list have no key that can be looked up")

    def __len__(self) -> int:
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        size = len(self)
        if isinstance(index, slice):
            return [self._zc_item(position) for position in range(*index.indices(size))]
        position = operator.index(index)
        if position < 0:
            position += size
        if not 0 <= position < size:
            raise IndexError(f"index {index} is outside a list of {size} items")
        return self._zc_item(position)

    def __iter__(self) -> Iterator[Any]:
        return (self._zc_item(index) for index in range(len(self)))

    def __repr__(self) -> str:
        try:
            return f"<view of a list: {len(self)} items>"
        except ReleasedViewError:
            return "<view of a list: released>"


class MapView(View, Mapping[Any, Any]):
    """View of a map: values by key. A subclass gives ``__getitem__``, ``__iter__`` and ``__len__``."""

    __slots__ = ()
    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def __repr__(self) -> str:
        try:
            return f"<view of a map: {len(self)} entries>"
        except ReleasedViewError:
            return "<view of a map: released>"


def _brief(value: Any) -> str:
    """A field for repr, without touching a tensor's elements."""
    if isinstance(value, np.ndarray):
        return f"<{value.dtype.name} {list(value.shape)}>"
    if isinstance(value, memoryview):
        return f"<{value.nbytes} bytes>"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def to_value(view: Any) -> Any:
    """What a view shows, decoded: the same as `Codec.decode` of that part of the message.

    Parameters
    ----------
    view
        A view, or anything else that a view's field may be.

    Returns
    -------
    Any
        The value, of the class that the schema came from. A memoryview becomes bytes, an array a writable copy,
        anything that is no view is returned as it is.

    Notes
    -----
    Copies: everything. Lifetime: the result does not depend on the message.
    """
    if isinstance(view, View):
        return view._zc_value()
    if isinstance(view, memoryview):
        return bytes(view)
    if isinstance(view, np.ndarray):
        return view.copy()
    return view


def release(view: View) -> None:
    """End access through a view, and let go of the message.

    Notes
    -----
    Arrays and memoryviews that were read from the view stay valid, and keep their part of the message alive.
    Releasing twice is allowed.
    """
    if not isinstance(view, View):
        raise TypeError(f"release() takes a view, not {type(view).__name__}")
    view._zc_release()


def retained_bytes(view: View) -> int:
    """Bytes that a view keeps alive: the whole message, and what the library holds of its own where that is known."""
    if not isinstance(view, View):
        raise TypeError(f"retained_bytes() takes a view, not {type(view).__name__}")
    return view._zc_retained()


def at(view: Any, path: Path) -> Any:
    """Read one place of a view, or of a decoded value.

    Parameters
    ----------
    view
        A view; also a dict, list, dataclass or array, so that the same path serves both.
    path
        A JSON Pointer (``"/tensors/0/name"``) or a tuple of names and indices.

    Raises
    ------
    KeyError, IndexError
        The path leads nowhere; the message names the step.
    """
    steps = parse_path(path)
    here = view
    for number, step in enumerate(steps):
        try:
            here = _step(here, step)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            if isinstance(error, ReleasedViewError | DecodeError):
                raise
            kind = IndexError if isinstance(error, IndexError) else KeyError
            raise kind(f"nothing at {pointer(steps[: number + 1])}: {error}") from None
    return here


def lookup(view: View, key: Any) -> Any:
    """Find the item of a list by its key: the field that a FlatBuffers schema marks as ``(key)``.

    Parameters
    ----------
    view
        View of a list of tables or structs that have a key, a scalar or a string.
    key
        What is looked for.

    Returns
    -------
    Any
        A view of the item; None where no item has the key.

    Raises
    ------
    TypeError
        `view` is no view of a list, or its items have no such key.
    DecodeError
        A message that was not verified holds no item where the search came by.

    Notes
    -----
    A binary search: the items must stand in the order of their keys (strings by their UTF-8 bytes), as whoever encodes
    the list has to see to. In a list that is not sorted an item may not be found. Copies: none. Lifetime: as `view`'s.
    """
    if not isinstance(view, SequenceView):
        raise TypeError(f"lookup() takes a view of a list, not {type(view).__name__}")
    return view._zc_lookup(key)


def _step(here: Any, step: str | int) -> Any:
    if isinstance(here, MapView | Mapping):
        if step in here:
            return here[step]
        if isinstance(step, str) and step.lstrip("-").isdigit() and int(step) in here:
            return here[int(step)]
        raise KeyError(f"no key {step!r}")
    if isinstance(here, RecordView):
        return here[str(step)]
    if isinstance(here, str | bytes) or here is None:
        raise KeyError(f"{type(here).__name__} has no parts")
    if str(step) in (field_names(here) or ()):
        return getattr(here, str(step))
    if isinstance(here, Sequence | np.ndarray | memoryview):
        return here[int(step)]
    raise KeyError(f"no field {step!r}")
