"""Signatures as tables: one verdict for each device, NIC or VM that lines of a log name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer import examples, rules
from analyzer.authoring.explain import explain
from analyzer.authoring.explain.casework import CaseRead
from analyzer.authoring.pages import telling
from analyzer.authoring.proof.mutants import mutants
from analyzer.cli import main
from analyzer.errors import RuleFileError
from analyzer.facts import Facts
from analyzer.judge import judge, judge_cases, log_conditions, signature_tables
from analyzer.judge.case_rows import CaseTable
from analyzer.language.rulefile import BadRuleError
from analyzer.limits import Limits
from analyzer.rules import Catalog, Rule
from analyzer.rules.settings import Settings
from analyzer.rules.tables import refitted
from analyzer.scan.hits import LogScan, SearchStop
from analyzer.scan.signatures import Scanner
from analyzer.tables import Block, Table
from analyzer.verdicts import Judgement
from tests.lint_kit import check
from tests.rule_kit import BASE, LOG, TABLES, Kit, full

ROOT = Path(__file__).resolve().parent.parent
SLOW = ROOT / "samples" / "cases" / "slow-storage"
BUNDLE = SLOW / "esx-esx71.lab.example-2017-10-14--16.53-71234.tgz"

# Lines of a made-up log: when, which device, how long.
RULE = """\
rule: made-up
title: A made-up fault
each: dev in late per device
join:
  hit: {table: late, by: [device], rows: many}
logs:
  late:
    in: esxi.made_up_log
    match: 'late (?P<device>\\w+)(?: took (?P<us>\\S+))?'
    columns: {us: int}
subject: "{dev.device}"
let: {worst: max(hit.us), bar: 100}
when: count(hit) > 0
outcomes:
  - {when: worst >= bar, severity: major, say: "{count(hit)} lines, the slowest {worst:,}"}
  - {when: true, severity: info, say: "{count(hit)} lines, at most {worst}"}
evidence: [hit.us]
ask: made_up.log of the day
"""

# Things of a table, each with its lines.
THINGS = """\
rule: made-up
title: A made-up fault
each: one in esxi.base
join:
  hit: {table: late, by: {one.s: device}, rows: many}
logs:
  late:
    in: esxi.made_up_log
    match: 'late (?P<device>\\w+) (?P<us>\\d+)'
    columns: {us: int}
subject: "{one.s}"
when: WHEN
outcomes: [{when: true, severity: major, say: found}]
"""

SLOW_RULE = """\
rule: slow-device
title: A storage device answers late
each: dev in late per device
join:
  hit: {table: late, by: [device], rows: many}
subject: "{dev.device}"
logs:
  late:
    in: esxi.vobd
    match: '\\[esx\\.problem\\.scsi\\.device\\.io\\.latency\\.high\\] Device (?P<device>\\S+) .* to (?P<latency_us>\\d+) microseconds'
    columns: {latency_us: int}
let: {worst: max(hit.latency_us), bar: 1000000}
when: count(hit.device) > 0
outcomes:
  - when: worst >= bar
    severity: major
    confidence: confirmed
    say: "{count(hit.device)} events; the slowest I/O took {worst:,} us, last at {max(hit.time)}."
  - when: true
    severity: warning
    confidence: confirmed
    say: "{count(hit.device)} events; the slowest I/O took {worst:,} us."
evidence: [hit.latency_us]
"""


def changed(*pairs: tuple[str, str], text: str = RULE) -> str:
    """Return a rule text with parts replaced; each must be there."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def line(minute: int, text: str) -> str:
    """Return a line of the made-up log."""
    return f"2017-10-02T08:{minute:02d}:00.500Z {text}\n"


LINES = line(1, "late a took 50") + line(2, "well") + line(3, "late b took 7") + line(4, "late a took 120")


def verdicts(judgement: Judgement) -> dict[str, int]:
    """Return how often the rule gave each verdict, without the zeros."""
    return {verdict: count for verdict, count in judgement.counts["made-up"].items() if count}


def subjects(judgement: Judgement) -> dict[str, tuple[str, str]]:
    """Return subject -> severity and words of the findings."""
    return {finding.subject: (finding.severity, finding.say) for finding in judgement.findings}


# -- rows


def test_each_value_of_a_group_is_a_subject_of_its_own() -> None:
    """`per device`: one verdict for each device, over the lines that name it."""
    one = full(RULE)
    judgement = Kit().log(one, LINES).judge(one)

    assert subjects(judgement) == {
        "a": ("major", "2 lines, the slowest 120"),
        "b": ("info", "1 lines, at most 7"),
    }
    assert verdicts(judgement) == {"match": 2}


def test_a_subject_is_a_node_and_a_value() -> None:
    """The same device on two hosts is two subjects, and no host's lines count for the other."""
    one = full(RULE)
    kit = Kit("esx1", "esx2").log(one, LINES, "esx1").log(one, line(9, "late a took 1"), "esx2")

    found = [(item.node, item.subject, item.say) for item in kit.judge(one).findings if item.subject == "a"]
    assert sorted(found) == [("esx1", "a", "2 lines, the slowest 120"), ("esx2", "a", "1 lines, at most 1")]


