"""Pairs of rules that speak of one line: every match example of a rule is judged by all rules of the catalog.

Two findings that rest on one line need a relation, or a customer reads one fault twice. There are three ways to give one:
a rule names the other under `explained_by`; both lead to one cause that is in the case; or the table `kb.rule_pair`
says what the other one adds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from analyzer.case.verdicts import Finding, Judgement, Verdict
from analyzer.facts import Facts
from analyzer.judge import EvidencePlace, judge, list_places
from analyzer.pipeline import examples
from analyzer.rules import Catalog, Example, Rule
from analyzer.rules.column_usage import needs_of
from analyzer.runtime.errors import BacklineError
from analyzer.scan.signatures import Scanner

TABLE = "kb.rule_pair"  # pairs of rules that say different things of one line


@dataclass(frozen=True, slots=True)
class Overlap:
    """Findings of two rules that rest on one line and have no relation.

    example  name of the example of `rule` that shows it; line: what both rest on
    """

    rule: str
    beside: str
    example: str
    line: str


def find_overlaps(asked: Iterable[Rule], catalog: Catalog) -> Iterator[Overlap]:
    """Yield the pairs without a relation that the match examples of some rules show, each pair once a rule.

    catalog  all rules, those asked among them; its tables hold the pairs that are declared
    """
    related = list_relations(catalog)
    for one in list_pairs(asked, catalog):
        if frozenset((one.rule, one.beside)) not in related:
            yield one


def list_pairs(asked: Iterable[Rule], catalog: Catalog) -> Iterator[Overlap]:
    """Yield the pairs of different stories that the match examples of some rules show, whether declared or not."""
    scanner = Scanner(catalog.signatures())
    for rule in asked:
        seen = {rule.id}
        shared = examples.Shared()
        for example in rule.examples:
            if example.made or example.gap or example.expect.get("result") != "match":
                continue
            for names, line in judge_example(rule, example, catalog, scanner, shared):
                beside = min(names - {rule.id})
                if rule.id in names and beside not in seen:
                    seen.add(beside)
                    yield Overlap(rule.id, beside, example.name, line)


def list_relations(catalog: Catalog) -> set[frozenset[str]]:
    """Return the pairs of rules of which one names the other as its cause, and those of kb.rule_pair."""
    pairs = set()
    for rule in catalog.rules:
        for name in rule.explained_by:
            pairs.add(frozenset((rule.id, name.partition("/")[0])))
    table = catalog.tables.get(TABLE)
    for cells in table.own_rows if table is not None else ():
        pairs.add(frozenset((str(cells["rule"]), str(cells["beside"]))))
    return pairs


def judge_example(
    rule: Rule, example: Example, catalog: Catalog, scanner: Scanner, shared: examples.Shared
) -> Iterator[tuple[frozenset[str], str]]:
    """Yield two rules and a line for all findings of an example that rest on one line and belong to different stories."""
    try:
        facts = examples.facts_of(rule, example, shared, scanner)
    except BacklineError:  # its own run says so
        return
    try:
        asked = list_speakers(catalog, facts)
        judgement = judge(Catalog(asked, tables=catalog.tables), facts)
    finally:
        facts.close()
    roots = find_roots(judgement)
    at: defaultdict[EvidencePlace, list[Finding]] = defaultdict(list)
    for finding in judgement.findings:
        if finding.verdict == Verdict.MATCH:
            for place in list_places(finding):
                at[place].append(finding)
    for place, findings in at.items():
        for one, other in combinations(findings, 2):
            if one.rule != other.rule and not roots[one.id] & roots[other.id]:
                yield frozenset((one.rule, other.rule)), place[2]


def list_speakers(catalog: Catalog, facts: Facts) -> list[Rule]:
    """Return the rules of which a case holds lines or rows; one that only misses something rests on no line of it."""
    hit = {one.signature.partition("/")[0] for scan in facts.scans for one in scan.hits}
    found = []
    for rule in catalog.rules:
        if rule.id in hit or any(facts.count(name) for name in needs_of(rule).tables):
            found.append(rule)
    return found


def find_roots(judgement: Judgement) -> Mapping[str, set[str]]:
    """Return for each finding the ids of those that its chains of causes begin with, itself without a cause."""
    by_id = {finding.id: finding for finding in judgement.findings}
    roots: dict[str, set[str]] = {}

    def follow(name: str) -> set[str]:
        if name not in roots:
            roots[name] = {name}  # causes never form a circle here
            causes = [one for one in by_id[name].explained_by if one in by_id]
            if causes:
                roots[name] = set().union(*(follow(one) for one in causes))
        return roots[name]

    for name in by_id:
        follow(name)
    return roots
