"""The forms that ``zcser schema --emit`` writes: a line each, whose module is loaded when it is asked for."""

from __future__ import annotations

from typing import Final

__all__ = ["FORMS"]

FORMS: Final[dict[str, tuple[str, str, str | None]]] = {
    "zcser": ("zcser.schema.document", "emit_schema", None),
    "jsonschema": ("zcser.tree.emit", "emit_jsonschema", None),
    "python": ("zcser.schema.emit_python", "emit_python", None),
    "msgspec": ("zcser.schema.emit_python", "emit_msgspec", None),
    "proto": ("zcser.protowire.emit", "emit_proto", "protobuf"),
    "fbs": ("zcser.flat.emit", "emit_fbs", None),
    "avro": ("zcser.avro.emit", "emit_avro", "avro"),
    "arrow": ("zcser.arrow.emit", "emit_arrow", "arrow"),
    "capnp": ("zcser.capnp.emit", "emit_capnp", None),
    "thrift": ("zcser.thrift.emit", "emit_thrift", "thrift"),
}
"""By the form's name: the module, its function from a schema to text, and the extra that brings what it needs."""
