"""One cause, one story: rows of a report that another row explains are folded under it."""

from __future__ import annotations

from dataclasses import dataclass, field

from analyzer.case.ranking import rank_stories, severity_rank
from analyzer.report.finding_rows import FindingGroup, show_as_one
from analyzer.report.wording import Doc, count_noun


@dataclass(slots=True)
class Story:
    """A row that stands by itself, and the rows that it explains, each cause before its signs."""

    row: FindingGroup
    signs: list[FindingGroup] = field(default_factory=list)

    @property
    def rows(self) -> list[FindingGroup]:
        """The row, then what it explains."""
        return [self.row, *self.signs]

    @property
    def sentence(self) -> str:
        """Say how many findings follow from the row, and what that means for whoever mends them; "" for none."""
        many = count_noun(len(self.signs), "more finding follows", "more findings follow")
        return f"{many} from this: fix this first, then check whether they are gone" if many else ""

    @property
    def worse(self) -> list[FindingGroup]:
        """The folded rows that are more severe than the row they are folded under: they must stay in sight."""
        own = severity_rank(self.row.word)
        return [sign for sign in self.signs if severity_rank(sign.word) < own]

    @property
    def explains(self) -> str:
        """Say how many rows follow, and which of them are more severe: `explains 3 more, 1 of them critical`."""
        if not self.signs:
            return ""
        said = f"explains {len(self.signs):,} more"
        if not self.worse:
            return said
        words = [sign.word for sign in self.worse]
        worst = min(words, key=severity_rank)
        return (
            f"{said}, {words.count(worst):,} of them {worst}"
            if len(self.signs) > 1
            else f"{said}, {worst}"
        )


class CasePart(Doc):
    """A part of a case document. Its findings keep the order and the numbers that they have in the whole case."""

    def __init__(self, numbers: dict[str, str], part: Doc) -> None:
        super().__init__(part)
        self.numbers = numbers
        self.places = {identity: place for place, identity in enumerate(numbers)}


def list_stories(doc: Doc) -> list[Story]:
    """Return the rows of a report as stories, in the order of `analyzer.case.ranking`, also those of a part.

    A row is folded when each of its findings has a cause that is not muted and stands in another row; a chain of
    causes is one story under the first of them.
    """
    live = [finding for finding in doc["findings"] if not finding["muted"]]
    told = []
    for row, *signs in rank_stories(show_as_one(live)):
        told.append(
            Story(FindingGroup(row.findings), [FindingGroup(sign.findings) for sign in signs])
        )
    if isinstance(doc, CasePart):
        for story in told:
            story.signs.sort(key=lambda sign: _find_place(doc, sign))
        told.sort(key=lambda story: min(_find_place(doc, row) for row in story.rows))
    return told


def list_story_rows(told: list[Story]) -> list[FindingGroup]:
    """Return all rows as they are read: each story, then what it explains."""
    return [row for story in told for row in story.rows]


def _find_place(part: CasePart, row: FindingGroup) -> int:
    return min(part.places.get(finding["id"], len(part.places)) for finding in row.findings)