def test_several_columns_tell_subjects_apart() -> None:
    """`per device, us`: one subject for each pair; the row of each is its earliest line."""
    text = changed(("per device", "per device, us"), ('"{dev.device}"', '"{dev.device} {dev.us} {dev.time}"'))
    one = full(text)
    log = line(5, "late a took 1") + line(2, "late a took 1") + line(3, "late a took 2")

    found = {item.subject for item in Kit().log(one, log).judge(one).findings}
    assert found == {"a 1 2017-10-02 08:02:00 UTC", "a 2 2017-10-02 08:03:00 UTC"}


def test_without_per_each_line_is_a_subject() -> None:
    """`each: ev in late`: every line has a verdict, named by what its groups hold."""
    text = changed(("per device", ""), ('subject: "{dev.device}"\n', ""))
    one = full(text)

    found = sorted(item.subject for item in Kit().log(one, LINES).judge(one).findings)
    assert found == ["a 120", "a 50", "b 7"]


def test_the_very_lines_are_evidence() -> None:
    """Evidence names member and line, holds the text with its neighbours, and the time of the line."""
    one = full(RULE)
    finding = Kit().log(one, LINES, source="x.tgz!var/log/made_up.log").judge(one).findings[0]

    assert [(item.label, item.address, item.line, item.taken) for item in finding.evidence] == [
        ("hit.us = 50", "x.tgz!var/log/made_up.log", 1, "2017-10-02T08:01:00Z"),
        ("hit.us = 120", "x.tgz!var/log/made_up.log", 4, "2017-10-02T08:04:00Z"),
    ]
    last = finding.evidence[1]
    assert last.text == line(4, "late a took 120").strip()
    assert last.before == [line(2, "well").strip(), line(3, "late b took 7").strip()]
    assert finding.first_seen == "2017-10-02T08:01:00Z"


def test_a_line_in_rotated_copies_is_one_row() -> None:
    """A line that stands in vobd.log and in vobd.0.gz is counted once; two equal lines of one file are two."""
    one = full(RULE)
    kit = Kit().log(one, LINES, source="made_up.log").log(one, LINES + LINES[:0], source="made_up.0.gz")
    kit.log(one, line(1, "late a took 50") * 2, source="made_up.1.gz")

    assert subjects(kit.judge(one))["a"][1] == "3 lines, the slowest 120"


def test_kinds_of_groups() -> None:
    """A group is text unless `columns` says int, float, version or time; text that is none of it is unknown."""
    text = changed(
        (
            "match: 'late (?P<device>\\w+)(?: took (?P<us>\\S+))?'",
            "match: 'x (?P<device>\\S+) (?P<us>\\S+) (?P<v>\\S+) (?P<f>\\S+) at (?P<t>\\S+)$'",
        ),
        ("{us: int}", "{us: int, v: version, f: float, t: time}"),
        ('"{dev.device}"', '"{dev.device}|{dev.us}|{dev.v}|{dev.f}|{dev.t}"'),
        ("when: count(hit) > 0", 'when: dev.v > "6.3.9" or count(hit) > 0'),
    )
    log = (
        line(1, "x naa.1 1,024 6.3.10 0.5 at 2017-01-02T03:04:05Z")
        + line(2, "x 0017 0x10 7 9e2 at 2017-01-02T03:04:05")
        + line(3, "x odd 12us seven nan at yesterday")
    )  # fmt: skip
    one = full(text)

    assert {item.subject for item in Kit().log(one, log).judge(one).findings} == {
        "naa.1|1024|6.3.10|0.5|2017-01-02 03:04:05 UTC",
        "0017|16|7|900|2017-01-02 03:04:05 UTC",
        "odd|unknown|seven|unknown|an unknown time",
    }


def test_columns_of_the_log_are_columns_of_its_lines() -> None:
    """Besides the groups a row has what the log's parser reads of the line: event_id, correlator, uptime, message."""
    text = changed(
        ("esxi.made_up_log", "esxi.vobd"),
        ("match: 'late (?P<device>\\w+)(?: took (?P<us>\\S+))?'", "match: 'vmnic (?P<device>vmnic\\d+)'"),
        ("{us: int}", "{}"),
        ("{worst: max(hit.us), bar: 100}", "{worst: max(hit.uptime_us), bar: 100}"),
        ('"{dev.device}"', '"{dev.device} {dev.event_id} {dev.correlator}"'),
        ("evidence: [hit.us]", "evidence: [dev.message]"),
    )
    one = rules.parse(text)
    log = "2017-10-14T16:40:02.101Z: [netCorrelator] 3541602000000us: [vob.net.vmnic.linkstate.up] vmnic vmnic0 linkstate up\n"
    finding = _vobd(one, log).findings[0]

    assert finding.subject == "vmnic0 vob.net.vmnic.linkstate.up netCorrelator"
    assert finding.say == "1 lines, the slowest 3,541,602,000,000"
    assert finding.evidence[0].label == 'dev.message = "vmnic vmnic0 linkstate up"'


