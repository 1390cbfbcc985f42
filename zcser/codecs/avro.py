"""Avro's binary encoding by fastavro: one message without its schema, as in a topic whose schema stands in a registry.

1. The schema is `zcser.avro.emit`'s, and is parsed once. Writer and reader are ``schemaless_writer`` and
   ``schemaless_reader``, which need it whole: a message says nothing of itself, so that only the schema that it was written
   with reads it. A change of the schema needs the old one too: resolve the two with fastavro's own ``reader_schema``.
2. A root that is no record stands in one, which takes no bytes: fastavro would parse any other root anew for each message.
3. Values of unions are written with the name of their branch, and read with it where Python does not tell them apart.
4. fastavro passes over what stands behind a message, which is refused here. It recurses on the C stack without a bound, and
   crashes where a message nests records ten thousand deep: a recursive schema is given to its reader as records that
   unfold one level at a time, as deep as ``limits.depth``.
5. An array's items take a byte or more each (`zcser.avro.plan`), and fastavro reads them one by one, so that no count that
   a message claims is believed before its bytes are there.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import fastavro

from zcser.avro.emit import avro_schema
from zcser.avro.explain import explain_datum
from zcser.avro.native import DatumProgram
from zcser.avro.plan import Plan
from zcser.avro.read import avro_reader
from zcser.avro.write import FORM, avro_builder, avro_writer
from zcser.core.errors import DecodeError, SchemaError
from zcser.core.options import Options
from zcser.schema.model import Ref, Schema, Union
from zcser.tree.codec import TreeWriter
from zcser.tree.form import parts_of
from zcser.tree.native import make_tree_coder

if TYPE_CHECKING:
    from zcser.native import _tree

__all__ = ["AvroCodec"]

T = TypeVar("T")

_DEEPEST = 500
"""Records inside each other: well within the stack of a thread, and within Python's limit on recursion."""


