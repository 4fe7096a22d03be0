"""Groups findings into the rows of a report: one fault at one severity and confidence, any number of subjects.

A fault is a rule; of a rule over known problems it is what one of these is called, with its KB articles.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from analyzer.case.ranking import is_of_version, order_rows, rules_by_version
from analyzer.report.doubts import describe_worse, list_doubts, list_notes
from analyzer.report.wording import Doc, join_few


@dataclass(slots=True)
class FindingGroup:
    """Findings of one rule with the same weight: one row of a report."""

    findings: list[Doc]
    _same: dict[str, bool] = field(default_factory=dict)

    @property
    def first(self) -> Doc:
        """The finding that speaks for the row."""
        return self.findings[0]

    @property
    def word(self) -> str:
        """Severity in a word; `error` for a rule that broke."""
        return "error" if self.first["verdict"] == "error" else str(self.first["severity"])

    @property
    def confidence(self) -> str:
        """How sure the finding is; a rule that broke says nothing, so it is sure of nothing."""
        return "" if self.word == "error" else str(self.first["confidence"])

    @property
    def hollow(self) -> bool:
        """True when no sign of the fault was seen: only the version fits."""
        return bool(self.first["confidence"] == "exposed")

    def is_same(self, key: str) -> bool:
        """Tell whether all subjects of the row have the same value under `key`; ask when it is complete."""
        if key not in self._same:
            self._same[key] = all(finding[key] == self.first[key] for finding in self.findings)
        return self._same[key]

    @property
    def names(self) -> list[str]:
        """The subjects, each name once; what several nodes say of one has the names of these nodes behind it."""
        on: dict[str, list[str]] = {}
        for finding in self.findings:
            on.setdefault(finding["subject"], []).append(finding["node"])
        return [
            f"{name} (on {join_few(nodes, 4)})" if len(set(nodes)) > 1 else name
            for name, nodes in on.items()
        ]

    @property
    def worse(self) -> str:
        """What could make the findings of the row worse or surer, in one sentence; empty for nothing."""
        return describe_worse(self.findings)

    @property
    def same_notes(self) -> bool:
        """Tell whether the same sentences are added for all subjects of the row."""
        if "notes" not in self._same:
            first = list_notes(self.first)
            self._same["notes"] = all(list_notes(finding) == first for finding in self.findings)
        return self._same["notes"]

    def group_by_node(self) -> list[tuple[str, list[Doc]]]:
        """Return the nodes of the row, the worst first, each with its findings, worst first."""
        found: dict[str, list[Doc]] = {}
        for finding in self.findings:
            found.setdefault(finding["node"], []).append(finding)
        return list(found.items())

    def split_shown(self, most: int) -> tuple[list[Doc], list[Doc]]:
        """Return the findings that are told with their evidence, and the rest in short.

        The first are the worst `most` and the worst of every node, of that as many again at the utmost.
        """
        worst = {id(own[0]) for _, own in self.group_by_node()}
        told: list[Doc] = []
        rest: list[Doc] = []
        for place, one in enumerate(self.findings):
            wanted = place < most or (id(one) in worst and len(told) < 3 * most)
            (told if wanted and (one["trace"] or one["evidence"] or not place) else rest).append(
                one
            )
        return told, rest


def list_columns(findings: list[Doc]) -> list[str]:
    """Return the names of the values that findings differ in; none when they do not tell the same ones."""
    names = list(findings[0]["values"]) if findings else []
    if any(list(one["values"]) != names for one in findings):
        return []
    return names[:6]


def list_unchecked(doc: Doc, row: FindingGroup) -> list[str]:
    """Return what could not be checked of a row, one sentence for each reason."""
    return list_doubts(row.findings, {node["name"]: node["kind"] for node in doc["nodes"]})


def count_by_node(row: FindingGroup, most: int) -> str:
    """Return how many subjects of a row each node has: `esx01 50, esx02 50`; empty when there is one node."""
    nodes = row.group_by_node()
    if len(nodes) < 2:
        return ""
    return join_few([f"{name or 'no name'} {len(own):,}" for name, own in nodes], most)


def list_cuts(doc: Doc, rule: str = "") -> list[str]:
    """Return in sentences of which rules not all subjects are told in full; `rule` names one."""
    return [cut["say"] for cut in doc["cuts"] if rule in ("", cut["rule"])]


def group_findings(doc: Doc) -> list[FindingGroup]:
    """Return the findings that count, folded by rule and weight, in the order of `analyzer.case.ranking`."""
    live = [finding for finding in doc["findings"] if not finding["muted"]]
    return [FindingGroup(row.findings) for row in order_rows(show_as_one(live))]


def group_muted(doc: Doc) -> list[FindingGroup]:
    """Return the findings somebody has muted, folded the same way."""
    return [
        FindingGroup(row.findings)
        for row in order_rows([one for one in doc["findings"] if one["muted"]])
    ]


def list_unknowns(doc: Doc, *, muted: bool = False) -> list[Doc]:
    """Return what cannot be told and is not muted, or is."""
    return [group for group in doc["cannot_tell"] if bool(group["muted"]) is muted]


def show_as_one(findings: list[Doc]) -> list[Doc]:
    """Return findings, those that only the version tells under one title: dozens of headings would bury the others.

    Their own title stands before what they say.
    """
    many = rules_by_version(findings)
    return [_under_one_title(one, many) for one in findings] if many else findings


def _under_one_title(one: Doc, many: dict[str, int]) -> Doc:
    if one["rule"] not in many or not is_of_version(one):
        return one
    articles = f" KB {', '.join(map(str, one['kb']))}." if one["kb"] else ""
    title = f"{many[one['rule']]} known faults of this release, by its version alone"
    return {**one, "title": title, "say": f"{one['title']}. {one['say']}{articles}", "kb": []}