def test_a_group_of_the_name_of_a_column_is_the_group() -> None:
    """A group called as a column of the log takes its place, and is unknown where it took no part."""
    text = changed(
        ("esxi.made_up_log", "esxi.vobd"),
        (
            "match: 'late (?P<device>\\w+)(?: took (?P<us>\\S+))?'",
            "match: '(?P<device>vmnic\\d+)(?: as (?P<event_id>\\w+))?$'",
        ),
        ("{us: int}", "{event_id: str}"),
        ("{worst: max(hit.us), bar: 100}", "{worst: max(hit.uptime_us), bar: 100}"),
        ('"{dev.device}"', '"{dev.device} {dev.event_id}"'),
        ("evidence: [hit.us]", "evidence: [dev.correlator]"),
    )
    head = "2017-10-14T16:40:02.101Z: [netCorrelator] 3541us: [vob.net.up]"
    one = rules.parse(text)

    found = {item.subject for item in _vobd(one, f"{head} vmnic0\n{head} vmnic1 as mine\n").findings}
    assert found == {"vmnic0 unknown", "vmnic1 mine"}


def _vobd(one: Rule, log: str, **more: str) -> Judgement:
    """Return what a rule over the real vobd.log says of some lines of it."""
    facts = Facts()
    facts.node("esx1", "esx1", "esxi", captured="2017-10-15T00:00:00Z")
    facts.add_hits(
        Scanner(Catalog([one]).signatures(), engine="pure")
        .scan_lines(log.splitlines(), "esxi.vobd", "vobd.log")
        .named("esx1")
    )
    return judge(Catalog([one]), facts)


