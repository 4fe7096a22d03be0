"""Tables of log lines in the tools of a rule's author, over a bundle, and against a plain count."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer import rules
from analyzer.authoring.explain import explain
from analyzer.authoring.explain.casework import CaseRead
from analyzer.authoring.pages import telling
from analyzer.case.verdicts import Judgement
from analyzer.cli import main
from analyzer.facts import Facts
from analyzer.judge import judge, judge_cases
from analyzer.pipeline import examples
from analyzer.rules import Catalog, Rule
from analyzer.rules.settings import Settings
from analyzer.scan.signatures import Scanner
from tests.kit.line_rules import BUNDLE, LINES, RULE, SLOW_RULE, THINGS, changed, line, verdicts
from tests.kit.lint_kit import check
from tests.kit.rule_kit import BASE, LOG, Kit, full

# -- the tools of the author


def test_examples_give_log_text() -> None:
    """Rows of such a rule come from `logs:` of an example; null is a log that is not there, `cut` one that ended early."""
    text = (
        SLOW_RULE
        + """\
examples:
  - name: two devices
    logs:
      esxi.vobd: |
        2017-10-14T15:10:00.213Z: [scsiCorrelator] 1us: [esx.problem.scsi.device.io.latency.high] Device naa.1 performance has deteriorated. I/O latency increased from average value of 1 microseconds to 2000000 microseconds.
        2017-10-14T15:11:00.213Z: [scsiCorrelator] 2us: [esx.problem.scsi.device.io.latency.high] Device naa.2 performance has deteriorated. I/O latency increased from average value of 1 microseconds to 3000 microseconds.
    expect: {result: match, count: 2, severity: major, say: "2,000,000", subject: naa.1, evidence: latency_us = 2000000}
  - name: cut
    like: two devices
    cut: esxi.vobd
    expect: {result: match, count: 2, maybe_worse: esxi.vobd}
  - {name: quiet, logs: {esxi.vobd: "all well"}, expect: {result: no_match}}
  - {name: absent, logs: {esxi.vobd: null}, expect: {result: cannot_tell, missing: esxi.vobd}}
