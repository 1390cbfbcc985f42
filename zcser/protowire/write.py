"""Writers: functions that fill a message with a value, generated for a schema.

1. Messages are filled in place: an attribute is set, `add` makes the next item, a map's entry is made by its key. In upb
   that is faster than keyword arguments, and a message given as an argument would be copied with all that is in it.
2. Whatever is of the type's very class and in range is written as it stands. Anything else goes to the `Normaliser` for
   its part, and what comes back is written.
3. A writer only says that a value does not fit; the `Normaliser` over the whole value finds the words and the path.
4. Depth is counted only where the schema could exceed a limit.
5. A writer that holds payloads back puts stand-ins in their place (`zcser.protowire.stand_in`), and the payloads, which
   alias the value, into the list that it is given.
"""

from __future__ import annotations

import functools
import keyword
from collections.abc import Callable
from typing import NoReturn

import numpy as np
from google.protobuf.message import Message as ProtobufMessage

from zcser.core.dtypes import NAMES, dtype_named, number_of
from zcser.core.errors import EncodeError
from zcser.core.options import Options
from zcser.core.source import Source
from zcser.protowire.descriptors import Classes
from zcser.protowire.nesting import MAX_NESTING, NestingError
from zcser.protowire.plan import Label, Message, Missing, Plan, Shape, Slot
from zcser.protowire.scalars import Scalars
from zcser.protowire.stand_in import STAND_IN_SIZE, hold_array
from zcser.schema.model import MISSING, List, Map, Null, Record, Ref, Tensor, Type, Union
from zcser.schema.normal import Normaliser

__all__ = ["MisfitError", "compile_writer"]


class MisfitError(Exception):
    """The value does not fit the schema; the `Normaliser` knows where and why."""


def compile_writer(
    plan: Plan, classes: Classes, normaliser: Normaliser, options: Options, *, held_from: int | None = None
) -> Callable[..., ProtobufMessage]:
    """The function that makes a root message of a value.

    Parameters
    ----------
    held_from
        Payloads of so many bytes, and those of the size of a stand-in, are held back: the function takes the list that
        they are added to besides the value. None: nothing is, and it takes the value alone.

    Returns
    -------
    Callable
        Raises whatever exception comes up where the value does not fit.
    """
    return _Writer(plan, classes, normaliser, options, held_from).compile()


@functools.cache
def _dtype_numbers() -> dict[np.dtype[np.generic], int]:
    """Wire numbers by dtype; big-endian ones and those of no number are not in it."""
    found = {}
    for name in NAMES:
        try:
            found[dtype_named(name)] = number_of(name)
        except LookupError:  # ml_dtypes is not installed, or too old: then no array has this dtype
            continue
    return found