def test_the_parser_of_a_log_runs_only_where_its_columns_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups and the time of a line cost no parser; a column of the log does."""
    asked: list[str] = []

    def parsed(table: str, _block: Block) -> None:
        asked.append(table)

    monkeypatch.setattr(log_conditions, "parsed_line", parsed)
    plain = full(changed(('say: "{count(hit)} lines, at most {worst}"', 'say: "{max(hit.time)}"')))
    Kit().log(plain, LINES).judge(plain)
    assert asked == []

    used = full(changed(("evidence: [hit.us]", "evidence: [hit.level]")))
    Kit().log(used, LINES).judge(used)
    assert set(asked) == {"esxi.made_up_log"}


def test_where_keeps_to_lines() -> None:
    """Lines for which `where` of the signature is false are no rows."""
    one = full(changed(("    columns:", "    where: us >= 100\n    columns:")))

    assert subjects(Kit().log(one, LINES).judge(one)) == {"a": ("major", "1 lines, the slowest 120")}


# -- what is not known


def test_a_log_that_is_not_there_is_asked_for() -> None:
    """Without the log nothing is known of any device: «cannot tell» for the node, by the name of the log."""
    judgement = Kit("esx1").judge(full(RULE))

    assert [(item.node, item.subject, item.reason, item.missing, item.ask) for item in judgement.cannot_tell] == [
        ("esx1", "", "missing", "esxi.made_up_log", "made_up.log of the day")
    ]


def test_a_log_without_such_a_line_is_a_no() -> None:
    """A log that was read whole and has no hit answers «no match»."""
    one = full(RULE)
    assert verdicts(Kit().log(one, line(1, "well")).judge(one)) == {"no_match": 1}


def test_a_rule_of_another_product_does_not_apply() -> None:
    """The product of such a rule is that of its log."""
    one = full(RULE)
    assert verdicts(Kit("vm", kind="guest").judge(one)) == {"not_applicable": 1}


@pytest.mark.parametrize("how", ["log", "archive", "example"])
def test_what_a_cut_log_showed_is_judged_and_the_rest_is_asked_for(how: str) -> None:
    """A finding stands whatever more lines say, with a word that there may be more; other devices «cannot tell»."""
    one = full(changed(("when: worst >= bar, severity", "when: worst >= bar or count(hit) > 9, severity")))
    kit = Kit().log(one, LINES, cut="gzip stream ended early" if how == "log" else "")
    if how == "archive":
        kit.facts.incomplete("esx1")
    elif how == "example":
        kit.facts.cover("esx1", "esxi.made_up_log", "cut", "cut here")
    judgement = kit.judge(one)

    assert verdicts(judgement) == {"match": 2, "cannot_tell": 1}
    sure, maybe = judgement.findings
    assert (sure.subject, sure.say, sure.maybe_worse) == ("a", "at least 2 lines, the slowest at least 120", [])
    assert sure.also[0].startswith("There may be more lines of `late`: ")
    assert (maybe.subject, maybe.severity, maybe.maybe_worse) == ("b", "info", ["esxi.made_up_log"])
    assert "Severity may rise to major." in maybe.also[0]
    assert [(item.subject, item.missing, item.reason) for item in judgement.cannot_tell] == [
        ("", "esxi.made_up_log", "unreadable")
    ]


def test_a_no_over_a_cut_log_is_no_no() -> None:
    """Few slow lines in a log that was cut are «cannot tell»; so is a condition that more lines would undo."""
    few = full(changed(("when: count(hit) > 0", "when: worst >= bar")))
    undone = full(changed(("when: count(hit) > 0", "when: count(hit) < 5")))

    for one in (few, undone):
        judgement = Kit().log(one, line(1, "late b took 7"), cut="cut").judge(one)
        assert verdicts(judgement) == {"cannot_tell": 2}
        assert verdicts(Kit().log(one, line(1, "late b took 7")).judge(one)) != verdicts(judgement)


def test_hits_that_were_not_kept_leave_counts_open() -> None:
    """Beyond hits_per_signature a count is «at least», and devices that were not kept are asked for."""
    log = "".join(line(n, f"late {'ab'[n % 2]} took {n}") for n in range(50))

    def told(least: int) -> dict[str, int]:
        rule = full(changed(("count(hit) > 0", f"count(hit) >= {least}"), ("bar: 100", "bar: 5")))
        facts = Facts(TABLES)
        facts.node("esx1", "esx1", "esxi")
        scanner = Scanner(Catalog([rule]).signatures(), engine="pure", limits=Limits(hits_per_signature=10))
        facts.add_hits(scanner.scan_lines(log.splitlines(), LOG.name, "made_up.log").named("esx1"))
        return verdicts(judge(Catalog([rule]), facts))

    assert told(5) == {"match": 2, "cannot_tell": 1}
    assert told(20) == {"cannot_tell": 3}


@pytest.mark.parametrize(
    "question", ["{log: late, at_least: 3}", "{sequence: [late, gone], within: 1h}", "{none: late, for: 30m}"]
)
def test_questions_mind_hits_that_were_not_kept(question: str) -> None:
    """Where `where` or an order decides, a «no» or a silence over hits of which not all were kept is «cannot tell»."""
    text = THINGS.replace("WHEN", "asked")
    where = "    where: us == 7\n    columns:"
    gone = "logs:\n  gone: {in: esxi.made_up_log, match: 'gone'}\n"
    one = full(
        changed(
            ("    columns:", where),
            ("logs:\n", gone),
            ("when: asked", f"seen: {{asked: {question}}}\nwhen: asked"),
            text=text,
        )
    )
    log = "".join(line(n, f"late a {7 if n in (30, 31, 32) else 0}") for n in range(50)) + line(33, "gone")

    def told(most: int) -> dict[str, int]:
        kit = Kit().add(BASE, [{"key": 1, "s": "a"}])
        scanner = Scanner(Catalog([one]).signatures(), engine="pure", limits=Limits(hits_per_signature=most))
        kit.facts.add_hits(scanner.scan_lines(log.splitlines(), LOG.name, "made_up.log").named("esx1"))
        return verdicts(kit.judge(one))

    assert told(1000) == {"no_match" if "none" in question else "match": 1}
    assert told(20) == {"cannot_tell": 1}


def test_a_signature_that_was_stopped_leaves_counts_open() -> None:
    """Lines that took a pattern too long may be hits: what they could change is unknown, with the place."""
    one = full(changed(("when: count(hit) > 0", "when: count(hit) > 5")))
    kit = Kit().log(one, LINES)
    scan: LogScan = kit.facts.scans[0]
    scan.stopped["made-up/late"] = SearchStop(7, lines=3)
    scan.at_least.add("made-up/late")

    judgement = kit.judge(one)
    assert verdicts(judgement) == {"cannot_tell": 3}
    assert "took too long in made_up.log: 3 lines" in judgement.cannot_tell[0].why


def test_a_line_for_which_where_is_unknown_may_be_a_row() -> None:
    """«us >= 100» of a line that shows no number is unknown: the device may be ill, and it is not left out."""
    one = full(changed(("    columns:", "    where: us >= 100\n    columns:")))
    judgement = Kit().log(one, line(1, "late c took long")).judge(one)

    assert verdicts(judgement) == {"cannot_tell": 1}
    assert judgement.cannot_tell[0].why == "for 1 line of `late` it is not known whether us >= 100"


def test_a_line_that_does_not_name_its_device_is_a_subject_without_name() -> None:
    """A group that took no part is unknown: its line is a subject of its own, and may belong to any other."""
    one = full(changed(("(?P<device>\\w+)", "(?:(?P<device>\\w+)|-)"), ("count(hit) > 0", "count(hit) >= 2")))
    judgement = Kit().log(one, LINES + line(5, "late - took 900")).judge(one)

    assert verdicts(judgement) == {"match": 1, "cannot_tell": 2}
    told = {item.subject: item.why for item in judgement.cannot_tell}
    assert told["unknown"] == "dev.device has no value at made_up.log:5"
    assert told["b"] == "1 line of `late` (made_up.log:5) does not state device"


def test_a_number_that_is_none_is_unknown_in_its_own_group_only() -> None:
    """«took forever» leaves the slowest of its device open, unless another line decides; the other device is sure."""
    one = full(changed(("when: count(hit) > 0", "when: worst >= bar")))
    log = (
        line(1, "late a took 50")
        + line(2, "late a took forever")
        + line(3, "late b took 7")
        + line(4, "late c took 300")
    )
    judgement = Kit().log(one, log + line(5, "late c took forever")).judge(one)

    assert verdicts(judgement) == {"match": 1, "no_match": 1, "cannot_tell": 1}
    assert [item.subject for item in judgement.cannot_tell] == ["a"]
    assert [item.subject for item in judgement.findings] == ["c"]


# -- joins


def things(when: str, log: str | None, *, cut: str = "", names: Sequence[str | None] = ("a", "b")) -> dict[str, int]:
    """Return the verdicts on things of a table that are joined with lines of a log."""
    one = full(THINGS.replace("WHEN", when))
    kit = Kit().add(BASE, [{"key": number, "s": name} for number, name in enumerate(names)])
    if log is not None:
        kit.log(one, log, cut=cut)
    return verdicts(kit.judge(one))


ONE_LATE = line(1, "late a 120") + line(2, "late a 130")


@pytest.mark.parametrize(
    ("when", "well"),
    [
        ("count(hit) >= 2", "no_match"),
        ("count(hit.us) == 0", "match"),
        ("sum(hit.us) > 5", "no_match"),
        ("any(hit.us > 5)", "no_match"),
        ("max(hit.us) >= 120", "cannot_tell"),
        ("min(hit.us) < 500", "cannot_tell"),
        ("100 < max(hit.us)", "cannot_tell"),
        ("count(hit) > 0 and max(hit.us) >= 120", "no_match"),
        ("max(hit.us) < 5", "cannot_tell"),
        ("min(hit.us) > 5", "cannot_tell"),
        ("all(hit.us > 5)", "cannot_tell"),
        ("share(hit.us > 5) > 0.5", "cannot_tell"),
    ],
)
def test_who_has_no_line_in_a_whole_log_has_none(when: str, well: str) -> None:
    """Where the log was read whole, no line is a fact: count and sum are 0, any() is false.

    The greatest and the least of none have no value, and what is said of all lines stays open.
    """
    assert things(when, "well\n", names=["b"]) == {well: 1}
    beside = things(when, ONE_LATE)
    assert beside[well] >= 1
    assert sum(beside.values()) == 2


@pytest.mark.parametrize(
    "when", ["count(hit) >= 2", "count(hit) == 0", "any(hit.us > 5)", "max(hit.us) >= 999", "sum(hit.us) > 5"]
)
def test_who_has_no_line_in_a_log_that_is_not_whole_is_not_known(when: str) -> None:
    """The same without the log, or with a log that was cut, is «cannot tell»."""
    assert things(when, None, names=["b"]) == {"cannot_tell": 1}
    assert things(when, ONE_LATE, cut="cut", names=["b"]) == {"cannot_tell": 1}
    assert things(when, ONE_LATE, names=[None]) == {"cannot_tell": 1}


def test_lines_join_other_tables_and_each_other() -> None:
    """A device of the log finds its row of a table, and the lines of a second signature with its name."""
    text = changed(
        (
            "  hit: {table: late, by: [device], rows: many}",
            "  hit: {table: late, by: [device], rows: many}\n  thing: {table: esxi.base, by: {dev.device: s}}\n  gone: {table: lost, by: {dev.device: what}, rows: many, where: gone.n > 1}",
        ),
        (
            "logs:\n",
            "logs:\n  lost:\n    in: esxi.made_up_log\n    match: 'lost (?P<what>\\w+) (?P<n>\\d+)'\n    columns: {n: int}\n",
        ),
        ("when: count(hit) > 0", "when: thing.a == 5 and count(gone) == 1"),
    )
    one = full(text)
    log = LINES + line(8, "lost a 1") + line(9, "lost a 2") + line(9, "lost b 1")
    kit = Kit().log(one, log).add(BASE, [{"key": 1, "s": "a", "a": 5}, {"key": 2, "s": "b", "a": 5}])

    assert list(subjects(kit.judge(one))) == ["a"]
    assert verdicts(kit.judge(one)) == {"match": 1, "no_match": 1}


def test_of_one_line_the_nearest_in_time_is_taken() -> None:
    """A join of one line takes the one written nearest to its partner, in whichever file it stands."""
    text = changed(
        ("join:\n", "join:\n  boot: {table: started, by: []}\n"),
        ("logs:\n", "logs:\n  started:\n    in: esxi.made_up_log\n    match: 'started as (?P<name>\\w+)'\n"),
        ('"{dev.device}"', '"{dev.device} {boot.name}"'),
    )
    one = full(text)
    kit = Kit().log(one, line(1, "started as old") + line(40, "late a took 5"), source="made_up.0.gz")
    kit.log(one, line(41, "started as new") + line(59, "started as last"), source="made_up.log")

    assert list(subjects(kit.judge(one))) == ["a new"]


@pytest.mark.parametrize("where", ["join", "log"])
def test_lines_of_all_nodes(where: str) -> None:
    """`nodes: any` at the join, or at the signature, looks at the logs of every host."""
    text = THINGS.replace("WHEN", "count(hit) >= 2")
    if where == "join":
        text = changed(("rows: many}", "rows: many, nodes: any}"), text=text)
    else:
        text = changed(("    columns:", "    nodes: any\n    columns:"), text=text)
    one = full(text)
    kit = Kit("esx1", "esx2", "esx3").add(BASE, [{"key": 1, "s": "a"}, {"key": 2, "s": "b"}])
    for node in ("esx2", "esx3"):
        kit.log(one, line(1, f"late a {len(node)}"), node)
    kit.facts.cover("esx2", "esxi.base", "read")
    kit.facts.cover("esx3", "esxi.base", "read")

    assert list(subjects(kit.judge(one))) == ["a"]
    assert verdicts(kit.judge(one)) == {"match": 1, "no_match": 3}
    kit.facts.incomplete("esx3")
    judgement = kit.judge(one)
    assert verdicts(judgement) == {"match": 1, "cannot_tell": 2, "no_match": 1}
    assert (
        judgement.findings[0].also[0].startswith("There may be more lines of `late`: the archive of esx3 ended early")
    )


def test_a_gate_is_asked_of_the_line() -> None:
    """`only` speaks of the subject's line as of any row."""
    one = full(changed(("let: {", "only: dev.device != 'b'\nlet: {")))
    assert verdicts(Kit().log(one, LINES).judge(one)) == {"match": 1, "not_applicable": 1}


