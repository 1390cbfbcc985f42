"""What the C engine remembers and what it takes short ways for: never seen in what it reads, whatever came before.

What is wanted comes from an engine that has met nothing yet, from the engine in Python, or from Python's own decoder.
"""

from __future__ import annotations

import dataclasses
import gc
import itertools
import random
import struct
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from zcser.core.errors import DecodeError, ReleasedViewError
from zcser.core.options import Options
from zcser.core.view import release, retained_bytes, to_value
from zcser.flat.engine import Engine
from zcser.flat.plan import layout_of
from zcser.flat.program import program_of
from zcser.flat.pure.engine import make_engine as make_pure
from zcser.schema.annotations import Float32, Int16, UInt8
from zcser.schema.from_python import schema_of

pytest.importorskip("zcser.native._flat", reason="the C extension is not built")

from zcser.flat.native.engine import make_engine as make_native


@dataclasses.dataclass
class Item:
    a: int | None
    b: str | None
    c: UInt8 | None
    d: Float32 | None
    e: Int16 | None


@dataclasses.dataclass
class Root:
    text: str
    items: list[Item]
    one: int | str
    last: Item | None
    twin: Item


@dataclasses.dataclass
class Text:
    s: str


def engine_of(source: Any, make: Callable[..., Any] = make_native) -> Engine:
    made: Engine = make(
        program_of(layout_of(schema_of(source))), Options(), codec="flatbuffers", normal=lambda value: value
    )
    return made


FORMS = list(itertools.product((None, 7), (None, "ß"), (None, 8), (None, 0.5), (None, -9)))
ITEMS = [Item(*form) for form in FORMS]
ROOT = Root("text", ITEMS[5:9], "one", None, ITEMS[-1])


def outcome(read: Callable[[Any], Any], data: Any) -> Any:
    """What reading gives, or what is wrong."""
    try:
        return repr(read(data))
    except DecodeError as error:
        return type(error), str(error), error.path, error.offset


# Vtables ------------------------------------------------------------------------------------------------------------------


def test_records_of_more_forms_than_are_remembered_are_read() -> None:
    """32 forms of one table, each met twice, in both orders."""
    engine, pure = engine_of(list[Item]), engine_of(list[Item], make_pure)
    for items in (ITEMS, ITEMS[::-1]):
        message = pure.encode(items)
        assert engine.encode(items) == message
        engine.verify(message)
        assert engine.decode(message) == items
        assert [to_value(view) for view in engine.view(message)] == items
        assert [view.b for view in engine.view(message)] == [item.b for item in items]


def mutants(message: bytes, rng: random.Random, count: int) -> list[bytes]:
    made = []
    for _ in range(count):
        changed = bytearray(message)
        for _ in range(rng.choice((1, 1, 2))):
            place = rng.randrange(len(changed))
            if rng.random() < 0.5:
                changed[place] = rng.choice((0, 1, 2, 4, 6, 8, 12, 255))
            else:
                changed[place & -4 : (place & -4) + 4] = struct.pack("<I", rng.choice((0, 4, 2**31, 2**32 - 4)))
        made.append(bytes(changed))
    return made


@pytest.mark.parametrize("kind", [bytes, bytearray])
def test_what_came_before_changes_nothing(kind: type) -> None:
    """An engine that met the good message and all mutants so far reads each as one does that met nothing."""
    met, rng = engine_of(Root), random.Random(5)
    message = met.encode(ROOT)
    assert met.decode(message) == ROOT
    for number, mutant in enumerate(mutants(message, rng, 120)):
        data = kind(mutant)
        for operation in ("decode", "verify", "view"):
            known = outcome(getattr(met, operation), data)
            assert known == outcome(getattr(engine_of(Root), operation), data), (number, operation)
    assert met.decode(message) == ROOT


def test_a_message_that_changes_is_not_what_it_was_known_as() -> None:
    engine = engine_of(Item)
    message = bytearray(engine.encode(Item(1, "b", 2, 0.5, -3)))
    assert engine.decode(message).a == 1
    (root,) = struct.unpack_from("<I", message)
    vtable = root - struct.unpack_from("<i", message, root)[0]
    struct.pack_into("<H", message, vtable + 4, 0)  # the table lacks `a`
    assert engine.decode(message) == Item(None, "b", 2, 0.5, -3)
    struct.pack_into("<H", message, vtable + 4, 0xFFF0)
    for read in (engine.decode, engine.verify, engine.view):
        with pytest.raises(DecodeError):
            read(message)


def test_a_table_that_lacks_what_is_required_is_refused_each_time() -> None:
    engine = engine_of(Text)
    empty = struct.pack("<I HH i", 8, 4, 4, 4)
    for _ in range(3):
        with pytest.raises(DecodeError, match="required") as caught:
            engine.decode(empty)
        assert caught.value.path == "/s"
        with pytest.raises(DecodeError, match="required"):
            engine.verify(empty)


