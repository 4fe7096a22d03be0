"""A rule whose logs are all missing is not read whole, and says what it would say if it were."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analyzer.case.verdicts import CannotTell, Finding, Verdict
from analyzer.facts import Facts
from analyzer.judge import judge_rule
from analyzer.rules import Rule
from analyzer.rules.catalog import load
from analyzer.rules.column_usage import needs_of
from analyzer.runtime.limits import Limits

RULES = [rule for rule in load().rules if needs_of(rule).lacks]


def _facts(nodes: list[tuple[str, str]], *, complete: bool) -> Facts:
    facts = Facts()
    for key, kind in nodes:
        facts.node(key, f"name of {key}", kind, kind.partition("_")[0])
        if not complete:
            facts.incomplete(key)
    return facts


def _said(
    rule: Rule, facts: Facts
) -> tuple[list[Finding], list[CannotTell], dict[Verdict, int], list[str]]:
    one = judge_rule(rule, facts, Limits())
    return (
        one.findings,
        one.unsure,
        {name: count for name, count in one.counts.items() if count},
        one.notes,
    )


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize(
    "nodes",
    [
        [],
        [("a", "")],
        [("a", "esxi"), ("b", "esxi")],
        [("m", "nsx_manager"), ("c", "nsx_controller")],
    ],
)
def test_a_rule_without_its_logs_says_what_it_would_say_if_it_were_looked_at_whole(
    nodes: list[tuple[str, str]], complete: bool
) -> None:
    """Doubts, their reasons, what they ask for, and the counts are those that the evaluation gives."""
    assert {needs_of(rule).lacks for rule in RULES} == {"log", "rows"} and len(RULES) > 50
    doubts = 0
    for rule in RULES:
        quick = _said(rule, _facts(nodes, complete=complete))
        needs = needs_of(rule)
        rule.at_once = replace(needs, lacks="")
        try:
            whole = _said(rule, _facts(nodes, complete=complete))
        finally:
            rule.at_once = needs
        assert quick == whole, rule.id
        doubts += len(quick[1])
    kinds = {kind for _, kind in nodes}
    assert bool(doubts) == (
        not nodes or bool(kinds & {"esxi", "nsx_manager"}) or ("" in kinds and not complete)
    )
