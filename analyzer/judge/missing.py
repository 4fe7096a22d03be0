"""What may be missing from a table on each node: rows lost with a cut source, and tables known to be empty."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.artefacts.tables import Table
from analyzer.facts import Facts
from analyzer.facts.records import LOSSY
from analyzer.judge.kinds import kinds_of


def losing(facts: Facts, table: str, *, strict: bool) -> list[str]:
    """Return the nodes that may have lost rows of a table; a cut archive is minded when it is `strict`."""
    if not strict and facts.has_frames(table):
        return []
    return [
        key
        for key in sorted(facts.nodes)
        if facts.coverage(key, table).state in LOSSY or (strict and not facts.nodes[key].complete)
    ]


def whole_nodes(facts: Facts, table: Table) -> Iterator[str]:
    """Yield the nodes on which all rows are known that a subject may have."""
    lines = table.lines_of is not None
    for key in facts.nodes_with(table.name):
        read = facts.coverage(key, table.name).state == "read" and not facts.lossy(key, table.name)
        if read and (lines or not facts.count(table.name, key)):
            yield key


def empty_everywhere(facts: Facts, table: Table) -> bool:
    """Tell whether a table was read, and is empty, on every node that would print it."""
    kinds = kinds_of(table)
    there = set(facts.nodes_with(table.name))
    wanted = (
        {node.key for node in facts.nodes.values() if node.kind in kinds}
        if len(kinds) == 1
        else set()
    )
    read = all(facts.coverage(key, table.name).state == "read" for key in there)
    return read and wanted <= there and not facts.count(table.name)


def losing_anywhere(facts: Facts, table: Table, *, strict: bool) -> bool:
    """Tell whether a node of the table's product may have lost rows of it."""
    nodes = {*facts.nodes_of_product(table.product), *facts.nodes_with(table.name)}
    return not nodes.isdisjoint(losing(facts, table.name, strict=strict))


def whole_anywhere(facts: Facts, table: Table) -> bool:
    """Tell whether all rows are known that there are of a table in the whole case."""
    if table.given is not None:
        return True
    there = bool(facts.nodes_with(table.name)) and (
        table.lines_of is not None or empty_everywhere(facts, table)
    )
    return there and not losing_anywhere(facts, table, strict=True)
