"""The picture of an NSX site, NSX-v or NSX-T: members as boxes, channels as lines, findings at their channel."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from analyzer.report.site_groups import ALIKE, Channel, group_members
from analyzer.report.wording import Doc

# Kinds of member, one column each; the second of a column stands below the first.
COLUMNS = (
    ("manager",),
    ("controller",),
    ("host", "transport node"),
    ("edge",),
    ("tunnel end", "BGP neighbour"),
)
MOST = 12  # boxes of a column; those with trouble first
WIDTH, GAP, BELOW, LEFT = 190, 90, 22, 30  # pixels; BELOW is between the boxes of a column
NAME, SMALL = 23, 29  # characters that fit across a box, of its name and of what is known of it
NAME_LINE, SMALL_LINE = 17, 14  # pixels
# The other end of a channel that names no single member -> kind of member it ends at.
ALL = {"controllers": "controller", "management cluster": "manager"}
OUTSIDE = "outside NSX"  # a router: it has no bundle to ask for


@dataclass(slots=True)
class SiteBox:
    """A member: its name, what is known of it, and its place in the picture."""

    name: str
    kind: str
    about: str
    state: str
    x: int = 0
    y: int = 0
    height: int = 0  # that of the tallest box, so that rows stand beside each other
    bad: bool = False
    findings: list[Doc] = field(
        default_factory=list
    )  # of what is said of it and of no drawn channel

    @property
    def small(self) -> str:
        """Return the second line of the box: what it is, and what is known of it."""
        about = self.about if self.state in ("in the case", OUTSIDE) else self.state
        return f"{self.kind}, {about}" if about else self.kind

    @property
    def labels(self) -> list[tuple[str, str, int]]:
        """Return the lines of the box: class, text, and how far below its upper edge; nothing is cut."""
        out: list[tuple[str, str, int]] = []
        at = 0
        for kind, text, most, step in (
            ("", self.name, NAME, NAME_LINE),
            ("small", self.small, SMALL, SMALL_LINE),
        ):
            for line in _break_text(text, most):
                at += step
                out.append((kind, line, at))
        return out


def _break_text(text: str, most: int) -> list[str]:
    """Return a text in lines of a width, broken after a space, comma, dot, hyphen or underscore where there is one."""
    lines = [""]
    for part in re.findall(r"[^\s,._-]*(?:[\s,._-]+|$)", text):
        for at in range(0, len(part), most):
            piece = part[at : at + most]
            if len(lines[-1]) + len(piece.rstrip()) > most:
                lines.append("")
            lines[-1] += piece
    return [line.strip() for line in lines if line.strip()] or [""]


@dataclass(slots=True)
class SiteLine:
    """All channels between two members: what is said of them, and the findings that rest on the same lines."""

    ends: tuple[str, str]
    said: list[Doc] = field(default_factory=list)
    findings: list[Doc] = field(default_factory=list)
    path: tuple[int, int, int, int] = (0, 0, 0, 0)
    bow: int = (
        0  # how far the middle stands aside, so that the line passes the boxes between its ends
    )

    @property
    def curve(self) -> str:
        """Return the line as a path of SVG."""
        x1, y1, x2, y2 = self.path
        if not self.bow:
            return f"M{x1} {y1} L{x2} {y2}"
        return f"M{x1} {y1} Q{x1 + 2 * self.bow} {(y1 + y2) // 2} {x2} {y2}"

    @property
    def middle(self) -> tuple[int, int]:
        """Return where a mark stands: half way, of a line that passes a column in the gap before its right end."""
        x1, y1, x2, y2 = self.path
        if x2 - x1 <= GAP:
            return (x1 + x2) // 2 + self.bow, (y1 + y2) // 2
        return x2 - GAP // 2, y2 - (y2 - y1) * (GAP // 2) // (x2 - x1)

    @property
    def state(self) -> str:
        """Return up, down, contradicted (some say up and others down), idle (not meant to be used) or unknown."""
        by: dict[str, set[str]] = {}
        for one in self.said:
            by.setdefault(one["channel"], set()).add(one["state"])
        if any({"up", "down"} <= states for states in by.values()):
            return "contradicted"
        states = set().union(*by.values())
        if "down" in states or states == {"idle"}:
            return "down" if "down" in states else "idle"
        return "up" if all("up" in one or one == {"idle"} for one in by.values()) else "unknown"


@dataclass(slots=True)
class SitePicture:
    """What the page draws and lists of a site."""

    boxes: list[SiteBox]
    lines: list[SiteLine]
    skews: list[Doc]
    missing: list[Doc]
    width: int
    height: int
    left_out: list[str]
    between: list[SiteLine]  # the lines between boxes: those of members that share a box are one
    together: list[str]  # which members a box stands for

    @property
    def absent(self) -> list[Doc]:
        """Return the missing members for the list below the picture, those of which the same is said as one."""
        alike: dict[tuple[str, ...], list[Doc]] = {}
        for one in self.missing:
            alike.setdefault((one["channel"], one["state"], one["note"]), []).append(one)
        found = []
        for same in alike.values():
            if len(same) < ALIKE:
                found += same
            else:
                found.append(
                    {
                        **same[0],
                        "name": ", ".join(one["name"] for one in same),
                        "other": f"{len(same):,} of them",
                    }
                )
        return found

    @property
    def middles(self) -> list[tuple[SiteLine, int, int]]:
        """Return the drawn lines with the place where a mark of a finding stands."""
        return [(one, *one.middle) for one in self.drawn]

    @property
    def troubled(self) -> list[SiteLine]:
        """Return the lines that are not up, or that a finding is about."""
        return [one for one in self.lines if _is_troubled(one)]

    @property
    def others(self) -> list[SiteLine]:
        """Return the lines that are up, or not meant to be used."""
        return [one for one in self.lines if not _is_troubled(one)]

    @property
    def drawn(self) -> list[SiteLine]:
        """Return the lines between boxes of the picture; those with trouble last, so that none hides them."""
        between = sorted(self.between, key=lambda line: (not _is_troubled(line), line.ends))
        return [one for one in reversed(between) if any(one.path) and one.state != "idle"]


def _is_troubled(line: SiteLine) -> bool:
    return bool(line.findings) or line.state not in ("up", "idle")


def draw_site(doc: Doc) -> SitePicture | None:
    """Return the picture of the site of a case, None for a case without one."""
    records = doc.get("site") or []
    members = [one for one in records if one["what"] == "member"]
    if len(members) < 2:
        return None
    lines = _build_lines(doc, [one for one in records if one["what"] == "channel"])
    troubled = {name for line in lines if _is_troubled(line) for name in line.ends}
    members = [{**one, "other": _describe_member(one)} for one in members]
    channels = [
        Channel(one.ends, one.state, frozenset((f["node"], f["rule"]) for f in one.findings))
        for one in lines
    ]
    groups = group_members(members, channels)
    between = _merge_lines(lines, groups.box_of)
    boxes, left_out = _place_boxes(
        groups.members, {groups.box_of.get(name, name) for name in troubled}, between
    )
    _place_lines(boxes, between)
    kinds = [kind for column in COLUMNS for kind in column]
    left_out += [one["state"] for one in records if one["what"] == "left out"]
    tallest = max((box.y + box.height for box in boxes), default=0) + 10
    return SitePicture(
        boxes,
        sorted(lines, key=lambda line: (not _is_troubled(line), line.ends)),
        [one for one in records if one["what"] == "skew"],
        sorted(
            (one for one in members if one["state"] not in ("in the case", OUTSIDE)),
            key=lambda one: (kinds.index(one["channel"]), one["name"] not in troubled),
        ),
        max((box.x for box in boxes), default=0) + WIDTH + GAP,
        tallest,
        left_out,
        between,
        groups.members_by_box(),
    )


def _merge_lines(lines: list[SiteLine], box_of: dict[str, str]) -> list[SiteLine]:
    """Return the lines between boxes: those of members that share a box are one."""
    found: dict[tuple[str, str], SiteLine] = {}
    for line in lines:
        ends = (box_of.get(line.ends[0], line.ends[0]), box_of.get(line.ends[1], line.ends[1]))
        one = found.setdefault(ends, SiteLine(ends))
        one.said += line.said
        one.findings += [finding for finding in line.findings if finding not in one.findings]
    return [one for one in found.values() if one.ends[0] != one.ends[1]]


def _find_sick(lines: list[SiteLine]) -> set[str]:
    """Return the members of which at least half of the lines have trouble: not the ones that a sick one points at."""
    count: dict[str, list[int]] = {}
    for line in lines:
        for name in line.ends if line.state != "idle" else ():
            held = count.setdefault(name, [0, 0])
            held[_is_troubled(line)] += 1
    return {name for name, (well, sick) in count.items() if sick and sick >= well}


def _describe_member(member: Doc) -> str:
    """Return the address and the id of a member without what it is called by."""
    return ", ".join(part for part in member["other"].split(", ") if part != member["name"])


def _build_lines(doc: Doc, channels: list[Doc]) -> list[SiteLine]:
    """Return the lines of the picture; a finding belongs to the line whose statement stands where its evidence does."""
    found: dict[tuple[str, str], SiteLine] = {}
    at: dict[tuple[str, int], SiteLine] = {}
    for one in channels:
        line = found.setdefault((one["name"], one["other"]), SiteLine((one["name"], one["other"])))
        line.said.append(one)
        at.setdefault((one["address"], one["line"]), line)
    for finding in doc["findings"]:
        if finding["verdict"] != "match" or finding["muted"] or finding["confidence"] == "exposed":
            continue
        for evidence in finding["evidence"]:
            touched = at.get((evidence["address"], evidence["line"]))
            if (
                touched is not None
                and _reports_trouble(touched, evidence)
                and finding not in touched.findings
            ):
                touched.findings.append(finding)
    return list(found.values())


def _reports_trouble(line: SiteLine, evidence: Doc) -> bool:
    """Tell whether what stands on a line of evidence is said to be down, so that a finding is not about what works."""
    own = [
        one
        for one in line.said
        if (one["address"], one["line"]) == (evidence["address"], evidence["line"])
    ]
    return any(one["state"] not in ("up", "idle") for one in own)


def _place_boxes(
    members: list[Doc], troubled: set[str], lines: list[SiteLine]
) -> tuple[list[SiteBox], list[str]]:
    boxes: list[SiteBox] = []
    left_out = []
    sick = _find_sick(lines)
    column = 0
    for kinds in COLUMNS:
        own = [one for one in members if one["channel"] in kinds]
        own.sort(
            key=lambda one: (
                one["name"] not in troubled,
                one["state"] == "in the case",
                one["name"],
            )
        )
        shown = sorted(own[:MOST], key=lambda one: kinds.index(one["channel"]))
        for row, one in enumerate(shown):
            x, bad = LEFT + column * (WIDTH + GAP), one["name"] in sick
            boxes.append(
                SiteBox(one["name"], one["channel"], one["other"], one["state"], x, row, bad=bad)
            )
        for kind in kinds:
            if more := sum(one["channel"] == kind for one in own[MOST:]):
                left_out.append(
                    f"{more:,} more members ({kind}) are not drawn; those with trouble come first"
                )
        column += bool(own)
    height = max((box.labels[-1][2] for box in boxes), default=0) + 9
    for box in boxes:
        box.height, box.y = height, 10 + box.y * (height + BELOW)
    return boxes, left_out


def _place_lines(boxes: list[SiteBox], lines: list[SiteLine]) -> None:
    """Set the ends of each line whose members are drawn; one to all of a kind ends at the middle of their column.

    Findings of what has no other end in the picture stand at the box.
    """
    places = {box.name: box for box in boxes}
    for line in lines:
        one, other = places.get(line.ends[0]), places.get(line.ends[1])
        ended = [box for box in boxes if box.kind == ALL.get(line.ends[1])]
        if ended and one is not None and one.kind != ended[0].kind:
            other = ended[len(ended) // 2]
        if one is None or other is None:
            for box in (one, other):
                if box is not None:
                    box.findings += [
                        finding for finding in line.findings if finding not in box.findings
                    ]
            continue
        left, right = (one, other) if one.x <= other.x else (other, one)
        if left.x == right.x:
            _place_in_column(line, one, other)
            continue
        line.path = (
            left.x + WIDTH,
            left.y + left.height // 2,
            right.x,
            right.y + right.height // 2,
        )


def _place_in_column(line: SiteLine, one: SiteBox, other: SiteBox) -> None:
    """Set the ends of a line between two boxes of one column: each way has its side, past the boxes between them."""
    upper, lower = sorted((one, other), key=lambda box: box.y)
    down = one is upper
    if lower.y - upper.y <= upper.height + BELOW:
        x = one.x + WIDTH // 2 + (30 if down else -30)
        line.path = (x, upper.y + upper.height, x, lower.y)
        return
    x, line.bow = (one.x + WIDTH, 20) if down else (one.x, -20)
    line.path = (x, upper.y + upper.height // 2, x, lower.y + lower.height // 2)
