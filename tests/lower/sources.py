"""One order, as a class of every kind would declare it; values are made by hand and by hypothesis."""

from __future__ import annotations

import dataclasses
import enum
import ipaddress
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Annotated, NamedTuple, TypedDict
from uuid import UUID

import attrs
import msgspec
import pydantic
from hypothesis import strategies as st

from zcser.schema.annotations import AwareDatetime, Length, NaiveDatetime
from zcser.schema.model import Bytes, Str

ONE = UUID(int=1)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Point(NamedTuple):
    x: int
    y: float = 0.5


@attrs.define
class Line:
    """An item of an order."""

    _sku: UUID
    price: Decimal
    place: Point
    added: AwareDatetime | None = None


class Buyer(pydantic.BaseModel):
    full_name: str = pydantic.Field(alias="fullName", min_length=1)
    born: date
    emails: frozenset[str] = frozenset()
    seen: dict[date, NaiveDatetime] = {}


class Stock(TypedDict):
    sku: UUID
    counted: datetime


class Stamp(msgspec.Struct):
    at: Annotated[datetime, msgspec.Meta(tz=True)]
    note: str


@dataclasses.dataclass
class Order:
    """All of it."""

    id: UUID
    buyer: Buyer
    lines: list[Line]
    created: datetime
    opens: time
    took: timedelta
    colours: set[Colour]
    weights: set[float]
    spans: set[tuple[date, ...]]
    parents: dict[UUID, Stamp]
    what: date | datetime | UUID | str | Stamp | Buyer | set[int] | bytes | int
    stock: Stock
    file: Path
    host: ipaddress.IPv4Address | None = None
    peers: tuple[ipaddress.IPv6Address, ...] = ()


@dataclasses.dataclass
class Fixed:
    """What has one size in every format but those of text."""

    id: UUID
    at: AwareDatetime
    local: NaiveDatetime
    day: date
    clock: time
    took: timedelta
    either: datetime
    days: Annotated[list[date], Length(2)]
    name: Annotated[str, Str(40)]
    raw: Annotated[bytes, Bytes(3)]


@dataclasses.dataclass
class Every:
    """Each kind of value, with defaults of some; no two records in one union, so that a text can stand for all of it."""

    either: datetime
    at: AwareDatetime
    local: NaiveDatetime
    day: date
    clock: time
    took: timedelta
    price: Decimal
    id: UUID
    file: Path
    v4: ipaddress.IPv4Address
    v6: ipaddress.IPv6Address
    net4: ipaddress.IPv4Network
    net6: ipaddress.IPv6Network
    tags: set[str]
    days: frozenset[date]
    pairs: set[tuple[int, ...]]
    by_day: dict[date, AwareDatetime]
    by_span: dict[timedelta, bool]
    by_id: dict[UUID, set[int]]
    what: date | UUID | str | set[int] | list[int] | None
    boxed: set[int] | list[int]
    uuid: NaiveDatetime | None = None
    since: AwareDatetime = datetime(2026, 1, 2, 3, 4, 5, 6, UTC)
    fee: Decimal = Decimal("1.50")
    every: timedelta = timedelta(-1, 5)
    key: UUID | None = ONE
    where: Path = Path("a/b")
    some: set[int] = dataclasses.field(default_factory=lambda: {10, 9, 1})
    none: set[str] = dataclasses.field(default_factory=set)
    fixed: frozenset[float] = frozenset({0.5})
    seen: dict[date, int] = dataclasses.field(default_factory=lambda: {date(2026, 1, 2): 3})
    other: date | str = date(2026, 1, 2)


offsets = st.integers(-23 * 3600, 23 * 3600).map(lambda seconds: timezone(timedelta(seconds=seconds)))
naive = st.datetimes()
aware = st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31), timezones=st.just(UTC) | offsets)
spans = st.timedeltas(timedelta(days=-106_000_000), timedelta(days=106_000_000))
text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
decimals = st.decimals() | st.decimals(allow_nan=False, places=3)
buyers = st.builds(
    Buyer,
    fullName=text.filter(bool),
    born=st.dates(),
    emails=st.frozensets(text, max_size=3),
    seen=st.dictionaries(st.dates(), naive, max_size=2),
)
stamps = st.builds(Stamp, aware, text)
orders = st.builds(
    Order,
    id=st.uuids(),
    buyer=buyers,
    lines=st.lists(
        st.builds(
            Line,
            st.uuids(),
            decimals,
            st.builds(Point, st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)),
            st.none() | aware,
        ),
        max_size=3,
    ),
    created=naive | aware,
    opens=st.times(),
    took=spans,
    colours=st.sets(st.sampled_from(Colour)),
    weights=st.sets(st.floats(allow_nan=False, allow_infinity=False), max_size=4),
    spans=st.sets(st.lists(st.dates(), max_size=2).map(tuple), max_size=3),
    parents=st.dictionaries(st.uuids(), stamps, max_size=2),
    what=st.one_of(
        st.dates(),
        naive | aware,
        st.uuids(),
        text,
        stamps,
        buyers,
        st.sets(st.integers(0, 9)),
        st.binary(max_size=4),
        st.integers(-9, 9),
    ),
    stock=st.fixed_dictionaries({"sku": st.uuids(), "counted": naive | aware}),
    file=text.map(Path),
    host=st.none() | st.ip_addresses(v=4),
    peers=st.lists(st.ip_addresses(v=6), max_size=2).map(tuple),
)
fixed = st.builds(
    Fixed,
    id=st.uuids(),
    at=aware,
    local=naive,
    day=st.dates(),
    clock=st.times(),
    took=spans,
    either=naive | aware,
    days=st.lists(st.dates(), min_size=2, max_size=2),
    name=text.filter(lambda name: len(name.encode()) <= 40),
    raw=st.binary(min_size=3, max_size=3),
)
