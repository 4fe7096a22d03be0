"""The number of a finding: the same in the page, the note, the terminal and in `backline log --around 3`.

Findings are counted as they are read (`stories.in_order`): one rule at one weight is one number, on however many
objects. Its objects are `3`, `3.2`, `3.3`. What is muted has no number.
"""

from __future__ import annotations

from analyzer.report.finding_rows import FindingGroup
from analyzer.report.stories import CasePart, list_stories, list_story_rows
from analyzer.report.wording import Doc


def take_part(whole: Doc, part: Doc) -> CasePart:
    """Return a part of a case document in which findings keep their numbers."""
    return CasePart(number_findings(whole), part)


def number_findings(doc: Doc) -> dict[str, str]:
    """Return id of a finding -> its number; the first object of a finding has the number alone."""
    if isinstance(doc, CasePart):
        return doc.numbers
    found: dict[str, str] = {}
    for number, row in enumerate(list_rows(doc), 1):
        for place, one in enumerate(row.findings, 1):
            found[one["id"]] = f"{number}.{place}" if place > 1 else str(number)
    return found


def list_rows(doc: Doc) -> list[FindingGroup]:
    """Return the findings that count, folded, in the order in which every report tells them."""
    return list_story_rows(list_stories(doc))


def number_row(row: FindingGroup, known: dict[str, str]) -> str:
    """Return the number of a row among `numbers` of its document."""
    return known.get(row.first["id"], "").partition(".")[0]
