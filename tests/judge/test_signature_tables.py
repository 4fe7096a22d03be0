"""Signatures as tables: one verdict for each device, NIC or VM that lines of a log name."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer import rules
from analyzer.artefacts.tables import Block
from analyzer.case.verdicts import Judgement
from analyzer.facts import Facts
from analyzer.judge import judge, log_conditions, rule_evaluation
from analyzer.rules import Catalog, Rule
from analyzer.runtime.limits import Limits
from analyzer.scan.hits import LogScan, SearchStop
from analyzer.scan.signatures import Scanner
from tests.kit.line_rules import LINES, RULE, THINGS, changed, line, subjects, verdicts
from tests.kit.rule_kit import BASE, LOG, TABLES, Kit, full

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

    found = [
        (item.node, item.subject, item.say)
        for item in kit.judge(one).findings
        if item.subject == "a"
    ]
    assert sorted(found) == [
        ("esx1", "a", "2 lines, the slowest 120"),
        ("esx2", "a", "1 lines, at most 1"),
    ]


def test_several_columns_tell_subjects_apart() -> None:
    """`per device, us`: one subject for each pair; the row of each is its earliest line."""
    text = changed(
        ("per device", "per device, us"), ('"{dev.device}"', '"{dev.device} {dev.us} {dev.time}"')
    )
    one = full(text)
    log = line(5, "late a took 1") + line(2, "late a took 1") + line(3, "late a took 2")

    found = {item.subject for item in Kit().log(one, log).judge(one).findings}
    assert found == {"a 1 2017-10-02 08:02:00 UTC", "a 2 2017-10-02 08:03:00 UTC"}


def test_of_a_storm_only_the_lines_that_are_rows_are_made_into_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`per device` shows the earliest line of each device: of sixty lines of one device no other becomes a row."""
    made: list[int] = []

    def block(lines: list[str], first_line: int, address: str, **rest: Any) -> Block:
        made.append(first_line)
        return Block(lines, first_line, address, **rest)

    monkeypatch.setattr(rule_evaluation, "Block", block)
    rest = RULE[RULE.index("let:") : RULE.index("ask:")]
    text = RULE.replace("join:\n  hit: {table: late, by: [device], rows: many}\n", "").replace(
        rest,
        "when: dev.us > 10\noutcomes: [{when: true, severity: major, say: slow}]\nevidence: [dev.us]\n",
    )
    one = full(text)
    judgement = (
        Kit().log(one, "".join(line(minute, "late a took 50") for minute in range(60))).judge(one)
    )

    assert subjects(judgement) == {"a": ("major", "slow")}
    assert made == [1]


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
    kit = (
        Kit()
        .log(one, LINES, source="made_up.log")
        .log(one, LINES + LINES[:0], source="made_up.0.gz")
    )
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
        (
            "match: 'late (?P<device>\\w+)(?: took (?P<us>\\S+))?'",
            "match: 'vmnic (?P<device>vmnic\\d+)'",
        ),
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

    found = {
        item.subject for item in _vobd(one, f"{head} vmnic0\n{head} vmnic1 as mine\n").findings
    }
    assert found == {"vmnic0 unknown", "vmnic1 mine"}


def _vobd(one: Rule, log: str, **more: str) -> Judgement:
    """Return what a rule over the real vobd.log says of some lines of it."""
    facts = Facts()
    facts.node("esx1", "esx1", "esxi", captured="2017-10-15T00:00:00Z")
    facts.add_hits(
        Scanner(Catalog([one]).signatures(), engine="pure")
        .scan_lines(log.splitlines(), "esxi.vobd", "vobd.log")
        .assign_node("esx1")
    )
    return judge(Catalog([one]), facts)


