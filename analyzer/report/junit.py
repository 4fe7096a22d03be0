"""Findings as JUnit XML, which every CI server shows: a finding fails, a question that cannot be answered is skipped.

The form is that of Jenkins' junit-10.xsd. A rule that looked and found nothing passes; a muted finding is skipped
with its reason.
"""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from analyzer.case.document import CannotTellGroup, CaseDocument
from analyzer.case.verdicts import Finding
from analyzer.report.wording import write_place
from analyzer.runtime.text import make_visible, one_line

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
SUBJECTS = 50  # of one question by name


def render_junit(doc: CaseDocument) -> str:
    """Return one test suite; the same document gives the same bytes."""
    cases = [render_finding(one) for one in doc.findings]
    for group in doc.cannot_tell:
        cases += [render_question(group, rule) for rule in group.rules]
    for row in doc.quiet:
        if row.looked_at:
            cases.append(_render_case(row.rule, row.title, ""))
    body = "".join(cases)
    failures = body.count("<failure ")
    errors = body.count("<error ")
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}"'
    name = _quote_attribute(doc.case.name or "case")
    skipped = f'skipped="{body.count("<skipped ")}"'
    remarks = [*doc.notes, *doc.limits]
    remarks += [f"{item.address}: {item.what}" for item in doc.damage]
    if remarks:
        text = _escape_text("\n".join(remarks))
        body += f"<system-err>{text}</system-err>\n"
    suite = f"<testsuite name={name} {counts} {skipped}>\n{body}</testsuite>\n"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="Backline" {counts}>\n{suite}</testsuites>\n'


def render_finding(finding: Finding) -> str:
    """Return a finding as a test case that fails, or is skipped when it is muted."""
    lines = [finding.say, *finding.also]
    for place in finding.evidence:
        lines.append(f"{write_place(place)}  {place.label}")
    for step in finding.fix:
        parts = filter(None, [step.where, step.do, step.run])
        lines.append(f"fix: {' '.join(parts)}")
    text = _escape_text("\n".join(lines))
    message = _quote_attribute(finding.say)
    if finding.muted:
        why = _quote_attribute(f"muted: {finding.muted}")
        outcome = f"<skipped message={why}>{text}</skipped>"
    elif finding.verdict == "error":
        outcome = f"<error message={message}>{text}</error>"
    else:
        kind = _quote_attribute(f"{finding.severity} {finding.confidence}")
        outcome = f"<failure type={kind} message={message}>{text}</failure>"
    name = f"{finding.title}: {finding.subject}"
    return _render_case(finding.rule, name, outcome)


def render_question(group: CannotTellGroup, rule: str) -> str:
    """Return what a rule could not judge as a test case that is skipped."""
    subjects = group.subjects
    lines = []
    if group.ask:
        lines = [f"Ask for: {group.ask}"]
    lines += [subject for subject in subjects[:SUBJECTS] if subject]
    if len(subjects) > SUBJECTS:
        lines.append(f"and {len(subjects) - SUBJECTS:,} more objects")
    text = _escape_text("\n".join(lines))
    why = _quote_attribute(f"cannot tell: {group.why}")
    outcome = f"<skipped message={why}>{text}</skipped>"
    return _render_case(rule, f"needs {group.missing}", outcome)


def _render_case(rule: str, name: str, outcome: str) -> str:
    """Return one test case as XML."""
    classname = _quote_attribute(rule)
    name = _quote_attribute(name)
    return f"<testcase classname={classname} name={name}>{outcome}</testcase>\n"


def _quote_attribute(text: str) -> str:
    """Return text as an attribute in its quotes, on one line."""
    return quoteattr(_NOT_XML.sub("?", one_line(text)))


def _escape_text(text: str) -> str:
    return escape(_NOT_XML.sub("?", make_visible(text)))
