"""Small tables, facts and rules for the tests of the judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analyzer import rules
from analyzer.artefacts.tables import Block, Column, Frame, Row, Table
from analyzer.case.verdicts import Judgement
from analyzer.facts import Facts
from analyzer.judge import judge
from analyzer.rules import Catalog, Rule
from analyzer.scan.hits import LogScan
from analyzer.scan.signatures import Scanner

BASE = Table(
    "esxi.base",
    "things to judge",
    "a made-up command",
    "base-command",
    columns=(
        Column("key", "int", "number of the thing"),
        Column("a", "int", ""),
        Column("b", "int", ""),
        Column("f", "float", ""),
        Column("s", "str", ""),
        Column("t", "bool", ""),
        Column("v", "version", ""),
        Column("at", "time", ""),
    ),
    key=("key",),
)
PART = Table(
    "esxi.part",
    "parts of a thing",
    "a made-up command",
    "part-command",
    columns=(
        Column("key", "int", "number of the thing"),
        Column("part", "int", "number of the part"),
        Column("x", "int", ""),
        Column("y", "float", ""),
        Column("ok", "bool", ""),
        Column("name", "str", ""),
        Column("time", "time", ""),
    ),
    key=("key", "part"),
)
GUEST = Table(
    "guest.thing",
    "seen in a guest",
    "guest-command",
    "guest-command",
    (Column("n", "int", ""),),
    key=("n",),
)
MANAGER = Table(
    "nsx.boss",
    "a manager",
    "show",
    "manager bundle",
    (Column("version", "version", ""), Column("host", "str", "")),
)
LOG = Table(
    "esxi.made_up_log",
    "a log",
    "made_up.log",
    "made_up.log of the day",
    columns=(Column("time", "time", ""), Column("level", "str", ""), Column("message", "str", "")),
    log=True,
)
TABLES = {table.name: table for table in (BASE, PART, GUEST, MANAGER, LOG)}

RULE = """\
rule: made-up
title: A made-up fault
each: one in esxi.base
join:
  part: {table: esxi.part, by: [key], rows: many}
  first: {table: esxi.part, by: [key]}
subject: "thing {one.key}"
%s
outcomes:
  - when: true
    severity: major
    confidence: confirmed
    say: found
"""


def rule(condition: str, **more: str) -> Rule:
    """Return the made-up rule with `when` and any further keys (given as YAML text)."""
    body = "\n".join([f"when: {condition}", *(f"{key}: {text}" for key, text in more.items())])
    return rules.parse(RULE % body, TABLES)


def full(text: str) -> Rule:
    """Return the rule of a whole YAML text over the made-up tables."""
    return rules.parse(text, TABLES)


class Kit:
    """Facts that are filled in a line: rows on nodes, coverage, log text."""

    def __init__(self, *nodes: str, kind: str = "esxi") -> None:
        self.facts = Facts(TABLES)
        self.blocks: dict[tuple[str, str, int], Block] = {}
        for name in nodes or ("esx1",):
            self.facts.node(name, name, kind, captured="2017-10-31T00:00:00Z")

    def add(
        self,
        table: Table,
        rows: Sequence[Mapping[str, Any]],
        node: str = "esx1",
        source: str = "dump.txt",
        order: int = 0,
        line: int = 0,
        taken: str = "",
    ) -> Kit:
        """Add rows as lines of one block."""
        block = self.blocks.setdefault(
            (node, source, order), Block([], 1, source, order=order, taken=taken).assign_node(node)
        )
        while len(block.lines) < line - 1:
            block.lines.append("")
        for row in rows:
            block.lines.append(" ".join(f"{key}={value}" for key, value in row.items()))
            values = {column.name: row.get(column.name) for column in table.columns}
            self.facts.add(Row(table, values, block, len(block.lines)))
        return self

    def log(
        self, one: Rule, text: str, node: str = "esx1", source: str = "made_up.log", cut: str = ""
    ) -> Kit:
        """Search log text for the signatures of a rule."""
        scan: LogScan = (
            Scanner(Catalog([one]).signatures(), engine="pure")
            .scan_lines(text.splitlines(), LOG.name, source)
            .assign_node(node)
        )
        scan.cut = cut
        self.facts.add_hits(scan)
        return self

    def judge(self, *some: Rule, explain: str | None = None) -> Judgement:
        """Judge rules over these facts."""
        return judge(Catalog(list(some)), self.facts, explain=explain)

    def counts(self, one: Rule) -> dict[str, int]:
        """Return how often a rule gave each verdict, without the zeros."""
        return {verdict: n for verdict, n in self.judge(one).counts[one.id].items() if n}


def frame(values: list[float], node: str = "esx1") -> Frame:
    """Return samples of one thing as a frame."""
    import numpy as np

    count = len(values)
    stamps = np.array("2017-10-09T14:00:00", dtype="datetime64[s]") + np.arange(count) * 5
    columns = {
        "key": np.ones(count, dtype="int64"),
        "part": np.arange(count),
        "y": np.array(values),
        "time": stamps,
    }
    block = Block([], 1, "esxtop.csv", order=3).assign_node(node)
    return Frame(
        PART, columns, np.arange(2, count + 2), block, {"y": r"\\esx1\Group Cpu(1:vm)\% Ready"}
    )


COUNTERS = rule("one.a > 0", only="one.s != 'other'")
SAMPLED = rule(
    "share(part.y >= 5) >= 0.25",
    chart="[part.y]",
    evidence="[part.y, worst]",
    let="{worst: max(part.y)}",
)
