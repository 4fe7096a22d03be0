"""What to ask for as records: each thing once a machine whatever its wording, whole phrases, nothing that is there."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs, to_builtins

from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.case import case_file
from analyzer.case.asks import AskItem, merge_remarks, parse_ask, write_phrase
from analyzer.case.document import Ask, CannotTellGroup
from analyzer.case.questions import link_questions
from analyzer.pipeline.triage import triage
from analyzer.report import markdown, open_asks
from analyzer.report.mail import write_mail
from analyzer.runtime.errors import RefusedError
from tests.kit.case_factory import rich_case
from tests.kit.together import together

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
CASES = sorted(path for path in (SAMPLES / "cases").iterdir() if path.is_dir())
HOSTS = ["esx01.lab.example", "esx02.lab.example"]
BATCH = "esxtop -b -a -d 5 -n 120 > esxtop.csv"


def find_faults(text: str) -> list[str]:
    """Return what is wrong with the records of an ask, in words; none for an ask that can be sent as it is."""
    items = parse_ask(text)
    faults = []
    if not (items or not text.strip()):
        faults = ["it names no command and no file"]
    for item in items:
        if not any(sign.isalnum() for sign in item.what):
            faults.append(f"{item.what!r}: no command and no file")
        if not item.command:
            for wrong in find_phrase_faults(item.what):
                faults.append(f"{item.what!r}: {wrong}")
        for wrong in find_phrase_faults(item.remark):
            faults.append(f"{item.remark!r}: {wrong}")
    return faults


def find_phrase_faults(words: str) -> Iterator[str]:
    """Yield what is wrong with the words of an ask."""
    if words.count("(") != words.count(")") or words.count("[") != words.count("]"):
        yield "brackets do not match"
    if words.count("`") % 2 or words.count('"') % 2:
        yield "quotes do not match"
    if re.search(r"\(\s*\)", words):
        yield "brackets without words: put the command outside"
    if re.match(r"[,;.:)-]|(?:and|then|what)\b", words) or re.search(
        r"\b(?:what|that) (?:prints|tells)\b", words
    ):
        yield "begins in the middle of a sentence"
    if re.search(r"[,;:(-]$|\b(?:and|or|of|the|a|with|in|on|which|that|its)$", words):
        yield "ends in the middle of a sentence"


def list_asks() -> list[str]:
    """Return all texts of what to ask for, of tables and of rules, drafts as well."""
    texts = {table.ask for table in parsing.tables().values()}
    texts |= {text for rule in rules.load().rules for text in rule.ask.values()}
    return sorted(texts - {""})


ASKS = list_asks()


@together("text", ASKS)
def test_each_ask_parses_into_whole_records(text: str) -> None:
    """A command or a file, and a remark that is a whole phrase; no word but a joint is lost."""
    items = parse_ask(text)
    assert items and find_faults(text) == []
    kept = " ".join(f"{item.what} {item.remark}" for item in items)
    words = {word for word in re.findall(r"\w+", text) if word not in ("and", "or")}
    assert words <= set(re.findall(r"\w+", kept))
    assert all("`" not in item.what for item in items)


@pytest.mark.parametrize(
    ("text", "records"),
    [
        ("`a -l`", [("a -l", True, "")]),
        (
            "`a` and `b` in the guest, twice",
            [("a", True, "in the guest, twice"), ("b", True, "in the guest, twice")],
        ),
        (
            "`a` for each port; `b` lists the ports",
            [("a", True, "for each port"), ("b", True, "lists the ports")],
        ),
        ("`a`, or `b` on the Edge", [("a", True, "or `b` on the Edge")]),
        ("`GET /a` or `b c` on the NSX Manager", [("GET /a", True, "or `b c` on the NSX Manager")]),
        ("`a; b` twice", [("a; b", True, "twice")]),
        (
            "/var/log/x.log of the hours before and after the loss, and the event log of the guest",
            [
                ("/var/log/x.log", False, "of the hours before and after the loss"),
                ("the event log of the guest", False, ""),
            ],
        ),
        (
            "the logs (old; new, and the kept) of pods",
            [("the logs (old; new, and the kept) of pods", False, "")],
        ),
        (
            "the bundle of every manager and edge",
            [("the bundle of every manager and edge", False, "")],
        ),
        (
            "the VM's .vmx file, of each of these VMs",
            [("the VM's .vmx file", False, "of each of these VMs")],
        ),
        ("", []),
        ("; and ,", []),
    ],
)
def test_an_ask_is_read_into_records(text: str, records: list[tuple[str, bool, str]]) -> None:
    """Things, what holds for all of them, and what may come in the place of one."""
    assert [(item.what, item.command, item.remark) for item in parse_ask(text)] == records


@pytest.mark.parametrize(
    "text",
    [
        "/var/log/x.log, the text of the dump (`dump -L`), or a picture of the screen",
        "what `a list` prints, and /var/log/x.log",
        "`a` (of the host",
        "`a` on the",
        "`a` and of the guest; `b` with",
    ],
)
def test_a_torn_ask_is_found(text: str) -> None:
    """A command inside a sentence or a bracket leaves half a phrase: the check of the catalog says so."""
    assert find_faults(text)


def put_questions(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return a document whose questions ask for these things, each of both hosts, all for one finding."""
    document = structs.replace(_blank(), cannot_tell=[])
    for number, text in enumerate(texts):
        asks = [
            Ask(what=item.what, command=item.command, remark=item.remark, nodes=HOSTS)
            for item in parse_ask(text)
        ]
        document.cannot_tell.append(
            CannotTellGroup(
                missing=f"t{number}",
                reason="missing",
                why=f"no t{number}",
                ask=text,
                asks=asks,
                commands=[],
                rules=["r"],
                subjects=[],
                nodes=HOSTS,
                muted="",
                in_bundle=False,
                settles=[_rule(document)],
            )
        )
    return document


