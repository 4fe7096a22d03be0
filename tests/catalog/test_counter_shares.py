"""A counter since the boot makes nothing severe by itself: it takes a share, or a rate over the uptime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Block, Row
from analyzer.authoring.lint import run as lint
from analyzer.facts import Facts
from analyzer.judge import judge
from analyzer.rules import Catalog, Rule
from analyzer.rules.language.expression import ExprNode
from analyzer.rules.language.template import show_value
from analyzer.scan.signatures import Scanner
from tests.kit.lint_kit import laid

HUGE = 10**13
# Columns that count all of what others count the bad ones of: in a host that has been up for years they are huge.
WHOLES = (
    "rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "rx_frames", "tx_frames", "pkts_rx_ok", "cmds", "cmds_ok",
    "read_ops", "write_ops", "command_pdus", "response_pdus", "ucast_pkts_rx", "unicast_pkts_rx_ok",
    "ucast_pkts_tx", "segments_sent", "udp_received", "softnet_processed",
)  # fmt: skip
YEARS = 3 * 365 * 86400.0


def counting() -> list[Rule]:
    """Return the shipped rules that judge rows of counters by what they count."""
    return [
        one
        for one in rules.load().rules
        if {leaf.column for leaf in read_columns(one)} & set(counters_of(one))
    ]


def counters_of(rule: Rule) -> tuple[str, ...]:
    """Return the counters of the rows that a rule judges."""
    return rule.each.table.counters


def read_columns(rule: Rule) -> list[ExprNode]:
    """Return the columns of its subject that a rule's conditions read."""
    leaves = [leaf for top in rule.expressions() for leaf in top.walk()]
    return [leaf for leaf in leaves if leaf.op == "column" and leaf.name == rule.each.name]


def rows_of(rule: Rule) -> list[dict[str, Any]]:
    """Return the rows that the rule's own examples of a match give its subject by hand."""
    found: list[dict[str, Any]] = []
    for example in rule.examples:
        if example.expect.get("result") == "match":
            found += example.tables.get(rule.each.table.name) or []
    return found


def severities(rule: Rule, row: Mapping[str, Any], log: str, table: str) -> set[str]:
    """Return how severe a rule takes one row of counters on a host that has been up for three years."""
    tables = parsing.tables()
    facts = Facts(tables)
    facts.node("esx1", "esx1", "esxi", captured="2024-01-05T12:00:00Z")
    block = Block(["made up"], 1, "dump.txt").assign_node("esx1")
    values = {column.name: row.get(column.name) for column in rule.each.table.columns}
    facts.add(Row(rule.each.table, values, block, 1))
    uptime = tables["esxi.uptime"]
    facts.add(Row(uptime, {"uptime_s": YEARS}, block, 1))
    if log:
        scan = Scanner(Catalog([rule]).signatures(), engine="pure").scan_lines(
            log.splitlines(), table, "made_up.log"
        )
        facts.add_hits(scan.assign_node("esx1"))
    return {one.severity for one in judge(Catalog([rule]), facts).findings}


@pytest.mark.parametrize("rule", counting(), ids=lambda rule: rule.id)
def test_a_few_of_a_huge_number_are_information_at_most(rule: Rule) -> None:
    """Each example of a match with the wholes made huge: what was a share of a thousand is none of ten trillion."""
    counters = counters_of(rule)
    lines = [
        (text, table)
        for example in rule.examples
        for table, text in example.logs.items()
        if text and example.expect.get("result") == "match"
    ]
    text, table = lines[0] if lines else ("", "")
    for row in rows_of(rule):
        few = dict(row)
        for name in counters:
            if name in WHOLES:
                few[name] = HUGE
            elif isinstance(row.get(name), int):
                few[name] = min(row[name], 100)
        if "heap_free_pct" in few:  # a counter beside what the machine says of now
            few["heap_free_pct"] = 70
        assert severities(rule, few, text, table) <= {"info"}, few


ANSWERS = """\
when: n.rx_crc_errors > 0
outcomes:
  - when: %s
    severity: %s
    confidence: likely
    say: Frames were damaged.
  - when: true
    severity: info
    confidence: likely
    say: Some were.
"""


def told(condition: str, severity: str = "major") -> bool:
    """Tell whether lint asks for a share of an answer with this condition."""
    found = lint.check_text(laid(ANSWERS % (condition, severity)), "damaged-frames.yaml")
    return "R089" in [one.code for one in found]


@pytest.mark.parametrize(
    "condition", ["n.rx_crc_errors > 1000", "n.rx_missed_errors + n.rx_fifo_errors >= 5", "true"]
)
def test_a_bar_on_a_counter_alone_is_refused(condition: str) -> None:
    """A great number, a sum, and a gate without any further condition."""
    assert told(condition)
    assert not told(condition, "info")


@pytest.mark.parametrize(
    "condition",
    [
        "n.rx_crc_errors / n.rx_packets > 0.01",
        "0.01 <= n.rx_crc_errors / (n.rx_packets + 1) and n.rx_crc_errors > 9",
    ],
)
def test_a_share_is_accepted(condition: str) -> None:
    """Alone, or with a least number beside it."""
    assert not told(condition)


@pytest.mark.size
def test_no_shipped_rule_takes_a_bare_counter_for_severe() -> None:
    """The rules of the catalog."""
    assert [str(one) for one in lint.check_files() if one.code == "R089"] == []


@pytest.mark.parametrize(
    ("share", "spec", "words"),
    [
        (3 / 701_280_499_176, ".4%", "less than 0.0001%"),
        (0.00001, ".2%", "less than 0.01%"),
        (0.004, ".0%", "less than 1%"),
        (0.0, ".4%", "0.0000%"),
        (0.000001, ".4%", "0.0001%"),
    ],
)
def test_a_share_that_is_not_zero_is_never_printed_as_zero(
    share: float, spec: str, words: str
) -> None:
    """Three of 701 billion are no 0.0000%; nothing of something is."""
    assert show_value(share, spec) == words
