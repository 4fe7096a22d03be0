"""Why a value is not known: the table, the row or the node that lacks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Table, Value
from analyzer.case.verdicts import Reason
from analyzer.facts import Facts
from analyzer.rules import Rule


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a value is unknown: reason, what is missing (table or alias.column), words, and the table to ask for.

    rescan  True when the case's own files tell, read once more: then there is nothing to ask for
    """

    reason: str
    missing: str
    why: str
    table: Table | None = None
    rescan: bool = False

    def ask(self, rule: Rule) -> str:
        """Return what to request so that the value is known, "" when nothing."""
        catalog = (
            self.table is not None and self.table.given is not None
        )  # nobody can send what the tool itself lacks
        return "" if self.rescan or catalog else rule.ask_for(self.table)


def read_without(facts: Facts, node: str, table: Table) -> str:
    """Return the address of a file of a node that was read and may hold a table but does not; "" for none."""
    own = table.declared.name
    siblings = parsing.find_siblings(own)
    addresses: dict[str, None] = {}
    for name in (*siblings, *parsing.read_beside(own)):
        covered = facts.coverage(node, name) if facts.has_rows(name, node) else None
        read = covered.addresses if covered is not None and covered.state == "read" else ()
        addresses |= dict.fromkeys(
            one for one in read if name in siblings or parsing.may_be_in(own, one)
        )
    first = next(iter(addresses), "")
    return f"{first} (and {len(addresses) - 1} more like it)" if len(addresses) > 1 else first


def no_value(table: Table, column: str, place: str, given: Mapping[str, Value]) -> str:
    """Return that a cell is empty, with its place; of a row of the catalog, which nobody can send, what row it is."""
    if table.given is None:
        return f"{column} has no value at {place}"
    known = ", ".join(f"{name} {given[name]}" for name in table.key if given.get(name) is not None)
    return f"Backline's catalog has no {column}" + (f" for {known}" if known else "")


def table_cause(facts: Facts, node: str | None, table: Table, looked_for: str = "") -> Cause:
    """Return why rows of a table are not there on a node (None: anywhere in the case)."""
    name, key = table.declared.name, table.name
    if table.given is not None:
        wanted = f" with {looked_for}" if looked_for else ""
        return Cause(Reason.NOT_APPLICABLE, name, f"Backline's catalog has no entry{wanted}", table)
    if node is None:
        return Cause(Reason.MISSING, name, f"{table.words} is not in the case", table)
    where = f" of {facts.name(node)}" if facts.name(node) else ""
    covered = facts.coverage(node, key)
    if covered.state == "excerpt":
        return Cause(Reason.OUTSIDE, name, covered.why, table)
    if covered.state == "cut":
        why = covered.why or f"{table.words}{where} ended early"
        return Cause(Reason.UNREADABLE, name, why, table, covered.rescan)
    if covered.state == "unparsed":
        why = covered.why or f"lines of {table.words}{where} were not understood"
        return Cause(Reason.UNPARSED, name, why, table)
    if node in facts.nodes and not facts.nodes[node].complete:
        why = f"the archive{where} ended early; nothing after that point was read"
        return Cause(Reason.UNREADABLE, name, why, table)
    if covered.state == "":
        read = read_without(facts, node, table)
        lacks = (
            f"{read} was read and lacks {name}"
            if read
            else f"{table.words}{where} is not in the case"
        )
        return Cause(Reason.MISSING, name, lacks, table)
    wanted = f" with {looked_for}" if looked_for else ""
    if table.lines_of is not None:  # nothing to ask for: the log is there
        return Cause(
            Reason.NOT_APPLICABLE,
            table.spoken_name,
            f"{table.words}{where} has no line of `{table.spoken_name}`{wanted}",
        )
    return Cause(Reason.MISSING, name, f"{table.words}{where} has no row{wanted}", table)
