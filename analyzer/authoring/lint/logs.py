"""Complaints about patterns: those that may be slow, match too much, or hold no literal text to search for."""

from __future__ import annotations

import re

from analyzer.authoring.lint.complaints import RuleFile
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


def check_patterns(file: RuleFile) -> None:
    """Keep the complaints about the patterns of all signatures that compile."""
    for name in file.list_pairs("logs"):
        item = file.find_item("logs", name, "match")
        if item is None or not isinstance(item.value, str):
            continue
        fold = file.read_word("logs", name, "ignore_case") == "true"
        try:
            re.compile(item.text, re.IGNORECASE if fold else 0)
        except (re.error, OverflowError, RecursionError):
            continue
        # Each kind of danger once, at its first place.
        dangers: dict[str, list[patterns.Danger]] = {}
        for danger in patterns.find_dangers(item.text, fold):
            if danger.kind in CODES:
                dangers.setdefault(CODES[danger.kind], []).append(danger)
        refused = {one.place.line for one in file.found if one.code == "R041"}  # by the loader
        for code, (first, *more) in dangers.items():
            if code == "R041" and item.place.line in refused:
                continue
            if more:
                again = f" ({len(more)} more of this kind in the pattern)"
            else:
                again = ""
            place = file.text.within(item, first.start, first.end)
            file.complain(code, f"signature `{name}`: {first.why}{again}", place, first.instead)
