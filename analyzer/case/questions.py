"""Which findings an open question bears on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from analyzer.case.document import CannotTellGroup
from analyzer.case.verdicts import Finding, Verdict

ASKED = " Ask for: "  # in a sentence of a finding, before what to request


def link_questions(
    questions: Sequence[CannotTellGroup],
    findings: Iterable[Finding],
    causes: Mapping[str, Sequence[str]],
) -> None:
    """Write under `settles` of each question the rules whose findings an answer would settle.

    These are findings that could be worse or say what they could not check, and on the same machine those of a rule
    in need of it, and those that a rule in need of it may explain (`causes`: rule -> rules).
    """
    # A rule, or a cause of it -> the finding's rule and node.
    places: dict[str, set[tuple[str, str]]] = {}
    worse: dict[str, set[str]] = {}  # table -> rules
    doubts: dict[str, set[tuple[str, str]]] = {}  # what a finding asks for -> its rule, and why
    for finding in findings:
        if finding.verdict != Verdict.MATCH or finding.muted:
            continue
        for rule in (finding.rule, *causes.get(finding.rule, ())):
            places.setdefault(rule, set()).add((finding.rule, finding.node))
        for table in finding.maybe_worse:
            worse.setdefault(table, set()).add(finding.rule)
        for line in finding.also:
            why, found, asked = line.partition(ASKED)
            if found:
                doubts.setdefault(asked.rstrip("."), set()).add((finding.rule, why))
    for question in questions:
        settled = set(worse.get(question.missing, ()))
        for needing in question.rules:
            for rule, node in places.get(needing, ()):
                if not node or not question.nodes or node in question.nodes:
                    settled.add(rule)
        asked_by = doubts.get(question.ask.rstrip("."), set())
        for rule, why in asked_by:
            # A reason that names another missing table is no matter of this question.
            named = [one.missing for one in questions if one.ask == question.ask]
            named = [missing for missing in named if f"({missing})" in why]
            if not named or question.missing in named:
                settled.add(rule)
        question.settles = sorted(settled)