def test_the_parser_of_a_log_runs_only_where_its_columns_are_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Groups and the time of a line cost no parser; a column of the log does."""
    asked: list[str] = []

    def parsed(table: str, _block: Block) -> None:
        asked.append(table)

    monkeypatch.setattr(log_conditions, "parse_message", parsed)
    plain = full(changed(('say: "{count(hit)} lines, at most {worst}"', 'say: "{max(hit.time)}"')))
    Kit().log(plain, LINES).judge(plain)
    assert asked == []

    used = full(changed(("evidence: [hit.us]", "evidence: [hit.level]")))
    Kit().log(used, LINES).judge(used)
    assert set(asked) == {"esxi.made_up_log"}


def test_two_rules_parse_a_line_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cells of a line are those that the first rule had of it."""
    asked: list[int] = []
    parse = log_conditions.parse_message

    def note_line(table: str, block: Block) -> Any:
        asked.append(block.first_line)
        return parse(table, block)

    monkeypatch.setattr(log_conditions, "parse_message", note_line)
    used = full(changed(("evidence: [hit.us]", "evidence: [hit.level]")))
    kit = Kit().log(used, LINES)
    first, second = kit.judge(used), kit.judge(used)
    assert asked
    assert len(asked) == len(set(asked))
    assert [one.evidence for one in first.findings] == [one.evidence for one in second.findings]


def test_where_keeps_to_lines() -> None:
    """Lines for which `where` of the signature is false are no rows."""
    one = full(changed(("    columns:", "    where: us >= 100\n    columns:")))

    assert subjects(Kit().log(one, LINES).judge(one)) == {
        "a": ("major", "1 lines, the slowest 120")
    }


# -- what is not known


def test_a_log_that_is_not_there_is_asked_for() -> None:
    """Without the log nothing is known of any device: «cannot tell» for the node, by the name of the log."""
    judgement = Kit("esx1").judge(full(RULE))

    assert [
        (item.node, item.subject, item.reason, item.missing, item.ask)
        for item in judgement.cannot_tell
    ] == [("esx1", "", "missing", "esxi.made_up_log", "made_up.log of the day")]


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
    one = full(
        changed(("when: worst >= bar, severity", "when: worst >= bar or count(hit) > 9, severity"))
    )
    kit = Kit().log(one, LINES, cut="gzip stream ended early" if how == "log" else "")
    if how == "archive":
        kit.facts.incomplete("esx1")
    elif how == "example":
        kit.facts.cover("esx1", "esxi.made_up_log", "cut", "cut here")
    judgement = kit.judge(one)

    assert verdicts(judgement) == {"match": 2, "cannot_tell": 1}
    sure, maybe = judgement.findings
    assert (sure.subject, sure.say, sure.maybe_worse) == (
        "a",
        "at least 2 lines, the slowest at least 120",
        [],
    )
    assert sure.also[0].startswith("There may be more such lines: ")
    assert (maybe.subject, maybe.severity, maybe.maybe_worse) == ("b", "info", ["esxi.made_up_log"])
    assert "; could be major." in maybe.also[0]
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
        scanner = Scanner(
            Catalog([rule]).signatures(), engine="pure", limits=Limits(hits_per_signature=10)
        )
        facts.add_hits(
            scanner.scan_lines(log.splitlines(), LOG.name, "made_up.log").assign_node("esx1")
        )
        return verdicts(judge(Catalog([rule]), facts))

    assert told(5) == {"match": 2, "cannot_tell": 1}
    assert told(20) == {"cannot_tell": 3}


@pytest.mark.parametrize(
    "question",
    ["{log: late, at_least: 3}", "{sequence: [late, gone], within: 1h}", "{none: late, for: 30m}"],
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
    log = "".join(line(n, f"late a {7 if n in (30, 31, 32) else 0}") for n in range(50)) + line(
        33, "gone"
    )

    def told(most: int) -> dict[str, int]:
        kit = Kit().add(BASE, [{"key": 1, "s": "a"}])
        scanner = Scanner(
            Catalog([one]).signatures(), engine="pure", limits=Limits(hits_per_signature=most)
        )
        kit.facts.add_hits(
            scanner.scan_lines(log.splitlines(), LOG.name, "made_up.log").assign_node("esx1")
        )
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
    one = full(
        changed(
            ("(?P<device>\\w+)", "(?:(?P<device>\\w+)|-)"), ("count(hit) > 0", "count(hit) >= 2")
        )
    )
    judgement = Kit().log(one, LINES + line(5, "late - took 900")).judge(one)

    assert verdicts(judgement) == {"match": 1, "cannot_tell": 2}
    told = {item.subject: item.why for item in judgement.cannot_tell}
    assert told["unknown"] == "device has no value at made_up.log:5"
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
