"""`backline tables`: what was parsed, with the origin of every row."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from analyzer import parsing
from analyzer.errors import UsageError
from analyzer.facts import Facts, made
from analyzer.facts.site_signs import SITE_SIGNATURES
from analyzer.ingest.intake import Intake
from analyzer.ingest.nodes import resolve
from analyzer.limits import Limits
from analyzer.logtime import stamped
from analyzer.parsing import Parser
from analyzer.scan.hits import LogScan, Signature
from analyzer.scan.signatures import Scanner
from analyzer.sources import Ledger
from analyzer.sources.kinds import KindFinder
from analyzer.sources.remote import Place
from analyzer.tables import Block, Row, name_blocks
from analyzer.text import for_csv, for_terminal
from analyzer.triage import Options, gather, read_case

_TOGETHER = 500  # lines of a log that are parsed at once, and more until the next head
ORIGIN = ("node", "_source", "_line")


def coverage(path: Place, form: str | None) -> None:
    """Print every table that was filled from `path`: rows and members, then what nobody read."""
    intake, ledger, facts = _read(path, None)
    rows: Counter[str] = Counter(row.table.name for row in intake.rows)
    rows += Counter({name: facts.count(name) for name in made.made()})
    for frame in intake.frames:
        rows[frame.table.name] += len(frame.line)
    lines: Counter[str] = Counter()
    for scan in intake.scans:
        lines[scan.table] += scan.lines
    states = Counter(source.state for source in ledger.sources)
    if form == "json":
        summary = {
            "rows": dict(sorted(rows.items())),
            "log_lines": dict(sorted(lines.items())),
            "members": dict(sorted(states.items())),
            "lines_not_understood": intake.faults_total,
        }
        print(json.dumps(summary, indent=1))
        return
    records = [(name, count, "rows") for name, count in sorted(rows.items())]
    records += [(name, count, "lines searched") for name, count in sorted(lines.items())]
    if form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(["table", "count", "what"])
        writer.writerows(records)
        return
    for name, count, what in records:
        print(f"{name:32s} {count:>10,} {what}")
    print(f"\nmembers: {', '.join(f'{count} {state}' for state, count in sorted(states.items()))}")
    print(f"lines not understood: {intake.faults_total}")


def print_table(path: Place, table: str, form: str | None) -> None:
    """Print the rows of one table; CSV cells are made safe for a spreadsheet.

    Raises UsageError for a table that no parser declares.
    """
    known = parsing.tables()
    if table not in known:
        near = get_close_matches(table, list(known), 1)
        raise UsageError(
            f"no parser makes table {table}",
            do=f"Did you mean {near[0]}?" if near else "`backline tables PATH` lists the tables.",
        )
    _intake, _ledger, facts = _read(path, table if known[table].log else None)
    frame = facts.frame(table)
    names = [*[name for name in ORIGIN if name in frame.columns], *[column.name for column in known[table].columns]]
    rows = frame[names].itertuples(index=False, name=None)
    if form == "json":
        for row in rows:
            print(json.dumps(dict(zip(names, map(_plain, row), strict=True)), ensure_ascii=True))
    elif form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow([name.lstrip("_") for name in names])
        writer.writerows([for_csv(_plain(cell)) for cell in row] for row in rows)
    else:
        for line in _aligned([name.lstrip("_") for name in names], [[_text(cell) for cell in row] for row in rows]):
            print(line)


def _read(path: Place, log_table: str | None) -> tuple[Intake, Ledger, Facts]:
    """Read a case without judging it; of one log every line is taken as a hit."""
    signatures = [Signature("every line", log_table, r"\S")] if log_table else [*SITE_SIGNATURES]
    options = Options(limits=Limits(hits_per_signature=10_000_000))
    ledger, kinds = Ledger(), KindFinder()
    intake = read_case([path], ledger, kinds, Scanner(signatures, limits=options.limits), options)
    facts = gather(intake, resolve(intake, kinds), ledger, every=True)
    made.put(facts)
    if log_table:
        parser = next(item for item in parsing.registry().values() if item.log and item.tables[0].name == log_table)
        for scan in intake.scans:
            for row in _rows(parser, scan):
                facts.add(row)
    return intake, ledger, facts


def _rows(parser: Parser, scan: LogScan) -> Iterator[Row]:
    """Yield the rows of a log of which every line was kept."""
    for block in _messages(scan):
        rows = [item for item in parser.parse(block) if isinstance(item, Row)]
        name_blocks(rows, lambda _scope: scan.node)
        yield from rows


def _messages(scan: LogScan) -> Iterator[Block]:
    """Yield the lines of a log that was searched, those that continue a message together with its head.

    Where other logs wrote lines in between there are blank ones: the numbers stay those of the file.
    """
    lines: list[str] = []
    first = 0
    for hit in scan.hits:
        far = hit.line - first - len(lines)
        if lines and ((len(lines) >= _TOGETHER and stamped(hit.text.encode("utf-8", "replace"))) or far > _TOGETHER):
            yield Block(lines, first, scan.address, scan.scope)
            lines = []
        if not lines:
            first = hit.line
        lines += [""] * (hit.line - first - len(lines))
        lines.append(hit.text)
    if lines:
        yield Block(lines, first, scan.address, scan.scope)


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
