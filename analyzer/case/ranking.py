"""Worst first: the one order of findings, stories, hosts and objects, for every output.

A story is a row of findings that no other row explains, with the rows that it explains. Stories of which something
was seen come before those that a version alone tells: every machine of that version has these. Then they go by the
worst severity in them, then by how many times a figure is over its bar, then by how sure the finding is, then by the
first time. How many objects there are never counts.
Where all of that is alike, host, object and rule decide when a document is made (`place_findings`); after that its own
order does, so that a redacted copy has the order of its original.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TypeVar

from analyzer.case.verdicts import CONFIDENCES, SEVERITIES, Finding, Verdict

Thing = TypeVar("Thing", bound=Hashable)
TITLES_APART = 3  # titles of one rule that only the version tells; more are one row
_LIVE, _MUTED, _BROKEN = range(3)
_NO_TIME = "~"  # after every time


@dataclass(frozen=True, slots=True, order=True)
class Weight:
    """How bad a finding is; the smaller comes first.

    tier        what counts, then what is muted, then rules that broke
    by_version  no sign of it was seen, only the version fits
    less        minus the times that its figure is over its bar, infinite when no figure tells
    """

    tier: int
    severity: int
    by_version: bool
    less: float
    confidence: int

    @classmethod
    def of(cls, severity: str, confidence: str, excess: float | None, tier: int = _LIVE) -> Weight:
        """Return the weight of a verdict in the words of a rule."""
        if confidence in CONFIDENCES:
            sureness = CONFIDENCES.index(confidence)
        else:
            sureness = len(CONFIDENCES)
        return cls(
            tier, severity_rank(severity), confidence == "exposed", largest_first(excess), sureness
        )

    def as_numbers(self) -> list[float]:
        """Return the weight for a program that knows no infinite number; the smaller comes first."""
        return [
            self.tier,
            self.severity,
            int(self.by_version),
            min(self.less, sys.float_info.max),
            self.confidence,
        ]


RowKey = tuple[Weight, str]  # how bad the worst finding of a row is, and the first time


@dataclass(slots=True)
class RankedRow:
    """Findings of one fault at one weight, worst first.

    place   of its first finding among all as they came in
    causes  numbers of the rows that explain any of its findings
    parent  number of the row that explains it as a whole, None when it stands by itself
    """

    findings: list[Finding]
    key: RowKey
    place: int
    causes: set[int] = field(default_factory=set)
    parent: int | None = None


def severity_rank(word: str) -> int:
    """Return the place of a severity, the worst 0; that of a word which is none comes last."""
    if word in SEVERITIES:
        return SEVERITIES.index(word)
    return len(SEVERITIES)


def weigh_finding(finding: Finding) -> Weight:
    """Return how bad a finding is by itself."""
    if finding.verdict == Verdict.ERROR:
        tier = _BROKEN
    else:
        tier = _LIVE
    if finding.muted:
        tier = _MUTED
    return Weight.of(finding.severity, finding.confidence, finding.excess, tier)


def place_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings as a new document holds them: worst first, and where that leaves a tie by their names."""
    by_name = sorted(
        findings,
        key=lambda one: (one.node, one.object, one.rule, one.subject, one.id),
    )
    return order_findings(by_name)


