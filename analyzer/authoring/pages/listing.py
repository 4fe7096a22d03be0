"""The catalog as a list: one row per rule, where it comes from and what local settings change."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from analyzer.rules import Catalog, Rule
from analyzer.rules.language.rulefile import BadRuleError
from analyzer.rules.settings import Mute, Settings
from analyzer.runtime.text import for_csv, for_terminal

TITLE = 90  # a title is at most this long; what is longer is the author's business and is cut


@dataclass(slots=True)
class Listed:
    """One rule as the list shows it.

    origin     shipped, `pack nn-rules 1.2`, `folder my-rules`
    muted      each mute as `subject on node, until DAY: reason`
    thresholds each changed one as `name = value (shipped as shipped): reason`
    """

    rule: str
    status: str
    title: str
    kb: list[int]
    issues: list[int]
    tables: list[str]
    examples: int
    origin: str
    muted: list[str]
    thresholds: list[str]
    owner: str = ""
    tags: list[str] = field(default_factory=list)
    checked: str = ""
    replaces: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RuleFilter:
    """Which rules are listed: of a status, table, product or owner, and with all of some tags; "" for any."""

    status: str = ""
    table: str = ""
    product: str = ""
    owner: str = ""
    tags: tuple[str, ...] = ()

    def takes_rule(self, rule: Rule) -> bool:
        """Say whether a rule is meant; an owner is compared without regard to capitals."""
        return (
            self.status in ("", rule.status)
            and (not self.table or self.table in {*rule.tables(), *rule.fact_tables()})
            and self.product
            in ("", rule.product, *(name.partition(".")[0] for name in rule.tables()))
            and self.owner.casefold() in ("", rule.owner.casefold())
            and set(self.tags) <= set(rule.tags)
        )


def list_rows(
    catalog: Catalog, settings: Settings, wanted: RuleFilter | None = None
) -> list[Listed]:
    """Return the rules of a catalog, those that are wanted."""
    found = []
    for rule in catalog.rules:
        if wanted is None or wanted.takes_rule(rule):
            try:
                examples = len(rule.examples)
            except BadRuleError:  # `rules lint` tells of it; here the rest of the row counts
                examples = 0
            listed = Listed(
                rule.id,
                rule.status,
                rule.title,
                list(rule.kb),
                list(rule.issues),
                sorted({*rule.tables(), *rule.fact_tables()}),
                examples,
                rule.origin.label if rule.origin is not None else "",
                [mute_words(mute) for mute in settings.mutes if mute.rule == rule.id],
                threshold_words(rule, settings),
                rule.owner,
                list(rule.tags),
                rule.checked,
                list(rule.replaces),
            )
            found.append(listed)
    return found


def mute_words(mute: Mute) -> str:
    """Return a mute in words: which findings of the rule, until when, why."""
    what = mute.subject or "all its findings"
    if mute.node:
        what += f" on {mute.node}"
    return f"{what}, until {mute.until}: {mute.reason}"


def threshold_words(rule: Rule, settings: Settings) -> list[str]:
    """Return the changed thresholds of a rule in words."""
    reasons = {(change.rule, change.name): change.reason for change in settings.changes}
    found = []
    for name, (value, shipped) in rule.changed_thresholds.items():
        found.append(
            f"{name} = {value!r} ({shipped!r} as shipped): {reasons.get((rule.id, name), 'no reason given')}"
        )
    return found


def as_text(listed: Iterable[Listed], verbose: int = 0) -> Iterator[str]:
    """Yield the list for a terminal: a line a rule, and below it what local settings change."""
    found = list(listed)
    foreign = any(row.origin != "shipped" for row in found)
    head = ["RULE", "STATUS", "EX.", *(["FROM"] if foreign else []), "KB, ISSUE", "TITLE"]
    cells = [
        [
            row.rule,
            row.status,
            str(row.examples),
            *([row.origin] if foreign else []),
            ", ".join([*map(str, row.kb), *(f"issue {number}" for number in row.issues)]) or "-",
            row.title[:TITLE],
        ]
        for row in found
    ]
    widths = []
    for place in range(len(head)):
        widths.append(max(len(_make_safe(row[place])) for row in [head, *cells]))
    yield _write_line(head, widths)
    for row, line in zip(found, cells, strict=True):
        yield _write_line(line, widths)
        below = [
            *(f"muted: {text}" for text in row.muted),
            *(f"threshold: {text}" for text in row.thresholds),
        ]
        if verbose:
            tables = ", ".join(row.tables)
            below = [f"looks at {tables}", *_list_data(row), *below]
        yield from (f"    {_make_safe(text)}" for text in below)


def _list_data(row: Listed) -> Iterator[str]:
    """Yield who owns a rule, its tags and its dates, in one line."""
    facts = {
        "owner": row.owner, "tags": ", ".join(row.tags), "sources read on": row.checked,
        "takes the place of": ", ".join(row.replaces),
    }  # fmt: skip
    words = []
    for name, value in facts.items():
        if value:
            words.append(f"{name} {value}")
    if words:
        yield "; ".join(words)


def as_csv(listed: Iterable[Listed]) -> str:
    """Return the list as CSV, safe for a spreadsheet."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(Listed.__slots__)
    for row in listed:
        cells = asdict(row).values()
        writer.writerow(
            [
                for_csv("; ".join(map(str, cell)) if isinstance(cell, list) else cell)
                for cell in cells
            ]
        )
    return stream.getvalue()


def as_json(listed: Iterable[Any]) -> str:
    """Return a list of records as JSON, one object a line."""
    return "".join(json.dumps(asdict(row), ensure_ascii=True) + "\n" for row in listed)


def list_sources(catalog: Catalog) -> list[str]:
    """Return where the rules come from, one line each: name, version, rules, hash."""
    found = []
    for source in catalog.sources:
        found.append(
            f"{source.label}: {source.rules} {'rule' if source.rules == 1 else 'rules'}"
            f"{f', {source.broken} broken' if source.broken else ''}, sha256 {source.hash}"
        )
    return found


def _write_line(cells: list[str], widths: list[int]) -> str:
    """Return cells as one line, each as wide as its column."""
    parts = []
    for cell, width in zip(cells, widths, strict=True):
        parts.append(_make_safe(cell).ljust(width))
    return "  ".join(parts).rstrip()


def _make_safe(text: str) -> str:
    return for_terminal(text).replace("\n", " ").replace("\t", " ")
