"""JSON text as Python values: fast where nothing is lost by it, and strictly everywhere else.

1. The strict parser is the standard library's, with hooks: it refuses with a place what JSON does not have or Python cannot
   hold unchanged, and it counts repeated keys. It is what texts mean.
2. The fast parser is orjson's, else the standard library's without hooks. Whatever it refuses the strict one decides.
3. What a fast parser takes and changes is seen afterwards (`was_read_exactly`), and then all is read again, strictly:
   orjson makes floats of integers over 64 bits, the standard library infinities of numbers beyond float64, and of a
   repeated key both keep the last value and nothing else, so that the values hold fewer quotation marks than the text.
"""

from __future__ import annotations

import codecs
import json
import math
from collections import Counter
from collections.abc import Callable
from typing import Any, NoReturn

from zcser.schema.observe import Totals

__all__ = ["NotJsonError", "StrictParser", "fast_parser", "quotes_in", "was_read_exactly"]


class NotJsonError(ValueError):
    """A text is not what JSON has; the message says why and where in it."""


def quotes_in(text: bytes) -> int:
    r"""How many quotation marks stand in JSON text, those counted that are written as ``\u0022``."""
    found = text.count(b'"')
    if b"\\u0022" in text:
        found += text.replace(b"\\\\", b"").count(b"\\u0022")
    return found


def was_read_exactly(seen: Totals, quotes: int) -> bool:
    """Whether values that a fast parser made are what their text says.

    Parameters
    ----------
    seen
        Of the values.
    quotes
        Of the text, by `quotes_in`.
    """
    return seen.quotes == quotes and seen.magnitude < _ROUNDED


_ROUNDED = float(1 << 63)
"""An integer over 64 bits is no less than that as a float."""


def fast_parser() -> Callable[[bytes], Any]:
    """A function from one document's text to its value. Raises ValueError or RecursionError for what it does not take."""
    try:
        from zcser.codecs.orjson import OrjsonCodec
    except ImportError:
        decode = json.JSONDecoder(parse_constant=_no_constant).decode
        return lambda data: decode(str(data, "utf-8"))
    return OrjsonCodec._loads


class StrictParser:
    """What has the last word.

    Attributes
    ----------
    repeated
        Repeated keys that were met so far, the first of them being `first_repeated`.
    """

    def __init__(self) -> None:
        self.repeated = 0
        self.first_repeated: str | None = None
        self._decode = json.JSONDecoder(
            object_pairs_hook=self._object, parse_float=_float, parse_constant=_no_constant
        ).decode

    def __call__(self, data: bytes, *, one_line: bool) -> Any:
        """The value of a document. Raises `NotJsonError`, which says the line too unless the text is one line."""
        try:
            text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
        except UnicodeDecodeError as error:
            offset = error.start + len(data) - len(error.object)
            raise NotJsonError(f"not UTF-8: byte 0x{data[offset]:02x} at offset {offset}") from None
        try:
            return self._decode(text)
        except json.JSONDecodeError as error:
            where = f"column {error.colno}" if one_line else f"line {error.lineno} column {error.colno}"
            more = error.msg == "Extra data" and not one_line
            hint = "; a document per line is what .jsonl files hold" if more else ""
            raise NotJsonError(f"not JSON: {error.msg} at {where}{hint}") from None
        except NotJsonError:
            raise
        except ValueError:  # sys.set_int_max_str_digits; its own message names no place
            raise NotJsonError("an integer has more digits than Python converts (4300 by default)") from None
        except RecursionError:
            raise NotJsonError("nested deeper than Python's json reads") from None

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            self.repeated += len(pairs) - len(found)
            if self.first_repeated is None:
                counts = Counter(key for key, _ in pairs)
                self.first_repeated = next(key for key in found if counts[key] > 1)
        return found


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise NotJsonError(f"the number {text if len(text) <= 40 else text[:37] + '...'} is beyond float64")
    return number


def _no_constant(token: str) -> NoReturn:
    raise NotJsonError(f"{token} is not JSON; write null, or return the value from a module:function")
