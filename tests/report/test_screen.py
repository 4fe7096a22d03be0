"""A case on a terminal: at most 24 rows of 80 columns, the rows of the report in its order, nothing dropped unsaid."""

from __future__ import annotations

import io
import re

import pytest
from msgspec import structs
from rich.console import Console

from analyzer.case.document import CaseDocument
from analyzer.report import desk_rows, finding_rows, summary
from tests.kit.case_factory import hostile_case, quiet_case, rich_case

STYLE = re.compile(r"\x1b\[[0-9;]*m")
BELOW = 2  # rows that triage prints below: the command for the log, the report


def show_screen(doc: CaseDocument, width: int = 80) -> list[str]:
    """Return the rows of a terminal, without their styles."""
    out = io.StringIO()
    summary.print_summary(doc, Console(file=out, width=width, force_terminal=True))
    return STYLE.sub("", out.getvalue()).splitlines()


def grow_case(times: int) -> CaseDocument:
    """Return the rich case with the findings of its first rule on so many rules more."""
    doc = rich_case()
    more = []
    for number in range(times):
        for one in doc.findings:
            more.append(
                structs.replace(
                    one,
                    id=f"{one.id}/{number}",
                    rule=f"{one.rule}-{number}",
                    explained_by=[],
                    explains=[],
                )
            )
    return structs.replace(doc, findings=[*doc.findings, *more])


@pytest.mark.parametrize(
    "doc",
    [rich_case(), hostile_case(), quiet_case(), grow_case(40)],
    ids=["rich", "hostile", "quiet", "many"],
)
def test_a_case_fits_a_terminal_of_24_rows(doc: CaseDocument) -> None:
    """Head, table, counts and one thing to ask for leave room for what triage prints below."""
    rows = show_screen(doc)
    assert len(rows) <= 24 - BELOW
    assert all(len(row) <= 80 for row in rows)


def test_the_rows_are_those_of_the_report_and_the_rest_is_counted() -> None:
    """The numbers go 1, 2, 3 as in the report; what is not shown is counted to the last finding."""
    doc = grow_case(6)
    stories = finding_rows.list_stories(doc)
    every = [row for row in desk_rows.list_desk_rows(doc, stories) if row.sign is None]
    rows = show_screen(doc)
    shown = [
        int(found[1])
        for row in rows
        if (found := re.match(r" ?(\d+) (?:CRIT|MAJOR|WARN|INFO|BROKE)", row))
    ]
    assert shown == [int(row.number) for row in every[: len(shown)]]
    assert f"MORE {len(every) - len(shown):,} findings" in "\n".join(rows)


def test_no_row_is_cut_in_the_name_of_its_object_or_its_address() -> None:
    """Names lose their middle and keep both ends; the line of the address stays whole."""
    doc = rich_case()
    text = "\n".join(show_screen(doc))
    for row in desk_rows.list_desk_rows(doc, finding_rows.list_stories(doc))[:3]:
        line = row.place.rpartition(":")[2]
        assert not line.isdigit() or f":{line}" in text


def test_a_wider_terminal_shows_more_of_a_title() -> None:
    """At 160 columns a title of the usual length is whole."""
    doc = rich_case()
    first = finding_rows.list_stories(doc)[0].row.first
    assert first.title in "\n".join(show_screen(doc, 160))
