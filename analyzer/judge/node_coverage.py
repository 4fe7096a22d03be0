"""Which nodes may hold rows of a table, and how sure it is that a node holds no more than were seen."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Table
from analyzer.facts import Facts, made
from analyzer.facts.records import LOSSY, PRODUCT_KINDS
from analyzer.facts.site_members import list_rows
from analyzer.facts.site_signs import MEMBER, NSXT_MEMBER
from analyzer.rules import Rule
from analyzer.rules.column_usage import needs_of

# A site needs no edge: the tables that show which members it has.
_MAY_LACK = {"nsx_edge": MEMBER, "nsxt_edge": NSXT_MEMBER}


def kinds_of(table: Table) -> tuple[str, ...]:
    """Return the kinds of node that have a table: those of its parsers, else those of its product."""
    own = map_parser_kinds().get(table.declared_table.name)
    return own or PRODUCT_KINDS.get(table.product, (table.product,))


@cache
def map_parser_kinds() -> dict[str, tuple[str, ...]]:
    """Return the kinds of node that the parsers of each table speak of, by the table's name."""
    found: dict[str, set[str]] = {}
    for parser in parsing.registry().values():
        if parser.node:
            for table in parser.tables:
                found.setdefault(table.name, set()).add(parser.node)
    return {name: tuple(sorted(kinds)) for name, kinds in found.items()}


# -- nodes that may hold subjects of a rule


def find_holders(table: Table, facts: Facts, product: str = "") -> list[str]:
    """Return the nodes that may hold rows of a table; a host without NSX is asked for nothing of NSX.

    product  what the rule speaks of, where it is not the product of the table
    """
    there = facts.nodes_with(table.name)
    if table.lists and not there and is_unheard_of(table, facts):
        return []
    kinds = kinds_of(table)
    if len(kinds) > 1 and there:  # one of several places that print the same thing is enough
        return there
    own = (node for node in facts.nodes.values() if node.kind in kinds)
    users = facts.users_of(product or table.product, own)
    return sorted({*there, *(node.key for node in users)})


def is_unheard_of(table: Table, facts: Facts) -> bool:
    """Say whether a table is of a kind of node alone that a site may well have none of, and nothing names one."""
    kinds = {table.lists} if table.lists else set(kinds_of(table))
    if table.product == "nsxt" and kinds == {"esxi"}:
        # Hosts have bundles of their own, hundreds of them.
        return not any(node.kind == "esxi" for node in facts.nodes.values())
    if not kinds or not kinds.issubset(_MAY_LACK):
        return False
    members = [_MAY_LACK[kind] for kind in kinds]
    made.put_tables(facts, members)
    for name in members:
        for row in list_rows(facts, name):
            if row.values["member_kind"] in ("edge", "transport node"):
                return False
    return True


def find_unknown_nodes(facts: Facts) -> list[str]:
    """Return what may be a node of any product: a cut archive of unknown kind, or a case without nodes."""
    nodes = facts.nodes.values()
    if not nodes:
        return [""]
    return [node.key for node in nodes if node.kind in ("", "loose") and not node.complete]


def may_hold_unseen(key: str, rule: Rule, facts: Facts) -> bool:
    """Say whether a node may hold subjects of a rule that were not seen."""
    table = rule.each.table
    state = facts.coverage(key, table.name).state
    complete = facts.nodes[key].complete
    listed = needs_of(rule).listed
    if listed and facts.count(listed, key) and not facts.lossy(key, listed):
        return False  # every subject there should be is known by name
    if not facts.count(table.name, key):
        return state != "read" or not complete
    if state == "excerpt" and not table.log and table.lines_of is None:
        return True  # an output that somebody filtered: `esxcli … list | grep …`
    return state in ("cut", "unparsed") or (not complete and bool(table.key or table.lines_of))


def count_silent_nodes(rule: Rule, facts: Facts) -> int:
    """Return how many nodes there are when each has the log of `each` whole and no line of it, else 0.

    Then no row needs a look. It is asked before more of a rule is used than what is known of it at once.
    """
    table = rule.each.table
    if table.lines_of is None:
        return 0
    log = table.declared_table
    domain = find_holders(log, facts, rule.product)
    for key in domain:
        if facts.coverage(key, log.name).state != "read" or not facts.nodes[key].complete:
            return 0
    if facts.may_hold(f"{rule.id}/{table.signature}"):
        return 0
    return len(domain)


# -- rows that may be missing


def is_read_whole(key: str, table: Table, facts: Facts) -> bool:
    """Say whether a node has a table whole."""
    return facts.coverage(key, table.name).state == "read" and not facts.lossy(key, table.name)


def list_losing_nodes(facts: Facts, table: str, *, strict: bool) -> list[str]:
    """Return the nodes that may have lost rows of a table; a cut archive is minded when it is `strict`."""
    if not strict and facts.has_frames(table):
        return []
    found = []
    for key in sorted(facts.nodes):
        cut = strict and not facts.nodes[key].complete
        if cut or facts.coverage(key, table).state in LOSSY:
            found.append(key)
    return found


def list_whole_nodes(facts: Facts, table: Table) -> Iterator[str]:
    """Yield the nodes on which all rows are known that a subject may have."""
    lines = table.lines_of is not None
    for key in facts.nodes_with(table.name):
        if is_read_whole(key, table, facts) and (lines or not facts.count(table.name, key)):
            yield key


def is_empty_everywhere(facts: Facts, table: Table) -> bool:
    """Say whether a table was read, and is empty, on every node that would print it."""
    kinds = kinds_of(table)
    there = facts.nodes_with(table.name)
    if len(kinds) == 1:
        for node in facts.nodes.values():
            if node.kind in kinds and not facts.is_with(table.name, node.key):
                return False
    if any(facts.coverage(key, table.name).state != "read" for key in there):
        return False
    return not facts.count(table.name)


def may_lose_anywhere(facts: Facts, table: Table, *, strict: bool) -> bool:
    """Say whether a node of the table's product may have lost rows of it."""
    nodes = {*facts.nodes_of_product(table.product), *facts.nodes_with(table.name)}
    return not nodes.isdisjoint(list_losing_nodes(facts, table.name, strict=strict))


def is_whole_anywhere(facts: Facts, table: Table) -> bool:
    """Say whether all rows are known that there are of a table in the whole case."""
    if table.given is not None:
        return True
    if not facts.nodes_with(table.name):
        return False
    if table.lines_of is None and not is_empty_everywhere(facts, table):
        return False
    return not may_lose_anywhere(facts, table, strict=True)
