"""All rules over many cases as one SQL query each: what the evaluator says of a case alone, to the last bit."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer import judge, rules
from analyzer.artefacts.tables import Block, Frame
from analyzer.facts import Facts, database
from analyzer.judge.rule_evaluation import OneCase
from analyzer.pipeline import examples, triage
from analyzer.pipeline.case_data import CaseData
from analyzer.rules import Catalog, Rule
from analyzer.rules.language.rulefile import BadRuleError
from analyzer.runtime.limits import Limits
from tests.authoring.test_proof import CASE, CONDITIONS, SHAPES, built, shaped
from tests.kit.rule_kit import BASE, PART, RULE, TABLES, Kit, full, rule
from tests.sql_oracle import judging, stages
from tests.sql_oracle.cases import Cases
from tests.sql_oracle.query import Query
from tests.sql_oracle.stages import Part
from tests.sql_oracle.timed import ask

SAMPLES = Path(__file__).parents[2] / "samples" / "cases"
CATALOG = rules.load(drafts=True, examples=True)


def named(one: Rule, name: str) -> Rule:
    """Give a rule another id."""
    one.id = name
    return one


def many(catalog: Catalog, facts: dict[str, Facts], limits: Limits | None = None) -> dict[str, Any]:
    """Judge all cases at once, by SQL."""
    return dict(judging.judge_many(catalog, facts, limits))


def alone(catalog: Catalog, facts: Facts, limits: Limits | None = None) -> Any:
    """Judge one case by itself."""
    try:
        return judge.judge(catalog, facts, limits)
    finally:
        facts.close()


@pytest.fixture(scope="module")
def samples() -> dict[str, CaseData]:
    """The sample cases, read once."""
    folders = sorted(path for path in SAMPLES.iterdir() if path.is_dir())
    return {
        path.name: triage.gather_case([path], CATALOG.signatures(), triage.Options())
        for path in folders
    }


# -- the catalog


@pytest.mark.size
def test_the_sample_cases_mixed_are_judged_as_each_alone(samples: dict[str, CaseData]) -> None:
    """Findings with evidence and trace, what cannot be told, charts, notes, causes and signs: all of it is the same."""
    expected = {name: alone(CATALOG, material.facts) for name, material in samples.items()}
    found = many(CATALOG, {name: material.facts for name, material in samples.items()})

    assert found == expected
    assert list(found) == list(samples)
    assert sum(len(one.findings) for one in found.values()) > 10
    assert any(one.series for one in found.values()) and any(
        f.explains for one in found.values() for f in one.findings
    )


@pytest.mark.size
def test_all_examples_of_all_rules_are_judged_by_all_rules() -> None:
    """Each example of a rule, as a case of its own among two hundred, gives what the whole catalog says of it alone.

    Every eighth rule gives the cases and all rules judge them.
    """
    facts = {
        f"{one.id}: {example.name}": examples.facts_of(one, example)
        for one in CATALOG.rules[::8]
        for example in one.examples[::5]
    }
    assert len(facts) >= 70

    assert many(CATALOG, facts) == {name: alone(CATALOG, own) for name, own in facts.items()}


# -- any cases


@pytest.mark.size
@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(
        st.tuples(st.sampled_from(CONDITIONS), st.sampled_from(SHAPES)), min_size=1, max_size=3
    ),
    st.lists(CASE, min_size=2, max_size=5),
    st.sampled_from([0, stages.FEW_NAMES]),
)
def test_made_up_cases_are_judged_as_each_alone(
    made: list[tuple[str, str]], cases: list[dict[str, Any]], few: int
) -> None:
    """Ghosts, cut tables, rows of any node, populations, logs: no case hears of another, whatever the rules ask."""
    catalog = Catalog([named(shaped(*parts), f"made-{n}") for n, parts in enumerate(made)])
    logged = next((one for one in catalog.rules if one.logs), catalog.rules[0])
    facts = {f"case {number}": built(case, logged) for number, case in enumerate(cases)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "FEW_NAMES", few)  # how the names of nodes are written in a query
        found = many(catalog, facts)

    assert found == {name: alone(catalog, own) for name, own in facts.items()}


@pytest.mark.size
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(0, 2**32), st.booleans())
def test_sums_of_fractions_agree_to_the_last_bit(seed: int, anywhere: bool) -> None:
    """Sums and means are added up in the order of the rows, however the database meets them among other cases."""
    text = RULE % "when: sum(part.y) > 0 or mean(part.y * one.f) < 0"
    if anywhere:
        text = text.replace("by: [key], rows: many", "nodes: any, rows: many")
    one = full(text)
    dice = random.Random(seed)
    facts: dict[str, Facts] = {}
    for number in range(6):
        kit = Kit().add(
            BASE, [{"key": key, "f": dice.random()} for key in range(dice.randint(1, 9))]
        )
        for part in range(dice.randint(1, 120)):
            size = dice.choice((1e16, -1e16, 1.0, 3e-7))
            row = {"key": dice.randrange(9), "part": part, "y": size * dice.random()}
            kit.add(PART, [row], source=dice.choice("ab"), order=dice.randrange(2))
        facts[str(number)] = kit.facts
    folds = [node for top in one.expressions() for node in top.walk() if node.op in ("sum", "mean")]

    def values(query: Query) -> list[list[Any]]:
        subjects, details = query.whole()
        return [
            [details[subject.number].values[id(node)] for node in folds] for subject in subjects
        ]

    together = Cases(facts)
    parts = [Part(own, {}, (), number) for number, own in enumerate(facts.values())]
    found = values(Query.over(one, parts, partial(ask, together)))
    together.close()
    assert found == [row for own in facts.values() for row in values(Query(one, own, {}, ()))]
    assert many(Catalog([one]), facts) == {
        name: alone(Catalog([one]), own) for name, own in facts.items()
    }


def test_samples_of_any_type_are_the_same_beside_others() -> None:
    """Frames of the same columns go in together, those of other types by themselves; no value changes."""
    columns: list[dict[str, Any]] = [
        {
            "x": np.array([1, 2]),
            "y": np.array([0.5, np.nan]),
            "name": np.array(["a", None], dtype=object),
        },
        {
            "x": np.array([3, 9]),
            "y": np.array([np.inf, 2.0]),
            "name": np.array([None, None], dtype=object),
        },
        {
            "x": np.array([3, 4], dtype=np.uint8),
            "y": np.array([1, 2]),
            "name": np.array(["long name", "b"]),
        },
        {"x": np.array([5, 2.5], dtype=object), "name": np.array(["7", 8], dtype=object)},
        {
            "x": np.array([2**63, 1], dtype=np.uint64),
            "time": np.array(["2017-10-02T08:00", "NaT"], dtype="datetime64[us]"),
        },
        {"y": np.array(["1.5", "no"], dtype=object), "ok": np.array([True, False])},
    ]
    facts: dict[str, Facts] = {}
    for number, own in enumerate(columns * 2):
        kit = Kit().add(BASE, [{"key": 1}])
        taken = "2017-10-02 08:00:00" if number % 2 else ""
        block = Block([], 1, f"s{number}.csv", taken=taken, order=number).assign_node("esx1")
        for _ in range(1 + number // 6):
            kit.facts.add_frame(
                Frame(PART, {"key": np.array([1, 1]), **own}, np.array([4, 5]), block)
            )
        facts[str(number)] = kit.facts
    cases = Cases(facts)
    query = f'SELECT * EXCLUDE (_case) FROM "{PART.name}" WHERE _case = %d ORDER BY _row'
    found = [ask(cases, [PART.name], query % number) for number in range(len(facts))]
    cases.close()

    assert found == [
        ask(own, [PART.name], f'SELECT * FROM "{PART.name}" ORDER BY _row')
        for own in facts.values()
    ]
    assert [len(rows) for rows in found] == [2] * 6 + [4] * 6


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "a": st.one_of(st.none(), st.integers(-(2**64), 2**64)),
                "f": st.one_of(st.none(), st.floats(), st.integers()),
                "s": st.one_of(st.none(), st.text(st.characters())),
                "t": st.one_of(st.none(), st.booleans(), st.just("yes")),
                "v": st.sampled_from([None, "6.3", "6.10", "none", ""]),
                "at": st.sampled_from(
                    [None, "2017-10-02 08:00:00", "2017-10-02T08:00:00Z", "soon"]
                ),
            }
        ),
        min_size=1,
        max_size=12,
    )
)
def test_many_rows_go_in_as_few_do(
    monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, Any]]
) -> None:
    """Columns that go in as arrays hold what they hold cell by cell: unknown ones, odd texts, times, what does not fit."""
    kit = Kit().add(BASE, rows, taken="2017-10-09 14:02:00")
    query = f'SELECT * FROM "{BASE.name}" ORDER BY _row'
    found = []
    for many in (1, 500):
        monkeypatch.setattr(database, "MANY", many)
        found.append(ask(kit.facts, [BASE.name], query))
        kit.facts.close()

    assert found[0] == found[1]
    assert len(found[0]) == len(rows)


# -- what goes wrong


def test_a_rule_that_fails_on_one_case_is_judged_on_all_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One case breaks a rule: there it is the finding `error`; the other cases have their verdicts."""
    catalog = Catalog([named(rule("one.a > 0"), "made-a"), named(rule("one.b > 0"), "made-b")])
    facts = {str(n): Kit().add(BASE, [{"key": 1, "a": n, "b": 1}]).facts for n in range(4)}
    choose = OneCase.choose_subjects

    def broken(self: Any, subjects: Any, look: Any) -> Any:
        if self.rule.id == "made-a" and self.facts is facts["2"]:
            raise ZeroDivisionError("a case of its own kind")
        return choose(self, subjects, look)

    monkeypatch.setattr(OneCase, "choose_subjects", broken)
    found = judge.judge_many(catalog, facts)

    assert [one.counts["made-a"].get("error") for one in found.values()] == [0, 0, 1, 0]
    assert [one.counts["made-b"]["match"] for one in found.values()] == [1] * 4


