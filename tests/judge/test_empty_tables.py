"""A table that was read and is empty is a fact; one that was cut, not understood or never there is not."""

from __future__ import annotations

import pytest

from analyzer.artefacts.tables import Block, Row
from analyzer.judge import judge_many
from analyzer.rules import Catalog, Rule
from tests.kit.rule_kit import BASE, PART, RULE, Kit, full, rule

CONDITIONS = [
    ("count(part) == 0", "match"),
    ("count(part.x > 3) == 0", "match"),
    ("count(part.x) > 0", "no_match"),
    ("sum(part.x) == 0", "match"),
    ("any(part.ok)", "no_match"),
    ("not any(part.ok)", "match"),
    ("max(part.x) < 5", "cannot_tell"),
    ("max(part.x) > 5", "cannot_tell"),
    ("not (max(part.x) > 5)", "cannot_tell"),
    ("min(part.x) < 5", "cannot_tell"),
    ("min(part.x) > 5", "cannot_tell"),
    ("count(part) > 0 and max(part.x) > 5", "no_match"),
    ("all(part.ok)", "cannot_tell"),
    ("share(part.ok) > 0.5", "cannot_tell"),
    ("mean(part.x) > 0", "cannot_tell"),
    ("first.x == 1", "cannot_tell"),
]


def kit(state: str = "", *, parts: int = 0) -> Kit:
    """Return one thing, with so many parts of another thing, and the table of parts in some state."""
    made = (
        Kit()
        .add(BASE, [{"key": 1}])
        .add(PART, [{"key": 2, "part": n, "x": n, "ok": True} for n in range(parts)])
    )
    if state:
        made.facts.cover("esx1", "esxi.part", state)
    return made


@pytest.mark.parametrize(("when", "verdict"), CONDITIONS)
def test_a_table_that_was_read_and_is_empty_is_a_fact(when: str, verdict: str) -> None:
    """Count and sum are 0 and any() is false; the greatest, the least and the share of none have no value."""
    assert kit("read").counts(rule(when)) == {verdict: 1}


@pytest.mark.parametrize(("when", "verdict"), CONDITIONS)
@pytest.mark.parametrize("state", ["", "cut", "unparsed"])
def test_a_table_that_may_have_rows_proves_nothing(when: str, verdict: str, state: str) -> None:
    """Never there, cut or not understood: whatever is asked of its rows is not known."""
    assert kit(state).counts(rule(when)) == {"cannot_tell": 1}


def test_a_cut_archive_makes_an_empty_table_unsure() -> None:
    """The rows may stand in the part that was lost, and so may further things."""
    made = kit("read")
    made.facts.incomplete("esx1")
    assert set(made.counts(rule("count(part) == 0"))) == {"cannot_tell"}


def test_a_table_with_rows_of_others_proves_nothing() -> None:
    """Counters of port 2 were printed; that none of port 1 were may mean that nobody asked for them."""
    assert kit("read", parts=3).counts(rule("count(part) == 0")) == {"cannot_tell": 1}


@pytest.mark.parametrize(
    ("read", "verdict"), [(("esx1", "esx2"), "match"), (("esx1",), "cannot_tell")]
)
def test_on_all_nodes_it_must_be_empty_on_each(read: tuple[str, ...], verdict: str) -> None:
    """A join over all nodes is a fact when every host printed the table; what one did not send is not known."""
    made = Kit("esx1", "esx2").add(BASE, [{"key": 1}]).add(BASE, [{"key": 2}], "esx2")
    for node in read:
        made.facts.cover(node, "esxi.part", "read")
    far = "{all: {table: esxi.part, by: [], rows: many, nodes: any}}"
    assert made.counts(_far(far)) == {verdict: 2}


def _far(join: str) -> Rule:
    text = RULE % "when: count(all) == 0"
    start, end = text.index("join:"), text.index("subject:")
    return full(f"{text[:start]}join: {join}\n{text[end:]}")


def test_many_cases_side_by_side_say_the_same() -> None:
    """One query over several cases: each keeps what it read and what it did not."""
    cases = {"read": kit("read").facts, "never": kit().facts, "rows": kit("read", parts=2).facts}
    block = Block(["x"], 1, "dump.txt").assign_node("esx1")
    cases["own"] = Kit().add(BASE, [{"key": 1}]).facts
    cases["own"].add(Row(PART, {"key": 1, "part": 1, "x": 9}, block, 1))
    found = judge_many(Catalog([rule("count(part) == 0")]), cases)
    told = {
        name: next(v for v, n in one.counts["made-up"].items() if n) for name, one in found.items()
    }
    assert told == {
        "read": "match",
        "never": "cannot_tell",
        "rows": "cannot_tell",
        "own": "no_match",
    }