def test_a_population_of_devices() -> None:
    """Who is listed and has no line is well in a whole log, and «cannot tell» by name where the log is cut or absent."""
    text = changed(
        (
            "subject:",
            "population: {table: esxi.base, as: p, by: {device: s}, where: p.a == 1, subject: 'listed {p.s}'}\nsubject:",
        )
    )
    one = full(text)

    def told(log: str | None, cut: str = "") -> tuple[dict[str, int], list[str]]:
        kit = Kit().add(
            BASE, [{"key": 1, "s": "a", "a": 1}, {"key": 2, "s": "c", "a": 1}, {"key": 3, "s": "d", "a": 2}]
        )
        if log is not None:
            kit.log(one, log, cut=cut)
        judgement = kit.judge(one)
        return verdicts(judgement), sorted(item.subject for item in judgement.cannot_tell)

    assert told(LINES) == ({"match": 2}, [])
    assert told("well\n") == ({"no_match": 1}, [])
    assert told(LINES, "cut") == ({"match": 2, "cannot_tell": 1}, ["listed c"])
    assert told(None) == ({"cannot_tell": 2}, ["listed a", "listed c"])


# -- errors of the author


@pytest.mark.parametrize(
    ("old", "new", "place", "says"),
    [
        ("per device", "per devise", "3:23: hits of `late` have no `devise`", "did you mean `device`?"),
        ("per device", "per device, levl", "3:31: hits of `late` have no `levl`", "did you mean `level`?"),
        ("per device", "per", "3:19: `per` needs names of columns", "per device, lun"),
        ("per device", "per device us", "3:19: `per` needs names of columns", "separated by commas"),
        ("per device", "per device, device", "3:31: `device` is given twice after `per`", ""),
        ("in late per device", "in esxi.base per key", "3:24: `per` goes with a signature under `logs`", "already distinct"),
        ("in late per device", "in lat per device", "3:18: `per` goes with a signature under `logs`", "`late`"),
        ("in late per device", "in esxi.made_up_log", "3:14: `esxi.made_up_log` is a log", "use it as a table"),
        ("{table: late", "{table: lat", "5:16: no parser makes table `lat`, and no signature", "did you mean `late`?"),
        ("by: [device]", "by: [devices]", "5:27: table `late` has no column `devices`", "did you mean `device`?"),
        ("{us: int}", "{su: int}", "10:15: hits of `late` have no `su`", "known: device, us"),
        ("{us: int}", "{us: bool}", "10:19: unknown kind of column `bool`", "float, int, str, time, version"),
        ("{us: int}", "[us]", "10:14: columns of `late` must be a mapping", ""),
        ("(?P<device>", "(?P<node>", "9:22: the group `node` cannot be a column", "another name"),
        ("(?P<device>", "(?P<Device>", "9:22: the group `Device` cannot be a column", "a-z, 0-9 and _"),
        ("each: dev in", "each: late in", "7:3: the name `late` is already taken", ""),
        ("  hit: {", "  late: {", "7:3: the name `late` is already taken", ""),
        ("hit.us)", "hit.su)", "12:22: table behind `hit` has no column `su`", "known: device,"),
        ("max(hit.us)", "max(hit.us > 1)", "12:14: max() needs a number, a time or a text", ""),
        ("when: count", "when: dev.us == 'x' and count", "13:7: a number cannot be compared with text", ""),
    ],
    ids=str,
)  # fmt: skip
def test_mistakes_are_told_with_their_place(old: str, new: str, place: str, says: str) -> None:
    """Names of groups, columns and signatures are checked: line, column and what may have been meant."""
    text = changed((old, new)).replace("(?P<node>\\w+)(?: took (?P<us>\\S+))?", "(?P<node>\\w+) (?P<us>\\S+)")
    if new.startswith("(?P<"):
        text = text.replace("per device", "").replace("[device]", "[us]").replace("{dev.device}", "{dev.us}")
    with pytest.raises(BadRuleError) as caught:
        full(text)

    assert place in f"{str(caught.value.where).partition(':')[2]}: {caught.value.message}"
    assert says in caught.value.help
    assert "^" in str(caught.value)


