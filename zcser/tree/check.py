"""Whether a value is normal: code generated for one schema, for codecs that hand the value itself to their library.

It walks as the writer of trees does (`zcser.tree.write`), and raises where that would change something.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NoReturn

from zcser.core.options import Options
from zcser.schema.arrays import is_normal_array
from zcser.schema.model import Float, Record, Schema, Tensor, Type
from zcser.schema.normal import Normaliser
from zcser.tree.form import Form
from zcser.tree.leaves import round_float32
from zcser.tree.write import ABSENT, Writer

__all__ = ["NotNormalError", "normal_checker"]


class NotNormalError(Exception):
    """A part of a value is not as `normal` would have it; which one, `normal` says."""


def normal_checker(schema: Schema, form: Form, options: Options, *, writable: bool) -> Callable[[Any], Any]:
    """A function that raises any exception where a value is not normal.

    Parameters
    ----------
    schema
        What the value is a value of.
    form
        Whether NaN, the infinities and lone surrogates are looked for.
    options
        Its limits hold.
    writable
        Arrays must be.
    """
    return _Checker(schema, form, options, writable=writable).compile()


def _refuse(*_: Any) -> NoReturn:
    raise NotNormalError


class _Checker(Writer):
    def __init__(self, schema: Schema, form: Form, options: Options, *, writable: bool) -> None:
        guarded = dataclasses.replace(options, guard="on", deterministic=False)
        plain = dataclasses.replace(form, keeps_tuples=False)
        normaliser = Normaliser(schema, strict=True, finite=form.finite, limits=options.limits)
        super().__init__(schema, plain, guarded, normaliser)
        self.writable = writable

    def normal(self, type_: Type) -> str:  # noqa: ARG002 - as in the writer
        return self.source.constant(_refuse)

    def float_(self, type_: Float, x: str) -> None:
        super().float_(Float(64), x)
        if type_.bits == 32:
            self.unless(f"{x} != {x} or {self.known(round_float32)}({x}) == {x}", type_, x)

    def tensor(self, type_: Tensor) -> Callable[[Any], Any]:
        def check_tensor(array: Any) -> None:
            if not is_normal_array(type_, array) or (self.writable and not array.flags.writeable):
                raise NotNormalError

        return check_tensor

    def object_(self, record: Record, cls: type) -> None:
        self.source.line(f"if v.__class__ is not {self.known(cls)}: {self.known(_refuse)}()")
        for item in record.fields:
            x = self.source.variable()
            self.source.line(f"{x} = {self.attribute(item.name)}")
            self.field(item.type, x)

    def dict_(self, record: Record) -> None:
        self.source.line(f"count = {sum(item.required for item in record.fields)}")
        for item in record.fields:
            x, key = self.source.variable(), self.known(item.name)
            if item.required:
                self.source.line(f"{x} = v[{key}]")
                self.field(item.type, x)
                continue
            self.source.line(f"{x} = v.get({key}, {self.known(ABSENT)})")
            with self.source.block(f"if {x} is not {self.known(ABSENT)}:"):
                self.source.line("count += 1")
                self.field(item.type, x)
            if item.has_default:
                self.source.line(f"else: {self.known(_refuse)}()")
        self.source.line(f"if count != len(v): {self.known(_refuse)}()")
