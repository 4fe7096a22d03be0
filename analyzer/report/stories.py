"""One cause, one story: rows of a report that another row explains are folded under it."""

from __future__ import annotations

from dataclasses import field

from analyzer.lazy_dataclass import dataclass
from analyzer.report.finding_rows import FindingGroup, groups
from analyzer.report.view import SEVERITIES, causes
from analyzer.report.wording import Doc, counted


@dataclass(slots=True)
class Story:
    """A row that stands by itself, and the rows that it explains, worst first."""

    row: FindingGroup
    signs: list[FindingGroup] = field(default_factory=list)

    @property
    def sentence(self) -> str:
        """Say how many findings follow from the row, and what that means for whoever mends them; "" for none."""
        many = counted(len(self.signs), "more finding follows", "more findings follow")
        return f"{many} from this: fix this first, then check whether they are gone" if many else ""

    @property
    def worse(self) -> list[FindingGroup]:
        """The folded rows that are more severe than the row they are folded under: they must stay in sight."""
        return [sign for sign in self.signs if _weight(sign) < _weight(self.row)]


def stories(doc: Doc) -> list[Story]:
    """Return the rows of a report as stories, each where its worst row stands in the document.

    A row is folded when each of its findings has a cause that is not muted and stands in another row; a chain of
    causes is one story under the first of them.
    """
    rows = groups(doc)
    place = {finding["id"]: number for number, row in enumerate(rows) for finding in row.findings}
    parents = {number: _cause(doc, row, place, number) for number, row in enumerate(rows)}
    told: dict[int, Story] = {}
    for number, row in enumerate(rows):
        root = _root(parents, number)
        story = told.setdefault(root, Story(rows[root]))
        if root != number:
            story.signs.append(row)
    for story in told.values():
        story.signs.sort(key=_weight)
    return list(told.values())


def in_order(told: list[Story]) -> list[FindingGroup]:
    """Return all rows as they are read: each story, then what it explains."""
    return [row for story in told for row in (story.row, *story.signs)]


def _weight(row: FindingGroup) -> int:
    """Return how severe a row is: less is worse."""
    return SEVERITIES.index(row.word) if row.word in SEVERITIES else len(SEVERITIES)


def _cause(doc: Doc, row: FindingGroup, place: dict[str, int], number: int) -> int | None:
    """Return the row that explains all findings of a row, the first of several; None when one stands by itself."""
    if not all(any(place.get(one, number) != number for one in finding["explained_by"]) for finding in row.findings):
        return None
    found = [place[one] for _, one in causes(doc, row.first) if place.get(one, number) != number]
    return found[0]


def _root(parents: dict[int, int | None], number: int) -> int:
    """Return the row a chain of causes begins with; a circle, which no shipped rules make, folds nothing."""
    seen, at = {number}, number
    while (above := parents[at]) is not None:
        if above in seen:
            return number
        seen.add(above)
        at = above
    return at