def test_broken_rule_files_are_told_in_every_case() -> None:
    """A rule file with a mistake is a finding `error` of each case."""
    with pytest.raises(BadRuleError) as broken:
        rules.parse("rule: made-bad\ntitle: [", TABLES, "made-bad.yaml")
    catalog = Catalog([rule("one.a > 0")], [broken.value])
    facts = {name: Kit().add(BASE, [{"key": 1, "a": 1}]).facts for name in "ab"}
    found = many(catalog, facts)

    assert found == {name: alone(catalog, own) for name, own in facts.items()}
    assert [finding.rule for finding in found["a"].findings] == ["made-up", "made-bad"]


def test_limits_hold_for_each_case() -> None:
    """So many findings of one rule are kept in each case, and the rest is named, as when judged alone."""
    catalog, limits = Catalog([rule("one.a > 0")]), Limits(findings_per_rule=2, findings_in_short=1)
    facts = {name: Kit().add(BASE, [{"key": n, "a": 1} for n in range(5)]).facts for name in "abc"}
    found = many(catalog, facts, limits)

    assert found == {name: alone(catalog, own, limits) for name, own in facts.items()}
    assert [len(one.findings) for one in found.values()] == [3, 3, 3]
    assert [
        [(cut.subjects, cut.full, cut.short) for cut in one.cuts] for one in found.values()
    ] == [[(5, 2, 1)]] * 3


def test_no_case_is_no_work() -> None:
    """Without cases or without rules there is nothing to say."""
    assert many(Catalog([rule("one.a > 0")]), {}) == {}
    assert many(Catalog(), {"a": Facts(TABLES)}) == {"a": alone(Catalog(), Facts(TABLES))}
