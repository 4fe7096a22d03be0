"""The evaluator of one case against SQL: the same rule over the same rows, samples and gaps gives the same answers.

`tests/sql_oracle` judges as one query of DuckDB, `judge/evaluator.py` by Python functions. Neither was written from
the other; what they disagree on is a fault of one of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.artefacts.samples import SampleColumns, SampleLines, pack_numbers
from analyzer.artefacts.tables import Block, Frame
from analyzer.judge.evaluator import Evaluator
from analyzer.judge.rule_evaluation import OneCase, verdict_of
from analyzer.judge.subjects import Detail, list_single_nodes
from analyzer.rules import Rule
from analyzer.rules.column_usage import shown_of
from analyzer.rules.language.expression import ExprNode
from analyzer.runtime.limits import Limits
from tests.kit.rule_kit import BASE, PART, TABLES, Kit, full
from tests.sql_oracle.query import Query

RULE = """\
rule: made-up
title: A made-up fault
each: one in esxi.base
join:
  part: {{table: esxi.part, by: [key], rows: many{nodes}{filter}}}
  first: {{table: esxi.part, by: [key]{single}}}
only: {only}
let:
  worst: max(part.y)
  named: one.a + 2 > one.b
when: {when}
outcomes:
  - when: {outcome}
    severity: major
    confidence: confirmed
    say: "{{one.v}} {{first.y}} {{worst}} {{one.at}}"
  - when: true
    severity: warning
    confidence: possible
    say: found
evidence: [part.x, part.y, first.name]
"""

NUMBERS = st.sampled_from(
    [
        "one.a", "one.b", "one.f", "one.a + one.b", "one.a * 3 - one.b", "one.a / one.b", "-one.f", "min(one.a, one.b)",
        "max(one.f, 1.5)", "first.x", "first.y", "count(part)", "count(part.x > 1)", "share(part.ok)", "sum(part.x)",
        "sum(part.y)", "max(part.y)", "min(part.x)", "mean(part.y)", "worst", "sum(part.y * one.f)", "max(part.x - one.a)",
        "count(part.y > one.f)", "share(part.x > 0 and part.ok)", "max(part.y / part.x)", "one.at - first.time",
        "count(part.x in [1, 2] or part.name == 'b')", "count(part.x >= max(part.x))", "mean(part.x)",
        "count(known(part.y))", "1", "2.5", "0",
    ]
)  # fmt: skip
PLAIN = st.sampled_from(
    [
        "one.t", "named", "not one.t", "one.s == 'b'", "one.s != first.name", "one.s in ['a', 'b']", "one.v < '6.5'",
        "one.v == '6.10'", "known(one.a)", "known(first)", "known(first.y)", "any(part.ok)", "all(part.ok)",
        "any(part.x > 1 and part.y < 2)", "all(part.y <= one.f)", "any(part.name == one.s)", "any(part.time > one.at)",
        "one.at > '2017-10-02T08:00:00Z'", "any(not part.ok)", "all(part.x >= min(part.x))", "one.node == 'esx1'",
        "any(part.node == 'esx2')", "one.a in [1, 2, 3]", "true", "any(known(part.x))",
    ]
)  # fmt: skip


@st.composite
def conditions(draw: Callable[..., Any], depth: int = 2) -> str:
    """Return a condition of the rule language over one thing and its parts."""
    kind = draw(st.integers(0, 4 if depth else 1))
    if kind == 0:
        return str(draw(PLAIN))
    if kind == 1:
        return f"{draw(NUMBERS)} {draw(st.sampled_from(['<', '<=', '>', '>=', '==', '!=']))} {draw(NUMBERS)}"
    if kind == 2:
        return f"not ({draw(conditions(depth=depth - 1))})"
    word = draw(st.sampled_from(["and", "or"]))
    return f"({draw(conditions(depth=depth - 1))}) {word} ({draw(conditions(depth=depth - 1))})"


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return values of which some are unknown."""
    return st.one_of(st.none(), values)


TIMES = st.sampled_from(["2017-10-02 08:00:00", "2017-10-02 08:00:05", "2017-10-02 07:00:00"])
SMALL = st.integers(-3, 3)
QUARTERS = st.integers(-8, 8).map(lambda n: n / 4)
THING = st.fixed_dictionaries(
    {
        "key": maybe(st.integers(0, 3)), "a": maybe(SMALL), "b": maybe(SMALL), "f": maybe(QUARTERS), "t": maybe(st.booleans()),
        "s": maybe(st.sampled_from("abc")), "v": maybe(st.sampled_from(["6.3", "6.10", "6.5.0", "none"])), "at": maybe(TIMES),
    }
)  # fmt: skip
PIECE = st.fixed_dictionaries(
    {
        "key": maybe(st.integers(0, 3)), "part": st.integers(0, 2), "x": maybe(SMALL), "y": maybe(QUARTERS),
        "ok": maybe(st.booleans()), "name": maybe(st.sampled_from("abc")), "time": maybe(TIMES),
    }
)  # fmt: skip
FILTERS = [
    "",
    ", where: part.x > 0",
    ", where: part.ok or part.y > one.f",
    ", where: known(part.name)",
]
SINGLES = [
    "",
    ", where: first.x > 0",
    ", nodes: any",
    ", where: known(first.y) and first.y != one.f",
]


