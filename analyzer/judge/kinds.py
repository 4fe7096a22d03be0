"""Which kinds of node a table speaks of."""

from __future__ import annotations

from functools import cache

from analyzer import parsing
from analyzer.facts.records import PRODUCT_KINDS
from analyzer.tables import Table


@cache
def kinds_of(table: Table) -> tuple[str, ...]:
    """Return the kinds of node a table speaks of: those of its parsers, else those of its product."""
    parsers = parsing.registry().values()
    name = table.declared.name
    kinds = {parser.node for parser in parsers if parser.node and any(one.name == name for one in parser.tables)}
    return tuple(sorted(kinds)) or PRODUCT_KINDS.get(table.product, (table.product,))
