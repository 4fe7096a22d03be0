"""Rows of an answer as aligned text, CSV or JSON lines, written as they arrive."""

from __future__ import annotations

import csv
import json
import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any, TextIO

from analyzer.runtime.text import for_csv, one_line

WIDEST = 80  # columns of the terminal that one cell pads to; a longer cell pushes its line
_LOOK = 1000  # rows that decide how wide a column is

Cells = Sequence[Any]


def write_rows(
    out: TextIO, head: Sequence[str], rows: Iterable[Cells], form: str | None = None
) -> int:
    """Write rows to `out` and return how many there were.

    form  "csv" (safe for a spreadsheet), "json" (one object a line, keys are `head`) or None (aligned text)
    """
    counted = _Counted(rows)
    if form == "csv":
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([for_csv(name) for name in head])
        for row in counted:
            found = []
            for cell in row:
                value = to_plain_cell(cell)
                found.append(
                    for_csv(
                        value if value is None or isinstance(value, str) else _join_plain(value)
                    )
                )
            writer.writerow(found)
    elif form == "json":
        for row in counted:
            out.write(
                json.dumps(dict(zip(head, map(to_plain_cell, row), strict=True)), ensure_ascii=True)
                + "\n"
            )
    else:
        for line in align_rows(head, counted):
            out.write(line + "\n")
    return counted.count


class _Counted:
    """Rows that are counted on their way."""

    def __init__(self, rows: Iterable[Cells]) -> None:
        self.rows, self.count = rows, 0

    def __iter__(self) -> Iterator[Cells]:
        for row in self.rows:
            self.count += 1
            yield row


def align_rows(head: Sequence[str], rows: Iterable[Cells]) -> Iterator[str]:
    """Yield a heading and rows with their columns below each other, numbers to the right.

    The first thousand rows decide the widths; what comes after is written as it comes.
    """
    coming = iter(rows)
    first = list(islice(coming, _LOOK))
    right = []
    for place in range(len(head)):
        # Whether a column holds numbers and nothing else
        known = [row[place] for row in first if row[place] is not None]
        numbers = bool(known) and all(
            isinstance(cell, int | float) and not isinstance(cell, bool) for cell in known
        )
        right.append(numbers)
    shown = [[to_cell_text(cell) for cell in row] for row in first]
    names = [one_line(name) for name in head]
    widths = [
        min(WIDEST, max(map(_display_width, column))) for column in zip(names, *shown, strict=True)
    ]
    for row in chain([names], shown, ([to_cell_text(cell) for cell in row] for row in coming)):
        cells = []
        for cell, width, is_right in zip(row, widths, right, strict=True):
            blank = " " * max(0, width - _display_width(cell))
            cells.append(blank + cell if is_right else cell + blank)
        yield "  ".join(cells).rstrip()


def _display_width(cell: str) -> int:
    """Return the columns of a terminal that text takes: wide signs take two, combining ones none."""
    if cell.isascii():
        return len(cell)
    return sum(
        0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF")
        for sign in cell
    )


def format_moment(value: datetime) -> str:
    """Return a time as ISO 8601 in UTC; one without a zone is UTC already."""
    inside = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    return inside.isoformat(timespec="auto") + "Z"


def to_plain_cell(cell: Any) -> Any:
    """Return a cell as JSON holds it; a number that is none is null."""
    if cell is None or isinstance(cell, bool | int | str):
        return cell
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if isinstance(cell, datetime):
        return format_moment(cell)
    if isinstance(cell, list | tuple):
        return [to_plain_cell(item) for item in cell]
    if isinstance(cell, dict):
        return {str(key): to_plain_cell(item) for key, item in cell.items()}
    return str(cell)


def to_cell_text(cell: Any) -> str:
    """Return a cell for the terminal: on one line, harmless, `-` for nothing."""
    value = to_plain_cell(cell)
    if value is None:
        return "-"
    return one_line(value if isinstance(value, str) else _join_plain(value))


def _join_plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list) and not any(isinstance(item, list | dict) for item in value):
        return ", ".join("-" if item is None else str(item) for item in value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value)