def made(draw: Callable[..., Any]) -> tuple[Rule, Kit]:
    """Return a rule and a case: things and parts on two nodes, in several places, as rows and as samples, with gaps."""
    text = RULE.format(
        nodes=draw(st.sampled_from(["", ", nodes: any"])),
        filter=draw(st.sampled_from(FILTERS)),
        single=draw(st.sampled_from(SINGLES)),
        only=draw(st.sampled_from(["true", "one.a >= 0", "known(first)"])),
        when=draw(conditions()),
        outcome=draw(conditions(depth=1)),
    )
    kit = Kit("esx1", "esx2")
    for node in ("esx1", "esx2"):
        for source in draw(st.lists(st.sampled_from("ab"), max_size=2)):
            order, taken = (
                draw(st.integers(0, 2)),
                draw(st.sampled_from(["", "2017-10-02T08:00:03Z"])),
            )
            kit.add(BASE, draw(st.lists(THING, max_size=3)), node, source, order, taken=taken)
            rows = draw(st.lists(PIECE, max_size=4))
            how = draw(st.sampled_from(["rows", "rows", "columns", "samples"]))
            if how == "rows":
                kit.add(PART, rows, node, source, order, taken=taken)
            elif how == "columns" and rows:
                kit.facts.add_frame(
                    _frame(
                        rows,
                        Block([], 1, source + ".csv", taken=taken, order=order).assign_node(node),
                    )
                )
            elif how == "samples":
                _capture(
                    draw,
                    kit,
                    Block([], 1, source + ".csv", taken=taken, order=order).assign_node(node),
                )
    for table in (BASE, PART):
        for node in ("esx1", "esx2"):
            state = draw(st.sampled_from(["", "", "read", "cut", "unparsed"]))
            if state:
                kit.facts.cover(node, table.name, state, "")
    if draw(st.booleans()):
        kit.facts.incomplete("esx2")
    return full(text), kit


def _frame(rows: list[dict[str, Any]], block: Block) -> Frame:
    columns = {
        "key": np.array([row["key"] for row in rows], dtype=object),
        "part": np.array([row["part"] for row in rows]),
        "x": np.array([row["x"] for row in rows], dtype=object),
        "y": np.array([math.nan if row["y"] is None else row["y"] for row in rows]),
        "ok": np.array([row["ok"] for row in rows], dtype=object),
        "name": np.array([row["name"] for row in rows], dtype=object),
        "time": np.array([row["time"] or "NaT" for row in rows], dtype="datetime64[us]"),
    }
    return Frame(PART, columns, np.arange(2, 2 + len(rows)), block)


def _capture(draw: Callable[..., Any], kit: Kit, block: Block) -> None:
    """Add samples as the esxtop CSV gives them: the same objects in every sample, numbers with gaps."""
    objects = draw(st.integers(1, 3))
    names = {
        "key": np.array([draw(st.integers(0, 3)) for _ in range(objects)]),
        "part": np.arange(objects),
        "name": np.array(
            [draw(maybe(st.sampled_from("abc"))) for _ in range(objects)], dtype=object
        ),
    }
    line = 2
    for _ in range(draw(st.integers(1, 2))):  # frames that go on from each other
        samples = draw(st.integers(1, 3))
        moments = {"time": np.array([draw(TIMES) for _ in range(samples)], dtype="datetime64[us]")}
        cells = [draw(maybe(QUARTERS)) for _ in range(samples * objects)]
        numbers = {
            "y": pack_numbers(np.array([math.nan if cell is None else cell for cell in cells])),
            "ok": None,
        }
        columns = SampleColumns(names, moments, {"y": numbers["y"]}, samples, objects)
        kit.facts.add_frame(
            Frame(PART, columns, SampleLines(np.arange(line, line + samples), objects), block)
        )
        line += samples


@pytest.fixture(scope="module", autouse=True)
def _tables() -> None:
    assert set(TABLES) >= {BASE.name, PART.name}


def same(one: Any, two: Any) -> bool:
    """Tell whether two values are the same; of a float the last bit may differ where numpy added up."""
    if isinstance(one, float) and isinstance(two, float):
        return math.isclose(one, two, rel_tol=1e-12, abs_tol=1e-12)
    return type(one) is type(two) and one == two


