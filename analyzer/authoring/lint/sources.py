"""Complaints about the sources of a rule: what is not known of them, and what they do not bear out."""

from __future__ import annotations

from analyzer.authoring.lint.complaints import RuleFile, is_empty
from analyzer.rules.cited_sources import is_remembered

HINTS = ("possible", "exposed")  # what a rule may be that rests on memory alone


def check_records(file: RuleFile) -> None:
    """Complain of records that do not say how well they bear the rule out, or when they were read."""
    single = file.find_item("source")
    if single is not None and isinstance(single.value, dict):
        _check_record(file, "source")
    for number, _ in enumerate(file.list_entries("source")):
        _check_record(file, "source", number)


def _check_record(file: RuleFile, *steps: str | int) -> None:
    if not file.list_pairs(*steps):
        return
    lacks = []
    if is_empty(file.find_item(*steps, "mark")):
        lacks.append("mark")
    if is_empty(file.find_item(*steps, "checked")) and is_empty(file.find_item("checked")):
        lacks.append("checked")
    if lacks:
        text = f"this source has no `{'` and no `'.join(lacks)}`"
        advice = "say how well it bears the rule out, and on which day it was last read"
        file.complain("R093", text, file.find_place(*steps), advice)


def check_memory(file: RuleFile) -> None:
    """Complain of an answer that is more than a hint where nobody has read a source."""
    rule = file.rule
    if rule is None or file.is_retired or not is_remembered(rule.source):
        return
    for number, outcome in enumerate(rule.outcomes):
        if outcome.confidence not in HINTS:
            place = file.find_place("confidence")
            if file.find_item("outcomes", number) is not None and not file.short:
                place = file.find_place("outcomes", number, "confidence")
            text = f'every source of this rule is remembered, and it is "{outcome.confidence}"'
            advice = "write confidence: possible, or read a source and mark it"
            file.complain("R094", text, place, advice)
            return
