"""A part of a case that was asked for: by severity, machine or rule. The document itself is never cut.

What is left out is counted in the first note of the part (`notes[0]`), so that no reader takes it for the whole case.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from msgspec import structs

from analyzer.case.document import CaseDocument
from analyzer.case.verdicts import Finding
from analyzer.report.finding_rows import take_part
from analyzer.report.view import SEVERITIES
from analyzer.report.wording import join_few
from analyzer.runtime.errors import UsageError

_OF_NODE = ("signals", "timeline", "hosts", "topology", "harmless")


@dataclass(frozen=True, slots=True)
class Choice:
    """What is to be shown; empty words choose everything.

    severity  findings this severe or worse
    nodes     machines by name, its first label or a pattern such as `esx*`, in any case
    rules     ids of rules, or patterns
    """

    severity: str = ""
    nodes: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.severity or self.nodes or self.rules)

    def __str__(self) -> str:
        parts = []
        if self.severity:
            parts.append(f"severity {self.severity} or worse")
        if self.nodes:
            parts.append(f"machine {' or '.join(self.nodes)}")
        if self.rules:
            parts.append(f"rule {' or '.join(self.rules)}")
        return ", ".join(parts)

    def check_names(self, doc: CaseDocument) -> None:
        """Refuse a word that fits nothing of this case, with the names that would; raises UsageError."""
        names = [node.name or node.id for node in doc.nodes]
        names = [name for name in names if name]
        for word in self.nodes:
            if not any(_is_called(name, [word]) for name in names):
                raise UsageError(
                    f"no machine of this case is called {word}",
                    do=f"It has {join_few(names, 10) or 'none'}.",
                )
        rules = {finding.rule for finding in doc.findings}
        rules |= {row.rule for row in doc.quiet}
        for group in doc.cannot_tell:
            rules |= set(group.rules)
        for word in self.rules:
            if not any(_fits_any(rule, [word]) for rule in rules):
                do = "`backline rules list` has the ids; a draft needs --draft."
                raise UsageError(f"no rule of this case is called {word}", do=do)

    def has_rule(self, *rules: str) -> bool:
        """Say whether one of some rules is chosen."""
        if not self.rules:
            return True
        return any(_fits_any(rule, self.rules) for rule in rules)

    def has_severity(self, finding: Finding) -> bool:
        """Say whether a finding is severe enough; a rule that broke has no severity and is always shown."""
        if not self.severity or finding.verdict == "error":
            return True
        return SEVERITIES.index(finding.severity) <= SEVERITIES.index(self.severity)

    def has_node(self, doc: CaseDocument, node: str) -> bool:
        """Say whether a machine is chosen; records name it by its id or by its name."""
        if not self.nodes:
            return True
        names = {node}
        for one in doc.nodes:
            if node in (one.id, one.name):
                names |= {one.id, one.name}
                break
        return any(_is_called(name, self.nodes) for name in names)


def choose_part(doc: CaseDocument, choice: Choice) -> CaseDocument:
    """Return the part of a case document that `choice` names, as a document of its own."""
    if not choice:
        return doc
    findings = []
    for finding in doc.findings:
        is_of_rule = choice.has_severity(finding) and choice.has_rule(finding.rule)
        if is_of_rule and choice.has_node(doc, finding.node):
            findings.append(finding)
    questions = []
    for group in doc.cannot_tell:
        nodes = group.nodes
        is_on_node = not nodes or any(choice.has_node(doc, node) for node in nodes)
        if is_on_node and choice.has_rule(*group.rules):
            questions.append(group)
    note = (
        f"Showing {len(findings):,} of {len(doc.findings):,} findings: {choice}. The case has more."
    )
    part = structs.replace(
        doc,
        findings=_cut_links(doc, findings),
        cannot_tell=questions,
        quiet=[row for row in doc.quiet if choice.has_rule(row.rule)],
        cuts=[cut for cut in doc.cuts if choice.has_rule(cut.rule)],
        notes=[note, *doc.notes],
    )
    if choice.nodes:
        part.nodes = [one for one in doc.nodes if choice.has_node(doc, one.name or one.id)]
        for key in _OF_NODE:
            rows = []
            for row in getattr(doc, key):
                if choice.has_node(doc, row.node):
                    rows.append(row)
            setattr(part, key, rows)
    return take_part(doc, part)


def _cut_links(doc: CaseDocument, findings: list[Finding]) -> list[Finding]:
    """Return findings without links to others that are not shown; a cause that is not shown is named in words."""
    shown = {one.id for one in findings}
    titles = {one.id: f"{one.title} ({one.subject})" for one in doc.findings}
    cut = []
    for finding in findings:
        causes, sentences = [], []
        for one in finding.explained_by:
            if one in shown:
                causes.append(one)
            else:
                title = titles.get(one, one)
                sentences.append(f"Explained by a finding that is not shown here: {title}.")
        linked = structs.replace(
            finding,
            explained_by=causes,
            explains=[one for one in finding.explains if one in shown],
            also=[*finding.also, *sentences],
        )
        cut.append(linked)
    return cut


def _fits_any(name: str, words: Iterable[str]) -> bool:
    return any(fnmatchcase(name.casefold(), word.casefold()) for word in words)


def _is_called(name: str, words: Iterable[str]) -> bool:
    """Say whether a word is a machine's name or its first label; an address has no labels."""
    first = name.partition(".")[0]
    if _fits_any(name, words):
        return True
    return not first.isdigit() and _fits_any(first, words)
