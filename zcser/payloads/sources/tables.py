"""Rows of tables as messages: CSV and Parquet, read by pyarrow.

1. A column is a field, a struct a record, a list a list; a null is None, in a field that is then optional. A column that
   may hold nulls and holds none is not.
2. Timestamps are datetimes, in UTC or naive; dates, times, durations, decimals and Parquet's UUIDs are Python's own. Where
   a column has values that Python has not (finer than a microsecond, out of the years 1 to 9999) it is of integers in its
   unit, and a note says so; another says where float16 becomes float32. Dictionaries are what they stand for.
3. CSV has the types that pyarrow infers, for which it looks at the first block alone; an empty cell is a null.
4. A row's size is that of its JSON text. Of more than `MOST_ROWS` rows so many are taken, evenly spread, and the others
   are read in batches and dropped.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zcser.core.errors import CodecUnavailableError
from zcser.payloads.files import MAX_BYTES
from zcser.payloads.sources.base import Message, Source, checked, drain, refuse
from zcser.payloads.sources.table_types import Types
from zcser.payloads.traffic import shape_of
from zcser.schema.model import Schema

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["MOST_ROWS", "SUFFIXES", "TableFiles"]

SUFFIXES = (".csv", ".tsv", ".parquet")

MOST_ROWS = 100_000

_BATCH_ROWS = 1024


class TableFiles(Source):
    """One message a row."""

    unit = "rows"

    def __init__(self, files: Sequence[str]) -> None:
        super().__init__(files)
        self._rows = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """See `Source`."""
        taken = self._table.num_rows
        if taken == self._rows:
            return ()
        return (f"the root: {taken:,} of {self._rows:,} rows were looked at, evenly spread",)

    def messages(self) -> Iterator[Message]:
        """See `Source`."""
        number = 0
        for batch in self._table.to_batches(_BATCH_ROWS):
            for row in batch.to_pylist(maps_as_pydicts="strict"):
                yield self._message(number, row)
                number += 1

    def pick(self, numbers: Collection[int]) -> Iterator[Message]:
        """See `Source`."""
        chosen = sorted(numbers)
        for number, row in zip(chosen, self._table.take(chosen).to_pylist(maps_as_pydicts="strict"), strict=True):
            yield self._message(number, row)

    def schema(self, read: Callable[[], Iterable[Any]]) -> Schema:
        """See `Source`."""
        return drain(read(), self._types.schema)

    @cached_property
    def _types(self) -> Types:
        return Types(self._read)

    @cached_property
    def _table(self) -> pa.Table:
        table = self._read
        try:
            return table.cast(self._types.plain)
        except Exception as error:  # noqa: BLE001 - pyarrow's own, and Python's
            refuse(self.files[0], f"its columns have no plain form: {error}")

    @cached_property
    def _read(self) -> pa.Table:
        """The rows as they are in the files."""
        import_pyarrow(self.files[0])
        import pyarrow as pa

        tables = [self._of(file) for file in self.files]
        try:
            table = pa.concat_tables(tables, promote_options="permissive")
        except pa.ArrowException as error:
            refuse(self.files[0], f"the files have columns that do not fit each other: {error}")
        if not table.num_rows:
            refuse(self.files[0], "there are no rows")
        return table

    def _of(self, file: str) -> pa.Table:
        import pyarrow as pa

        path = checked(file, most_bytes=None)
        try:
            table = self._parquet(path) if path.suffix.lower() == ".parquet" else self._csv(path)
            # Reading looks at no text: what is not UTF-8 would be found where a row is made.
            table.validate(full=True)
        except (pa.ArrowException, OSError, ValueError) as error:
            refuse(file, f"not {path.suffix}: {error}")
        return table

    def _parquet(self, path: Path) -> pa.Table:
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as opened:
            total = opened.metadata.num_rows
            for number in range(opened.metadata.num_row_groups):
                group = opened.metadata.row_group(number)
                size = group.total_byte_size // max(1, group.num_rows)
                if size > MAX_BYTES:
                    # A few bytes of the file may stand for very many, and pyarrow ends the process where memory ends.
                    raise ValueError(f"rows of {size:,} bytes are more than {MAX_BYTES:,}; take smaller ones")
            return self._spread(opened.iter_batches(_BATCH_ROWS), opened.schema_arrow, total)

    def _csv(self, path: Path) -> pa.Table:
        from pyarrow import csv

        parse = csv.ParseOptions(delimiter="\t" if path.suffix.lower() == ".tsv" else ",", newlines_in_values=True)
        convert = csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""])
        with csv.open_csv(path, parse_options=parse, convert_options=convert) as counted:
            total = sum(batch.num_rows for batch in counted)
        with csv.open_csv(path, parse_options=parse, convert_options=convert) as opened:
            return self._spread(opened, opened.schema, total)

    def _spread(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema, total: int) -> pa.Table:
        """All rows, or as many of them as there may be, evenly spread."""
        import pyarrow as pa

        twice = next((name for name, count in Counter(schema.names).items() if count > 1), None)
        if twice is not None:
            raise ValueError(f"two columns are named {twice!r}")
        step = -(-total // MOST_ROWS) or 1
        kept = []
        start = 0
        for batch in batches:
            first = -start % step
            kept.append(batch if step == 1 else batch.take(pa.array(range(first, batch.num_rows, step), pa.int64())))
            start += batch.num_rows
        self._rows += total
        return pa.Table.from_batches(kept, schema)

    def _message(self, number: int, row: dict[str, Any]) -> Message:
        text = json.dumps(_with_plain_keys(row), default=str).encode()
        return Message(f"row {number + 1}", len(text), zlib.crc32(text), shape_of(row), row)


def _with_plain_keys(value: Any) -> Any:
    """The same with keys that JSON takes, in place of dates and their like."""
    if isinstance(value, dict):
        return {
            key if isinstance(key, str | int | bool) else str(key): _with_plain_keys(item)
            for key, item in value.items()
        }
    return list(map(_with_plain_keys, value)) if isinstance(value, list) else value


def import_pyarrow(file: str) -> None:
    """Make sure that pyarrow is there.

    Raises
    ------
    CodecUnavailableError
        It is not; with the pip command.
    """
    try:
        import pyarrow as pa  # noqa: F401
    except ImportError as error:
        raise CodecUnavailableError(
            f"{file}: rows are read by a library that is not installed ({error}): pip install 'zcser[data]'"
        ) from error
