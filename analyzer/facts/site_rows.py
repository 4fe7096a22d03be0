"""Rows of the picture of a site, NSX for vSphere and NSX-T alike: members, what is said of channels, last states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from analyzer.artefacts import logtime, parsing
from analyzer.artefacts.tables import Block, Row, Value
from analyzer.facts.records import Coverage
from analyzer.facts.site_names import SiteMember, rows
from analyzer.facts.store import Facts
from analyzer.scan.hits import Hit, Signature

_Ends = tuple[str, str]


def put(
    facts: Facts, tables: tuple[str, ...], make: Callable[[Facts], tuple[Iterable[Row], ...]]
) -> set[str]:
    """Make the tables of a site from what the facts state; return the names of those that have rows.

    Rows that were given by hand, or that a stored case brought, stay.
    """
    if any(name in facts.tables and facts.count(name) for name in tables):
        return set()
    made = {name: list(found) for name, found in zip(tables, make(facts), strict=True)}
    for name, found in made.items():
        there = {row.block.node for row in found}
        facts.derive(parsing.tables()[name], found, {key: Coverage("read") for key in there})
    return {name for name, found in made.items() if found}


def said(
    facts: Facts,
    origin: Row,
    ends: _Ends,
    what: _Ends,
    words: str,
    up: bool | None,
    by: str,
    *,
    table: str,
) -> Row:
    """Return what a member says of a channel; `what`: name of the channel, column of the origin that says it."""
    at = origin.block.taken or facts.nodes[origin.block.node].captured
    told = logtime.read_time(at, any_zone=True) if at else None
    values: dict[str, Value] = {
        "from_member": ends[0],
        "to_member": ends[1],
        "channel": what[0],
        "up": up,
    }
    values |= {"said": words, "said_by": by, "told_at": told}
    return Row(parsing.tables()[table], values, origin.block, origin.line_of(what[1]))


def member_rows(
    known: list[SiteMember],
    origin: Callable[[SiteMember], Row | None],
    collected: Callable[[SiteMember], tuple[str, bool | None]],
    rests: dict[str, str],
    table: str,
) -> Iterator[Row]:
    """Yield a row for each member, by kind and name, at the line `origin` gives; else at the first that names any."""
    fallback = next((row for member in known if (row := member.row) is not None), None)
    for member in sorted(known, key=lambda one: (one.kind, one.name)):
        if (row := origin(member) or fallback) is None:
            continue
        values: dict[str, Value] = {
            "member": member.name,
            "member_kind": member.kind,
            "ip": member.ip or None,
        }
        values |= zip(("collected", "complete"), collected(member), strict=True)
        values |= {"object_id": member.object_id or None, "rests_on_it": rests.get(member.kind)}
        yield Row(parsing.tables()[table], values, row.block, row.line)


def own_row(facts: Facts, member: SiteMember, tables: tuple[str, ...]) -> Row | None:
    """Return a row of a member's own files, for the evidence of its row."""
    found = (row for table in tables for row in rows(facts, table) if row.block.node == member.node)
    return next(found, None) if member.node else None


def hits(facts: Facts, sign: Signature) -> Iterator[tuple[str, Hit]]:
    """Yield the lines that a signature found, each with the node whose log has it."""
    for scan in facts.scans:
        for hit in scan.hits if scan.table == sign.table else ():
            if hit.signature == sign.id:
                yield scan.node, hit


def last_hits(
    facts: Facts, sign: Signature, table: str, key: Callable[[str, Hit], tuple[str, ...]]
) -> Iterator[tuple[Row, Hit]]:
    """Yield the last line of each key, by key, as a row without cells, and its hit."""
    last: dict[tuple[str, ...], tuple[str, str, Hit]] = {}
    for node, hit in hits(facts, sign):
        which = key(node, hit)
        if (time := logtime.format_iso(hit.text)) and (which not in last or time >= last[which][0]):
            last[which] = time, node, hit
    for which in sorted(last):
        time, node, hit = last[which]
        yield Row(parsing.tables()[table], {}, block_of(node, hit, time), hit.line), hit


def block_of(node: str, hit: Hit, taken: str = "") -> Block:
    """Return the line of a hit as the origin of a row."""
    block = Block([hit.text], hit.line, hit.address, taken=taken)
    block.node = node
    return block
