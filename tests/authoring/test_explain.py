"""`rules explain`: every subject with its reason, the tree with values and places, and what to ask for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.authoring.explain import casework, explain_text
from analyzer.authoring.explain.casework import CaseRead
from analyzer.authoring.explain.explain import (
    Explanation,
    SubjectExplanation,
    explain_rule,
    make_record,
)
from analyzer.case.verdicts import Mark, NearMiss, Trace
from analyzer.cli import main
from tests.kit.rule_kit import BASE, PART, Kit, full, rule

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "samples" / "cases"
LAB = str(CASES / "lab-ring-before")

RING = """\
rule: ring-far
title: A made-up threshold over the receive ring
each: rx in esxi.vmxnet3_rx_summary
subject: "port {rx.port_id}"
let:
  full: rx.ring1_full + rx.ring2_full
when: full > LIMIT and rx.out_of_buffers > 0
outcomes:
  - {when: true, severity: info, confidence: possible, say: "{full} times"}
ask: the dump of the ring
"""


def run(*args: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(
        main, ["rules", "explain", *args, "--no-settings", "--no-packs"], catch_exceptions=False
    )


@pytest.fixture
def ring(tmp_path: Path) -> str:
    """Return the file of a rule that is not fulfilled in the lab case: 10,370 of 20,000."""
    path = tmp_path / "ring-far.yaml"
    path.write_text(RING.replace("LIMIT", "20000"), encoding="utf-8")
    return str(path)


# -- depths


def test_a_match_is_told_in_a_line_with_what_it_says() -> None:
    """Verdict, subject and node stand in one line, below it what the finding says; the worst comes first."""
    lines = run("kb-2039495", LAB).stdout.splitlines()

    assert lines[1] == "1 match, 1 cannot tell"
    assert lines[2].split("  ") == [
        "MATCH warning confirmed",
        "iperf-test1, port 33554464 on vSwitch0",
        "esx0",
    ]
    assert "0.020% of packets" in lines[3]
    assert lines[4].startswith("  Needs more data: ")
    assert any(line.startswith("CANNOT TELL") for line in lines[5:])


def test_what_cannot_be_told_names_what_to_ask_for() -> None:
    """The subject that nobody dumped is there by name, with the missing source and the request."""
    said = run("kb-2039495", LAB).stdout

    assert "iperf-test2, port 33554465 on vSwitch0" in said
    assert "has no row with port_id 33554465; ask for: `vsish -e get" in said


def test_a_no_tells_its_near_miss(ring: str) -> None:
    """«No match» says what would have to be otherwise, with the value, its terms and the lines."""
    said = run(ring, LAB).stdout

    assert "NO MATCH" in said
    assert "would match if full > 20000; it is 10370 (7086 + 3284; esx0.txt:48, 49)" in said


def test_v_shows_the_lines_of_evidence(ring: str) -> None:
    """-v adds `address:line` and the very line, also for a subject that does not match."""
    said = run(ring, LAB, "-v").stdout

    assert "esx0.txt:48  rx.ring1_full = 7086" in said
    assert "# of times the 1st ring is full:7086" in said


def test_vv_shows_the_tree_and_the_leaf_that_says_no(ring: str) -> None:
    """-vv prints every expression with value and place; the leaf that said no bears its mark, the others none."""
    lines = run(ring, LAB, "-vv").stdout.splitlines()
    marked = [line.split("=")[0].strip() for line in lines if "<- says no" in line]

    assert marked == ["full > 20000"]
    assert any(line.split() == ["rx.out_of_buffers", "=", "10370", "esx0.txt:46"] for line in lines)


def test_the_values_of_a_tree_stand_in_one_column(ring: str) -> None:
    """All `=` of a tree are below each other, so that values can be read down."""
    lines = [line for line in run(ring, LAB, "-vv").stdout.splitlines() if line.startswith("    ")]

    assert len({line.rindex(" = ") for line in lines}) == 1


def test_an_unknown_leaf_names_what_would_settle_it() -> None:
    """In the tree an unknown leaf is marked, with the rule's own request."""
    said = run("kb-2039495", LAB, "--subject", "TEST2").stdout

    assert "ring_full > 0" in said
    assert "= unknown   <- not known   ask for: `vsish -e get" in said