class _Writer:
    def __init__(
        self, plan: Plan, classes: Classes, normaliser: Normaliser, options: Options, held_from: int | None
    ) -> None:
        self.plan = plan
        self.classes = classes
        self.normaliser = normaliser
        self.held_from = held_from
        # The messages whose writers take the list of payloads.
        self.carriers = set() if held_from is None else plan.carriers()
        self.guard = options.guard == "on"
        self.limit = options.limits.depth
        values, wires = plan.depths()
        self.tracked = self.guard and (values > self.limit or wires > MAX_NESTING)
        self.source = Source()
        self.scalars = Scalars(plan, self.source, held_from)
        self.misfit = self.source.constant(MisfitError)
        self.nesting = self.source.constant(NestingError)
        self.normals: dict[int, str] = {}
        # Where in the value the function being generated stands: the number of steps, and one more for its parts.
        self.depth = "d"

    def compile(self) -> Callable[..., ProtobufMessage]:
        for message in self.plan.messages:
            with self.source.block(f"def w{message.index}(m, v{self.context(message.index, 'd', 'w')}):"):
                self.depth = "d + 1" if message.shape is Shape.RECORD else "d"
                self.body(message)
        root = self.classes[self.plan.messages[self.plan.root].name]
        with self.source.block("def write(v):" if self.held_from is None else "def write(v, p):"):
            self.source.line(f"m = {self.source.constant(root)}()")
            self.source.line(self.call(self.plan.root, "m", "v", "0", "1"))
            self.source.line("return m")
        write: Callable[..., ProtobufMessage] = self.source.compile("protobuf writer")["write"]
        return write

    def body(self, message: Message) -> None:
        match message.shape, message.type:
            case Shape.RECORD, Ref() as ref:
                self.record(message, self.plan.schema.resolve(ref))
            case Shape.TENSOR, Tensor() as tensor:
                self.tensor(tensor)
            case Shape.UNION, Union() as union:
                self.union(message, union)
            case _:
                self.present(message.slots[0], "v")

    # --- messages -----------------------------------------------------------------------------------------------------

    def record(self, message: Message, record: Record) -> None:
        line, block = self.source.line, self.source.block
        self.expect(message.type, "v", record.cls or dict)
        self.bound("d")
        is_dict = record.cls is None
        absent = [slot for slot in message.slots if slot.missing is Missing.ABSENT]
        written: dict[int, str] = {}
        if is_dict and self.guard and absent:
            line(f"n = {len(record.fields) - len(absent)}")
        for slot, field in zip(message.slots, record.fields, strict=True):
            x = self.source.variable()
            if slot.missing is Missing.ABSENT:
                line(f"{x} = v.get({field.name!r}, {self.source.constant(MISSING)})")
                with block(f"if {x} is not {self.source.constant(MISSING)}:"):
                    if self.guard:
                        line("n += 1")
                    self.one(slot, x)
            else:
                line(f"{x} = v[{field.name!r}]" if is_dict else f"{x} = {_attribute('v', field.name)}")
                self.present(slot, x)
            written[slot.number] = x
        for name, numbers in message.oneofs:
            there = " + ".join(f"({written[number]} is not None)" for number in numbers)
            names = [slot.name for slot in message.slots if slot.number in numbers]
            with block(f"if {there} > 1:"):
                line(f"{self.source.constant(_refuse_several)}({name!r}, {names!r}, {message.path!r})")
        if is_dict and self.guard:
            # More keys than the fields found: some key is no field.
            with block(f"if len(v) != {'n' if absent else len(record.fields)}:"):
                line(f"raise {self.misfit}")

    def tensor(self, type_: Tensor) -> None:
        line, block = self.source.line, self.source.block
        numbers = self.source.constant(_dtype_numbers())
        self.expect(type_, "v", np.ndarray)
        line(f"n = {numbers}.get(v.dtype)")
        with block("if n is None:"):
            line(f"v = {self.normal(type_)}(v)")
            line(f"n = {numbers}[v.dtype]")
        unfit = [] if type_.dtype is None else [f"n != {number_of(type_.dtype)}"]
        if type_.shape is not None:
            unfit.append(f"v.ndim != {len(type_.shape)}")
            unfit += [f"v.shape[{axis}] != {size}" for axis, size in enumerate(type_.shape) if size is not None]
        if self.guard and unfit:
            with block(f"if {' or '.join(unfit)}:"):
                line(f"raise {self.misfit}")
        line("m.dtype = n")
        line("m.shape.extend(v.shape)")
        whole = "m.data = v.tobytes()"  # in C order, whatever the order in memory
        if self.held_from is None:
            line(whole)
            return
        with block(f"if v.nbytes < {self.held_from} and v.nbytes != {STAND_IN_SIZE}:"):
            line(whole)
        with block("else:"):
            line(f"m.data = {self.source.constant(hold_array)}(p, v)")

    def union(self, message: Message, type_: Union) -> None:
        line, block = self.source.line, self.source.block
        line("c = v.__class__")
        word = "if"
        for slot in message.slots:
            cls = self.source.constant(self.plan.schema.python_type(slot.type))
            with block(f"{word} c is {cls}:"):
                if slot.message is None:
                    self.scalar(slot, "v", self.scalars.outside(slot.type, "v"))
                else:
                    self.part(slot, slot.message, "v")
            word = "elif"
        with block("else:"):
            if self.guard:
                line(self.call(message.index, "m", f"{self.normal(type_)}(v)", "d", "w"))
            else:
                line(f"raise {self.misfit}")

    # --- fields -------------------------------------------------------------------------------------------------------

    def present(self, slot: Slot, x: str) -> None:
        """Write a value that is there, or None where that is one."""
        if slot.missing is Missing.NONE:
            with self.source.block(f"if {x} is not None:"):
                self.one(slot, x)
        elif slot.label is Label.MANY and isinstance(slot.type, List):
            self.many(slot, slot.type, x)
        elif slot.label is Label.MAP and isinstance(slot.type, Map):
            self.map(slot, slot.type, x)
        else:
            self.one(slot, x)

    def one(self, slot: Slot, x: str) -> None:
        if slot.message is None:
            self.scalar(slot, x, self.scalars.misfit(slot.type, x))
        else:
            self.part(slot, slot.message, x)

    def scalar(self, slot: Slot, x: str, misfit: str | None) -> None:
        if misfit is not None:
            self.guarded(slot.type, x, misfit)
        if not isinstance(slot.type, Null):
            self.source.line(f"m.{slot.name} = {self.scalars.native(slot.type, x)}")
        elif slot.presence:
            self.source.line(f"m.{slot.name} = 0")

    def part(self, slot: Slot, index: int, x: str) -> None:
        target = f"m.{slot.name}"
        self.nest("w")
        if not self.always_sets(index):
            # Nothing may be set in it, and an untouched message is not there.
            target = self.source.variable()
            self.source.line(f"{target} = m.{slot.name}")
            cls = self.classes[self.plan.messages[index].name]
            self.source.line(f"{self.source.constant(cls.SetInParent)}({target})")
        self.source.line(self.call(index, target, x, self.depth, "w + 1"))

    def many(self, slot: Slot, type_: List, x: str) -> None:
        line, block = self.source.line, self.source.block
        self.expect(type_, x, list if type_.container == "list" else tuple)
        if type_.length is not None:
            self.guarded(type_, x, f"len({x}) != {type_.length}")
        self.bound(self.depth)
        with block(f"if {x}:"):
            if slot.message is None:
                if self.guard:
                    with block(f"for y in {x}:"), block(f"if {self.scalars.misfit(type_.item, 'y')}:"):
                        line(f"{x} = {self.normal(type_)}({x})")
                        line("break")
                line(f"m.{slot.name}.extend({self.scalars.natives(type_.item, x)})")
                return
            self.nest("w")
            line(f"add = m.{slot.name}.add")
            with block(f"for y in {x}:"):
                line(self.call(slot.message, "add()", "y", f"{self.depth} + 1", "w + 1"))

    def map(self, slot: Slot, type_: Map, x: str) -> None:
        line, block = self.source.line, self.source.block
        self.expect(type_, x, dict)
        self.bound(self.depth)
        with block(f"if {x}:"):
            # The entry is a message too.
            self.nest("w" if slot.message is None else "w + 1")
            line(f"f = m.{slot.name}")
            with block(f"for k, y in {x}.items():"):
                if self.guard:
                    with block(f"if {self.scalars.misfit(type_.key, 'k')}:"):
                        # Two keys may become one, which only a look at the whole map can tell.
                        line(f"raise {self.misfit}")
                if slot.message is None:
                    self.guarded(type_.value, "y", self.scalars.misfit(type_.value, "y"))
                    line(f"f[k] = {self.scalars.native(type_.value, 'y')}")
                else:
                    line(self.call(slot.message, "f[k]", "y", f"{self.depth} + 1", "w + 2"))

    def call(self, index: int, target: str, x: str, depth: str, nesting: str) -> str:
        return f"w{index}({target}, {x}{self.context(index, depth, nesting)})"

    def context(self, index: int, depth: str, nesting: str) -> str:
        """What the writer of a message takes besides the message and its value."""
        return f"{', p' if index in self.carriers else ''}{f', {depth}, {nesting}' if self.tracked else ''}"

    def always_sets(self, index: int) -> bool:
        """Whether the writer of a message sets some field of it, whatever the value."""
        message = self.plan.messages[index]
        return message.shape in {Shape.TENSOR, Shape.UNION} or any(
            slot.label is Label.ONE
            and slot.message is None
            and slot.missing in {Missing.ZERO, Missing.DEFAULT}
            and not isinstance(slot.type, Null)
            for slot in message.slots
        )

    # --- guards -------------------------------------------------------------------------------------------------------

    def normal(self, type_: Type) -> str:
        """The `Normaliser` for one type of the plan, which keeps the type alive."""
        name = self.normals.get(id(type_))
        if name is None:
            name = self.source.constant(functools.partial(self.normaliser.part, type_))
            self.normals[id(type_)] = name
        return name

    def guarded(self, type_: Type, x: str, misfits: str) -> None:
        if self.guard:
            with self.source.block(f"if {misfits}:"):
                self.source.line(f"{x} = {self.normal(type_)}({x})")

    def expect(self, type_: Type, x: str, cls: type) -> None:
        self.guarded(type_, x, f"{x}.__class__ is not {self.source.constant(cls)}")

    def bound(self, depth: str) -> None:
        """Refuse a record, list or map that stands too deep in the value."""
        if self.tracked:
            with self.source.block(f"if {depth} >= {self.limit}:"):
                self.source.line(f"raise {self.misfit}")

    def nest(self, nesting: str) -> None:
        """Refuse to open a message inside one that stands too deep already."""
        if self.tracked:
            with self.source.block(f"if {nesting} >= {MAX_NESTING}:"):
                self.source.line(f"raise {self.nesting}")


def _attribute(x: str, name: str) -> str:
    # Only an ASCII identifier may be pasted: Python would fold others to another name.
    if name.isascii() and name.isidentifier() and not keyword.iskeyword(name):
        return f"{x}.{name}"
    return f"getattr({x}, {name!r})"


def _refuse_several(oneof: str, names: list[str], path: str) -> NoReturn:
    reason = f"of the oneof {oneof!r} at most one may be there: {', '.join(names)}"
    raise EncodeError(reason, codec="protobuf", path=path)
