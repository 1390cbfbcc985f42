"""Where a datum does not fit its schema, in words: `zcser.tree.explain`, for the forms of `zcser.avro.plan`."""

from __future__ import annotations

from typing import Any

from zcser.avro.plan import Plan
from zcser.avro.write import FORM
from zcser.core.errors import DecodeError
from zcser.core.options import Options
from zcser.schema.model import Enum, Int, Map, Ref, Type, Union
from zcser.tree.explain import Explainer, Path

__all__ = ["explain_datum"]


def explain_datum(plan: Plan, options: Options, datum: Any, codec: str) -> DecodeError | None:
    """The error of the first part of a datum that does not fit, or None where all fits."""
    return _Explainer(plan, options).fault(datum, codec)


class _Explainer(Explainer):
    def __init__(self, plan: Plan, options: Options) -> None:
        super().__init__(plan.schema, FORM, options)
        self.plan = plan

    def leaf(self, type_: Type, tree: Any, path: Path) -> None:
        # An enum's symbol and a fixed can be nothing but right.
        if not isinstance(type_, Enum) and not (isinstance(type_, Int) and self.plan.is_fixed(type_)):
            super().leaf(type_, tree, path)

    def map_(self, type_: Map, tree: Any, path: Path) -> None:
        if self.plan.is_map(type_):
            super().map_(type_, tree, path)
            return
        self.count(None, tree, path)
        for entry in tree:
            key = entry["key"]
            where = (*path, key if isinstance(key, int) else repr(key))
            self.walk(type_.key, key, where)
            self.walk(type_.value, entry["value"], where)

    def union(self, type_: Union, tree: Any, path: Path) -> None:
        tag, value = tree if type(tree) is tuple else (None, tree)
        for option in type_.options:
            if self.plan.wraps(type_) and not self.plan.is_named(option):
                if tag == self.plan.value_name(option):
                    self.walk(option, value["value"], path)
            elif tag == self.plan.branch_name(option) if tag else type(value) is self.plan.read_class(option):
                self.walk(option, value, path)

    def record(self, type_: Ref, tree: Any, path: Path) -> None:
        for name, item in self.plan.fields(self.schema.resolve(type_)):
            value = tree[name]
            if item.may_be_absent and value is None:
                continue
            if self.plan.is_doubly_absent(item):
                value = value["value"]
            self.walk(item.type, value, (*path, item.name))
