"""A rule that judges each device: every name means the lines of that device, and a question costs one pass.

All log lines are synthetic; their form is that of vmkernel.log (ISO stamp, cpu and world, message).
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.case.verdicts import Judgement
from analyzer.cli import main
from analyzer.judge.log_answers import LogHit
from analyzer.judge.log_conditions import Logs
from analyzer.rules import LogDef
from analyzer.rules.catalog import load
from analyzer.runtime.errors import RuleFileError
from analyzer.scan.hits import Hit
from tests.kit.full_size import scale_size
from tests.kit.rule_kit import BASE, Kit, full

START = datetime(2024, 1, 5, 12)


class Line(NamedTuple):
    """One made-up line: seconds after the start, what happened, to which device, with which number."""

    at: int
    kind: str
    device: str
    number: int


def written(lines: Sequence[Line]) -> str:
    """Return lines as the text of a log."""
    stamps = [f"{START + timedelta(seconds=one.at):%Y-%m-%dT%H:%M:%S}.000Z" for one in lines]
    return "".join(
        f"{stamp} {one.kind} {one.device} n={one.number}\n"
        for stamp, one in zip(stamps, lines, strict=True)
    )


QUESTIONS = """\
rule: made-up
title: A made-up fault
each: dev in any per device
logs:
  any: {in: esxi.made_up_log, match: '(?:bad|well) (?P<device>\\w+) '}
  bad: {in: esxi.made_up_log, match: 'bad (?P<device>\\w+) n=(?P<number>\\d+)'}
  well: {in: esxi.made_up_log, match: 'well (?P<device>\\w+) '}
seen:
  burst: {log: bad, at_least: 3, within: 10s}
  spread: {log: bad, distinct: number, at_least: 2, within: 5s}
  pair: {sequence: [bad, well], within: 4s}
  calm: {none: bad, for: 6s}
subject: "{dev.device}"
when: true
outcomes:
  - {when: true, severity: info, say: "%s"}
