"""The note for a ticket in its three forms: one content, bounded lines, and no foreign text that makes a mark."""

from __future__ import annotations

import copy
import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from analyzer.case import case_file
from analyzer.case.document import CaseDocument
from analyzer.cli import main
from analyzer.pipeline.triage import triage
from analyzer.report import short_note
from analyzer.report.case_heading import CaseHeading
from analyzer.report.note_marks import GAP, NoteLine, NotePiece, for_jira, print_jira
from analyzer.runtime.text import one_line
from tests.kit.case_factory import HOSTILE, hostile_case, quiet_case, rich_case
from tests.kit.full_size import scale_size

CASES = Path(__file__).resolve().parents[2] / "samples" / "cases"
FORMS = tuple(short_note.PRINTERS)
HEADING = CaseHeading("12345678", "Acme")
NASTY = st.text(
    st.sampled_from("`*_[](){}<>#|!&~\\\n\r\t -+=1.aAB\x1b\u202e\udcff\"'/:;?^@%wé"), max_size=40
)


def crowded_case() -> CaseDocument:
    """Return a case of two hundred findings and as many machines, each with a long name and a long fix."""
    doc = rich_case()
    pattern = doc.findings[0]
    doc.findings = []
    for number in range(200):
        finding = copy.deepcopy(pattern)
        finding.id = finding.rule = f"rule-{number}"
        finding.title = f"Trouble {number} " + "of a thing that has a very long name " * 4
        finding.say = "It is bad. " * 80
        finding.about = "The cause is long. " * 80
        finding.node = f"esx{number:03}.{'rack.' * 30}lab"
        finding.explained_by, finding.explains = [], []
        finding.caution = "Take care. " * 60
        finding.fix = [
            structs.replace(step, run="esxcli " + "x " * 60, do="Do that. " * 30)
            for step in finding.fix * 4
        ]
        doc.findings.append(finding)
    doc.nodes = [
        structs.replace(doc.nodes[0], id=f"n{number}", name=finding.node)
        for number, finding in enumerate(doc.findings)
    ]
    return doc


MAKERS = [rich_case, quiet_case, hostile_case, crowded_case]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("form", FORMS)
def test_a_note_keeps_its_bounds(form: str, make: Callable[[], CaseDocument]) -> None:
    """Twenty-five lines of bounded length in every form, and the first finding of a case is always told in full."""
    doc = make()
    lines = short_note.build_note(doc, HEADING)
    text = short_note.render_short_note(doc, form, HEADING)
    assert len(text.splitlines()) == len(lines) <= short_note.LINES
    assert max(line.length for line in lines) <= short_note.LONGEST + 100
    assert text.splitlines()[0].endswith("Acme") and "SR 12345678" in text.splitlines()[0]
    live = [one for one in doc.findings if not one.muted]
    assert [line.kind for line in lines].count("story") >= min(1, len(live))


@pytest.mark.parametrize(
    "name", ["cpu-limited-vm", "cut-bundle", "healthy-host", "nsx-633-site", "slow-storage"]
)
def test_the_forms_differ_in_marks_alone(name: str) -> None:
    """What Jira shows, and what Markdown shows, is the text of the plain note."""
    doc = triage([CASES / name]).document
    plain, jira, markdown = (short_note.render_short_note(doc, form) for form in FORMS)
    shown = re.sub(r"^(?:h3\. |\* )", "", jira, flags=re.MULTILINE)
    shown = html.unescape(re.sub(r"\{\{|\}\}|\*", "", shown))
    assert shown == re.sub(r"^- ", "", plain, flags=re.MULTILINE)
    bare = re.sub(r"^(?:# |- )", "", markdown, flags=re.MULTILINE)
    letters = re.compile(r"[\\`*]")
    assert letters.sub("", bare) == letters.sub("", re.sub(r"^- ", "", plain, flags=re.MULTILINE))


def test_a_story_says_since_when_and_where() -> None:
    """The first story of the sample: severity, title, first time, object, cause, address with its line, fix, ask."""
    note = short_note.render_short_note(triage([CASES / "slow-storage"]).document, "note")
    assert re.search(r"^1\. MAJOR likely: .*, since 2017-10-14 15:19:11 UTC$", note, re.MULTILINE)
    assert re.search(r"^- Evidence: \S+/vmware\.log:4: 2017-10-14T15:19", note, re.MULTILINE)
    assert "\n- Cause: " in note and "\n- Fix: " in note
    assert "\n- Ask for: esxcli system settings advanced list -d, " in note


def find_jira_marks(text: str) -> list[str]:
    """Return what Jira would take for a mark in a text of one line; entities make none."""
    text = re.sub(r"&#\d+;", "\0", text)
    found = re.findall(r"[\\{}\[\]|!#<>&@]", text)
    found += re.findall(r"(?<![A-Za-z0-9])[*_+?^~-]|[*_+?^~-](?![A-Za-z0-9])", text)
    found += re.findall(r"[:;]-?[)(DPp|]|\([^\s()\0]{1,7}\)", text)  # no icon has an entity
    found += re.findall(r"(?i)\b(?:https?|ftp|file|irc)://|\b(?:mailto|news|nntp):\S|\bwww\.", text)
    found += re.findall(r"\b[A-Za-z][A-Za-z0-9_]+-\d", text)
    return found


