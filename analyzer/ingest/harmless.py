"""Lines that look bad and are not: counted while logs are searched, and never seen by a rule.

Their signatures run beside those of the rules. What they find is taken out of a scan at once, so that neither the
facts nor the archive nor a limit of kept lines knows of them; only the number, the first line and the last stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from analyzer import logtime
from analyzer.ingest.intake import Intake
from analyzer.scan.hits import HarmlessCount, LogScan, Signature
from analyzer.tables import Table, Value

TABLE = "kb.harmless_line"
_PREFIX = "harmless/"


def rows_of(tables: Mapping[str, Table]) -> dict[str, Mapping[str, Value]]:
    """Return the rows of the catalog by id; none when the catalog has no such table."""
    table = tables.get(TABLE)
    return {str(cells["id"]): cells for _, _, cells in table.given.rows} if table and table.given else {}


def signatures(rows: Mapping[str, Mapping[str, Value]]) -> list[Signature]:
    """Return what to look for, a signature for each row."""
    return [Signature(_PREFIX + key, str(row["log"]), str(row["pattern"])) for key, row in rows.items()]


def take_out(scan: LogScan) -> None:
    """Move what was counted of such lines from what a scan found to `scan.harmless`."""
    for name in [name for name in scan.counts if name.startswith(_PREFIX)]:
        kept, number = scan.of(name), scan.counts.pop(name)
        if kept:
            scan.harmless[name.removeprefix(_PREFIX)] = HarmlessCount(
                number, name in scan.at_least, kept[0].line, logtime.iso(kept[0].text), logtime.iso(kept[-1].text)
            )
        scan.capped.discard(name)
        scan.at_least.discard(name)
        scan.last_hits.pop(name, None)
        scan.stopped.pop(name, None)
    scan.hits[:] = [hit for hit in scan.hits if not hit.signature.startswith(_PREFIX)]


def told(intake: Intake, rows: Mapping[str, Mapping[str, Value]]) -> list[dict[str, Any]]:
    """Return a record for each row and node that has such lines, the most frequent first."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for key, scan, count in _counts(intake.scans):
        row = rows[key]
        record = found.setdefault((key, scan.node), _record(key, row, scan, count))
        record["count"] += count.lines
        record["at_least"] |= count.at_least
        record["first"] = min(filter(None, [record["first"], count.first]), default="")
        record["last"] = max(record["last"], count.last)
    return sorted(found.values(), key=lambda one: (-one["count"], one["id"], one["node"]))


def _counts(scans: Iterable[LogScan]) -> Iterator[tuple[str, LogScan, HarmlessCount]]:
    for scan in scans:
        for key, count in scan.harmless.items():
            yield key, scan, count


def _record(key: str, row: Mapping[str, Value], scan: LogScan, count: HarmlessCount) -> dict[str, Any]:
    words = {name: str(row.get(name) or "") for name in ("title", "text", "unless", "log")}
    kb = [int(number) for number in str(row.get("kb") or "").split()]
    source = f"{TABLE}, {key}: {row['source']} ({row['mark']})"
    place = {"address": scan.address, "line": count.line}
    return {"id": key, "node": scan.node, "count": 0, "at_least": False, "first": "", "last": "", **words} | {
        "kb": kb,
        "source": [source],
        **place,
    }
