"""Finds the finding of a case that somebody names: by number, id, rule, KB article or words of its title."""

from __future__ import annotations

import re
from urllib.parse import unquote

from analyzer.report import numbers
from analyzer.report.wording import Doc
from analyzer.runtime.errors import UsageError
from analyzer.runtime.short_lines import bound_line
from analyzer.runtime.text import one_line

_ARTICLE = re.compile(r"(?:kb)?[\s#-]*(\d{4,9})", re.IGNORECASE)
_LEAST = 4  # letters of a title


def find_finding(doc: Doc, name: str, *, example: str = "") -> Doc:
    """Return the one finding that a name fits; UsageError with the findings to choose from for none or several.

    A name is the number that all reports give the finding (`3`, of its second object `3.2`), an id (also with %20 and
    the like), `rule@subject`, a rule, a KB article (`KB 1009515`), or words of a title. What fits first in this order
    counts.

    example  what to do instead, where the name need not be a finding
    """
    findings: list[Doc] = doc["findings"]
    known = numbers.number_findings(doc)
    numbered = [one for one in findings if known.get(one["id"]) == name.strip()]
    if numbered and name:
        return numbered[0]
    found = _find_fitting(findings, name.strip()) if name else []
    if len(found) == 1:
        return found[0]
    if not findings:
        raise UsageError("the case has no finding", do=example)
    if found:
        what = f"{len(found):,} findings fit {one_line(name, 100)!r}"
    else:
        what = (
            f"no finding of the case fits {one_line(name, 100)!r}"
            if name
            else "no finding was named"
        )
    choices = [
        _show_choice(known.get(one["id"], "-"), one)
        for one in _sort_by_number(found or findings, known)
    ]
    some = (found or findings)[0]["id"] or "1"
    raise UsageError(
        what,
        do=f"{example} Name one by its number or id, such as {some}.".lstrip(),
        choices=choices,
    )


def _sort_by_number(findings: list[Doc], known: dict[str, str]) -> list[Doc]:
    """Return findings by their numbers; those without one, which are muted, come last."""
    places = {identity: place for place, identity in enumerate(known)}
    return sorted(findings, key=lambda one: places.get(one["id"], len(places)))


def _find_fitting(findings: list[Doc], name: str) -> list[Doc]:
    rule, at, subject = name.partition("@")
    article = _ARTICLE.fullmatch(name)
    words = name.lower() if len(name) >= _LEAST else ""
    tests = (
        lambda one: one["id"] in (name, unquote(name)),
        lambda one: bool(at) and one["rule"] == rule and one["subject"] == subject,
        lambda one: one["rule"] == name,
        lambda one: article is not None and article[1] in map(str, one["kb"]),
        lambda one: bool(words) and words in one["title"].lower(),
    )
    return next((found for fits in tests if (found := [one for one in findings if fits(one)])), [])


def _show_choice(number: str, one: Doc) -> str:
    seen = f"  {one['first_seen'][:19]}Z" if one.get("first_seen") else ""
    return f"{number}  {one['id'] or one['rule']}  {one['severity']}: {bound_line(one['title'], 80)}{seen}"