"""
NAMES = ("burst", "spread", "pair", "calm")
SAY = " ".join(f"{name}={{{name}}}/{{{name}.count}}" for name in NAMES)


def oracle(lines: Sequence[Line], device: str) -> dict[str, tuple[bool, int]]:
    """Answer the questions for one device by trying every window and every pair."""
    bad = [one for one in lines if one.device == device and one.kind == "bad"]
    well = [one for one in lines if one.device == device and one.kind == "well"]
    # a window ends at a line; the fullest one is what a sentence tells of
    windows = [[one for one in bad if end.at - 10 <= one.at <= end.at] for end in bad]
    burst = max((len(some) for some in windows), default=0)
    narrow = [[one for one in bad if end.at - 5 <= one.at <= end.at] for end in bad]
    spread = max((len({one.number for one in some}) for some in narrow), default=0)
    place = {id(one): number for number, one in enumerate(lines)}
    pairs = [
        first for first in bad
        if any(first.at <= one.at <= first.at + 4 and place[id(one)] > place[id(first)] for one in well)
    ]  # fmt: skip
    last = max(one.at for one in lines)
    loud = [one for one in bad if one.at > last - 6]
    return {
        "burst": (burst >= 3, burst),
        "spread": (spread >= 2, spread),
        "pair": (bool(pairs), len(pairs)),
        "calm": (not loud, len(loud)),
    }


LINES = st.lists(
    st.builds(
        Line,
        st.integers(0, 40),
        st.sampled_from(["bad", "bad", "well"]),
        st.sampled_from(["a", "b", "c"]),
        st.integers(1, 3),
    ),
    min_size=1,
    max_size=30,
).map(lambda lines: sorted(lines, key=lambda one: one.at))


@settings(max_examples=80, deadline=None)
@given(LINES)
def test_windows_and_pairs_of_each_device_are_those_of_brute_force(lines: list[Line]) -> None:
    """Count, distinct values, sequence and silence: for every device the answer of trying each window and pair."""
    # lines that are equal in all are one line copied by rotation, or two; here each has a place of its own
    lines = [one for number, one in enumerate(lines) if one not in lines[:number]]
    long_before = Line(
        -3600, "idle", "nobody", 0
    )  # the log reaches back farther than any silence asks
    rule = full(QUESTIONS % SAY)
    judged = Kit().log(rule, written([long_before, *lines])).judge(rule)

    told = {finding.subject: finding.say for finding in judged.findings}
    assert set(told) == {one.device for one in lines}
    for device, say in told.items():
        want = " ".join(
            f"{name}={str(value).lower()}/{n}" for name, (value, n) in oracle(lines, device).items()
        )
        assert (device, say) == (device, want)


def test_evidence_count_and_times_are_the_devices_own() -> None:
    """`burst.count`, `.first`, `.last`, `.lines`, the evidence and the trace name the lines of the device alone."""
    lines = [Line(n, "bad", "ab"[n % 2], n) for n in range(12)] + [Line(40, "bad", "c", 1)]
    text = QUESTIONS.replace(
        "when: true\noutcomes", "when: burst\nevidence: [burst, bad]\noutcomes"
    )
    rule = full(text % "{burst.count} {burst.first} {burst.last} {burst.lines}")
    judged = Kit().log(rule, written(lines)).judge(rule)

    assert {finding.subject: finding.say for finding in judged.findings} == {
        "a": "6 2024-01-05 12:00:00 UTC 2024-01-05 12:00:10 UTC made_up.log:1, made_up.log:3, made_up.log:5",
        "b": "6 2024-01-05 12:00:01 UTC 2024-01-05 12:00:11 UTC made_up.log:2, made_up.log:4, made_up.log:6",
    }
    for finding in judged.findings:
        assert {item.text.split()[2] for item in finding.evidence} == {finding.subject}
        assert finding.subject == "ab"[(finding.evidence[0].line - 1) % 2]
    assert judged.counts["made-up"]["no_match"] == 1


def test_the_evidence_is_the_first_the_deciding_and_the_last_line_and_says_how_many_more() -> None:
    """Of hundreds of lines three stand in the report: the ends of the fullest window, and the last line of all."""
    lines = [Line(n, "bad", "a", n) for n in range(300)]
    text = QUESTIONS.replace("at_least: 3", "at_least: 10").replace(
        "when: true\nout", "when: burst\nevidence: [burst]\nout"
    )
    rule = full(text % "x")
    (finding,) = Kit().log(rule, written(lines)).judge(rule).findings

    assert [item.line for item in finding.evidence] == [1, 11, 300]
    assert finding.evidence[-1].label == "burst (297 more lines of it not shown)"


JOINED = """\
rule: made-up
title: A made-up fault
each: one in esxi.base
join:
  hit: {table: bad, by: {%s: %s}, rows: many}
logs:
  bad: {in: esxi.made_up_log, match: 'bad (?P<device>\\w+) n=(?P<number>\\d+)', columns: {number: int}}
  well: {in: esxi.made_up_log, match: 'well (?P<device>\\w+) n=(?P<number>\\d+)', columns: {number: int}}
seen:
  often: {log: bad, at_least: 2}
  healed: {sequence: [bad, well]}
subject: "{one.key}"
when: often
evidence: [bad, often]
outcomes:
  - {when: true, severity: info, say: "{often.count} {healed}"}
