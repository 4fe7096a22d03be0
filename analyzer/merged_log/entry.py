"""An entry of a log: a line with its time, and the lines without one that continue it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from analyzer.artefacts import parsing
from analyzer.artefacts.parsing import Parser
from analyzer.artefacts.tables import Block, Row
from analyzer.merged_log.event_levels import find_event_level

FOREVER = datetime.max.replace(tzinfo=UTC)
BEGINNING = datetime.min.replace(tzinfo=UTC)
COMPONENTS = (
    "module",
    "sub",
    "subcomp",
    "comp",
    "java_class",
    "program",
    "app",
    "vm_folder",
    "thread",
)
COMPONENT_WORDS = tuple(name.upper() for name in COMPONENTS)  # as templates spell them
_SEVERITY = {
    "emergency": 0, "alert": 1, "critical": 2, "error": 3, "warning": 4, "notice": 5, "info": 6,
    "debug": 7, "verbose": 7, "trivia": 7, "trace": 7,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A stretch of time, both ends included, in UTC; open where no end is given."""

    start: datetime = BEGINNING
    end: datetime = FOREVER

    def may_hold(self, first: datetime, last: datetime, slack: timedelta) -> bool:
        """Say whether times between two others, in any order, may lie in the window, or that close to it."""
        first, last = min(first, last), max(first, last)
        return first <= shift_time(self.end, slack) and last >= shift_time(self.start, -slack)


def shift_time(when: datetime, span: timedelta) -> datetime:
    """Return a moment earlier or later; the first and the last there are stay."""
    try:
        return when + span
    except OverflowError:
        return when


class LogPart(NamedTuple):
    """Where lines come from: a member, its log (the name of a table, "" when nothing reads it), its place's key."""

    order: int
    address: str
    table: str
    scope: str

    @property
    def name(self) -> str:
        """The name of the log, as an engineer says it: vmkernel, hostd; of an unknown one that of its file."""
        name = self.table.rpartition(".")[2]
        if name and name != "other_log":
            return name
        file = self.address.rpartition("!")[2].rpartition("/")[2]
        return file.partition(".")[0] or file


class LogEntry(NamedTuple):
    """Lines of a log that belong together, without secrets; compares by time, then by place.

    number   of the first line in its file
    lines    the text of each with its own number
    assumed  what the lines do not say: "zone", "year", "time" (that of the line above, or of the next one)
    """

    when: datetime
    order: int
    number: int
    lines: tuple[tuple[int, str], ...]
    part: LogPart
    assumed: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[datetime, int, int]:
        """What entries are sorted by; no two of one reading have the same."""
        return self[:3]

    def level_and_component(self) -> tuple[str, str]:
        """Return level and component of the entry; "" for what it does not state.

        The level is the one the log states, or that of the event it reports where that is worse.
        """
        stated, component = self._stated_level_and_component()
        return choose_worse_level(stated, find_event_level(self.lines[0][1])), component

    def _stated_level_and_component(self) -> tuple[str, str]:
        """Return level and component as the parser of the log reads them; "" where it finds none."""
        parser = map_log_parsers().get(self.part.table)
        if parser is None:
            return "", ""
        words = parser.words(self.lines[0][1]) if parser.words is not None else None
        if words is not None:
            return words["LEVEL"], component_of(words, COMPONENT_WORDS)
        block = Block([text for _, text in self.lines])
        try:
            rows = [item for item in parser.parse(block) if isinstance(item, Row)]
        except Exception:  # noqa: BLE001 - hostile text must not stop the run; such a line has no level
            return "", ""
        if not rows:
            return "", ""
        values = rows[0].values
        return str(values.get("level") or ""), component_of(values, COMPONENTS)


def component_of(values: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the first component that values of a log line have, by the names of those; "" for none."""
    for name in names:
        if found := values.get(name):
            return str(found)
    return ""


def format_stamp(entry: LogEntry) -> str:
    """Return the time of an entry as ISO 8601 in UTC, to the millisecond where the log has a fraction."""
    when = entry.when
    if when.microsecond % 1000:
        precision = "microseconds"
    else:
        precision = "milliseconds" if when.microsecond else "seconds"
    return f"{when.isoformat('T', precision).removesuffix('+00:00')}Z"


def rank_level(level: str) -> int | None:
    """Return how severe a level is, 0 the most; None for a word that is none."""
    return _SEVERITY.get(level.lower())


def choose_worse_level(stated: str, other: str) -> str:
    """Return the more severe of two levels; the one that is stated where they are equal or the other is none."""
    if not other:
        return stated
    known = rank_level(stated)
    found = rank_level(other)
    if known is None or (found is not None and found < known):
        return other
    return stated


@cache
def map_log_parsers() -> dict[str, Parser]:
    """Return the parsers of logs by the table each fills."""
    found = {}
    for parser in parsing.registry().values():
        if parser.log and parser.tables[0].log:
            found[parser.tables[0].name] = parser
    return found
