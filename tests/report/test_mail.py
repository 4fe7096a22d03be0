"""The mail to the customer: its bounds, its reasons, each thing once, nothing that is there, three languages."""

from __future__ import annotations

import dataclasses
import re
import string
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from analyzer.artefacts import parsing
from analyzer.case.asks import parse_ask
from analyzer.case.document import Ask, CannotTellGroup, CaseDocument
from analyzer.pipeline.triage import Options, triage
from analyzer.report import mail, open_asks
from analyzer.report.case_heading import CaseHeading
from analyzer.report.mail_words import ENGLISH, LANGUAGES, WORDS
from tests.kit.case_factory import hostile_case, quiet_case, rich_case

CASES = Path(__file__).resolve().parents[2] / "samples" / "cases"
NAMES = sorted(path.name for path in CASES.iterdir() if path.is_dir())
ASKS = sorted({table.ask for table in parsing.tables().values()} - {""})
HOST = "esx07.lab"


def put_questions(texts: list[str], hosts: list[str]) -> CaseDocument:
    """Return a case whose first finding would be settled by all that these texts ask of some hosts."""
    doc = rich_case()
    rule = next(one.rule for one in doc.findings if one.verdict == "match" and not one.muted)
    doc.cannot_tell = []
    for number, text in enumerate(texts):
        asks = [
            Ask(what=item.what, command=item.command, remark=item.remark, nodes=hosts)
            for item in parse_ask(text)
        ]
        group = CannotTellGroup(
            missing=f"t{number}",
            reason="missing",
            why=f"no t{number}",
            ask=text,
            asks=asks,
            rules=["r"],
            subjects=[f"object {one}" for one in range(20)],
            nodes=hosts,
            muted="",
            settles=[rule],
        )
        doc.cannot_tell.append(group)
    return doc


def settle_all(doc: CaseDocument) -> CaseDocument:
    """Let each question of a case settle its first finding."""
    rule = next(one.rule for one in doc.findings if one.verdict == "match" and not one.muted)
    for group in doc.cannot_tell:
        group.settles = [rule]
    return doc


def damaged_case() -> CaseDocument:
    """Return a case of forty damaged files, which needs forty outputs of one host besides."""
    doc = put_questions(ASKS[:40], [HOST])
    source = doc.sources[0]
    for number in range(40):
        doc.sources.append(structs.replace(source, address=f"{number}.tgz", state="cut"))
    return doc


MAKERS: list[Callable[[], CaseDocument]] = [
    quiet_case,
    rich_case,
    hostile_case,
    lambda: settle_all(hostile_case()),
    damaged_case,
    lambda: put_questions(ASKS, [HOST]),
    lambda: put_questions(ASKS[:60], ["a" * 400, "b\nc"]),
]


def read_things(text: str) -> list[tuple[str, str]]:
    """Return the lines of a mail that a customer runs or sends, each with the sentence it stands under."""
    things = []
    head = ""
    for line in text.splitlines():
        if re.match(r"\d+\. ", line):
            head = line
        elif line.startswith("   ") and not line.startswith("   #"):
            things.append((head, line.strip()))
    return things


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("make", MAKERS)
def test_a_mail_keeps_its_bounds(make: Callable[[], CaseDocument], language: str) -> None:
    """Thirty lines for one machine, twelve for each more, none of them endless; whatever a case holds."""
    doc = make()
    text = mail.write_mail(doc, CaseHeading("1", "Acme"), language)
    machines = {node for ask in open_asks.list_wanted(doc) for node in ask.nodes}
    most = mail.LINES + mail.MORE_LINES * max(0, len(machines) - 1)
    assert len(text.splitlines()) <= most
    assert max(map(len, text.splitlines()), default=0) <= 900
    assert (text == "") == (
        not open_asks.list_wanted(doc) and not open_asks.list_damaged_files(doc)
    )


@pytest.mark.size
@given(st.lists(st.sampled_from(ASKS), min_size=1, max_size=12), st.integers(1, 9))
@settings(max_examples=150, deadline=None)
def test_each_thing_is_asked_for_once(texts: list[str], hosts: int) -> None:
    """Whatever the tables ask for, of however many hosts: no command and no file stands twice for a machine."""
    doc = put_questions(texts, [f"esx{number}" for number in range(hosts)])
    for language in LANGUAGES:
        things = read_things(mail.write_mail(doc, language=language))
        assert things
        assert len(things) == len({thing for _, thing in things})
    whats = {ask.what for ask in open_asks.list_wanted(doc) if ask.command}
    heads = {head for head, thing in things if thing in whats}
    assert len(heads) <= 2  # commands of the hosts, and requests to the Manager


