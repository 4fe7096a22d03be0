"""The level of a line that reports an event: an `esx.problem` is as severe as its event, whatever its log says.

vobd.log states no level, hostd.log and vmkernel.log write the same events at `info`. What an event means is a row of
the facts (`kb/facts/esxi_event.csv`); a problem that has no row is a warning. Some events that end a problem, or report
none, are called esx.problem too: `kb/facts/esxi_clear_event.csv` names them, and they have no level of their own. An
`esx.audit` is information; one that says trouble is a row of the facts too, with a severity above that.
"""

from __future__ import annotations

import re
from functools import cache

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Block, Row
from analyzer.rules import fact_tables

EVENT_TABLE = "esxi.event"
PROBLEM = "esx.problem."
AUDIT = "esx.audit."
# A level as logs state it, for each severity of a finding.
LEVEL_OF_SEVERITY = {
    "critical": "critical",
    "major": "error",
    "warning": "warning",
    "info": "notice",
}
_PROBLEM_ID = re.compile(r"\besx\.problem\.\w+(?:\.\w+)*")
# What a line has that reports an event: its id; the head of an event of hostd.log; a line of vobd.log that lost the id;
# the words of vmkernel.log. The parser of events decides.
_SIGN = re.compile(
    r"\besx\.(?:problem|audit)\.|\bEvent \d+ : |Correlator\] \d+us: (?!\[)|: APD start for |\bperformance has deteriorated\b"
)
# A word of each of them: seeking these is quicker than the pattern.
_WORDS_OF_SIGN = ("esx.", "Event ", "Correlator] ", ": APD start for ", "performance has ")


def find_event_level(text: str) -> str:
    """Return the level of the problem that a line reports, "" for any other line and for an event that ends one."""
    for word in _WORDS_OF_SIGN:
        if word in text:
            break
    else:
        return ""
    if not _SIGN.search(text):
        return ""
    event_id = find_event_id(text)
    if event_id.startswith(AUDIT):
        severity = read_event_severities().get(event_id, "info")
        return "" if severity == "info" else LEVEL_OF_SEVERITY[severity]
    if not event_id.startswith(PROBLEM) or event_id in read_harmless_ids():
        return ""
    return LEVEL_OF_SEVERITY[read_event_severities().get(event_id, "warning")]


def find_event_id(text: str) -> str:
    """Return the id of the event a line reports, as the parser of events reads it; "" for none.

    A log that the parser does not know, such as one of vCenter, may name the problem by its id.
    """
    for found in find_event_parser().parse(Block([text])):
        if isinstance(found, Row):
            return str(found.values.get("event_id") or "")
    named = _PROBLEM_ID.search(text)
    return named.group() if named else ""


@cache
def find_event_parser() -> parsing.Parser:
    """Return the parser of the events of a host."""
    return next(one for one in parsing.registry().values() if one.tables[0].name == EVENT_TABLE)


@cache
def read_event_severities() -> dict[str, str]:
    """Return the severity of each known event by its id."""
    ids = read_facts_column("kb.esxi_event", "event_id")
    return dict(zip(ids, read_facts_column("kb.esxi_event", "severity"), strict=True))


@cache
def read_harmless_ids() -> frozenset[str]:
    """Return the ids of events that end a problem or report none."""
    return frozenset(read_facts_column("kb.esxi_clear_event", "event_id"))


def read_facts_column(table: str, column: str) -> list[str]:
    """Return the texts of a column of the facts, row by row."""
    return [str(row[column]) for row in fact_tables.read_shipped()[table].own_rows]
