"""A step of a remedy may name what no condition and no text of the rule names.

The log line is synthetic; its form is that of vmkernel.log (ISO stamp, cpu and world, message).
"""

from __future__ import annotations

from pathlib import Path

from tests.artefacts.test_own_lines import triaged

RULE = """\
rule: reach
title: A device lost its path
source: synthetic
status: test
revised: 2026-11-21
about: A made-up rule. Only its steps name the joined lines and the question.
each: dev in lost per device
join:
  hit: {table: reset, by: [device], rows: one}
subject: "{dev.device}"
logs:
  lost: {in: esxi.vmkernel, match: 'lost path to (?P<device>\\S+)'}
  reset: {in: esxi.vmkernel, match: 'reset (?P<device>\\S+) by (?P<driver>\\w+)'}
seen:
  twice: {log: reset, at_least: 2, within: 1h}
when: true
outcomes:
  - {when: true, severity: major, say: "The path is lost."}
evidence: [dev.device]
fix:
  - {where: host, do: "Look at driver {hit.driver}."}
  - {when: twice, where: host, do: "It was reset {twice.count} times."}
  - {when: 'hit.driver == "other"', where: host, do: "Never shown."}
  - {where: host, do: Look., note: "The first reset was at {twice.first}."}
ask: vmkernel.log
"""
LINES = [
    "2024-01-05T12:00:00.000Z cpu1:2097001)Made: lost path to naa.1",
    "2024-01-05T12:00:01.000Z cpu1:2097001)Made: reset naa.1 by lpfc",
    "2024-01-05T12:00:02.000Z cpu1:2097001)Made: reset naa.1 by lpfc",
    "2024-01-05T12:00:03.000Z cpu1:2097001)Made: reset naa.2 by qlnative",
]


def test_names_that_stand_in_a_fix_step_alone_have_their_values(tmp_path: Path) -> None:
    """A joined column, a question in a condition, its count and its time: each reaches the step."""
    case, _, _ = triaged(tmp_path, iter(LINES), {"reach": RULE})

    (found,) = [one for one in case["findings"] if one["rule"] == "reach"]
    assert found["say"] == "The path is lost."
    steps = [(step["do"], step["note"]) for step in found["fix"]]
    assert steps == [
        ("Look at driver lpfc.", ""),
        ("It was reset 2 times.", ""),
        ("Look.", "The first reset was at 2024-01-05 12:00:01 UTC."),
    ]