def test_subject_picks_in_any_case_and_a_single_one_comes_whole() -> None:
    """--subject takes a part of the name; when one subject is left its tree is shown without -vv."""
    said = run("kb-2039495", LAB, "--subject", "IPERF-test1").stdout

    assert "iperf-test2" not in said
    assert "ring_full: rx.ring1_full + rx.ring2_full" in said


def test_a_subject_that_is_not_there_is_refused_with_those_that_are() -> None:
    """An unknown subject ends with 2 and names some that would do."""
    done = run("kb-2039495", LAB, "--subject", "no-such-vm")

    assert done.exit_code == 2
    assert "iperf-test1" in done.stderr


def test_not_applicable_says_what_the_gate_wanted() -> None:
    """A subject before a shut gate is told as well, with the value that shuts it."""
    said = run(
        "coalescing-non-default", str(CASES / "config-traps"), "--subject", "UseHwTSO"
    ).stdout

    assert "NOT APPLICABLE" in said
    assert 'would match if o.option in ["/Net/CoalesceTxTimeout", ' in said
    assert '; it is "/Net/UseHwTSO"' in said


# -- nothing to judge


def test_another_product_is_said_to_be_absent() -> None:
    """A rule of NSX over a host alone: what is missing, what the case holds, what to ask for."""
    said = run("kb-2151719", str(CASES / "healthy-host")).stdout

    assert "1 not applicable" in said
    assert "no part of the case is; the case holds esx51.lab.example (esxi)" in said
    assert "Ask for: the NSX Manager tech-support bundle" in said


def test_a_missing_table_is_told_node_by_node() -> None:
    """Where the source of the subjects is not in the bundle, the node, the source and the request are named."""
    said = run("kb-2039495", str(CASES / "nsx-633-site")).stdout

    assert "(not seen)  esx41.lab.example" in said
    assert "rxSummary (esxi.vmxnet3_rx_summary) of esx41.lab.example is not in the case" in said
    assert "ask for: `vsish" in said


def test_a_table_read_and_empty_is_no_match_with_its_reason() -> None:
    """A source that was read and holds no row is a «no», and says so instead of showing nothing."""
    kit = Kit()
    kit.facts.cover("esx1", "esxi.base", "read")
    found = explain_rule(rule("one.a > 0"), CaseRead(kit.facts))

    assert found.counts == {"no_match": 1}
    assert found.silent == ["esx1: a made-up command (esxi.base) was read and holds no row."]


# -- many subjects


def many(count: int) -> Explanation:
    """Return a rule over `count` things of which the second half matches."""
    kit = Kit().add(BASE, [{"key": number, "a": number} for number in range(count)])
    return explain_rule(rule(f"one.a >= {count // 2}"), CaseRead(kit.facts))


def test_the_first_twenty_are_shown_and_the_rest_is_named() -> None:
    """Of sixty subjects twenty have their lines, the others are counted and named by verdict."""
    lines = [line.text for line in explain_text.write_lines(many(60))]

    assert sum(line.startswith("MATCH") for line in lines) == 20
    assert any(line.startswith("and 10 more MATCH: thing 50; thing 51") for line in lines)
    assert any(line.startswith("and 30 more NO MATCH: thing 29; thing 28") for line in lines)
    everything = [line.text for line in explain_text.write_lines(many(60), most=0)]
    assert sum(line.startswith(("MATCH", "NO MATCH")) for line in everything) == 60


def test_nearer_misses_come_first() -> None:
    """Of the subjects that do not match the one closest to it stands first."""
    names = [one.subject for one in many(10).subjects if one.verdict == "no_match"]

    assert names == ["thing 4", "thing 3", "thing 2", "thing 1", "thing 0"]


