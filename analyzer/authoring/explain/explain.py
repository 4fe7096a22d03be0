"""Explains what a rule says of a case: every subject with its tree, near miss and evidence.

`explain` judges one rule over facts; `stored` takes what a case document has kept of it. Both
give an `Explanation`, plain records that explain_text lays out and `record` makes JSON of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from analyzer.authoring.explain.casework import CaseRead
from analyzer.case import case_file
from analyzer.case.case_file import clean_value
from analyzer.case.document import CaseDocument
from analyzer.case.verdicts import (
    SEVERITIES,
    Evidence,
    Finding,
    Judgement,
    Mark,
    NearMiss,
    Trace,
    Verdict,
)
from analyzer.facts import Facts
from analyzer.judge import judge
from analyzer.judge.trace import explain_table
from analyzer.rules import Catalog, Rule
from analyzer.runtime.errors import UsageError
from analyzer.runtime.limits import Limits
from analyzer.runtime.text import one_line

_ORDER = [
    Verdict.ERROR,
    Verdict.MATCH,
    Verdict.CANNOT_TELL,
    Verdict.NO_MATCH,
    Verdict.NOT_APPLICABLE,
]


@dataclass(slots=True)
class SubjectExplanation:
    """One subject: the verdict and everything it rests on.

    say    what the finding says, of a match, and `also` what was added; why: why the rule cannot tell, of another
    marks  number of a line of `trace`, 0 the top -> what kept the rule from matching
    """

    verdict: str
    subject: str
    node: str
    object: str = ""
    severity: str = ""
    confidence: str = ""
    say: str = ""
    also: list[str] = field(default_factory=list)
    why: str = ""
    near: NearMiss | None = None
    trace: Trace | None = None
    marks: dict[int, Mark] = field(default_factory=dict)
    evidence: list[Evidence] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The subject, or what stands for one that was not seen."""
        return self.subject or "(not seen)"


@dataclass(slots=True)
class Explanation:
    """What one rule says of one case, worst first.

    counts  verdict -> subjects, those without a tree as well
    silent  why there was nothing to judge, with what to ask for
    failed  why the rule could not be judged at all
    stored  the case document that this was taken from, "" when the rule was judged now
    """

    rule: str
    title: str
    counts: dict[str, int]
    subjects: list[SubjectExplanation] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failed: str = ""
    stored: str = ""


def explain_rule(rule: Rule, case_read: CaseRead, limits: Limits | None = None) -> Explanation:
    """Judge one rule over a case and return every verdict with its reasons."""
    facts = case_read.facts
    judgement = judge(Catalog([rule]), facts, limits, explain=rule.id)
    for table in (hit.table.name for hit in rule.hits if hit.table.name in facts.tables):
        for row in facts.store(table).rows:
            at = row.line - row.block.first_line
            case_read.lines[row.block.address, row.line] = row.block.lines[at]
    failed = [finding.say for finding in judgement.findings if finding.verdict == Verdict.ERROR]
    counts = {}
    for name, count in judgement.counts[rule.id].items():
        if count:
            counts[name] = count
    found = Explanation(
        rule.id, rule.title, counts, notes=list(judgement.notes), failed="; ".join(failed)
    )
    found.subjects = _sort_subjects(_explain_subjects(judgement, case_read))
    empty = _list_empty(rule, facts)
    left = sum(counts.values()) - len(found.subjects) - len(empty)
    if found.subjects and left > 0:
        found.notes.append(
            f"{left:,} more subjects were judged; the first of each verdict are shown"
        )
    if failed:
        found.silent = []
    else:
        found.silent = _explain_silence(rule, facts, found)
    return found


def find_subjects(explanation: Explanation, part: str) -> list[SubjectExplanation]:
    """Return the subjects whose name, object or node holds `part`, in any case; UsageError when none does."""
    low = part.casefold()
    found = []
    for one in explanation.subjects:
        if low in f"{one.name}\n{one.object}\n{one.node}".casefold():
            found.append(one)
    if not found:
        known = [one_line(one.name, 60) for one in explanation.subjects[:5]]
        if known:
            known_words = f"subjects are: {'; '.join(known)}"
        else:
            known_words = "the rule has no subject in this case"
        raise UsageError(f"no subject holds `{one_line(part, 60)}`", why=known_words)
    return found


