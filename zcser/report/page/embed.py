"""What goes into a page as a whole: its assets, its data and the policy which lets nothing else run.

1. The policy names the style sheet and the script by their hashes; scripts that a name in a result would smuggle in are
   neither, and would be refused even where escaping had failed.
2. Data stands in a block of JSON that is no script. ``<``, ``>`` and ``&`` are escaped in it, and all that is not ASCII,
   so that no text can end the block.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

from zcser.report.markup import Html, tag

__all__ = ["asset", "json_block", "policy"]

_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}


def asset(name: str) -> str:
    """The text of a file of ``assets``."""
    return (resources.files(__package__) / "assets" / name).read_text(encoding="utf-8")


def json_block(identifier: str, document: Any) -> Html:
    """Data for scripts; a figure that JSON has no number for raises ValueError."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":")).translate(_ESCAPES)
    return tag("script", Html(text), id=identifier, type="application/json")


def policy(styles: Sequence[str], scripts: Sequence[str]) -> str:
    """The content policy of a page with these inline texts, W3C CSP level 3."""
    allowed = [f"style-src {_hashes(styles)}", f"script-src {_hashes(scripts)}"]
    return "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'"])


def _hashes(texts: Sequence[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