def test_the_order_of_keys_does_not_matter() -> None:
    """`logs` may stand below or above what speaks of its signatures."""
    parts = RULE.split("logs:\n")
    body, rest = parts[1].split("subject:", 1)
    first = f"logs:\n{body}{parts[0]}subject:{rest}"
    last = f"{parts[0]}subject:{rest}logs:\n{body}"

    for text in (first, last):
        one = full(text)
        assert verdicts(Kit().log(one, LINES).judge(one)) == {"match": 2}


def test_a_signature_is_still_a_name() -> None:
    """Used as a table or not, `late` alone asks whether a subject has such a line, and `seen` may count its lines."""
    one = full(
        changed(
            ("when: count(hit) > 0", "when: late and often"), ("let:", "seen: {often: {log: late, at_least: 2}}\nlet:")
        )
    )
    assert verdicts(Kit().log(one, LINES).judge(one)) == {"match": 1, "no_match": 1}


@given(st.text(max_size=40))
def test_no_each_breaks_the_reader(text: str) -> None:
    """Whatever stands behind `each`, the reader takes it or says what is wrong."""
    try:
        full(changed(("each: dev in late per device", f"each: {json.dumps('dev in late per ' + text)}")))
    except RuleFileError as error:
        assert str(error).startswith("error: ")


