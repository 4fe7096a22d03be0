"""Complaints about patterns: those that may be slow, match too much, or hold no literal text to search for."""

from __future__ import annotations

import re
from collections.abc import Iterator

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


def _list_patterns(file: RuleFile) -> Iterator[tuple[str, RuleItem]]:
    """Yield the patterns of all signatures, of each the first form and then the further ones."""
    for name in file.list_pairs("logs"):
        further = file.list_entries("logs", name, "also")
        ways: list[tuple[str | int, ...]] = [("match",)]
        ways += [("also", number, "match") for number, _ in enumerate(further)]
        for way in ways:
            item = file.find_item("logs", name, *way)
            if item is not None and isinstance(item.value, str):
                yield name, item


def check_patterns(file: RuleFile) -> None:
    """Keep the complaints about the patterns of all signatures that compile."""
    for name, item in _list_patterns(file):
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
