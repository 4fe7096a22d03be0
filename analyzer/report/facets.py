"""What the rail of the page filters by: severity, host, rule and object, each choice with its number of findings.

An item of the page names its choices by number in `data-severity`, `data-host`, `data-rule` and `data-object`: a name
from a bundle is written once, in the rail, and is no part of what steers the script.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from markupsafe import Markup

from analyzer.case.document import CaseDocument, Signal
from analyzer.case.ranking import rank_hosts
from analyzer.case.verdicts import Finding
from analyzer.report import machines
from analyzer.report.finding_rows import group_findings
from analyzer.report.objects import CaseObject
from analyzer.report.view import COUNTED, name_weight
from analyzer.runtime.text import natural_key

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
    counts: dict[str, int]
    numbers: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.numbers = {name: number for number, name in enumerate(self.counts)}

    def list_choices(self) -> list[FacetChoice]:
        """Return the choices that the rail shows."""
        shown = list(self.counts.items())[:SHOWN]
        choices = []
        for name, count in shown:
            choices.append(FacetChoice(self.numbers[name], name, count))
        return choices

    @property
    def more(self) -> int:
        """How many choices the rail does not show."""
        return max(0, len(self.counts) - SHOWN)

    def mark_names(self, names: Iterable[str]) -> Markup:
        """Return the attribute of an item that has these names: none without a name, which every choice leaves shown.

        Names that cannot be chosen, as that of a muted rule, give an empty one, which every choice hides.
        """
        names = list(names)
        if names:
            return self.mark_choices(names)
        return Markup("")

    def mark_choices(self, names: Iterable[str]) -> Markup:
        """Return the attribute of an item that is hidden by any choice but these names; none where nothing is chosen by."""
        if len(self.counts) < 2:
            return Markup("")
        numbers = sorted({self.numbers[name] for name in names if name in self.numbers})
        return _ATTRIBUTE.format(name=self.name, numbers=" ".join(map(str, numbers)))


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
        facets = (self.severity, self.host, self.object, self.rule)
        return [facet for facet in facets if len(facet.counts) > 1]

    def mark_findings(self, findings: list[Finding]) -> Markup:
        """Return the attributes of an item that shows findings."""
        objects: set[str] = set()
        for finding in findings:
            objects |= self.about.get(finding.id, set())
        return (
            self.severity.mark_choices(map(name_weight, findings))
            + self.host.mark_choices(finding.node for finding in findings)
            + self.rule.mark_choices(finding.rule for finding in findings)
            + self.object.mark_choices(objects)
        )

    def mark_sign(self, sign: Signal) -> Markup:
        """Return the attributes of an item that shows a sign without a rule: a choice of severity or rule hides it."""
        return (
            self.severity.mark_choices(())
            + self.host.mark_choices([sign.node])
            + self.rule.mark_choices(())
            + self.object.mark_names([sign.object] if sign.object else [])
        )


def build_facets(doc: CaseDocument, objects: list[CaseObject]) -> Facets:
    """Return what the findings of a case that are not muted can be filtered by."""
    about: dict[str, set[str]] = {}
    for thing in objects:
        for finding in (*thing.own, *thing.mentioned):
            about.setdefault(finding.id, set()).add(thing.name)
    weights: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    nodes: Counter[str] = Counter()
    things: Counter[str] = Counter()
    for row in group_findings(doc):
        weights[name_weight(row.first)] += 1
        rules[row.first.rule] += 1
        nodes.update({finding.node for finding in row.findings})
        row_things: set[str] = set()
        for finding in row.findings:
            row_things |= about.get(finding.id, set())
        things.update(row_things)
    del nodes[""]
    places = rank_hosts(doc.findings)
    hosts = sorted(
        {*nodes, *map(machines.name_node, doc.nodes)},
        key=lambda name: (places.get(name, len(places)), natural_key(name)),
    )
    object_names = dict.fromkeys(thing.name for thing in objects)
    return Facets(
        severity=Facet(
            "severity", "Severity", {word: weights[word] for word in COUNTED if weights[word]}
        ),
        host=Facet("host", "Host", {name: nodes[name] for name in hosts}),
        rule=Facet("rule", "Rule", {name: rules[name] for name in sorted(rules)}),
        object=Facet(
            "object", "Object", {name: things[name] for name in object_names if things[name]}
        ),
        about=about,
    )
