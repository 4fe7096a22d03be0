"""What the rail of the page filters by: severity, host, rule and object, each choice with its number of findings.

An item of the page names its choices by number in `data-severity`, `data-host`, `data-rule` and `data-object`: a name
from a bundle stands once in the rail and is no part of what steers the script.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from markupsafe import Markup

from analyzer.case.ranking import rank_hosts
from analyzer.report import crowds
from analyzer.report.finding_rows import group_findings
from analyzer.report.objects import CaseObject
from analyzer.report.view import COUNTED
from analyzer.report.wording import Doc
from analyzer.runtime.text import natural

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

    def list_choices(self) -> list[FacetChoice]:
        """Return the choices that the rail shows."""
        some = list(self.counts.items())[:SHOWN]
        return [FacetChoice(self.numbers[name], name, count) for name, count in some]

    @property
    def more(self) -> int:
        """How many choices the rail does not show."""
        return max(0, len(self.counts) - SHOWN)

    def mark_names(self, names: Iterable[str]) -> Markup:
        """Return the attribute of an item that has these names: none without a name, which every choice leaves shown.

        Names that cannot be chosen, as that of a muted rule, give an empty one, which every choice hides.
        """
        some = list(names)
        return self.mark_among(some) if some else Markup("")

    def mark_among(self, names: Iterable[str]) -> Markup:
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

    def list_facets(self) -> list[Facet]:
        """Return the facets that leave a choice: what all findings share filters nothing."""
        return [
            one for one in (self.severity, self.host, self.object, self.rule) if len(one.counts) > 1
        ]

    def mark_findings(self, findings: list[Doc]) -> Markup:
        """Return the attributes of an item that shows findings."""
        return (
            self.severity.mark_among(name_weight(one) for one in findings)
            + self.host.mark_among(one["node"] for one in findings)
            + self.rule.mark_among(one["rule"] for one in findings)
            + self.object.mark_among(
                name for one in findings for name in self.about.get(one["id"], ())
            )
        )


def name_weight(finding: Doc) -> str:
    """Return the word by which the head of the page counts a finding."""
    if finding["verdict"] == "error":
        return "error"
    return "exposed" if finding["confidence"] == "exposed" else str(finding["severity"])


def build_facets(doc: Doc, objects: list[CaseObject]) -> Facets:
    """Return what the findings of a case that are not muted can be filtered by."""
    rows = [row.findings for row in group_findings(doc)]
    about: dict[str, set[str]] = {}
    for thing in objects:
        for one in (*thing.own, *thing.mentioned):
            about.setdefault(one["id"], set()).add(thing.name)
    words = Counter(name_weight(own[0]) for own in rows)
    nodes = Counter(name for own in rows for name in {one["node"] for one in own} if name)
    hosts = rank_hosts(doc["findings"])
    every_host = {*nodes, *map(crowds.name_node, doc["nodes"])}
    names = sorted(every_host, key=lambda name: (hosts.get(name, len(hosts)), natural(name)))
    rules = Counter(own[0]["rule"] for own in rows)
    things = Counter(
        name for own in rows for name in {name for one in own for name in about.get(one["id"], ())}
    )
    ranked = [name for name in dict.fromkeys(one.name for one in objects) if things[name]]
    return Facets(
        severity=_build_facet(
            "severity", "Severity", {one: words[one] for one in COUNTED if words[one]}
        ),
        host=_build_facet("host", "Host", {name: nodes[name] for name in names}),
        rule=_build_facet("rule", "Rule", {name: rules[name] for name in sorted(rules)}),
        object=_build_facet("object", "Object", {name: things[name] for name in ranked}),
        about=about,
    )


def _build_facet(name: str, title: str, counts: dict[str, int]) -> Facet:
    return Facet(name, title, counts, {one: number for number, one in enumerate(counts)})
