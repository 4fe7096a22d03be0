"""The level of a line that reports an event: an `esx.problem` is as severe as its event, whatever its log says.

vobd.log states no level, hostd.log writes the same events at `info`. What an event means is a row of the facts
(`kb/facts/esxi_event.csv`); a problem that has no row is a warning.
"""

from __future__ import annotations

import csv
import re
from functools import cache
from importlib import resources

from analyzer import parsing
from analyzer.tables import Block, Row

EVENT_TABLE = "esxi.event"
PROBLEM = "esx.problem."
# A level as logs state it, for each severity of a finding.
LEVEL_OF_SEVERITY = {"critical": "critical", "major": "error", "warning": "warning", "info": "notice"}
_SIGN = re.compile(r"\besx\.problem\.|\bEvent \d+ : ")


def find_event_level(text: str) -> str:
    """Return the level of the problem that a line reports, "" for any other line and for an event that ends one."""
    if not _SIGN.search(text):
        return ""
    event_id = find_event_id(text)
    if not event_id.startswith(PROBLEM):
        return ""
    return LEVEL_OF_SEVERITY[read_event_severities().get(event_id, "warning")]


def find_event_id(text: str) -> str:
    """Return the id of the event a line reports, as the parser of events reads it; "" for none."""
    parser = next(one for one in parsing.registry().values() if one.tables[0].name == EVENT_TABLE)
    for found in parser.parse(Block([text])):
        if isinstance(found, Row):
            return str(found.values.get("event_id") or "")
    return ""


@cache
def read_event_severities() -> dict[str, str]:
    """Return the severity of each known event by its id."""
    written = (resources.files("analyzer.kb") / "facts" / "esxi_event.csv").read_text(encoding="utf-8")
    return {row["event_id"]: row["severity"] for row in csv.DictReader(written.splitlines())}