"""
THINGS = [{"key": 1, "s": "a"}, {"key": 2, "s": "b"}, {"key": 3, "s": "c"}, {"key": 4, "s": None}]


def says(judged: Judgement) -> dict[str, str]:
    """Return what each finding says, by subject."""
    return {finding.subject: finding.say for finding in judged.findings}


@pytest.mark.parametrize(("mine", "theirs"), [("one.s", "device"), ("one.key", "number")])
def test_rows_of_a_table_joined_by_a_key_have_lines_of_their_own(mine: str, theirs: str) -> None:
    """A text or a number tells whose a line is; a signature that has the column as well is parted the same way."""
    lines = [
        Line(1, "bad", "a", 1),
        Line(2, "bad", "b", 2),
        Line(3, "bad", "b", 2),
        Line(4, "well", "b", 2),
    ]
    rule = full(JOINED % (mine, theirs))
    kit = Kit().add(BASE, THINGS).log(rule, written(lines))
    judged = kit.judge(rule, explain="made-up")

    assert says(judged) == {"2": "2 true"}
    assert {item.line for item in judged.findings[0].evidence} == {2, 3}
    verdicts = {one.subject: one.verdict for one in judged.explained}
    # a thing whose name is not known may be any of those that have lines
    assert verdicts == {
        "1": "no_match",
        "2": "match",
        "3": "no_match",
        "4": "cannot_tell" if mine == "one.s" else "no_match",
    }


def test_names_of_things_are_compared_as_joins_compare_them() -> None:
    """A VM is the same VM in other capitals, for a signature's name as for a join."""
    text = JOINED.replace("(?P<device>", "(?P<vm_name>") % ("one.s", "vm_name")
    rule = full(text)
    kit = (
        Kit()
        .add(BASE, [{"key": 1, "s": "Web01"}])
        .log(rule, written([Line(1, "bad", "web01", 1), Line(2, "bad", "WEB01", 2)]))
    )
    assert says(kit.judge(rule)) == {"1": "2 false"}


def test_a_line_that_names_no_device_makes_a_no_unsure_and_never_a_yes() -> None:
    """It may be a line of any of them: with it one could have three, so that is not known."""
    text = QUESTIONS.replace(
        "match: 'bad (?P<device>\\w+) n", "match: 'bad (?:(?P<device>[a-z]) |\\S+ )n"
    )
    rule = full(text.replace("when: true\nout", "when: burst\nout") % "x")
    lines = [
        Line(1, "bad", "a", 1),
        Line(2, "bad", "a", 2),
        Line(3, "bad", "b", 1),
        Line(4, "bad", "-?-", 3),
    ]
    counts = Kit().log(rule, written(lines)).judge(rule).counts["made-up"]

    assert (counts["match"], counts["cannot_tell"], counts["no_match"]) == (0, 1, 1)


def test_different_values_of_what_tells_the_subjects_apart_are_refused() -> None:
    """The lines of one device name one device: a rule that counts devices there would never match."""
    with pytest.raises(RuleFileError, match="the lines of one subject have one `device`"):
        full(QUESTIONS.replace("distinct: number", "distinct: device") % "x")


# -- through the command, at real size

RATE = """\
rule: %s
title: Many reservation conflicts on a device
source: synthetic
status: test
revised: 2026-11-21
about: Conflicts come in bursts. A made-up rule.
each: dev in conflict per device
join:
  hit: {table: conflict, by: [device], rows: many}
subject: "{dev.device}"
logs:
  conflict: {in: esxi.vmkernel, match: 'Cmd %s to dev "(?P<device>[^"]+)" failed H:0x0 D:0x18'}
  back: {in: esxi.vmkernel, match: 'dev "(?P<device>[^"]+)" is on line'}
seen:
  burst: {log: conflict, at_least: 10, within: 1h}
  pair: {sequence: [conflict, back], within: 1h}
when: burst
outcomes:
  - {when: pair, severity: warning, say: "{burst.count} conflicts, then well; {count(hit.device)} lines"}
  - {when: true, severity: major, say: "{burst.count} conflicts; {count(hit.device)} lines"}
evidence: [burst, conflict, pair, hit.device]
fix: [{where: host, do: Look.}]
ask: vmkernel.log
"""


def conflicts(count: int, devices: int, commands: int = 1) -> Iterator[str]:
    """Yield lines of vmkernel.log: reservation conflicts, dealt out to devices in turn."""
    for number in range(count):
        when = START + timedelta(milliseconds=50 * number)
        command = f"0x{16 + number // devices % commands:x}"
        yield (
            f"{when:%Y-%m-%dT%H:%M:%S}.{when.microsecond // 1000:03d}Z cpu{number % 32}:2097{number % 1000:03d})ScsiDeviceIO:"
            f' 3068: Cmd {command} to dev "naa.6000{number % devices:028d}" failed H:0x0 D:0x18 P:0x0'
        )


