"""The fixture ``zbench`` itself."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from zcser import payloads
from zcser.measure.inputs import Fresh
from zcser.measure.operations import GUARD
from zcser.measure.plan import Key, MeasureError, Request, make_plan
from zcser.measure.presets import PRESETS
from zcser.measure.worker import outcome
from zcser.payloads.base import Payload
from zcser.payloads.places import first_tensor, middle_field
from zcser.payloads.snapshot import Snapshot
from zcser.pytest_plugin.figures import Figures
from zcser.pytest_plugin.fresh import measure
from zcser.pytest_plugin.tasks import CallTask, CodecTask, Task
from zcser.schema.from_python import schema_of
from zcser.schema.normal import normal

__all__ = ["ZBench"]

_ROUNDS_OF_FRESH = 200
"""Rounds of pytest-benchmark where a call uses its argument up, so that it cannot calibrate a loop of calls."""

_MISSING: Any = object()


class ZBench:
    """Benchmarks one callable, or one operation of a codec, per test.

    Where pytest-benchmark is disabled (``--benchmark-disable``, or under xdist) the operation runs once and there are no
    figures.

    Attributes
    ----------
    benchmark
        pytest-benchmark's own fixture, for its ``group`` and ``extra_info``.
    """

    def __init__(self, benchmark: Any, preset: str, keep: Callable[[Figures], None]) -> None:
        self.benchmark = benchmark
        self._preset = PRESETS[preset]
        self._keep = keep

    def __call__(self, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """Benchmark ``function(*arguments, **keywords)``, with the same arguments at each call.

        Figures come from fresh processes where the function stands at the top level of a module that can be imported and
        its arguments can be pickled. It must then depend on its arguments alone: what a fixture has patched or set up in
        this process is not there. Anything else is measured in this process, and labelled.

        Returns
        -------
        Any
            What the function returned.
        """
        result = self.benchmark(function, *arguments, **keywords)
        self._measure(CallTask(function, arguments, keywords))
        return result

    def codec(self, codec: str, payload: Any, operation: str, *, value: Any = _MISSING) -> Any:
        """Benchmark an operation of a codec as ``zcser compare`` measures it: values in rotation, results checked first.

        Parameters
        ----------
        codec
            Its name.
        payload
            The name of a built-in payload, a `Payload`, or whatever `zcser.codec` takes as a schema.
        operation
            A name that ``zcser compare --ops`` takes.
        value
            What to measure, where `payload` is a schema.

        Returns
        -------
        Any
            The result of the operation on the first value.

        Raises
        ------
        ZcserError
            Unknown names, a value that is missing or too much, or one that cannot be sent to a worker.
        MismatchError
            The codec gives a wrong result.

        Notes
        -----
        A codec that is not installed, has no such operation or refuses the payload skips the test, with the reason.
        """
        task = _codec_task(codec, _payload(payload, value), operation)
        try:
            prepared = task.prepare(self._preset)
        except Exception as error:
            status, reason = outcome(error)
            if status == "failed":
                raise
            pytest.skip(f"{codec} has no {operation} of {task.payload.name}: {reason}")
        if isinstance(prepared.inputs, Fresh):
            inputs = prepared.inputs
            result = self.benchmark.pedantic(
                prepared.call, setup=lambda: ((inputs.first()[1],), {}), rounds=_ROUNDS_OF_FRESH
            )
        else:
            result = self.benchmark(prepared.call, prepared.inputs.first()[1])
        self._measure(task)
        return result

    def _measure(self, task: Task) -> None:
        if not self.benchmark.disabled:
            self._keep(measure(task, self._preset))


def _payload(payload: Any, value: Any) -> Payload:
    if isinstance(payload, str | Payload):
        if value is not _MISSING:
            raise MeasureError("a payload has values of its own; value= is for a schema")
        return payloads.get(payload) if isinstance(payload, str) else payload
    if value is _MISSING:
        raise MeasureError(
            "a schema needs value=, the value to measure; a payload is given by its name or as a Payload"
        )
    schema = schema_of(payload)
    kept = normal(schema, value)
    return Payload(
        name=str(schema.root),
        doc="a value of a test",
        schema=schema,
        make=Snapshot((pickle.dumps(kept),)),
        field=middle_field([kept]),
        tensor=first_tensor([kept]),
        rotation="copies",
        distinct=1,
        source="test",
    )


def _codec_task(codec: str, payload: Payload, operation: str) -> CodecTask:
    if operation == GUARD:
        raise MeasureError(f"{GUARD!r} is derived from encode and encode-unguarded; benchmark these")
    try:
        plan = make_plan(Request(payloads=(payload,), codecs=(codec,), operations=(operation,)))
    except ImportError as error:
        pytest.skip(str(error))
    key = Key(payload.name, codec, operation)
    if key in plan.unsupported:
        pytest.skip(plan.unsupported[key])
    return CodecTask(plan.payloads[payload.name], codec, plan.shown[key].operation, plan.writers(codec))
