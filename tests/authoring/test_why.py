"""The "Why" of a finding is written for its reader; the language of rules stays with `rules explain`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.artefacts import parsing
from analyzer.cli import main
from analyzer.pipeline.triage import triage
from analyzer.report import html, wording

CASES = Path(__file__).resolve().parents[2] / "samples" / "cases"
CALL = re.compile(r"\b(?:known|count|any|all|share|sum|max|min|mean)\(|[=!<>]=|`")
DOTTED = re.compile(r"\b[a-z]\w*\.[a-z_]\w*")


def lines(trace: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield all lines of a tree but log lines and values of the case, from the top."""
    yield trace
    for child in trace.children:
        yield from lines(child)


@pytest.fixture(scope="module")
def documents() -> list[dict[str, Any]]:
    return [
        triage([CASES / name]).document
        for name in ("lab-ring-before", "nsx-633-site", "slow-storage")
    ]


def test_no_line_of_a_tree_is_in_the_language_of_rules(documents: list[dict[str, Any]]) -> None:
    """No calls, operators or `alias.column` in any tree of three cases: what has a dot is the name of a table."""
    tables = {table.name for parser in parsing.registry().values() for table in parser.tables} | {
        "esxi.release"
    }
    told = [
        line.text
        for document in documents
        for finding in document.findings
        for child in (finding.trace or {"children": []}).children
        for line in lines(child)
    ]
    assert len(told) > 200
    assert [text for text in told if CALL.search(text)] == []
    dotted = {name for text in told for name in DOTTED.findall(re.sub(r'"[^"]*"', "", text))}
    assert (
        dotted
        and {
            name for name in dotted if name not in tables and not name.startswith(("site.", "esx"))
        }
        == set()
    )
    assert CALL.search("known(ring1) and lost >= loss_major") and DOTTED.search("rx.ring1_full")


def test_the_page_says_yes_no_and_names_the_catalog(documents: list[dict[str, Any]]) -> None:
    """The ring that ran full, with its numbers: conditions are answered, rows of the tool are "Backline's catalog"."""
    page = html.render_page(documents[0])
    tree = page.partition('<ul class="tree">')[2].partition("</details>")[0]
    text = " ".join(re.sub(r"<[^>]+>", " ", tree).split())
    assert (
        "Found when: ring full is more than 0 or out_of_buffers of esxi.vmxnet3_rx_summary is more than 0: yes"
        in text
    )
    assert (
        "ring1_full of esxi.vmxnet3_rx_summary + ring2_full of esxi.vmxnet3_rx_summary: 10370 7086 + 3284"
        in text
    )
    assert "Severity major, when: lost is at least loss major: no" in text
    trees = "".join(re.findall('<ul class="tree">.*?</details>', page, re.DOTALL))
    assert not re.search(r"(?<!of the )catalog: ", trees)


def test_an_author_still_reads_the_rule(tmp_path: Path) -> None:
    """`rules explain` shows the same condition as the rule file has it."""
    done = CliRunner().invoke(
        main, ["rules", "explain", "kb-2039495", str(CASES / "lab-ring-before"), "-vv"]
    )
    assert done.exit_code == 0, done.output
    assert "known(ring1)" in done.output and "rx.ring1_full" in done.output


def test_evidence_is_labelled_without_the_names_of_a_rule(documents: list[dict[str, Any]]) -> None:
    """A value has its column, a line of a log is a log line; alike labels are said once."""
    page = html.render_page(documents[1])
    heads = re.findall(r"<figcaption>(.*?)<span", page, re.DOTALL)
    assert heads and not any(re.search(r"<b>[a-z]\w*\.\w+ = |<b>sign", head) for head in heads)
    assert 'lines: version = "6.3.3", build = 6276725, state = "UNKNOWN"</span>' in page.replace(
        "&#34;", '"'
    )
    assert (
        wording.word_label("often (9 more lines of it not shown)")
        == "log line, often (9 more lines of it not shown)"
    )
    assert wording.word_label("Ring 1: 7.5") == "Ring 1: 7.5"


def test_of_the_outcomes_only_the_nearest_are_told(documents: list[dict[str, Any]]) -> None:
    """A reader gets the outcome that holds and the next worse one it missed; never two that are worse."""
    found = [one.trace.children for document in documents for one in document.findings if one.trace]
    for part in ("Outcome", "Severity"):
        told = [
            [(line.text, line.value) for line in one if line.text.startswith(part)] for one in found
        ]
        assert max(map(len, told)) <= 2
        assert all(one[0][1] != "true" for one in told if len(one) == 2)
    assert any(line.text.startswith("Outcome") for one in found for line in one)