class AvroCodec(TreeWriter[T]):
    """See the head of this module.

    Notes
    -----
    Copies: `encode` copies tensors and bytes twice, `decode` as well; with ``copy=False`` once. Lifetime: what `decode`
    gives never aliases `data`.
    """

    name = "avro"
    format = "Avro binary"
    wire = "avro"
    library = "fastavro"
    keyless = True
    form = FORM
    ends_itself = True
    self_delimiting = True

    def __init__(self, schema: Schema, options: Options) -> None:
        self._plan = Plan(schema, self.name)
        super().__init__(schema, options)
        emitted = avro_schema(self._plan)
        self._bare = not isinstance(schema.root, Ref)
        if self._bare:
            value = {"name": "value", "type": emitted}
            emitted = {"type": "record", "name": self._plan.root_name(), "fields": [value]}
        self._parsed: Any = fastavro.parse_schema(emitted)
        self._names = any(isinstance(part, Union) and self._plan.is_tagged(part) for part in parts_of(schema))
        self._unfolding = self._unfolded() if schema.recursive else self._parsed
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of fastavro, and whether its C extension runs."""
        pure = fastavro.schemaless_reader.__module__ == "fastavro._read_py"
        return fastavro.__version__, "pure Python" if pure else "C extension"

    def _writer(self) -> Callable[[Any], Any]:
        return avro_writer(self._plan, self.options, self._normalise)

    def _builder(self, owns: frozenset[str] = frozenset()) -> Callable[[Any], Any]:
        return avro_builder(self._plan, self.options, self._normalise, owns)

    def _coder(self, *_: Any) -> None:
        """None: values are not their own data."""

    def _tree_coder(self, dumps: Callable[[Any], bytes] | None) -> _tree.Coder | None:
        # What is read is left to the generated walk: fastavro reads by the schema, and little is to be checked.
        if dumps is None or self.options.guard == "off":
            return None
        program = DatumProgram(self._plan)
        return make_tree_coder(self.schema, self.form, self.options, dumps=dumps, loads=self._loads, program=program)

    def _reader(self, *, copy: bool) -> Callable[[Any], Any]:
        return avro_reader(self._plan, self.options, copy=copy)

    def _explain(self, tree: Any) -> DecodeError | None:
        return explain_datum(self._plan, self.options, tree, self.name)

    def _dumps(self, tree: Any, /) -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, self._parsed, {"value": tree} if self._bare else tree)
        return out.getvalue()

    def _loads(self, data: Any, /) -> Any:
        file = io.BytesIO(data)
        try:
            tree: Any = fastavro.schemaless_reader(
                file, self._unfolding, None, return_named_type=self._names, return_named_type_override=self._names
            )
        except Exception as error:
            raise DecodeError(_words(error), codec=self.name, offset=file.tell()) from error
        if file.tell() != len(data):
            raise DecodeError("the message ends before its bytes do", codec=self.name, offset=file.tell())
        return tree["value"] if self._bare else tree

    def _unfolded(self) -> dict[str, Any]:
        """The parsed schema with each record in the place of its name: rule 4."""
        depth = self.options.limits.depth
        if depth > _DEEPEST:
            raise SchemaError(
                f"fastavro recurses on the C stack: a recursive schema needs limits.depth <= {_DEEPEST}, not {depth}",
                codec=self.name,
            )
        named = self._parsed["__named_schemas"]
        records = {self._plan.record_name(name) for name in self.schema.recursive}
        root = _Unfolding(named, records, depth).at(self._parsed, 0)
        return {**root, "fields": root["fields"], "__fastavro_parsed": True, "__named_schemas": {}}


def _words(error: Exception) -> str:
    if isinstance(error, EOFError | IndexError) and not str(error).startswith("Expected"):
        return "the message ends too early, or an index leads outside its schema"
    return str(error) or type(error).__name__


class _Unfolding:
    """A parsed schema without names to look up; one copy of a recursive record for each level."""

    def __init__(self, named: dict[str, Any], recursive: set[str], depth: int) -> None:
        self.named = named
        self.recursive = recursive
        self.depth = depth
        self.made: dict[tuple[str, int], _Level] = {}

    def at(self, schema: Any, level: int) -> Any:
        """A part of the schema, `level` recursive records inside the root."""
        if isinstance(schema, list):
            return [self.at(option, level) for option in schema]
        if isinstance(schema, str):
            return self.at(self.named[schema], level) if schema in self.named else schema
        match schema["type"]:
            case "array":
                return {"type": "array", "items": self.at(schema["items"], level)}
            case "map":
                return {"type": "map", "values": self.at(schema["values"], level)}
            case "record" if schema["name"] in self.recursive:
                return self.level(schema, level + 1)
            case "record":
                return {"type": "record", "name": schema["name"], "fields": self.fields(schema, level)}
        return schema

    def fields(self, schema: Any, level: int) -> list[dict[str, Any]]:
        """The fields of a record."""
        return [{"name": field["name"], "type": self.at(field["type"], level)} for field in schema["fields"]]

    def level(self, schema: Any, level: int) -> _Level:
        """A recursive record that is the one of number `level` on its path."""
        key = (schema["name"], level)
        if key not in self.made:
            self.made[key] = _Level(self, schema, level)
        return self.made[key]


class _Level(dict[str, Any]):
    """A record whose fields are made when a message first gets there."""

    def __init__(self, unfolding: _Unfolding, schema: Any, level: int) -> None:
        super().__init__(type="record", name=schema["name"])
        self._make: Callable[[], Any] = lambda: unfolding.fields(schema, level)
        self._too_deep = level > unfolding.depth

    def __missing__(self, key: str) -> Any:
        if key != "fields":
            raise KeyError(key)
        if self._too_deep:
            raise RecursionError("nested deeper than limits.depth")
        self["fields"] = self._make()
        return self["fields"]
