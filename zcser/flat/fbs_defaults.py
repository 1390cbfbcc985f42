"""The defaults that flatc does not compile into a .bfbs file, from the .fbs sources.

Those of strings have no place in it; for those of ulong fields from 2**63 on it writes 0.

flatc has accepted the sources before, so that no more is looked at than where such a field stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from zcser.flat.bfbs_definition import Definition
from zcser.flat.reflection import BaseType, FieldDef

__all__ = ["lost_defaults"]

_WORD = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | ( "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | [-+]?[\w.]+ | \S )""", re.DOTALL | re.VERBOSE
)
_ESCAPE = re.compile(rb"((?:\\u[0-9A-Fa-f]{4})+)|\\x([0-9A-Fa-f]{2})|\\(.)", re.DOTALL)
_CONTROLS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"f": b"\f"}


def lost_defaults(definition: Definition, sources: Iterable[str]) -> tuple[tuple[str, str, str | int], ...]:
    """Table by its full name, field, and default of each field whose default the definition does not have."""
    fields = {(table.name, item.name): item for table in definition.schema.objects for item in table.fields}
    found: list[tuple[str, str, str | int]] = []
    for source in sources:
        for table, name, word in _defaults(source):
            item = fields.get((table, name))
            if item is not None and item.type.base_type == BaseType.STRING:
                found.append((table, name, _text(word)))
            elif item is not None and item.type.base_type == BaseType.ULONG:
                number = _number(definition, item, word)
                if number >= 1 << 63:
                    found.append((table, name, number))
    return tuple(found)


def _defaults(source: str) -> Iterator[tuple[str, str, str]]:
    """Table, field and default of each field of a source that has one, as it is written."""
    words = [match[1] for match in _WORD.finditer(source) if match[1]]
    namespace, table, depth = "", "", 0
    for place, word in enumerate(words):
        if word in "{}":
            depth += 1 if word == "{" else -1
        elif depth == 0 and word == "namespace":
            namespace = "" if words[place + 1] == ";" else words[place + 1] + "."
        elif depth == 0 and word in {"table", "struct", "enum", "union", "rpc_service"}:
            table = namespace + words[place + 1]
        elif depth == 1 and words[place + 1] == ":" and words[place + 3] == "=":
            yield table, word, words[place + 4]


def _number(definition: Definition, item: FieldDef, word: str) -> int:
    """The number of a default: digits, or the names of members of an enum."""
    if word[-1] not in "\"'":
        try:
            return int(word, 0)
        except ValueError:
            pass
    if item.type.index < 0:
        return 0
    members = {member.name: member.value for member in definition.enum(item.type.index, item.name).values}
    number = 0
    for name in word.strip("\"'").split():
        number |= members.get(name, 0)
    return number & 0xFFFF_FFFF_FFFF_FFFF


def _text(word: str) -> str:
    """The text of a string in quotes."""
    return _ESCAPE.sub(_unescaped, word[1:-1].encode()).decode()


def _unescaped(match: re.Match[bytes]) -> bytes:
    units, byte, other = match.groups()
    if units:  # of UTF-16, as in JSON
        return bytes.fromhex(units.replace(rb"\u", b"").decode()).decode("utf-16-be").encode()
    return bytes.fromhex(byte.decode()) if byte else _CONTROLS.get(other, other)
