"""What tells a boot from a clock that was set, where the uptime allows both: vobd.log, and the worlds of the VMs.

A host that was up for 1 day, and 12 days later for 3, was booted, or its clock was set forward by 10 days. Every start
writes an event into vobd.log, and the numbers of worlds grow until the next start.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from analyzer.artefacts.loghost import BOOT
from analyzer.case.document import CaseNode
from analyzer.compare.placeholders import is_placeholder
from analyzer.compare.sides import CaseSide

Witness = tuple[Literal["booted", "not booted", "not known"], str]
LOG = "esxi.vobd"
MOST = 400  # events that a case keeps of its timeline; of a full one something may be left out


@dataclass(slots=True)
class BootMarks:
    """What a side holds of the boots of a machine.

    boots   events of starts in vobd.log: time (ISO 8601 UTC) -> address and line
    since   from when on its newest vobd.log tells of every start, and until when; "" when nothing does
    worlds  VM -> world that leads it
    """

    boots: dict[str, str] = field(default_factory=dict)
    since: str = ""
    until: str = ""
    worlds: dict[str, int] = field(default_factory=dict)


def read_marks(side: CaseSide, node: CaseNode) -> BootMarks:
    """Return what a side holds of the boots of a machine."""
    made = BootMarks()
    for event in side.document.timeline:
        if event.node in (node.id, node.name) and BOOT in event.text and event.line:
            made.boots[event.time] = f"{event.address.rpartition('/')[2]}:{event.line}"
    if len(side.document.timeline) < MOST:
        parts = [part for log in node.logs if log.table == LOG for part in log.parts]
        made.since, made.until = max(((part.first, part.last) for part in parts), default=("", ""))
    if side.facts is not None and side.facts.count("esxi.vm_process", node.id):
        for row in side.facts.store("esxi.vm_process").rows:
            uuid = str(row.values.get("bios_uuid") or "")
            world = row.values.get("vm_world_id")
            if row.block.node != node.id or is_placeholder("uuid", uuid):
                continue
            if uuid and isinstance(world, int):
                made.worlds[uuid] = world
    return made


def ask_witnesses(earlier: BootMarks, later: BootMarks, captured: str) -> Witness:
    """Say whether a host was booted since it was captured, by its log and its VMs, and what says so.

    captured  when the earlier side was, ISO 8601 UTC
    """
    started = [time for time in later.boots if time > captured]
    if started:
        last = max(started)
        return "booted", f"{later.boots[last]} says that it started at {last}"
    if later.since and later.since <= captured < later.until:
        return "not booted", "vobd.log goes back to the earlier capture and has no start since"
    both = earlier.worlds.keys() & later.worlds.keys()
    same = [vm for vm in both if earlier.worlds[vm] == later.worlds[vm]]
    fell = [vm for vm in both if earlier.worlds[vm] > later.worlds[vm]]
    if same and not fell:
        worlds = ", ".join(f"{earlier.worlds[vm]}" for vm in sorted(same)[:3])
        return "not booted", f"VMs run in the worlds that they had before ({worlds})"
    if fell and not same:
        return "booted", "the worlds of its VMs have smaller numbers than before"
    return "not known", ""
