"""`backline tables`: what was parsed, with the origin of every row."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.pipeline.case_tables import CaseTables, declared, lost, plain_names, read, row_counts
from analyzer.report.wording import join_few
from analyzer.runtime.errors import RefusedError, UsageError, WriteError
from analyzer.runtime.text import for_csv, for_terminal, one_line
from analyzer.sources.remote import Place

if TYPE_CHECKING:
    import duckdb
    import pandas as pd


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Which rows of a table are wanted; nothing chooses all.

    nodes   machines by name, its first label or a pattern such as `esx*`, in any case
    where   a condition over the columns, as SQL has it: `rx_missed > 0 AND driver = 'ixgben'`; a text may stand in
            double quotes, as in the language of rules
    since   first and last moment of rows that tell a time, UTC; None for any
    most    rows that are printed, 0 for all
    """

    nodes: tuple[str, ...] = ()
    where: str = ""
    since: datetime | None = None
    until: datetime | None = None
    most: int = 0

    def __bool__(self) -> bool:
        return bool(self.nodes or self.where or self.since or self.most)

    def only_nodes(self) -> RowFilter:
        """Return the choice of machines alone."""
        return RowFilter(nodes=self.nodes)

    def of(self, frame: pd.DataFrame, times: list[str]) -> tuple[pd.DataFrame, int]:
        """Return the wanted rows of a frame in their order, and how many there were without `most`.

        times  columns that tell a time; a row whose times are all unknown is not in any stretch
        Raises UsageError for a condition that cannot be asked, and for a stretch of a table without times.
        """
        wanted = [f"({self.where}\n)"] if self.where else []
        values: list[Any] = []
        if self.nodes:
            called = [
                "lower(node) GLOB lower(?) OR lower(split_part(node, '.', 1)) = lower(?)"
            ] * len(self.nodes)
            wanted.append(f"({' OR '.join(called)})")
            values += [word for word in self.nodes for _ in range(2)]
        if self.since is not None and self.until is not None:
            if not times:
                raise UsageError("the rows of this table tell no time", do="Leave --around out.")
            between = " OR ".join([f'"{name}" BETWEEN ? AND ?' for name in times])
            wanted.append(f"({between})")
            values += [self.since.replace(tzinfo=None), self.until.replace(tzinfo=None)] * len(
                times
            )
        found = _asked(frame, " AND ".join(wanted), values) if wanted else frame
        return (found.head(self.most) if self.most else found), len(found)


def _asked(frame: pd.DataFrame, condition: str, values: list[Any]) -> pd.DataFrame:
    """Return the rows for which a condition is true; it sees this table alone, no file and no other table."""
    import duckdb  # noqa: PLC0415 - heavy

    named = plain_names(frame).assign(_place=range(len(frame)))
    condition = _texts_in_single_quotes(condition, {str(name).lower() for name in named.columns})
    with duckdb.connect(config={"enable_external_access": "false"}) as con:
        con.execute("SET python_enable_replacements=false")
        con.register("rows", named)
        con.execute("SET lock_configuration=true")
        try:
            found = con.execute(
                f"SELECT _place FROM rows WHERE {condition} ORDER BY _place", values
            ).fetchall()
        except duckdb.Error as error:
            do = f"Columns: {', '.join(str(name) for name in named.columns[:-1])}."
            raise UsageError(
                "the condition cannot be asked", why=one_line(_said(error), 200), do=do
            ) from None
    return frame.iloc[[place for (place,) in found]]


def _texts_in_single_quotes(condition: str, columns: Collection[str]) -> str:
    """Return a condition of SQL whose `"texts"` are texts: such are columns there, or a mistake."""

    def own(found: re.Match[str]) -> str:
        inside = found[1]
        if inside is None or inside.lower() in columns:
            return found[0]
        return "'" + inside.replace("'", "''") + "'"

    return re.sub(r"""'(?:[^']|'')*'|"([^"\n]*)\"""", own, condition)


def _said(error: duckdb.Error) -> str:
    return str(error).partition("\n")[0]


