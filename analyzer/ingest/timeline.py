"""What happened when: captures, boots, and the events a host reports of itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from analyzer.artefacts import logtime
from analyzer.artefacts.loghost import BOOT
from analyzer.case.verdicts import Judgement
from analyzer.ingest.intake import Intake
from analyzer.ingest.nodes import Node
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


def events(intake: Intake, nodes: dict[str, Node]) -> list[dict[str, Any]]:
    """Return what the material itself tells: captures, boots and the events of vobd, in no order."""
    found: list[dict[str, Any]] = []
    for node in {id(node): node for node in nodes.values()}.values():
        if node.captured:
            found.append(_event(node.captured, node.id, "support bundle captured", "capture"))
        if boot := _boot(intake, node):
            found.append(boot)
    for scan in intake.scans:
        for hit in scan.hits:
            if hit.signature == EVENTS and (time := logtime.format_iso(hit.text)):
                kind = "boot" if BOOT in hit.text else "event"
                found.append(_event(time, scan.node, hit.text, kind, hit.address, hit.line))
    return found


def timeline(
    known: Sequence[dict[str, Any]], judgement: Judgement, incident: str = ""
) -> list[dict[str, Any]]:
    """Return `events` and the lines of the findings in order of time; of too many, audits are left out first.

    incident  ISO 8601 UTC: a moment of its own, and of too many the nearest to it are kept; "": the first and the last

    Keys: time, node, text, address, line, kind (hit, event, boot, capture, incident), rule.
    """
    events = [
        *known,
        *([_event(incident, "", "the incident, from --incident", "incident")] if incident else []),
    ]
    for finding in judgement.findings:
        for evidence in finding.evidence:
            if evidence.taken and evidence.line:
                events.append(
                    _event(
                        evidence.taken,
                        evidence.node or finding.node,
                        evidence.text,
                        "hit",
                        evidence.address,
                        evidence.line,
                        finding.rule,
                    )
                )
    unique = {(e["time"], e["node"], e["text"], e["kind"]): e for e in events}
    ordered = sorted(unique.values(), key=lambda e: (e["time"], e["node"], e["address"], e["line"]))
    return _nearest(_without_audits(ordered), incident)


def _without_audits(ordered: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out what a host tells of shells and logins when there is too much, and say how much that was."""
    audits = [
        place
        for place, one in enumerate(ordered)
        if one["kind"] == "event" and any(word in one["text"] for word in AUDITS)
    ]
    if len(ordered) <= MOST or not audits:
        return ordered
    said = f"{len(audits)} events of shells and logins are not shown, from here on"
    gap = _event(ordered[audits[0]]["time"], "", said, "event")
    left_out = set(audits[1:])
    return [gap if at == audits[0] else one for at, one in enumerate(ordered) if at not in left_out]


def _nearest(ordered: list[dict[str, Any]], incident: str) -> list[dict[str, Any]]:
    """Return as many moments as are shown, and where the others are."""
    over = len(ordered) - MOST
    if over <= 0:
        return ordered
    half = MOST // 2
    if not incident:
        gap = _event(ordered[half]["time"], "", f"{over} events in between are not shown", "event")
        return [*ordered[:half], gap, *ordered[-half:]]
    at = next((place for place, one in enumerate(ordered) if one["time"] >= incident), len(ordered))
    first = min(max(0, at - half), over)
    kept = ordered[first : first + MOST]
    before, after = (
        [_event(one["time"], "", f"{count} {word} events are not shown", "event")] if count else []
        for one, count, word in ((kept[0], first, "earlier"), (kept[-1], over - first, "later"))
    )
    return [*before, *kept, *after]


def _event(
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


def _boot(intake: Intake, node: Node) -> dict[str, Any] | None:
    """The time of the last boot, from the uptime and the time of the capture."""
    for row in intake.rows:
        if row.table.name == "esxi.uptime" and row.block.node == node.id and node.captured:
            uptime = row.values.get("uptime_s")
            if isinstance(uptime, int | float):
                try:
                    captured = datetime.fromisoformat(node.captured)
                    boot = captured - timedelta(seconds=uptime)
                except (ValueError, OverflowError):
                    return None
                return _event(
                    boot.strftime("%Y-%m-%dT%H:%M:%SZ"),
                    node.id,
                    "host booted (capture time minus uptime)",
                    "boot",
                    row.block.address,
                    row.line,
                )
    return None
