"""A count since boot says little by itself: a rule that is more than information asks of how many it was."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer import rules
from analyzer.artefacts.tables import Table
from analyzer.rules import Rule
from analyzer.rules.language.expression import ExprNode

# Columns that say how much went through since the counters of their table began.
TRAFFIC = frozenset(
    {
        "rx_packets", "tx_packets", "rx_frames", "tx_frames", "pkts_rx_ok", "pkts_tx_ok", "command_pdus", "response_pdus",
        "read_ops", "write_ops", "cmds_ok",
    }
)  # fmt: skip


def list_conditions(rule: Rule) -> list[ExprNode]:
    """Return the conditions that decide whether a rule speaks, and how severe it is."""
    gates = [rule.only] if rule.only is not None else []
    return [
        *gates,
        rule.when,
        *(one.when for one in rule.outcomes),
        *(one.when for one in rule.grades),
    ]


def list_columns(rule: Rule, node: ExprNode) -> Iterator[tuple[Table, str]]:
    """Yield table and name of each column that a condition looks at."""
    for leaf in node.walk():
        if leaf.op == "column" and leaf.name in rule.aliases:
            yield rule.aliases[leaf.name].table, leaf.column


def find_bare_bars(rule: Rule) -> list[str]:
    """Return the comparisons of a rule that weigh a count since boot where its table says of how many, and no share is asked."""
    if all(one.severity in ("", "info") for one in (*rule.outcomes, *rule.grades)):
        return []
    nodes = [node for condition in list_conditions(rule) for node in condition.walk()]
    divided = {
        table.name for node in nodes if node.op == "/" for table, _ in list_columns(rule, node)
    }
    found = []
    for node in nodes:
        if node.op != "compare" or node.name not in (">", ">="):
            continue
        for table, column in list_columns(rule, node):
            has_traffic = any(one.name in TRAFFIC for one in table.columns)
            if (
                table.counts_since
                and has_traffic
                and table.name not in divided
                and column not in TRAFFIC
            ):
                found.append(node.text)
    return found


def test_no_shipped_rule_weighs_a_count_without_its_share() -> None:
    """3 missed of 701 billion frames are no warning, and one damaged frame changes no cable."""
    bare = {one.id: bars for one in rules.load().rules if (bars := find_bare_bars(one))}
    assert bare == {}


def test_a_count_alone_is_seen_and_a_share_is_not() -> None:
    """The sweep sees a bar on a count, through a name as well, and takes a share for what it is."""
    head = "each: n in esxi.pnic_stats\nsubject: '{n.pnic}'\n"
    alone = f"{head}let:\n  bad: n.rx_crc_errors + n.rx_missed_errors\nwhen: bad > 3\n"
    share = f"{head}let:\n  part: n.rx_crc_errors / n.rx_packets\nwhen: n.rx_crc_errors > 0 and part >= 0.001\n"
    tail = "severity: warning\nconfidence: likely\nsay: It was seen.\nfix: {host: look}\n"
    texts = [f"rule: made-up\ntitle: A made-up fault\n{text}{tail}" for text in (alone, share)]
    found = [find_bare_bars(rules.parse(text)) for text in texts]
    assert found[0] and not found[1]
