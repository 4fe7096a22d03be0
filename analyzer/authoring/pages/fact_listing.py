"""What each table of the catalog knows: its rows, the releases it speaks of, its newest day, and when it was checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analyzer.artefacts.tables import Table, Tables, Value
from analyzer.facts.database import version_key
from analyzer.runtime.text import for_terminal

_DAYS = ("date", "issued", "released")  # columns that say how new a row is
_RELEASES = ("line", "version", "esxi_since")  # columns that say which release a row speaks of
_UNKNOWN = "-"


@dataclass(frozen=True, slots=True)
class ListedFacts:
    """One table of the catalog as `backline rules catalog` shows it; a day that no row has is ""."""

    table: str
    rows: int
    knows: str
    newest: str
    checked: str


def list_facts(tables: Tables) -> list[ListedFacts]:
    """Return what each table of the catalog knows, by name."""
    found = []
    for name, table in sorted(tables.items()):
        if table.given is None:
            continue
        rows = list(table.own_rows)
        days = [str(row[key])[:10] for row in rows for key in _DAYS if row.get(key)]
        newest = max(days, default="")
        found.append(
            ListedFacts(name, len(rows), describe_scope(table, rows), newest, table.checked)
        )
    return found


def describe_scope(table: Table, rows: Sequence[Mapping[str, Value]]) -> str:
    """Return the releases that rows speak of, from the first to the last; else how many things they name."""
    for column in _RELEASES:
        spoken = {str(row[column]) for row in rows if row.get(column)}
        if spoken and all(version_key(one) is not None for one in spoken):
            ordered = sorted(spoken, key=lambda one: version_key(one) or "")
            span = ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"
            return f"{span} ({len(ordered)})"
    column = table.key[0]
    return f"{len({row.get(column) for row in rows})} of {column}"


def write_lines(listed: Iterable[ListedFacts]) -> list[str]:
    """Return the list as lines for a terminal, with a head."""
    head = ("table", "rows", "knows", "newest", "checked")
    cells = [head]
    for one in listed:
        days = (one.newest or _UNKNOWN, one.checked or _UNKNOWN)
        cells.append((one.table, f"{one.rows:,}", one.knows, *days))
    widths = [max(len(row[place]) for row in cells) for place in range(len(head))]
    lines = []
    for row in cells:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(for_terminal("  ".join(padded).rstrip()))
    return lines
