"""What all codecs over a tree share: JSON and MessagePack differ in a form, a loader and a dumper."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

from zcser.core.buffers import Buffer, byte_view
from zcser.core.codec import Codec, CodecInfo
from zcser.core.errors import DecodeError, EncodeError
from zcser.core.options import Options
from zcser.schema.depth import refuse_deep
from zcser.schema.model import Bytes, Enum, Float, Int, Optional, Schema, Union
from zcser.schema.normal import Normaliser
from zcser.tree.explain import explain
from zcser.tree.form import Form, may_be_big, parts_of, refuse_unfit
from zcser.tree.keys import KeyNormaliser
from zcser.tree.native import make_coder, make_tree_coder
from zcser.tree.numbers import NumberNormaliser
from zcser.tree.objects import checked, composed, decoding, unchecked
from zcser.tree.read import tree_opener, tree_reader
from zcser.tree.tensors import writes_numbers
from zcser.tree.write import tree_builder, tree_writer

if TYPE_CHECKING:
    from zcser.native import _tree

__all__ = ["TreeReader", "TreeWriter"]

T = TypeVar("T")


class TreeReader(Codec[T]):
    """A codec that reads: a library's loader, then a walk from the tree to the value."""

    form: ClassVar[Form]
    ends_itself: ClassVar[bool]
    """Whether even a number that was cut short is refused; JSON text has no end mark for a bare number."""
    guards_in_c: ClassVar[bool] = True
    """Whether its trees are those of `zcser.tree.form`, which the C part knows."""
    splices: ClassVar[bool] = False
    """Whether `encode` and `decode` have ways of their own for what may be big."""

    _bare_loads: Callable[[Any], Any] | None = None
    """The loader of MessagePack, where it passes over what stands behind a message and `_loads` does not."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if hasattr(cls, "form"):
            cls.text = not cls.form.native_bytes

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        refuse_unfit(schema, self.form, self.name)
        refuse_deep(schema, options.limits, self.name)
        self._read = self._reader(copy=True)
        self._read_nocopy = self._reader(copy=False)
        parts = parts_of(schema)
        self._has_bytes = any(isinstance(part, Bytes) for part in parts)
        self._is_spliced = self.splices and any(map(may_be_big, parts))
        self._delimited = self.ends_itself or not _may_be_number(schema.root)

    def _seal(self) -> None:
        coder = self._coder(None, None, None)
        if coder is not None:
            # Its own methods, so that a call has no frame of Python's between the caller and C.
            self._read = coder.read
            if not self._has_bytes:
                self._read_nocopy = coder.read
            self._quicken(decode=coder.decode)
        elif (trees := self._tree_coder(None)) is not None:
            open_ = tree_opener(self.schema, self.form, self.options, copy=True)
            self._quicken(restore=checked(trees.read, open_, self.restore))
            if not self._is_spliced:
                alias = None if self._has_bytes else tree_opener(self.schema, self.form, self.options, copy=False)
                self._quicken(decode=decoding(trees.decode, open_, alias, self.decode))
        elif self.options.guard == "off":
            self._quicken(restore=unchecked(self._read, self.restore))
        super()._seal()

    def _coder(
        self, dumps: Callable[[Any], bytes] | None, encode: Callable[[Any], bytes] | None, write: Any
    ) -> _tree.Coder | None:
        if not self.guards_in_c:
            return None
        return make_coder(
            self.schema,
            self.form,
            self.options,
            dumps=dumps,
            encode=encode,
            decode=self.decode,
            write=write,
            read=self._read,
            **self._loading,
        )

    def _tree_coder(self, dumps: Callable[[Any], bytes] | None) -> _tree.Coder | None:
        if not self.guards_in_c or self.options.guard == "off":
            return None
        return make_tree_coder(self.schema, self.form, self.options, dumps=dumps, **self._loading)

    @property
    def _loading(self) -> dict[str, Any]:
        """How the C part has a message read: it finds the end of one itself, if there is a loader that does not."""
        return {"loads": self._bare_loads or self._loads, "ends_apart": self._bare_loads is not None}

    def _reader(self, *, copy: bool) -> Callable[[Any], Any]:
        """A function from a tree to its value."""
        return tree_reader(self.schema, self.form, self.options, copy=copy)

    def _explain(self, tree: Any) -> DecodeError | None:
        """The error of the first part of a tree that does not fit, or None where all fits."""
        return explain(self.schema, self.form, self.options, tree, self.name)

    @property
    def info(self) -> CodecInfo:
        """See `CodecInfo`; `self_delimiting` depends on the schema's root here."""
        return dataclasses.replace(self.describe(), self_delimiting=self._delimited)

    def _loads(self, data: Any, /) -> Any:
        """The library's loader, of bytes or a flat memoryview."""
        raise NotImplementedError

    def load(self, data: Buffer) -> Any:
        """The tree of a message."""
        return self._load(self._flat(data))

    def _flat(self, data: Buffer) -> Any:
        flat = data if data.__class__ is bytes else byte_view(data, codec=self.name)
        if len(flat) > self.options.limits.bytes:
            raise DecodeError(f"{len(flat)} bytes are more than limits.bytes", codec=self.name)
        return flat

    def _load(self, flat: Any) -> Any:
        try:
            return self._loads(flat)
        except DecodeError:
            raise
        except Exception as error:
            raise self._not_loaded(error) from error

    def _not_loaded(self, error: Exception) -> DecodeError:
        if isinstance(error, RecursionError):
            return DecodeError(f"nested deeper than {self.library} can read", codec=self.name)
        return DecodeError(str(error) or type(error).__name__, codec=self.name)

    def restore(self, native: Any) -> T:
        """The value of a tree. The tree is used up."""
        try:
            value: T = self._read(native)
        except Exception as error:
            raise self._not_restored(native, error) from error
        return value

    def decode(self, data: Buffer, *, copy: bool = True) -> T:
        """Decode a message."""
        flat = self._flat(data)
        tree = self._load(flat)
        if len(flat) > self.options.limits.elements:
            # An item takes a byte or more: only now can there be too many, and explain() counts them.
            self._bound_elements(tree)
        try:
            value: T = self._read(tree) if copy else self._read_nocopy(tree)
        except Exception as error:
            # The reader has changed the tree by now.
            raise self._not_restored(self._load(flat), error) from error
        return value

    def _bound_elements(self, tree: Any) -> None:
        fault = self._explain(tree)
        if fault is not None and self.options.guard == "on":
            raise fault

    def _not_restored(self, tree: Any, error: Exception) -> DecodeError:
        found = self._explain(tree)
        # Where the tree fits, what failed is the record class's own constructor.
        return found or DecodeError(f"a record refused its fields: {error}", codec=self.name)


