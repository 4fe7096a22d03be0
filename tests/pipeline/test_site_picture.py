"""The picture of a site is drawn from rows that lack cells: a row out of the archive has none of those that are empty."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Block, Row, Value
from analyzer.case.document import SiteRow
from analyzer.pipeline.site_picture import make_channel, make_member

CASES: list[tuple[str, str, Callable[[Row], SiteRow]]] = [
    (table, column.name, make)
    for table, make in (
        ("site.member", make_member),
        ("nsxt.site_member", make_member),
        ("site.channel", make_channel),
        ("nsxt.site_channel", make_channel),
    )
    if table in parsing.tables()
    for column in parsing.tables()[table].columns
]


def test_all_four_tables_are_looked_at() -> None:
    """No table of the picture was renamed: nothing would be tried of it here."""
    assert len({table for table, _, _ in CASES}) == 4


@pytest.mark.parametrize(("table", "column", "make"), CASES)
def test_a_row_without_a_cell_is_drawn(
    table: str, column: str, make: Callable[[Row], SiteRow]
) -> None:
    """Whichever cell is empty, the others are drawn as before, and nothing reads `None`."""
    declared = parsing.tables()[table]
    values: dict[str, Value] = {
        one.name: True if one.kind == "bool" else f"of {one.name}" for one in declared.columns
    }
    del values[column]
    made = make(Row(declared, values, Block([], 1, "site.tgz!member"), 1))
    assert "None" not in (made.name, made.other, made.channel, made.state, made.said, made.note)
    assert made.address == "site.tgz!member"
