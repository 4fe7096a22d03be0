"""Real captures by others go through without an error; what is not understood is listed, not guessed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from analyzer.ingest.nodes import resolve_nodes
from analyzer.pipeline.triage import Options, gather, read_case, triage
from analyzer.runtime.errors import RefusedError
from analyzer.scan.signatures import Scanner
from analyzer.sources import Ledger
from analyzer.sources.kinds import KindFinder

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
CORPUS = SHARED / "corpus"
SEEDS = SHARED / "seeds"
_BAD = ("critical", "major")
_WORDS = re.compile(r"us: {1,4}Lost (?:connectivity|path redundancy) to storage device ")

pytestmark = pytest.mark.corpus


def captures() -> list[Path]:
    """Return all captured files of hosts and NSX nodes, none when the corpus is not there."""
    return [
        path
        for room in ("esxi", "nsx")
        for path in sorted((CORPUS / room).rglob("*"))
        if path.is_file()
    ]


@pytest.mark.size
@pytest.mark.skipif(
    not CORPUS.is_dir(), reason="the corpus of real captures is not on this machine"
)
@pytest.mark.parametrize("room", ["esxi", "nsx"])
def test_all_captures_together_are_one_case(room: str) -> None:
    """The whole folder is one case: no rule breaks, no parser fails, every file has a record."""
    document = triage([CORPUS / room]).document

    assert [f.rule for f in document.findings if f.verdict == "error"] == []
    assert not [fault for fault in document.faults if "the parser failed" in fault.why]
    for finding in (
        document.findings
    ):  # of the rules over tables of facts nothing bad is told that no line says
        if (
            finding.rule in ("esx-event", "driver-fault", "esxi-advisory")
            and finding.severity in _BAD
        ):
            event = f"[{finding.subject.rpartition(' ')[2]}]"  # a paste may have the words of an event alone
            shown = [event in one.text or _WORDS.search(one.text) for one in finding.evidence]
            assert shown and all(shown), finding.say
    listed = {source.address for source in document.sources}
    assert all(
        any(str(path.name) in address for address in listed)
        for path in captures()
        if f"/{room}/" in str(path)
    )


@pytest.mark.skipif(
    not CORPUS.is_dir(), reason="the corpus of real captures is not on this machine"
)
def test_each_capture_alone() -> None:
    """Each captured file alone is read, listed or refused in plain words; no parser fails on one."""
    read = 0
    for path in captures():
        ledger, kinds = Ledger(), KindFinder()
        try:
            intake = read_case([path], ledger, kinds, Scanner([]), Options())
        except RefusedError as error:
            assert str(error)
            continue
        assert not [fault for fault in intake.faults if "the parser failed" in fault.why], path
        gather(intake, resolve_nodes(intake, kinds), ledger)
        read += any(source.state in ("read", "searched") for source in ledger.sources)
    assert read > 50


def seed(name: str) -> tuple[dict[str, Any], list[str]]:
    """Triage one seed text as a loose file; return the document and the text's lines."""
    path = SEEDS / name
    return triage([path]).document, path.read_text(encoding="utf-8").split("\n")


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the seed texts are not on this machine")
def test_the_posts_own_dump_is_judged_with_its_lines() -> None:
    """Prose and all: the post's rxSummary is found, judged, and every evidence line is the line of the text."""
    document, lines = seed("000-vswitchzero.txt")
    ring = next(f for f in document.findings if f.rule == "kb-2039495" and "33554464" in f.subject)

    assert ring.severity == "warning"
    assert "7,086 (ring #1) + 3,284 (ring #2) = 10,370" in " ".join(ring.also)
    assert "86,715" in " ".join(ring.also)
    assert ring.node == "esx0"
    for evidence in ring.evidence:
        assert lines[evidence.line - 1].split() == evidence.text.split()


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the seed texts are not on this machine")
def test_the_esxtop_screen_of_the_post_names_the_limit() -> None:
    """%RDY 69.60 of which %MLMTD 69.52: a limit, and it explains the full ring of the same VM."""
    document, _ = seed("000-vswitchzero.txt")
    limit = next(f for f in document.findings if f.rule == "cpu-limit-starves-vm")
    ring = next(f for f in document.findings if f.rule == "kb-2039495" and "33554464" in f.subject)

    assert limit.object == "iperf-test1"
    assert "69.52" in limit.say
    assert limit.id in ring.explained_by
    assert not [f for f in document.findings if f.rule == "cpu-contention"]


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the seed texts are not on this machine")
def test_a_damaged_copy_is_judged_where_it_can_be() -> None:
    """The damaged copy lacks lines and braces: the ring is found; what is missing is «cannot tell», not a guess."""
    document, lines = seed("002-vswitchzero-esxi.txt")
    ring = [f for f in document.findings if f.rule == "kb-2039495"]

    assert {"33554464", "33554467"} <= {word.strip(",") for f in ring for word in f.subject.split()}
    for finding in ring:
        for evidence in finding.evidence:
            assert lines[evidence.line - 1].split() == evidence.text.split()


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the seed texts are not on this machine")
def test_a_text_without_host_output_has_no_finding() -> None:
    """A post about another product leads to no finding; the case is not complete, and the file is named."""
    document, _ = seed("003-hyperv-vrss.txt")

    assert not document.findings
    assert not document.case.complete
    assert [source.state for source in document.sources] == ["unknown"]