def _explain_subjects(judgement: Judgement, case_read: CaseRead) -> list[SubjectExplanation]:
    """Return what was judged of each subject, with the words of its finding."""
    findings: defaultdict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for finding in judgement.findings:
        findings[finding.node, finding.subject, finding.object].append(finding)
    found = []
    for item in judgement.explained:
        one = SubjectExplanation(
            item.verdict,
            item.subject,
            item.node,
            item.object,
            why=item.why,
            near=item.near,
            trace=item.trace,
        )
        one.marks = item.marks
        same = findings[item.node, item.subject, item.object]
        if item.verdict == Verdict.MATCH and same:
            finding = same.pop(0)
            one.severity, one.confidence = finding.severity, finding.confidence
            one.say, one.also = finding.say, finding.also
            one.evidence = finding.evidence
        else:
            # Each place that the leaves of the tree name once, with its line.
            seen: set[tuple[str, str]] = set()
            for trace in walk_tree(item.trace):
                if not trace.at or (trace.text, trace.at) in seen:
                    continue
                seen.add((trace.text, trace.at))
                address, _, line = trace.at.rpartition(":")
                if line.isdigit():
                    number = int(line)
                else:
                    number = 0
                label = "line"
                text = trace.value.strip('"')
                if trace.text != "line":
                    label = f"{trace.text} = {trace.value}"
                    text = case_read.find_line(address, number)
                one.evidence.append(Evidence(label, address, number, text, node=item.node))
        found.append(one)
    return found


def _sort_subjects(subjects: list[SubjectExplanation]) -> list[SubjectExplanation]:
    """Return subjects worst first, the nearest misses before the others of their verdict."""

    def rank(one: SubjectExplanation) -> tuple[Any, ...]:
        if one.severity in SEVERITIES:
            severity = SEVERITIES.index(one.severity)
        else:
            severity = len(SEVERITIES)
        verdict = _ORDER.index(Verdict(one.verdict))
        if one.near is None:
            return verdict, severity, 9, 0.0
        far = 0.0
        for leaf in one.near.leaves:
            if leaf.far is None:
                far += 1.0
            else:
                far += min(1.0, leaf.far)
        return verdict, severity, one.near.distance or 3, far

    return sorted(subjects, key=rank)


def walk_tree(trace: Trace) -> Iterator[Trace]:
    """Yield the lines of a tree from the top, as the numbers of its marks count them."""
    below = [trace]
    while below:
        one = below.pop()
        yield one
        below += reversed(one.children)


# -- why there is nothing to judge


def _list_empty(rule: Rule, facts: Facts) -> list[str]:
    """Return the nodes whose source was read and holds no row."""
    table = rule.each.table.name
    keys = facts.nodes_with(table)
    found = []
    for key in keys:
        if not facts.count(table, key) and facts.coverage(key, table).state == "read":
            found.append(key)
    return found


def _explain_silence(rule: Rule, facts: Facts, found: Explanation) -> list[str]:
    """Return why no subject was judged: which rows the case lacks, and what to ask for."""
    table = rule.each.table
    ask = rule.ask_for(table)
    if ask:
        asked = f" Ask for: {ask}"
    else:
        asked = ""
    if not facts.nodes_of_product(table.product):
        parts = []
        for node in facts.nodes.values():
            parts.append(f"{node.name} ({node.kind or 'of unknown kind'})")
        nodes = ", ".join(parts)
        if nodes:
            here = f"; the case holds {nodes}"
        else:
            here = ""
        absent = f"{table.declared_table.name} is of the product {table.product}, and no part of the case is{here}.{asked}"
        if found.subjects:
            return []
        return [absent]
    if table.lines_of is None:
        held = "row"
    else:
        held = f"line of {table.spoken_name}"
    words = []
    for key in _list_empty(rule, facts):
        machine = facts.name(key)
        words.append(f"{machine}: {table.words} was read and holds no {held}.")
    if not found.subjects and not words:
        words = [f"{explain_table(facts, None, table).why}.{asked}"]
    return words


