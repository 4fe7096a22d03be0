"""Lines of known problems in an excerpt, where their rule asks for more of them: too few to be a finding.

A rule that asks for ten lines within a minute is right to be quiet about three in a whole log. Of an excerpt that
somebody chose, three lines are what was chosen: they stand below the findings, with what the rule asks for.
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


def few_lines(
    rules: Sequence[Rule], facts: Facts, judgement: Judgement, nodes: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the signs of rules that found nothing on machines of which no bundle was given: records of the document.

    rules  of the catalog; only those are looked at whose sign hit a line
    nodes  of the document
    """
    loose = {str(node["id"]) for node in nodes if not node["bundle"]}
    told = {(one.rule, one.node) for one in judgement.findings}
    shown = {(line.address, line.line) for one in judgement.findings for line in one.evidence}
    seen = _hits(facts, loose, shown)
    if not seen:
        return []
    hit = {signature.partition("/")[0] for _, signature in seen}
    found = []
    for rule in (one for one in rules if one.id in hit):
        for node in sorted(loose):
            if (rule.id, node) not in told:
                found += list(_of_rule(rule, node, seen))
    return found


def _hits(
    facts: Facts, nodes: Collection[str], shown: Collection[tuple[str, int]]
) -> dict[tuple[str, str], list[Hit]]:
    """Return the lines of each signature on each node, without those that a finding rests on."""
    found: dict[tuple[str, str], dict[tuple[str, int], Hit]] = {}
    for scan in facts.scans:
        node = facts.name(scan.node)
        if node in nodes:
            for hit in (one for one in scan.hits if (one.address, one.line) not in shown):
                found.setdefault((node, hit.signature), {}).setdefault((hit.address, hit.line), hit)
    return {key: list(hits.values()) for key, hits in found.items()}


def _of_rule(
    rule: Rule, node: str, seen: Mapping[tuple[str, str], list[Hit]]
) -> Iterator[dict[str, Any]]:
    """Yield what is told of one rule on one node: the sign that it asks for several times, or could not judge."""
    if all(outcome.severity == "info" for outcome in rule.outcomes) or CLEARED in rule.logs:
        return
    asked = {
        one.logs[0]: one for one in rule.seen.values() if len(one.logs) == 1 and one.at_least > 1
    }
    for name in sorted({SIGN, *asked} & set(rule.logs)):
        hits = seen.get((node, f"{rule.id}/{name}"), [])
        if not hits or rule.logs[name].where is not None:
            continue
        wanted = asked.get(name)
        within = f" within {span_in_words(wanted.within)}" if wanted and wanted.within else ""
        needs = (
            f"asks for {wanted.at_least} lines{within}" if wanted else "needs more than this line"
        )
        told = {"node": node, "kind": KIND, "what": f"{rule.id} {needs}", "title": rule.title}
        yield told | first_and_last(hits)
