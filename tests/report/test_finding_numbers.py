"""The number of a finding is the same wherever a case is told, and `backline log --around` takes it."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.case import case_file
from analyzer.case.packed_text import unpack_text
from analyzer.cli import main
from analyzer.report.finding_names import find_finding

CASE = Path(__file__).resolve().parents[2] / "samples" / "cases" / "nsx-633-site"
Numbered = list[tuple[str, str]]


def said(*words: object) -> str:
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The results of a case whose third and fourth finding follow from the second, and the summary of its triage."""
    folder = tmp_path_factory.mktemp("numbered")
    return folder, said("triage", CASE, "-o", folder, "--no-settings", "--no-packs")


def in_text(text: str) -> Numbered:
    """Return (number, title) of the findings in what a terminal shows; in a summary those that follow are indented."""
    return re.findall(r"^ {0,2}(\d+)\. [A-Z]+ \w+  (.+?)(?:  \(.*)?$", text, re.MULTILINE)


def in_page(page: str) -> Numbered:
    return re.findall(r'<span class="number">(\d+)</span>.*?<h3>([^<]+)</h3>', page, re.DOTALL)


def in_note(note: str) -> Numbered:
    heads = re.findall(r"^(?:### |\*\*)(\d+)\. [A-Z]+ \w+: (.+?)(?:\*\*.*)?$", note, re.MULTILINE)
    return [(number, title.replace("\\", "")) for number, title in heads]


def test_a_finding_has_one_number_everywhere(told: tuple[Path, str]) -> None:
    """Page, long and short note, summary, whole listing, CSV and JSON lines count alike; a part keeps the numbers."""
    folder, summary = told
    page = (folder / "report.html").read_text(encoding="utf-8")
    whole = in_page(page)
    assert [number for number, _ in whole] == list("1234567")

    assert in_note((folder / "report.md").read_text(encoding="utf-8")) == whole
    assert in_text(said("show", folder / "case.json")) == whole
    assert in_text(summary) == whole[:4]
    packed = re.search(r'id="texts">(.*?)</script>', page)
    assert packed is not None
    note = json.loads(unpack_text(packed[1]))["note"]
    assert in_note(note) == [whole[0], whole[1]]
    assert re.findall(r"(\d+)\\?\. [A-Z]+ \w+: ", note) == list("12567")
    assert "It explains findings 3, 4" in note

    rows = list(csv.DictReader(io.StringIO(said("show", folder / "case.json", "--format", "csv"))))
    listed = dict.fromkeys(
        (row["number"].partition(".")[0], row["title"]) for row in rows if row["number"]
    )
    assert sorted(listed) == whole
    records = [
        json.loads(line)
        for line in said("show", folder / "case.json", "--format", "jsonl").splitlines()
    ]
    assert [one["number"] for one in records if one["record"] == "finding"] == [
        row["number"] for row in rows if row["number"]
    ]

    part = "--rule", "nsx-1970527"
    assert in_text(said("show", folder / "case.json", *part)) == [whole[0], whole[4]]
    assert in_page(said("show", folder / "case.json", *part, "--format", "html")) == [
        whole[0],
        whole[4],
    ]


@pytest.mark.size
def test_the_log_is_read_around_the_number_that_a_report_shows(told: tuple[Path, str]) -> None:
    """`--around N` gives the lines around the finding that has N in the page; the summary names one that works."""
    folder, summary = told
    document = case_file.read_case(folder / "case.json")
    page = (folder / "report.html").read_text(encoding="utf-8")
    tried = 0
    for number, title in in_page(page):
        found = find_finding(document, number)
        assert found.title == title
        if found.first_seen:
            lines = said("log", CASE, "--case", folder, "--around", number, "--for", "2s")
            assert any(f":{line.line}]" in lines for line in found.evidence)
            tried += 1
    assert tried >= 2
    offered = re.search(r"--around (\S+)$", summary, re.MULTILINE)
    assert offered and said("log", CASE, "--case", folder, "--around", offered[1])


def test_an_object_of_a_finding_has_a_number_of_its_own(told: tuple[Path, str]) -> None:
    """`6.2` is the second object of finding 6; a number that is none lists the findings in their order."""
    folder, _ = told
    document = case_file.read_case(folder / "case.json")
    first, second = find_finding(document, "6"), find_finding(document, "6.2")
    assert (first.rule, first.subject) == (second.rule, first.subject)
    assert first.node != second.node
    wrong = CliRunner().invoke(main, ["log", str(CASE), "--case", str(folder), "--around", "99"])
    assert wrong.exit_code == 2
    assert re.findall(r"^ +([\d.]+)  ", wrong.stderr, re.MULTILINE) == [
        "1",
        "2",
        "3",
        "4",
        "5",
        "6",
        "6.2",
        "7",
    ]