# -- what a case document has kept


def load_case(paths: Sequence[Path]) -> CaseDocument | None:
    """Return the case document when that is what was given; UsageError when it stands among other paths."""
    kept = []
    for path in paths:
        if path.suffix == ".json" and path.is_file():
            with path.open("rb") as stream:
                if b'"backline/case-' in stream.read(4096):
                    kept.append(path)
    if not kept:
        return None
    if len(paths) > 1:
        raise UsageError(
            "a case document must be the only path",
            where=str(kept[0]),
            do="Give either the case document or the bundles.",
        )
    return case_file.read_case(kept[0])


def is_named(rule: str, document: CaseDocument) -> bool:
    """Say whether a case document names a rule."""
    found = any(one.rule == rule for one in document.findings)
    quiet = any(one.rule == rule for one in document.quiet)
    if found:
        return True
    if quiet:
        return True
    return any(rule in one.rules for one in document.cannot_tell)


def explain_stored(rule: str, title: str, document: CaseDocument, name: str) -> Explanation:
    """Return what a case document has kept of a rule: its findings with their trees, and what it could not tell."""
    findings = [one for one in document.findings if one.rule == rule]
    groups = [one for one in document.cannot_tell if rule in one.rules]
    quiet = next((one for one in document.quiet if one.rule == rule), None)
    subjects = []
    for one in findings:
        subjects.append(
            SubjectExplanation(
                one.verdict,
                one.subject,
                one.node,
                one.object,
                one.severity,
                one.confidence,
                one.say,
                one.also,
                trace=one.trace,
                evidence=one.evidence,
            )
        )
    if findings:
        title = findings[0].title
    elif quiet:
        title = quiet.title
    counts: defaultdict[str, int] = defaultdict(int)
    for finding in findings:
        counts[finding.verdict] += 1
    if quiet:
        counts["no_match"] += quiet.looked_at
        counts["not_applicable"] += quiet.not_applicable
    counted = {name: count for name, count in counts.items() if count}
    found = Explanation(rule, title, counted, _sort_subjects(subjects), stored=name)
    for group in groups:
        ask = ""
        if group.ask:
            ask = f" Ask for: {group.ask}"
        found.silent.append(f"cannot tell: {group.why}.{ask}")
    if not subjects and not groups and quiet:
        found.silent.append("The case document holds no finding of this rule.")
    elif not subjects and not groups:
        found.silent.append("The rule was not judged there.")
    return found


# -- for programs


def make_record(
    explanation: Explanation, subjects: Sequence[SubjectExplanation] | None = None
) -> dict[str, Any]:
    """Return an explanation as plain JSON; of each line of a tree what it says of a match that did not come."""
    found: dict[str, Any] = {
        name: to_builtins(getattr(explanation, name), str_keys=True)
        for name in Explanation.__slots__
    }
    found["subjects"] = [
        _record_subject(one) for one in (explanation.subjects if subjects is None else subjects)
    ]
    finished: dict[str, Any] = clean_value(found)
    return finished


def _record_subject(one: SubjectExplanation) -> dict[str, Any]:
    """Return what was judged of a subject as plain values."""
    found: dict[str, Any] = {}
    for name in SubjectExplanation.__slots__:
        if name not in ("trace", "marks"):
            found[name] = to_builtins(getattr(one, name), str_keys=True)
    if one.trace:
        numbers = {}
        for number, line in enumerate(walk_tree(one.trace)):
            numbers[id(line)] = number
    else:
        numbers = {}

    def tree(trace: Trace) -> dict[str, Any]:
        mark = one.marks.get(numbers[id(trace)], Mark(""))
        own = {"text": trace.text, "value": trace.value, "at": trace.at, "note": trace.note}
        return {
            **own,
            "says": mark.says,
            "ask": mark.ask,
            "children": [tree(child) for child in trace.children],
        }

    if one.trace:
        found["trace"] = tree(one.trace)
    else:
        found["trace"] = None
    return found
