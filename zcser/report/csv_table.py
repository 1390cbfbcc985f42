"""A table as CSV (RFC 4180, but lines end in a bare LF): what spreadsheets and data frames read."""

from __future__ import annotations

import csv
import io

from zcser.report.model import Table

__all__ = ["render"]


def render(table: Table) -> str:
    """The table's CSV, a header line first."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(column.title for column in table.columns)
    writer.writerows([entry.figure for entry in row] for row in table.rows)
    return out.getvalue()
