"""Runs the examples of many rules through the judge itself."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from analyzer.facts import Facts
from analyzer.judge import judge_cases
from analyzer.pipeline import examples
from analyzer.pipeline.examples import ExampleResult
from analyzer.rules import Catalog, Example, Rule
from analyzer.runtime.errors import BacklineError


@dataclass(slots=True)
class RuleProof:
    """The examples of one rule and what they gave; `seconds` is what judging them took."""

    rule: Rule
    results: list[ExampleResult] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def failures(self) -> list[ExampleResult]:
        """Return the examples that are not as they should be."""
        return [result for result in self.results if not result.ok]


@dataclass(slots=True)
class Prepared:
    """A rule with those of its examples that shall run; `unread` are those that cannot be made into a case."""

    rule: Rule
    facts: dict[str, Facts]
    unread: dict[str, BacklineError]
    shared: examples.Shared
    seconds: float


def prove_rules(catalog: Catalog, pattern: str = "") -> list[RuleProof]:
    """Run the examples of all rules; `pattern` keeps to those that have it in `rule: name`.

    Rules without such an example are left out when a pattern is given.
    """
    found = []
    wanted = pattern.lower()
    for rule in catalog.rules:
        chosen = []
        for one in rule.examples:
            if wanted in f"{rule.id}: {one.name}".lower():
                chosen.append(one)
        if chosen or not pattern:
            found.append(_prove_rule(prepare_rule(rule, chosen)))
    return found


def prepare_rule(rule: Rule, chosen: Sequence[Example]) -> Prepared:
    """Return a rule with the facts of some of its examples."""
    start = time.perf_counter()
    found = Prepared(rule, {}, {}, examples.Shared(), 0.0)
    for example in chosen:
        try:
            found.facts[example.name] = examples.facts_of(rule, example, found.shared)
        except BacklineError as error:
            found.unread[example.name] = error
    found.seconds = time.perf_counter() - start
    return found


def _prove_rule(one: Prepared) -> RuleProof:
    """Judge the examples of a rule."""
    start = time.perf_counter()
    rule = one.rule
    shown = any("evidence" in example.expect for example in rule.examples)
    judgements = judge_cases(rule, one.facts, lean=not shown)
    proof = RuleProof(rule)
    for example in rule.examples:
        if example.name in one.facts:
            proof.results.append(examples.result_of(rule, example, judgements[example.name]))
        elif example.name in one.unread:
            error = str(one.unread[example.name])
            expected = dict(example.expect)
            got = {"result": "error", "wrong": [error]}
            result = ExampleResult(
                example.name, False, expected, got, None, example.gap, example.place, error=error
            )
            proof.results.append(result)
    proof.seconds = one.seconds + time.perf_counter() - start
    for result in proof.failures:
        example = next(example for example in rule.examples if example.name == result.name)
        if not result.error:
            result.trace = examples.why(rule, example, result.got["result"], one.shared)
    return proof