def test_a_rule_that_fails_says_so_and_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that raises while judging is told as failed; it never looks like «nothing found»."""
    from analyzer.judge.evaluator import Evaluator

    def broken(*_: object) -> None:
        raise RuntimeError("made to fail")

    monkeypatch.setattr(Evaluator, "list_subjects", broken)
    done = run("kb-2039495", LAB)

    assert done.exit_code == 1
    assert "the rule failed: The rule failed: RuntimeError: made to fail" in done.stdout


# -- a case document


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the case document of the lab case."""
    folder = tmp_path_factory.mktemp("case")
    done = CliRunner().invoke(
        main, ["triage", LAB, "-o", str(folder), "--quiet", "--no-settings", "--no-packs"]
    )
    assert done.exit_code == 0, done.output
    return folder / "case.json"


def test_a_case_document_shows_what_was_kept(kept: Path) -> None:
    """Of a case.json the stored tree is shown, and that the bundle is needed to judge anew."""
    done = run("kb-2039495", str(kept), "-vv")

    assert done.exit_code == 0
    assert (
        "case.json holds what was found then; to judge the rule again, give the bundle."
        in done.stdout
    )
    value = "ring1_full of esxi.vmxnet3_rx_summary = 7086 esx0.txt:48"
    assert any(" ".join(line.split()) == value for line in done.stdout.splitlines())
    assert "cannot tell: vsish" in done.stdout


def test_a_case_document_without_a_finding_says_so(kept: Path) -> None:
    """A rule that was quiet in the kept case is told as quiet, one that was not judged as not judged."""
    quiet = next(one["rule"] for one in json.loads(kept.read_text(encoding="utf-8"))["quiet"])

    assert "The case document holds no finding of this rule." in run(quiet, str(kept)).stdout
    assert run("no-such-rule", str(kept)).exit_code == 2


def test_a_case_document_stands_alone(kept: Path) -> None:
    """A case.json beside a bundle is refused: it cannot be judged with it."""
    done = run("kb-2039495", str(kept), LAB)

    assert done.exit_code == 2
    assert "must be the only path" in done.stderr


# -- JSON, errors, terminals


def test_json_holds_trees_marks_and_near_misses(ring: str) -> None:
    """--json prints one document: counts, subjects, near misses, and in the tree what each leaf says."""
    document = json.loads(run(ring, LAB, "--json").stdout)

    assert document["counts"] == {"no_match": 1}
    (subject,) = document["subjects"]
    assert subject["near"]["leaves"][0]["wanted"] == "> 20000"
    whole: list[dict[str, Any]] = [subject["trace"]]
    for one in whole:
        whole += one["children"]
    assert [one["text"] for one in whole if one["says"] == "no"] == ["full > 20000"]


def test_a_broken_rule_file_ends_with_4_and_a_caret(tmp_path: Path) -> None:
    """A mistake in the file is told with place and caret, before any case is read."""
    path = tmp_path / "ring-far.yaml"
    path.write_text(
        RING.replace("LIMIT", "20000").replace("rx.out_of_buffers", "rx.out_of_bufers"),
        encoding="utf-8",
    )
    done = run(str(path), LAB)

    assert done.exit_code == 4
    assert "ring-far.yaml:7:27" in done.stderr
    assert "^^^" in done.stderr
    assert "out_of_buffers" in done.stderr


@pytest.mark.parametrize(
    ("args", "status", "words"),
    [
        (["kb-203949", LAB], 2, "kb-2039495"),
        (["kb-2039495", "/no/such/bundle.tgz"], 3, "no such file or folder"),
        ([str(ROOT / "analyzer" / "kb"), LAB], 2, "matches"),
    ],
)
def test_mistakes_of_the_call_are_told_plainly(args: list[str], status: int, words: str) -> None:
    """An unknown rule, a missing path and a folder of rules end with their code and one line."""
    done = run(*args)

    assert (done.exit_code, words in done.stderr) == (status, True)
    assert "Traceback" not in done.output


def test_material_without_content_is_refused(tmp_path: Path) -> None:
    """A file that is not support material is refused as triage refuses it."""
    page = tmp_path / "bundle.tgz"
    page.write_text("<!DOCTYPE html><html><body>Session expired</body></html>")
    done = run("kb-2039495", str(page))

    assert done.exit_code == 3
    assert "HTML" in done.stderr


