"""What happened when: captures, boots, and the events a host reports of itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analyzer.artefacts import logtime
from analyzer.artefacts.loghost import BOOT
from analyzer.case.verdicts import Judgement
from analyzer.ingest.intake import Intake
from analyzer.ingest.nodes import Node, Nodes
from analyzer.scan.hits import Signature

MOST = 400
EVENTS = "timeline/vobd"
AUDITS = "[esx.audit.shell.", "[esx.audit.ssh."

# vobd names its events: problems, what cleared them, and the audit of shells. Test ids never count.
TIMELINE_SIGNATURES = (
    Signature(
        EVENTS, "esxi.vobd", r"\[esx\.(?:problem|clear|audit\.(?:shell|ssh|host))\.(?!test\.)"
    ),
)


def list_events(intake: Intake, nodes: Nodes) -> list[dict[str, Any]]:
    """Return what the material itself shows: captures, boots and the events of vobd, in no order."""
    events: list[dict[str, Any]] = []
    for node in {id(node): node for node in nodes.values()}.values():
        if node.captured:
            events.append(_make_event(node.captured, node.id, "support bundle captured", "capture"))
        if boot := _find_boot(intake, node):
            events.append(boot)
    for scan in intake.scans:
        for hit in scan.hits:
            if hit.signature == EVENTS and (time := logtime.format_iso(hit.text)):
                kind = "boot" if BOOT in hit.text else "event"
                event = _make_event(time, scan.node, hit.text, kind, hit.address, hit.line)
                events.append(event)
    return events


def _find_boot(intake: Intake, node: Node) -> dict[str, Any] | None:
    """Return the last boot of a node, from its uptime and the time of the capture; None where one is not known."""
    if not node.captured:
        return None
    for row in intake.rows:
        if row.table.name != "esxi.uptime" or row.block.node != node.id:
            continue
        uptime = row.values.get("uptime_s")
        if not isinstance(uptime, int | float):
            continue
        boot = logtime.moment_before(node.captured, uptime)
        if boot is None:
            return None
        time = boot.strftime("%Y-%m-%dT%H:%M:%SZ")
        text = "host booted (capture time minus uptime)"
        return _make_event(time, node.id, text, "boot", row.block.address, row.line)
    return None


def make_timeline(
    known: Sequence[dict[str, Any]], judgement: Judgement, incident: str = ""
) -> list[dict[str, Any]]:
    """Return `list_events` and the lines of the findings in order of time; of too many, audits are left out first.

    incident  ISO 8601 UTC: a moment of its own, and of too many the nearest to it are kept; "": the first and the last

    Keys: time, node, text, address, line, kind (hit, event, boot, capture, incident), rule.
    """
    events = list(known)
    if incident:
        events.append(_make_event(incident, "", "the incident, from --incident", "incident"))
    for finding in judgement.findings:
        for evidence in finding.evidence:
            if evidence.taken and evidence.line:
                node = evidence.node or finding.node
                event = _make_event(
                    evidence.taken,
                    node,
                    evidence.text,
                    "hit",
                    evidence.address,
                    evidence.line,
                    finding.rule,
                )
                events.append(event)
    unique = {(e["time"], e["node"], e["text"], e["kind"]): e for e in events}
    ordered = sorted(unique.values(), key=lambda e: (e["time"], e["node"], e["address"], e["line"]))
    if len(ordered) > MOST:
        kept: list[dict[str, Any]] = []
        gap: dict[str, Any] | None = None
        count = 0
        for event in ordered:
            if event["kind"] != "event" or not any(word in event["text"] for word in AUDITS):
                kept.append(event)
                continue
            count += 1
            if gap is None:
                gap = _make_event(event["time"], "", "", "event")
                kept.append(gap)
        if gap is not None:
            gap["text"] = f"{count} events of shells and logins are not shown, from here on"
        ordered = kept
    if len(ordered) > MOST:
        ordered = _keep_nearest(ordered, incident)
    return ordered


def _keep_nearest(ordered: list[dict[str, Any]], incident: str) -> list[dict[str, Any]]:
    """Return as many moments as are shown, and where the others are."""
    over = len(ordered) - MOST
    half = MOST // 2
    if not incident:
        text = f"{over} events in between are not shown"
        gap = _make_event(ordered[half]["time"], "", text, "event")
        return [*ordered[:half], gap, *ordered[-half:]]

    at = sum(event["time"] < incident for event in ordered)
    first = min(max(0, at - half), over)
    shown = ordered[first : first + MOST]
    begin, end = shown[0]["time"], shown[-1]["time"]
    if first:
        text = f"{first} earlier events are not shown"
        shown.insert(0, _make_event(begin, "", text, "event"))
    if later := over - first:
        shown.append(_make_event(end, "", f"{later} later events are not shown", "event"))
    return shown


def _make_event(
    time: str, node: str, text: str, kind: str, address: str = "", line: int = 0, rule: str = ""
) -> dict[str, Any]:
    return {
        "time": time,
        "node": node,
        "text": text[:300],
        "address": address,
        "line": line,
        "kind": kind,
        "rule": rule,
    }
