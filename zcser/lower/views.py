"""Views that lift what they show: each stands before a view of the wire schema.

1. A part that is not lowered is shown by the codec's own view. A logical value is lifted when it is read, and so is a
   set, as a whole: only all of its items are a set.
2. A transparent record is shown as a record with its one field, which is the whole of what the codec shows.
3. `release` and `retained_bytes` are the codec's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from zcser.core.errors import DecodeError, ReleasedViewError
from zcser.core.view import MapView, RecordView, SequenceView, View, record_view_class, to_value
from zcser.core.words import brief
from zcser.lower.code import Conversion
from zcser.lower.explain import explain
from zcser.schema.lower import BOXED
from zcser.schema.model import Bytes, List, Logical, Map, Null, Optional, Record, Ref, Set, Type, Union

__all__ = ["Lifter"]

Show = Callable[[Any], Any]
"""From what a view of the wire schema gives to what one of the schema does."""


class _Lifted:
    """What the three shapes of view share."""

    __slots__ = ()
    _zc_view: Any

    def _zc_lift(self, value: Any) -> Any:
        raise NotImplementedError

    def _zc_value(self) -> Any:
        return self._zc_lift(self._zc_view._zc_value())

    def _zc_release(self) -> None:
        self._zc_view._zc_release()

    def _zc_retained(self) -> int:
        return int(self._zc_view._zc_retained())


class _LiftedRecord(_Lifted, RecordView):
    __slots__ = ("_zc_view",)
    _zc_names: ClassVar[dict[str, str]]

    def __init__(self, view: RecordView) -> None:
        self._zc_view = view

    def _zc_present(self, name: str) -> bool:
        return bool(self._zc_view._zc_present(type(self)._zc_names[name]))


class _LiftedRoot(_LiftedRecord):
    __slots__ = ()

    def _zc_present(self, name: str) -> bool:  # noqa: ARG002 - the one field is the whole of the value
        return True


class _LiftedSequence(_Lifted, SequenceView):
    __slots__ = ("_zc_lifting", "_zc_show", "_zc_view")

    def __init__(self, view: Any, show: Show, lift: Show) -> None:
        self._zc_view = view
        self._zc_show = show
        self._zc_lifting = lift

    def _zc_lift(self, value: Any) -> Any:
        return self._zc_lifting(value)

    def __len__(self) -> int:
        return len(self._zc_view)

    def _zc_item(self, index: int) -> Any:
        return self._zc_show(self._zc_view[index])

    def __iter__(self) -> Iterator[Any]:
        return map(self._zc_show, self._zc_view)


class _LiftedMap(_Lifted, MapView):
    __slots__ = ("_zc_key", "_zc_lifting", "_zc_lower_key", "_zc_show", "_zc_view")

    def __init__(self, view: Any, show: Show, lift: Show, *, key: Show, lower_key: Show) -> None:
        self._zc_view = view
        self._zc_show = show
        self._zc_lifting = lift
        self._zc_key = key
        self._zc_lower_key = lower_key

    def _zc_lift(self, value: Any) -> Any:
        return self._zc_lifting(value)

    def __getitem__(self, key: Any) -> Any:
        try:
            wire = self._zc_lower_key(key)
        except Exception:  # noqa: BLE001 - a key of another type is not there
            raise KeyError(key) from None
        if wire not in self._zc_view:
            raise KeyError(key)
        return self._zc_show(self._zc_view[wire])

    def __contains__(self, key: object) -> bool:
        try:
            return self._zc_lower_key(key) in self._zc_view
        except ReleasedViewError:
            raise
        except Exception:  # noqa: BLE001 - as above
            return False

    def __iter__(self) -> Iterator[Any]:
        return map(self._zc_key, self._zc_view)

    def __len__(self) -> int:
        return len(self._zc_view)


class Lifter:
    """Makes what lifts the views of a schema's codec.

    Parameters
    ----------
    conversion
        Of the schema.
    codec
        Name that errors carry.
    """

    def __init__(self, conversion: Conversion, codec: str) -> None:
        self._lowering = conversion.lowering
        self._conversion = conversion
        self._codec = codec
        self._records: dict[str, type[RecordView]] = {}

    def show(self, type_: Type) -> Show:
        """What shows a part of a message."""
        if not self._lowering.touches(type_):
            return _same
        lift = self._lift(type_)
        match type_:
            case Logical() | Set():
                return lambda shown: None if shown is None else lift(to_value(shown))
            case Optional(item):
                return self.show(item)
            case List(item=item):
                show = self.show(item)
                return lambda shown: _LiftedSequence(shown, show, lift) if isinstance(shown, View) else lift(shown)
            case Map():
                return self._map(type_, lift)
            case Union():
                return self._union(type_, lift)
            case Ref(name):
                schema = self._lowering.schema
                cls: Any = self._record(schema.record(name))
                if isinstance(schema.bare(type_), Optional | Null):  # whose None is an object of its own
                    return lambda shown: cls(shown) if isinstance(shown, View) else lift(shown)
                return lambda shown: cls(shown) if isinstance(shown, View) else None if shown is None else lift(shown)
        raise AssertionError(type_)

    def _lift(self, type_: Type) -> Show:
        lift = self._conversion.lift(type_)

        def lift_or_explain(value: Any) -> Any:
            try:
                return lift(value)
            except Exception as error:
                raise explain(self._conversion, type_, value, error, self._codec) from error

        return lift_or_explain

    def _map(self, type_: Map, lift: Show) -> Show:
        show, key = self.show(type_.value), type_.key
        if isinstance(key, Logical):
            of_key, to_key = self._key(key), self._lowering.form(key, key=True).lower
        else:
            of_key = to_key = _same
        return lambda shown: (
            _LiftedMap(shown, show, lift, key=of_key, lower_key=to_key) if isinstance(shown, View) else lift(shown)
        )

    def _key(self, key: Logical) -> Show:
        lift = self._lowering.form(key, key=True).lift

        def lift_key(wire: Any) -> Any:
            try:
                return lift(wire)
            except Exception as error:
                raise DecodeError(f"{brief(wire)} is no {key}, as a key must be", codec=self._codec) from error

        return lift_key

    def _union(self, union: Union, lift: Show) -> Show:
        wire = self._lowering.unions[union]
        by_record: dict[str, Show] = {}
        by_class: dict[type, Show] = {}
        for option, wired in zip(union.options, wire.options, strict=True):
            show = self.show(option)
            if (union, option) in self._lowering.boxes:
                by_record[wired.name] = _unboxing(show)  # type: ignore[attr-defined]  # a box is a Ref
                continue
            match wired:
                case Ref(name):
                    by_record[name] = show
                case List():
                    by_class[SequenceView] = show
                case Map():
                    by_class[MapView] = show
                case Bytes():
                    by_class[memoryview] = show
                case _:
                    by_class[self._lowering.wire.python_type(wired)] = show

        def shown_union(shown: Any) -> Any:
            if isinstance(shown, RecordView):
                return by_record[shown._zc_record](shown)
            for cls, show in by_class.items():
                if isinstance(shown, cls):
                    return show(shown)
            return None if shown is None else lift(shown)

        return shown_union

    def _record(self, record: Record) -> type[RecordView]:
        if record.name not in self._records:
            names = self._lowering.names(record)
            shows: dict[str, Show] = {}
            if record.transparent:
                getters = {name: _whole_getter(shows, name) for name in names}
            else:
                getters = {name: _getter(shows, name, alias) for name, alias in names.items()}
            base = _LiftedRoot if record.transparent else _LiftedRecord
            made = record_view_class(base, record.name, getters)
            made._zc_names = names  # type: ignore[attr-defined]  # of _LiftedRecord
            made._zc_lift = staticmethod(self._lift(Ref(record.name)))  # type: ignore[attr-defined]  # as above
            self._records[record.name] = made  # before its fields, which may lead back here
            shows |= {item.name: self.show(item.type) for item in record.fields}
        return self._records[record.name]


def _getter(shows: dict[str, Show], name: str, alias: str) -> Show:
    return lambda view: shows[name](view._zc_view[alias])


def _whole_getter(shows: dict[str, Show], name: str) -> Show:
    return lambda view: shows[name](view._zc_view)


def _same(shown: Any) -> Any:
    return shown


def _unboxing(show: Show) -> Show:
    return lambda box: show(box[BOXED])
