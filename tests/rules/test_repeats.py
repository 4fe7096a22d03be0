"""Repeated lines of examples, and the subject that a rule over rows has of its object."""

from __future__ import annotations

import pytest

from analyzer.rules import catalog as rules
from analyzer.rules.language.rulefile import BadRuleError
from analyzer.rules.repeats import BadRepeatError, write_out_repeats

SHORT = """\
rule: a-rule
title: T
source: s
about: a
sign: {in: esxi.vmkernel, match: 'slow', at_least: 3, within: 60s}
severity: warning
confidence: likely
say: "{often.count}"
examples:
  match:
    - |
      (repeat: 3 in 20s) 2024-03-01T10:00:00.000Z cpu1:2)slow
      2024-03-01T10:00:21.000Z cpu1:2)slow
  no_match: "(repeat: 2 in 1m) 2024-03-01T10:00:00.000Z cpu1:2)slow"
"""
LONG = """\
rule: a-rule
title: T
source: s
about: a
each: n in esxi.pnic
object: "{n.pnic}"
when: n.mtu > 1
outcomes: [{when: true, severity: info, confidence: likely}]
"""


def test_a_repeated_line_is_written_out_evenly() -> None:
    """First and last stand at the ends of the span; a stamp keeps its digits, and what follows it."""
    assert write_out_repeats(
        "(repeat: 4 in 10s) 2024-02-29T23:59:55Z a 2024-01-01T00:00:00Z\nb"
    ) == (
        "2024-02-29T23:59:55Z a 2024-01-01T00:00:00Z\n2024-02-29T23:59:58Z a 2024-01-01T00:00:00Z\n"
        "2024-03-01T00:00:02Z a 2024-01-01T00:00:00Z\n2024-03-01T00:00:05Z a 2024-01-01T00:00:00Z\nb"
    )
    assert write_out_repeats("(repeat: 4 in 1s) 2024-03-01 10:00:00,000 x").split("\n")[1:3] == [
        "2024-03-01 10:00:00,333 x",
        "2024-03-01 10:00:00,667 x",
    ]
    assert write_out_repeats("a line that says (repeat: it)") == "a line that says (repeat: it)"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("(repeat: x in 60s) 2024-03-01T10:00:00Z a", "is written"),
        ("(repeat: 1 in 60s) 2024-03-01T10:00:00Z a", "2 to 2,000 times"),
        ("(repeat: 9999 in 60s) 2024-03-01T10:00:00Z a", "2 to 2,000 times"),
        ("(repeat: 2 in 60s) no stamp", "has a stamp"),
        ("(repeat: 2 in 60s) 2024-13-01T10:00:00Z a", "has a stamp"),
        ("(repeat: 2 in 999999999d) 2024-03-01T10:00:00Z a", "has a stamp"),
    ],
)
def test_what_cannot_be_repeated_is_said_with_its_line(line: str, why: str) -> None:
    """The number of the line and the reason are told; nothing is guessed."""
    with pytest.raises(BadRepeatError, match=why) as caught:
        write_out_repeats(f"first\n{line}")
    assert caught.value.number == 1


def test_examples_have_the_lines_in_full() -> None:
    """A text that repeats a line is read as if all lines stood there; a wrong one is refused at its line."""
    match, no_match, *_ = rules.parse(SHORT).examples
    assert (match.logs["esxi.vmkernel"] or "").count("slow\n") == 4
    assert (
        (no_match.logs["esxi.vmkernel"] or "")
        .splitlines()[1]
        .startswith("2024-03-01T10:01:00.000Z")
    )
    with pytest.raises(BadRuleError, match="a repeated line is written") as caught:
        rules.parse(SHORT.replace("3 in 20s", "3 times"))
    assert caught.value.place.line == SHORT.split("\n").index("    - |") + 2


def test_the_subject_of_rows_is_their_object_where_none_is_named() -> None:
    """Of a list it is the first; a subject that the author names stays."""
    rule = rules.parse(LONG)
    assert rule.subject.text == "{n.pnic}"
    assert (
        rules.parse(LONG.replace('object: "{n.pnic}"', "object: ['{n.pnic}', x]")).subject.text
        == "{n.pnic}"
    )
    assert rules.parse(LONG + "subject: the card\n").subject.text == "the card"
