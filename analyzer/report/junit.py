"""Findings as JUnit XML, which every CI server shows: a finding fails, a question that cannot be told is skipped.

The form is that of Jenkins' junit-10.xsd. A rule that looked and found nothing passes; a muted finding is skipped
with its reason.
"""

from __future__ import annotations

import re
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from analyzer.report.wording import place
from analyzer.runtime.text import make_visible, one_line

Doc = dict[str, Any]

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
SUBJECTS = 50  # of one question by name


def render(doc: Doc) -> str:
    """Return one test suite; the same document gives the same bytes."""
    cases = [_finding(one) for one in doc["findings"]]
    cases += [_question(group, rule) for group in doc["cannot_tell"] for rule in group["rules"]]
    cases += [_case(row["rule"], row["title"], "") for row in doc["quiet"] if row["looked_at"]]
    whole = "".join(cases)
    numbers = {
        "tests": len(cases),
        "failures": whole.count("<failure "),
        "errors": whole.count("<error "),
    }
    counts = " ".join(f'{name}="{number}"' for name, number in numbers.items())
    name = _attribute(doc["case"]["name"] or "case")
    skipped = f'skipped="{whole.count("<skipped ")}"'
    tell = [*doc["notes"], *doc["limits"]] + [
        f"{item['address']}: {item['what']}" for item in doc["damage"]
    ]
    said = f"<system-err>{_text(chr(10).join(tell))}</system-err>\n" if tell else ""
    suite = f"<testsuite name={name} {counts} {skipped}>\n{whole}{said}</testsuite>\n"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="Backline" {counts}>\n{suite}</testsuites>\n'


def _finding(finding: Doc) -> str:
    lines = [
        finding["say"],
        *finding["also"],
        *(f"{place(one)}  {one['label']}" for one in finding["evidence"]),
    ]
    lines += [
        f"fix: {' '.join(filter(None, [step['where'], step['do'], step['run']]))}"
        for step in finding["fix"]
    ]
    body = _text("\n".join(lines))
    name = f"{finding['title']}: {finding['subject']}"
    if finding["muted"]:
        why = _attribute(f"muted: {finding['muted']}")
        return _case(finding["rule"], name, f"<skipped message={why}>{body}</skipped>")
    if finding["verdict"] == "error":
        return _case(
            finding["rule"], name, f"<error message={_attribute(finding['say'])}>{body}</error>"
        )
    kind = _attribute(f"{finding['severity']} {finding['confidence']}")
    return _case(
        finding["rule"],
        name,
        f"<failure type={kind} message={_attribute(finding['say'])}>{body}</failure>",
    )


def _question(group: Doc, rule: str) -> str:
    lines = [
        f"Ask for: {group['ask']}" if group["ask"] else "",
        *map(str, group["subjects"][:SUBJECTS]),
    ]
    lines += (
        [f"and {len(group['subjects']) - SUBJECTS:,} more objects"]
        if len(group["subjects"]) > SUBJECTS
        else []
    )
    body = _text("\n".join(filter(None, lines)))
    why = _attribute(f"cannot tell: {group['why']}")
    return _case(rule, f"needs {group['missing']}", f"<skipped message={why}>{body}</skipped>")


def _case(rule: str, name: str, inner: str) -> str:
    return f"<testcase classname={_attribute(rule)} name={_attribute(name)}>{inner}</testcase>\n"


def _attribute(text: str) -> str:
    """Return text as an attribute in its quotes, on one line."""
    return quoteattr(_NOT_XML.sub("?", one_line(text)))


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("?", make_visible(text)))
