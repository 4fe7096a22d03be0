"""The case note: what it holds, and that no name can break out of it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec import structs

from analyzer.report import markdown, wording
from analyzer.report.mail import write_mail
from tests.kit.case_factory import hostile_case, quiet_case, rich_case


@pytest.fixture(scope="module")
def note() -> str:
    return markdown.render_note(rich_case())


def as_html(text: str) -> str:
    """Return what a ticket system that allows HTML and tables makes of the note."""
    return str(
        MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)
    )


def test_the_note_begins_with_what_it_is_and_ends_with_who_made_it(note: str) -> None:
    """Header with nodes, counts and completeness first; version of tool and catalog last."""
    assert note.startswith(
        "# Case case-1834\n\n1 major, 2 warnings, 1 info, 1 exposed, 1 rule broke (6 rules, 52 objects); 61 checks clean, 4 need more data"
    )
    assert "VMware ESXi 6.5.0 build 5969303, 6.5 Update 1; up 41 d" in note
    assert "NOT COMPLETE" in note
    assert re.search(
        r"Backline 0\.1\.0, catalog 9f3c21d0a4be \(78 rules\)\..*not masked\.\n$", note
    )


def test_findings_stand_in_the_order_of_the_page(note: str) -> None:
    """The rows of the note are those of the other reports, numbered: worst first, signs after their cause."""
    heads = re.findall(r"^### (\d+\. \w+ ?\w*):", note, re.MULTILINE)
    assert heads == [
        "1. MAJOR confirmed",
        "2. WARNING confirmed",
        "3. WARNING confirmed",
        "4. INFO confirmed",
        "5. MAJOR exposed",
        "6. RULE BROKE",
    ]


def test_evidence_stands_with_address_and_line(note: str) -> None:
    """The measured counters are there with the place they come from, as code."""
    assert (
        "case-1834/console-esx07.txt:52  ring1_full = 7086\n    # of times the 1st ring is full:7086\n"
        in note
    )
    assert "Fix this first: A CPU limit holds the VM back" in note
    assert (
        "May be worse or more certain than shown: esxi.teaming\\_policy is only partly known"
        in note
    )


def test_many_subjects_are_said_once(note: str) -> None:
    """48 adapters share one sentence, a list of names and three lines."""
    assert note.count("it emulates a physical card") == 1
    assert "**48 objects**" in note
    assert note.count("ethernet0.virtualDev") == 3


def test_asks_are_in_the_note(note: str) -> None:
    """What could not be judged comes with what would decide it and what to ask for."""
    assert "ask for: `vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/rxSummary`" in note
    assert "needed by: kb-2039495, rings-at-maximum" in note


def test_a_muted_finding_is_not_in_the_note(note: str) -> None:
    """What was muted stays in the report; the ticket gets its number and the rules, but neither words nor reasons."""
    assert "SuppressShellWarning" not in note
    assert "Wanted in this lab" not in note
    assert "Muted by local settings: 2 entries (shell-warning-suppressed); see the report." in note
    assert "Threshold least of pnic-loses-packets is 0.5 here" in note.replace("\\", "")


def test_what_is_muted_is_not_asked_for(note: str) -> None:
    """«Cannot tell» of a muted rule is neither in the note nor in the e-mail to the customer."""
    assert "advanced\\_option" not in note
    assert "esxcli system settings advanced list" not in note
    assert "esxcli system settings advanced list" not in write_mail(rich_case())


def test_a_quiet_case_is_a_short_note() -> None:
    """Nothing found is said in one sentence with the number of rules that looked."""
    note = markdown.render_note(quiet_case())
    assert "Nothing found; 61 rules looked." in note
    assert len(note.split("\n")) < 25


def test_the_same_document_gives_the_same_note(note: str) -> None:
    """No clock and no chance in it."""
    assert markdown.render_note(rich_case()) == note


def test_hostile_names_stay_text() -> None:
    """Rendered with HTML allowed, the note of a hostile case holds no picture, no script and no foreign link."""
    page = as_html(markdown.render_note(hostile_case()))
    assert "<img" not in page
    assert "<script" not in page
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;" in page
    links = re.findall(r'href="([^"]*)"', page)
    assert all(link.startswith(wording.KB_ADDRESS) for link in links)


NASTY = st.text(
    st.sampled_from("`*_[](){}<>#|!&~\\\n\r\t -+=1.ab\x1b\u202e\udcff\"'/:"), max_size=40
)


@pytest.mark.size
@given(NASTY)
@settings(max_examples=60, deadline=None)
def test_no_text_can_make_markup(text: str) -> None:
    """Whatever the name or the line of evidence, no HTML, link or heading arises, and no control sign is left."""
    document: dict[str, Any] = rich_case(sources=[], timeline=[])
    calm = as_html(markdown.render_note(document))
    finding = next(one for one in document.findings if one.confidence == "exposed")
    for key in ("title", "subject", "say", "node", "caution"):
        setattr(finding, key, f"a {text}")
    finding.evidence[0].text = text
    finding.evidence[0].label = text
    finding.fix[0].run = text
    finding.fix[0].do = f"a {text}"
    document.nodes[0].name = f"a {text}"
    note = markdown.render_note(document)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\udc80-\udcff]", note)
    page = as_html(note)
    for tag in ("<a ", "<img", "<h1", "<h2", "<h3", "<table", "<s>"):
        assert page.count(tag) == calm.count(tag), (tag, text)


WHY = "   # Reason: A CPU limit holds the VM back and it drops frames while it waits\n"


def settle_a_finding(doc: dict[str, Any]) -> dict[str, Any]:
    """Let the answer to each question of a document settle a finding of it; return the document."""
    rule = next(one.rule for one in doc.findings if one.verdict == "match" and not one.muted)
    for group in doc.cannot_tell:
        group.settles = [rule]
    return doc


def test_the_mail_calls_no_file_a_machine() -> None:
    """A machine that only its file names is the one that file came from; hints on files are no part of the mail."""
    doc = rich_case()
    (node,) = [one for one in doc.nodes if one.name == "esx07.lab"]
    node.name = "paste.txt"
    node.bundle = False
    doc.sources.append(structs.replace(doc.sources[0], address="mail/paste.txt"))
    settle_a_finding(doc)
    for one in (record for group in doc.cannot_tell for record in (group, *group.asks)):
        one.nodes = [name.replace("esx07.lab", "paste.txt") for name in one.nodes]
    doc.advice = ["x.tgz!top/x.txt is a binary cache."]
    mail = write_mail(doc)
    assert f"\n2. Please run on the machine that paste.txt came from:\n{WHY}   ethtool" in mail
    assert "binary cache" not in mail
    node.name = "ESXi host (loose files)"
    for one in (record for group in doc.cannot_tell for record in (group, *group.asks)):
        one.nodes = [name.replace("paste.txt", "ESXi host (loose files)") for name in one.nodes]
    mail = write_mail(doc)
    assert f"\n2. Please run on the machine that your files came from:\n{WHY}   ethtool" in mail


def test_the_mail_asks_for_each_thing_once() -> None:
    """The e-mail lists every command once below its host, what a command is about as a comment a shell skips."""
    mail = write_mail(settle_a_finding(rich_case()))
    assert mail.startswith(
        "Subject: case-1834: outputs and files needed\n\n"
        "Hello,\n\nTo continue with case-1834, we need the following:\n"
    )
    assert [line[:2] for line in mail.split("\n") if re.match(r"\d\.", line)] == [
        "1.",
        "2.",
        "3.",
        "4.",
    ]
    assert (
        "\n1. Please send case-1834.zip again: the file we received is cut short or damaged.\n"
        in mail
    )
    assert mail.count("vmxnet3/rxSummary") == 1
    first = f"\n2. Please run on esx07.lab:\n{WHY}   ethtool -S vmnic2\n   # for app-0, port 33554470; app-1, port 33554471"
    assert first in mail, "a command with names to fill in comes behind the others"
    assert write_mail(quiet_case()) == ""
