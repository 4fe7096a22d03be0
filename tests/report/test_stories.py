"""One cause, one story; the note that fits a ticket; the e-mail of commands alone."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec import structs

from analyzer.case import case_file
from analyzer.cli import main
from analyzer.report import finding_rows, open_asks, short_note
from analyzer.report.mail import write_mail
from tests.kit.case_factory import hostile_case, quiet_case, rich_case

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "cases"


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the document of a VM with a CPU limit, which explains two other findings, as the command writes it."""
    out = tmp_path_factory.mktemp("limited")
    done = CliRunner().invoke(
        main, ["triage", str(SAMPLES / "cpu-limited-vm"), "-o", str(out), "--quiet", "--no-packs"]
    )
    assert done.exit_code == 0, done.output
    return case_file.read_case(out / "case.json")


def tree(doc: dict[str, Any]) -> dict[str, list[str]]:
    """Return the rules of each story: the cause, then what is folded under it."""
    return {
        one.row.first.rule: [sign.first.rule for sign in one.signs]
        for one in finding_rows.list_stories(doc)
    }


def test_what_a_finding_explains_is_folded_under_it(limited: dict[str, Any]) -> None:
    """The CPU limit is the story; full rings and dropped packets follow from it, and every row is told once."""
    assert tree(limited)["cpu-limit-starves-vm"] == ["kb-2039495", "kb-1010071"]
    rows = finding_rows.list_story_rows(finding_rows.list_stories(limited))
    assert sorted(row.first.id for row in rows) == sorted(
        row.first.id for row in finding_rows.group_findings(limited)
    )


def test_a_muted_cause_folds_nothing(limited: dict[str, Any]) -> None:
    """What a muted finding explains stays in sight."""
    doc = copy.deepcopy(limited)
    causes = {one for finding in doc.findings for one in finding.explained_by}
    assert causes
    for finding in doc.findings:
        finding.muted = "wanted here" if finding.id in causes else ""
    assert not any(tree(doc).values())


def test_one_subject_without_a_cause_keeps_its_row_in_sight() -> None:
    """Of a row of many subjects all must be explained; one that stands by itself would be hidden with the rest."""
    doc = rich_case()
    cause = doc.findings[0]
    many = max((row.findings for row in finding_rows.group_findings(doc)), key=len)
    for finding in many:
        finding.explained_by = [cause.id]
    assert many[0].rule in tree(doc)[cause.rule]
    many[-1].explained_by = []
    assert many[0].rule in tree(doc)


def test_causes_in_a_circle_are_all_told() -> None:
    """A document whose findings explain one another loses none of them."""
    doc = rich_case()
    one, two = doc.findings[0], doc.findings[1]
    one.explained_by, two.explained_by = [two.id], [one.id]
    rows = finding_rows.list_story_rows(finding_rows.list_stories(doc))
    assert sorted(row.first.id for row in rows) == sorted(
        row.first.id for row in finding_rows.group_findings(doc)
    )


def fullest() -> dict[str, Any]:
    """Return a document that has every line a short note can have."""
    doc = rich_case()
    doc.nodes = doc.nodes[:2]
    rows = [row.first for row in finding_rows.group_findings(doc)]
    for number, finding in enumerate(rows):
        finding.about = "why"
        finding.explained_by = [rows[number % 3].id] if 2 < number < 6 else []
        finding.evidence = finding.evidence or doc.findings[2].evidence
        finding.fix = finding.fix or doc.findings[2].fix
    return doc


@pytest.mark.parametrize("make", [rich_case, quiet_case, hostile_case, fullest])
def test_the_short_note_has_at_most_twenty_five_lines(make: Any) -> None:
    """Whatever a case holds, also one with every kind of line, fits a ticket."""
    lines = short_note.render_short_note(make()).splitlines()
    assert len(lines) <= short_note.LINES
    assert max(map(len, lines)) < 12_000


def test_the_short_note_has_cause_evidence_fix_and_ask(limited: dict[str, Any]) -> None:
    """The worst story is told with its cause, the line that shows it, what mends it, and what follows from it."""
    note = short_note.render_short_note(limited)
    assert "**1. MAJOR confirmed: VM throttled by its CPU limit" in note
    story = note.partition("**1.")[2].partition("**2.")[0]
    assert [line.split(":")[0] for line in story.splitlines()[2:5]] == [
        "- **Cause**",
        "- **Evidence**",
        "- **Fix**",
    ]
    assert re.search(r"It explains findings 2, 3", story)
    assert "**Ask for**: `" in note


def test_a_case_cut_short_is_not_called_clean() -> None:
    """The short note of a case that is not complete says so, and so does one of a case without a finding."""
    doc = rich_case()
    doc.findings = []
    note = short_note.render_short_note(doc)
    assert "NOT COMPLETE" in note
    assert "could be read" in note


def test_the_mail_lists_commands_alone_each_once(limited: dict[str, Any]) -> None:
    """Every command that is asked for stands once on a line of its own; what is a remark is a comment."""
    limited = structs.replace(
        limited, findings=[]
    )  # nothing was found: all that few commands answer is asked for
    wanted = {offer.ask.what for offer in open_asks.list_offers(limited) if offer.ask.command}
    lines = [line.strip() for line in write_mail(limited).splitlines() if line.startswith("   ")]
    assert wanted
    assert wanted <= set(lines)
    told = [line for line in lines if not line.startswith("#")]
    assert len(told) == len(set(told))


def test_a_name_cannot_put_a_command_into_the_mail() -> None:
    """A VM named over two lines stays behind the sign of a comment."""
    doc = rich_case()
    for group in doc.cannot_tell:
        group.subjects = ["vm\nrm -rf /vmfs"]
    assert "# for vm rm -rf /vmfs" in write_mail(doc)
