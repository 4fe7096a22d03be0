"""A counter that moved between two outputs of one object weighs more than one that counted some time since a boot."""

from __future__ import annotations

from typing import Any

from analyzer.artefacts.tables import Block, Row
from analyzer.facts import Facts
from analyzer.judge import judge
from analyzer.rules import Catalog
from analyzer.signals.cells import find_cell_signals
from analyzer.signals.growth import write_span
from tests.kit.together import together
from tests.signals.test_cells import Cells

NODE = "esx1"
TEXT = "notes.txt"
NIC: Cells = {"pnic": "vmnic2", "rx_packets": 1_000_000, "rx_errors": 20}
LATER: Cells = {"pnic": "vmnic2", "rx_packets": 1_100_000, "rx_errors": 1_224}
STATS = "esxi.pnic_stats"


def tell_signals(*outputs: tuple[str, str, int, Cells]) -> list[dict[str, Any]]:
    """Return the signals of outputs of a row each: address, table, line and cells."""
    facts = Facts()
    facts.node(NODE, "esx1.lab.example", "esxi")
    for order, (address, table, line, cells) in enumerate(outputs):
        block = Block([f"line {line}"], line, address, order=order).assign_node(NODE)
        facts.add(Row(facts.tables[table], dict(cells), block, line))
    return find_cell_signals(facts, judge(Catalog([]), facts))


def test_a_counter_that_moved_weighs_more_and_says_how_much_when() -> None:
    """The clock above each output tells in which time; without one the text tells which came first."""
    (alone,) = tell_signals((TEXT, STATS, 5, LATER))
    (dated,) = tell_signals(
        (TEXT, "esxi.clock", 1, {"host_time": "2024-03-05 10:00:00"}),
        (TEXT, STATS, 5, NIC),
        (TEXT, "esxi.clock", 31, {"host_time": "2024-03-05 10:05:00"}),
        (TEXT, STATS, 35, LATER),
    )
    (undated,) = tell_signals((TEXT, STATS, 5, NIC), (TEXT, STATS, 35, LATER))

    lifetime = "rx_errors is 1,224, 0.11 % of rx_packets"
    assert alone["what"] == lifetime
    assert dated["what"] == f"{lifetime}, grew by 1,204 within 5 min"
    assert undated["what"] == f"{lifetime}, grew by 1,204 between two outputs"
    assert dated["weight"] == undated["weight"] > alone["weight"]
    assert "it is growing" in dated["why"]
    assert dated["line"] == 35


def test_two_bundles_are_put_in_order_by_their_captures() -> None:
    """Whichever is read first, and what each of them prints twice."""
    outputs: list[tuple[str, str, int, Cells]] = []
    for root, captured, cells in (
        ("new.tgz!esx/", "2024-03-06 10:00:00", LATER),
        ("old.tgz!esx/", "2024-03-05 10:00:00", NIC),
    ):
        bundle = {"bundle_name": root, "captured": captured}
        outputs.append((f"{root}README", "esxi.bundle", 1, bundle))
        outputs.append((f"{root}commands/nic.txt", STATS, 5, cells))
        outputs.append((f"{root}json/nic.json", STATS, 5, cells))
    (found,) = tell_signals(*outputs)
    assert found["what"].endswith("grew by 1,204 within 24 h")
    assert found["address"].startswith("new.tgz")


@together(
    "first, second",
    (
        ((TEXT, STATS, 5, NIC), (TEXT, STATS, 35, NIC)),  # it did not move
        ((TEXT, STATS, 5, LATER), (TEXT, STATS, 35, NIC)),  # counting began again
        ((TEXT, STATS, 5, NIC), (TEXT, STATS, 35, {**LATER, "rx_packets": 9})),  # another machine
        ((TEXT, STATS, 5, NIC), (TEXT, STATS, 35, {**LATER, "pnic": "vmnic3"})),  # another object
        ((TEXT, STATS, 5, NIC), ("other.txt", STATS, 5, LATER)),  # nothing says which is older
    ),
)
def test_what_did_not_grow_is_not_said_to_grow(
    first: tuple[str, str, int, Cells], second: tuple[str, str, int, Cells]
) -> None:
    """Of two outputs of the same moment, of two machines or of two objects."""
    for one in tell_signals(first, second):
        assert "grew" not in one["what"]


def test_a_counter_of_a_list_grows_by_its_name() -> None:
    """Where each row has one counter, those of one name are compared."""

    def make_rows(line: int, **values: int) -> list[tuple[str, str, int, Cells]]:
        return [
            (TEXT, "esxi.pnic_private_stats", line, {"pnic": "vmnic0", "key": key, "value": value})
            for key, value in values.items()
        ]

    before = make_rows(5, rx_packets=1_000_000, rx_dropped=3, rx_crc_errors=7)
    after = make_rows(50, rx_packets=1_100_000, rx_dropped=5_003, rx_crc_errors=7)
    (found,) = tell_signals(*before, *after)
    assert "rx_dropped is 5,003, 0.45 % of rx_packets, grew by 5,000" in found["what"]
    assert found["what"].count("grew") == 1


@together(
    "seconds, words",
    ((40, "40 s"), (300, "5 min"), (7_200, "2 h"), (86_400, "24 h"), (345_600, "4 days")),
)
def test_lengths_of_time_are_rounded(seconds: float, words: str) -> None:
    """To a unit in which they stay small numbers."""
    assert write_span(seconds) == words
