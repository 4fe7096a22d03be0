"""What all reports show of a case: its counts, its nodes, which finding explains which.

Every function takes the case document (docs/case.md) or a part of it and
returns plain text or records. Nothing is escaped here: each report does that
for its own output.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import msgspec

from analyzer.case.document import CaseDocument, CaseNode, QuietRule
from analyzer.case.verdicts import Finding, Trace
from analyzer.report.completeness import describe_nothing
from analyzer.report.finding_rows import FindingGroup, group_findings, group_muted
from analyzer.report.open_asks import list_questions
from analyzer.report.wording import (
    count_noun,
    format_duration,
    format_span,
    format_time,
    join_few,
    write_counts,
)

SEVERITIES = ("critical", "major", "warning", "info")
COUNTED = (*SEVERITIES, "exposed", "error")  # the words by which findings are counted


@dataclass(frozen=True, slots=True)
class CaseTally:
    """The counts of a case, from which every page, report, list and archive takes its own. Muted ones are apart.

    findings   (word, number) of what was found, zeros left out: one finding is one rule at one severity and
               confidence, on however many subjects; COUNTED are the words
    rules      rules that found something or broke
    subjects   subjects that are ill, each once for every rule
    questions  things that are missing so that something cannot be judged, each one block of the report
    quiet      rules that looked at something and found nothing
    idle       rules that had nothing to check
    muted      findings and questions that local settings fold away
    """

    findings: tuple[tuple[str, int], ...]
    rules: int
    subjects: int
    questions: int
    quiet: int
    idle: int
    muted: int


def tally_case(doc: CaseDocument) -> CaseTally:
    """Return the counts of a case document."""
    rows = group_findings(doc)
    words = Counter("exposed" if row.hollow else row.word for row in rows)
    subjects = 0
    for row in rows:
        if row.word != "error":
            subjects += len(row.findings)
    for cut in doc.cuts:
        if cut.verdict == "match":
            subjects += cut.subjects - cut.full - cut.short
    return CaseTally(
        findings=tuple((word, words[word]) for word in COUNTED if words[word]),
        rules=len({row.first.rule for row in rows}),
        subjects=subjects,
        questions=len(list_questions(doc)),
        quiet=len(list_quiet(doc)),
        idle=len(list_not_applicable(doc)),
        muted=count_silenced(doc),
    )


def name_weight(finding: Finding) -> str:
    """Return the word by which the head of the page counts a finding.

    A finding that rests on a version alone counts as exposed and not by its severity.
    """
    if finding.verdict == "error":
        return "error"
    if finding.confidence == "exposed":
        return "exposed"
    return str(finding.severity)


def write_headline(doc: CaseDocument) -> str:
    """Return the counts in one sentence, each with its unit."""
    tally = tally_case(doc)
    found = write_counts(tally.findings) or describe_nothing(doc)
    if tally.findings:
        rules = count_noun(tally.rules, "rule", "rules")
        objects = count_noun(tally.subjects, "object", "objects")
        found += f" ({', '.join(filter(None, [rules, objects]))})"
    quiet = count_noun(tally.quiet, "check", "checks") or "0 checks"
    parts = [found, f"{quiet} clean, {describe_open_questions(tally.questions)}"]
    if tally.muted:
        parts.append(f"muted: {count_noun(tally.muted, 'entry', 'entries')}")
    return "; ".join(parts)


def describe_open_questions(number: int) -> str:
    """Return how many checks need more data, in the words that every report and list uses."""
    if number == 1:
        return "1 needs more data"
    return f"{number:,} need more data"


def count_silenced(doc: CaseDocument) -> int:
    """Return how many rows are muted: findings and open questions, folded as the report folds them."""
    return len(group_muted(doc)) + len(list_questions(doc, muted=True))


def list_causes(doc: CaseDocument, finding: Finding) -> list[tuple[str, str]]:
    """Return what explains a finding: the words that lead to it, and its id.

    A cause of several comes before what it explains itself, as in the document; what is muted comes last.
    """
    wanted = set(finding.explained_by)
    if not wanted:
        return []
    live = []
    for one in doc.findings:
        if one.id in wanted and not one.muted:
            live.append(one.id)
    causes = [("Then fix this", one) for one in live]
    if live:
        causes[0] = ("Fix this first", live[0])
    causes += [("Explained by", one) for one in finding.explained_by if one not in live]
    return causes


def group_by_title(doc: CaseDocument, ids: list[str]) -> list[tuple[str, list[str]]]:
    """Return the findings of some ids by their titles, each title once: one fault on three subjects is one link."""
    wanted = set(ids)
    titles = {one.id: one.title for one in doc.findings if one.id in wanted}
    found: dict[str, list[str]] = {}
    for one in ids:
        found.setdefault(titles.get(one, one), []).append(one)
    return list(found.items())


def describe_causes(doc: CaseDocument, finding: Finding) -> list[tuple[str, str]]:
    """Return what explains a finding in words: what leads to it, and title and objects of each cause."""
    if not finding.explained_by:
        return []
    known = {one.id: one for one in doc.findings}
    causes = []
    for lead, ids in list_first_fixes(doc, finding):
        cause = known.get(ids[0])
        if cause is None:
            text = ids[0]
        elif len(ids) == 1:
            text = f"{cause.title} ({cause.subject}{', muted' if cause.muted else ''})"
        else:
            names = FindingGroup([known[one] for one in ids]).names
            text = f"{cause.title} ({join_few(names, 6)})"
        causes.append((lead, text))
    return causes


def list_first_fixes(doc: CaseDocument, finding: Finding) -> list[tuple[str, list[str]]]:
    """Return what explains a finding as `list_causes` does, causes with the same title together."""
    leads = {one: lead for lead, one in list_causes(doc, finding)}
    first_fixes = []
    for _, ids in group_by_title(doc, list(leads)):
        first_fixes.append((leads[ids[0]], ids))
    return first_fixes


def list_quiet(doc: CaseDocument) -> list[QuietRule]:
    """Return rules that looked at something and found nothing."""
    return [row for row in doc.quiet if row.looked_at]


def list_not_applicable(doc: CaseDocument) -> list[QuietRule]:
    """Return rules that had nothing to check."""
    return [row for row in doc.quiet if not row.looked_at]


def find_usual_status(doc: CaseDocument) -> str:
    """Return the status that most rules of the findings have; it is printed once, and `list_marks` has the others."""
    known = Counter(finding.status for finding in doc.findings if finding.status)
    return max(known, key=lambda status: (known[status], status), default="")


def describe_usual_status(doc: CaseDocument, usual: str) -> str:
    """Return in a sentence that the rules of the findings are not proven yet; empty where most of them are."""
    if usual in ("", "stable"):
        return ""
    every = all(finding.status in ("", usual) for finding in doc.findings)
    which = "Findings without a mark of their rule"
    if every:
        which = "All findings"
    return (
        f"{which} come from {usual} rules, not yet proven on many real cases: check the evidence."
    )


def list_marks(finding: Finding, usual: str) -> list[str]:
    """Return what a reader should know of the rule: a status that is not the usual one, that it is not of the tool."""
    status = finding.status
    marks = []
    if status not in ("", usual):
        marks = [f"{status} rule"]
    if finding.origin:
        marks.append(finding.origin)
    return marks


def list_facts(node: CaseNode) -> list[str]:
    """Return what a node is, in parts: product and version, uptime, time of capture."""
    version = " ".join(filter(None, [node.product or node.kind, node.version]))
    if node.build:
        version += f" build {node.build}"
    if node.release:
        version += f", {node.release}"
    facts = []
    if version:
        facts = [version]
    if isinstance(node.uptime_s, int | float):
        facts.append(f"up {format_duration(node.uptime_s)}")
    if node.captured:
        facts.append(f"captured {format_time(node.captured)}")
    first = min((log.first for log in node.logs if log.first), default="")
    last = max((log.last for log in node.logs if log.last), default="")
    if first and last:
        facts.append(f"logs {format_span(first, last)}")
    return facts


class TreeMemory:
    """The parts of one "Why" tree that were unfolded already."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def has_seen(self, node: Trace) -> bool:
        """Say whether an equal part was asked for before."""
        key = msgspec.json.encode(node, enc_hook=str)
        if key in self._seen:
            return True
        self._seen.add(key)
        return False
