"""Encode, decode and partial read of each codec on the small built-in payloads, for pytest-benchmark.

A quick look for regressions while working on a codec: ``pytest benchmarks --benchmark-only``. The figures to compare
formats by come from ``zcser compare``, which measures in fresh processes. Cells that a codec refuses are not made.
"""

from __future__ import annotations

import functools
from typing import Any

import pytest

from zcser import payloads, registry
from zcser.core.codec import Codec, CodecInfo
from zcser.core.errors import SchemaError
from zcser.core.fidelity import equal
from zcser.core.view import at
from zcser.payloads.base import Payload
from zcser.schema.normal import normal

PAYLOADS = ("request-1k", "request-64k", "llm-chunk", "telemetry-1k", "batch-meta")
