"""The picture of an NSX site, NSX-v or NSX-T: members as boxes, channels as lines, findings at their channel.

Members that look alike share a box: hosts that are well, hosts that lost one edge.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec import structs

from analyzer.case.document import CaseDocument, SiteRow
from analyzer.case.verdicts import Evidence, Finding
from analyzer.runtime.text import natural_key

# Kinds of member, one column each; the second of a column is below the first.
COLUMNS = (
    ("manager",),
    ("controller",),
    ("host", "transport node"),
    ("edge",),
    ("tunnel end", "BGP neighbour"),
)
KINDS = [kind for column in COLUMNS for kind in column]
ALIKE = 4  # members of one kind that look the same become one box
MOST = 12  # boxes of a column; those with trouble first
WIDTH, GAP, BELOW, LEFT = 190, 90, 22, 30  # pixels; BELOW is between the boxes of a column
NAME, SMALL = 23, 29  # characters that fit across a box, of its name and of what is known of it
NAME_LINE, SMALL_LINE = 17, 14  # pixels
# The other end of a channel that names no single member -> kind of member it ends at.
ALL = {"controllers": "controller", "management cluster": "manager"}
OUTSIDE = "outside NSX"  # a router: it has no bundle to ask for
_BREAKABLE = re.compile(r"[^\s,._-]*(?:[\s,._-]+|$)")


@dataclass(slots=True)
class SiteBox:
    """A member: its name, what is known of it, and its place in the picture."""

    name: str
    kind: str
    about: str
    state: str
    x: int = 0
    y: int = 0
    height: int = 0  # that of the tallest box, so that rows are level
    bad: bool = False
    findings: list[Finding] = field(default_factory=list)  # about it and on no drawn channel

    @property
    def small(self) -> str:
        """The second line of the box: what it is, and what is known of it."""
        if self.state in ("in the case", OUTSIDE):
            about = self.about
        else:
            about = self.state
        if about:
            return f"{self.kind}, {about}"
        return self.kind

    @property
    def labels(self) -> list[tuple[str, str, int]]:
        """The lines of the box: class, text, and how far below its upper edge; nothing is cut."""
        labels: list[tuple[str, str, int]] = []
        below = 0
        for line in _break_text(self.name, NAME):
            below += NAME_LINE
            labels.append(("", line, below))
        for line in _break_text(self.small, SMALL):
            below += SMALL_LINE
            labels.append(("small", line, below))
        return labels

    def add_findings(self, findings: list[Finding]) -> None:
        """Add findings, each once."""
        self.findings += [finding for finding in findings if finding not in self.findings]


def rank_kind(kind: str) -> int:
    """Return the place of a kind of member among all; of a word that is none, the last."""
    if kind in KINDS:
        return KINDS.index(kind)
    return len(KINDS)


def _break_text(text: str, most: int) -> list[str]:
    """Return a text in lines of a width, broken after a space, comma, dot, hyphen or underscore where there is one."""
    lines = [""]
    for part in _BREAKABLE.findall(text):
        for start in range(0, len(part), most):
            piece = part[start : start + most]
            if len(lines[-1]) + len(piece.rstrip()) > most:
                lines.append("")
            lines[-1] += piece
    return [line.strip() for line in lines if line.strip()] or [""]


@dataclass(slots=True)
class SiteLine:
    """All channels between two members: what is reported of them, and the findings that rest on the same lines."""

    ends: tuple[str, str]
    said: list[SiteRow] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    path: tuple[int, int, int, int] = (0, 0, 0, 0)
    bow: int = 0  # how far the middle is aside, so that the line passes the boxes between its ends

    @property
    def curve(self) -> str:
        """The line as a path of SVG."""
        x1, y1, x2, y2 = self.path
        if not self.bow:
            return f"M{x1} {y1} L{x2} {y2}"
        middle = (y1 + y2) // 2
        return f"M{x1} {y1} Q{x1 + 2 * self.bow} {middle} {x2} {y2}"

    @property
    def middle(self) -> tuple[int, int]:
        """Where a mark goes: half way, of a line that passes a column in the gap before its right end."""
        x1, y1, x2, y2 = self.path
        if x2 - x1 <= GAP:
            return (x1 + x2) // 2 + self.bow, (y1 + y2) // 2
        return x2 - GAP // 2, y2 - (y2 - y1) * (GAP // 2) // (x2 - x1)

    @property
    def state(self) -> str:
        """One of up, down, contradicted (reported as both), idle (not meant to be used) and unknown."""
        states_by_channel: dict[str, set[str]] = {}
        for one in self.said:
            states_by_channel.setdefault(one.channel, set()).add(one.state)
        channels = list(states_by_channel.values())
        if any({"up", "down"} <= states for states in channels):
            return "contradicted"
        if any("down" in states for states in channels):
            return "down"
        used = [states for states in channels if states != {"idle"}]
        if channels and not used:
            return "idle"
        if all("up" in states for states in used):
            return "up"
        return "unknown"

    @property
    def is_troubled(self) -> bool:
        """True for a line that is not well, or that a finding is about."""
        return bool(self.findings) or self.state not in ("up", "idle")

    def reports_trouble(self, evidence: Evidence) -> bool:
        """Say whether a line of evidence reports the channel as not well: no finding is about what works."""
        where = (evidence.address, evidence.line)
        for one in self.said:
            if (one.address, one.line) == where and one.state not in ("up", "idle"):
                return True
        return False


@dataclass(slots=True)
class SitePicture:
    """What the page draws and lists of a site."""

    boxes: list[SiteBox]
    lines: list[SiteLine]
    skews: list[SiteRow]
    missing: list[SiteRow]
    width: int
    height: int
    left_out: list[str]
    between: list[SiteLine]  # the lines between boxes: those of members that share a box are one
    together: list[str]  # which members a box stands for

    @property
    def absent(self) -> list[SiteRow]:
        """The missing members for the list below the picture, those that differ in their names alone as one."""
        alike: dict[tuple[str, ...], list[SiteRow]] = {}
        for one in self.missing:
            alike.setdefault((one.channel, one.state, one.note), []).append(one)
        absent = []
        for same in alike.values():
            if len(same) < ALIKE:
                absent += same
                continue
            names = ", ".join(one.name for one in same)
            absent.append(structs.replace(same[0], name=names, other=f"{len(same):,} of them"))
        return absent

    @property
    def middles(self) -> list[tuple[SiteLine, int, int]]:
        """The drawn lines with the place of the mark of a finding."""
        return [(line, *line.middle) for line in self.drawn_lines]

    @property
    def troubled_lines(self) -> list[SiteLine]:
        """The lines that are not up, or that a finding is about."""
        return [line for line in self.lines if line.is_troubled]

    @property
    def others(self) -> list[SiteLine]:
        """The lines that are up, or not meant to be used."""
        return [line for line in self.lines if not line.is_troubled]

    @property
    def drawn_lines(self) -> list[SiteLine]:
        """The lines between boxes of the picture; those with trouble last, so that none hides them."""
        between = sorted(self.between, key=lambda line: (not line.is_troubled, line.ends))
        return [line for line in reversed(between) if any(line.path) and line.state != "idle"]


def draw_site(doc: CaseDocument) -> SitePicture | None:
    """Return the picture of the site of a case, None for a case without one."""
    records: dict[str, list[SiteRow]] = defaultdict(list)
    for record in doc.site:
        records[record.what].append(record)
    if len(records["member"]) < 2:
        return None
    members = []
    for one in records["member"]:
        # the address and the id of a member, without what it is called by
        about = ", ".join(part for part in one.other.split(", ") if part != one.name)
        members.append(structs.replace(one, other=about))
    lines = build_lines(doc, records["channel"])
    troubled = {name for line in lines if line.is_troubled for name in line.ends}
    groups = group_members(members, lines)
    between = merge_lines(lines, groups.box_of)
    boxes, left_out = place_boxes(groups, troubled, between)
    place_lines(boxes, between)
    missing = [one for one in members if one.state not in ("in the case", OUTSIDE)]
    missing.sort(key=lambda one: (rank_kind(one.channel), one.name not in troubled))
    return SitePicture(
        boxes=boxes,
        lines=sorted(lines, key=lambda line: (not line.is_troubled, line.ends)),
        skews=records["skew"],
        missing=missing,
        width=max((box.x for box in boxes), default=0) + WIDTH + GAP,
        height=max((box.y + box.height for box in boxes), default=0) + 10,
        left_out=left_out + [one.state for one in records["left out"]],
        between=between,
        together=groups.members_by_box,
    )


def build_lines(doc: CaseDocument, channels: list[SiteRow]) -> list[SiteLine]:
    """Return the lines of the picture; a finding belongs to the line that is reported where its evidence is."""
    lines: dict[tuple[str, str], SiteLine] = {}
    lines_by_place: dict[tuple[str, int], SiteLine] = {}
    for one in channels:
        ends = (one.name, one.other)
        line = lines.setdefault(ends, SiteLine(ends))
        line.said.append(one)
        lines_by_place.setdefault((one.address, one.line), line)
    for finding in doc.findings:
        if finding.verdict != "match" or finding.muted or finding.confidence == "exposed":
            continue
        for evidence in finding.evidence:
            touched = lines_by_place.get((evidence.address, evidence.line))
            if touched is None or finding in touched.findings:
                continue
            if touched.reports_trouble(evidence):
                touched.findings.append(finding)
    return list(lines.values())


class Groups(NamedTuple):
    """Members to draw, and for each name that is no box of its own the name of its box."""

    members: list[SiteRow]
    box_of: dict[str, str]

    @property
    def members_by_box(self) -> list[str]:
        """Of each box that stands for several members which they are; no name is left out."""
        names: dict[str, list[str]] = defaultdict(list)
        for name, box in self.box_of.items():
            names[box].append(name)
        return [f"{box}: {', '.join(names[box])}" for box in names]


def group_members(members: list[SiteRow], lines: list[SiteLine]) -> Groups:
    """Return the members, those of one kind whose lines to all others look alike as one."""
    looks: dict[str, set[object]] = defaultdict(set)
    for line in lines:
        for name, other in (line.ends, line.ends[::-1]):
            rules = frozenset(one.rule for one in line.findings if one.node == name)
            looks[name].add((other, name == line.ends[0], line.state, rules))
    alike: dict[tuple[object, ...], list[SiteRow]] = defaultdict(list)
    for one in members:
        look = frozenset(looks.get(one.name, ()))
        alike[one.channel, one.state, look].append(one)
    drawn: list[SiteRow] = []
    box_of: dict[str, str] = {}
    for same in alike.values():
        if len(same) < ALIKE:
            drawn += same
            continue
        names = sorted((str(one.name) for one in same), key=natural_key)
        box = f"{len(same):,} {same[0].channel}s like {names[0]}"
        drawn.append(structs.replace(same[0], name=box, other=""))
        box_of.update(dict.fromkeys(names, box))
    return Groups(drawn, box_of)


def merge_lines(lines: list[SiteLine], box_of: dict[str, str]) -> list[SiteLine]:
    """Return the lines between boxes: those of members that share a box are one."""
    merged: dict[tuple[str, str], SiteLine] = {}
    for line in lines:
        first, second = (box_of.get(name, name) for name in line.ends)
        if first == second:
            continue
        one = merged.setdefault((first, second), SiteLine((first, second)))
        one.said += line.said
        one.findings += [finding for finding in line.findings if finding not in one.findings]
    return list(merged.values())


def place_boxes(
    groups: Groups, troubled: set[str], lines: list[SiteLine]
) -> tuple[list[SiteBox], list[str]]:
    """Return the boxes of the picture, and in sentences which members are not drawn."""
    boxes: list[SiteBox] = []
    left_out = []
    troubled_boxes = {groups.box_of.get(name, name) for name in troubled}
    sick = _find_sick(lines)
    x = LEFT
    # a document that another program wrote may name a kind that is none: its members have the last column
    strange = {one.channel: None for one in groups.members if one.channel not in KINDS}
    for kinds in (*COLUMNS, tuple(strange)):
        members = [one for one in groups.members if one.channel in kinds]
        if not members:
            continue
        members.sort(
            key=lambda one: (
                one.name not in troubled_boxes,
                one.state == "in the case",
                one.name,
            )
        )
        drawn = sorted(members[:MOST], key=lambda one: rank_kind(one.channel))
        for row, one in enumerate(drawn):
            box = SiteBox(one.name, one.channel, one.other, one.state, x, row)
            box.bad = box.name in sick
            boxes.append(box)
        for kind in kinds:
            more = sum(one.channel == kind for one in members[MOST:])
            if more:
                left_out.append(
                    f"{more:,} more members ({kind}) are not drawn; those with trouble come first"
                )
        x += WIDTH + GAP
    height = max((box.labels[-1][2] for box in boxes), default=0) + 9
    for box in boxes:
        box.height = height
        box.y = 10 + box.y * (height + BELOW)
    return boxes, left_out


def _find_sick(lines: list[SiteLine]) -> set[str]:
    """Return the members of which at least half of the lines have trouble: not the ones that a sick one points at."""
    well: dict[str, int] = defaultdict(int)
    sick: dict[str, int] = defaultdict(int)
    for line in lines:
        if line.state != "idle":
            if line.is_troubled:
                counts = sick
            else:
                counts = well
            for name in line.ends:
                counts[name] += 1
    return {name for name, count in sick.items() if count >= well[name]}


def place_lines(boxes: list[SiteBox], lines: list[SiteLine]) -> None:
    """Set the ends of each line whose members are drawn; one to all of a kind ends at the middle of their column.

    Findings of a line that has no other end in the picture go to the box.
    """
    box_by_name = {box.name: box for box in boxes}
    for line in lines:
        one = box_by_name.get(line.ends[0])
        other = box_by_name.get(line.ends[1])
        column = []
        for box in boxes:
            if box.kind == ALL.get(line.ends[1]):
                column.append(box)
        if column and one is not None and one.kind != column[0].kind:
            other = column[len(column) // 2]
        if one is None or other is None:
            lone = one or other
            if lone is not None:
                lone.add_findings(line.findings)
            continue
        left, right = sorted((one, other), key=lambda box: box.x)
        if left.x == right.x:
            _place_in_column(line, one, other)
        else:
            start = left.y + left.height // 2
            end = right.y + right.height // 2
            line.path = (left.x + WIDTH, start, right.x, end)


def _place_in_column(line: SiteLine, one: SiteBox, other: SiteBox) -> None:
    """Set the ends of a line between two boxes of one column: each way has its side, past the boxes between them."""
    upper, lower = sorted((one, other), key=lambda box: box.y)
    is_down = one is upper
    if lower.y - upper.y <= upper.height + BELOW:
        x = one.x + WIDTH // 2 + (30 if is_down else -30)
        line.path = (x, upper.y + upper.height, x, lower.y)
        return
    x, line.bow = (one.x + WIDTH, 20) if is_down else (one.x, -20)
    upper_y = upper.y + upper.height // 2
    lower_y = lower.y + lower.height // 2
    line.path = (x, upper_y, x, lower_y)
