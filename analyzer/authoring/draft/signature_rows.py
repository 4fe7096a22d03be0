"""Turns the lines of a signature into the rows of a draft: which group names the subject, which are measured."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from analyzer.artefacts.tables import Table
from analyzer.authoring.draft.generalise import MEASURED, THING, DraftSignature
from analyzer.authoring.draft.pairs import CLEAR
from analyzer.authoring.fmt.yamltext import write_scalar

HIT = "hit"  # the join of all lines of a subject
MOST_MEASURED = 3  # aggregates in an answer

_THING_COLUMNS = ("vm_folder",)  # columns of a log that its parser fills from where the log lies
_ALIASES = {
    "node": "host",
    "device": "dev",
    "volume": "vol",
    "datastore": "store",
    "vm_folder": "vm",
    "port_id": "port",
}
# Names that no signature may have, since a row is called so.
ALIASES = frozenset({HIT, CLEAR, "row_of_it"})


@dataclass(frozen=True, slots=True)
class HitRows:
    """How a rule uses a signature as a table.

    alias     the row of a subject; column: what tells subjects apart
    measured  group -> kind (int, float), and the name of its greatest value in `let`
    timed     every line tells its time
    ended     the signature whose lines tell that it is over, "" for none
    """

    alias: str
    signature: str
    log: Table
    column: str
    measured: dict[str, tuple[str, str]]
    timed: bool
    ended: str = ""

    def write_subject(self) -> list[str]:
        """Return the lines of `each`, `join` and `subject`."""
        shown = write_scalar(f"{{{self.alias}.{self.column}}}")
        over = f"  {CLEAR}: {{table: {self.ended}, by: [{self.column}], rows: many}}  # the lines that say it is over"
        return [
            "",
            f"each: {self.alias} in {self.signature} per {self.column}  # one verdict for each {describe_column(self.column)}",
            "join:",
            f"  {HIT}: {{table: {self.signature}, by: [{self.column}], rows: many}}  # all lines of it",
            *([over] if self.ended else []),
            f"subject: {shown}  # what is affected",
            f"object: {shown}",
        ]

    def write_condition(self) -> str:
        """Return the condition: there are lines, and none of the end behind the last of them."""
        condition = f"count({HIT}) > 0"
        if self.ended:
            condition += f" and (count({CLEAR}) == 0 or max({HIT}.time) > max({CLEAR}.time))"
        return condition

    def write_columns(self) -> list[str]:
        """Return the lines for the signature that tell the kinds of its measured groups."""
        parts = []
        for name, (kind, _) in self.measured.items():
            parts.append(f"{name}: {kind}")
        kinds = ", ".join(parts)
        if kinds:
            return [f"    columns: {{{kinds}}}"]
        return []

    def write_lets(self) -> list[str]:
        """Return the lines of `let`."""
        made = []
        for name, (_, named) in self.list_measured():
            made.append(f"  {named}: max({HIT}.{name})")
        if made:
            return ["", "let:", *made]
        return []

    def describe_rows(self) -> list[str]:
        """Return how an answer tells the lines of a subject."""
        if self.timed:
            since = f", the first at {{{self.alias}.time}}"
        else:
            since = ""
        over = ""
        if self.ended:
            over = ", and no line has said since that it is over"
        words = [f"{{count({HIT})}} lines of {self.log.name}{since}{over}"]
        for name, (_, named) in self.list_measured():
            words.append(f"{name.replace('_', ' ')} up to {{{named}}}")
        return words

    def list_evidence(self) -> list[str]:
        """Return what shows the lines of a subject."""
        measured = []
        for name, _ in self.list_measured():
            measured.append(f"{HIT}.{name}")
        return measured or [self.signature if self.column == "node" else f"{HIT}.{self.column}"]

    def list_measured(self) -> list[tuple[str, tuple[str, str]]]:
        """Return the measured groups that an answer shows."""
        return list(self.measured.items())[:MOST_MEASURED]


def describe_column(column: str) -> str:
    """Return what a column of a subject tells apart, in words."""
    if column == "node":
        return "machine"
    return f"{column.replace('_', ' ')} that a line names"


def use_as_rows(
    one: DraftSignature, log: Table, taken: Iterable[str], *, timed: bool, passed: int = 0
) -> HitRows:
    """Return how a rule uses a signature as a table; the machine is the subject when its lines name nothing.

    taken   names of signatures, which nothing else may have
    passed  how many things, in the order of the line, cannot be the subject
    """
    things = [name for name in one.groups if THING.match(name)]
    things += [name for name in _THING_COLUMNS if log.column(name) is not None]
    column = [*things[passed:], "node"][0]
    alias = _ALIASES.get(column, column)
    if alias in taken:
        alias = "row_of_it"
    measured = {}
    for name in one.groups:
        if name in things or not MEASURED.match(name):
            continue
        found = [re.search(one.pattern, line.line) for line in one.lines]
        values = [match[name] for match in found if match is not None]
        kind = ""
        if values and all(re.fullmatch(r"\d{1,18}", value) for value in values):
            kind = "int"
        elif values and all(re.fullmatch(r"\d{1,15}(?:\.\d{1,15})?", value) for value in values):
            kind = "float"
        named = f"worst_{name}"
        while named in taken:
            named += "_too"
        if kind:
            measured[name] = (kind, named)
    return HitRows(alias, one.name, log, column, measured, timed)
