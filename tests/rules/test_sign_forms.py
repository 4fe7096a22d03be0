"""A sign is a set of forms: `also` lists the words of another driver, plug-in or release, and a line of any of them counts.

All lines are synthetic.
"""

from __future__ import annotations

import re
from itertools import islice

import pytest

from analyzer import rules
from analyzer.judge import judge
from analyzer.pipeline import examples
from analyzer.rules import Catalog, Example, LogDef, Rule
from analyzer.rules.language.rulefile import BadRuleError, FileSpan
from analyzer.scan.also import fold_groups, join_forms

RULE = r"""rule: device-in-doubt
title: The host doubts the paths of a device
source: made up for the tests of forms
revised: 2026-11-28
about: A command failed in a way that suggests a bad path. The host checks all paths of the device.

sign:
  in: esxi.vmkernel
  match: 'NMP device "(?P<device>[^"\n]+)" state in (?P<what>doubt)'
  also:
    - match: 'HPP device "(?P<device>[^"\n]+)" state in doubt'
      source: inferred from the line of NMP
    - match: 'device "(?P<device>[^"\n]+)" (?:state )?in doubt'
      source: inferred from the line of NMP, without the plug-in
  per: device
cleared:
  match: 'NMP device "(?P<device>[^"\n]+)" state is sure'
  also:
    - match: 'HPP device "(?P<device>[^"\n]+)" state is sure'
      source: inferred from the line of NMP

severity: warning
confidence: possible
say: "{device} was in {what} {sign.count|time|times}."

fix: {fabric: Look at the paths.}
not_this: A device that was removed.

examples:
  match: |
    2023-03-01T10:00:00.000Z cpu3:2098123)NMP: NMP device "naa.1" state in doubt
"""
LINE = "2023-03-01T10:0{}:00.000Z cpu3:2098123){}\n"


def read(text: str = RULE) -> Rule:
    """Return a rule that was written as text."""
    return rules.parse(text)


def judge_lines(*texts: str) -> dict[str, str]:
    """Return what the rule says of lines a minute apart: subject -> sentence."""
    rule = read()
    log = "".join(LINE.format(number, text) for number, text in enumerate(texts))
    example = Example("made", FileSpan(), {}, {"esxi.vmkernel": log}, (), (), {})
    facts = examples.facts_of(rule, example)
    try:
        return {one.subject: one.say for one in judge(Catalog([rule]), facts).findings}
    finally:
        facts.close()


def test_forms_are_one_pattern_with_one_set_of_groups() -> None:
    """A form of its own stays as it is; of several each keeps its groups under the names they share."""
    assert join_forms([r"a(?P<x>\d)"]) == r"a(?P<x>\d)"
    joined = re.compile(
        join_forms([r"a(?P<x>\d)(?P<y>\w)", r"b(?P<x>\d)(?P=x)", r"\(?P<x>c(?P<y>z)?(?(y)z|w)"])
    )
    told = {}
    for line in ("a1q", "b22", "b21", "P<x>czz", "P<x>cw"):
        found = joined.search(line)
        told[line] = found and fold_groups(found.groupdict())
    assert told == {
        "a1q": {"x": "1", "y": "q"},
        "b22": {"x": "2", "y": None},
        "b21": None,
        "P<x>czz": {"x": None, "y": "z"},
        "P<x>cw": {"x": None, "y": None},
    }


def test_lines_of_all_forms_are_lines_of_one_sign() -> None:
    """Objects are told apart whichever form names them, a line of two forms counts once, and any end is an end."""
    told = judge_lines(
        'NMP device "naa.1" state in doubt',
        'HPP device "eui.2" state in doubt',
        'HPP device "naa.1" state in doubt',
        'device "naa.3" in doubt',
        'NMP device "naa.4" state in doubt',
        'HPP device "naa.4" state is sure',
    )
    assert told == {
        "naa.1": "naa.1 was in doubt 2 times.",
        "eui.2": "eui.2 was in unknown once.",
        "naa.3": "naa.3 was in unknown once.",
    }


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('HPP device "(?P<device>', 'HPP device "(?P<lun>', "no group `lun`"),
        ("\n      source: inferred from the line of NMP\n    -", "\n    -", "source"),
        ("HPP device \"(?P<device>[^\"\\n]+)\" state in doubt", r"(HPP) \1 (?P<device>\w+)", "cannot count its groups"),
        ("HPP device \"(?P<device>[^\"\\n]+)\" state in doubt", "(?P<device>", "not a regular expression"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_form_is_told(old: str, new: str, told: str) -> None:
    """A form names objects as the first one does, says where it comes from, and is a pattern."""
    assert old in RULE
    with pytest.raises(BadRuleError, match=re.escape(told)):
        read(RULE.replace(old, new, 1))


CATALOG = rules.load(examples=True).rules
FORMS = [
    pytest.param(rule, log, number, id=f"{rule.id}-{log.name}-{number}")
    for rule in CATALOG
    for log in rule.logs.values()
    for number in range(len(log.also))
    if log.name != "cleared"
]


@pytest.mark.parametrize(("rule", "log", "number"), FORMS)
def test_each_further_form_has_an_example_of_its_own(rule: Rule, log: LogDef, number: int) -> None:
    """Some matching example of the rule has a line that none of the forms before it finds."""
    flags = re.IGNORECASE if log.ignore_case else 0
    before = [re.compile(form, flags) for form in islice(log.list_forms(), number + 1)]
    form = re.compile(log.also[number].pattern, flags)
    lines = [
        line
        for example in rule.examples
        if example.expect.get("result") == "match"
        for text in example.logs.values()
        for line in (text or "").splitlines()
    ]
    assert any(form.search(line) and not any(one.search(line) for one in before) for line in lines)


def test_the_sweep_holds_many_forms() -> None:
    """The catalog has further forms, and all say where they come from."""
    assert len(FORMS) > 30
    assert all(form.source for rule in CATALOG for log in rule.logs.values() for form in log.also)
