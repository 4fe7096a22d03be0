"""What of the catalog was not read against its sources for long: rules and tables of facts, the oldest first."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime

from analyzer.authoring.pages.listing import RuleFilter
from analyzer.rules import Catalog
from analyzer.rules.cited_sources import is_day
from analyzer.runtime.text import for_csv, for_terminal

RULE, FACTS = "rule", "facts"


@dataclass(frozen=True, slots=True)
class StaleEntry:
    """A rule or a table of facts that waits to be read against its sources.

    checked  day on which its oldest source was read, "" where one never was, or nobody wrote down when
    age      days since then; None where there is no such day
    """

    kind: str
    name: str
    checked: str
    age: int | None
    title: str


def read_today() -> date:
    """Return the day it is, UTC; tests put another in its place."""
    return datetime.now(UTC).date()


def list_stale(
    catalog: Catalog,
    days: int,
    today: date,
    wanted: Callable[[StaleEntry], bool] = lambda _: True,
) -> list[StaleEntry]:
    """Return what was last read more than `days` days ago, or never: never first, then the oldest."""
    found = [
        _make_entry(RULE, rule.id, rule.last_read, rule.title, today) for rule in catalog.rules
    ]
    for name, table in catalog.tables.items():
        if table.given is not None:
            found.append(_make_entry(FACTS, name, table.checked, table.meaning, today))
    stale = [entry for entry in found if entry.age is None or entry.age > days]
    return sorted(filter(wanted, stale), key=lambda one: (one.checked, one.kind != RULE, one.name))


def filter_stale(catalog: Catalog, wanted: RuleFilter) -> Callable[[StaleEntry], bool]:
    """Return which entries are meant: rules that the filter takes, and tables of facts when it takes all rules."""
    rules = {rule.id for rule in catalog.rules if wanted.takes_rule(rule)}
    whole = wanted == RuleFilter()
    return lambda entry: whole if entry.kind == FACTS else entry.name in rules


def _make_entry(kind: str, name: str, checked: str, title: str, today: date) -> StaleEntry:
    age = (today - date.fromisoformat(checked)).days if is_day(checked) else None
    return StaleEntry(kind, name, checked if age is not None else "", age, title)


def as_text(stale: Iterable[StaleEntry]) -> Iterator[str]:
    """Yield the list for a terminal, a line an entry."""
    entries = list(stale)
    width = max((len(for_terminal(entry.name)) for entry in entries), default=0)
    for entry in entries:
        name = for_terminal(entry.name).ljust(width)
        title = for_terminal(entry.title).replace("\n", " ")
        yield f"{entry.checked or 'never':10}  {entry.kind:5}  {name}  {title}"


def as_csv(stale: Iterable[StaleEntry]) -> str:
    """Return the list as CSV, safe for a spreadsheet."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(StaleEntry.__slots__)
    for entry in stale:
        writer.writerow([for_csv("" if cell is None else cell) for cell in asdict(entry).values()])
    return stream.getvalue()
