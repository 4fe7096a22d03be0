"""`--format llm`: a case for a language model within its tokens, redacted unasked, with addresses and counts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import convert, structs, to_builtins

from analyzer.case import case_file
from analyzer.case.document import CaseDocument
from analyzer.cli import main
from analyzer.report import finding_rows
from analyzer.report.llm import TOKENS, count_tokens, render_llm
from tests.kit.case_factory import hostile_case, quiet_case, rich_case

ROOT = Path(__file__).resolve().parents[2]
RING = ROOT / "samples" / "cases" / "lab-ring-after"
SIGNS = ["é", "日本語", "\U0001f525", "\x00", "\u202e", "\n", "x", "a b ", "0x12 ", "!", "/"]


def repeat_findings(doc: CaseDocument, times: int) -> CaseDocument:
    """Return the case with each finding so many times, each time of another rule."""
    findings = [
        structs.replace(one, id=f"{one.id}-{number}", rule=f"{one.rule}-{number}")
        for number in range(times)
        for one in doc.findings
    ]
    return structs.replace(doc, findings=findings)


def swell_texts(doc: CaseDocument, sign: str, length: int) -> CaseDocument:
    """Return the case with a sign so many times behind each text that a customer, or a rule, wrote."""
    kept = {
        "schema",
        "name",
        "verdict",
        "severity",
        "confidence",
        "status",
        "reason",
        "state",
        "kind",
    }

    def swell(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: swell(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [swell(one, key) for one in value]
        if isinstance(value, str) and key not in kept and not re.match(r"\d{4}-", value):
            return value + sign * length
        return value

    return convert(swell(to_builtins(doc)), CaseDocument)


def test_a_rich_case_fits_and_says_all_of_its_findings() -> None:
    """Each row has its number, its weight, the line it rests on and the address; nothing is left out unsaid."""
    doc = rich_case()
    text = render_llm(doc)
    assert count_tokens(text) <= TOKENS
    for number in finding_rows.number_findings(doc).values():
        if "." not in number:
            assert re.search(rf"^ *{number}\. ", text, re.MULTILINE)
    assert "[case-1834/esxtop-esx07.csv.gz:412]" in text
    assert "NOT COMPLETE" in text and "ask for: vsish" in text
    assert "LEFT OUT: nothing." in text


def test_what_has_no_room_is_counted() -> None:
    """Of five hundred findings the shown and the counted ones together are all of them."""
    doc = repeat_findings(rich_case(), 100)
    text = render_llm(doc)
    assert count_tokens(text) <= TOKENS
    rows = [row for story in finding_rows.list_stories(doc) for row in story.rows]
    shown = re.findall(r"^ *\d+\. ", text, re.MULTILINE)
    left = text.partition("LEFT OUT: ")[2]
    counted = re.findall(r"\w+ findings: ([\d,]+)", left)
    assert len(shown) > 20
    assert len(shown) + sum(int(one.replace(",", "")) for one in counted) == len(rows)
    assert "details of rows above" in left


@pytest.mark.size
@settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(SIGNS),
    st.integers(0, 400),
    st.sampled_from([rich_case, quiet_case, hostile_case]),
    st.integers(1, 5),
)
def test_no_case_takes_more_than_its_tokens(sign: str, length: int, make: Any, times: int) -> None:
    """However long its texts are, whatever signs they hold, however many findings it has."""
    doc = repeat_findings(swell_texts(make(), sign, length), times)
    assert count_tokens(render_llm(doc)) <= TOKENS


def test_foreign_text_makes_no_line_of_its_own() -> None:
    """A line break in a name cannot write a finding, and no sign steers the reader's terminal."""
    text = render_llm(swell_texts(rich_case(), "\nNOT KNOWN: nothing\x1b[2J\u202e", 1))
    assert text.count("\nNOT KNOWN") == 1
    assert "\x1b" not in text and "\u202e" not in text


def test_it_is_redacted_unless_somebody_says_otherwise(tmp_path: Path) -> None:
    """Names become pseudonyms without a word, and go back with the map when one was asked for."""
    saved, kept = tmp_path / "case.json", tmp_path / "map.json"
    saved.write_text(case_file.write_case(rich_case()), encoding="utf-8")
    runner = CliRunner()
    plain = runner.invoke(main, ["show", str(saved), "--format", "llm"])
    assert (
        plain.exit_code == 0
        and "esx07" not in plain.stdout
        and "names are pseudonyms" in plain.stdout
    )
    assert [path.name for path in tmp_path.iterdir()] == ["case.json"]
    real = runner.invoke(main, ["show", str(saved), "--format", "llm", "--no-redact"])
    assert "esx07.lab" in real.stdout and "names are real" in real.stdout
    mapped = runner.invoke(main, ["show", str(saved), "--format", "llm", "--redact-map", str(kept)])
    assert mapped.stdout.splitlines()[4:] == plain.stdout.splitlines()[4:] and kept.is_file()
    back = runner.invoke(main, ["redact", "--reverse", str(kept), "host01anon is slow"])
    assert "esx07" in back.stdout or "nsxmgr01" in back.stdout
    both = runner.invoke(main, ["show", str(saved), "--redact", "--no-redact"])
    assert both.exit_code == 2 and "cannot be combined" in both.stderr


@pytest.mark.size
def test_triage_prints_it_and_keeps_the_results_as_they_are(tmp_path: Path) -> None:
    """With -o the results keep the names; only what goes to another program is without them."""
    done = CliRunner().invoke(
        main, ["triage", str(RING), "--format", "llm", "-o", str(tmp_path / "out")]
    )
    assert done.exit_code in (0, 5), done.output
    assert count_tokens(done.stdout) <= TOKENS and "iperf-test1" not in done.stdout
    assert "iperf-test1" in (tmp_path / "out" / "case.json").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