@pytest.mark.parametrize(
    "text",
    [
        HOSTILE, "{code}x{code}", "[~admin]", "[x|http://evil]", "!http://evil/a.png!", "----", "a -- b", "h1. x",
        "*b* _i_ -d- +u+ ^s^ ~s~ ??c??", ":) ;) (x) (!) (on) (*r)", "http://evil www.evil mailto:a@b.c", "PROJ-1 ab_c-23",
        "C:\\temp\\\\x", "||h||", "&#91;x&#93; &amp;", "{color:red}x{color}", "bq. x", "# x", "{{x}}",
    ],
)  # fmt: skip
def test_no_text_is_a_mark_of_jira(text: str) -> None:
    """Each mark of the help page of Jira is shown as it was typed."""
    assert find_jira_marks(for_jira(text)) == []
    assert html.unescape(for_jira(text)) == one_line(text)


def test_names_stay_readable_in_jira() -> None:
    """Signs inside a word are no marks, and a name or a time is pasted as it is."""
    text = "vmk_0 on esx-a.lab at 2017-10-14 15:19:11 UTC, 10.0.0.1/24 (42 %), a+b"
    assert for_jira(text) == text


@pytest.mark.size
@given(NASTY)
@settings(max_examples=scale_size(300), deadline=None)
def test_no_text_can_make_a_mark_of_jira(text: str) -> None:
    """Whatever a name or a line holds: its text comes out, and the marks are those of the note."""
    assert find_jira_marks(for_jira(text)) == []
    assert html.unescape(for_jira(text)) == one_line(text)
    doc = rich_case(sources=[], timeline=[])
    finding = doc.findings[0]
    for key in ("title", "subject", "say", "node", "caution", "about"):
        setattr(finding, key, f"a {text}")
    finding.evidence[0].text = finding.evidence[0].address = finding.fix[0].do = text
    doc.nodes[0].name = text
    lines = short_note.build_note(doc, CaseHeading(customer="a|b"))
    printed = print_jira(lines)
    assert len(printed.splitlines()) == len(lines)
    pieces = [piece for line in lines for piece in line.pieces]
    strong = sum(piece.mark == "strong" for piece in pieces)
    code = sum(piece.mark == "code" for piece in pieces)
    items = sum(line.kind == "item" for line in lines)
    bare = re.sub(r"&#\d+;", "", printed)
    assert (bare.count("{{"), bare.count("}}")) == (code, code)
    assert re.sub(r"[A-Za-z0-9]\*(?=[A-Za-z0-9])", "", bare).count("*") == 2 * strong + items
    assert not re.search(r"[\[\]|!#\\<>&@]", bare)


def test_a_line_of_another_kind_is_printed_as_it_is() -> None:
    """An empty line is empty in each form, and a code mark keeps what it quotes in one piece."""
    lines = [
        NoteLine("title", (NotePiece("a"),)),
        GAP,
        NoteLine("item", (NotePiece("b|c", "code"),)),
    ]
    printed = [print_(lines) for print_ in short_note.PRINTERS.values()]
    assert printed == ["a\n\n- b|c\n", "h3. a\n\n* {{b&#124;c}}\n", "# a\n\n- `b|c`\n"]


# --- the options that head a form -----------------------------------------------------------------


def run(*args: object) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, list(map(str, args)), catch_exceptions=False)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A case.json."""
    path = tmp_path_factory.mktemp("head") / "case.json"
    path.write_text("".join(case_file.write_parts(rich_case())), encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["note", "jira", "markdown", "mail"])
def test_request_and_customer_head_a_form(case: Path, form: str) -> None:
    """The first line holds both, escaped for its form, and nothing of them is kept."""
    doc = run("show", case, "--format", form, "--sr", "SR 4711", "--customer", " *Acme* {x} ")
    first = doc.stdout.splitlines()[0]
    said = {
        "note": "SR 4711, case-1834, *Acme* {x}",
        "jira": "h3. SR 4711, case&#45;1834, &#42;Acme&#42; &#123;x&#125;",
        "markdown": r"# SR 4711, case-1834, \*Acme\* \{x\}",
    }
    assert first == said.get(
        form, "Subject: SR 4711, case-1834, *Acme* {x}: outputs and files needed"
    )
    assert "4711" not in case.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--format", "csv", "--sr", "1"], "head a note or the mail"),
        (["--customer", "A"], "head a note or the mail"),
        (["--format", "note", "--language", "de"], "--language is that of the mail"),
        (["--format", "note", "--sr", " "], "--sr is empty"),
        (["--format", "mail", "--customer", "a\nb"], "one line"),
        (["--format", "mail", "--customer", "a\x1b[31m"], "control character"),
        (["--format", "jira", "--customer", "a" * 81], "80 are the most"),
        (
            ["--format", "note", "--customer", "A", "--redact", "--redact-map", "m"],
            "--customer cannot be combined with --redact",
        ),
    ],
)
def test_a_heading_that_cannot_be_written_is_refused(
    case: Path, words: list[str], why: str
) -> None:
    """A wrong form, a text of several lines, a customer's name in a redacted note: exit code 2, and what to do."""
    done: Any = run("show", case, *words)
    assert done.exit_code == 2 and why in done.stderr
    assert run("triage", CASES / "lab-ring-before", *words).exit_code == 2


def test_a_request_heads_what_triage_prints() -> None:
    """`triage --format note` takes the same options, and writes no folder."""
    words = ["--no-packs", "--no-settings", "--format", "note", "--sr", "7"]
    done = run("triage", CASES / "lab-ring-before", *words)
    assert done.stdout.startswith("SR 7, lab-ring-before\n")
