"""How a message stands in a body: which fields are inputs, which are parameters, and what is refused.

1. A tensor is an input, by its field's name. Its dtype must be one that the protocol has.
2. Bytes are a BYTES tensor of shape [1]; a list of scalars a tensor of one dimension, text and bytes as BYTES. The tensors
   of a list are inputs with their numbers: ``name.0``, ``name.1``.
3. A list of records of a str ``name`` and a tensor is the inputs that are no other field's, by their own names.
4. A list of records of a str ``key`` (or ``name``) and a ``value`` of scalars is the parameters that are no other field's.
5. Any other list of records of scalars is a tensor for each of their fields, ``list.field``. A record inside a record is its
   fields, ``record.field``.
6. Any other str, int, float, bool and enum is a parameter of the body. None is a parameter, or an input, that is not there.
7. A str field ``id`` is the body's. One with a str field ``model_name`` is a response: it has ``model_name``, and
   ``model_version``, of the body, and outputs where a request has inputs.
8. Refused: whatever else, each with its reason; and a schema without any input, which is no inference.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from zcser.core.errors import EncodeError, SchemaError
from zcser.core.paths import pointer
from zcser.kserve.body import BYTES, DATATYPES, Body, Slot, elements_of, flat, joined
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    List,
    Optional,
    Record,
    Ref,
    Schema,
    Str,
    Tensor,
    Type,
    Union,
)

__all__ = ["Inputs", "Layout", "Outgoing"]

_NAMES = {theirs: ours for ours, theirs in DATATYPES.items()}
_SCALARS = (Bool, Int, Float, Str, Enum)
_OWN = ("id", "model_name", "model_version")
_MISSING: Any = object()

Write = Callable[[Any, "Outgoing"], None]
Read = Callable[["Inputs"], Any]


class Outgoing:
    """A body that is being written."""

    def __init__(self) -> None:
        self.parameters: dict[str, Any] = {}
        self.own: dict[str, str] = {}
        self.tensors: list[dict[str, Any]] = []
        self.data: list[bytes | memoryview] = []

    def tensor(self, name: str, datatype: str, shape: list[int], data: bytes | memoryview) -> None:
        """Add an input."""
        size = {"binary_data_size": len(data)}
        self.tensors.append({"name": name, "shape": shape, "datatype": datatype, "parameters": size})
        self.data.append(data)


class Inputs:
    """A body that is being read.

    Parameters
    ----------
    body
        Without its binary data.
    data_of
        What stands in the tree for the binary data of a tensor, by its number, less some bytes at its beginning.
    memory_of
        These data themselves.
    array_of
        From a list of numbers and a dtype's name to the array.
    """

    def __init__(
        self,
        body: Body,
        data_of: Callable[[int, int], Any],
        memory_of: Callable[[int], memoryview],
        array_of: Callable[[list[Any], str], np.ndarray[Any, Any]],
    ) -> None:
        self.slots = body.slots
        self.own = {key: body.document[key] for key in _OWN if key in body.document}
        parameters = body.document.get("parameters", {})
        if not isinstance(parameters, dict):
            raise ValueError("parameters must be an object")  # noqa: TRY004 - of a message, not of a call
        self.parameters = parameters
        self.left = {*self.slots, *self.parameters}
        self.data_of = data_of
        self.memory_of = memory_of
        self.array_of = array_of

    def take(self, name: str) -> Slot | None:
        """A tensor."""
        self.left.discard(name)
        return self.slots.get(name)

    def parameter(self, name: str) -> Any:
        """A parameter."""
        self.left.discard(name)
        return self.parameters.get(name, _MISSING)

    def tree(self, slot: Slot) -> Any:
        """The tree of a tensor; None, which no reader takes for one, of BYTES."""
        if slot.datatype == BYTES:
            return None
        ours = _NAMES[slot.datatype]
        data = self.data_of(slot.number, 0) if slot.number is not None else memoryview(self._array(slot).tobytes())
        return {"dtype": ours, "shape": slot.shape, "data": data}

    def _array(self, slot: Slot) -> np.ndarray[Any, Any]:
        return self.array_of(flat(slot.data, slot.shape), _NAMES[slot.datatype])

    def items(self, slot: Slot, datatype: str) -> Any:
        """The elements of a tensor of one dimension; None where it is another."""
        if slot.datatype != datatype or len(slot.shape) != 1:
            return None
        if datatype == BYTES:
            if slot.number is None:
                return [text.encode() for text in flat(slot.data, slot.shape)]
            return elements_of(self.memory_of(slot.number), slot.shape[0])
        if slot.number is None:
            return self._array(slot).tolist()
        array = np.frombuffer(self.memory_of(slot.number), _dtype(datatype))
        if array.shape != (slot.shape[0],):
            raise ValueError(f"{array.size} elements are not those of shape {slot.shape}")
        return array.tolist()


def _dtype(datatype: str) -> np.dtype[Any]:
    return np.dtype(_NAMES[datatype]).newbyteorder("<")


class _Part(NamedTuple):
    name: str
    write: Write
    read: Read
    none: bool


class Layout:
    """The places of one schema.

    Raises
    ------
    SchemaError
        A field has no place; with its path.
    """

    def __init__(self, schema: Schema, codec: str) -> None:
        self.schema = schema
        self.codec = codec
        root = schema.root
        self.bare = not isinstance(root, Ref)
        record = schema.resolve(root) if isinstance(root, Ref) else Record("", (Field("value", root, 1),))
        model = record.by_name.get("model_name")
        self.tensors = "outputs" if model is not None and isinstance(model.type, Str) else "inputs"
        self.names: set[str] = set()
        self.inputs = 0
        self.is_named = False
        self.is_keyed = self.is_numbered = False
        self.parts = self._record(record, "", "" if self.bare else record.name)
        if not self.inputs:
            self._refuse("no field is a tensor, so that there is nothing to infer from", "")
        if self.is_named and self.is_numbered:
            self._refuse("tensors with names of their own and a list of tensors could have the same names", "")

    def _refuse(self, reason: str, path: str) -> NoReturn:
        raise SchemaError(reason, path=path, codec=self.codec)

    # Schema to places ---------------------------------------------------------------------------------------------------

    def _record(self, record: Record, prefix: str, path: str) -> list[_Part]:
        if record.name in self.schema.recursive:
            self._refuse("a record that can contain itself has no fixed places", path)
        return [self._field(item, prefix, f"{path}/{item.name}" if record.name else path) for item in record.fields]

    def _field(self, item: Field, prefix: str, path: str) -> _Part:
        type_, none = (item.type.item, True) if isinstance(item.type, Optional) else (item.type, False)
        name = prefix + item.name
        if none and (item.may_be_absent or (item.has_default and item.make_default() is not None)):
            self._refuse("None has no form here beside a field that is missing", path)
        if (none or not item.required) and isinstance(type_, List | Ref) and self._has_parts(type_):
            self._refuse(f"{type_} that may be missing has no form: an empty one has none", path)
        write, read = self._places(type_, name, path)
        return _Part(item.name, write, read, none)

    def _has_parts(self, type_: List | Ref) -> bool:
        return isinstance(type_, Ref) or isinstance(type_.item, Ref | Tensor)

    def _claim(self, name: str, path: str, *, is_input: bool) -> None:
        self.inputs += is_input
        if name in self.names or (is_input and name == ""):
            self._refuse(f"another field is named {name!r} in the body", path)
        self.names.add(name)

    def _places(self, type_: Type, name: str, path: str) -> tuple[Write, Read]:
        match type_:
            case Tensor():
                self._check_dtype(type_, path)
                self._claim(name, path, is_input=True)
                return _tensor(name, path, self.codec)
            case Bytes():
                self._claim(name, path, is_input=True)
                return _blob(name)
            case Str() if name in _OWN:
                self._claim(name, path, is_input=False)
                return _own(name)
            case Bool() | Int() | Float() | Str() | Enum():
                self._check_int(type_, path)
                self._claim(name, path, is_input=False)
                return _parameter(name)
            case List(item=Tensor() as item):
                self._check_dtype(item, path)
                self._claim(name, path, is_input=True)
                self.is_numbered = True
                return _numbered(name, self.codec)
            case List(item=Ref() as ref):
                return self._list_of_records(self.schema.resolve(ref), name, path)
            case List(item=item):
                datatype = self._datatype(item, path)
                self._claim(name, path, is_input=True)
                return _items(name, datatype, text=not isinstance(item, Bytes))
            case Ref():
                return _flattened(self._record(self.schema.resolve(type_), f"{name}.", type_.name))
        self._refuse(f"{type_} has no form: neither a tensor nor a parameter", path)

    def _check_dtype(self, type_: Tensor, path: str) -> None:
        if type_.dtype is not None and type_.dtype not in DATATYPES:
            self._refuse(f"the protocol has no datatype for {type_.dtype}", path)

    def _check_int(self, type_: Type, path: str) -> None:
        if isinstance(type_, Int) and type_.bits is None:
            self._refuse("integers over 64 bits have no form; use json, or a str", path)

    def _datatype(self, item: Type, path: str) -> str:
        self._check_int(item, path)
        match item:
            case Bool():
                return "BOOL"
            case Int(bits=bits, signed=signed):
                return f"{'' if signed else 'U'}INT{bits}"
            case Float(bits=bits):
                return f"FP{bits}"
            case Str() | Bytes():
                return BYTES
            case Enum() if not item.of_ints:
                return BYTES
            case Enum() if all(-(2**63) <= int(value) < 2**63 for _, value in item.members):
                return "INT64"
        self._refuse(f"a list of {item} has no form: neither scalars nor records of scalars", path)

    def _list_of_records(self, record: Record, name: str, path: str) -> tuple[Write, Read]:
        kinds = {item.name: item.type for item in record.fields if item.required and not item.has_default}
        if len(record.fields) == len(kinds) == 2 and type(kinds.get("name")) is Str:
            ((other, tensor),) = ((key, type_) for key, type_ in kinds.items() if key != "name")
            if isinstance(tensor, Tensor):
                self._check_dtype(tensor, path)
                if self.is_named:
                    self._refuse("there is one list of named tensors already", path)
                self.inputs += 1
                self.is_named = True
                return _named(other, name, self)
        if kinds.keys() == {item.name for item in record.fields} and self._is_keyed(kinds):
            if self.is_keyed:
                self._refuse("there is one list of parameters already", path)
            self.is_keyed = True
            return _keyed(next(key for key in kinds if key != "value"), kinds["value"], name, self)
        columns: dict[str, tuple[str, str, bool]] = {}
        for item in record.fields:
            where = f"{record.name}/{item.name}"
            if not item.required:
                self._refuse("a field that may be missing has no form in a column", where)
            columns[item.name] = (
                f"{name}.{item.name}",
                self._datatype(item.type, where),
                not isinstance(item.type, Bytes),
            )
            self._claim(columns[item.name][0], where, is_input=True)
        if not columns:
            self._refuse("a list of records without fields has no form", path)
        return _columns(columns)

    def _is_keyed(self, kinds: dict[str, Type]) -> bool:
        """Whether a record is a parameter."""
        value = kinds.get("value")
        options = value.options if isinstance(value, Union) else (value,)
        return (
            kinds.keys() in ({"key", "value"}, {"name", "value"})
            and all(type(type_) is Str for name, type_ in kinds.items() if name != "value")
            and all(isinstance(option, Bool | Int | Float | Str) for option in options)
        )

    # Trees and bodies ---------------------------------------------------------------------------------------------------

    def take_apart(self, tree: Any) -> tuple[dict[str, Any], list[bytes | memoryview]]:
        """The JSON object and the binary data of a tree."""
        out = Outgoing()
        _write_parts(self.parts, {"value": tree} if self.bare else tree, out)
        if len({tensor["name"] for tensor in out.tensors}) != len(out.tensors):
            raise EncodeError("two tensors have one name", path="", codec=self.codec)
        document: dict[str, Any] = {**out.own}
        if out.parameters:
            document["parameters"] = out.parameters
        # Widest first, so that each is aligned where the data are; those with names of their own behind, in their order.
        widths = [-_width(tensor["datatype"]) if tensor["name"] in self.names else 1 for tensor in out.tensors]
        order = sorted(range(len(out.data)), key=widths.__getitem__)
        document[self.tensors] = [out.tensors[number] for number in order]
        return document, [out.data[number] for number in order]

    def put_together(self, inputs: Inputs, *, others: bool) -> Any:
        """The tree of a body; with `others`, what belongs to no field stands in it by its name."""
        tree = _read_parts(self.parts, inputs)
        if others:
            tree.update(dict.fromkeys(inputs.left, None))
        return tree.get("value") if self.bare and tree.keys() <= {"value"} else tree


def _width(datatype: str) -> int:
    return 0 if datatype == BYTES else 2 if datatype == "BF16" else _dtype(datatype).itemsize


def _write_parts(parts: list[_Part], tree: dict[str, Any], out: Outgoing) -> None:
    for part in parts:
        value = tree.get(part.name)
        if value is not None:
            part.write(value, out)


def _read_parts(parts: list[_Part], inputs: Inputs) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for part in parts:
        value = part.read(inputs)
        if value is not _MISSING:
            tree[part.name] = value
        elif part.none:
            tree[part.name] = None
    return tree


def _put_tensor(tree: dict[str, Any], name: str, out: Outgoing, path: str, codec: str) -> None:
    datatype = DATATYPES.get(tree["dtype"])
    if datatype is None:
        known = ", ".join(DATATYPES)
        reason = f"the protocol has no datatype for {tree['dtype']}: convert it with .astype() to one of {known}"
        raise EncodeError(reason, path=path, codec=codec)
    out.tensor(name, datatype, tree["shape"], tree["data"])


def _tensor(name: str, path: str, codec: str) -> tuple[Write, Read]:
    where = pointer(name.split(".")) if "/" in path else ""

    def read(inputs: Inputs) -> Any:
        slot = inputs.take(name)
        return _MISSING if slot is None else inputs.tree(slot)

    return (lambda tree, out: _put_tensor(tree, name, out, where, codec)), read


def _blob(name: str) -> tuple[Write, Read]:
    def read(inputs: Inputs) -> Any:
        slot = inputs.take(name)
        if slot is None:
            return _MISSING
        found = inputs.items(slot, BYTES)
        if found is None or len(found) != 1:
            return None
        return found[0] if slot.number is None else inputs.data_of(slot.number, 4)

    return (lambda data, out: out.tensor(name, BYTES, [1], joined([data]))), read


def _own(name: str) -> tuple[Write, Read]:
    return (lambda text, out: out.own.update({name: text})), (lambda inputs: inputs.own.get(name, _MISSING))


def _parameter(name: str) -> tuple[Write, Read]:
    return (lambda value, out: out.parameters.update({name: value})), (lambda inputs: inputs.parameter(name))


def _put_items(items: list[Any], name: str, datatype: str, out: Outgoing) -> None:
    if datatype == BYTES:
        data = joined([item if item.__class__ is bytes else item.encode() for item in items])
    else:
        data = np.array(items, _dtype(datatype)).tobytes()
    out.tensor(name, datatype, [len(items)], data)


def _take_items(slot: Slot, inputs: Inputs, datatype: str, *, text: bool) -> Any:
    found = inputs.items(slot, datatype)
    return [item.decode() for item in found] if datatype == BYTES and text and found is not None else found


def _items(name: str, datatype: str, *, text: bool) -> tuple[Write, Read]:
    def read(inputs: Inputs) -> Any:
        slot = inputs.take(name)
        return _MISSING if slot is None else _take_items(slot, inputs, datatype, text=text)

    return (lambda items, out: _put_items(items, name, datatype, out)), read


def _numbered(name: str, codec: str) -> tuple[Write, Read]:
    mine = re.compile(re.escape(name) + r"\.[0-9]+")

    def write(trees: list[Any], out: Outgoing) -> None:
        for number, tree in enumerate(trees):
            _put_tensor(tree, f"{name}.{number}", out, pointer((*name.split("."), number)), codec)

    def read(inputs: Inputs) -> Any:
        count = sum(1 for key in inputs.slots if mine.fullmatch(key))
        slots = [inputs.take(f"{name}.{number}") for number in range(count)]
        return [None if slot is None else inputs.tree(slot) for slot in slots]

    return write, read


def _named(tensor: str, name: str, layout: Layout) -> tuple[Write, Read]:
    def write(trees: list[Any], out: Outgoing) -> None:
        for number, tree in enumerate(trees):
            path: tuple[str | int, ...] = (*name.split("."), number)
            if tree["name"] in layout.names:
                reason = f"another input is named {tree['name']!r}"
                raise EncodeError(reason, path=pointer((*path, "name")), codec=layout.codec)
            _put_tensor(tree[tensor], tree["name"], out, pointer((*path, tensor)), layout.codec)

    def read(inputs: Inputs) -> Any:
        mine = {key: slot for key, slot in inputs.slots.items() if key not in layout.names}
        inputs.left -= mine.keys()
        return [{"name": key, tensor: inputs.tree(slot)} for key, slot in mine.items()]

    return write, read


def _keyed(key: str, type_: Type, name: str, layout: Layout) -> tuple[Write, Read]:
    # In a body a value stands by itself: its class tells the option.
    options = type_.options if isinstance(type_, Union) else ()
    names = type_.names if isinstance(type_, Union) else ()
    tags = {layout.schema.python_type(option): tag for option, tag in zip(options, names, strict=True)}

    def write(trees: list[Any], out: Outgoing) -> None:
        for number, tree in enumerate(trees):
            value = next(iter(tree["value"].values())) if tags else tree["value"]
            if tree[key] in layout.names or tree[key] in out.parameters:
                path = pointer((*name.split("."), number, key))
                raise EncodeError(f"another parameter is named {tree[key]!r}", path=path, codec=layout.codec)
            out.parameters[tree[key]] = value

    def read(inputs: Inputs) -> Any:
        found = []
        for known, value in inputs.parameters.items():
            if known not in layout.names:
                inputs.left.discard(known)
                found.append({key: known, "value": {tags.get(type(value)): value} if tags else value})
        return found

    return write, read


def _columns(columns: dict[str, tuple[str, str, bool]]) -> tuple[Write, Read]:
    def write(trees: list[Any], out: Outgoing) -> None:
        for field, (name, datatype, _) in columns.items():
            _put_items([tree[field] for tree in trees], name, datatype, out)

    def read(inputs: Inputs) -> Any:
        found: dict[str, Any] = {}
        for field, (name, datatype, text) in columns.items():
            slot = inputs.take(name)
            if slot is not None:
                found[field] = _take_items(slot, inputs, datatype, text=text)
        if any(items is None for items in found.values()):
            return None
        if len({len(items) for items in found.values()}) > 1:
            raise ValueError(f"the columns {', '.join(map(repr, found))} have not one length")
        return [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)] if found else _MISSING

    return write, read


def _flattened(parts: list[_Part]) -> tuple[Write, Read]:
    return (lambda tree, out: _write_parts(parts, tree, out)), (lambda inputs: _read_parts(parts, inputs))
