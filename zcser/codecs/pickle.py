"""Pickle as it is mostly used: ``pickle.dumps(value, protocol=5)`` of the user's own objects, tensors in band.

1. The bytes name the schema's own classes, which must be found where their module says, and what numpy restores arrays
   with. A reader finds these alone: any other name is refused before it is looked up.
2. That is no promise of safety. Pickle was not made for bytes of others: they may call these classes with whatever they
   like, and ask for all of the memory. Decoding is refused until ``allow_untrusted_code=True`` says that they are trusted.
3. What is read is checked to be a value of the schema; fields that are missing or unknown are treated as everywhere. But
   a class that was renamed or moved is another class: `pickle5`, whose bytes name none, is for messages that must outlive
   their code.
4. Objects that stand in a value twice are pickled once: what is decoded may share a list where the value did.
"""

from __future__ import annotations

import io
import pickle
import platform
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from zcser.core.dtypes import NAMES, dtype_name, tensor_bytes
from zcser.core.errors import DecodeError, EncodeError, SchemaError
from zcser.core.options import Options
from zcser.schema.classes import is_struct
from zcser.schema.model import (
    Enum,
    List,
    Map,
    Optional,
    Ref,
    Schema,
    Tensor,
    Type,
    Union,
)
from zcser.tree.check import normal_checker
from zcser.tree.codec import TreeWriter
from zcser.tree.form import Form, is_tagged, parts_of
from zcser.tree.write import tree_writer

__all__ = ["PickleCodec"]

T = TypeVar("T")

_PROTOCOL = 5
_ARRAYS = {
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    *((core + module, name) for core in ("numpy._core.", "numpy.core.") for module, name in
      (("numeric", "_frombuffer"), ("multiarray", "_reconstruct"))),
    *(("ml_dtypes", name) for name in NAMES[14:]),
}  # fmt: skip
_STRUCTS = ("msgspec._utils", "rebuild")
"""What restores a Struct whose fields are keywords."""


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, known: frozenset[tuple[str, str]]) -> None:
        super().__init__(file)
        self._known = known

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self._known:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is no class of this schema")
        return super().find_class(module, name)


class PickleCodec(TreeWriter[T]):
    """See the rules at the head of this module.

    Notes
    -----
    Copies: `encode` copies a tensor, and so does `decode`. With ``copy=False`` the value is built anew of what was
    unpickled, with read-only tensors over the same memory. Lifetime: nothing aliases a message.
    """

    name = "pickle"
    format = "Python pickle, protocol 5, of objects"
    wire = "pickle-objects"
    library = "pickle"
    form = Form(
        native_bytes=True,
        finite=False,
        text_keys=False,
        big_ints=True,
        shares=True,
        keeps_tuples=True,
        surrogates=True,
    )
    ends_itself = True
    self_delimiting = True
    trusted_only = True

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        self._known = _names(schema)
        self._of_tree = {True: self._read, False: self._read_nocopy}
        self._read, self._read_nocopy = self._copied, self._borrowed
        self._check = normal_checker(schema, self.form, options, writable=False)
        self._check_own = normal_checker(schema, self.form, options, writable=True)
        if options.deterministic:
            # In which maps are in the order of their keys.
            self._to_tree: Any = tree_writer(schema, self.form, options, self._normalise)
            self._write = self._in_order
        else:
            self._write = self._as_it_is if self._guarded else None
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Python's own version; its C implementation where the interpreter has it."""
        accelerated = pickle.Pickler.__module__ == "_pickle"
        return platform.python_version(), "C accelerator" if accelerated else "pure Python"

    def _as_it_is(self, value: Any) -> Any:
        self._check(value)
        return value

    def _write_normal(self, value: T, _error: Exception, write: Callable[[Any], Any] | None) -> Any:
        try:
            normal = self._normalise(value)
        except EncodeError:
            raise
        except Exception as error:  # noqa: BLE001 - a value that changes under the walk may raise anything
            self._give_up(error)
        return normal if write is None or not self.options.deterministic else self._in_order(normal)

    def _in_order(self, value: Any) -> Any:
        """The value with its maps in the order of their keys."""
        return self._of_tree[True](self._to_tree(value))

    def _dumps(self, tree: Any, /) -> bytes:
        return pickle.dumps(tree, _PROTOCOL)

    def _loads(self, data: Any, /) -> Any:
        if not self.options.allow_untrusted_code:
            raise DecodeError(
                "bytes of others can do harm as a pickle; make the codec with allow_untrusted_code=True where they are "
                "your own",
                codec=self.name,
            )
        file = io.BytesIO(data)
        value = _Unpickler(file, self._known).load()
        if file.tell() != len(data):
            raise DecodeError("the pickle ends before its bytes do", codec=self.name, offset=file.tell())
        return value

    def _copied(self, native: Any) -> Any:
        if not self._guarded:
            return native
        try:
            self._check_own(native)
        except Exception:  # noqa: BLE001 - what it was, the reader of the tree says
            return self._of_tree[True](
                _tree(self.schema, self.form, self.schema.root, native, self.options.limits.depth)
            )
        return native

    def _borrowed(self, native: Any) -> Any:
        return self._of_tree[False](self._shown(native))

    def _bound_elements(self, tree: Any) -> None:
        super()._bound_elements(self._shown(tree))

    def _not_restored(self, tree: Any, error: Exception) -> DecodeError:
        return super()._not_restored(self._shown(tree), error)

    def _shown(self, native: Any) -> Any:
        return _tree(self.schema, self.form, self.schema.root, native, self.options.limits.depth)