# -- many cases, many rules, edits


def test_a_rule_looks_at_its_log_and_not_at_a_table_of_its_own() -> None:
    """What a list of tables shows is the log; the two tables of a signature are known to the judge alone."""
    one = full(RULE)

    assert one.tables() == {"esxi.made_up_log"}
    assert {hit.per for hit in one.hits} == {(), ("device",)}
    assert {table.product for table in _tables(one)} == {"esxi"}
    assert len({table.name for table in (*_tables(one), *TABLES.values())}) == 2 + len(TABLES)


def _tables(one: Rule) -> list[Table]:
    return [hit.table for hit in one.hits]


def test_two_rules_may_name_their_signatures_alike() -> None:
    """Each rule has its own rows, whatever its signatures are called."""
    one = full(RULE)
    other = full(changed(("rule: made-up", "rule: made-too"), ("late (?P<device>", "(?:late|slow) (?P<device>")))
    facts = Facts(TABLES)
    facts.node("esx1", "esx1", "esxi")
    log = LINES + line(9, "slow z took 1")
    facts.add_hits(
        Scanner(Catalog([one, other]).signatures(), engine="pure")
        .scan_lines(log.splitlines(), LOG.name, "l")
        .named("esx1")
    )
    counts = judge(Catalog([other, one]), facts).counts

    assert (counts["made-up"]["match"], counts["made-too"]["match"]) == (2, 3)