def shown(detail: Detail, rule: Rule) -> dict[str, Any]:
    """Return all that a finding may show of a subject, by what it is."""
    nodes: list[ExprNode] = [*rule.expressions(), *shown_of(rule)]
    found: dict[str, Any] = {}
    for place, node in enumerate(list_single_nodes(nodes)):
        found[f"value {place} {node.text}"] = detail.read_value(node)
    folds = {id(node): node for top in nodes for node in top.walk() if node.is_aggregate}
    for place, node in enumerate(folds.values()):
        rows, known, true = detail.count_rows(node)
        found[f"fold {place} {node.text}"] = (rows, known, true)
        found[f"rows {place} {node.text}"] = (
            detail.find_deciding(node),
            detail.list_fulfilling(node),
        )
    return found | {"first": detail.find_row("first"), "part": detail.list_rows("part")}


@pytest.mark.size
@settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.data())
def test_sql_and_the_evaluator_say_the_same_of_any_rule_and_case(data: st.DataObject) -> None:
    """Verdict, outcome, values, the rows that decide and those listed: equal over rows, samples, gaps and ghosts."""
    rule, kit = made(data.draw)
    one = OneCase(rule, kit.facts, Limits(), explains=True)
    unseen_nodes = one.prepare_nodes()
    if unseen_nodes is None:
        return
    query, evaluator = (
        Query(rule, kit.facts, {}, unseen_nodes),
        Evaluator(rule, kit.facts, {}, unseen_nodes),
    )
    expected, found = query.subjects(), evaluator.list_subjects()
    assert [(s.number, s.node, s.unseen_row, *verdict_of(s)) for s in found] == [
        (s.number, s.node, s.unseen_row, *verdict_of(s)) for s in expected
    ]
    assert [(s.only, s.when, s.safe_only, s.safe_when) for s in found] == [
        (s.only, s.when, s.safe_only, s.safe_when) for s in expected
    ]
    numbers = [subject.number for subject in expected]
    theirs, mine = (
        query.details(numbers),
        {number: evaluator.show_detail(number) for number in numbers},
    )
    for number in numbers:
        left, right = shown(theirs[number], rule), shown(mine[number], rule)
        assert {key: value for key, value in right.items() if not same(value, left[key])} == {
            key: value for key, value in left.items() if not same(value, right[key])
        }
    kit.facts.close()


CHARTED = full(
    """\
rule: made-up
title: A made-up fault
each: one in esxi.base
join:
  part: {table: esxi.part, by: [key], rows: many}
when: any(part.part >= 0)
outcomes:
  - when: true
    severity: major
    confidence: confirmed
    say: found
chart: [part.y]
"""
)
NOON = np.datetime64("2017-10-02T12:00:00", "us")


@st.composite
def captures(draw: Callable[..., Any]) -> tuple[Kit, bool]:
    """Return a case with one capture, and whether its samples have ascending times and each object once."""
    kit = Kit("esx1").add(BASE, [{"key": 1}, {"key": 2}])
    keys = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    names = {
        "key": np.array(keys),
        "part": np.arange(len(keys)),
        "name": np.array(["a"] * len(keys), dtype=object),
    }
    block, line, every = (
        Block([], 1, "a.csv", order=1).assign_node("esx1"),
        2,
        np.array([], dtype="datetime64[us]"),
    )
    for samples in draw(st.lists(st.sampled_from([1, 3, 700]), min_size=1, max_size=2)):
        step = draw(st.sampled_from([1, 1, 1, 0, -1]))
        times = NOON + np.timedelta64(5, "s") * (len(every) + step * np.arange(1, samples + 1))
        if draw(st.booleans()) and draw(st.booleans()):
            times[draw(st.integers(0, samples - 1))] = np.datetime64("NaT")
        every = np.concatenate([every, times])
        noise = np.random.default_rng(draw(st.integers(0, 9))).integers(-3, 5, samples * len(keys))
        cells = np.where(
            noise < -1, math.nan, noise / draw(st.sampled_from([1, 4, 3]))
        )  # thirds stay floats
        columns = SampleColumns(
            names, {"time": times}, {"y": pack_numbers(cells)}, samples, len(keys)
        )
        lines = SampleLines(np.arange(line, line + samples), len(keys))
        kit.facts.add_frame(Frame(PART, columns, lines, block))
        line += samples
    ascend = not np.isnat(every).any() and bool((every[1:] > every[:-1]).all())
    return kit, ascend and keys.count(1) == 1


@pytest.mark.size
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(captures())
def test_a_chart_drawn_from_columns_is_the_one_drawn_from_rows(
    given_case: tuple[Kit, bool],
) -> None:
    """Times, gaps and thinned values are the same; samples out of order, or of many objects, are drawn from rows."""
    kit, by_columns = given_case
    evaluator = Evaluator(CHARTED, kit.facts, {}, [])
    evaluator.list_subjects()
    assert (evaluator.show_detail(1).draw_samples("part", "y") is not None) == by_columns
    drawn = kit.judge(CHARTED).series
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analyzer.judge.evaluator.SubjectDetail.draw_samples", lambda *_: None)
        assert repr(drawn) == repr(kit.judge(CHARTED).series)
    kit.facts.close()
