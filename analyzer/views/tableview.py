"""`backline tables`: what was parsed, with the origin of every row."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from analyzer.pipeline.case_tables import (
    CaseTables,
    find_table,
    list_losses,
    plain_names,
    read_tables,
    row_counts,
)
from analyzer.report.wording import join_few
from analyzer.runtime.errors import RefusedError, UsageError, WriteError
from analyzer.runtime.text import for_csv, for_terminal, one_line
from analyzer.sources.remote import Place

if TYPE_CHECKING:
    import pandas as pd

_CALLED = "lower(node) GLOB lower(?) OR lower(split_part(node, '.', 1)) = lower(?)"


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Which rows of a table are wanted; nothing chooses all.

    nodes   machines by name, its first label or a pattern such as `esx*`, in any case
    where   a condition over the columns, as SQL has it: `rx_missed > 0 AND driver = 'ixgben'`; a text may have
            double quotes, as in the language of rules
    since   first and last moment of rows that have a time, UTC; None for any
    most    rows that are printed, 0 for all
    """

    nodes: tuple[str, ...] = ()
    where: str = ""
    since: datetime | None = None
    until: datetime | None = None
    most: int = 0

    def __bool__(self) -> bool:
        return bool(self.nodes or self.where or self.since or self.most)

    def choose_rows(self, frame: pd.DataFrame, times: list[str]) -> pd.DataFrame:
        """Return the wanted rows of a frame in their order, however many they are.

        times  columns that hold a time; a row whose times are all unknown is not in any stretch
        Raises UsageError for a condition that cannot be asked, and for a stretch of a table without times.
        """
        wanted = []
        values: list[Any] = []
        if self.where:
            wanted.append(f"({self.where}\n)")
        if self.nodes:
            wanted.append(f"({' OR '.join([_CALLED] * len(self.nodes))})")
            for name in self.nodes:
                values += [name, name]
        if self.since is not None and self.until is not None:
            if not times:
                raise UsageError("the rows of this table tell no time", do="Leave --around out.")
            between = " OR ".join(f'"{name}" BETWEEN ? AND ?' for name in times)
            wanted.append(f"({between})")
            ends = [self.since.replace(tzinfo=None), self.until.replace(tzinfo=None)]
            values += ends * len(times)
        if wanted:
            return query_rows(frame, " AND ".join(wanted), values)
        return frame


def query_rows(frame: pd.DataFrame, condition: str, values: list[Any]) -> pd.DataFrame:
    """Return the rows for which a condition is true; it sees this table alone, no file and no other table."""

    named = plain_names(frame).assign(_place=range(len(frame)))
    columns = {str(name).lower() for name in named.columns}

    def quote_text(found: re.Match[str]) -> str:
        # A `"text"` is a column in SQL, or a mistake there.
        inside = found[1]
        if inside is None or inside.lower() in columns:
            return found[0]
        return "'" + inside.replace("'", "''") + "'"

    condition = re.sub(r"""'(?:[^']|'')*'|"([^"\n]*)\"""", quote_text, condition)
    with duckdb.connect(config={"enable_external_access": "false"}) as con:
        con.execute("SET python_enable_replacements=false")
        con.register("rows", named)
        con.execute("SET lock_configuration=true")
        query = f"SELECT _place FROM rows WHERE {condition} ORDER BY _place"
        try:
            found = con.execute(query, values).fetchall()
        except duckdb.Error as error:
            why = one_line(read_first_line(error), 200)
            do = f"Columns: {', '.join(str(name) for name in named.columns[:-1])}."
            raise UsageError("the condition cannot be asked", why=why, do=do) from None
    return frame.iloc[[place for (place,) in found]]


def read_first_line(error: Exception) -> str:
    """Return what an error says in its first line."""
    return str(error).partition("\n")[0]


def print_coverage(path: Place, form: str | None) -> list[str]:
    """Print every table that was filled from `path`: rows and members, then what no one read; return what was lost.

    Raises RefusedError, after that, when no table was filled.
    """
    intake, ledger, facts = read_tables([path], None)
    rows = dict(sorted(row_counts(intake, facts).items()))
    searched: Counter[str] = Counter()
    for scan in intake.scans:
        searched[scan.table] += scan.lines
    lines = dict(sorted(searched.items()))
    states = Counter(source.state for source in ledger.sources)
    members = dict(sorted(states.items()))
    faults = intake.faults_total
    records = [(name, count, "rows") for name, count in rows.items()]
    records += [(name, count, "lines searched") for name, count in lines.items()]
    if form == "json":
        summary = {
            "rows": rows,
            "log_lines": lines,
            "members": members,
            "lines_not_understood": faults,
        }
        print(json.dumps(summary, indent=1))
    elif form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(["table", "count", "what"])
        writer.writerows(records)
    else:
        for name, count, what in records:
            print(f"{name:32s} {count:>10,} {what}")
        print(f"\nmembers: {', '.join(f'{count} {state}' for state, count in members.items())}")
        print(f"lines not understood: {faults}")
    if not records:
        reasons = (f"{source.address}: {source.why}" for source in ledger.sources if source.why)
        raise RefusedError(
            "no table was filled",
            where=str(path),
            why=next(reasons, "no file was found"),
            do="Give a bundle, or files it is made of.",
        )
    return list_losses(ledger)


