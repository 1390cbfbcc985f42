"""Where a tree does not fit its schema, in words.

The generated reader is quick and mute. When it refuses a tree, this interpreter walks the same tree once more, by the
same rules, to the first part that does not fit.
"""

from __future__ import annotations

from typing import Any

from zcser.core.errors import DecodeError
from zcser.core.options import Options
from zcser.core.paths import pointer
from zcser.core.words import brief
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Float,
    Int,
    Kind,
    List,
    Map,
    Optional,
    Ref,
    Schema,
    Str,
    Tensor,
    Type,
    Union,
)
from zcser.tree.form import Form, is_tagged, wire_class
from zcser.tree.leaves import BadTree, bytes_of_text, float_of, is_text, key_reader, round_float32
from zcser.tree.tensors import tensor_reader

__all__ = ["Explainer", "Fault", "Path", "explain"]

Path = tuple[str | int, ...]


def explain(schema: Schema, form: Form, options: Options, tree: Any, codec: str) -> DecodeError | None:
    """The error of the first part of a tree that does not fit, or None where all fits."""
    return Explainer(schema, form, options).fault(tree, codec)


class Fault(Exception):  # noqa: N818 - never leaves an `Explainer`
    """The reason and the path of the first part that does not fit."""

    def __init__(self, reason: str, path: Path) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path


class Explainer:
    """The walk; a format whose records, maps or unions stand otherwise overrides the methods of these kinds."""

    def __init__(self, schema: Schema, form: Form, options: Options) -> None:
        self.schema = schema
        self.form = form
        self.options = options
        self.left = options.limits.elements

    def fault(self, tree: Any, codec: str) -> DecodeError | None:
        """See `explain`."""
        try:
            self.root(tree)
        except Fault as fault:
            return DecodeError(fault.reason, codec=codec, path=pointer(fault.path))
        return None

    def root(self, tree: Any) -> None:
        self.walk(self.schema.root, tree, ())

    def walk(self, type_: Type, tree: Any, path: Path) -> None:
        if type_.kind in (Kind.LIST, Kind.MAP, Kind.RECORD) and len(path) >= self.options.limits.depth:
            raise Fault(f"nested deeper than limits.depth = {self.options.limits.depth}", path)
        match type_:
            case Optional(item):
                if tree is not None:
                    self.walk(item, tree, path)
            case Union():
                self.union(type_, tree, path)
            case List():
                self.of_class(type_, tree, path)
                self.count(type_.length, tree, path)
                for index, item in enumerate(tree):
                    self.walk(type_.item, item, (*path, index))
            case Map():
                self.map_(type_, tree, path)
            case Ref():
                self.record(type_, tree, path)
            case _:
                try:
                    self.leaf(type_, tree, path)
                except (BadTree, OverflowError, UnicodeError) as error:
                    raise Fault(str(error), path) from None

    def of_class(self, type_: Type, tree: Any, path: Path) -> None:
        wanted = wire_class(type_, self.form)
        if type(tree) is not wanted:
            raise Fault(f"{type_} is needed, not {_shown(tree)}", path)

    def leaf(self, type_: Type, tree: Any, path: Path) -> None:
        match type_:
            case Float():
                number = float_of(tree)
                if self.form.finite and number - number != 0.0:
                    raise BadTree("the number is too large for a float")
                if type_.bits == 32:
                    round_float32(number)
            case Bytes():
                data = tree if self.form.native_bytes else bytes_of_text(tree)
                if type(data) not in {bytes, memoryview}:
                    raise BadTree(f"{type_} is needed, not {_shown(tree)}")
                if type_.size is not None and len(data) != type_.size:
                    raise BadTree(f"{type_} is needed, not {len(data)} bytes")
            case Tensor():
                tensor_reader(type_, native_bytes=self.form.native_bytes, copy=False)(tree)
            case _:
                self.of_class(type_, tree, path)
                self.scalar(type_, tree)

    def scalar(self, type_: Type, tree: Any) -> None:
        match type_:
            case Int(low=low, high=high):
                if (low is not None and tree < low) or (high is not None and tree > high):
                    raise BadTree(f"integer is outside {type_}")
            case Enum():
                if all(value != tree for _, value in type_.members):
                    raise BadTree(f"{_shown(tree)} is no member of {type_}")
            case Str(size=size):
                if not is_text(tree):
                    raise BadTree("a lone surrogate stands in a string")
                if size is not None and len(tree.encode()) > size:
                    raise BadTree(f"more bytes than {type_} has")

    def count(self, length: int | None, tree: Any, path: Path) -> None:
        if length is not None and len(tree) != length:
            raise Fault(f"{length} items are needed, not {len(tree)}", path)
        self.left -= len(tree)
        if self.left < 0:
            raise Fault(f"more items in all than limits.elements = {self.options.limits.elements}", path)

    def map_(self, type_: Map, tree: Any, path: Path) -> None:
        self.of_class(type_, tree, path)
        self.count(None, tree, path)
        for key, value in tree.items():
            where = (*path, key if isinstance(key, str | int) else repr(key))
            if self.form.text_keys and isinstance(type_.key, Int | Bool):
                try:
                    key_reader(type_.key)(key)
                except BadTree as error:
                    raise Fault(str(error), where) from None
            else:
                self.walk(type_.key, key, where)
            self.walk(type_.value, value, where)

    def union(self, type_: Union, tree: Any, path: Path) -> None:
        if is_tagged(type_, self.form):
            if type(tree) is not dict or len(tree) != 1 or next(iter(tree)) not in type_.names:
                raise Fault(f"an object with one key out of {', '.join(type_.names)} is needed", path)
            ((tag, value),) = tree.items()
            self.walk(type_.options[type_.names.index(tag)], value, (*path, tag))
            return
        for option in type_.options:
            if type(tree) is wire_class(option, self.form):
                self.walk(option, tree, path)
                return
        if type(tree) is int and any(isinstance(option, Float) for option in type_.options):
            return
        raise Fault(f"{type_} is needed, not {_shown(tree)}", path)

    def record(self, type_: Ref, tree: Any, path: Path) -> None:
        self.of_class(type_, tree, path)
        record = self.schema.resolve(type_)
        for item in record.fields:
            if item.name in tree:
                self.walk(item.type, tree[item.name], (*path, item.name))
            elif not item.has_default and item.required:
                raise Fault(f"field {item.name!r} of {record.name} is missing", path)
        if self.options.unknown_fields == "refuse":
            for key in tree:
                if key not in record.by_name:
                    raise Fault(f"{key!r} is not a field of {record.name}", path)


def _shown(tree: Any) -> str:
    return f"{type(tree).__name__} {f'of {len(tree)} items' if isinstance(tree, list | dict) else brief(tree)}"