def coverage(path: Place, form: str | None) -> list[str]:
    """Print every table that was filled from `path`: rows and members, then what nobody read; return what was lost.

    Raises RefusedError, after that, when no table was filled.
    """
    intake, ledger, facts = read([path], None)
    rows = row_counts(intake, facts)
    lines: Counter[str] = Counter()
    for scan in intake.scans:
        lines[scan.table] += scan.lines
    states = Counter(source.state for source in ledger.sources)
    summary = {
        "rows": dict(sorted(rows.items())),
        "log_lines": dict(sorted(lines.items())),
        "members": dict(sorted(states.items())),
        "lines_not_understood": intake.faults_total,
    }
    _print_coverage(summary, form)
    if not rows and not lines:
        why = next(
            (f"{one.address}: {one.why}" for one in ledger.sources if one.why), "no file was found"
        )
        raise RefusedError(
            "no table was filled",
            where=str(path),
            why=why,
            do="Give a bundle, or files it is made of.",
        )
    return lost(ledger)


def _print_coverage(summary: dict[str, Any], form: str | None) -> None:
    if form == "json":
        print(json.dumps(summary, indent=1))
        return
    records = [(name, count, "rows") for name, count in summary["rows"].items()]
    records += [(name, count, "lines searched") for name, count in summary["log_lines"].items()]
    if form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(["table", "count", "what"])
        writer.writerows(records)
        return
    for name, count, what in records:
        print(f"{name:32s} {count:>10,} {what}")
    print(
        f"\nmembers: {', '.join(f'{count} {state}' for state, count in summary['members'].items())}"
    )
    print(f"lines not understood: {summary['lines_not_understood']}")


def print_table(
    path: Place, table: str, form: str | None, wanted: RowFilter | None = None
) -> list[str]:
    """Print the rows of one table, CSV cells made safe for a spreadsheet; return what of the material was lost.

    Raises UsageError for a table that no parser declares. What is not printed is counted on standard error.
    """
    frame, all_, gone = _chosen(path, table, wanted or RowFilter())
    names = [str(name) for name in frame.columns]
    rows = frame.itertuples(index=False, name=None)
    if form == "json":
        for row in rows:
            print(json.dumps(dict(zip(names, map(_plain, row), strict=True)), ensure_ascii=True))
    elif form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow([name.lstrip("_") for name in names])
        writer.writerows([for_csv(_plain(cell)) for cell in row] for row in rows)
    else:
        for line in _aligned(
            [name.lstrip("_") for name in names], [[_text(cell) for cell in row] for row in rows]
        ):
            print(line)
    if len(frame) < all_:
        print(f"backline: {all_ - len(frame):,} more rows; --limit 0 prints all", file=sys.stderr)
    return gone


def write_parquet(path: Place, table: str, file: Path, wanted: RowFilter) -> tuple[int, list[str]]:
    """Write the rows of one table as Parquet, whole or not at all; return their number, and what was lost.

    Its origin is in the columns `node`, `member` and `line`. Raises UsageError as `print_table`, WriteError.
    """
    import duckdb  # noqa: PLC0415 - heavy

    frame, _, gone = _chosen(path, table, wanted)
    part = file.with_name(f".{file.name}.part")
    try:
        with duckdb.connect() as con:
            con.register("rows", plain_names(frame))
            target = str(part).replace("'", "''")
            con.execute(f"COPY rows TO '{target}' (FORMAT parquet, COMPRESSION zstd)")
        part.replace(file)
    except (OSError, duckdb.Error) as error:
        why = getattr(error, "strerror", "") or one_line(
            _said(error) if isinstance(error, duckdb.Error) else "", 200
        )
        raise WriteError(
            "cannot write the table", where=str(file), why=why, do="Give another file."
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return len(frame), gone


def _chosen(path: Place, name: str, wanted: RowFilter) -> tuple[pd.DataFrame, int, list[str]]:
    table = declared(name)
    times = [column.name for column in table.columns if column.kind == "time"]
    tables = CaseTables([path])
    whole = tables.frame(name)
    frame, number = wanted.of(whole, times)
    if wanted.nodes and len(whole) and not len(wanted.only_nodes().of(whole, times)[0]):
        do = f"{name} has {join_few(sorted(set(whole['node'])), 10)}."
        raise UsageError(f"no machine with such rows is called {' or '.join(wanted.nodes)}", do=do)
    return frame, number, tables.lost


def _plain(cell: Any) -> Any:
    if cell is None or str(cell) in ("NaT", "<NA>", "nan"):
        return None
    if hasattr(cell, "item"):
        return cell.item()
    return cell if isinstance(cell, int | float | bool | str) else str(cell)


def _text(cell: Any) -> str:
    plain = _plain(cell)
    return "-" if plain is None else for_terminal(str(plain)).replace("\n", " ")


def _aligned(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    widths = [min(60, max(len(row[i]) for row in [head, *rows])) for i in range(len(head))]
    for row in [head, *rows]:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
