"""Every text column of every table is classified: a new one cannot leave with a name in it unseen."""

from __future__ import annotations

from analyzer.artefacts import parsing
from analyzer.redact.columns import KINDS, LABELLED, OF_TABLE, kind_of


def test_every_text_column_says_what_it_holds() -> None:
    """Each text column of all declared tables is a kind of name, free text or plain words, and just one of them."""
    unknown = []
    for table in parsing.tables().values():
        for column in table.columns:
            if column.kind == "str":
                try:
                    kind_of(table.name, column.name)
                except KeyError:
                    unknown.append(f"{table.name}.{column.name}")
    assert unknown == [], "say in analyzer/redact/columns.py what these columns hold"
    names = [name for columns in KINDS.values() for name in columns]
    assert len(names) == len(set(names))


def test_no_entry_speaks_of_a_column_that_is_not_there() -> None:
    """What is entered is a column of some table."""
    columns = {
        (table.name, column.name) for table in parsing.tables().values() for column in table.columns
    }
    every = {name for _, name in columns}
    assert {name for names in KINDS.values() for name in names} - every == set()
    assert {*LABELLED, *LABELLED.values()} - every == set()
    assert set(OF_TABLE) - columns == set()