class TreeWriter(TreeReader[T]):
    """A codec that writes too."""

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        self._normalise = self._normaliser()(
            schema, strict=options.strict, finite=self.form.finite, limits=options.limits, codec=self.name
        )
        self._write = self._writer()
        self._guarded = options.guard == "on"
        self._trees: _tree.Coder | None = None

    def _writer(self) -> Callable[[Any], Any] | None:
        """A function from a value to its tree, or None where every value is its own tree and the guard is off."""
        return tree_writer(self.schema, self.form, self.options, self._normalise)

    def _builder(self, owns: frozenset[str] = frozenset()) -> Callable[[Any], Any]:
        """As `_writer`, of a tree that the C part checks; `owns` as `_owning_calls` has it."""
        return tree_builder(self.schema, self.form, self.options, self._normalise, owns)

    def _owning_calls(self, fresh: frozenset[str]) -> dict[str, Callable[[Any], Any]]:
        if not self.guards_in_c or self._write is None or self.options.deterministic:
            return {}
        build, trees = self._builder(fresh), self._trees
        if trees is None:
            calls = {} if self._guarded else {"convert": build}
        else:
            calls = {"convert": composed(build, trees.write)}
            if not self._is_spliced:
                calls["encode"] = composed(build, trees.encode)
        return {name: call for name, call in calls.items() if self._is_own(name)}

    def _normaliser(self) -> Callable[..., Normaliser]:
        if writes_numbers(self.form, self.options):
            return NumberNormaliser
        fault = self.form.key_fault
        return Normaliser if fault is None else functools.partial(KeyNormaliser, fault=fault)

    def _seal(self) -> None:
        if not self.options.strict and not self.options.deterministic:
            coder = self._coder(self._dumps, self.encode, self._write)
            if coder is not None:
                self._write = coder.write if self._guarded else None
                self._quicken(encode=coder.encode)
            elif (trees := self._tree_coder(self._dumps)) is not None:
                self._trees = trees
                build = self._builder()
                self._quicken(convert=checked(build, trees.write, self.convert))
                if not self._is_spliced:
                    self._quicken(encode=checked(build, trees.encode, self.encode))
            elif self._write is not None and not self._guarded:
                self._quicken(convert=unchecked(self._write, self.convert))
        super()._seal()

    def _dumps(self, tree: Any, /) -> bytes:
        """The library's dumper."""
        raise NotImplementedError

    def convert(self, value: T) -> Any:
        """The tree of a value."""
        if self.options.strict:
            self._normalise(value)
        if self._write is None:
            return value
        try:
            return self._write(value)
        except Exception as error:  # noqa: BLE001 - whatever it was, the value is at fault or normal() says nothing
            return self._write_normal(value, error, self._write)

    def dump(self, native: Any) -> bytes:
        """Bytes of a tree."""
        try:
            data = self._dumps(native)
        except Exception as error:
            raise EncodeError(f"{self.library} refused it: {error}", codec=self.name) from error
        self._bound_bytes(len(data))
        return data

    def encode(self, value: T) -> bytes:
        """Encode to fresh bytes."""
        if self.options.strict:
            self._normalise(value)
        try:
            data = self._dumps(value if self._write is None else self._write(value))
        except Exception as error:  # noqa: BLE001 - see convert
            data = self.dump(self._write_normal(value, error, self._write))
        self._bound(value, data)
        return data

    def _bound(self, value: T, data: bytes) -> None:
        """Refuse a message that is over the limits."""
        self._bound_bytes(len(data))
        if len(data) > self.options.limits.elements and self._guarded:
            # An item takes a byte or more: only now can there be too many, and normal() counts them.
            self._normalise(value)

    def _bound_bytes(self, size: int) -> None:
        if size > self.options.limits.bytes:
            raise EncodeError(f"{size} bytes are more than limits.bytes", codec=self.name)

    def _write_normal(self, value: T, error: Exception, write: Callable[[Any], Any] | None) -> Any:
        """The tree by way of the normal value, whose interpreter says with the path what does not fit."""
        normal = self._normalise(value)
        if write is None:
            return normal
        try:
            return write(normal)
        except Exception:  # noqa: BLE001 - the first error is the one to tell
            self._give_up(error)

    def _give_up(self, error: Exception) -> NoReturn:
        raise EncodeError(f"cannot be encoded: {type(error).__name__}: {error}", codec=self.name) from error


def _may_be_number(root: Any) -> bool:
    if isinstance(root, Optional):
        return _may_be_number(root.item)
    if isinstance(root, Union):
        return any(map(_may_be_number, root.options))
    return isinstance(root, Int | Float) or (isinstance(root, Enum) and root.of_ints)
