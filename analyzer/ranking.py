"""Worst first: the one order of findings, stories, hosts and objects, for every output.

A story is a row of findings that no other row explains, with the rows that it explains. Stories go by the worst
severity in them, then by how bad that is: what was seen before what a version alone tells, then how many times a
figure is over its bar, then how sure the finding is, then the first time. How many objects there are never counts.
Where all of that is alike, host, object and rule decide when a document is made (`place_findings`); after that its own
order does, so that a redacted copy has the order of its original.

Everything here takes findings as a case document has them: worst first needs no more than the keys of `RANKED`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeVar

from analyzer.lazy_dataclass import dataclass
from analyzer.verdicts import CONFIDENCES, SEVERITIES, Verdict

Doc = dict[str, Any]
Thing = TypeVar("Thing", bound=Hashable)
RANKED = (
    "id", "rule", "title", "kb", "node", "subject", "object", "verdict", "severity", "confidence", "explained_by",
    "first_seen", "muted", "excess", "magnitude",
)  # fmt: skip
TOLD_APART = 3  # titles of one rule that only the version tells; more are one row
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
        sureness = CONFIDENCES.index(confidence) if confidence in CONFIDENCES else len(CONFIDENCES)
        return cls(tier, severity_rank(severity), confidence == "exposed", _largest_first(excess), sureness)

    def as_numbers(self) -> list[float]:
        """Return the weight for a program that knows no infinite number; the smaller comes first."""
        return [self.tier, self.severity, int(self.by_version), min(self.less, sys.float_info.max), self.confidence]


RowKey = tuple[Weight, str]  # how bad the worst finding of a row is, and the first time


@dataclass(slots=True)
class RankedRow:
    """Findings of one fault at one weight, worst first, and the rows that it explains.

    place  of its first finding among all as they came in
    whole  what orders the row together with all that it explains: the worst key of them, and the first place
    """

    findings: list[Doc]
    key: RowKey
    place: int
    signs: list[RankedRow] = field(default_factory=list)
    whole: tuple[RowKey, int] = field(init=False)

    def __post_init__(self) -> None:
        self.whole = self.key, self.place

    def take_signs(self) -> None:
        """Sort the rows that it explains, whose own order is settled, and count them in."""
        self.signs.sort(key=lambda sign: sign.whole)
        keys = [self.whole, *(sign.whole for sign in self.signs)]
        self.whole = min(key for key, _ in keys), min(place for _, place in keys)

    def all_rows(self) -> list[RankedRow]:
        """Return this row and all that it explains, each cause before its signs."""
        rows: list[RankedRow] = []
        waiting = [self]
        while waiting:
            row = waiting.pop()
            rows.append(row)
            waiting += reversed(row.signs)
        return rows


def severity_rank(word: str) -> int:
    """Return the place of a severity, the worst 0; that of a word which is none comes last."""
    return SEVERITIES.index(word) if word in SEVERITIES else len(SEVERITIES)


def weigh_finding(finding: Doc) -> Weight:
    """Return how bad a finding is by itself."""
    tier = _MUTED if finding["muted"] else _LIVE
    if finding["verdict"] == Verdict.ERROR:
        tier = _BROKEN
    return Weight.of(finding["severity"], finding["confidence"], finding["excess"], tier)


def place_findings(findings: Iterable[Doc]) -> list[Doc]:
    """Return findings as a new document holds them: worst first, and where that leaves a tie by their names."""
    by_name = sorted(findings, key=lambda one: (one["node"], one["object"], one["rule"], one["subject"], one["id"]))
    return order_findings(by_name)


def order_findings(findings: Sequence[Doc]) -> list[Doc]:
    """Return findings in the order in which every output has them; what is alike keeps its order.

    First the stories, then what is muted, then the rules that broke.
    """
    return [finding for row in order_rows(findings) for finding in row.findings]


def order_rows(findings: Sequence[Doc]) -> list[RankedRow]:
    """Return all rows as they are read: each story worst first, then what it explains; muted ones after them."""
    return [row for story in rank_stories(findings) for row in story.all_rows()]


def rank_stories(findings: Sequence[Doc]) -> list[RankedRow]:
    """Return the rows that no other explains, worst first, each with those that it explains.

    A row is explained when each of its findings has a cause in another row that counts. Causes in a circle, which no
    shipped rules make, explain nothing.
    """
    rows = _fold_rows(findings)
    parents = _find_causes(rows)
    depths = _count_causes(parents)
    deepest_first = sorted(range(len(rows)), key=lambda number: -depths[number])
    for number in deepest_first:  # each row after all that it explains
        row, above = rows[number], parents[number]
        row.take_signs()
        if depths[number] and above is not None:
            rows[above].signs.append(row)
    return sorted((row for row, depth in zip(rows, depths, strict=True) if not depth), key=lambda row: row.whole)


def rank_things(findings: Sequence[Doc], things_of: Callable[[Doc], Iterable[Thing]]) -> dict[Thing, int]:
    """Return the place of each host, or of each object, by the worst finding on it: the worst is 0.

    A finding that rests on a version alone comes after all that was seen: every machine of that version has it. Of
    equal severity, what comes first in the order of all findings counts. A thing without a finding has no place.

    things_of  gives the names of what a finding is about
    """
    best: dict[Thing, tuple[int, bool, int, int]] = {}
    for place, finding in enumerate(order_findings(findings)):
        weight = weigh_finding(finding)
        key = (weight.tier, weight.by_version, weight.severity, place)
        for thing in things_of(finding):
            best[thing] = min(key, best.get(thing, key))
    ranked = sorted(best, key=best.__getitem__)
    return {thing: place for place, thing in enumerate(ranked)}


def rank_hosts(findings: Sequence[Doc]) -> dict[str, int]:
    """Return the place of each host by its name; see `rank_things`."""
    return rank_things(findings, lambda one: [one["node"]] if one["node"] else [])


def row_of(finding: Doc, merged: Collection[str]) -> tuple[object, ...]:
    """Return what the findings of one row share: the fault, and how severe and how sure it is.

    merged  rules of `rules_by_version`
    """
    weight = (finding["verdict"], finding["severity"], finding["confidence"], finding["muted"])
    if finding["rule"] in merged and is_of_version(finding):
        return finding["rule"], *weight
    return finding["rule"], finding["title"], *finding["kb"], *weight


def is_of_version(finding: Doc) -> bool:
    """Tell whether a finding is one of many that a version alone tells, and mild."""
    mild = finding["confidence"] == "exposed" and finding["severity"] == "info"
    return bool(mild and not finding["muted"])


def rules_by_version(findings: Iterable[Doc]) -> dict[str, int]:
    """Return the rules with so many such titles that they are one row, with the number of titles."""
    titles: dict[str, set[str]] = {}
    for one in findings:
        if is_of_version(one):
            titles.setdefault(one["rule"], set()).add(one["title"])
    return {rule: len(several) for rule, several in titles.items() if len(several) > TOLD_APART}


def _fold_rows(findings: Sequence[Doc]) -> list[RankedRow]:
    merged = rules_by_version(findings)
    folded: dict[tuple[object, ...], list[tuple[int, Doc]]] = {}
    for place, finding in enumerate(findings):
        folded.setdefault(row_of(finding, merged), []).append((place, finding))
    rows = []
    for own in folded.values():
        worst_first = [finding for _, finding in sorted(own, key=lambda one: _within_row(one[1]))]
        weight = min(weigh_finding(finding) for finding in worst_first)
        first_time = min(finding["first_seen"] or _NO_TIME for finding in worst_first)
        rows.append(RankedRow(worst_first, (weight, first_time), own[0][0]))
    return rows


def _within_row(finding: Doc) -> tuple[Weight, float, str]:
    """Return what orders findings of one row: by the number that their rule measures them with."""
    return weigh_finding(finding), _largest_first(finding["magnitude"]), finding["first_seen"] or _NO_TIME


def _largest_first(number: float | None) -> float:
    """Return a number by which the largest comes first, and one that is not known last."""
    return math.inf if number is None or math.isnan(number) else -number


def _find_causes(rows: Sequence[RankedRow]) -> list[int | None]:
    """Return for each row the row that explains all its findings, the worst of several; None for one by itself."""
    home = {
        finding["id"]: number
        for number, row in enumerate(rows)
        for finding in row.findings
        if row.key[0].tier != _MUTED
    }
    return [_find_cause(rows, home, number) for number in range(len(rows))]


def _find_cause(rows: Sequence[RankedRow], home: Mapping[str, int], number: int) -> int | None:
    if rows[number].key[0].tier != _LIVE:
        return None
    causes: dict[int, None] = {}
    for finding in rows[number].findings:
        own = {home[one] for one in finding["explained_by"] if home.get(one, number) != number}
        if not own:
            return None
        causes = causes or dict.fromkeys(own)
    return min(causes, key=lambda one: (rows[one].key, rows[one].place))


def _count_causes(parents: Sequence[int | None]) -> list[int]:
    """Return how many causes stand one above the other over each row; 0 too where they form a circle."""
    depths: dict[int, int | None] = {}
    for number in range(len(parents)):
        path: list[int] = []
        at: int | None = number
        while at is not None and at not in depths:
            path.append(at)
            depths[at] = None  # until it is known: whoever meets it again has gone in a circle
            at = parents[at]
        above = -1 if at is None else depths[at]
        for row in reversed(path):
            above = depths[row] = None if above is None else above + 1
    return [depths[number] or 0 for number in range(len(parents))]
