"""The judge: questions about log lines: windows, order, silence, what counts twice."""

from __future__ import annotations

import pytest

from analyzer.rules import Catalog
from tests.kit.rule_kit import BASE, LOG, Kit, full

LOGGED = """\
rule: made-up
title: A made-up fault
each: one in esxi.base
logs:
  fail:
    in: esxi.made_up_log
    match: 'call (?P<ms>\\d+) of (?P<who>\\w+) failed'
  start: {in: esxi.made_up_log, match: 'started in'}
seen:
  %s
when: %s
outcomes:
  - {when: true, severity: major, say: "{it.count} from {it.first} to {it.last}"}
evidence: [it]
"""
STAMP = "2017-10-02T08:%02d:00.000Z"


def lines(*entries: str) -> str:
    """Return log lines: `minute text`."""
    return "\n".join(
        f"{STAMP % int(minute)} {text}"
        for minute, _, text in (entry.partition(" ") for entry in entries)
    )


def seen(question: str, text: str | None, condition: str = "it", **how: str) -> dict[str, int]:
    """Return the verdicts of a rule that asks the log a question."""
    one = full(LOGGED % (question, condition))
    kit = Kit().add(BASE, [{"key": 1}])
    if text is not None:
        kit.log(one, text, **how)
    return kit.counts(one)


FAILS = (
    "1 call 10 of c1 failed",
    "4 call 20 of c2 failed",
    "9 call 30 of c1 failed",
    "40 call 40 of c1 failed",
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("it: {log: fail, at_least: 4}", "match"),
        ("it: {log: fail, at_least: 5}", "no_match"),
        ("it: {log: fail, at_least: 3, within: 8m}", "match"),
        ("it: {log: fail, at_least: 3, within: 7m}", "no_match"),
        ("it: {log: fail, at_least: 2, within: 8m, per: who}", "match"),
        ("it: {log: fail, at_least: 2, within: 7m, per: who}", "no_match"),
        ("it: {log: fail, distinct: who, at_least: 2, within: 3m}", "match"),
        ("it: {log: fail, distinct: who, at_least: 2, within: 2m}", "no_match"),
        ("it: {log: fail, distinct: who, at_least: 3}", "no_match"),
        ("it: {sequence: [start, fail], within: 30m}", "no_match"),
        ("it: {none: fail}", "no_match"),
        ("it: {none: start}", "match"),
        ("it: {none: fail, for: 20m}", "no_match"),
        ("it: {none: start, for: 20m}", "match"),
        ("it: {none: start, for: 2h}", "cannot_tell"),
    ],
)
def test_windows_slide(question: str, expected: str) -> None:
    """Counts, groups, distinct values, sequence and silence over sliding windows of the log's own times."""
    assert seen(question, lines(*FAILS)) == {expected: 1}


def test_a_sequence_minds_order_and_span() -> None:
    """The second sign must follow the first within the span; the other way round is nothing."""
    question = "it: {sequence: [start, fail], within: 5m}"

    assert seen(question, lines("1 started in 9 ms", "5 call 1 of c1 failed")) == {"match": 1}
    assert seen(question, lines("1 started in 9 ms", "7 call 1 of c1 failed")) == {"no_match": 1}
    assert seen(question, lines("1 call 1 of c1 failed", "2 started in 9 ms")) == {"no_match": 1}


def test_silence_asks_how_far_the_log_goes() -> None:
    """Silence for a span holds only when the log covers it; a hit inside breaks it."""
    text = lines("0 begin", "5 call 1 of c1 failed", "50 end")

    assert seen("it: {none: fail, for: 40m}", text) == {"match": 1}
    assert seen("it: {none: fail, for: 46m}", text) == {"no_match": 1}
    assert seen("it: {none: fail, for: 2h}", lines("0 begin", "50 end")) == {"cannot_tell": 1}


def test_a_log_that_is_not_there_says_nothing() -> None:
    """No log, a cut log: unknown, with reason and what to ask for; enough hits stand all the same."""
    question = "it: {log: fail, at_least: 2}"
    one = full(LOGGED % (question, "it"))
    missing = Kit().add(BASE, [{"key": 1}]).judge(one).cannot_tell[0]

    assert (missing.reason, missing.missing, missing.ask) == (
        "missing",
        LOG.name,
        "made_up.log of the day",
    )
    assert seen(question, lines(*FAILS[:1]), cut="gzip ends early") == {"cannot_tell": 1}
    assert seen(question, lines(*FAILS), cut="gzip ends early") == {"match": 1}
    assert seen("it: {none: fail}", lines("1 begin"), cut="gzip ends early") == {"cannot_tell": 1}