def triaged(
    tmp_path: Path, lines: Iterator[str], rules: dict[str, str], *more: str
) -> tuple[dict[str, Any], float, int]:
    """Run `backline triage` on a bundle's folder; return case.json, seconds, and the bytes of the report."""
    log = tmp_path / "esx-a-2024-01-05--18.00" / "var" / "run" / "log" / "vmkernel.log"
    log.parent.mkdir(parents=True)
    log.write_text("\n".join(lines) + "\n")
    kb = tmp_path / "kb"
    kb.mkdir()
    for name, text in rules.items():
        (kb / f"{name}.yaml").write_text(text)
    begun = time.process_time()
    asked = ["triage", str(log.parents[3]), "--kb", str(kb), "-o", str(tmp_path / "out"), *more]
    result = CliRunner().invoke(main, asked, catch_exceptions=False)
    assert result.exit_code in (0, 1, 5), result.output
    case = json.loads((tmp_path / "out" / "case.json").read_text())
    return case, time.process_time() - begun, (tmp_path / "out" / "report.html").stat().st_size


STORM = """\
rule: storm
title: Many reservation conflicts on a device
source: synthetic
status: test
revised: 2026-11-21
about: Conflicts come in storms. A made-up rule.
each: dev in conflict per device
join:
  hit: {table: conflict, by: [device], rows: many}
subject: "{dev.device}"
logs:
  conflict: {in: esxi.vmkernel, match: 'Cmd 0x(?P<cmd>\\w+) to dev "(?P<device>[^"]+)" failed H:0x0 D:0x18'}
seen:
  often: {log: conflict, at_least: 5, within: 1m}
let:
  lines: count(hit)
when: often and lines >= 10
outcomes:
  - {when: true, severity: major, say: "{lines:,} lines; {conflict.count} of it; {often.count} close together"}
evidence: [conflict]
fix: [{where: host, do: Look.}]
ask: vmkernel.log
"""


@pytest.mark.release
@pytest.mark.size
@pytest.mark.parametrize(
    ("count", "told"),
    [
        (300_000, "at least 50 lines; at least 50 of it; at least 7 close"),
        (10_000, "50 lines; 50 of it; 7 close"),
    ],
)
def test_each_of_two_hundred_devices_of_a_storm_is_judged_and_no_count_is_too_low(
    tmp_path: Path, count: int, told: str
) -> None:
    """Of 300,000 lines 10,000 are kept: every device is found, each count is said to be a lower bound, and why."""
    case, seconds, _ = triaged(tmp_path, conflicts(count, 200), {"storm": STORM})

    found = [one for one in case["findings"] if one["rule"] == "storm"]
    assert len({one["subject"] for one in found}) == 200
    assert {re.sub("5[01]", "50", one["say"]) for one in found} == {
        f"{told} together"
    }  # one has the last line known
    bounded = "at least" in told
    assert all(
        any("There may be more such lines" in also for also in one["also"]) is bounded
        for one in found
    )
    assert bool(case["limits"]) is bounded
    assert seconds < 45


@pytest.mark.parametrize(
    ("where", "parsed"),
    [
        ("device != 'naa.0'", False),
        ("known(level) or device != 'naa.0'", True),
        ("known(message)", True),
    ],
)
def test_a_where_of_named_groups_parses_no_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, parsed: bool
) -> None:
    """Lines are parsed for a `where` that reads a column of the log, and only then; the verdict is the same."""
    asked: list[bool] = []
    found = Logs._read_hit

    def counted(self: Logs, log: LogDef, node: str, hit: Hit, *, parse: bool) -> LogHit | None:
        if self.rule.id == "storm":
            asked.append(parse)
        return found(self, log, node, hit, parse=parse)

    monkeypatch.setattr(Logs, "_read_hit", counted)
    text = STORM.replace("H:0x0 D:0x18'}", f'H:0x0 D:0x18\', where: "{where}"}}')
    assert text != STORM
    case, _, _ = triaged(tmp_path, conflicts(40, 2), {"storm": text})
    assert len([one for one in case["findings"] if one["rule"] == "storm"]) == 2
    assert asked == [parsed] * 40


