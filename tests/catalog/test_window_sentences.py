"""A sentence that names a window has the number of that window, and lint refuses one that has another."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer import rules
from analyzer.rules import Rule
from tests.artefacts.test_own_lines import Line, written
from tests.kit.lint_kit import codes
from tests.kit.rule_kit import Kit, full

WINDOW = """\
rule: made-up
title: A made-up fault
sign:
  in: esxi.made_up_log
  match: 'bad (?P<device>\\w+) n=(?P<number>\\d+)'
  at_least: 3
  within: 10s
%s
severity: info
confidence: likely
say: "{often.count}|{often.within}|{often.at_least}|{often.first}|{often.last}"
"""
LOGS = """\
logs:
  link_down: {in: esxi.vobd, match: '\\[esx\\.problem\\.net\\.vmnic\\.linkstate\\.down\\]'}
seen:
  flapping: {log: link_down, at_least: 3, within: 10m}
when: n.rx_crc_errors > 0 or flapping
notes:
  - when: flapping
    say: "%s"
"""


def judged(lines: list[Line], more: str = "") -> tuple[str, list[str]]:
    """Return the sentence about some lines and what is added to it; empty without a finding."""
    rule = full(WINDOW % more)
    found = Kit().log(rule, written(lines)).judge(rule).findings
    return (found[0].say, found[0].also) if found else ("", [])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 60), min_size=1, max_size=25))
def test_the_number_is_that_of_the_fullest_window_and_the_total_stands_apart(
    times: list[int],
) -> None:
    """By trying every window: the most lines that lie in one, its first and last line, and all lines in a note."""
    lines = [Line(at, "bad", "a", number) for number, at in enumerate(sorted(times))]
    windows = [[one for one in lines if end.at - 10 <= one.at <= end.at] for end in lines]
    best = max(windows, key=len)
    say, also = judged(lines)

    if len(best) < 3:
        assert say == ""
        return
    count, within, at_least, first, last = say.split("|")
    assert (count, within, at_least) == (str(len(best)), "10 seconds", "3")
    ends = [f"2024-01-05 12:{at // 60:02}:{at % 60:02} UTC" for at in (best[0].at, best[-1].at)]
    assert [first, last] == ends
    totals = [note for note in also if note.startswith("In all ")]
    assert [re.findall(r"\d+", note)[0] for note in totals] == (
        [str(len(lines))] if len(best) < len(lines) else []
    )


def test_different_values_of_a_window_are_counted_and_not_its_lines() -> None:
    """Three lines of two devices within the window are two devices."""
    lines = [
        Line(0, "bad", "a", 1),
        Line(1, "bad", "a", 2),
        Line(2, "bad", "b", 3),
        Line(3, "bad", "c", 4),
    ]
    say, _ = judged(lines, "  distinct: device")

    assert say.split("|")[0] == "3"


@pytest.mark.parametrize(
    "say",
    [
        "{link_down.count} losses within ten minutes",
        "{link_down.count} losses in 10 minutes",
        "{link_down.count} losses within the same hour",
        "{link_down.count} losses, that is many times an hour",
        "{flapping.count} losses from {flapping.first} to {flapping.last}",
        "{link_down.count} losses within {flapping.within}",
    ],
)
def test_a_number_of_one_span_beside_the_name_of_another_is_refused(say: str) -> None:
    """A length that is typed in, a number of a window without its length, a length beside a number of all lines."""
    assert "R087" in codes(LOGS % say)


@pytest.mark.parametrize(
    "say",
    [
        "{flapping.count} losses within {flapping.within}, {link_down.count} in all",
        "{link_down.count} losses from {link_down.first} to {link_down.last}",
        "Links are lost.",
    ],
)
def test_a_number_beside_its_own_window_is_accepted(say: str) -> None:
    """The number and the length of one question, or a number of all lines with their own ends."""
    assert "R087" not in codes(LOGS % say)


def test_the_length_of_a_window_that_is_not_asked_for_is_no_name() -> None:
    """A signature has no window, and a text that prints one is refused when the rule is loaded."""
    assert codes(LOGS % "{link_down.count} within {link_down.within}") == ["R018"]


def windowed() -> list[Rule]:
    """Return the shipped rules that ask for lines within a window."""
    return [
        rule
        for rule in rules.load().rules
        if any(seen.within and not (seen.ordered or seen.silence) for seen in rule.seen.values())
    ]


@pytest.mark.parametrize("rule", windowed(), ids=lambda rule: rule.id)
def test_every_shipped_sentence_that_counts_a_window_prints_its_length(rule: Rule) -> None:
    """Of each rule with a window, some answer prints the number of the window with its length."""
    texts = [one.say.text for one in rule.outcomes if one.say is not None]
    names = [
        name
        for name, seen in rule.seen.items()
        if seen.within and not (seen.ordered or seen.silence)
    ]

    assert all(any(f"{{{name}.within}}" in text for text in texts) for name in names)
    for text in texts:
        assert not re.search(
            r"\bwithin (?:an?|one|two|three|five|ten|\d+) (?:second|minute|hour|day)", text
        )