def test_a_known_vtable_does_not_vouch_for_the_table() -> None:
    """The vtable of a good message, with a table that is misaligned, or that does not fit before the end."""
    engine = engine_of(Item)
    good = engine.encode(Item(1, None, None, None, None))
    (root,) = struct.unpack_from("<I", good)
    vtable = root - struct.unpack_from("<i", good, root)[0]
    engine.verify(good)
    moved = bytearray(good[:root] + bytes(4) + good[root:])
    struct.pack_into("<I", moved, 0, root + 4)
    struct.pack_into("<i", moved, root + 4, root + 4 - vtable)
    with pytest.raises(DecodeError, match="is not aligned"):
        engine.verify(bytes(moved))
    with pytest.raises(DecodeError, match="past the end"):
        engine.verify(good[:-1])


# Strings ------------------------------------------------------------------------------------------------------------------

_EDGES = [0, 1, 0x7F, 0x80, 0xBF, 0xC0, 0xFF, 0x100, 0x7FF, 0x800, 0xFFF, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF]


def read_texts(found: bytes) -> tuple[Any, ...]:
    """A message with these bytes as its string, by hand, read in every way."""
    message = struct.pack(f"<I 3H 2x i I I {len(found)}s x", 12, 6, 8, 4, 8, 4, len(found), found)
    engine = engine_of(Text)
    reads: Sequence[Callable[[], str]] = (
        lambda: engine.decode(message).s,
        lambda: engine.decode(bytearray(message)).s,
        lambda: engine.view(message).s,
        lambda: engine.view(message)["s"],
        lambda: engine.view(message, verify=False).s,
        lambda: engine.view(bytearray(message)).s,
    )
    results: list[Any] = []
    for read in reads:
        try:
            results.append(read())
        except DecodeError:
            results.append(None)
    return tuple(results)


def check_text(found: bytes) -> None:
    try:
        wanted = found.decode()
    except UnicodeDecodeError:
        wanted = None
    results = read_texts(found)
    assert results == (wanted,) * len(results)
    if wanted is not None:
        # A str of another width than its characters need would be equal to no other one as a key.
        assert all({result: 1}.get(wanted) == 1 and result.isascii() is wanted.isascii() for result in results)


@pytest.mark.parametrize("padding", [0, 1, 7, 27, 40])
def test_strings_are_read_as_python_decodes_them(padding: int) -> None:
    for one, other in itertools.product(_EDGES, repeat=2):
        check_text(("x" * padding + chr(one) + "-" + chr(other)).encode())


@pytest.mark.parametrize("padding", [0, 6, 40])
def test_what_is_no_utf8_is_refused_as_python_refuses_it(padding: int) -> None:
    rng = random.Random(3)
    lead = (0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF)
    follow = (0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0)
    for first in lead:
        for _ in range(12):
            rest = bytes(rng.choice(follow) for _ in range(rng.randrange(4)))
            check_text(b"y" * padding + bytes([first]) + rest)


# Views --------------------------------------------------------------------------------------------------------------------


def test_the_memory_of_a_view_that_is_gone_holds_nothing_of_it() -> None:
    engine = engine_of(Root)
    message = engine.encode(ROOT)
    view = engine.view(message)
    items = view.items
    release(view)
    gone: list[str] = []
    references = [weakref.ref(one, lambda _: gone.append("gone")) for one in (view, items)]
    del view, items
    assert gone == ["gone"] * 2
    assert [reference() for reference in references] == [None, None]
    again, other = engine.view(message), engine.view(engine.encode(dataclasses.replace(ROOT, text="other")))
    assert (again.text, other.text, retained_bytes(again)) == ("text", "other", len(message))
    assert again != other
    assert weakref.getweakrefcount(again) == 0
    assert gc.is_tracked(again)


def test_views_that_are_made_and_dropped_in_any_order_stay_apart() -> None:
    engine, rng = engine_of(Root), random.Random(2)
    messages = {str(number): engine.encode(dataclasses.replace(ROOT, text=str(number))) for number in range(8)}
    held: list[tuple[str, Any]] = []
    for _ in range(2000):
        if held and rng.random() < 0.5:
            text, view = held.pop(rng.randrange(len(held)))
            if rng.random() < 0.3:
                release(view)
                with pytest.raises(ReleasedViewError):
                    _ = view.text
        else:
            text = rng.choice([*messages])
            view = engine.view(messages[text])
            held.append((text, view))
            assert view.items[0].a == ROOT.items[0].a
        assert all(view.text == text for text, view in held[-3:])


def test_a_field_is_found_by_any_str_that_is_its_name() -> None:
    class Name(str):
        __slots__ = ()

    engine = engine_of(Root)
    view = engine.view(engine.encode(ROOT))
    for name in ("text", str(b"text", "ascii"), Name("text")):
        assert getattr(view, name) == view[name] == "text"
    with pytest.raises(AttributeError, match="other"):
        _ = view.other
    with pytest.raises(AttributeError):
        view.text = "x"


def test_a_field_of_another_record_is_refused() -> None:
    """Views of two records have the same layout, so that Python lets one be made the other."""
    engine = engine_of(Root)
    view = engine.view(engine.encode(ROOT))
    item = view.twin
    item.__class__ = type(view)
    with pytest.raises(TypeError, match="another record"):
        _ = item.text
    del item
    assert engine.view(engine.encode(ROOT)).twin.e == -9
