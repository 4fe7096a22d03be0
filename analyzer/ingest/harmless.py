"""Lines that look bad and are not: counted while logs are searched, and never seen by a rule.

Their signatures run next to those of the rules and only count (`Signature.kind_of`): no line of them is kept, so that
neither the facts nor the archive nor a limit of kept lines knows of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analyzer.artefacts import logtime
from analyzer.artefacts.tables import Tables, Value
from analyzer.ingest.intake import Intake
from analyzer.scan.hits import Signature
from analyzer.scan.tallies import find_counted

TABLE = "kb.harmless_line"
_PREFIX = "harmless/"


def read_harmless_rows(tables: Tables) -> dict[str, Mapping[str, Value]]:
    """Return the rows of the catalog by id; none when the catalog has no such table."""
    table = tables.get(TABLE)
    return {str(cells["id"]): cells for cells in table.own_rows} if table else {}


def make_signatures(rows: Mapping[str, Mapping[str, Value]]) -> list[Signature]:
    """Return what to look for, a signature for each row."""
    signatures = []
    for key, row in rows.items():
        log, pattern = str(row["log"]), str(row["pattern"])
        signatures.append(Signature(_PREFIX + key, log, pattern, kind_of=lambda _text: "line"))
    return signatures


def make_harmless_records(
    intake: Intake, rows: Mapping[str, Mapping[str, Value]]
) -> list[dict[str, Any]]:
    """Return a record for each row and node that has such lines, the most frequent first.

    Call it when scans are named and duplicates are out.
    """
    records: dict[tuple[str, str], dict[str, Any]] = {}
    for scan, key, _, tally in find_counted(intake.scans, _PREFIX):
        record = records.get((key, scan.node))
        if record is None:
            record = _make_record(key, scan.node, rows[key])
            record |= {"address": scan.address, "line": tally.first[0]}
            records[key, scan.node] = record
        record["count"] += tally.count
        found = [logtime.format_iso(text) for _, text in (tally.first, tally.last)]
        times = [time for time in (record["first"], record["last"], *found) if time]
        record["first"] = min(times, default="")
        record["last"] = max(times, default="")
    return sorted(records.values(), key=lambda one: (-one["count"], one["id"], one["node"]))


def _make_record(key: str, node: str, row: Mapping[str, Value]) -> dict[str, Any]:
    """Return the record of a row before its first line was counted."""
    record: dict[str, Any] = {"id": key, "node": node, "count": 0, "first": "", "last": ""}
    for name in ("title", "text", "unless", "log"):
        record[name] = str(row.get(name) or "")
    record["kb"] = [int(number) for number in str(row.get("kb") or "").split()]
    record["source"] = [f"{TABLE}, {key}: {row['source']} ({row['mark']})"]
    return record
