"""Explains what a rule says of a case: every subject with its tree, near miss and evidence.

`explain` judges one rule over facts; `stored` takes what a case document has kept of it. Both
give an `Explanation`, plain records that explain_text lays out and `record` makes JSON of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analyzer.authoring.explain.casework import CaseRead
from analyzer.case.case_shape import clean, plain
from analyzer.case.verdicts import (
    SEVERITIES,
    Evidence,
    Explained,
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
from analyzer.pipeline import case
from analyzer.rules import Catalog, Rule
from analyzer.runtime.errors import UsageError
from analyzer.runtime.limits import Limits
from analyzer.runtime.text import one_line

Doc = dict[str, Any]

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

    say    what the finding says, of a match, and `also` what was added; why: why it cannot be told, of another
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


def explain(rule: Rule, case_read: CaseRead, limits: Limits | None = None) -> Explanation:
    """Judge one rule over a case and return every verdict with its reasons."""
    facts = case_read.facts
    judgement = judge(Catalog([rule]), facts, limits, explain=rule.id)
    for table in (hit.table.name for hit in rule.hits if hit.table.name in facts.tables):
        for row in facts.store(table).rows:
            at = row.line - row.block.first_line
            case_read.lines[row.block.address, row.line] = row.block.lines[at]
    failed = [finding.say for finding in judgement.findings if finding.verdict == Verdict.ERROR]
    counts = {name: count for name, count in judgement.counts[rule.id].items() if count}
    found = Explanation(
        rule.id, rule.title, counts, notes=list(judgement.notes), failed="; ".join(failed)
    )
    found.subjects = _sorted(_told(judgement, case_read))
    left = sum(counts.values()) - len(found.subjects) - len(_empty(rule, facts))
    if found.subjects and left > 0:
        found.notes.append(
            f"{left:,} more subjects were judged; the first of each verdict are shown"
        )
    found.silent = [] if failed else _silent(rule, facts, found)
    return found


def narrowed(explanation: Explanation, part: str) -> list[SubjectExplanation]:
    """Return the subjects whose name, object or node holds `part`, in any case; UsageError when none does."""
    low = part.casefold()
    found = [
        one
        for one in explanation.subjects
        if low in f"{one.name}\n{one.object}\n{one.node}".casefold()
    ]
    if not found:
        known = [one_line(one.name, 60) for one in explanation.subjects[:5]]
        known_words = (
            f"subjects are: {'; '.join(known)}" if known else "the rule has no subject in this case"
        )
        raise UsageError(f"no subject holds `{one_line(part, 60)}`", why=known_words)
    return found


def _told(judgement: Judgement, case_read: CaseRead) -> list[SubjectExplanation]:
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
            one.evidence = list(_lines(item, case_read))
        found.append(one)
    return found


def _sorted(told: list[SubjectExplanation]) -> list[SubjectExplanation]:
    """Return subjects worst first, the nearest misses before the others of their verdict."""

    def rank(one: SubjectExplanation) -> tuple[Any, ...]:
        severity = SEVERITIES.index(one.severity) if one.severity in SEVERITIES else len(SEVERITIES)
        near = one.near
        far = (
            sum(1.0 if leaf.far is None else min(1.0, leaf.far) for leaf in near.leaves)
            if near
            else 0.0
        )
        return (
            _ORDER.index(Verdict(one.verdict)),
            severity,
            (near.distance or 3) if near else 9,
            far,
        )

    return sorted(told, key=rank)


def _lines(item: Explained, case_read: CaseRead) -> Iterator[Evidence]:
    """Yield each place that the leaves of a tree name once, with its line."""
    seen: set[tuple[str, str]] = set()
    for trace in walk(item.trace):
        if not trace.at or (trace.text, trace.at) in seen:
            continue
        seen.add((trace.text, trace.at))
        address, _, line = trace.at.rpartition(":")
        number = int(line) if line.isdigit() else 0
        hit = trace.text == "line"
        label = "line" if hit else f"{trace.text} = {trace.value}"
        text = trace.value.strip('"') if hit else case_read.line(address, number)
        yield Evidence(label, address, number, text, node=item.node)


def walk(trace: Trace) -> Iterator[Trace]:
    """Yield the lines of a tree from the top, as the numbers of its marks count them."""
    below = [trace]
    while below:
        one = below.pop()
        yield one
        below += reversed(one.children)


# -- why there is nothing to judge


def _empty(rule: Rule, facts: Facts) -> list[str]:
    """Return the nodes whose source was read and holds no row."""
    table = rule.each.table.name
    keys = facts.nodes_with(table)
    return [
        key
        for key in keys
        if not facts.count(table, key) and facts.coverage(key, table).state == "read"
    ]


def _silent(rule: Rule, facts: Facts, found: Explanation) -> list[str]:
    table = rule.each.table
    ask = rule.ask_for(table)
    asked = f" Ask for: {ask}" if ask else ""
    if not facts.nodes_of_product(table.product):
        nodes = ", ".join(
            f"{node.name} ({node.kind or 'of unknown kind'})" for node in facts.nodes.values()
        )
        here = f"; the case holds {nodes}" if nodes else ""
        absent = f"{table.declared.name} is of the product {table.product}, and no part of the case is{here}.{asked}"
        return [] if found.subjects else [absent]
    held = f"line of {table.spoken_name}" if table.lines_of is not None else "row"
    words = [
        f"{facts.name(key)}: {table.words} was read and holds no {held}."
        for key in _empty(rule, facts)
    ]
    if not found.subjects and not words:
        words = [f"{explain_table(facts, None, table).why}.{asked}"]
    return words


# -- what a case document has kept


def case_of(paths: Sequence[Path]) -> Doc | None:
    """Return the case document when that is what was given; UsageError when it stands among other paths."""
    kept = [path for path in paths if path.suffix == ".json" and _is_case(path)]
    if not kept:
        return None
    if len(paths) > 1:
        raise UsageError(
            "a case document must be the only path",
            where=str(kept[0]),
            do="Give either the case document or the bundles.",
        )
    return case.load(kept[0])


def _is_case(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return b'"backline/case-' in stream.read(4096)


def kept(rule: str, document: Doc) -> bool:
    """Tell whether a case document names a rule."""
    named = {one["rule"] for one in [*document["findings"], *document["quiet"]]}
    return rule in named or any(rule in one["rules"] for one in document["cannot_tell"])


def stored(rule: str, title: str, document: Doc, name: str) -> Explanation:
    """Return what a case document has kept of a rule: its findings with their trees, and what it could not tell."""
    findings = [one for one in document["findings"] if one["rule"] == rule]
    groups = [one for one in document["cannot_tell"] if rule in one["rules"]]
    quiet = next((one for one in document["quiet"] if one["rule"] == rule), None)
    told = [
        SubjectExplanation(
            one["verdict"],
            one["subject"],
            one["node"],
            one["object"],
            one["severity"],
            one["confidence"],
            one["say"],
            one["also"],
            trace=_trace(one["trace"]) if one["trace"] else None,
            evidence=[
                Evidence(**{name: item[name] for name in Evidence.__slots__})
                for item in one["evidence"]
            ],
        )
        for one in findings
    ]
    title = next((one["title"] for one in [*findings, *([quiet] if quiet else [])]), title)
    found = Explanation(rule, title, _counted(told, quiet), _sorted(told), stored=name)
    found.silent = [
        f"cannot tell: {one['why']}." + (f" Ask for: {one['ask']}" if one["ask"] else "")
        for one in groups
    ]
    if not told and not groups:
        found.silent.append(
            "The case document holds no finding of this rule."
            if quiet
            else "The rule was not judged there."
        )
    return found


def _counted(told: Iterable[SubjectExplanation], quiet: Mapping[str, Any] | None) -> dict[str, int]:
    counts: defaultdict[str, int] = defaultdict(int)
    for one in told:
        counts[one.verdict] += 1
    if quiet:
        counts["no_match"] += quiet["looked_at"]
        counts["not_applicable"] += quiet["not_applicable"]
    return {name: count for name, count in counts.items() if count}


def _trace(kept: Mapping[str, Any]) -> Trace:
    children = [_trace(child) for child in kept["children"]]
    return Trace(kept["text"], kept["value"], children, kept["at"], kept["note"])


# -- for programs


def record(explanation: Explanation, told: Sequence[SubjectExplanation] | None = None) -> Doc:
    """Return an explanation as plain JSON; of each line of a tree what it says of a match that did not come."""
    found: Doc = {
        name: plain(getattr(explanation, name)) for name in Explanation.__slots__ if name != "told"
    }
    found["subjects"] = [_record(one) for one in (explanation.subjects if told is None else told)]
    finished: Doc = clean(found)
    return finished


def _record(one: SubjectExplanation) -> Doc:
    found: Doc = {
        name: plain(getattr(one, name))
        for name in SubjectExplanation.__slots__
        if name not in ("trace", "marks")
    }
    numbers = {id(line): number for number, line in enumerate(walk(one.trace))} if one.trace else {}

    def tree(trace: Trace) -> Doc:
        mark = one.marks.get(numbers[id(trace)], Mark(""))
        own = {"text": trace.text, "value": trace.value, "at": trace.at, "note": trace.note}
        return {
            **own,
            "says": mark.says,
            "ask": mark.ask,
            "children": [tree(child) for child in trace.children],
        }

    found["trace"] = tree(one.trace) if one.trace else None
    return found
