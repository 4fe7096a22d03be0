"""What was read and what was not: the node and source records of the case document, and logs that miss the incident.

A log that is busy has lines near any moment it covers; one that is seldom written (vobd.log of a quiet host) has none
for days. So a stretch without lines counts as silence while other logs of the node go on and it is not much longer than
what lies between two lines of that log at other times: its silence proves nothing then, and the verdicts say so. Both
numbers of it here are our own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from analyzer.artefacts import builds, parsing
from analyzer.artefacts.logtime import FAR, moment_before
from analyzer.artefacts.tables import Row
from analyzer.facts import Facts
from analyzer.facts.releases import find_build, rank_statements
from analyzer.ingest.intake import Intake, LogSpan
from analyzer.ingest.known_files import KnownFiles
from analyzer.ingest.nodes import LABELS, Node, Nodes
from analyzer.sources import Ledger
from analyzer.sources.kinds import KindFinder, name_wrapper
from analyzer.sources.ledger import LOST, SourceRecord

NEXT_FILE = 60.0  # seconds between two files of a log: our own
PARTS = 200  # of a log; of one in more pieces none is listed
USUAL = 20.0  # times the mean distance of two lines of a log that a stretch without lines may last
LEAST = 60.0  # seconds of such a stretch that never matter: a log goes on within them
_STATED = ("esxi.version", "nsx.manager", "nsxt.node")  # tables that state the version of a node
_QUIET = ("listed", "read", "searched")  # states that say nothing of a loss
_COLLECTOR = "esxi.collector_failure"
_NOT_COLLECTED = re.compile(r"don't collect file (?P<path>\S+)")
# Bytes that are no text, no archive and no record of anything: what a name does not make support material.
_NO_MATERIAL = re.compile(r"^looks like (?:binary data|a Windows program|an? (?:SQLite|Parquet)\b)")
_UNKNOWN_FORMAT = "nothing in it has a known format"
# logs in which a host that runs writes every hour, and the silence that is worth a warning: our own
_OF_THE_HOST = frozenset(
    ("esxi.vmkernel", "esxi.hostd", "esxi.vpxa", "esxi.vobd", "esxi.syslog", "esxi.vmksummary")
)
_SILENT = 2 * 3600.0
# of one host: before and after are two, more may be hosts that were set up as copies of one
_MANY_BUNDLES = 3


def finish_ledger(ledger: Ledger, intake: Intake, kinds: KindFinder) -> bool:
    """Name what came in and was not understood; return whether anything was understood at all.

    A file that the user named, or that looks like support material, becomes `unknown`, which makes a case
    incomplete; one that only lies next to the material becomes `other`. An archive or tree of which nothing was
    understood gets a record of its own. In the layout of a bundle much is known that nothing reads: that is only
    listed there, but not in a zip or a folder of which nothing is known.
    """
    # Something of these came into the tables, or their log lines have a known form
    filled = {row.block.address for row in intake.rows}
    covered = filled | {frame.block.address for frame in intake.frames}
    for cover in intake.covers:
        if cover.state in ("read", "cut", "excerpt"):
            covered.add(cover.address)
    in_form = {scan.address for scan in intake.scans if scan.first_stamped or scan.hits}
    in_form |= intake.known_logs
    bare = {scan.address for scan in intake.scans} - in_form - filled
    understood = (covered - bare) | {line.address for line in intake.chosen}
    known = {
        id(record) for record in ledger.sources if record.read_by and record.address in understood
    }
    inner_first = sorted(ledger.given, key=lambda given: (given.first, -given.last), reverse=True)
    # cut before the first record is inserted, which moves the others
    given_records = [(given, ledger.sources[given.first : given.last]) for given in inner_first]
    for given, records in given_records:
        if any(id(record) in known for record in records):
            _name_strays(records, known, ledger, intake, kinds)
            continue
        # of a case of which nothing is known each text is all there is
        matters = given.alone or given.looks != "" or (not known and given.address in intake.texts)
        if [record.address for record in records] == [given.address]:
            record = records[0]
            if record.state == "refused" and not given.looks and _NO_MATERIAL.search(record.why):
                record.state = "other"
            elif record.state in _QUIET or (record.state == "refused" and not matters):
                record.state = "unknown" if matters else "other"
                record.why = record.why or _UNKNOWN_FORMAT
            continue
        # the files of a plain folder each speak for themselves
        inside = (f"{given.address}!", f"{given.address}/")
        is_whole = any(record.address.startswith(inside) for record in records)
        if not matters or not is_whole or any(record.state in LOST for record in records):
            continue
        whys = {record.why if record.state == "skipped" else "" for record in records}
        shared = whys.pop() if len(whys) == 1 else ""
        number = "1 member" if len(records) == 1 else f"{len(records):,} members"
        why = f"{number}, {shared or 'none of them in a known format'}"
        ledger.sources.insert(given.first, SourceRecord(given.address, None, "unknown", why))
    return bool(known)


def _name_strays(
    records: list[SourceRecord],
    known: set[int],
    ledger: Ledger,
    intake: Intake,
    kinds: KindFinder,
) -> None:
    """Name what looks like support material and was not understood next to what was."""
    here = {id(record) for record in records}
    by_root: dict[str, list[SourceRecord]] = defaultdict(list)
    elsewhere = []
    for stray in intake.strays:
        record = stray.record
        if id(record) not in here:
            elsewhere.append(stray)
        elif id(record) not in known and record.state in _QUIET:
            by_root[stray.root].append(record)
    intake.strays = elsewhere  # what is around holds those of `records` too

    bundles = tuple(
        root for root in kinds.list_roots() if kinds.find_kind(root).kind not in ("", "loose")
    )
    understood = [record.address for record in records if id(record) in known]
    for root, strays in by_root.items():
        if root.startswith(bundles) or name_wrapper(root.partition("!")[0]):
            continue
        if len(strays) > 1 and not any(address.startswith(root) for address in understood):
            why = f"{len(strays):,} logs, tables or archives, none of them in a known format"
            record = SourceRecord(root.rstrip("!"), None, "unknown", why)
            ledger.sources.insert(ledger.sources.index(strays[0]), record)
            continue
        for record in strays:
            record.state, record.why = "unknown", record.why or _UNKNOWN_FORMAT


def find_empty_outputs(intake: Intake) -> Iterator[tuple[str, str, str]]:
    """Yield node, table and place of each list that vm-support found empty: it does not collect a file of nothing.

    Call it after `name_records`. What prints one thing (a table without a key) always prints it: there, nothing proves
    nothing; nor does a log, nor a file that is one of many for its table.
    """
    known: KnownFiles | None = None
    for row in intake.rows:
        if row.table.name != _COLLECTOR or row.values["failure"] != "empty":
            continue
        named = _NOT_COLLECTED.search(str(row.values["failure_text"]))
        if named is None:
            continue
        known = known or KnownFiles(parsing.registry().values())
        for parser in known.find_parsers(named["path"]):
            is_only = not any(parsing.compile_pattern(pattern).groups for pattern in parser.files)
            if is_only and not parser.log and len(parser.tables) == 1 and parser.tables[0].key:
                yield row.block.node, parser.tables[0].name, row.block.address


def make_source_records(ledger: Ledger, intake: Intake, nodes: Nodes) -> list[dict[str, Any]]:
    """Return one record per member: what became of it (case_shape.SOURCE)."""
    records = []
    for source in ledger.sources:
        place = intake.member_place.get(source.address)
        outputs = [
            {"line": line, "command": command, "lines": lines}
            for line, command, lines in source.outputs
        ]
        record = {
            "address": source.address,
            "size": source.size,
            "state": source.state,
            "read_by": source.read_by,
            "why": source.why,
            "lines": source.lines,
            "looked_at": source.looked_at or source.lines,
            "faults": source.faults,
            "node": nodes[place].id if place in nodes else "",
            "unread_outputs": outputs,
        }
        records.append(record)
    return records


def make_node_records(intake: Intake, nodes: Nodes) -> list[dict[str, Any]]:
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

    records = []
    unique = {id(node): node for node in nodes.values()}.values()
    for node in sorted(unique, key=lambda item: (item.kind, item.id)):
        stated = rank_statements([row for table in _STATED for row in rows[node.id, table]])
        uptimes = sorted(  # of the bundle whose time is that of the capture, before what was typed
            rows[node.id, "esxi.uptime"],
            key=lambda row: node.captures.get(row.block.scope) != node.captured,
        )
        uptime = uptimes[0].values.get("uptime_s") if uptimes else None
        records.append(_make_node_record(node, stated, uptime, spans[node.id]))
    return records


def _make_node_record(
    node: Node, stated: list[Row], uptime: Any, spans: list[LogSpan]
) -> dict[str, Any]:
    """Return the record of a node; `stated`: what states its version, the best first."""
    version = str(stated[0].values.get("version") or "") if stated else ""
    build = find_build(stated)
    warnings = [*dict.fromkeys(node.warnings)]
    others = sorted({str(row.values["version"]) for row in stated} - {version})
    if others:
        listed = ", ".join(others)
        warnings.append(f"other versions appear as well ({listed}): was it upgraded in between?")
    warnings += _describe_clock_steps(spans, "back", later=False)
    warnings += _describe_clock_steps(spans, "forward", later=True)
    if node.captured and uptime and moment_before(node.captured, uptime) is None:
        warnings.append(f"its uptime of {uptime:,} s puts its boot at a time {FAR}")
    bundles = {place.name for place in node.places if place.scope == "root"}
    if len(bundles) >= _MANY_BUNDLES:
        warnings.append(f"{len(bundles)} bundles name {node.name}, and they are read as one")
    if node.kind == "esxi" and node.bundle:
        warnings += _describe_silence(node.captured, spans)
    product = LABELS.get(node.kind, node.kind)
    if node.kind.startswith("nsx_m") and version:
        product = "NSX for vSphere"
    # The name of the release of a build, "" where it says no more than the version next to it
    release = ""
    system = {"esxi": "esxi", "nsx_manager": "nsxv"}.get(node.kind)
    if system and isinstance(build, int):
        known = builds.find_release(system, build)
        if known is not None and known.version == version:
            if known.date and not known.status:
                release = f"{known.name} ({known.date})"
            elif not known.name.endswith(f" {version}"):
                release = known.name
    return {
        "id": node.id,
        "kind": node.kind,
        "name": node.name,
        "product": product,
        "version": version,
        "build": str(build or ""),
        "release": release,
        "uptime_s": uptime,
        "captured": node.captured,
        "sources": sorted({place.name for place in node.places}),
        "logs": _make_log_records(spans),
        "warnings": warnings,
        "bundle": node.bundle,
    }


def _describe_silence(captured: str, spans: list[LogSpan]) -> list[str]:
    """Return a warning for a host whose logs end hours before its bundle was made."""
    lasts = [span.last for span in spans if span.table in _OF_THE_HOST and span.last]
    if not captured or not lasts:
        return []
    last = max(lasts)
    try:
        silent = parse_seconds(captured) - parse_seconds(last)
    except ValueError:  # a name of a bundle is no calendar
        return []
    if silent < _SILENT:
        return []
    days, hours = divmod(int(silent) // 3600, 24)
    length = f"{days:,} days" if days > 1 else f"{hours + 24 * days} hours"
    when = f"{length} before the bundle was made, at {_show_time(last)}"
    return [f"the logs of the host itself end {when}: they do not cover the time since then"]


def _show_time(time: str) -> str:
    return time.replace("T", " ").replace("Z", " UTC")


def _describe_clock_steps(spans: list[LogSpan], way: str, *, later: bool) -> list[str]:
    """Return the step of one log in one direction, and how many others show one."""
    shown = []
    for span in spans:
        steps = [(before, after) for before, after in span.steps if (after > before) is later]
        if steps:
            shown.append((span.address, steps))
    if not shown:
        return []
    address, steps = min(shown)
    file = re.split(r"[!/]", address)[-1]
    before, after = map(_show_time, steps[0])
    more = f", {len(steps)} times in all" if len(steps) > 1 else ""
    why = " (the uptime beside it shows that it is no gap)" if later else ""
    others = len({other for other, _ in shown}) - 1
    also = ""
    if others:
        logs = "log shows" if others == 1 else "logs show"
        also = f"; {others:,} more {logs} a step {way}"
    step = f"the clock went {way} in {file} from {before} to {after}{more}{why}{also}"
    return [f"{step}: times around it are unreliable"]


def _make_log_records(spans: list[LogSpan]) -> list[dict[str, Any]]:
    """Return a record for each log of a node, with the stretches of time that its files cover."""
    tables: dict[str, list[LogSpan]] = defaultdict(list)
    for span in spans:
        tables[span.table].append(span)
    records = []
    for table, found in sorted(tables.items()):
        # A file that begins where another ends goes on with it: between them a file is missing, or
        # nothing was written while the log was rotated
        parts: list[dict[str, str]] = []
        for first, last in sorted((span.first, span.last) for span in found):
            if not first or not last:
                continue
            end = parts[-1]["last"] if parts else ""
            if end and parse_seconds(first) - parse_seconds(end) <= NEXT_FILE:
                parts[-1]["last"] = max(end, last)
            else:
                parts.append({"first": first, "last": last})
        record = {
            "table": table,
            "first": min((span.first for span in found if span.first), default=""),
            "last": max((span.last for span in found if span.last), default=""),
            "lines": sum(span.lines for span in found),
            "members": len(found),
            "parts": parts if len(parts) <= PARTS else [],
        }
        records.append(record)
    return records


def parse_seconds(time: str) -> float:
    """Return an ISO 8601 time with its zone as seconds since 1970."""
    return datetime.fromisoformat(time).timestamp()


def note_logs_off_incident(facts: Facts, nodes: Sequence[dict[str, Any]], incident: str) -> None:
    """Note in `facts` which logs do not reach the incident: that they lack a line proves nothing of it.

    nodes     node records of the case document, with the stretches of time of their logs
    incident  ISO 8601 UTC
    """
    when = parse_seconds(incident)
    for node in nodes:
        for table, why in _find_silent_logs(node, when):
            facts.does_not_reach(node["id"], table, why)
            for name, known in facts.tables.items():
                if table in known.declared_table.inside:
                    facts.does_not_reach(node["id"], name, why)


def _find_silent_logs(node: dict[str, Any], when: float) -> Iterator[tuple[str, str]]:
    """Yield each log of a node that says nothing of a time, and why."""
    parts: dict[str, list[tuple[float, float]]] = {}
    for log in node["logs"]:
        parts[log["table"]] = [
            (parse_seconds(part["first"]), parse_seconds(part["last"])) for part in log["parts"]
        ]
    goes_on = any(first <= when < last + 1 for own in parts.values() for first, last in own)
    for log in node["logs"]:
        own = parts[log["table"]]
        if not own or any(first - LEAST <= when < last + LEAST for first, last in own):
            continue
        before = max((last for _, last in own if last < when), default=None)
        after = min((first for first, _ in own if first > when), default=None)
        name = f"the log {log['table'].split('.', 1)[-1]} of {node['name']}"
        if before is None:
            assert after is not None  # no stretch holds the time
            why = (
                f"{name} begins at {_show_seconds(after)}, after the incident: it does not cover it"
            )
            yield log["table"], why
            continue
        stretch = when - before if after is None else min(when - before, after - when)
        mean = sum(last - first for first, last in own) / max(1, int(log["lines"]) - 1)
        if goes_on and stretch <= USUAL * mean:
            continue
        end = _show_seconds(before)
        if after is None:
            why = f"{name} ends at {end}, before the incident: it does not cover it"
        else:
            why = (
                f"{name} has nothing from {end} to {_show_seconds(after)}, where the incident lies"
            )
        yield log["table"], why


def _show_seconds(when: float) -> str:
    return f"{datetime.fromtimestamp(when, UTC):%Y-%m-%d %H:%M:%S} UTC"