def test_a_table_of_lines_leaves_the_others_as_they_were_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judging such a rule reads its own tables; nothing else is read a second time."""
    one = full(THINGS.replace("WHEN", "count(hit) >= 2"))
    kit = Kit().add(BASE, [{"key": 1, "s": "a"}]).log(one, ONE_LATE)
    filled: list[str] = []
    objects = CaseTable._objects

    def noted(self: CaseTable, *values: Any) -> Any:
        filled.append(self.table.name)
        return objects(self, *values)

    monkeypatch.setattr(CaseTable, "_objects", noted)

    for _ in range(3):
        assert verdicts(kit.judge(one)) == {"match": 1}
    assert len(filled) == len(set(filled)) == 2


def test_more_log_is_more_rows() -> None:
    """Log lines that come in after a judgement are rows of the next."""
    one = full(RULE)
    kit = Kit().log(one, line(3, "late b took 7"))
    assert subjects(kit.judge(one)) == {"b": ("info", "1 lines, at most 7")}
    kit.log(one, line(4, "late b took 700"), source="made_up.0.gz")
    assert subjects(kit.judge(one)) == {"b": ("major", "2 lines, the slowest 700")}


def test_a_changed_signature_is_another_table() -> None:
    """A rule with another `where` over the same cases is judged by its own lines, and the first as before."""
    one = full(changed(("    columns:", "    where: us >= 100\n    columns:")))
    cases = {"case": Kit().log(one, LINES).facts}
    low = next(one.rule for one in mutants(one) if one.site.where == "logs late, where" and one.direction == "down")
    wide = full(changed(("    columns:", "    where: us >= 40\n    columns:")))
    before = judge_cases(one, cases)["case"]

    assert refitted(one) is one
    assert {table.name for table in _tables(low)}.isdisjoint({table.name for table in _tables(one)})
    assert subjects(before) == {"a": ("major", "1 lines, the slowest 120")}
    assert subjects(judge_cases(wide, cases)["case"]) == {"a": ("major", "2 lines, the slowest 120")}
    assert judge_cases(low, cases)["case"].findings == before.findings
    assert judge_cases(one, cases)["case"] == before


def test_some_cases_and_then_the_others() -> None:
    """Cases that are asked for later are put beside those that were judged before."""
    one = full(RULE)
    cases = {"first": Kit().log(one, LINES).facts, "second": Kit().log(one, line(1, "late z took 1")).facts}

    assert list(subjects(judge_cases(one, cases, ["first"])["first"])) == ["a", "b"]
    assert list(subjects(judge_cases(one, cases, ["second"])["second"])) == ["z"]
    assert list(subjects(judge_cases(one, cases)["first"])) == ["a", "b"]


@given(st.dictionaries(st.text("abc", max_size=2), st.integers(0, 500)), st.integers(0, 600))
def test_a_storm_on_one_node_leaves_room_for_the_others(counts: dict[str, int], most: int) -> None:
    """Kept lines are never more than the limit, nobody gets more than it has, and who has few keeps all."""
    shares = signature_tables._shares(counts, most)

    assert sum(shares.values()) <= most
    assert all(shares[key] <= counts[key] for key in counts)
    assert sum(shares.values()) == min(most, sum(counts.values())) or most < sum(counts.values())
    fair = most // max(1, len(counts))
    assert all(shares[key] == counts[key] for key in counts if counts[key] <= fair)


def test_no_more_rows_than_the_limit_of_hits() -> None:
    """Of a signature at most hits_per_signature lines become rows, over all nodes; the rest is doubt, not silence."""
    one = full(RULE)
    kit = Kit("esx1", "esx2", "esx3")
    for node, count in (("esx1", 3), ("esx2", 40), ("esx3", 60)):
        kit.log(one, "".join(f"{n} late {node} took {n}\n" for n in range(count)), node)
    judgement = judge(Catalog([one]), kit.facts, Limits(hits_per_signature=21))

    whole = next(hit.table.name for hit in one.hits if not hit.per)
    assert [kit.facts.count(whole, node) for node in ("esx1", "esx2", "esx3")] == [3, 9, 9]
    assert [item.node for item in judgement.cannot_tell] == ["esx2", "esx3"]
    assert judgement.cannot_tell[0].why == "9 of 40 lines of `late` were kept"


def test_ten_thousand_lines_of_a_thousand_devices() -> None:
    """As many lines as are kept are judged in a moment, by device and line by line."""
    log = "".join(f"2017-10-02T08:00:00Z late d{n % 1000} took {n}\n" for n in range(10_000))
    for text in (RULE, changed(("per device", ""))):
        one = full(text)
        judgement = judge(Catalog([one]), Kit().log(one, log).facts, Limits(findings_per_rule=5))
        assert sum(judgement.counts["made-up"].values()) == (1000 if "per" in text else 10_000)


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
    told = explain.explain(one, CaseRead(Kit().log(one, LINES).facts)).told
    well = next(item for item in told if item.subject == "b")

    assert well.near is not None
    assert "would match if worst >= bar (100); it is 7" in well.near.text
    assert "made_up.log:3" in well.near.text
    assert [(item.line, item.text) for item in well.evidence] == [(3, line(3, "late b took 7").strip())]


def test_explain_speaks_of_lines_where_there_is_none() -> None:
    """A log without such a line, and one that is not there, are told apart."""
    one = full(RULE)
    quiet = explain.explain(one, CaseRead(Kit().log(one, "well\n").facts))
    absent = explain.explain(one, CaseRead(Kit().facts))

    assert quiet.silent == ["esx1: made_up.log (esxi.made_up_log) was read and holds no line of late."]
    assert "made_up.log (esxi.made_up_log) of esx1 is not in the case" in absent.told[0].why


def test_show_tells_what_there_is_a_verdict_of() -> None:
    """`rules show` names the signature and its columns, never the name of a table inside the judge."""
    shown = "\n".join(telling.describe(full(RULE), Settings(), 2))

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
    assert finding["say"] == "5 events; the slowest I/O took 3,512,036 us, last at 2017-10-14 15:17:46 UTC."
    assert (finding["severity"], finding["also"], finding["maybe_worse"]) == ("major", [], [])
    address = f"{BUNDLE.name}!{BUNDLE.stem}/var/run/log/vobd.log"
    assert [(item["address"], item["line"]) for item in finding["evidence"]] == [(address, n) for n in (3, 5, 7, 9, 11)]
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
    assert all("There may be more lines of `late`" in " ".join(item["also"]) for item in found)


def test_explain_a_bundle(kb: str) -> None:
    """`rules explain -v` shows the lines of the bundle."""
    done = run("rules", "explain", "slow-device", str(BUNDLE), "--kb", kb, "--no-settings", "--no-packs", "-v")

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
    return "".join(line(minute, f"late {device} took {us} n{n}") for n, (device, us, minute) in enumerate(entries))


def _counting(number: int, bar: int) -> Rule:
    return full(changed(("when: count(hit) > 0", f"when: {COUNTS[number][0].format(n=bar)}")))


def _told(judgement: Judgement) -> tuple[Any, ...]:
    return (
        judgement.counts,
        [(item.node, item.subject, item.say, item.maybe_worse, item.also) for item in judgement.findings],
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
        kit.log(one, "".join(log.splitlines(keepends=True)[: len(entries) // 2]), source="made_up.0.gz")
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
    st.lists(st.tuples(st.one_of(st.none(), LOGS), st.sampled_from(["", "cut", "archive"])), min_size=1, max_size=6),
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
    kit.facts.add_hits(scanner.scan_lines(lines, LOG.name, "made_up.log").named("esx1"))
    judgement = kit.judge(one)

    assert "error" not in verdicts(judgement)
    assert sum(verdicts(judgement).values()) >= 1
