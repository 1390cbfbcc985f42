"""What a benchmark measures, in a form that travels to a worker: a callable with its arguments, or a codec's operation.

A task says what to measure and nothing of where. `time_task` and `count_task` are the same in a worker and in the test
process, and the one place that calls the measuring core.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from zcser import registry
from zcser.measure.bench import Bench, make_codec
from zcser.measure.figures import Allocations
from zcser.measure.inputs import Rotating
from zcser.measure.operations import OPERATIONS
from zcser.measure.prepare import Prepared, require
from zcser.measure.presets import Preset
from zcser.measure.sample import Sample, take_sample
from zcser.measure.worker import count_allocations
from zcser.payloads.base import Payload

__all__ = ["Answer", "CallTask", "CodecTask", "Order", "Task", "count_task", "time_task"]


class Task(Protocol):
    """What to measure. Picklable, if it is to travel."""

    @property
    def cell(self) -> tuple[str, str, str] | None:
        """Payload, codec and operation; None for a callable."""

    @property
    def library(self) -> str:
        """The library that works below; "" where it is unknown."""

    @property
    def distinct(self) -> int:
        """How many values differ."""

    def prepare(self, preset: Preset) -> Prepared:
        """The call and its arguments."""


@dataclass(frozen=True, slots=True)
class CallTask:
    """A callable of the user's, with the same arguments at each call."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]

    @property
    def cell(self) -> None:
        """See `Task`."""
        return

    @property
    def library(self) -> str:
        """See `Task`."""
        return ""

    @property
    def distinct(self) -> int:
        """See `Task`."""
        return 1

    def prepare(self, preset: Preset) -> Prepared:
        """See `Task`; a single argument is passed on as it is, anything else costs one Python call around it."""
        if len(self.arguments) == 1 and not self.keywords:
            return Prepared(self.function, _always(self.arguments[0], preset), _unchecked)
        function, arguments, keywords = self.function, self.arguments, self.keywords

        def call(_: Any) -> Any:
            return function(*arguments, **keywords)

        return Prepared(call, _always(None, preset), _unchecked)


def _always(argument: Any, preset: Preset) -> Rotating:
    return Rotating(lambda _: argument, range(1), preset.prepare_ns)


def _unchecked(_number: int, _result: Any) -> None:
    # The test that called the fixture looks at the result.
    return


@dataclass(frozen=True, slots=True)
class CodecTask:
    """An operation of a codec on a payload.

    Attributes
    ----------
    payload
        With its `fields` filled in.
    codec, operation
        Names; the operation is one that is measured, not derived.
    writers
        Codecs that write the wire where `codec` does not.
    """

    payload: Payload
    codec: str
    operation: str
    writers: tuple[str, ...]

    @property
    def cell(self) -> tuple[str, str, str]:
        """See `Task`."""
        return self.payload.name, self.codec, self.operation

    @property
    def library(self) -> str:
        """See `Task`."""
        return registry.info(self.codec).library

    @property
    def distinct(self) -> int:
        """See `Task`."""
        return self.payload.distinct

    def prepare(self, preset: Preset) -> Prepared:
        """See `Task`; round trips and the operation's result are checked first.

        Raises
        ------
        MismatchError
            A result is wrong.
        ZcserError
            The codec refuses the schema or a value.
        """
        codec, writer = make_codec(self.codec, self.payload.schema, self.writers)
        bench = Bench(
            self.payload,
            codec,
            writer,
            fields=self.payload.fields,
            rotation=preset.rotation,
            prepare_ns=preset.prepare_ns,
        )
        bench.verify(preset.verify_ns)
        prepared = OPERATIONS[self.operation].prepare(bench)
        require(prepared)
        return prepared


@dataclass(frozen=True, slots=True)
class Order:
    """What a worker is asked for.

    Attributes
    ----------
    pickled
        The task: a pickle inside a pickle, so that one that cannot be loaded is answered, not died of.
    preset
        How much to measure.
    count
        Whether allocations are counted and nothing is timed; else the task is timed and nothing else.
    most_kept
        How many results may live at a time, while it is timed.
    """

    pickled: bytes
    preset: Preset
    count: bool
    most_kept: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """A sample, or allocations (None where a call takes too long to count them); or the reason why there is neither."""

    sample: Sample | None = None
    allocations: Allocations | None = None
    reason: str | None = None


def time_task(task: Task, preset: Preset, most_kept: int) -> Sample:
    """Time a task in this process."""
    prepared = task.prepare(preset)
    return take_sample(prepared.call, prepared.inputs, preset.slot, most_kept=most_kept)


def count_task(task: Task, preset: Preset) -> Allocations | None:
    """Count what a call allocates, in this process; None where it takes too long to be made again and again."""
    return count_allocations(
        task.prepare(preset),
        task.library,
        rotation=preset.rotation,
        op_limit_ns=preset.allocations_op_ns,
        budget_ns=preset.allocations_ns,
        most_distinct=task.distinct,
    )
