"""Complaints about sentences that speak of a window: its length and its number have to be those of the window."""

from __future__ import annotations

import re

from analyzer.authoring.lint.complaints import RuleFile
from analyzer.rules import Rule, SeenDef
from analyzer.rules.language.rulefile import FileSpan, RuleItem
from analyzer.rules.language.template import Template
from analyzer.runtime.text import span_in_words

_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "fifteen": 15, "twenty": 20, "thirty": 30, "sixty": 60, "ninety": 90,
}  # fmt: skip
_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_WORD = rf"(?:\d+|{'|'.join(_NUMBERS)})"
_SPAN = re.compile(
    rf"\b(?:(?:within|in)(?: the same)? (?P<number>{_WORD})|within the same|per|times an?)"
    rf" (?P<unit>{'|'.join(_UNITS)})s?\b",
    re.IGNORECASE,
)


def check_spans(file: RuleFile) -> None:
    """Keep the complaints about what the sentences of a rule say of windows."""
    rule = file.rule
    assert rule is not None
    title = file.find_item("title")
    lengths = {seen.within for seen in rule.seen.values()}
    for found in _SPAN.finditer(rule.title) if title is not None else ():
        if _read_seconds(found) not in lengths and title is not None:
            message = (
                f'the title says "{found.group()}", and no question of the rule has such a window'
            )
            place = _find_place(file, title, found)
            file.complain("R087", message, place, "name the length that is asked for, or none")
    sentences = []
    for n, one in enumerate(rule.outcomes):
        sentences.append((("outcomes", n, "say"), one.say))
    sentences += [(("notes", n, "say"), one.say) for n, one in enumerate(rule.notes)]
    for steps, text in sentences:
        item = file.find_item(*steps)
        if item is None or text is None:
            continue
        for part in text.parts:
            if isinstance(part, str):
                typed = _SPAN.search(part)
            else:
                typed = None
            if typed is None:
                continue
            instead = "no window of the rule has this length"
            for name, seen in reversed(rule.seen.items()):
                if seen.within == _read_seconds(typed) and not seen.lasting:
                    instead = f"write `within {{{name}.within}}`"
            message = f'"{typed.group()}" is typed in, and not taken from a window'
            file.complain("R087", message, _find_place(file, item, typed), instead)
        check_counts(file, rule, item, text)


def _find_place(file: RuleFile, item: RuleItem, found: re.Match[str]) -> FileSpan:
    start = max(item.text.find(found.group()), 0)
    return file.text.within(item, start, start + len(found.group()))


def check_counts(file: RuleFile, rule: Rule, item: RuleItem, text: Template) -> None:
    """Complain of a number of a window without its length, and of a length without its number."""
    windows: dict[str, SeenDef] = {}
    for name, seen in rule.seen.items():
        if seen.within and not (seen.in_order or seen.silence):
            windows[name] = seen
    counts = set()
    lengths = set()
    for top in text.nodes():
        for one in top.walk():
            if one.op == "seen_field" and one.column == "count" and one.name in windows:
                counts.add(one.name)
            name, _, field = one.text.partition(".")
            if one.op == "literal" and field == "within" and name in windows:
                lengths.add(name)
    for name in sorted(counts - lengths):
        words = span_in_words(windows[name].within)
        message = (
            f"`{name}.count` is the most that came within {words}, and the sentence does not say so"
        )
        file.complain(
            "R087", message, item.place, f"write `within {{{name}.within}}` behind the number"
        )
    for name in sorted(lengths - counts):
        message = f"the sentence names the window of `{name}`, and no number of it"
        instead = f"write `{{{name}.count}}`: the number of lines in the fullest window"
        file.complain("R087", message, item.place, instead)


def _read_seconds(found: re.Match[str]) -> int:
    number = (found["number"] or "1").lower()
    unit = _UNITS[found["unit"].lower()]
    if number.isdigit():
        return int(number) * unit
    return _NUMBERS[number] * unit
