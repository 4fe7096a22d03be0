"""What became of each finding: gone, new, worse, better, the same, or no longer judged.

A rule that can no longer see is not "gone": its question stays open, with what to ask for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from analyzer.case.comparison import ComparedCounter, ComparedFinding, FindingOnSide, Place
from analyzer.case.document import CannotTellGroup
from analyzer.case.ranking import order_findings
from analyzer.case.verdicts import CONFIDENCES, SEVERITIES, Finding
from analyzer.compare.machines import ComparedMachine
from analyzer.compare.matching import Match, match_things
from analyzer.compare.row_records import RowChanges
from analyzer.compare.sides import CaseSide
from analyzer.compare.sight import could_see_lines

_Judged = Mapping[tuple[int, str, int], ComparedCounter]
_OPPOSITE = {"worse": "better", "better": "worse"}
STATES = ("new", "worse", "replaced", "cannot tell", "no longer judged", "same", "better", "gone")
_FIRST = "on the first side"
_AGAINST = re.compile(r"^((?:severity|confidence) \S+) became")
_MORE, _LESS = 1.25, 0.8  # own thresholds: a magnitude within these bounds is the same


def finding_records(
    sides: Sequence[CaseSide],
    pairs: Sequence[Match[ComparedMachine]],
    rows: RowChanges,
    *,
    hosts: bool = False,
) -> list[ComparedFinding]:
    """Return every finding of any side with what became of it: what is new or worse first, the worst before the others.

    hosts  the sides are different hosts: nothing became anything
    """
    home: list[dict[str, int]] = [{} for _ in sides]
    renames = dict(rows.renames)
    for number, pair in enumerate(pairs):
        for at, machine in enumerate(pair.on):
            if machine is not None:
                home[at][machine.name] = number
                renames[at, machine.name] = pair.first.name
    listed = []
    for at, side in enumerate(sides):
        found = [one for one in side.document.findings if one.verdict == "match"]
        listed.append(
            [(one, mark_finding(one, at, home[at], renames, rows.ports)) for one in found]
        )
    lines = index_counters(rows)
    matches = match_things(listed)
    ranked = {
        id(one): place
        for place, one in enumerate(order_findings([match.last for match in matches]))
    }
    matches.sort(key=lambda match: ranked[id(match.last)])
    records = []
    for match in matches:
        one = describe_finding(match, sides, pairs, home, lines)
        records.append(note_replaced(one, match, rows.replaced))
    for one in records if hosts else ():
        one.why = _AGAINST.sub(r"\1 against", one.why).replace(_FIRST, f"on {sides[0].name}", 1)
    return sorted(records, key=lambda one: (bool(one.muted), rank_state(one.state)))


def mark_finding(
    finding: Finding,
    at: int,
    home: Mapping[str, int],
    renames: Mapping[tuple[int, str], str],
    ports: Mapping[tuple[int, str], str],
) -> list[list[tuple[Any, ...]]]:
    """Return what tells a finding from others, under the names that the first side has."""
    rule = finding.rule
    node = home.get(finding.node, -1)
    name = finding.object
    subject = finding.subject
    for word in (name, finding.node):
        if word and (at, word) in renames:
            subject = subject.replace(word, renames[at, word])
    own: tuple[str, int] | str = renames.get((at, name), name)
    if (
        name and name == finding.node and node >= 0
    ):  # the machine itself, whose name is another on each side
        subject = subject.replace(name, "")
        own = ("machine", node)
    port_text = re.search(r"\bport (\d+)", finding.subject)
    port = None
    if port_text:
        port = ports.get((at, port_text[1]))
    same_port = []
    if port:
        same_port = [(rule, node, "port", port)]
    return [[(rule, node, own, subject)], [(rule, node, own)], same_port, [(rule, own)]]


def index_counters(rows: RowChanges) -> _Judged:
    """Return what is known of the counters of drops and errors: side, address and line -> the counter."""
    return {
        (side, place.address, place.line): counter
        for counter in rows.counters
        if counter.bad
        for side, place in enumerate(counter.at)
        if place is not None
    }


def find_counters(match: Match[Finding], lines: _Judged) -> list[ComparedCounter]:
    """Return the counters that a finding rests on, of which something is known."""
    places = []
    for at, side in enumerate(match.on):
        if side:
            for one in side.evidence:
                places.append((at, one.address, one.line))
    return [lines[place] for place in places if place in lines and lines[place].verdict != "none"]


def find_doubt(match: Match[Finding], lines: _Judged) -> str:
    """Return why nothing can be said about a finding: nothing is known of any of its counters; else ""."""
    counters = find_counters(match, lines)
    sure = any(counter.verdict != "cannot tell" for counter in counters)
    if counters and not sure:
        return str(counters[0].steps[-1].because)
    return ""


def find_other_card(match: Match[Finding], lines: _Judged) -> str:
    """Return that another card counts now, where it does for all counters of a finding; else ""."""
    counters = find_counters(match, lines)
    if counters and all(one.verdict == "replaced" for one in counters):
        return str(counters[0].steps[-1].why)
    return ""


def find_unknown_reset(match: Match[Finding], lines: _Judged) -> str:
    """Return why no one knows whether the counters of a finding started again; "" where it is known of one."""
    steps = [counter.steps[-1] for counter in find_counters(match, lines)]
    if steps and all(step.state == "not known" for step in steps):
        return str(steps[0].why)
    return ""


def rank_state(state: str) -> int:
    """Return the place of a state in the list: what is new and what is worse stand together."""
    return STATES.index("new" if state == "worse" else state)


def describe_finding(
    match: Match[Finding],
    sides: Sequence[CaseSide],
    pairs: Sequence[Match[ComparedMachine]],
    home: Sequence[Mapping[str, int]],
    lines: _Judged,
) -> ComparedFinding:
    """Return the record of a finding: its state, and why, after a look at the counters that it rests on."""
    last = match.last
    state, why, ask = judge_state(match, sides, pairs, home)
    if state == "worse" and (unknown := find_unknown_reset(match, lines)):
        why = f"{why}; nothing shows whether its counters were reset in between: {unknown}"
    if state in ("better", "gone"):  # not for a counter that only started again
        doubt = find_doubt(match, lines)
        state, why = (
            ("cannot tell", f"{state} by its counter, but {doubt}") if doubt else (state, why)
        )
    if state in _OPPOSITE and {one.verdict for one in find_counters(match, lines)} == {
        _OPPOSITE[state]
    }:
        state, why = (
            "cannot tell",
            f"{state} {why}, but its counters are {_OPPOSITE[state]} since the capture before",
        )
    if state in ("better", "gone", "worse") and (other := find_other_card(match, lines)):
        if state == "better":
            state = "cannot tell"
        if why:
            why = f"{why}; {other}"
        else:
            why = other
    return ComparedFinding(
        rule=last.rule,
        title=last.title,
        kb=last.kb,
        machine=last.node,
        subject=last.subject,
        state=state,
        why=why,
        ask=ask,
        muted=next((one.muted for one in match.on if one is not None and one.muted), ""),
        on=[describe_on_side(one) for one in match.on],
    )


def note_replaced(
    one: ComparedFinding, match: Match[Finding], replaced: Collection[tuple[int, str]]
) -> ComparedFinding:
    """Return a finding as of a thing that was replaced, where what has its name later is another one.

    Nothing of the two is compared: one of them lost more because it is another one.
    """
    if not any((at, match.last.object) in replaced for at in range(len(match.on))):
        return one
    if match.on[0] is None:
        one.why = "; ".join(filter(None, (one.why, "what has this name now is another one")))
    elif one.state != "no longer judged":
        one.state = "replaced"
        one.why = "what has this name now is another one (UUID, MAC address)"
        one.why += "" if match.on[-1] is not None else ", without this finding"
    return one


def describe_on_side(finding: Finding | None) -> FindingOnSide | None:
    """Return a finding as one side has it."""
    if finding is None:
        return None
    first = None
    if finding.evidence:
        first = finding.evidence[0]
    return FindingOnSide(
        severity=finding.severity,
        confidence=finding.confidence,
        subject=finding.subject,
        say=finding.say,
        at=Place(first.address, first.line) if first is not None else None,
    )


def judge_state(
    match: Match[Finding],
    sides: Sequence[CaseSide],
    pairs: Sequence[Match[ComparedMachine]],
    home: Sequence[Mapping[str, int]],
) -> tuple[str, str, str]:
    """Return the state of a finding by its rule alone, why, and what to ask for."""
    first = match.on[0]
    last = match.on[-1]
    if first is not None and last is not None:
        return compare_pair(first, last, sides)
    present = match.first
    missing = 0
    if last is None:
        missing = len(sides) - 1
    known_at = next(at for at, one in enumerate(match.on) if one is not None)
    machine = None
    if present.node in home[known_at]:
        machine = pairs[home[known_at][present.node]].on[missing]
    there = bool(machine) or not present.node
    why, ask = explain_absence(
        present, sides[missing], machine.name if machine else "", there=there
    )
    if last is not None:
        return "new", f"{_FIRST} it could not be seen: {why}" if why else "", ask if why else ""
    why = why or could_see_lines(
        present.evidence, find_captured(sides[known_at], present.node), sides[missing], machine
    )
    if why:
        return "no longer judged", why, ask
    return "gone", "", ""


def find_captured(side: CaseSide, name: str) -> str:
    """Return when a machine of a side was captured, "" when nothing tells."""
    return next((one.captured for one in side.document.nodes if name in (one.name, one.id)), "")


def compare_pair(first: Finding, last: Finding, sides: Sequence[CaseSide]) -> tuple[str, str, str]:
    """Return the state of a finding that the first and the last side have, and why."""
    for what, order in (("severity", SEVERITIES), ("confidence", CONFIDENCES)):
        old = getattr(first, what)
        new = getattr(last, what)
        if old != new and old in order and new in order:
            worse = order.index(new) < order.index(old)
            return "worse" if worse else "better", f"{what} {old} became {new}", ""
    old, new = first.magnitude, last.magnitude
    if (
        old is not None
        and new is not None
        and old > 0
        and new > 0
        and not _LESS < new / old < _MORE
    ):
        return (
            ("worse" if new > old else "better"),
            "by the number that the rule compares with its threshold",
            "",
        )
    times = [evidence.taken for evidence in last.evidence if evidence.taken]
    captured = max((node.captured for node in sides[0].document.nodes), default="")
    if times and captured and max(times) <= captured:
        return (
            "same",
            "all lines shown for it are older than the first capture: nothing new since",
            "",
        )
    return "same", "", ""


def explain_absence(finding: Finding, side: CaseSide, node: str, *, there: bool) -> tuple[str, str]:
    """Return why a side without a finding could not have it, and what to ask for; ("", "") when its rule did look."""
    rule, document = finding.rule, side.document
    if not there:
        return f"{finding.node} is not in that case", ""
    for group in document.cannot_tell:
        of_node = not group.nodes or not node or node in group.nodes
        if rule in group.rules and of_node and is_same_subject(finding, group):
            missing, why = group.missing, group.why
            return why if missing in why else f"{missing}: {why}", group.ask
    quiet = None
    for one in document.quiet:
        if one.rule == rule:
            quiet = one
            break
    if quiet is not None:
        if quiet.looked_at:
            return ("", "")
        return ("the rule does not apply there: nothing of the kind it looks at is there", "")
    if rule in side.judged or any(one.rule == rule for one in document.findings):
        return "", ""
    return "the rule is not among those that judged that case", ""


def is_same_subject(finding: Finding, group: CannotTellGroup) -> bool:
    """Say whether an open question is about the subject of a finding: ports have other numbers later, so by object."""
    words = (finding.subject, finding.object, finding.node)
    if not group.subjects:
        return True
    for subject in group.subjects:
        if subject in words or any(word and word in subject for word in words[1:]):
            return True
    return False
