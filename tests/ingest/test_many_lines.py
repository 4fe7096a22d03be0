"""Lines laid beside lines: what costs the square is refused before it is asked, and lint says what to write.

All log lines are synthetic; their form is that of vmkernel.log (ISO stamp, cpu and world, message).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.artefacts.test_own_lines import Line, conflicts, most, triaged, written
from tests.kit.full_size import FULL
from tests.kit.lint_kit import base, check, laid
from tests.kit.rule_kit import BASE, Kit, full

SELF = """\
rule: pairs
title: Many reservation conflicts on a device
source: synthetic
status: test
revised: 2026-11-21
about: Conflicts come in bursts. A made-up rule.
each: one in conflict
join:
  near: {table: conflict, by: [device], where: near.time - one.time >= 0 and near.time - one.time <= 3600, rows: many}
subject: "{one.device} {one.time}"
logs:
  conflict: {in: esxi.vmkernel, match: 'Cmd 0x10 to dev "(?P<device>[^"]+)" failed H:0x0 D:0x18'}
when: count(near.device) >= 10
outcomes:
  - {when: true, severity: major, say: "{count(near.device)} conflicts"}
evidence: [conflict]
fix: [{where: host, do: Look.}]
ask: vmkernel.log
"""


@pytest.mark.size
@pytest.mark.parametrize("count", [10_001, 50_000] if FULL else [10_001])
def test_a_self_join_of_a_storm_is_refused_in_seconds_and_says_what_to_write(
    tmp_path: Path, count: int
) -> None:
    """The square of the lines of one device is never asked for: the rule fails at once, with the number of pairs."""
    case, seconds, size = triaged(
        tmp_path, conflicts(count, 1), {"pairs": SELF}, "--limit", "hits_per_signature=200000"
    )

    (said,) = [one["say"] for one in case["findings"] if one["rule"] == "pairs"]
    assert (
        f"each of {count:,} lines of `conflict` would be paired with lines of `conflict`, joined as `near`: {count**2:,} pairs"
        in said
    )
    assert "each: dev in SIGNATURE per COLUMN" in said
    assert "at_least" in said
    assert seconds < 45
    assert size < most(case)  # most of it is the page itself and its list of rules


@pytest.mark.size
def test_a_self_join_is_still_judged_where_no_device_has_many_lines(tmp_path: Path) -> None:
    """Ten thousand lines of a thousand devices are a hundred thousand pairs: every line is judged."""
    rule = SELF.replace(">= 10\n", ">= 11\n")
    case, seconds, _ = triaged(tmp_path, conflicts(10_001, 1_000), {"pairs": rule})

    assert not [
        one for one in case["findings"] if one["rule"] == "pairs" and "failed" in one["say"]
    ]
    assert seconds < 45


@pytest.mark.parametrize(
    ("when", "instead"),
    [
        ("max(hit.us) > 5", "write `any(hit.us > 5)`: of none it is false"),
        ("min(hit.us) <= 5", "write `any(hit.us <= 5)`: of none it is false"),
        ("5 < max(hit.us)", "write `any(hit.us > 5)`: of none it is false"),
        (
            "max(hit.us) < 5",
            "`count(hit) > 0 and max(hit.us) < 5` where none should mean no, `count(hit) == 0 or max",
        ),
        ("mean(hit.us) > 5", "`count(hit) > 0 and mean(hit.us) > 5` where none should mean no"),
        (
            "share(hit.us > 5) >= 0.5",
            "`count(hit) > 0 and share(hit.us > 5) >= 0.5` where none should mean no",
        ),
        ("all(hit.us > 5)", "write `not any(not (hit.us > 5))` where none should mean yes"),
        ("count(hit) > 0 and max(hit.us) > 5", ""),
        ("count(hit) == 0 or max(hit.us) < 5", ""),
        ("any(hit.us > 5)", ""),
        ("count(hit) < 5", ""),
    ],
)
def test_lint_says_what_to_write_for_a_value_of_no_lines(
    tmp_path: Path, when: str, instead: str
) -> None:
    """Where a log may hold no line of the subject, `max` and its like decide nothing; the advice is sound itself."""
    piece = (
        "join:\n  hit: {table: slow, by: [], rows: many}\n"
        "logs:\n  slow: {in: esxi.vmkernel, match: 'slow by (?P<us>\\d+) us', columns: {us: int}}\n"
        f"when: n.rx_crc_errors > 0 and ({when})\n"
    )
    told = [one for one in check(laid(piece), tmp_path, beside=base()) if one.code == "R029"]

    assert [instead in (one.help or "") for one in told] == ([True] if instead else [])


@pytest.mark.parametrize(
    "when",
    [
        "max(hit.number) > 5",
        "max(hit.number) < 5",
        "all(hit.number > 5)",
        "share(hit.number > 5) > 0.5",
    ],
)
def test_a_value_of_no_lines_is_unknown_and_the_advice_gives_an_answer(when: str) -> None:
    """The log was read whole without a line of the subject: as lint says it, the rule cannot tell; with a count it can."""
    rule = """\
rule: made-up
title: A made-up fault
each: one in esxi.base
join:
  hit: {table: bad, by: {one.s: device}, rows: many}
logs:
  bad: {in: esxi.made_up_log, match: 'bad (?P<device>\\w+) n=(?P<number>\\d+)', columns: {number: int}}
subject: "{one.key}"
when: %s
outcomes:
  - {when: true, severity: info, say: "x"}
"""
    kit = (
        Kit()
        .add(BASE, [{"key": 1, "s": "a"}])
        .log(full(rule % when), written([Line(1, "bad", "b", 9)]))
    )
    assert kit.judge(full(rule % when)).counts["made-up"]["cannot_tell"] == 1
    asked = full(rule % f"count(hit) > 0 and {when}")
    kit = Kit().add(BASE, [{"key": 1, "s": "a"}]).log(asked, written([Line(1, "bad", "b", 9)]))
    assert kit.judge(asked).counts["made-up"]["no_match"] == 1
