"""Complaints about patterns: those that may be slow, match too much, or hold no literal text to search for."""

from __future__ import annotations

import re

from analyzer.authoring.lint.complaints import RuleFile
from analyzer.rules.language.rulefile import RuleItem
from analyzer.scan import patterns

# Kind of danger -> code.
CODES = {
    "exponential": "R041",
    "repeat": "R041",
    "dot": "R043",
    "no-literal": "R044",
    "backreference": "R045",
    "lookaround": "R045",
}


def check(file: RuleFile) -> None:
    """Keep the complaints about the patterns of all signatures that compile."""
    for name in file.pairs("logs"):
        item = file.at("logs", name, "match")
        if item is None or not isinstance(item.value, str):
            continue
        fold = file.word("logs", name, "ignore_case") == "true"
        if _compiles(item.text, fold):
            _dangers(file, name, item, fold)


def _compiles(pattern: str, fold: bool) -> bool:
    try:
        re.compile(pattern, re.IGNORECASE if fold else 0)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _dangers(file: RuleFile, name: str, item: RuleItem, fold: bool) -> None:
    """Complain of each kind of danger once, at its first place."""
    found: dict[str, list[patterns.Danger]] = {}
    for danger in patterns.find_dangers(item.text, fold):
        if danger.kind in CODES:
            found.setdefault(CODES[danger.kind], []).append(danger)
    refused = {
        one.place.line for one in file.found if one.code == "R041"
    }  # the loader has told of it already
    for code, (first, *more) in found.items():
        if code == "R041" and item.place.line in refused:
            continue
        again = f" ({len(more)} more of this kind in the pattern)" if more else ""
        place = file.text.within(item, first.start, first.end)
        file.complain(code, f"signature `{name}`: {first.why}{again}", place, first.instead)
