"""The nodes that may hold subjects of a rule, and how sure it is that a node holds none."""

from __future__ import annotations

from analyzer.artefacts.tables import Table
from analyzer.facts import Facts, made
from analyzer.facts.site_names import rows
from analyzer.facts.site_signs import MEMBER, NSXT_MEMBER
from analyzer.judge.kinds import kinds_of
from analyzer.rules import Rule
from analyzer.rules.column_usage import needs_of

_MAY_LACK = {
    "nsx_edge": MEMBER,
    "nsxt_edge": NSXT_MEMBER,
}  # a site needs no edge: what shows the members it has


def of(table: Table, facts: Facts, product: str = "") -> list[str]:
    """Return the nodes that may hold rows of a table; a host without NSX is asked for nothing of NSX.

    product  what the rule speaks of, where it is not the product of the table
    """
    there = facts.nodes_with(table.name)
    if table.lists and not there and not_known_of(table, facts):
        return []
    kinds = kinds_of(table)
    if len(kinds) > 1 and there:  # one of several places that print the same thing is enough
        return there
    own = (node for node in facts.nodes.values() if node.kind in kinds)
    users = facts.users_of(product or table.product, own)
    return sorted({*there, *(node.key for node in users)})


def not_known_of(table: Table, facts: Facts) -> bool:
    """Tell whether a table is of a kind of node alone that a site may well have none of, and nothing names one."""
    kinds = (table.lists,) if table.lists else kinds_of(table)
    if table.product == "nsxt" and set(kinds) == {
        "esxi"
    }:  # hosts have bundles of their own, hundreds of them
        return not any(node.kind == "esxi" for node in facts.nodes.values())
    if not kinds or not set(kinds).issubset(_MAY_LACK):
        return False
    members = [_MAY_LACK[kind] for kind in kinds]
    made.put(facts, members)
    named = (row.values["member_kind"] for name in members for row in rows(facts, name))
    return not any(kind in ("edge", "transport node") for kind in named)


def of_unknown_kind(facts: Facts) -> list[str]:
    """Return what may be a node of any product: a cut archive of unknown kind, or a case without nodes."""
    nodes = facts.nodes.values()
    return (
        [""]
        if not nodes
        else [one.key for one in nodes if one.kind in ("", "loose") and not one.complete]
    )


def read_whole(key: str, table: Table, facts: Facts) -> bool:
    """Tell whether a node has a table whole."""
    return facts.coverage(key, table.name).state == "read" and not facts.lossy(key, table.name)


def may_hold_unseen(key: str, rule: Rule, facts: Facts) -> bool:
    """Tell whether a node may hold subjects of a rule that were not seen."""
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


def silent(rule: Rule, facts: Facts) -> int:
    """Return how many nodes there are when each has the log of `each` whole and no line of it, else 0.

    Then no row needs a look. It is asked before more of a rule is used than what is known of it at once.
    """
    table = rule.each.table
    if table.lines_of is None:
        return 0
    name, log = f"{rule.id}/{table.signature}", table.declared
    domain = of(log, facts, rule.product)
    whole = all(
        facts.coverage(key, log.name).state == "read" and facts.nodes[key].complete
        for key in domain
    )
    return len(domain) if whole and not facts.may_hold(name) else 0
