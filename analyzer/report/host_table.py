"""The machines of a case at a glance: the worst first, each with its findings counted and its card."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from analyzer.case.ranking import rank_hosts
from analyzer.report import crowds, view, wording
from analyzer.report.facets import word
from analyzer.report.finding_rows import groups
from analyzer.report.hosts import head
from analyzer.runtime.text import natural_key

Doc = dict[str, Any]

FEW = 4  # machines that get a card in the head
WORST = 3  # named in the head of a case with many machines


@dataclass(frozen=True, slots=True)
class HostRow:
    """One machine: its record, its card or None, and (word, number) of its findings, worst first."""

    node: Doc
    card: Doc | None
    counts: list[tuple[str, int]]

    @property
    def name(self) -> str:
        """Return how reports name it."""
        return crowds.name(self.node)

    @property
    def version(self) -> str:
        """Return what it runs."""
        return " ".join(view.facts({**self.node, "uptime_s": None, "captured": "", "logs": []}))

    @property
    def hardware(self) -> str:
        """Return what it is, from its card."""
        return head(self.card) if self.card else ""

    @property
    def up(self) -> str:
        """Return for how long it ran; empty when nothing says so."""
        seconds = self.node["uptime_s"]
        return wording.duration(seconds) if isinstance(seconds, int | float) else ""

    @property
    def found(self) -> str:
        """Return its findings in words: `1 critical, 2 warnings`."""
        return ", ".join(f"{number:,} {wording.plural(one, number)}" for one, number in self.counts)


def rows(doc: Doc) -> list[HostRow]:
    """Return the machines of a case, the worst first, and those without a finding by name."""
    cards = {card["node"]: card for card in doc["hosts"]}
    found: dict[str, Counter[str]] = {}
    for row in groups(doc):
        for name in {one["node"] for one in row.findings}:
            found.setdefault(name, Counter())[word(row.first)] += 1
    made = []
    for node in doc["nodes"]:
        own = found.get(crowds.name(node), Counter())
        made.append(
            HostRow(
                node, cards.get(node["id"]), [(one, own[one]) for one in view.COUNTED if own[one]]
            )
        )
    places = rank_hosts(doc["findings"])
    return sorted(made, key=lambda row: (places.get(row.name, len(places)), natural_key(row.name)))


def many(doc: Doc) -> bool:
    """Tell whether a case has so many machines that a table tells them better than one card after another."""
    return len(doc["nodes"]) > FEW


def worst(doc: Doc) -> list[HostRow]:
    """Return the worst machines of a case with many, those with findings alone."""
    return [row for row in rows(doc)[:WORST] if row.counts] if many(doc) else []
