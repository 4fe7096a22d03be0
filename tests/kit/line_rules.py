"""Rules over lines of a made-up log, and what they say."""

from __future__ import annotations

from pathlib import Path

from analyzer.case.verdicts import Judgement

ROOT = Path(__file__).resolve().parents[2]
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


LINES = (
    line(1, "late a took 50")
    + line(2, "well")
    + line(3, "late b took 7")
    + line(4, "late a took 120")
)


def verdicts(judgement: Judgement) -> dict[str, int]:
    """Return how often the rule gave each verdict, without the zeros."""
    return {verdict: count for verdict, count in judgement.counts["made-up"].items() if count}


def subjects(judgement: Judgement) -> dict[str, tuple[str, str]]:
    """Return subject -> severity and words of the findings."""
    return {finding.subject: (finding.severity, finding.say) for finding in judgement.findings}
