"""Lines that look bad and are not: counted while logs are searched, and never seen by a rule.

Their signatures run beside those of the rules and only count (`Signature.kind_of`): no line of them is kept, so that
neither the facts nor the archive nor a limit of kept lines knows of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analyzer.artefacts import logtime
from analyzer.artefacts.tables import Table, Value
from analyzer.ingest.intake import Intake
from analyzer.scan.hits import LogScan, Signature, Tally
from analyzer.scan.tallies import find_counted

TABLE = "kb.harmless_line"
_PREFIX = "harmless/"


def rows_of(tables: Mapping[str, Table]) -> dict[str, Mapping[str, Value]]:
    """Return the rows of the catalog by id; none when the catalog has no such table."""
    table = tables.get(TABLE)
    return {str(cells["id"]): cells for cells in table.own_rows} if table else {}


def signatures(rows: Mapping[str, Mapping[str, Value]]) -> list[Signature]:
    """Return what to look for, a signature for each row."""
    return [
        Signature(_PREFIX + key, str(row["log"]), str(row["pattern"]), kind_of=_any_line)
        for key, row in rows.items()
    ]


def _any_line(_text: str) -> str:
    return "line"


def harmless_records(
    intake: Intake, rows: Mapping[str, Mapping[str, Value]]
) -> list[dict[str, Any]]:
    """Return a record for each row and node that has such lines, the most frequent first.

    Call it when scans are named and duplicates are out.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for scan, key, _, tally in find_counted(intake.scans, _PREFIX):
        record = found.setdefault((key, scan.node), _record(key, rows[key], scan, tally))
        record["count"] += tally.count
        times = [
            *filter(None, (record["first"], record["last"], *map(_time, (tally.first, tally.last))))
        ]
        record["first"], record["last"] = min(times, default=""), max(times, default="")
    return sorted(found.values(), key=lambda one: (-one["count"], one["id"], one["node"]))


def _time(line: tuple[int, str]) -> str:
    return logtime.format_iso(line[1])


def _record(key: str, row: Mapping[str, Value], scan: LogScan, tally: Tally) -> dict[str, Any]:
    words = {name: str(row.get(name) or "") for name in ("title", "text", "unless", "log")}
    kb = [int(number) for number in str(row.get("kb") or "").split()]
    source = [f"{TABLE}, {key}: {row['source']} ({row['mark']})"]
    place = {"address": scan.address, "line": tally.first[0]}
    return {
        "id": key,
        "node": scan.node,
        "count": 0,
        "first": "",
        "last": "",
        **words,
        "kb": kb,
        "source": source,
    } | place
