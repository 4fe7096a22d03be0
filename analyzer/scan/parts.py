"""Logs whose lines are in the files of another log: a file is searched once, for all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from analyzer.artefacts import logtime
from analyzer.artefacts.tables import Table, Tables
from analyzer.scan.hits import LogScan, decode_line


def parts_of(tables: Iterable[Table], log: str, address: str, scope: str) -> list[LogScan]:
    """Return the empty scans of the further logs whose lines a member of `log` holds, all of them or some."""
    found = []
    for table in tables:
        some = log in table.partly or log in table.copied_in
        if some or log in table.inside:
            why = (
                f"{address} holds only some lines of {table.name}; all stand in {table.ask}"
                if some
                else ""
            )
            found.append(LogScan(table.name, address, scope, excerpt=why, part_of=log))
    return found


def is_copy(scan: LogScan, tables: Tables) -> bool:
    """Say whether a scan found lines of a log in another one that repeats them."""
    return (
        bool(scan.part_of) and scan.table in tables and scan.part_of in tables[scan.table].copied_in
    )


def find_needless(scans: Sequence[LogScan], tables: Tables) -> list[LogScan]:
    """Return the scans of copies on machines that sent a file of the log itself; call it when scans are named.

    A copy that reaches further back than the log, whose older files were rotated away, is not among them: it keeps its
    lines from before the log begins, and tells nothing of the time that the log covers.
    """
    copies = [scan for scan in scans if is_copy(scan, tables)]
    if not copies:
        return []
    begins: dict[tuple[str, str], str] = {}
    for scan in scans:
        if not scan.excerpt and not is_copy(scan, tables):
            begun, place = _find_begin(scan), (scan.node, scan.table)
            begins[place] = min(begun, begins.get(place, begun))
    return [scan for scan in copies if _is_covered(scan, begins)]


def _find_begin(scan: LogScan) -> str:
    """Return the time of the first line, "" where it is not known."""
    return logtime.format_iso(decode_line(scan.first_stamped)) if scan.first_stamped else ""


def _is_covered(copy: LogScan, begins: Mapping[tuple[str, str], str]) -> bool:
    """Say whether the log itself holds all lines of its copy; one that begins earlier keeps only the lines before."""
    begin = begins.get((copy.node, copy.table))
    if begin is None:
        return False
    if not "" < _find_begin(copy) < begin:
        return True
    older = [hit for hit in copy.hits if "" < logtime.format_iso(hit.text) < begin]
    if not older:
        return True
    kept = Counter(hit.signature for hit in older)
    # The first hits of a signature are kept: with fewer than those, all that are older are there.
    capped = {name for name in copy.capped if kept[name] >= len(copy.of(name)) - 1}
    copy.hits, copy.capped = older, capped
    copy.at_least |= capped
    copy.last_hits = {}
    copy.counts = {name: kept[name] for name in copy.counts}
    copy.tallies, copy.excerpt = {}, ""
    copy.lines = copy.bytes = 0
    copy.first = copy.last = copy.first_stamped = copy.last_stamped = (
        b""  # it covers no time of the log
    )
    return False
