"""Whether a side could have seen something that it lacks: "gone" needs a yes, and so does "new" of the side before.

Asked alike by findings, things and counters, and answered by coverage: how a table was read on the machine, whether its
archive is whole or reached the member, and the window of a log.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from analyzer.case.document import CaseDocument, NodeLog
from analyzer.case.verdicts import Evidence
from analyzer.compare.machines import ComparedMachine
from analyzer.compare.sides import CaseSide

_READ = frozenset(("read", "searched", "duplicate"))
_CUT = "the archive ends before"


def could_see(side: CaseSide, machine: ComparedMachine | None, table: str, address: str) -> str:
    """Return "" where a side could see what another one has at an address of a table, else why it could not."""
    if machine is None:
        return "its machine is not in that case"
    if side.facts is None:
        return "a case.json has no rows"
    cover = side.facts.coverage(machine.key, table)
    if cover.state != "read":
        return cover.why or {"": "not in the case", "excerpt": "only an excerpt is there"}.get(
            cover.state, cover.state
        )
    if not side.facts.nodes[machine.key].complete:
        return reach_member(side.document, address)
    return ""


def reach_member(document: CaseDocument, address: str) -> str:
    """Return "" where a case that is not whole has the member of an address, read to its end, else why it has not."""
    member = name_member(address)
    states = [one for one in document.sources if name_member(one.address) == member]
    if any(one.state in _READ for one in states):
        return ""
    why = next((one.why for one in states if one.why), "")
    return why or f"{_CUT} {member}"


def name_member(address: str) -> str:
    """Return the path of a member inside its bundle, without the top folder, which is named after the capture."""
    inside = address.rpartition("!")[2]
    return inside.partition("/")[2] or inside


def name_log(address: str) -> str:
    """Return the name of a log by its file: vmkernel for `…/vmkernel.0.gz`."""
    return re.split(r"[.-]", address.rpartition("/")[2], maxsplit=1)[0]


def could_see_lines(
    evidence: Iterable[Evidence], since: str, later: CaseSide, machine: ComparedMachine | None
) -> str:
    """Return "" where a side could see lines like those of a finding since a time, else why it could not.

    since  when the earlier side was captured, ISO 8601 UTC, "" when not known: then since the last line itself
    """
    asked: dict[str, str] = {}
    members: dict[str, str] = {}
    for one in evidence:
        if one.line and not one.address.startswith("catalog:"):
            members.setdefault(name_member(one.address), one.address)
        if one.taken and one.line:
            log = name_log(one.address)
            asked[log] = max(asked.get(log, ""), one.taken)
    for log, last in asked.items():
        windows = list_windows(later.document, machine, log)
        if windows and not any(is_reaching(one, since or last) for one in windows):
            begins = min(one.first for one in windows)
            return (
                f"its lines are older than the log of the later side, which begins at {begins}; nothing covers the "
                f"time from {since or last} to then"
            )
    if later.document.case.complete:
        return ""
    for address in members.values():
        if name_log(address) not in asked and (why := reach_member(later.document, address)):
            return why
    return ""


def is_reaching(window: NodeLog, since: str) -> bool:
    """Say whether a log reaches back to a time."""
    return not window.first or window.first <= since


def list_windows(
    document: CaseDocument, machine: ComparedMachine | None, log: str
) -> list[NodeLog]:
    """Return the logs of a machine with that name that have lines."""
    return [
        one
        for node in document.nodes
        if machine is not None and node.id == machine.key
        for one in node.logs
        if one.table.partition(".")[2] == log and one.first
    ]