def real(*args: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command as a process of its own."""
    command = [
        sys.executable,
        "-m",
        "analyzer",
        "rules",
        "explain",
        *args,
        "--no-settings",
        "--no-packs",
    ]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, **env}, capture_output=True, check=False, timeout=60
    )


@pytest.mark.process
def test_a_real_process_gives_the_same_bytes_twice_and_no_colour_in_a_pipe(ring: str) -> None:
    """The same input gives the same output bytes; a pipe gets no escape sequence, whatever its width."""
    one, two = real(ring, LAB, "-vv"), real(ring, LAB, "-vv", COLUMNS="40")

    assert one.returncode == 0, one.stderr
    assert one.stdout == two.stdout
    assert b"\x1b" not in one.stdout


@pytest.mark.process
def test_a_terminal_without_unicode_gets_all_of_it(ring: str) -> None:
    """Signs that stdout cannot write are shown escaped; nothing is lost and nothing raises."""
    done = real("kb-2039495", str(CASES / "cpu-limited-vm"), "-v", PYTHONIOENCODING="ascii")

    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()


@pytest.mark.parametrize("width", [80, 132])
def test_a_tree_keeps_to_the_width_of_the_terminal(width: int) -> None:
    """At its width every expression with its value fits; only text that is folded when printed is longer."""
    found = explain_rule(
        _catalog_rule("kb-2039495"), casework.read_case([CASES / "lab-ring-before"], [])
    )
    rows = [
        line
        for one in found.subjects
        if one.trace
        for line in explain_text.write_tree(one.trace, one.marks, width)
    ]

    assert any(" = true" in row.text for row in rows)
    assert max(len(row.text) for row in rows if row.exact) <= width
    assert len(rows) > sum(
        1
        for one in found.subjects
        if one.trace
        for _ in explain_text.write_tree(one.trace, one.marks)
    )


def _catalog_rule(name: str) -> Any:
    from analyzer import rules

    return rules.load()[name]


HOSTILE = st.text(
    st.characters(codec="utf-8", categories=["Cc", "Cf", "L", "Nd", "Zs"]), max_size=12
)


@settings(max_examples=60)
@given(HOSTILE, HOSTILE, HOSTILE, st.sampled_from([0, 1, 2]), st.sampled_from([0, 60]))
def test_names_from_a_bundle_cannot_steer_a_terminal(
    name: str, value: str, note: str, depth: int, width: int
) -> None:
    """No control character of a name, value or reason reaches the output, at any depth."""
    leaf = Trace(name, value, at=f"{name}:1", note=note)
    told = SubjectExplanation(
        "no_match",
        name,
        value,
        why=note,
        trace=Trace("x", "y", [leaf]),
        marks={1: Mark("unknown", value)},
    )
    told.near = NearMiss(1, [], f"would match if {note}")
    found = Explanation("r", name, {"no_match": 1}, [told], [note], [value])

    for line in explain_text.write_lines(found, depth=depth, width=width):
        assert not any(ord(sign) < 32 or 0x7F <= ord(sign) < 0xA0 for sign in line.text), line.text
    assert json.loads(json.dumps(make_record(found)))["rule"] == "r"


def test_a_join_that_finds_nothing_is_told_in_the_tree() -> None:
    """A row that the join did not find is told as missing, with the key it was looked for."""
    one = full(
        """\
rule: made-up
title: A made-up fault
each: one in esxi.base
join:
  first: {table: esxi.part, by: [key]}
subject: "thing {one.key}"
when: first.x > 5
outcomes:
  - {when: true, severity: info, confidence: possible, say: found}
"""
    )
    kit = Kit().add(BASE, [{"key": 1}]).add(PART, [{"key": 9, "part": 0, "x": 7}])
    lines = [
        line.text
        for line in explain_text.write_lines(explain_rule(one, CaseRead(kit.facts)), depth=2)
    ]

    assert any("first.x" in line and "has no row with key 1" in line for line in lines)
