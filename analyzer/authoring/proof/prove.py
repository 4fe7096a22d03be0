"""The examples of many rules, proved by the judge itself: all examples of a rule are one query.

The examples of many rules lie side by side in one database, for making and filling tables
costs more than asking them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain, islice

from analyzer import examples
from analyzer.cases import Cases
from analyzer.errors import BacklineError
from analyzer.examples import ExampleResult
from analyzer.facts import Facts
from analyzer.judge import judge_cases
from analyzer.rules import Catalog, Example, Rule

ROWS = 100_000  # rows of the examples that share a database
TOGETHER = 25  # rules that share it
THREADS = 2


@dataclass(slots=True)
class RuleProof:
    """The examples of one rule and what they gave; `seconds` is what judging them took."""

    rule: Rule
    results: list[ExampleResult] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def failed(self) -> list[ExampleResult]:
        """Return the examples that are not as they should be."""
        return [result for result in self.results if not result.ok]


@dataclass(slots=True)
class Prepared:
    """A rule with those of its examples that shall run; `unread` are those that cannot be made into a case."""

    rule: Rule
    facts: dict[str, Facts]
    unread: dict[str, BacklineError]
    seconds: float


def prove(catalog: Catalog, pattern: str = "") -> list[RuleProof]:
    """Run the examples of all rules; `pattern` keeps to those that have it in `rule: name`.

    Rules without such an example are left out when a pattern is given.
    """
    groups = _together(_prepared(catalog.rules, pattern))
    first = list(islice(groups, 2))
    if len(first) < 2:
        proofs = [proof for some in first for proof in _proofs(some)]
    else:  # DuckDB works outside Python's lock; cases are made here, for parsers keep a state
        with ThreadPoolExecutor(min(THREADS, os.cpu_count() or 1)) as pool:
            asked = [pool.submit(_proofs, some) for some in chain(first, groups)]
        proofs = [proof for one in asked for proof in one.result()]
    for proof in proofs:
        for result in proof.failed:
            example = next(one for one in proof.rule.examples if one.name == result.name)
            if not result.error:
                result.trace = examples.why(proof.rule, example, result.got["result"])
    return proofs


def database(some: Iterable[Prepared]) -> Cases:
    """Return the examples of some rules side by side; a case is named `rule: example`."""
    return Cases({_name(one.rule, name): facts for one in some for name, facts in one.facts.items()})


def _prepared(rules: Iterable[Rule], pattern: str) -> Iterator[Prepared]:
    for rule in rules:
        chosen = [example for example in rule.examples if pattern.lower() in _name(rule, example.name).lower()]
        if chosen or not pattern:
            yield prepare(rule, chosen)


def prepare(rule: Rule, chosen: Sequence[Example]) -> Prepared:
    """Return a rule with the facts of some of its examples."""
    start = time.perf_counter()
    found, shared = Prepared(rule, {}, {}, 0.0), examples.Shared()
    for example in chosen:
        try:
            found.facts[example.name] = examples.facts_of(rule, example, shared)
        except BacklineError as error:
            found.unread[example.name] = error
    found.seconds = time.perf_counter() - start
    return found


def _together(prepared: Iterable[Prepared]) -> Iterator[list[Prepared]]:
    """Yield stretches of rules whose examples are few enough to share a database."""
    some: list[Prepared] = []
    rows = 0
    for one in prepared:
        own = sum(facts.count(table) for facts in one.facts.values() for table in one.rule.tables())
        if some and (rows + own > ROWS or len(some) == TOGETHER):
            yield some
            some, rows = [], 0
        some.append(one)
        rows += own
    if some:
        yield some


def _proofs(some: Sequence[Prepared]) -> list[RuleProof]:
    cases = database(some)
    try:
        return [_proof(one, cases) for one in some]
    finally:
        cases.close()


def _proof(one: Prepared, cases: Cases) -> RuleProof:
    start = time.perf_counter()
    rule = one.rule
    shown = any("evidence" in example.expect for example in rule.examples)
    judgements = judge_cases(rule, cases, [_name(rule, name) for name in one.facts], lean=not shown)
    proof = RuleProof(rule)
    for example in rule.examples:
        if example.name in one.facts:
            judgement = judgements[_name(rule, example.name)]
            proof.results.append(examples.result_of(rule, example, judgement))
        elif example.name in one.unread:
            error, expected = str(one.unread[example.name]), dict(example.expect)
            got = {"result": "error", "wrong": [error]}
            result = ExampleResult(example.name, False, expected, got, None, example.gap, example.place, error=error)
            proof.results.append(result)
    proof.seconds = one.seconds + time.perf_counter() - start
    return proof


def _name(rule: Rule, example: str) -> str:
    return f"{rule.id}: {example}"
