"""Where a struct does not fit its schema, in words: `zcser.tree.explain`, for the forms of `zcser.thrift.plan`."""

from __future__ import annotations

from typing import Any

from zcser.core.errors import DecodeError
from zcser.core.options import Options
from zcser.schema.model import Bool, Enum, Field, Int, Map, Null, Optional, Record, Ref, Str, Tensor, Type, Union
from zcser.thrift.read import read_tensor, text_of
from zcser.thrift.structs import Structs
from zcser.thrift.write import FORM
from zcser.tree.explain import Explainer, Fault, Path
from zcser.tree.leaves import BadTree

__all__ = ["explain_struct"]


def explain_struct(structs: Structs, options: Options, struct: Any, codec: str) -> DecodeError | None:
    """The error of the first part of a struct that does not fit, or None where all fits."""
    return _Explainer(structs, options).fault(struct, codec)


class _Explainer(Explainer):
    def __init__(self, structs: Structs, options: Options) -> None:
        super().__init__(structs.plan.schema, FORM, options)
        self.plan = structs.plan

    def root(self, tree: Any) -> None:
        root = self.schema.root
        if self.plan.is_bare:
            self.walk(root, tree, ())
        elif tree.value is not None:
            self.walk(self.plan.in_field(root), tree.value, ())
        elif not isinstance(root, Optional):
            raise Fault("the value is not set", ())

    def walk(self, type_: Type, tree: Any, path: Path) -> None:
        if isinstance(type_, Optional):
            if tree.value is not None:
                self.walk(type_.item, tree.value, path)
            return
        super().walk(type_, tree, path)

    def leaf(self, type_: Type, tree: Any, path: Path) -> None:
        match type_:
            case Null() | Bool():
                pass
            case Int() if self.plan.is_reinterpreted(type_):
                pass
            case Enum():
                if tree not in self.plan.numbers(type_):
                    raise BadTree(f"{tree} is no member of {type_}")
            case Tensor():
                read_tensor(type_, copy=False)(tree)
            case Str():
                super().leaf(type_, text_of(tree), path)
            case _:
                super().leaf(type_, tree, path)

    def map_(self, type_: Map, tree: Any, path: Path) -> None:
        self.count(None, tree, path)
        for key, value in tree.items():
            where = (*path, key if isinstance(key, str | int) else repr(key))
            self.walk(type_.key, key, where)
            self.walk(type_.value, value, where)

    def union(self, type_: Union, tree: Any, path: Path) -> None:
        parts = [(member.type, getattr(tree, member.name)) for member in self.plan.struct(type_).members]
        present = [(option, value) for option, value in parts if value is not None]
        for option, value in present:
            self.walk(option, value, path)
        if len(present) != 1:
            raise Fault(f"one option of {type_} must be set, not {len(present)}", path)

    def record(self, type_: Ref, tree: Any, path: Path) -> None:
        record = self.schema.resolve(type_)
        for item in record.fields:
            self.member(record, item, getattr(tree, self.plan.name(record, item)), path)

    def member(self, record: Record, item: Field, value: Any, path: Path) -> None:
        if value is not None:
            wrapped = self.plan.is_wrapped(item)
            self.walk(item.type if wrapped else self.plan.in_field(item.type), value, (*path, item.name))
        elif not item.has_default and item.required and not isinstance(item.type, Optional):
            raise Fault(f"field {item.name!r} of {record.name} is missing", path)
