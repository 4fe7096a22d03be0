"""The picture of an NSX for vSphere site: members as boxes, channels as lines, findings at their channel."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from analyzer.lazy_dataclass import dataclass

Doc = dict[str, Any]

KINDS = ("manager", "controller", "host", "edge")  # one column each
MOST = 12  # boxes of a kind; those with trouble first
WIDTH, HEIGHT, GAP, STEP = 190, 40, 90, 62  # pixels
ALL = "controllers"  # the other end of a channel that names no single controller


@dataclass(slots=True)
class SiteBox:
    """A member: its name, what is known of it, and its place in the picture."""

    name: str
    kind: str
    about: str
    state: str
    x: int = 0
    y: int = 0
    bad: bool = False

    @property
    def small(self) -> str:
        """Return the second line of the box: what it is, and what is known of it."""
        about = self.about if self.state == "in the case" else self.state
        return f"{self.kind}, {about}" if about else self.kind

    @property
    def label(self) -> str:
        """Return as much of the name as fits into the box."""
        return _fitting(self.name, 25)

    @property
    def small_label(self) -> str:
        """Return as much of the second line as fits."""
        return _fitting(self.small, 31)


def _fitting(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


@dataclass(slots=True)
class SiteLine:
    """All channels between two members: what is said of them, and the findings that rest on the same lines."""

    ends: tuple[str, str]
    said: list[Doc] = field(default_factory=list)
    findings: list[Doc] = field(default_factory=list)
    path: tuple[int, int, int, int] = (0, 0, 0, 0)

    @property
    def state(self) -> str:
        """Return up, down, contradicted (some say up and others down of one channel) or unknown."""
        by: dict[str, set[str]] = {}
        for one in self.said:
            by.setdefault(one["channel"], set()).add(one["state"])
        if any({"up", "down"} <= states for states in by.values()):
            return "contradicted"
        states = set().union(*by.values())
        return "down" if "down" in states else "up" if "up" in states else "unknown"


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

    @property
    def middles(self) -> list[tuple[SiteLine, int, int]]:
        """Return the drawn lines with their middle, where a mark of a finding stands."""
        return [(one, (one.path[0] + one.path[2]) // 2, (one.path[1] + one.path[3]) // 2) for one in self.drawn]

    @property
    def drawn(self) -> list[SiteLine]:
        """Return the lines between boxes of the picture; those with trouble last, so that none hides them."""
        return [one for one in reversed(self.lines) if any(one.path)]


def picture(doc: Doc) -> SitePicture | None:
    """Return the picture of the site of a case, None for a case without one."""
    records = doc.get("site") or []
    members = [one for one in records if one["what"] == "member"]
    if len(members) < 2:
        return None
    lines = _lines(doc, [one for one in records if one["what"] == "channel"])
    troubled = {name for line in lines if line.state != "up" or line.findings for name in line.ends}
    boxes, left_out = _boxes(members, troubled)
    _draw(boxes, lines)
    left_out += [one["state"] for one in records if one["what"] == "left out"]
    tallest = max((box.y for box in boxes), default=0) + HEIGHT + 10
    return SitePicture(
        boxes,
        sorted(lines, key=lambda line: (line.state == "up" and not line.findings, line.ends)),
        [one for one in records if one["what"] == "skew"],
        [one for one in members if one["state"] != "in the case"],
        10 + len({box.kind for box in boxes}) * (WIDTH + GAP),
        tallest,
        left_out,
    )


def _lines(doc: Doc, channels: list[Doc]) -> list[SiteLine]:
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
            if touched is not None and _says_trouble(touched, evidence) and finding not in touched.findings:
                touched.findings.append(finding)
    return list(found.values())


def _says_trouble(line: SiteLine, evidence: Doc) -> bool:
    """Tell whether what stands on a line of evidence is said to be down, so that a finding is not about what works."""
    own = [one for one in line.said if (one["address"], one["line"]) == (evidence["address"], evidence["line"])]
    return any(one["state"] != "up" for one in own)


def _boxes(members: list[Doc], troubled: set[str]) -> tuple[list[SiteBox], list[str]]:
    boxes: list[SiteBox] = []
    left_out = []
    column = 0
    for kind in KINDS:
        own = [one for one in members if one["channel"] == kind]
        own.sort(key=lambda one: (one["name"] not in troubled and one["state"] == "in the case", one["name"]))
        for row, one in enumerate(own[:MOST]):
            x, y = 10 + column * (WIDTH + GAP), 10 + row * STEP
            boxes.append(SiteBox(one["name"], kind, one["other"], one["state"], x, y, one["name"] in troubled))
        if len(own) > MOST:
            left_out.append(f"{len(own) - MOST:,} more members ({kind}) are not drawn; those with trouble come first")
        column += bool(own)
    return boxes, left_out


def _draw(boxes: list[SiteBox], lines: list[SiteLine]) -> None:
    """Set the ends of each line whose members are drawn; one to all controllers ends at the middle of their column."""
    places = {box.name: box for box in boxes}
    controllers = [box for box in boxes if box.kind == "controller"]
    for line in lines:
        one, other = places.get(line.ends[0]), places.get(line.ends[1])
        if line.ends[1] == ALL and controllers and one is not None and one.kind != "controller":
            other = controllers[len(controllers) // 2]
        if one is None or other is None:
            continue
        left, right = (one, other) if one.x <= other.x else (other, one)
        if left.x == right.x:
            upper, lower = sorted((left, right), key=lambda box: box.y)
            line.path = (left.x + WIDTH // 2, upper.y + HEIGHT, right.x + WIDTH // 2, lower.y)
            continue
        line.path = (left.x + WIDTH, left.y + HEIGHT // 2, right.x, right.y + HEIGHT // 2)