def order_findings(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings in the order in which every output has them; what is alike keeps its order.

    First the stories, then what is muted, then the rules that broke.
    """
    return [finding for row in order_rows(findings) for finding in row.findings]


def order_rows(findings: Sequence[Finding]) -> list[RankedRow]:
    """Return all rows as they are read: each story worst first, then what it explains; muted ones after them."""
    return [row for story in rank_stories(findings) for row in story]


def rank_stories(findings: Sequence[Finding]) -> list[list[RankedRow]]:
    """Return the stories, worst first: a row that no other explains, then those that it explains, causes before signs.

    A row is explained when each of its findings has a cause in another row that counts. Causes in a circle, which no
    shipped rules make, explain nothing.
    """
    rows = fold_rows(findings)
    find_causes(rows)
    stories: dict[int, list[int]] = {}
    for number, root in enumerate(find_roots(rows)):
        stories.setdefault(root, []).append(number)
    ranked = [
        [rows[number] for number in order_story(rows, root, own)] for root, own in stories.items()
    ]
    return sorted(ranked, key=weigh_story)


def weigh_story(story: Sequence[RankedRow]) -> tuple[int, bool, RowKey, int]:
    """Return what orders stories; one of which nothing was seen comes after all that was."""
    weights = [row.key[0] for row in story]
    tier = min(weight.tier for weight in weights)
    by_version = all(weight.by_version for weight in weights)
    return tier, by_version, min(row.key for row in story), min(row.place for row in story)


def rank_things(
    findings: Sequence[Finding], things_of: Callable[[Finding], Iterable[Thing]]
) -> dict[Thing, int]:
    """Return the place of each host, or of each object, by the worst finding on it: the worst is 0.

    A finding that rests on a version alone comes after all that was seen: every machine of that version has it. Of
    equal severity, what comes first in the order of all findings counts. A thing without a finding that counts has no
    place.

    things_of  gives the names of what a finding is about
    """
    best: dict[Thing, tuple[int, bool, int, int]] = {}
    for place, finding in enumerate(order_findings(findings)):
        weight = weigh_finding(finding)
        if weight.tier == _MUTED:
            continue
        key = (weight.tier, weight.by_version, weight.severity, place)
        for thing in things_of(finding):
            best[thing] = min(key, best.get(thing, key))
    ranked = sorted(best, key=best.__getitem__)
    return {thing: place for place, thing in enumerate(ranked)}


def rank_hosts(findings: Sequence[Finding]) -> dict[str, int]:
    """Return the place of each host by its name; see `rank_things`."""
    return rank_things(findings, lambda one: [one.node] if one.node else [])


def key_of_row(finding: Finding, merged: Collection[str]) -> tuple[object, ...]:
    """Return what the findings of one row share: the fault, and how severe and how sure it is.

    merged  rules of `rules_by_version`
    """
    weight = (finding.verdict, finding.severity, finding.confidence, finding.muted)
    if finding.rule in merged and is_of_version(finding):
        return finding.rule, *weight
    return finding.rule, finding.title, *finding.kb, *weight


def is_of_version(finding: Finding) -> bool:
    """Say whether a finding is one of many that a version alone tells, and mild."""
    mild = finding.confidence == "exposed" and finding.severity == "info"
    return bool(mild and not finding.muted)


def rules_by_version(findings: Iterable[Finding]) -> dict[str, int]:
    """Return the rules with so many such titles that they are one row, with the number of titles."""
    titles: dict[str, set[str]] = {}
    for one in findings:
        if is_of_version(one):
            titles.setdefault(one.rule, set()).add(one.title)
    return {rule: len(several) for rule, several in titles.items() if len(several) > TITLES_APART}


def fold_rows(findings: Sequence[Finding]) -> list[RankedRow]:
    """Return findings as rows, each with its weight and its first time."""
    merged = rules_by_version(findings)
    folded: dict[tuple[object, ...], list[tuple[int, Finding]]] = {}
    for place, finding in enumerate(findings):
        folded.setdefault(key_of_row(finding, merged), []).append((place, finding))
    rows = []
    for own in folded.values():
        worst_first = [
            finding for _, finding in sorted(own, key=lambda one: order_within_row(one[1]))
        ]
        weight = weigh_finding(worst_first[0])
        first_time = min(finding.first_seen or _NO_TIME for finding in worst_first)
        rows.append(RankedRow(worst_first, (weight, first_time), own[0][0]))
    return rows


def order_within_row(finding: Finding) -> tuple[float, float, str]:
    """Return what orders findings of one row, which weigh the same but for their figures (`key_of_row`)."""
    return (
        largest_first(finding.excess),
        largest_first(finding.magnitude),
        finding.first_seen or _NO_TIME,
    )


def largest_first(number: float | None) -> float:
    """Return a number by which the largest comes first, and one that is not known last."""
    if number is None or math.isnan(number):
        return math.inf
    return -number


def find_causes(rows: Sequence[RankedRow]) -> None:
    """Note in each row that counts which rows explain it; of several that explain all of it the worst is its parent."""
    home = {
        finding.id: number
        for number, row in enumerate(rows)
        for finding in row.findings
        if row.key[0].tier != _MUTED
    }
    for number, row in enumerate(rows):
        if row.key[0].tier != _LIVE:
            continue
        of_each = []
        for finding in row.findings:
            of_each.append({home[one] for one in finding.explained_by if one in home} - {number})
        row.causes = set().union(*of_each)
        if all(of_each):
            row.parent = min(of_each[0], key=lambda one: (rows[one].key, rows[one].place))


def find_roots(rows: Sequence[RankedRow]) -> list[int]:
    """Return for each row the one that its chain of causes begins with: itself where they form a circle."""
    roots: dict[int, int | None] = {}
    for number in range(len(rows)):
        path: list[int] = []
        at = number
        while at not in roots:
            path.append(at)
            roots[at] = None  # until it is known: whoever meets it again has gone in a circle
            parent = rows[at].parent
            if parent is None:
                roots[at] = at
                break
            at = parent
        for row in path:
            roots[row] = roots[at]
    return [number if root is None else root for number, root in sorted(roots.items())]


def order_story(rows: Sequence[RankedRow], root: int, numbers: Sequence[int]) -> list[int]:
    """Return the rows of a story: the root, then always the worst of those whose causes come before it.

    Where causes form a circle the worst of them comes first.
    """
    signs = set(numbers) - {root}
    waiting = {number: len(rows[number].causes & signs) for number in signs}
    explained: dict[int, list[int]] = {}
    for number in waiting:
        for cause in rows[number].causes:
            explained.setdefault(cause, []).append(number)
    by_key = sorted(waiting, key=lambda number: (rows[number].key, rows[number].place))
    ranks = {number: rank for rank, number in enumerate(by_key)}
    free = [(rank, number) for number, rank in ranks.items() if not waiting[number]]
    left = iter(by_key)
    order = [root]
    done = {root}
    while len(order) < len(numbers):
        _, number = heappop(free) if free else (0, next(left))
        if number in done:
            continue
        done.add(number)
        order.append(number)
        for sign in explained.get(number, ()):
            waiting[sign] -= 1
            if waiting[sign] == 0 and sign not in done:
                heappush(free, (ranks[sign], sign))
    return order
