"""What happened when: captures, boots, and the events a host reports of itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from analyzer import logtime
from analyzer.ingest.intake import Intake
from analyzer.ingest.nodes import Node
from analyzer.scan.hits import Signature
from analyzer.verdicts import Judgement

MOST = 400
EVENTS = "timeline/vobd"

# vobd names its events: problems, what cleared them, and the audit of shells. Test ids never count.
TIMELINE_SIGNATURES = (
    Signature(EVENTS, "esxi.vobd", r"\[esx\.(?:problem|clear|audit\.(?:shell|ssh|host))\.(?!test\.)"),
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
            if hit.signature == EVENTS and (time := logtime.iso(hit.text)):
                found.append(_event(time, scan.node, hit.text, "event", hit.address, hit.line))
    return found


def timeline(known: Sequence[dict[str, Any]], judgement: Judgement) -> list[dict[str, Any]]:
    """Return `events` and the lines of the findings in order of time.

    Keys: time, node, text, address, line, kind (hit, event, boot, capture), rule.
    """
    events = list(known)
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
    if len(ordered) <= MOST:
        return ordered
    half = MOST // 2
    gap = _event(ordered[half]["time"], "", f"{len(ordered) - MOST} events in between are not shown", "event")
    return [*ordered[:half], gap, *ordered[-half:]]


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
                    captured = datetime.fromisoformat(node.captured.replace("Z", "+00:00"))
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