def most(case: dict[str, Any]) -> int:
    """Return how large a report may be: a question for each rule, 20 KB for each finding, of which 200 are shown in full."""
    return 100_000 + 600 * len(load().rules) + 20_000 * min(len(case["findings"]), 200)


CONFLICT_LINES = scale_size(30_000)
STORM_LINES = scale_size(100_000)


@pytest.mark.size
@pytest.mark.parametrize("devices", [1, 100, scale_size(5_000)])
def test_a_rate_and_a_pair_over_many_lines_cost_one_pass(tmp_path: Path, devices: int) -> None:
    """All lines are kept and judged per device in seconds; the report holds a few lines of each device only."""
    rule = RATE.replace("at_least: 10", "at_least: 5") % ("rate", "0x10")
    kept = ("--limit", "hits_per_signature=200000")
    case, seconds, size = triaged(
        tmp_path, conflicts(CONFLICT_LINES, devices), {"rate": rule}, *kept
    )

    found = [one for one in case["findings"] if one["rule"] == "rate"]
    each = f"{CONFLICT_LINES // devices:,}"
    assert found
    assert {one["say"] for one in found} == {f"{each} conflicts; {each} lines"}
    for one in found:
        assert all(one["subject"] in item["text"] for item in one["evidence"])
        assert len(one["evidence"]) <= 14
    assert seconds < 60
    assert size < most(case)


@pytest.mark.release
@pytest.mark.size
@pytest.mark.parametrize("devices", [100, 1, 10_000])
def test_a_storm_of_a_hundred_thousand_lines_is_bounded_and_says_what_was_not_kept(
    tmp_path: Path, devices: int
) -> None:
    """Ten thousand lines are kept: who has enough of them is ill, of the others it is not known, nobody is well."""
    case, seconds, size = triaged(
        tmp_path, conflicts(STORM_LINES, devices), {"rate": RATE % ("rate", "0x10")}
    )

    found = [one for one in case["findings"] if one["rule"] == "rate"]
    if devices == 10_000:  # one kept line of each
        assert not found
        assert any("rate" in one["rules"] and "kept" in one["why"] for one in case["cannot_tell"])
    else:
        assert len(found) == devices
        assert all(
            any(f"of {STORM_LINES:,} lines" in also for also in one["also"]) for one in found
        )
    assert seconds < 60
    assert size < most(case)


def rules_like(count: int) -> dict[str, str]:
    """Return rules made from one template, each of another SCSI command."""
    return {f"rate-{n}": RATE % (f"rate-{n}", f"0x{16 + n:x}") for n in range(count)}


@pytest.mark.release
@pytest.mark.size
def test_twenty_rules_over_twenty_thousand_lines_take_seconds(tmp_path: Path) -> None:
    """Each rule looks at its own lines: rules times lines is never paid."""
    case, seconds, _ = triaged(tmp_path, conflicts(20_000, 10, 20), rules_like(20))
    assert len([one for one in case["findings"] if one["rule"].startswith("rate-")]) == 200
    assert seconds < 30


@pytest.mark.release
@pytest.mark.size
def test_three_hundred_rules_over_thirty_thousand_lines(tmp_path: Path) -> None:
    """A catalog of real size over a storm: every rule finds its devices, in half a minute of computing."""
    rules = scale_size(300)
    begun = time.process_time()
    case, _, _ = triaged(tmp_path, conflicts(10 * 10 * rules, 10, rules), rules_like(rules))
    found = [one for one in case["findings"] if one["rule"].startswith("rate-")]
    assert len({one["rule"] for one in found}) == rules
    assert time.process_time() - begun < 60  # other work on the machine does not count