def test_a_line_in_two_files_is_one_line() -> None:
    """vmkernel.log, vmkwarning.log and rotated copies hold the same line: it counts once."""
    one = full(LOGGED % ("it: {log: fail, at_least: 2}", "it"))
    kit = Kit().add(BASE, [{"key": 1}])
    for source in ("log", "log.0.gz", "copy/log"):
        kit.log(one, lines(FAILS[0]), source=source)
    assert kit.counts(one) == {"no_match": 1}
    kit.log(one, lines(FAILS[0], FAILS[0]), source="log.1.gz")

    assert kit.counts(one) == {"match": 1}


def test_a_line_without_time_leaves_windows_open() -> None:
    """A hit whose time nobody knows may lie in the window or not; below a line with a time it would have that one's."""
    text = "call 7 of c1 failed\n" + lines(FAILS[0])

    assert seen("it: {log: fail, at_least: 2, within: 5m}", text) == {"cannot_tell": 1}
    assert seen("it: {log: fail, at_least: 2}", text) == {"match": 1}
    assert seen("it: {log: fail, at_least: 3, within: 5m}", text) == {"no_match": 1}


def test_where_on_a_signature_reads_groups_as_numbers() -> None:
    """`where: ms > 15` compares the group as a number; a text compares as text."""
    text = LOGGED.replace("failed'\n", 'failed\'\n    where: ms > 15 and who == "c1"\n', 1)
    one = full(text % ("it: {log: fail, at_least: 2}", "it"))
    kit = Kit().add(BASE, [{"key": 1}]).log(one, lines(*FAILS))

    assert kit.counts(one) == {"match": 1}
    assert (
        kit.judge(one).findings[0].say
        == "2 from 2017-10-02 08:09:00 UTC to 2017-10-02 08:40:00 UTC"
    )


def test_hits_are_evidence_with_their_context() -> None:
    """The first lines of what was seen are shown with address, line, time and neighbours."""
    one = full(LOGGED % ("it: {log: fail, at_least: 3, within: 8m}", "it and it.count == 3"))
    finding = (
        Kit().add(BASE, [{"key": 1}]).log(one, lines("0 begin", *FAILS)).judge(one).findings[0]
    )

    assert finding.say == "3 from 2017-10-02 08:01:00 UTC to 2017-10-02 08:09:00 UTC"
    assert [(item.line, item.taken) for item in finding.evidence] == [
        (2, "2017-10-02T08:01:00Z"), (3, "2017-10-02T08:04:00Z"), (4, "2017-10-02T08:09:00Z"),
    ]  # fmt: skip
    assert finding.evidence[0].before == [lines("0 begin")]
    assert finding.first_seen == "2017-10-02T08:01:00Z"


def test_a_signature_is_a_name_by_itself() -> None:
    """Without `seen` a signature may be asked directly: it is true when some line matches."""
    text = LOGGED.replace("seen:\n  %s\n", "").replace("it.", "fail.").replace("[it]", "[fail]")
    one = full(text % "fail and fail.count == 4")
    kit = Kit().add(BASE, [{"key": 1}]).log(one, lines(*FAILS))

    assert kit.counts(one) == {"match": 1}
    assert [signature.id for signature in Catalog([one]).signatures()] == [
        "made-up/fail",
        "made-up/start",
    ]


def test_a_storm_of_hits_is_judged_in_a_moment() -> None:
    """Ten thousand hits in one window cost no square of their number."""
    text = "\n".join(
        f"2017-10-02T08:00:{n % 60:02d}.{n:06d}Z call {n} of c{n} failed" for n in range(8000)
    )

    assert seen("it: {log: fail, distinct: who, at_least: 9000, within: 1h}", text) == {
        "no_match": 1
    }
    assert seen("it: {log: fail, distinct: who, at_least: 7000, within: 1h}", text) == {"match": 1}
