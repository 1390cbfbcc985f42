"""Schemas from .bfbs files, what flatc compiles .fbs schemas to.

A `FlatSchema` is a `zcser.Schema`, so that every codec takes it: values are dicts, as ``zcser.flat.bfbs_tables`` says. The
codec ``flatbuffers`` finds in it besides what the neutral form does not say: slots, structs, alignment, the identifier.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from zcser.core.buffers import Buffer, byte_view
from zcser.core.options import Options
from zcser.flat.bfbs_definition import Definition, read_bfbs
from zcser.flat.bfbs_tables import Planner
from zcser.flat.plan import layout_of
from zcser.flat.program import Program, program_of
from zcser.schema.model import Record, Ref, Schema
from zcser.schema.normal import Normaliser, Path

__all__ = ["FlatSchema", "load_bfbs", "load_flat", "normaliser_for", "program_for", "program_of_flat"]

_Defaults = tuple[tuple[str, str, str | int], ...]


@dataclass(frozen=True)
class FlatSchema(Schema):
    """The schema of a FlatBuffers table, with all that its bytes depend on; see `load_bfbs` and `load_fbs`.

    Attributes
    ----------
    bfbs
        The compiled schema, as flatc wrote it.
    size_prefixed
        Whether a message begins with its size, 4 bytes.
    lost
        Table, field and default of each field whose default the .bfbs does not hold; see `zcser.flat.fbs_defaults`.
    """

    bfbs: bytes = field(default=b"", repr=False)
    size_prefixed: bool = False
    lost: _Defaults = field(default=(), repr=False)

    @cached_property
    def definition(self) -> Definition:
        """What the compiled schema declares."""
        return Definition(read_bfbs(self.bfbs))

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of all tables that may be a root."""
        return tuple(item.name for item in self.definition.schema.objects if not item.is_struct)

    @property
    def unions(self) -> frozenset[str]:
        """Names of the records that stand for unions: dicts of one key."""
        return frozenset(item.name for item in self.definition.schema.enums if item.is_union)

    @property
    def file_identifier(self) -> bytes:
        """The 4 bytes that stand at byte 4 of a message, behind the size where there is one; empty if there are none."""
        return self.definition.identifier(str(self.root))

    def with_root(self, root: str) -> FlatSchema:
        """The schema of another table, by its full name.

        Raises
        ------
        SchemaError
            There is no such table, or something that it reaches is not supported.
        """
        return load_flat(self.bfbs, self.definition, root, size_prefixed=self.size_prefixed, lost=self.lost)

    def __getstate__(self) -> dict[str, Any]:
        own = {"bfbs": self.bfbs, "size_prefixed": self.size_prefixed, "lost": self.lost}
        return super().__getstate__() | own


def load_bfbs(data: Buffer, *, root: str | None = None, size_prefixed: bool = False) -> FlatSchema:
    """The schema in a .bfbs file, as ``flatc -b --schema --bfbs-builtins`` writes it.

    Parameters
    ----------
    data
        The file's content; copied.
    root
        Full name of the root table; the ``root_type`` that the schema declares otherwise.
    size_prefixed
        Whether messages begin with their size.

    Returns
    -------
    FlatSchema
        For `zcser.codec`. Without ``--bfbs-builtins`` a .bfbs file does not tell bit flags, nested messages, shared
        strings and the alignment of vectors: they are then enums, bytes, strings and vectors as any. For the default of
        a ulong field from 2**63 on flatc writes 0 to it; `load_fbs` finds the right one.

    Raises
    ------
    DecodeError
        The bytes are no .bfbs file.
    SchemaError
        The schema contradicts itself, declares no root, or has what is not supported: unions whose numbers have more
        than 8 bits, default strings (which a .bfbs file does not hold; `load_fbs` finds them).
    """
    content = bytes(byte_view(data, codec="bfbs"))
    return load_flat(content, Definition(read_bfbs(content)), root, size_prefixed=size_prefixed, lost=())


def load_flat(
    bfbs: bytes, definition: Definition, root: str | None, *, size_prefixed: bool, lost: _Defaults
) -> FlatSchema:
    """The schema of a root in a .bfbs file that was read already, with the defaults that it does not hold."""
    found = definition.root(root)
    definition.identifier(found.name)
    planner = Planner(definition, _by_field(lost))
    planner.plan(found)
    records = tuple(record for record in planner.records.values() if record is not None)
    schema = FlatSchema(Ref(found.name), records, bfbs=bfbs, size_prefixed=size_prefixed, lost=lost)
    schema.__dict__["definition"] = definition
    return schema


def _by_field(lost: _Defaults) -> dict[tuple[str, str], str | int]:
    return {(table, name): default for table, name, default in lost}


def program_of_flat(schema: FlatSchema) -> Program:
    """The program of a schema from a .bfbs file."""
    definition = schema.definition
    planner = Planner(definition, _by_field(schema.lost))
    root = planner.plan(definition.root(str(schema.root)))
    return Program(
        schema,
        tuple(planner.nodes),
        root,
        bool(schema.recursive),
        identifier=schema.file_identifier,
        is_prefixed=schema.size_prefixed,
    )


def program_for(schema: Schema) -> Program:
    """The program of any schema: its own where it is from a .bfbs file, else that of its layout.

    Raises
    ------
    SchemaError
        A type has no form in FlatBuffers.
    """
    return program_of_flat(schema) if isinstance(schema, FlatSchema) else program_of(layout_of(schema))


class _FlatNormaliser(Normaliser):
    """Knows that of a union's options one is there."""

    def __init__(self, schema: FlatSchema, options: Options, codec: str) -> None:
        super().__init__(schema, strict=options.strict, finite=False, limits=options.limits, codec=codec)
        self.unions = schema.unions

    def _dict_record(self, record: Record, value: Any, path: Path) -> dict[str, Any]:
        found = super()._dict_record(record, value, path)
        if len(found) != 1 and record.name in self.unions:
            options = ", ".join(item.name for item in record.fields)
            self._refuse(f"a dict of one key is needed, an option of {record.name}: {options}", path)
        return found


def normaliser_for(schema: Schema, options: Options, *, codec: str) -> Normaliser:
    """What brings values of any schema into normal form, or says why they cannot be encoded."""
    if isinstance(schema, FlatSchema):
        return _FlatNormaliser(schema, options, codec)
    return Normaliser(schema, strict=options.strict, finite=False, limits=options.limits, codec=codec)
