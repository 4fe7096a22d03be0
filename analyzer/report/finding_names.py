"""Finds the finding of a case that a user names: by number, id, rule, KB article or words of its title."""

from __future__ import annotations

import re
from urllib.parse import unquote

from analyzer.case.document import CaseDocument
from analyzer.case.verdicts import Finding
from analyzer.report.finding_rows import number_findings
from analyzer.runtime.errors import UsageError
from analyzer.runtime.short_lines import bound_line
from analyzer.runtime.text import one_line

_ARTICLE = re.compile(r"(?:kb)?[\s#-]*(\d{4,9})", re.IGNORECASE)
_LEAST = 4  # letters of a title


def find_finding(doc: CaseDocument, name: str, *, example: str = "") -> Finding:
    """Return the one finding that a name fits; UsageError with the findings to choose from for none or several.

    A name is the number that all reports give the finding (`3`, of its second object `3.2`), an id (also with %20 and
    the like), `rule@subject`, a rule, a KB article (`KB 1009515`), or words of a title. What fits first in this order
    counts.

    example  what to do instead, where the name need not be a finding
    """
    findings: list[Finding] = doc.findings
    numbers = number_findings(doc)
    found: list[Finding] = []
    if name:
        for one in findings:
            if numbers.get(one.id) == name.strip():
                return one
        found = _find_fitting(findings, name.strip())
    if len(found) == 1:
        return found[0]
    if not findings:
        raise UsageError("the case has no finding", do=example)
    if found:
        what = f"{len(found):,} findings fit {one_line(name, 100)!r}"
    elif name:
        what = f"no finding of the case fits {one_line(name, 100)!r}"
    else:
        what = "no finding was named"
    candidates = found or findings
    some = candidates[0].id or "1"
    # by number; those without one, which are muted, come last
    places = {identity: place for place, identity in enumerate(numbers)}
    candidates = sorted(candidates, key=lambda one: places.get(one.id, len(places)))
    choices = []
    for one in candidates:
        number = numbers.get(one.id, "-")
        identity = one.id or one.rule
        title = bound_line(one.title, 80)
        seen = ""
        if one.first_seen:
            seen = f"  {one.first_seen[:19]}Z"
        choices.append(f"{number}  {identity}  {one.severity}: {title}{seen}")
    do = f"{example} Name one by its number or id, such as {some}.".lstrip()
    raise UsageError(what, do=do, choices=choices)


def _find_fitting(findings: list[Finding], name: str) -> list[Finding]:
    """Return the findings that a name fits in the first way that fits any."""
    rule, at, subject = name.partition("@")
    article = _ARTICLE.fullmatch(name)
    words = name.lower()
    ways = [
        [one for one in findings if one.id in (name, unquote(name))],
        [one for one in findings if at and (one.rule, one.subject) == (rule, subject)],
        [one for one in findings if one.rule == name],
    ]
    if article is not None:
        ways.append([one for one in findings if article[1] in map(str, one.kb)])
    if len(name) >= _LEAST:
        ways.append([one for one in findings if words in one.title.lower()])
    return next(filter(None, ways), [])