@cache
def read_sample(name: str) -> CaseDocument:
    return triage([CASES / name]).document


@pytest.mark.parametrize("name", NAMES)
def test_every_wish_has_a_reason_that_the_case_has(name: str) -> None:
    """Each wish stands under the title of a finding of the case that it would settle."""
    doc = read_sample(name)
    titles = {finding.title for finding in doc.findings if not finding.muted}
    lines = mail.write_mail(doc).splitlines()
    reasons = [line for line in lines if line.startswith("   # Reason: ")]
    for place, line in enumerate(lines):
        if re.match(r"\d+\. ", line) and " again: " not in line:
            assert lines[place + 1] in reasons, line
    for line in reasons:
        assert any(title[:40] in line for title in titles), line
    settled = {ask.what for group in doc.cannot_tell if group.settles for ask in group.asks}
    assert {ask.what for ask in open_asks.list_wanted(doc)} <= settled or not titles


@pytest.mark.parametrize("name", NAMES)
def test_a_mail_never_asks_for_what_is_there(name: str) -> None:
    """No command whose tables a machine has complete, and no log that it sent, stands in its mail."""
    gathered = []
    options = Options()
    options.on_gathered = lambda material: gathered.append(material.facts)
    doc = triage([CASES / name], options).document
    (facts,) = gathered
    complete = set()
    for key in facts.nodes:
        for table in parsing.tables().values():
            if facts.coverage(key, table.name).state == "read" and not facts.lossy(key, table.name):
                complete.add((facts.name(key), table.name))
    assert complete or name == "cut-bundle"
    for ask in open_asks.list_wanted(doc):
        filled = {name for name in parsing.tables() if _is_filled_by(name, ask)}
        for node in ask.nodes:
            assert not complete & {(node, table) for table in filled}, (ask.what, node)


def _is_filled_by(table: str, ask: open_asks.WantedAsk) -> bool:
    """Say whether what is asked for is all that a table asks for; a name to fill in is of one object of many."""
    items = parse_ask(parsing.tables()[table].ask)
    return not ask.has_blank and [item.what for item in items] == [ask.what]


def test_a_mail_asks_for_nothing_that_a_muted_or_absent_finding_lacks() -> None:
    """A question that bears on no finding at hand is not put to the customer."""
    doc = put_questions(["`net-stats -l`"], [HOST])
    assert "net-stats" in mail.write_mail(doc)
    doc.cannot_tell[0].settles = ["another-rule"]
    assert "net-stats" not in mail.write_mail(doc)


@pytest.mark.parametrize("language", ["de", "ja"])
def test_a_language_has_all_words(language: str) -> None:
    """Each template of a language has the slots of the English one, no English is left, commands stay as they are."""
    words = WORDS[language]
    for one in dataclasses.fields(words):
        mine, theirs = getattr(words, one.name), getattr(ENGLISH, one.name)
        if isinstance(mine, str):
            assert mine != theirs or mine in ("{names} ",), one.name
            assert list_slots(mine) == list_slots(theirs), one.name
    doc = read_sample("lab-ring-after")
    english, other = (mail.write_mail(doc, language=one) for one in ("en", language))
    assert len(read_things(english)) == len(read_things(other))
    for _, thing in read_things(english)[:2]:
        assert f"   {thing}\n" in other
    assert not re.search(r"\b(?:Please|Reason|Hello|Thank|while|each)\b", other)


def list_slots(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def test_the_languages_know_the_same_phrases() -> None:
    """German and Japanese know the same phrases."""
    assert WORDS["de"].phrases.keys() == WORDS["ja"].phrases.keys()


def test_a_sentence_ends_well_in_each_language() -> None:
    """A machine that only its file names closes the German clause, and leaves no gap in the Japanese sentence."""
    doc = read_sample("nsx-633-site")
    assert "stammen:\n" in mail.write_mail(doc, language="de")
    assert "各マシンから、" in mail.write_mail(doc, language="ja")


def test_braces_in_names_are_no_slots() -> None:
    """A name with braces is written as it is."""
    doc = put_questions(["`net-stats -l`"], ["{names}{0}"])
    doc.case.name = "{case}{customer}"
    text = mail.write_mail(doc, CaseHeading(customer="{rest}"))
    assert "Subject: {case}{customer}, {rest}: " in text and "on {names}{0}:" in text
