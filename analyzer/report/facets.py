"""What the rail of the page filters by: severity, host, rule and object, each choice with its number of findings.

An item of the page names its choices by number in `data-severity`, `data-host`, `data-rule` and `data-object`: a name
from a bundle stands once in the rail and is no part of what steers the script.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from analyzer.case.ranking import rank_hosts
from analyzer.report import crowds
from analyzer.report.finding_rows import groups
from analyzer.report.objects import CaseObject
from analyzer.report.view import COUNTED
from analyzer.runtime.text import natural_key

Doc = dict[str, Any]

SHOWN = 200  # choices of one kind in the rail; the search finds the others
_ATTRIBUTE = Markup(' data-{name}="{numbers}"')


@dataclass(frozen=True, slots=True)
class FacetChoice:
    """One choice of the rail: its number, its name, and how many findings it has."""

    number: int
    name: str
    count: int


@dataclass(slots=True)
class Facet:
    """All that one thing can be chosen by; `title` is what the rail calls it."""

    name: str
    title: str
    counts: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    def choices(self) -> list[FacetChoice]:
        """Return the choices that the rail shows."""
        some = list(self.counts.items())[:SHOWN]
        return [FacetChoice(self.numbers[name], name, count) for name, count in some]

    @property
    def more(self) -> int:
        """How many choices the rail does not show."""
        return max(0, len(self.counts) - SHOWN)

    def of(self, names: Iterable[str]) -> Markup:
        """Return the attribute of an item that has these names: none without a name, which every choice leaves shown.

        Names that cannot be chosen, as that of a muted rule, give an empty one, which every choice hides.
        """
        some = list(names)
        return self.among(some) if some else Markup("")

    def among(self, names: Iterable[str]) -> Markup:
        """Return the attribute of an item that is hidden by any choice but these names."""
        found = sorted({self.numbers[name] for name in names if name in self.numbers})
        return _ATTRIBUTE.format(name=self.name, numbers=" ".join(map(str, found)))


@dataclass(frozen=True, slots=True)
class Facets:
    """The four facets of a case, and which objects each finding is about or mentions."""

    severity: Facet
    host: Facet
    rule: Facet
    object: Facet
    about: dict[str, set[str]]

    def all(self) -> list[Facet]:
        """Return the facets that leave a choice: what all findings share filters nothing."""
        return [
            one for one in (self.severity, self.host, self.object, self.rule) if len(one.counts) > 1
        ]

    def of(self, findings: list[Doc]) -> Markup:
        """Return the attributes of an item that shows findings."""
        return (
            self.severity.among(word(one) for one in findings)
            + self.host.among(one["node"] for one in findings)
            + self.rule.among(one["rule"] for one in findings)
            + self.object.among(name for one in findings for name in self.about.get(one["id"], ()))
        )


def word(finding: Doc) -> str:
    """Return the word by which the head of the page counts a finding."""
    if finding["verdict"] == "error":
        return "error"
    return "exposed" if finding["confidence"] == "exposed" else str(finding["severity"])


def facets(doc: Doc, objects: list[CaseObject]) -> Facets:
    """Return what the findings of a case that are not muted can be filtered by."""
    rows = [row.findings for row in groups(doc)]
    about: dict[str, set[str]] = {}
    for thing in objects:
        for one in (*thing.own, *thing.mentioned):
            about.setdefault(one["id"], set()).add(thing.name)
    words = Counter(word(own[0]) for own in rows)
    nodes = Counter(name for own in rows for name in {one["node"] for one in own} if name)
    hosts = rank_hosts(doc["findings"])
    every_host = {*nodes, *map(crowds.name, doc["nodes"])}
    names = sorted(every_host, key=lambda name: (hosts.get(name, len(hosts)), natural_key(name)))
    rules = Counter(own[0]["rule"] for own in rows)
    things = Counter(
        name for own in rows for name in {name for one in own for name in about.get(one["id"], ())}
    )
    ranked = [name for name in dict.fromkeys(one.name for one in objects) if things[name]]
    return Facets(
        severity=_facet("severity", "Severity", {one: words[one] for one in COUNTED if words[one]}),
        host=_facet("host", "Host", {name: nodes[name] for name in names}),
        rule=_facet("rule", "Rule", {name: rules[name] for name in sorted(rules)}),
        object=_facet("object", "Object", {name: things[name] for name in ranked}),
        about=about,
    )


def _facet(name: str, title: str, counts: dict[str, int]) -> Facet:
    return Facet(name, title, counts, {one: number for number, one in enumerate(counts)})