"""
    )
    assert [result.got for result in examples.run(rules.parse(text)) if not result.ok] == []


def test_explain_shows_lines_and_near_misses() -> None:
    """A device that is not slow enough is told with the number it lacks and the line it stands in."""
    one = full(changed(("when: count(hit) > 0", "when: worst >= bar")))
    told = explain.explain_rule(one, CaseRead(Kit().log(one, LINES).facts)).subjects
    well = next(item for item in told if item.subject == "b")

    assert well.near is not None
    assert "would match if worst >= bar (100); it is 7" in well.near.text
    assert "made_up.log:3" in well.near.text
    assert [(item.line, item.text) for item in well.evidence] == [
        (3, line(3, "late b took 7").strip())
    ]


def test_explain_speaks_of_lines_where_there_is_none() -> None:
    """A log without such a line, and one that is not there, are told apart."""
    one = full(RULE)
    quiet = explain.explain_rule(one, CaseRead(Kit().log(one, "well\n").facts))
    absent = explain.explain_rule(one, CaseRead(Kit().facts))

    assert quiet.silent == [
        "esx1: made_up.log (esxi.made_up_log) was read and holds no line of late."
    ]
    assert "made_up.log (esxi.made_up_log) of esx1 is not in the case" in absent.subjects[0].why


def test_show_tells_what_there_is_a_verdict_of() -> None:
    """`rules show` names the signature and its columns, never the name of a table inside the judge."""
    shown = "\n".join(telling.describe_rule(full(RULE), Settings(), 2))

    assert "dev: each device in lines of late." in shown
    assert "hit: all rows of late with the same device." in shown
    assert "#" not in shown


def test_lint_knows_that_a_table_uses_its_signature(tmp_path: Path) -> None:
    """A signature that only `each` or a join names is used; one that nothing names is not."""
    other = "    columns: {latency_us: int}\n  spare: {in: esxi.vobd, match: 'linkstate down'}\n"
    text = changed(("    columns: {latency_us: int}\n", other), text=SLOW_RULE)

    found = [one.message for one in check(text, tmp_path, "slow-device.yaml") if one.code == "R022"]
    assert found == ["signature `spare` is never used: no condition, text or evidence uses it"]


# -- a real bundle through the command line


def run(*args: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, list(args), catch_exceptions=False)


@pytest.fixture
def kb(tmp_path: Path) -> str:
    """Return a folder with the rule about slow devices."""
    folder = tmp_path / "kb"
    folder.mkdir()
    (folder / "slow-device.yaml").write_text(SLOW_RULE, encoding="utf-8")
    return str(folder)


def _case(path: Path, kb: str, code: Iterable[int] = (0,)) -> dict[str, Any]:
    done = run("triage", str(path), "--kb", kb, "--no-settings", "--json", "-")
    assert done.exit_code in code, done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_a_bundle_names_its_slow_device(kb: str) -> None:
    """Five events of one device in vobd.log: one finding with the device, the worst of them and each line."""
    finding = next(item for item in _case(BUNDLE, kb)["findings"] if item["rule"] == "slow-device")

    assert finding["subject"] == "naa.600508b1001c0000000000000000a107"
    assert (
        finding["say"]
        == "5 events; the slowest I/O took 3,512,036 us, last at 2017-10-14 15:17:46 UTC."
    )
    assert (finding["severity"], finding["also"], finding["maybe_worse"]) == ("major", [], [])
    address = f"{BUNDLE.name}!{BUNDLE.stem}/var/run/log/vobd.log"
    assert [(item["address"], item["line"]) for item in finding["evidence"]] == [
        (address, n) for n in (3, 5, 7, 9, 11)
    ]
    assert finding["evidence"][-1]["label"] == "hit.latency_us = 3512036"
    assert "to 3512036 microseconds." in finding["evidence"][-1]["text"]


@pytest.mark.parametrize("part", [0.2, 0.5, 0.6, 0.65, 0.7, 0.75, 0.9, 0.99])
def test_a_cut_bundle_is_never_clean(tmp_path: Path, kb: str, part: float) -> None:
    """Wherever the archive ends, the rule has found what was there or cannot tell, and it says so."""
    cut = tmp_path / BUNDLE.name
    raw = BUNDLE.read_bytes()
    cut.write_bytes(raw[: int(len(raw) * part)])
    document = _case(cut, kb, (0, 5))

    found = [item for item in document["findings"] if item["rule"] == "slow-device"]
    unsure = [item for item in document["cannot_tell"] if "slow-device" in item["rules"]]
    assert [item["missing"] for item in unsure] == ["esxi.vobd"]
    assert "slow-device" not in [item["rule"] for item in document["quiet"]]
    assert all("There may be more such lines" in " ".join(item["also"]) for item in found)


def test_explain_a_bundle(kb: str) -> None:
    """`rules explain -v` shows the lines of the bundle."""
    done = run(
        "rules",
        "explain",
        "slow-device",
        str(BUNDLE),
        "--kb",
        kb,
        "--no-settings",
        "--no-packs",
        "-v",
    )

    assert done.exit_code == 0, done.output
    assert "vobd.log:11  hit.latency_us = 3512036" in done.stdout


# -- against a plain count

COUNTS = (
    ("count(hit) >= {n}", lambda numbers, n: len(numbers) >= n),
    ("count(hit.us >= {n}) >= 2", lambda numbers, n: sum(one >= n for one in numbers) >= 2),
    ("max(hit.us) >= {n}", lambda numbers, n: max(numbers) >= n),
    ("min(hit.us) < {n}", lambda numbers, n: min(numbers) < n),
    ("sum(hit.us) > {n}", lambda numbers, n: sum(numbers) > n),
    ("any(hit.us == {n})", lambda numbers, n: n in numbers),
    ("all(hit.us < {n})", lambda numbers, n: all(one < n for one in numbers)),
    ("count(hit) < {n}", lambda numbers, n: len(numbers) < n),
)
ENTRY = st.tuples(st.sampled_from("abc"), st.integers(0, 6), st.integers(0, 59))
LOGS = st.lists(ENTRY, max_size=12)


def _log(entries: Sequence[tuple[str, int, int]]) -> str:
    return "".join(
        line(minute, f"late {device} took {us} n{n}")
        for n, (device, us, minute) in enumerate(entries)
    )


def _counting(number: int, bar: int) -> Rule:
    return full(changed(("when: count(hit) > 0", f"when: {COUNTS[number][0].format(n=bar)}")))


def _told(judgement: Judgement) -> tuple[Any, ...]:
    return (
        judgement.counts,
        [
            (item.node, item.subject, item.say, item.maybe_worse, item.also)
            for item in judgement.findings
        ],
        [(item.node, item.subject, item.missing, item.why) for item in judgement.cannot_tell],
    )


@settings(max_examples=60, deadline=None)
@given(LOGS, st.integers(0, len(COUNTS) - 1), st.integers(0, 7), st.booleans())
def test_a_verdict_is_what_a_count_in_python_gives(
    entries: list[tuple[str, int, int]], number: int, bar: int, rotated: bool
) -> None:
    """Per device, the rule matches where min, max, sum or count of its lines say so; the split in files changes nothing."""
    one = _counting(number, bar)
    log = _log(entries)
    kit = Kit().log(one, log)
    if rotated:
        kit.log(
            one, "".join(log.splitlines(keepends=True)[: len(entries) // 2]), source="made_up.0.gz"
        )
    judgement = kit.judge(one)

    numbers: dict[str, list[int]] = {}
    for device, us, _ in entries:
        numbers.setdefault(device, []).append(us)
    expected = sorted(device for device, own in numbers.items() if COUNTS[number][1](own, bar))
    assert sorted(item.subject for item in judgement.findings) == expected
    assert judgement.cannot_tell == []
    assert sum(judgement.counts["made-up"].values()) == max(1, len(numbers))


@settings(max_examples=40, deadline=None)
@given(LOGS, LOGS, st.integers(0, len(COUNTS) - 1), st.integers(0, 7))
def test_lines_behind_a_cut_undo_no_answer(
    seen_lines: list[tuple[str, int, int]], more: list[tuple[str, int, int]], number: int, bar: int
) -> None:
    """What was found, or ruled out, in the first part of a log still holds whatever the rest says."""
    one = _counting(number, bar)
    head = Kit().log(one, _log(seen_lines), cut="cut").judge(one)
    whole = Kit().log(one, _log(seen_lines) + _log(more).replace(" n", " m")).judge(one)

    found = {item.subject for item in head.findings}
    open_ = {item.subject for item in head.cannot_tell}
    assert "" in open_
    assert found <= {item.subject for item in whole.findings}
    ruled_out = {device for device, _, _ in seen_lines} - found - open_
    assert ruled_out.isdisjoint({item.subject for item in whole.findings})


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.one_of(st.none(), LOGS), st.sampled_from(["", "cut", "archive"])),
        min_size=1,
        max_size=6,
    ),
    st.integers(0, len(COUNTS) - 1),
    st.integers(0, 7),
    st.sampled_from(["", "rows: many", "rows: many, nodes: any"]),
)
def test_many_cases_at_once_are_judged_as_each_alone(
    cases: list[tuple[list[tuple[str, int, int]] | None, str]], number: int, bar: int, joined: str
) -> None:
    """A case among others gives what it gives by itself, whole, cut or without the log."""
    text = COUNTS[number][0].format(n=bar)
    one = _counting(number, bar)
    if joined:
        pairs = ("WHEN", text), ("(?P<us>\\d+)", "took (?P<us>\\d+)"), ("rows: many", joined)
        one = full(changed(*pairs, text=THINGS))

    def facts(place: int) -> Facts:
        entries, how = cases[place]
        kit = Kit("esx1", "esx2")
        if joined:
            kit.add(BASE, [{"key": key, "s": name} for key, name in enumerate("ab")], node="esx2")
        if entries is not None:
            kit.log(one, _log(entries), "esx2", cut="cut" if how == "cut" else "")
        if how == "archive":
            kit.facts.incomplete("esx2")
        return kit.facts

    together = {str(place): facts(place) for place in range(len(cases))}
    found = judge_cases(one, together)
    for place in range(len(cases)):
        assert _told(found[str(place)]) == _told(judge(Catalog([one]), facts(place)))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=30), max_size=6))
def test_whatever_stands_in_a_line_is_data(names: list[str]) -> None:
    """Quotes, markup, control signs and half letters of a log reach the finding as text, and break nothing."""
    one = full(changed(("(?P<device>\\w+)(?: took (?P<us>\\S+))?", "<(?P<device>.*)>(?P<us>)")))
    lines = [f"late <{name}>" for name in names]
    kit = Kit()
    scanner = Scanner(Catalog([one]).signatures(), engine="pure")
    kit.facts.add_hits(scanner.scan_lines(lines, LOG.name, "made_up.log").assign_node("esx1"))
    judgement = kit.judge(one)

    assert "error" not in verdicts(judgement)
    assert sum(verdicts(judgement).values()) >= 1