def print_table(
    path: Place, table: str, form: str | None, wanted: RowFilter | None = None
) -> list[str]:
    """Print the rows of one table, CSV cells made safe for a spreadsheet; return what of the material was lost.

    Raises UsageError for a table that no parser declares. What is not printed is counted on standard error.
    """
    wanted = wanted or RowFilter()
    found, gone = read_rows(path, table, wanted)
    if wanted.most:
        frame = found.head(wanted.most)
    else:
        frame = found
    names = [str(name) for name in frame.columns]
    titles = [name.lstrip("_") for name in names]
    rows = ([unpack_cell(cell) for cell in row] for row in frame.itertuples(index=False, name=None))
    if form == "json":
        for row in rows:
            print(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=True))
    elif form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(titles)
        writer.writerows([for_csv(cell) for cell in row] for row in rows)
    else:
        for line in align_columns([titles, *([print_cell(cell) for cell in row] for row in rows)]):
            print(line)
    more = len(found) - len(frame)
    if more:
        print(f"backline: {more:,} more rows; --limit 0 prints all", file=sys.stderr)
    return gone


def write_parquet(path: Place, table: str, file: Path, wanted: RowFilter) -> tuple[int, list[str]]:
    """Write the rows of one table as Parquet, whole or not at all; return their number, and what was lost.

    Its origin is in the columns `node`, `member` and `line`. Raises UsageError as `print_table`, WriteError.
    """

    frame, gone = read_rows(path, table, wanted)
    if wanted.most:
        frame = frame.head(wanted.most)
    part = file.with_name(f".{file.name}.part")
    target = str(part).replace("'", "''")
    try:
        with duckdb.connect() as con:
            con.register("rows", plain_names(frame))
            con.execute(f"COPY rows TO '{target}' (FORMAT parquet, COMPRESSION zstd)")
        part.replace(file)
    except (OSError, duckdb.Error) as error:
        why = getattr(error, "strerror", "") or ""
        if not why and isinstance(error, duckdb.Error):
            why = one_line(read_first_line(error), 200)
        do = "Give another file."
        raise WriteError("cannot write the table", where=str(file), why=why, do=do) from error
    finally:
        part.unlink(missing_ok=True)
    return len(frame), gone


def read_rows(path: Place, name: str, wanted: RowFilter) -> tuple[pd.DataFrame, list[str]]:
    """Return the wanted rows of a table, and what of the material was lost."""
    table = find_table(name)
    times = [column.name for column in table.columns if column.kind == "time"]
    tables = CaseTables([path])
    whole = tables.frame(name)
    frame = wanted.choose_rows(whole, times)
    if wanted.nodes and len(whole):
        of_nodes = RowFilter(nodes=wanted.nodes).choose_rows(whole, times)
        if not len(of_nodes):
            known = join_few(sorted(set(whole["node"])), 10)
            what = f"no machine with such rows is called {' or '.join(wanted.nodes)}"
            raise UsageError(what, do=f"{name} has {known}.")
    return frame, tables.lost


def unpack_cell(cell: Any) -> Any:
    """Return a cell of pandas as Python has it, None for one without a value."""
    if cell is None or str(cell) in ("NaT", "<NA>", "nan"):
        return None
    if hasattr(cell, "item"):
        return cell.item()
    if isinstance(cell, int | float | bool | str):
        return cell
    return str(cell)


def print_cell(cell: Any) -> str:
    """Return a cell as the terminal shows it."""
    if cell is None:
        return "-"
    return for_terminal(str(cell)).replace("\n", " ")


def align_columns(rows: Iterable[list[str]]) -> Iterator[str]:
    """Yield rows, the first of them the titles, with their cells below each other."""
    table = list(rows)
    widths = []
    for column in zip(*table, strict=True):
        widths.append(min(60, max(map(len, column))))
    for row in table:
        cells = []
        for cell, width in zip(row, widths, strict=True):
            cells.append(cell.ljust(width))
        yield "  ".join(cells).rstrip()
