"""Keeps the bundles of one machine apart: each is a moment of it, and the older say nothing of the newest.

A folder with two bundles of a host is one machine. Of a table that both hold, the rows of the newest count: a port that
is in both is no second port, and uptime and time of the capture are of one bundle. Logs run on over all of them. What
the newest does not hold is taken from the one before it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from analyzer.artefacts.tables import Row
from analyzer.ingest.intake import Intake
from analyzer.ingest.nodes import Node

# What tells the hardware of one bundle from that of another: table and column.
_MARKS = {"esxi.platform": "serial_number", "esxi.pnic": "mac", "esxi.ens_uplink": "mac"}


def set_aside_older(intake: Intake, nodes: Mapping[str, Node]) -> None:
    """Take the rows of older bundles out where a newer one of the same machine has the table, and say so.

    Call it after `name_records`. Bundles of one name and other hardware stay as they are.
    """
    taken_at = {}
    for node in {id(node): node for node in nodes.values()}.values():
        times = {key: time for key, time in node.captures.items() if time}
        if len({*times.values()}) > 1 and not are_other_hardware(times, intake.rows):
            taken_at.update(times)
    if not taken_at:
        return
    newest: defaultdict[tuple[str, str], str] = defaultdict(str)
    places = [(row.block.scope, row.table.name) for row in intake.rows]
    places += [(cover.place.key, cover.table) for cover in intake.covers]
    for key, table in {*places}:
        if key in taken_at:
            owner = nodes[key].id
            newest[owner, table] = max(newest[owner, table], taken_at[key])

    def is_older(key: str, table: str) -> bool:
        """Say whether a newer bundle of the machine has a table."""
        return key in taken_at and taken_at[key] < newest[nodes[key].id, table]

    logs = {scan.table for scan in intake.scans}
    kept = [row for row in intake.rows if not is_older(row.block.scope, row.table.name)]
    if len(kept) == len(intake.rows):
        return
    gone = {row.block.scope for row in intake.rows} & taken_at.keys()
    intake.rows = kept
    intake.covers = [
        cover
        for cover in intake.covers
        if cover.table in logs or not is_older(cover.place.key, cover.table)
    ]
    intake.taken = []  # their places no longer fit
    named = {nodes[key].id: nodes[key] for key in sorted(gone)}
    for node in named.values():
        moments = sorted({time for key, time in node.captures.items() if key in taken_at})
        node.warnings.append(
            f"{len(moments)} captures of it are here ({', '.join(moments)}): of what more than one holds the newest "
            "counts, logs are read as one; give the bundles to `backline compare` for what changed between them"
        )


def are_other_hardware(times: Mapping[str, str], rows: Iterable[Row]) -> bool:
    """Say whether two bundles of one name are of other hardware: marks of both are known, and none is the same."""
    marks: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        column = _MARKS.get(row.table.name)
        if column is not None and row.block.scope in times:
            text = str(row.values.get(column) or "").lower()
            if text:
                marks[row.block.scope][column].add(text)
    known = [marks[key] for key in times if key in marks]
    for one in known:
        for other in known:
            shared = one.keys() & other.keys()
            if shared and all(one[column].isdisjoint(other[column]) for column in shared):
                return True
    return False
