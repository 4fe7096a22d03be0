"""Entries of closed lists in lines of logs: error codes, messages to the user, system events, as the columns of logs
declare them (`names_entry` in analyzer/artefacts/signs.py). No table of facts holds such a list whole, so each is trouble.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from analyzer.artefacts import parsing
from analyzer.artefacts.signs import CellSign
from analyzer.signals.severities import weigh_severity

_NAMED_GROUP = re.compile(r"\(\?P<\w+>")


class LineEntry(NamedTuple):
    """An entry that a line names: what its list is of and the severity that it prints, "" for none."""

    weight: float
    title: str
    severity: str

    @property
    def why(self) -> tuple[str, ...]:
        """The reasons that it gives."""
        return (self.title, f"severity {self.severity}") if self.severity else (self.title,)


@cache
def list_entry_signs() -> tuple[tuple[CellSign, re.Pattern[str]], ...]:
    """Return the signs of all logs whose lines name entries of lists, each once, with their patterns."""
    columns = (column for table in parsing.tables().values() for column in table.columns)
    signs = dict.fromkeys(column.sign for column in columns if column.sign is not None)
    return tuple((sign, re.compile(sign.quoted)) for sign in signs if sign.quoted)


def find_entry(line: str) -> LineEntry | None:
    """Return the entry of a list that a line names, None for a line without one; of no trouble its weight is 0."""
    for sign, pattern in list_entry_signs():
        found = pattern.search(line)
        if found is None:
            continue
        severity = found.groupdict().get("severity") or ""
        weight = weigh_severity(severity)
        return LineEntry(sign.weight if weight is None else weight, sign.title, severity)
    return None


def write_stems() -> str:
    """Return the pattern of lines that may name an entry, "" when no log has any."""
    return "|".join(_NAMED_GROUP.sub("(?:", sign.quoted) for sign, _ in list_entry_signs())
