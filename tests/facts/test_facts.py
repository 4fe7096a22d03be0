"""Facts: typed columns with their origin, coverage, frames, and what hostile values may do to them."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.artefacts.tables import Block, Column, Frame, Row, Table
from analyzer.facts import Facts
from analyzer.runtime.errors import UsageError
from tests.kit.rule_kit import BASE, PART, TABLES, Kit
from tests.sql_oracle.cases import Cases
from tests.sql_oracle.timed import ask


def cells(facts: Facts, table: Table, *columns: str) -> list[tuple[object, ...]]:
    """Return some columns of a table in the order of its rows."""
    names = ", ".join(f'"{name}"' for name in columns)
    return (
        facts.connection([table.name])
        .execute(f'SELECT {names} FROM "{table.name}" ORDER BY _row')
        .fetchall()
    )


def test_every_declared_table_is_there_and_empty() -> None:
    """A question to a table without rows has the answer «none», not an error."""
    facts = Facts(TABLES)

    for name in TABLES:
        assert facts.connection().execute(f'SELECT count(*) FROM "{name}"').fetchall() == [(0,)]


def test_a_row_knows_its_origin() -> None:
    """Node, member, line of each value and time stand beside the row and lead back to it."""
    facts = Facts(TABLES)
    facts.node("k", "esx1.lab", "esxi")
    block = Block(
        ["a", "b"], 10, "x.tgz!dump.txt", taken="2017-10-09T14:02:00Z", order=4
    ).assign_node("k")
    facts.add(Row(BASE, {"key": 7, "a": 1}, block, 10, {"a": 11}))

    found = cells(facts, BASE, "node", "_node", "_source", "_line", "_order", "_row", "key")
    assert found == [("esx1.lab", "k", "x.tgz!dump.txt", 10, 4, 0, 7)]
    row = facts.origin("esxi.base", 0).row
    assert row is not None and row.line_of("a") == 11
    assert (facts.value("esxi.base", 0, "node"), facts.value("esxi.base", 0, "a")) == (
        "esx1.lab",
        1,
    )


def test_values_of_the_wrong_type_are_left_out() -> None:
    """A parser's slip or a counter beyond 64 bits empties its own cell, never the row, never the run."""
    kit = Kit().add(
        BASE,
        [{"key": 1, "a": 2**70, "b": "many", "f": float("inf"), "t": 1, "v": 6.3, "at": "noon"}],
    )
    kit.add(BASE, [{"key": 2, "a": 5, "f": 3, "s": "\udcff\x00é", "at": "2017-10-02T08:05:00Z"}])

    first, second = cells(kit.facts, BASE, "key", "a", "b", "f", "t", "v")
    assert first == (1, None, None, None, None, None)
    assert second == (2, 5, None, 3.0, None, None)
    assert cells(kit.facts, BASE, "s")[1] == ("\\udcff\x00é",)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.one_of(st.none(), st.text(), st.integers(), st.floats(), st.booleans())),
        max_size=5,
    )
)
def test_whatever_a_parser_yields_goes_in(values: list[tuple[object]]) -> None:
    """Any value in any column is kept or left out; nothing raises and no row is lost."""
    kit = Kit()
    kit.add(
        BASE, [dict.fromkeys(("key", "a", "f", "s", "t", "v", "at"), value) for (value,) in values]
    )

    assert len(cells(kit.facts, BASE, "key")) == len(values)
    kit.facts.close()


