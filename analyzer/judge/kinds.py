"""Which kinds of node a table speaks of."""

from __future__ import annotations

from functools import cache

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Table
from analyzer.facts.records import PRODUCT_KINDS


def kinds_of(table: Table) -> tuple[str, ...]:
    """Return the kinds of node that have a table: those of its parsers, else those of its product."""
    return _of_parsers().get(table.declared.name) or PRODUCT_KINDS.get(
        table.product, (table.product,)
    )


@cache
def _of_parsers() -> dict[str, tuple[str, ...]]:
    """Return the kinds of node that the parsers of each table speak of, by the table's name."""
    found: dict[str, set[str]] = {}
    for parser in parsing.registry().values():
        for table in parser.tables if parser.node else ():
            found.setdefault(table.name, set()).add(parser.node)
    return {name: tuple(sorted(kinds)) for name, kinds in found.items()}
