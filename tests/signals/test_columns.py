"""What columns mean for signals: each that could be a counter of loss says so or says that it is none."""

from __future__ import annotations

import re
from collections import Counter

from analyzer.artefacts import parsing
from analyzer.artefacts.signs import (
    NOTHING,
    CellSign,
    counts_loss,
    dates_before,
    lies_above,
    named_by,
    says_bad,
)
from analyzer.artefacts.tables import Column, KeyColumn, Table
from analyzer.signals.columns import find_meaning, list_meanings
from tests.kit.together import together

TABLES = [one for one in parsing.tables().values() if not one.log and one.given is None]
SUSPICIOUS = re.compile(r"error|drop|fail|full|miss|timeout|reset")


def list_signs(sign: CellSign) -> list[CellSign]:
    """Return a sign and those of the names it knows."""
    return [sign, *(own for _, own in sign.names)]


def test_a_number_that_sounds_like_loss_has_a_meaning() -> None:
    """A new counter of errors, drops or resets is a signal, or its parser says that it is none."""
    lacking = []
    for table in TABLES:
        for column in table.columns:
            suspicious = column.kind in ("int", "float") and SUSPICIOUS.search(column.name)
            if suspicious and find_meaning(table, column) is None and not table.made_of:
                lacking.append(f"{table.name}.{column.name}")
    assert not lacking, "declare sign=counts_loss() or sign=NOTHING for these"


def test_meanings_speak_of_columns_that_there_are() -> None:
    """A sign names other columns of its own table, and fits the type of its column."""
    for table in TABLES:
        for name, meaning in list_meanings(table).items():
            column = table.column(name)
            assert column is not None
            for sign in list_signs(meaning.sign):
                missing = [one for one in sign.columns if table.column(one) is None]
                assert not missing, f"{table.name}.{name} speaks of {missing}"
            numbers = meaning.sign.how in ("loss", "above", "below")
            if numbers:
                assert column.kind in ("int", "float"), f"{table.name}.{name} is no number"
            if meaning.sign.how == "older":
                assert column.kind == "time", f"{table.name}.{name} is no date"


def test_how_many_columns_say_trouble() -> None:
    """Most meanings come of name and type; a parser declares the rest, and no fewer than it does today."""
    sources: Counter[str] = Counter()
    for table in TABLES:
        sources.update(meaning.source for meaning in list_meanings(table).values())
    print(f"{sources['name']} columns by name, {sources['declared']} declared")
    assert sources["declared"] >= 170
    assert sources["name"] >= 450


@together(
    "name, kind, expected",
    (
        ("rx_dropped", "int", counts_loss("rx_packets")),
        ("tx_errors", "int", counts_loss("tx_packets")),
        ("timeout_s", "int", None),
        ("drop_mark_pct", "int", None),
        ("reset_sample", "int", None),
        ("fs_used_pct", "int", lies_above(85, weight=3.5)),
        ("used_bytes", "int", lies_above(0.9, of="size_bytes", weight=3.5)),
        ("is_offline", "bool", says_bad("true")),
        ("link_up", "bool", says_bad("false", weight=3.5)),
        ("start_connected", "bool", None),
        ("valid_until", "time", dates_before(-60, weight=4.5)),
        ("path_state", "str", CellSign("state", weight=4.0)),
        ("vm_name", "str", None),
        ("speed_text", "str", None),
    ),
)
def test_the_name_tells(name: str, kind: str, expected: CellSign | None) -> None:
    """Counters of loss, shares, states, flags and dates are known by name and type."""
    column = Column(name, kind, "made up")  # type: ignore[arg-type]
    others = [Column(one, "int", "made up") for one in ("rx_packets", "tx_packets", "size_bytes")]
    table = Table.of("esxi.made_up", "made up", "made up", column, *others)

    meaning = find_meaning(table, column)

    assert (meaning.sign if meaning is not None else None) == expected


def test_a_declaration_beats_the_name() -> None:
    """What a parser declares counts, also that a name means nothing; the sign of a key is kept."""
    quiet = Column("tx_errors", "int", "made up", sign=NOTHING)
    key = KeyColumn("state", "str", "made up", sign=says_bad("gone"))
    table = Table.of("esxi.made_up", "made up", "made up", key, quiet)

    meanings = list_meanings(table)

    assert meanings["tx_errors"].sign is NOTHING
    assert meanings["state"].sign == says_bad("gone")
    assert {one.source for one in meanings.values()} == {"declared"}


def test_a_made_table_means_what_is_declared_alone() -> None:
    """A table that is made of others repeats their cells: its names say nothing."""
    table = Table.of(
        "esxi.made_up",
        "made up",
        "made up",
        Column("tx_errors", "int", "repeated"),
        Column("up", "bool", "of its own", sign=says_bad("false")),
        made_of=("esxi.pnic",),
    )
    assert list(list_meanings(table)) == ["up"]


def test_a_sign_of_names_keeps_them_in_order() -> None:
    """The names of a table of values are part of its sign, which can be a key of a cache."""
    sign = named_by("key", stratum=lies_above(15))
    assert sign.names == (("stratum", lies_above(15)),)
    assert hash(sign) == hash(named_by("key", stratum=lies_above(15)))
