"""Tables that are made of other facts, not read: the release of a host, chains through its tables, an NSX site.

`esxi.release` and the site are made with every case; a chain when a rule, the report or an engineer asks for it.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Table
from analyzer.facts import releases, site_signs
from analyzer.facts.store import Facts


def put_tables(facts: Facts, names: Collection[str] | None = None) -> set[str]:
    """Make those of the named tables that are made of others (None: all of these).

    Returns the names of the tables whose rows are not those they had before.
    """
    wanted = list_made_tables()
    if names is not None:
        wanted = wanted.intersection(names)
    changed: set[str] = set()
    for name in sorted(wanted):
        if name == releases.MADE:
            changed |= releases.put_releases(facts)
        elif name not in site_signs.ALL_TABLES:
            changed |= put_chain(facts, parsing.tables()[name])
    if not wanted.isdisjoint(site_signs.TABLES) and site_signs.is_site(facts):
        from analyzer.facts import nsxv_site  # noqa: PLC0415 - few cases need it

        changed |= nsxv_site.put_site(facts)
    if not wanted.isdisjoint(site_signs.NSXT_TABLES) and site_signs.is_nsxt_site(facts):
        from analyzer.facts import nsxt_site  # noqa: PLC0415 - few cases need it

        changed |= nsxt_site.put_site(facts)
    return changed


def is_archived(table: Table) -> bool:
    """Say whether the archive keeps the rows of a table: a chain is made again of what it is made of."""
    if not table.made_of:
        return True
    if table.name == releases.MADE:
        return True
    return table.name in site_signs.ALL_TABLES


@cache
def list_made_tables() -> frozenset[str]:
    """Return the names of all tables that are made of others."""
    return frozenset(name for name, table in parsing.tables().items() if table.made_of)


def put_chain(facts: Facts, table: Table) -> set[str]:
    """Make a chain; rows that were given by hand, without any of what it begins with, stay."""
    start = table.made_of[0]
    nodes = facts.nodes_with(start)
    if not nodes and table.name not in facts.chains:
        return set()  # a case without it pays for nothing
    if not facts.count(start):
        covers = {node: facts.coverage(node, start) for node in nodes}
        return {table.name} if facts.derive(table, [], covers) else set()
    from analyzer.facts import chains  # noqa: PLC0415 - few cases need it

    return chains.put_chain(facts, table, nodes)
