"""Logs whose lines stand in the files of another log: a file is searched once, for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from analyzer.scan.hits import LogScan
from analyzer.tables import Table


def parts_of(tables: Iterable[Table], log: str, address: str, scope: str) -> list[LogScan]:
    """Return the empty scans of the further logs whose lines a member of `log` holds, all of them or some."""
    found = []
    for table in tables:
        some = log in table.partly or log in table.copied_in
        if some or log in table.inside:
            why = f"{address} holds only some lines of {table.name}; all stand in {table.ask}" if some else ""
            found.append(LogScan(table.name, address, scope, excerpt=why, part_of=log))
    return found


def is_copy(scan: LogScan, tables: Mapping[str, Table]) -> bool:
    """Tell whether a scan found lines of a log in another one that repeats them."""
    return bool(scan.part_of) and scan.table in tables and scan.part_of in tables[scan.table].copied_in


def needless(scans: Sequence[LogScan], tables: Mapping[str, Table]) -> list[LogScan]:
    """Return the scans of copies on machines that sent a file of the log itself; call it when scans are named."""
    copies = [scan for scan in scans if is_copy(scan, tables)]
    if not copies:
        return []
    own = {(scan.node, scan.table) for scan in scans if not scan.excerpt and not is_copy(scan, tables)}
    return [scan for scan in copies if (scan.node, scan.table) in own]
