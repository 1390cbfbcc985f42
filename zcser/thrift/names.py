"""Names that nothing in a Thrift schema may have: words of the language, and those that its parsers keep for its targets."""

from __future__ import annotations

import keyword

__all__ = ["TAKEN"]

_LANGUAGE = (
    "async", "binary", "bool", "byte", "const", "cpp_include", "cpp_type", "double", "enum", "exception", "extends", "false",
    "i16", "i32", "i64", "i8", "include", "list", "map", "namespace", "oneway", "optional", "required", "service", "set",
    "string", "struct", "throws", "true", "typedef", "union", "uuid", "void", "xsd_all", "xsd_attrs", "xsd_nillable",
    "xsd_optional",
)  # fmt: skip

# The words that parsers of IDL refuse for the sake of the languages that code is made in.
_TARGETS = (
    "BEGIN", "END", "abstract", "alias", "args", "begin", "case", "catch", "clone", "declare", "default", "delete", "do",
    "dynamic", "else", "elseif", "elsif", "end", "enddeclare", "endfor", "endforeach", "endif", "endswitch", "endwhile",
    "ensure", "exec", "float", "foreach", "function", "goto", "implements", "inline", "instanceof", "interface", "module",
    "native", "new", "next", "nil", "print", "private", "protected", "public", "redo", "register", "rescue", "retry", "self",
    "sizeof", "static", "super", "switch", "synchronized", "then", "this", "throw", "transient", "undef", "unless",
    "unsigned", "until", "use", "var", "virtual", "volatile", "when", "xor",
)  # fmt: skip

TAKEN = (*_LANGUAGE, *_TARGETS, *keyword.kwlist, "thrift_spec", "read", "write", "validate")
"""The last few are what structs have themselves in Python."""
