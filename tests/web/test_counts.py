"""The counts of a case are the same wherever they are printed, each with its unit."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from msgspec import structs

from analyzer.case import case_file
from analyzer.case.verdicts import Cut
from analyzer.cli import main
from analyzer.report import finding_rows, view, wording
from analyzer.web.cases.history import History
from analyzer.web.cases.web_case import describe_counts
from analyzer.web.guard.place import PrivatePlace
from analyzer.web.questions import stored
from analyzer.web.questions.answers import Library
from tests.kit.case_factory import rich_case
from tests.web.test_web_library import ask, column

CASES = Path(__file__).resolve().parents[2] / "samples" / "cases"
NAMES = sorted(path.name for path in CASES.iterdir() if path.is_dir())
_WORDS = r"critical|major|warnings?|info|exposed|rules? broke"


class Told(NamedTuple):
    """Counts as they are read from a text: findings by word, subjects, questions, quiet rules."""

    findings: dict[str, int]
    subjects: int
    questions: int
    quiet: int


def said(text: str) -> Told:
    """Read the counts from a headline, as a person would."""
    line = re.search(
        rf"((?:\d+ (?:{_WORDS})(?:, | ))+|nothing found).*?needs? more data[^.]*",
        " ".join(text.split()),
    )
    assert line, text[:500]
    head = line[0]
    words = {_word(word): int(n) for n, word in re.findall(rf"(\d+) ({_WORDS})", head)}
    return Told(
        words,
        _number(head, "objects?"),
        _number(head, "needs? more data"),
        _number(head, "checks? clean"),
    )


def _word(word: str) -> str:
    return "error" if "broke" in word else word.removesuffix("s") if word == "warnings" else word


def _number(text: str, unit: str) -> int:
    found = re.search(rf"([\d,]+) {unit}\b", text)
    return int(found[1].replace(",", "")) if found else 0


class _Text(HTMLParser):
    """The text of a page by the element with an id or class that holds it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.title, self.navigation, self._in = "", "", ""
        self.feed(page.partition("<main")[0] + "</nav>")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("title", "nav", "style", "script"):
            self._in = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self._in:
            self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in == "title":
            self.title += data
        elif self._in == "nav":
            self.navigation += data


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An archive of all sample cases, made by the command."""
    place = str(tmp_path_factory.mktemp("counts") / "archive")
    done = CliRunner().invoke(
        main, ["batch", str(CASES), "--archive", place, "--jobs", "1", "--quiet", "--no-packs"]
    )
    assert done.exit_code in (0, 5), done.output
    return place


@pytest.fixture(scope="module", params=NAMES)
def case(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Any, Path, str]]:
    """A sample case by name: its document, the folder of its reports, what the terminal said."""
    folder = tmp_path_factory.mktemp(request.param) / "out"
    done = CliRunner().invoke(
        main, ["triage", str(CASES / request.param), "-o", str(folder), "--no-packs"]
    )
    yield request.param, case_file.read_case(folder / "case.json"), folder, done.output


def test_every_report_says_the_same_counts(case: tuple[str, Any, Path, str]) -> None:
    """Title, head and lists of the page, the note and the terminal agree with the function, and so with case.json."""
    _, document, folder, terminal = case
    tally = view.tally_case(document)
    wanted = Told(dict(tally.findings), tally.subjects, tally.questions, tally.quiet)
    page, note = (folder / "report.html").read_text(), (folder / "report.md").read_text()
    text = _Text(page)
    assert said(note) == said(terminal) == said(text.title) == wanted
    shown = " ".join(text.navigation.split())
    assert {
        _word(word): int(n) for n, word in re.findall(rf"(\d+) ({_WORDS})", shown)
    } == wanted.findings
    needs = re.search(r"([\d,]+) needs? more data", shown)
    clean = re.search(r"([\d,]+) checks? clean", shown)
    assert needs and clean
    assert (int(needs[1].replace(",", "")), int(clean[1].replace(",", ""))) == (
        wanted.questions,
        wanted.quiet,
    )
    assert _number(shown, "objects?") == wanted.subjects


def test_what_is_listed_is_as_many_as_is_counted(case: tuple[str, Any, Path, str]) -> None:
    """The page holds one card a finding, one block a question, one line a quiet rule: the numbers above them."""
    _, document, folder, _ = case
    tally, page = view.tally_case(document), (folder / "report.html").read_text()
    section = page.partition('<section id="findings"')[2].partition("</section>\n<section")[0]
    cards = re.findall(r'<article class="finding', page.partition('<section id="unknown"')[0])
    assert section
    assert len(cards) == sum(number for _, number in tally.findings)
    questions = page.partition('<section id="unknown"')[2].partition('<section id="quiet"')[0]
    assert questions.count("<li data-item") == tally.questions
    quiet = page.partition('<section id="quiet"')[2].partition("</section>")[0]
    looked, _, idle = quiet.partition('<ul class="short idle">')
    assert looked.count("<li>") == tally.quiet
    assert idle.count("<li>") == tally.idle


def test_the_document_gives_the_same_counts(case: tuple[str, Any, Path, str]) -> None:
    """Counted from case.json without our code: findings by rule, fault and weight, missing things, rules that looked."""
    _, document, _, _ = case
    live = [one for one in document.findings if not one.muted]
    weight = ("verdict", "severity", "confidence")
    rows = {
        (one.rule, one.title, *map(str, one.kb), *(getattr(one, key) for key in weight))
        for one in live
    }
    words = Counter(
        "exposed" if row[-1] == "exposed" else "error" if row[-3] == "error" else row[-2]
        for row in rows
    )
    tally = view.tally_case(document)
    assert dict(tally.findings) == dict(words)
    assert tally.subjects == len([one for one in live if one.verdict == "match"])
    assert tally.rules == len({one.rule for one in live})
    assert tally.questions == len(
        {group.missing for group in document.cannot_tell if not group.muted}
    )
    assert tally.quiet + tally.idle == len(document.quiet)


@pytest.mark.process
def test_the_archive_says_the_counts_of_the_report(
    archive: str, case: tuple[str, Any, Path, str], tmp_path: Path
) -> None:
    """`archive list`, `archive show`, the page's list, its case view and its answer agree with the report."""
    name, document, _, _ = case
    tally = view.tally_case(document)
    findings, questions = dict(tally.findings), tally.questions
    listed = CliRunner().invoke(
        main, ["archive", "list", "--archive", archive, "--json", "--name", name]
    )
    (row,) = [json.loads(line) for line in listed.output.splitlines() if line.startswith("{")]
    assert {word: row[word] for word in view.COUNTED if row[word]} == findings
    assert row["cannot_tell"] == questions
    shown = CliRunner().invoke(main, ["archive", "show", name, "--archive", archive]).output
    assert said(shown) == Told(findings, tally.subjects, questions, tally.quiet)

    room = Library(archive)
    record = stored.describe_case(room, row["id"])
    assert (record["counts"], record["unknowns"]) == (findings, questions)
    place = PrivatePlace.make_folder(tmp_path)
    (past,) = [one for one in History(archive, place).list_newest() if one["name"] == name]
    place.remove_all()
    assert (past["counts"], past["unknowns"]) == (findings, questions)
    answer = ask(room, "")
    at = [one["case"] for one in answer["rows"]].index(row["id"])
    assert (column(answer, "Open questions")[at] or 0) == questions
    state = "done" if document.case.complete else "partial"
    nothing = "nothing found" if state == "done" else "nothing found in what could be read"
    told = (
        ", ".join(
            f"{number} {wording.write_plural(word, number)}" for word, number in tally.findings
        )
        or nothing
    )
    assert column(answer, "Findings")[at] == told
    sentence = describe_counts(
        {"counts": past["counts"], "unknowns": past["unknowns"], "state": state}
    )
    assert told in sentence
    assert _number(sentence, "needs? more data") == questions


def test_two_asks_for_one_thing_are_one_question() -> None:
    """Groups of case.json that miss the same thing are one question, in every count."""
    document = rich_case()
    group = document.cannot_tell[0]
    document.cannot_tell = [
        group,
        structs.replace(group, ask="another ask", rules=["another-rule"]),
    ]
    assert len(finding_rows.list_unknowns(document)) == 2
    assert view.tally_case(document).questions == 1
    assert "1 needs more data;" in view.write_headline(document)


def test_subjects_that_are_only_counted_count() -> None:
    """What is beyond all limits is in no list, but in the count of subjects."""
    document = rich_case()
    before = view.tally_case(document).subjects
    document.cuts = [Cut("x", "X", "match", subjects=50, full=10, short=20, say="x")]
    assert view.tally_case(document).subjects == before + 20
