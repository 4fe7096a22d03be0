"""Relations between findings: ids, causes and signs, the order to read them in."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from analyzer.verdicts import CONFIDENCES, SEVERITIES, Finding, Verdict

_SLUG = re.compile(r"[^a-z0-9]+")


def relate(findings: list[Finding], explained_by: Mapping[str, Sequence[str]]) -> None:
    """Give ids, tie each sign to its cause, and sort worst first with a cause before its signs.

    `explained_by` maps a rule to the rules whose finding on the same object explains it.
    """
    _name(findings)
    _tie(findings, explained_by)
    rank = _effective(findings)
    subjects = Counter(finding.rule for finding in findings)
    findings.sort(
        key=lambda one: (
            one.verdict == Verdict.ERROR,
            rank[one.id],
            bool(one.explained_by),
            CONFIDENCES.index(one.confidence),
            -subjects[one.rule],
            one.rule,
            one.trace is None,  # told in short
            -(one.magnitude if one.magnitude is not None else -math.inf),
            one.id,
        )
    )


def slug(text: str) -> str:
    """Return a name as a part of an id: a-z, 0-9 and dashes."""
    return _SLUG.sub("-", text.lower()).strip("-")[:80].rstrip("-") or "case"


def _name(findings: list[Finding]) -> None:
    """Give each finding an id that is the same in every run: rule/object, with the node where two have one.

    What a row of the catalog tells (its key stands as id till now) is rule/row/object.
    """
    groups: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        row = f"{slug(finding.id)}/" if finding.id else ""
        groups[f"{finding.rule}/{row}{slug(finding.object)}"].append(finding)
    for base, members in groups.items():
        nodes = {finding.node for finding in members}
        taken: Counter[str] = Counter()
        for finding in members:
            name = base if len(nodes) == 1 else f"{base}@{slug(finding.node)}"
            taken[name] += 1
            finding.id = name if taken[name] == 1 else f"{name}-{taken[name]}"


def _same(text: str) -> str:
    return " ".join(text.lower().split())


def _tie(findings: Sequence[Finding], explained_by: Mapping[str, Sequence[str]]) -> None:
    matches = [finding for finding in findings if finding.verdict == Verdict.MATCH]
    by_rule: defaultdict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in matches:
        by_rule[finding.rule, _same(finding.object)].append(finding)
    for sign in matches:
        for rule in explained_by.get(sign.rule, ()):
            causes = by_rule[rule, _same(sign.object)]
            near = [cause for cause in causes if cause.node == sign.node]
            for cause in near or causes:
                if cause is sign:
                    continue
                sign.explained_by.append(cause.id)
                cause.explains.append(sign.id)


def _effective(findings: Sequence[Finding]) -> dict[str, int]:
    """Return the rank of severity by id; a cause is as severe as the worst of its signs."""
    rank = {finding.id: SEVERITIES.index(finding.severity) for finding in findings}
    for _ in range(10):  # chains of causes; a circle stops by itself
        changed = False
        for finding in findings:
            worst = min([rank[finding.id], *(rank[sign] for sign in finding.explains)])
            changed = changed or worst != rank[finding.id]
            rank[finding.id] = worst
        if not changed:
            break
    return rank