def test_frames_and_rows_share_a_table() -> None:
    """Samples as numpy columns and rows one by one are numbered through, NaN and NaT being unknown."""
    import numpy as np

    kit = Kit().add(PART, [{"key": 1, "part": 1, "y": 0.5}])
    block = Block([], 1, "esxtop.csv", order=2).assign_node("esx1")
    times = np.array(["2017-10-09T14:00:00", "NaT"], dtype="datetime64[ms]")
    columns = {
        "key": np.array([2, 3]),
        "y": np.array([np.nan, np.inf]),
        "name": np.array(["a", "b"]),
        "time": times,
    }
    kit.facts.add_frame(Frame(PART, columns, np.array([2, 3]), block, {"y": "cell"}))

    assert cells(kit.facts, PART, "_row", "key", "y", "name", "_line") == [
        (0, 1, 0.5, None, 1), (1, 2, None, "a", 2), (2, 3, None, "b", 3),
    ]  # fmt: skip
    assert kit.facts.values("esxi.part", [1, 0, 2], "time") == ["2017-10-09 14:00:00", None, None]
    assert kit.facts.value("esxi.part", 1, "y") is None
    assert kit.facts.has_frames("esxi.part") and not kit.facts.has_frames("esxi.base")
    with pytest.raises(IndexError):
        kit.facts.origin("esxi.part", 3)


def test_an_odd_name_of_a_column_or_node_is_only_a_name() -> None:
    """Quotes and SQL in names, nodes and values stay text."""
    table = Table('esxi.o"dd', "", "", "", (Column('a"; DROP TABLE x; --', "str", ""),))
    facts = Facts({table.name: table})
    evil = '\'; DROP TABLE "esxi.base"; --'
    facts.node(evil, evil, "esxi")
    facts.add(Row(table, {'a"; DROP TABLE x; --': evil}, Block([], 1, evil).assign_node(evil), 1))

    assert facts.connection().execute('SELECT node, 1 FROM "esxi.o""dd"').fetchall() == [(evil, 1)]


def test_the_worst_coverage_stays() -> None:
    """One cut dump of a table makes the table cut; rows without a word count as read."""
    kit = Kit().add(BASE, [{"key": 1}])
    assert kit.facts.coverage("esx1", "esxi.base").state == "read"
    assert kit.facts.coverage("esx1", "esxi.part").state == ""
    for state in ("read", "cut", "unparsed", "read"):
        kit.facts.cover("esx1", "esxi.part", state, f"{state}!", "a.txt")

    assert (
        kit.facts.coverage("esx1", "esxi.part").state,
        kit.facts.coverage("esx1", "esxi.part").why,
    ) == (
        "cut",
        "cut!",
    )
    with pytest.raises(ValueError, match="known are excerpt, read, unparsed, cut"):
        kit.facts.cover("esx1", "esxi.part", "fine")


def test_rows_may_come_after_a_question() -> None:
    """The database is made anew when facts are added: no answer is stale."""
    kit = Kit().add(BASE, [{"key": 1}])
    assert len(cells(kit.facts, BASE, "key")) == 1
    kit.add(BASE, [{"key": 2}])

    assert len(cells(kit.facts, BASE, "key")) == 2


def test_a_table_is_a_pandas_frame_on_request() -> None:
    """`Facts.frame` gives a table with node and place; an unknown name is a usage error."""
    frame = Kit().add(BASE, [{"key": 2}, {"key": 1}]).facts.frame("esxi.base")

    assert list(frame["key"]) == [2, 1]
    assert next(iter(frame.columns)) == "node" and "_line" in frame.columns
    assert "pandas" in sys.modules
    with pytest.raises(UsageError):
        Facts(TABLES).frame("esxi.nope")


def test_a_table_that_cannot_be_filled_reaches_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """A database in which a table stands half filled is closed; the next borrower gets an empty one."""
    kit = Kit().add(BASE, [{"key": 1}])
    with monkeypatch.context() as patch:
        patch.setattr("analyzer.facts.database.insert_rows", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            kit.facts.connection([BASE.name])

    assert ask(kit.facts, [BASE.name], f'SELECT count(*) FROM "{BASE.name}"') == [(1,)]


def test_cases_side_by_side_keep_their_row_numbers() -> None:
    """Each row lies under the number of its case and its own number in the facts of that case."""
    one, two = Kit().add(BASE, [{"key": 1}, {"key": 2}]), Kit().add(BASE, [{"key": 3}])
    cases = Cases({"one": one.facts, "two": two.facts})
    found = ask(cases, [BASE.name], f'SELECT _case, _row, key FROM "{BASE.name}" ORDER BY ALL')
    cases.close()

    assert found == [(0, 0, 1), (0, 1, 2), (1, 0, 3)]
