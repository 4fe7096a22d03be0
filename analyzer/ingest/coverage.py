"""What was read and what was not: the node and source records of the case document."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from analyzer.artefacts import builds, parsing
from analyzer.artefacts.tables import Row
from analyzer.facts.releases import build_of, ranked
from analyzer.ingest.intake import Intake, LogSpan
from analyzer.ingest.known_files import KnownFiles
from analyzer.ingest.nodes import LABELS, Node
from analyzer.sources import Ledger
from analyzer.sources.kinds import KindFinder, name_wrapper
from analyzer.sources.ledger import LOST, Given, SourceRecord

NEXT_FILE = 60.0  # seconds between two files of a log: our own
PARTS = 200  # of a log; of one in more pieces none is told
_STATED = ("esxi.version", "nsx.manager", "nsxt.node")  # tables that state the version of a node
_QUIET = ("listed", "read", "searched")  # states that say nothing of a loss
_COLLECTOR = "esxi.collector_failure"
_NOT_COLLECTED = re.compile(r"don't collect file (?P<path>\S+)")


def finish_ledger(ledger: Ledger, intake: Intake, kinds: KindFinder) -> bool:
    """Name what came in and was not understood; return whether anything was understood at all.

    A file that the user named, or that looks like support material, becomes `unknown`, which makes a case
    incomplete; one that only lies beside the material becomes `other`. An archive or tree of which nothing was
    understood gets a record of its own. In the layout of a bundle much is known that nothing reads: that is only
    listed there, but not in a zip or a folder of which nobody knows what it is.
    """
    known = _understood(ledger, intake)
    inner_first = sorted(ledger.given, key=lambda given: (given.first, -given.last), reverse=True)
    for one, records in [(one, ledger.sources[one.first : one.last]) for one in inner_first]:
        if not any(id(record) in known for record in records):
            _not_understood(one, records, ledger)
        elif any(id(record) in known for record in records):
            _inside(records, known, ledger, intake, kinds)
    return bool(known)


def empty_outputs(intake: Intake) -> Iterator[tuple[str, str, str]]:
    """Yield node, table and place of each list that vm-support found empty: it does not collect a file of nothing.

    Call it after `name_records`. What prints one thing (a table without a key) always prints it: there, nothing tells
    nothing; nor does a log, nor a file that is one of many for its table.
    """
    told = [
        row
        for row in intake.rows
        if row.table.name == _COLLECTOR and row.values["failure"] == "empty"
    ]
    if not told:
        return
    known = KnownFiles(parsing.registry().values())
    for row in told:
        named = _NOT_COLLECTED.search(str(row.values["failure_text"]))
        for parser in known.takes(named["path"]) if named else ():
            whole = not any(parsing.compile_pattern(pattern).groups for pattern in parser.files)
            if whole and not parser.log and len(parser.tables) == 1 and parser.tables[0].key:
                yield row.block.node, parser.tables[0].name, row.block.address


def _inside(
    records: list[SourceRecord], known: set[int], ledger: Ledger, intake: Intake, kinds: KindFinder
) -> None:
    """Name the strays among the records of one archive or tree of which something was understood."""
    here = {id(record) for record in records}
    by_root: dict[str, list[SourceRecord]] = defaultdict(list)
    for stray in intake.strays:
        if (
            id(stray.record) in here
            and id(stray.record) not in known
            and stray.record.state in _QUIET
        ):
            by_root[stray.root].append(stray.record)
    intake.strays = [
        stray for stray in intake.strays if id(stray.record) not in here
    ]  # what is around holds them too
    bundles = tuple(
        root for root in kinds.list_roots() if kinds.find_kind(root).kind not in ("", "loose")
    )
    understood = [record.address for record in records if id(record) in known]
    for root, strays in by_root.items():
        if root.startswith(bundles) or name_wrapper(root.partition("!")[0]):
            continue
        if len(strays) > 1 and not any(address.startswith(root) for address in understood):
            why = f"{len(strays):,} logs, tables or archives, none of them in a known format"
            ledger.sources.insert(
                ledger.sources.index(strays[0]),
                SourceRecord(root.rstrip("!"), None, "unknown", why),
            )
            continue
        for record in strays:
            record.state, record.why = "unknown", record.why or "nothing in it has a known format"


def _understood(ledger: Ledger, intake: Intake) -> set[int]:
    """Return the ids of the records of which something came into the tables, or whose log lines have a known form."""
    covered = {
        cover.address for cover in intake.covers if cover.state in ("read", "cut", "excerpt")
    }
    covered |= {row.block.address for row in intake.rows} | {
        frame.block.address for frame in intake.frames
    }
    told = {scan.address for scan in intake.scans if scan.first_stamped or scan.hits}
    bare = {scan.address for scan in intake.scans} - told - intake.known_logs
    filled = {row.block.address for row in intake.rows}
    return {
        id(record)
        for record in ledger.sources
        if record.read_by
        and record.address in covered
        and (record.address not in bare or record.address in filled)
    }


def _not_understood(one: Given, records: list[SourceRecord], ledger: Ledger) -> None:
    counts = one.alone or one.looks != ""
    if [record.address for record in records] == [one.address]:
        (record,) = records
        if record.state in ("listed", "read", "searched") or (
            record.state == "refused" and not counts
        ):
            record.state = "unknown" if counts else "other"
            record.why = record.why or "nothing in it has a known format"
    elif counts and _holds(one, records) and not any(record.state in LOST for record in records):
        whys = {record.why if record.state == "skipped" else "" for record in records}
        same = whys.pop() if len(whys) == 1 else ""
        number = "1 member" if len(records) == 1 else f"{len(records):,} members"
        why = f"{number}, {same}" if same else f"{number}, none of them in a known format"
        ledger.sources.insert(one.first, SourceRecord(one.address, None, "unknown", why))


def _holds(one: Given, records: list[SourceRecord]) -> bool:
    """Tell whether these are members of an archive or tree; the files of a plain folder each speak for themselves."""
    return any(
        record.address.startswith((f"{one.address}!", f"{one.address}/")) for record in records
    )


def source_records(ledger: Ledger, intake: Intake, nodes: dict[str, Node]) -> list[dict[str, Any]]:
    """Return one record per member: what became of it (case_shape.SOURCE)."""
    return [
        {
            "address": source.address,
            "size": source.size,
            "state": source.state,
            "read_by": source.read_by,
            "why": source.why,
            "lines": source.lines,
            "looked_at": source.looked_at or source.lines,
            "faults": source.faults,
            "node": _node_of(source.address, intake, nodes),
            "unread_outputs": [
                {"line": line, "command": command, "lines": lines}
                for line, command, lines in source.outputs
            ],
        }
        for source in ledger.sources
    ]


def _node_of(address: str, intake: Intake, nodes: dict[str, Node]) -> str:
    key = intake.member_place.get(address)
    return nodes[key].id if key in nodes else ""


# logs in which a host that runs writes every hour, and the silence from which on that is said: our own
_OF_THE_HOST = frozenset(
    ("esxi.vmkernel", "esxi.hostd", "esxi.vpxa", "esxi.vobd", "esxi.syslog", "esxi.vmksummary")
)
_SILENT = 2 * 3600.0
_MANY_BUNDLES = (
    3  # of one host: before and after are two, more may be hosts that were set up as copies of one
)


def node_records(intake: Intake, nodes: dict[str, Node]) -> list[dict[str, Any]]:
    """Return one record per node; the version is the best-trusted statement, and contradictions are warned of.

    Call it after `name_records`.
    """
    rows: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in intake.rows:
        if row.table.name in (*_STATED, "esxi.uptime"):
            rows[(row.block.node, row.table.name)].append(row)
    spans: dict[str, list[LogSpan]] = defaultdict(list)
    for span in intake.spans:
        spans[nodes[span.place.key].id].append(span)
    unique = {id(node): node for node in nodes.values()}.values()
    return [
        _record(node, rows, spans[node.id])
        for node in sorted(unique, key=lambda item: (item.kind, item.id))
    ]


def _record(
    node: Node, rows: dict[tuple[str, str], list[Row]], spans: list[LogSpan]
) -> dict[str, Any]:
    stated = [row for table in _STATED for row in rows[(node.id, table)]]
    stated = ranked(stated)
    best = stated[0].values if stated else {}
    version, build = str(best.get("version") or ""), build_of(stated)
    uptime = next((row.values.get("uptime_s") for row in rows[(node.id, "esxi.uptime")]), None)
    warnings = [*dict.fromkeys(node.warnings)]
    others = sorted({str(row.values["version"]) for row in stated} - {version})
    if others:
        warnings.append(
            f"other versions appear as well ({', '.join(others)}): was it upgraded in between?"
        )
    warnings += [*_set(spans, "back", later=False), *_set(spans, "forward", later=True)]
    bundles = {place.name for place in node.places if place.scope == "root"}
    if len(bundles) >= _MANY_BUNDLES:
        warnings.append(f"{len(bundles)} bundles name {node.name}, and they are read as one")
    if node.kind == "esxi" and node.bundle:
        warnings += _silent_since(node.captured, spans)
    return {
        "id": node.id,
        "kind": node.kind,
        "name": node.name,
        "product": "NSX for vSphere"
        if node.kind.startswith("nsx_m") and version
        else LABELS.get(node.kind, node.kind),
        "version": version,
        "build": str(build or ""),
        "release": _release(node.kind, version, build),
        "uptime_s": uptime,
        "captured": node.captured,
        "sources": sorted({place.name for place in node.places}),
        "logs": _logs(spans),
        "warnings": warnings,
        "bundle": node.bundle,
    }


def _release(kind: str, version: str, build: Any) -> str:
    product = {"esxi": "esxi", "nsx_manager": "nsxv"}.get(kind)
    known = builds.find_release(product, build) if product and isinstance(build, int) else None
    if known is None or known.version != version:
        return ""
    if known.date and not known.status:
        return f"{known.name} ({known.date})"
    return (
        "" if known.name.endswith(f" {version}") else known.name
    )  # the version beside it says as much


def _silent_since(captured: str, spans: list[LogSpan]) -> list[str]:
    """Return what is to be said of a host whose logs end hours before its bundle was made."""
    lasts = [span.last for span in spans if span.table in _OF_THE_HOST and span.last]
    if not captured or not lasts:
        return []
    last = max(lasts)
    try:
        silent = seconds(captured) - seconds(last)
    except ValueError:  # a name of a bundle is no calendar
        return []
    if silent < _SILENT:
        return []
    days, hours = divmod(int(silent) // 3600, 24)
    long = f"{days:,} days" if days > 1 else f"{hours + 24 * days} hours"
    said = last.replace("T", " ").replace("Z", " UTC")
    when = f"{long} before the bundle was made, at {said}"
    return [f"the logs of the host itself end {when}: they do not cover the time since then"]


def _set(spans: list[LogSpan], way: str, *, later: bool) -> list[str]:
    """Return the step of one log in one direction, and how many others show one."""
    own = (
        (span.address, [step for step in span.steps if (step[1] > step[0]) is later])
        for span in spans
    )
    shown = sorted((address, steps) for address, steps in own if steps)
    if not shown:
        return []
    address, steps = shown[0]
    before, after = (time.replace("T", " ").replace("Z", " UTC") for time in steps[0])
    more = f", {len(steps)} times in all" if len(steps) > 1 else ""
    others = len({other for other, _ in shown}) - 1
    also = (
        f"; {others:,} more {'log shows' if others == 1 else 'logs show'} a step {way}"
        if others
        else ""
    )
    why = " (the uptime beside it shows that it is no gap)" if later else ""
    file = re.split(r"[!/]", address)[-1]
    return [
        f"the clock went {way} in {file} from {before} to {after}{more}{why}{also}: times around it are unreliable"
    ]


def _logs(spans: list[LogSpan]) -> list[dict[str, Any]]:
    tables: dict[str, list[LogSpan]] = defaultdict(list)
    for span in spans:
        tables[span.table].append(span)
    return [
        {
            "table": table,
            "first": min((span.first for span in found if span.first), default=""),
            "last": max((span.last for span in found if span.last), default=""),
            "lines": sum(span.lines for span in found),
            "members": len(found),
            "parts": _parts(found),
        }
        for table, found in sorted(tables.items())
    ]


def _parts(spans: list[LogSpan]) -> list[dict[str, str]]:
    """Return the stretches of time that the files of a log cover; one that begins where another ends goes on with it.

    Between two of them lies a file that is not there, or the log stood still while it was rotated.
    """
    parts: list[dict[str, str]] = []
    for first, last in sorted(
        (span.first, span.last) for span in spans if span.first and span.last
    ):
        if parts and seconds(first) - seconds(parts[-1]["last"]) <= NEXT_FILE:
            parts[-1]["last"] = max(parts[-1]["last"], last)
        else:
            parts.append({"first": first, "last": last})
    return parts if len(parts) <= PARTS else []


def seconds(time: str) -> float:
    """Return an ISO 8601 time with its zone as seconds since 1970."""
    return datetime.fromisoformat(time).timestamp()
