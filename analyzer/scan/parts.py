"""Logs whose lines stand in the files of another log: a file is searched once, for all of them."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.scan.hits import LogScan
from analyzer.tables import Table


def parts_of(tables: Iterable[Table], log: str, address: str, scope: str) -> list[LogScan]:
    """Return the empty scans of the further logs whose lines a member of `log` holds, all of them or some."""
    found = []
    for table in tables:
        if log in table.inside or log in table.partly:
            why = (
                f"{address} holds only some lines of {table.name}; all stand in {table.ask}"
                if log in table.partly
                else ""
            )
            found.append(LogScan(table.name, address, scope, excerpt=why, part_of=log))
    return found
