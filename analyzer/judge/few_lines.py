"""Lines of known problems in an excerpt, where their rule asks for more of them: too few to be a finding.

A rule that asks for ten lines within a minute is right to be quiet about three in a whole log. Of an excerpt that
somebody chose, three lines are what was chosen: they come below the findings, with what the rule asks for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from analyzer.case.verdicts import Judgement
from analyzer.facts import Facts
from analyzer.rules import Rule
from analyzer.rules.short import CLEARED, SIGN
from analyzer.runtime.text import span_in_words
from analyzer.scan.hits import Hit, first_and_last

KIND = "few lines"


def find_few_lines(
    rules: Sequence[Rule], facts: Facts, judgement: Judgement, nodes: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the signs of rules that found nothing on machines of which no bundle was given: records of the document.

    rules  of the catalog; only those are looked at whose sign hit a line
    nodes  of the document
    """
    loose = {str(node["id"]) for node in nodes if not node["bundle"]}
    judged = {(finding.rule, finding.node) for finding in judgement.findings}
    shown: set[tuple[str, int]] = set()
    for finding in judgement.findings:
        shown.update((line.address, line.line) for line in finding.evidence)
    seen = group_hits(facts, loose, shown)
    hit = {signature.partition("/")[0] for _, signature in seen}
    found: list[dict[str, Any]] = []
    for rule in rules if hit else ():
        if rule.id not in hit:
            continue
        for node in sorted(loose):
            if (rule.id, node) not in judged:
                found += list_signs(rule, node, seen)
    return found


def group_hits(
    facts: Facts, nodes: Collection[str], shown: Collection[tuple[str, int]]
) -> dict[tuple[str, str], list[Hit]]:
    """Return the lines of each signature on each node, without those that a finding rests on."""
    found: dict[tuple[str, str], dict[tuple[str, int], Hit]] = {}
    for scan in facts.scans:
        node = facts.name(scan.node)
        if node not in nodes:
            continue
        for hit in scan.hits:
            place = hit.address, hit.line
            if place not in shown:
                found.setdefault((node, hit.signature), {}).setdefault(place, hit)
    return {key: list(hits.values()) for key, hits in found.items()}


def list_signs(
    rule: Rule, node: str, seen: Mapping[tuple[str, str], list[Hit]]
) -> Iterator[dict[str, Any]]:
    """Yield what one rule found on one node: the sign that it asks for several times, or could not judge."""
    if all(outcome.severity == "info" for outcome in rule.outcomes) or CLEARED in rule.logs:
        return
    asked = {}
    for question in rule.seen.values():
        if len(question.logs) == 1 and question.at_least > 1:
            asked[question.logs[0]] = question
    for name in sorted({SIGN, *asked} & set(rule.logs)):
        hits = seen.get((node, f"{rule.id}/{name}"), [])
        if not hits or rule.logs[name].where is not None:
            continue
        needs = "needs more than this line"
        wanted = asked.get(name)
        if wanted is not None:
            within = f" within {span_in_words(wanted.within)}" if wanted.within else ""
            needs = f"asks for {wanted.at_least} lines{within}"
        record = {"node": node, "kind": KIND, "what": f"{rule.id} {needs}", "title": rule.title}
        yield record | first_and_last(hits)