def _names(schema: Schema) -> frozenset[tuple[str, str]]:
    """What the bytes of a schema's values may name."""
    found = set(_ARRAYS)
    for record in schema.records:
        if record.cls is not None:
            found.add(_name(record.cls, record.name))
            if is_struct(record.cls):
                found.add(_STRUCTS)
    for part in parts_of(schema):
        if isinstance(part, Enum) and part.cls is not None:
            found.add(_name(part.cls, ""))
    return frozenset(found)


def _name(cls: type, path: str) -> tuple[str, str]:
    found: Any = sys.modules.get(cls.__module__)
    for name in cls.__qualname__.split("."):
        found = getattr(found, name, None)
    if found is not cls:
        raise SchemaError(
            f"pickle names classes, and {cls.__module__}.{cls.__qualname__} is not this one; define it at the top of its "
            "module, or use pickle5",
            path=path,
            codec=PickleCodec.name,
        )
    return cls.__module__, cls.__qualname__


def _tree(schema: Schema, form: Form, type_: Type, value: Any, depth: int) -> Any:
    """The tree of whatever was unpickled, for the reader of trees to judge: what does not fit stands as it is."""
    if depth < -1:
        return value  # deep enough to be refused

    def inner(part: Type, of: Any) -> Any:
        return _tree(schema, form, part, of, depth - 1)

    match type_:
        case Optional(item) if value is not None:
            return _tree(schema, form, item, value, depth)
        case Enum(cls=cls) if cls is not None and value.__class__ is cls:
            return value._value_
        case Tensor() if value.__class__ is np.ndarray and dtype_name(value.dtype) is not None:
            array = np.ascontiguousarray(value, value.dtype.newbyteorder("<")).reshape(value.shape)
            data = tensor_bytes(array).toreadonly()
            return {"dtype": dtype_name(array.dtype), "shape": list(array.shape), "data": data}
        case List() if value.__class__ is (list if type_.container == "list" else tuple):
            return [inner(type_.item, item) for item in value]
        case Map() if value.__class__ is dict:
            return {key: inner(type_.value, item) for key, item in value.items()}
        case Union():
            for option, name in zip(type_.options, type_.names, strict=True):
                if value.__class__ is schema.python_type(option):
                    tree = _tree(schema, form, option, value, depth)
                    return {name: tree} if is_tagged(type_, form) else tree
        case Ref():
            record = schema.resolve(type_)
            if value.__class__ is (record.cls or dict):
                fields = _fields(value)
                known = {
                    item.name: inner(item.type, fields[item.name]) for item in record.fields if item.name in fields
                }
                return {**fields, **known}
    return value


def _fields(value: Any) -> dict[str, Any]:
    """What an object holds, by name."""
    if value.__class__ is dict:
        return dict(value)
    names = [name for cls in type(value).__mro__ for name in cls.__dict__.get("__slots__", ()) if isinstance(name, str)]
    slots = {
        name: getattr(value, name) for name in names if name not in ("__dict__", "__weakref__") and hasattr(value, name)
    }
    return {**slots, **getattr(value, "__dict__", {})}