@cache
def _blank() -> dict[str, Any]:
    """Return a document with findings and without damage; it is not to be changed."""
    document = rich_case()
    sources = [structs.replace(source, state="read") for source in document.sources]
    return structs.replace(document, damage=[], sources=sources)


def _rule(document: dict[str, Any]) -> str:
    found = (one.rule for one in document.findings if one.verdict == "match" and not one.muted)
    return str(next(found))


def check_mail(texts: tuple[str, ...]) -> None:
    """Check that a mail that asks two hosts for these things holds each once, in whole phrases."""
    document = put_questions(texts)
    text = write_mail(document)
    lines = [line.strip() for line in text.splitlines() if line.startswith("   ")]
    items = [item for one in texts for item in parse_ask(one)]
    assert ", ".join(HOSTS) in text or all(
        re.match("(?:GET|POST|PUT) /", item.what) for item in items
    )
    commands = [line for line in lines if not line.startswith("#")]
    keys = [item.key for item in items]
    for key in set(keys):
        whats = {item.what for item in items if item.key == key}
        found = [
            line
            for line in commands
            if any(line == what or line.startswith((f"{what} ", f"{what},")) for what in whats)
        ]
        longer = {item.what for item in items if item.key != key}
        exact = [
            line
            for line in found
            if not any(line == other or line.startswith(f"{other} ") for other in longer)
        ]
        assert len(exact) <= 1, (texts, key, found)
        assert found or open_asks._ONE_OPTION.match(key), (texts, key)
    for line in lines:
        words = line.removeprefix("# ") if line.startswith("#") else ""
        if words:
            assert find_faults(f"`x` {words}") == [], (texts, line)
        assert not line.startswith(("#)", "# )", "# ,", "# ;")), (texts, line)


def test_two_asks_with_a_thing_in_common_ask_for_it_once() -> None:
    """All pairs of the catalog that ask for the same thing in other words."""
    by_key: dict[str, list[str]] = {}
    for text in ASKS:
        for key in {item.key for item in parse_ask(text)}:
            by_key.setdefault(key, []).append(text)
    pairs = {pair for texts in by_key.values() for pair in combinations(texts, 2)}
    assert len(pairs) > 100
    for pair in sorted(pairs):
        check_mail(pair)


@pytest.mark.size
def test_any_three_asks_make_a_whole_mail() -> None:
    """Triples of the catalog at random, the same ones each time."""
    chance = random.Random(20261128)
    for _ in range(2000):
        check_mail(tuple(chance.sample(ASKS, 3)))


def test_wordings_of_one_file_are_one_line() -> None:
    """Four wordings of a log: one line, with each remark once and none that another one holds."""
    texts = (
        "/var/log/vmkernel.log with its rotated copies",
        "/var/log/vmkernel.log with its rotated copies (vmkernel.N.gz) from the time of the trouble",
        "/var/log/vmkernel.log of both hosts",
        "var/log/vmkernel.log of both hosts",
    )
    mail = write_mail(put_questions(texts))
    remarks = "with its rotated copies (vmkernel.N.gz) from the time of the trouble; of both hosts"
    assert f"\n   /var/log/vmkernel.log {remarks}\n" in mail
    assert mail.count("vmkernel.log") == 1
    assert merge_remarks(["on the host", "", "on the host", "on the hosts"]) == [
        "on the host",
        "on the hosts",
    ]
    assert write_phrase("a", ["with b", "whole"]) == "a with b; whole"
    assert (
        AskItem("net -v <switch>", command=True).key
        == AskItem("net -v <vSwitch>", command=True).key
    )


