"""What modules are (kb.log_module): the rows, how a name finds its row, and how many names of the catalog have one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from analyzer import rules
from analyzer.rules import fact_tables
from analyzer.rules.model import Example
from analyzer.signals.heads import cut_module, read_head
from analyzer.signals.modules import (
    ModuleNote,
    ModuleRow,
    find_module_note,
    read_module_rows,
)

ROWS = read_module_rows(fact_tables.read_shipped())
PRODUCTS = {"esxi": "esxi", "nsx": "nsxv", "nsxt": "nsx"}  # first part of a table: its product
LEAST_SHARE = 0.98  # measured: 126 of 127; the last one is a name that an example made up
SENTENCE = re.compile(
    r"[A-Za-z](?:[^.!?]|\.(?=\S))*\.\Z"
)  # a dot within is that of a file or a version
PLACEHOLDER = re.compile(r"<[a-z_]+>")


def make_row(module: str, product: str = "esxi", **cells: str) -> ModuleRow:
    """Return a row of a module that nobody knows."""
    given = {"what": "A synthetic thing.", "source": "made up", "mark": "memory"}
    return {"module": module, "product": product, **given, **cells}


MADE = [
    make_row("Synthsvc"),
    make_row("Synthsvc.part", ask="esxcli synthetic get", log="/var/log/synthetic.log"),
    make_row("synth9en"),
    make_row("twin4_core"),
    make_row("twin5_core"),
    make_row("share", "nsx", what="Of NSX."),
    make_row("share", "esxi", what="Of the host."),
    make_row("everywhere", "any"),
]


def name_found(module: str, product: str = "") -> str:
    """Return the name of the row that a module finds, "" for none."""
    note = find_module_note(MADE, module, product)
    return note.module if note else ""


@pytest.mark.parametrize(
    ("module", "row"),
    [
        ("synthsvc", "Synthsvc"),
        ("SYNTHSVC.PART", "Synthsvc.part"),
        ("Synthsvc.other", "Synthsvc"),
        ("Synthsvc.part.deeper", "Synthsvc.part"),
        ("synth9en", "synth9en"),
        ("synth", "synth9en"),
        ("synth9en0", "synth9en"),
        ("everywhere3", "everywhere"),
        ("everywhere: something", "everywhere"),
        ("everywhere-probe", "everywhere"),
        ("twin4_core", "twin4_core"),
        ("twin", ""),
        ("unknown", ""),
        ("", ""),
        ("...", ""),
    ],
)
def test_a_name_finds_its_row(module: str, row: str) -> None:
    """Without regard to case, then without a number, then without its last part; never one of two."""
    assert name_found(module) == row


def test_the_product_says_which_of_two_rows_is_meant() -> None:
    """A name that two products use has a row for each; without a product neither is told."""
    texts = [find_module_note(MADE, "share", product) for product in ("nsx", "esxi")]
    assert [one.what for one in texts if one] == ["Of NSX.", "Of the host."]
    assert name_found("share") == name_found("share", "nsxv") == ""
    assert name_found("everywhere", "nsxv") == "everywhere" and not name_found("twin4_core", "nsx")


def test_a_note_says_where_it_comes_from() -> None:
    """It holds the cells of its row, "" where there are none, and the source with its mark."""
    source = "kb.log_module, Synthsvc.part: made up (memory)"
    assert find_module_note(MADE, "Synthsvc.part") == ModuleNote(
        "Synthsvc.part",
        "A synthetic thing.",
        "/var/log/synthetic.log",
        "esxcli synthetic get",
        source,
    )
    bare = find_module_note(MADE, "Synthsvc")
    assert bare is not None and (bare.log, bare.ask) == ("", "")


def test_a_catalog_without_the_table_has_no_notes() -> None:
    """A place that brings no such table explains nothing."""
    assert read_module_rows({}) == [] and find_module_note([], "NMP") is None


def test_rows_are_sentences() -> None:
    """One plain sentence each, that ends with a full stop and is no copy of the name."""
    for row in ROWS:
        what = str(row["what"])
        assert SENTENCE.match(what), what
        assert 15 < len(what) < 140, what


def test_no_module_has_two_rows() -> None:
    """Once for a product, whatever the case; a row for any product is the only one of its name."""
    places = Counter((str(row["module"]).lower(), row["product"]) for row in ROWS)
    assert [one for one, times in places.items() if times > 1] == []
    names = Counter(name for name, _ in places)
    assert [name for name, product in places if product == "any" and names[name] > 1] == []


def test_commands_have_no_other_gaps_than_named_ones() -> None:
    """What a customer has to fill in is <a_name>; braces, capitals and dots are not left in a command."""
    for row in ROWS:
        rest = PLACEHOLDER.sub("", f"{row.get('ask', '')} {row.get('log', '')}")
        assert not re.search(r"[<>{}\[\]…]|\.\.\.|\b[A-Z]{4,}\b", rest), rest


def test_what_was_not_read_names_no_source() -> None:
    """A row from memory says so, and every other one names what was read."""
    for row in ROWS:
        assert (row["mark"] == "memory") == (row["source"] == "none at hand"), row["module"]


def test_every_row_can_be_found() -> None:
    """By its name, and by what the head of a line leaves of it."""
    for row in ROWS:
        product = "" if row["product"] == "any" else str(row["product"])
        module = str(row["module"])
        for name in (module, cut_module(module), f"{module}: text"):
            assert find_module_note(ROWS, name, product), name


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("2023-03-01T10:00:00.000Z cpu3:2098123)i40en: i40en_Synthetic:1: a line", "i40en"),
        ("2023-03-01T10:00:00.000Z cpu3:2098123)WARNING: Fil3: 1: a synthetic line", "Fil3"),
        ("2023-03-01T10:00:00.000Z cpu3:2098123)nmlx5_core: vmnic1: a line", "nmlx"),
        (
            "2023-03-01T10:00:00.000Z warning hostd[2099] [Originator@6876 sub=Hostsvc.Made] a line",
            "Hostsvc",
        ),
    ],
)
def test_heads_of_lines_find_their_rows(line: str, row: str) -> None:
    """What `read_head` leaves of a driver or of a subsystem is enough."""
    note = find_module_note(ROWS, read_head(line).module, "esxi")
    assert note is not None and note.module == row


def list_lines(example: Example) -> Iterator[tuple[str, str]]:
    """Yield product and text of each line of an example."""
    for table, text in example.logs.items():
        for line in (text or "").splitlines():
            yield PRODUCTS.get(table.partition(".")[0], ""), line


def test_modules_of_the_catalog_have_rows() -> None:
    """Of the modules in the lines that rules must find, nearly all are explained."""
    names = {
        (read_head(line).module, product)
        for rule in rules.load().rules
        for example in rule.examples
        if example.expect.get("result") == "match"
        for product, line in list_lines(example)
    }
    names = {one for one in names if one[0]}
    lacking = sorted(one for one in names if not find_module_note(ROWS, *one))
    assert len(names) > 100 and len(lacking) <= (1 - LEAST_SHARE) * len(names), (
        len(names),
        lacking,
    )