def test_a_capture_that_is_there_is_not_asked_for(tmp_path: Path) -> None:
    """The CSV of a host is its `esxtop -b`; without it, the same case asks for one."""
    bundle = SAMPLES / "cases" / "cpu-limited-vm"
    document = triage([bundle]).document
    asked = [ask.what for group in document.cannot_tell for ask in group.asks]
    assert any(
        BATCH in group.ask for group in document.cannot_tell
    )  # some of its columns are not in the CSV
    assert BATCH not in asked
    for text in (write_mail(document), markdown.render_note(document)):
        assert BATCH not in text
    without = tmp_path / "case"
    shutil.copytree(bundle, without, ignore=shutil.ignore_patterns("esxtop.csv"))
    assert BATCH in [
        ask.what for group in triage([without]).document.cannot_tell for ask in group.asks
    ]


def test_the_capture_of_another_host_is_no_capture_of_this_one(tmp_path: Path) -> None:
    """Two machines, one CSV: the other one is asked by its name."""
    folder = tmp_path / "case"
    shutil.copytree(SAMPLES / "cases" / "windows-guest", folder)
    shutil.copy(SAMPLES / "esxtop" / "esxtop_csv" / "three_samples.csv", folder)
    document = triage([folder]).document
    nodes = {
        node
        for group in document.cannot_tell
        for ask in group.asks
        if ask.what == BATCH
        for node in ask.nodes
    }
    assert nodes == {"esx21.lab.example"}
    assert (
        f"   # on the host, while the problem is there\n   {BATCH}\n"
        in write_mail(document).partition("Please run on esx21.lab.example:\n")[2]
    )


@pytest.mark.parametrize("folder", CASES, ids=lambda path: path.name)
def test_no_output_asks_for_what_is_there(folder: Path) -> None:
    """No complete bundle and no command whose output was read is asked for again, also not by a finding."""
    result = triage([folder])
    document = result.document
    complete = (
        {node.name for node in document.nodes if node.bundle} if document.case.complete else set()
    )
    texts = (write_mail(document), markdown.render_note(document))
    for name in complete:
        assert "vm-support\n" not in write_mail(document), name
        for group in document.cannot_tell:
            assert not [ask for ask in group.asks if ask.what == "vm-support" and name in ask.nodes]
    names = {
        name for one in document.sources if one.state == "read" for name in one.read_by.split(", ")
    }
    parsers = [parser for name, parser in parsing.registry().items() if name in names]
    tables = [
        parser.tables[0] for parser in parsers if len(parser.tables) == 1
    ]  # of several some may have no row
    there = {
        item.what
        for table in tables
        for item in parse_ask(table.ask)
        if item.command and not item.blank
    }
    if (
        len([node for node in document.nodes if node.kind == "esxi"]) == 1
        and document.case.complete
    ):
        for text in texts:
            assert not [what for what in there if f"`{what}`" in text or f"   {what}\n" in text]


def test_other_rules_over_the_same_table_add_nothing() -> None:
    """A table that a finding lacks is needed by other rules as well: what they need besides is not asked for."""
    document = put_questions(("`a list`", "`b list`"))
    first, second = document.cannot_tell
    second.missing = first.missing
    second.settles = []
    assert [ask.what for ask in open_asks.list_wanted(document)] == ["a list"]
    assert "b list" not in write_mail(document)


def test_a_mail_asks_nothing_of_a_case_that_holds_all(tmp_path: Path) -> None:
    """A question that no finding rests on is no reason to write to a customer."""
    document = triage([SAMPLES / "cases" / "healthy-host"]).document
    assert document.findings and document.cannot_tell
    assert write_mail(document) == ""


def test_a_cause_that_cannot_be_judged_is_asked_for() -> None:
    """A rule that may explain a finding lacks its output on the same machine: that is asked for, not on another one."""
    document = triage([SAMPLES / "cases" / "cpu-limited-vm"]).document
    finding = next(one for one in document.findings if one.verdict == "match")
    group = structs.replace(document.cannot_tell[0], rules=["made-up"], missing="x.y", ask="`x`")
    other = structs.replace(group, nodes=["elsewhere"])
    groups = [structs.replace(group, nodes=[finding.node]), other]
    link_questions(groups, document.findings, {finding.rule: ["made-up"]})
    assert [one.settles for one in groups] == [[finding.rule], []]


def test_a_document_of_before_gets_its_records() -> None:
    """An earlier version kept the text alone: records and findings come of it when the document is read."""
    document = triage([SAMPLES / "cases" / "lab-ring-before"]).document
    earlier = to_builtins(document)
    for group in earlier["cannot_tell"]:
        del group["asks"], group["settles"]
    read = case_file.parse_case(json.dumps(earlier), "earlier")
    assert all(group.ask == "" or group.asks for group in read.cannot_tell)
    assert "Please run on esx0:" in write_mail(read)
    for broken in (None, {"what": 1}, [1], [{"what": "a"}]):
        wrong = to_builtins(document)
        wrong["cannot_tell"][0]["asks"] = broken
        with pytest.raises(RefusedError):
            case_file.parse_case(json.dumps(wrong), "wrong")
