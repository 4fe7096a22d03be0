"""Complaints about sentences that speak of a window: its length and its number have to be those of the window."""

from __future__ import annotations

import re
from collections.abc import Iterator

from analyzer.authoring.lint.complaints import RuleFile
from analyzer.rules import Rule, SeenDef
from analyzer.rules.language.expression import ExprNode
from analyzer.rules.language.rulefile import RuleItem
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


def check(file: RuleFile) -> None:
    """Keep the complaints about what the sentences of a rule say of windows."""
    rule = file.rule
    assert rule is not None
    _title(file, rule)
    for item, text in _sentences(file, rule):
        _lengths(file, rule, item, text)
        _counts(file, rule, item, text)


def _sentences(file: RuleFile, rule: Rule) -> Iterator[tuple[RuleItem, Template]]:
    """Yield the texts that state what was seen, each with its place."""
    for part, texts in (
        ("outcomes", [one.say for one in rule.outcomes]),
        ("notes", [one.say for one in rule.notes]),
    ):
        for number, text in enumerate(texts):
            item = file.at(part, number, "say")
            if item is not None and text is not None:
                yield item, text


def _title(file: RuleFile, rule: Rule) -> None:
    """Complain of a length in the title that no window of the rule has; a title takes no values."""
    item, lengths = file.at("title"), {seen.within for seen in rule.seen.values()}
    for found in _SPAN.finditer(rule.title) if item is not None else ():
        if _seconds(found) not in lengths and item is not None:
            start = max(item.text.find(found.group()), 0)
            place = file.text.within(item, start, start + len(found.group()))
            message = (
                f'the title says "{found.group()}", and no question of the rule has such a window'
            )
            file.complain("R087", message, place, "name the length that is asked for, or none")


def _lengths(file: RuleFile, rule: Rule, item: RuleItem, text: Template) -> None:
    """Complain of a length that is typed in: it stays when the window changes, and holds for no other number."""
    for part in text.parts:
        found = _SPAN.search(part) if isinstance(part, str) else None
        if found is None:
            continue
        start = max(item.text.find(found.group()), 0)
        place = file.text.within(item, start, start + len(found.group()))
        seconds = _seconds(found)
        names = [
            name for name, seen in rule.seen.items() if seen.within == seconds and not seen.lasting
        ]
        message = f'"{found.group()}" is typed in, and not taken from a window'
        instead = (
            f"write `within {{{names[0]}.within}}`"
            if names
            else "no window of the rule has this length"
        )
        file.complain("R087", message, place, instead)


def _counts(file: RuleFile, rule: Rule, item: RuleItem, text: Template) -> None:
    """Complain of a number of a window without its length, and of a length without its number."""
    windows = {name: seen for name, seen in rule.seen.items() if _has_window(seen)}
    parts = [one for top in text.nodes() for one in top.walk()]
    counts = {one.name for one in parts if one.op == "seen_field" and one.column == "count"} & set(
        windows
    )
    lengths = {name for one in parts if (name := _length_of(one)) in windows}
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


def _has_window(seen: SeenDef) -> bool:
    return bool(seen.within) and not (seen.in_order or seen.silence)


def _length_of(node: ExprNode) -> str:
    """Return the question whose window a value prints: that value is a literal, as the file names it."""
    name, _, field = node.text.partition(".")
    return name if node.op == "literal" and field == "within" else ""


def _seconds(found: re.Match[str]) -> int:
    number = (found["number"] or "1").lower()
    return (int(number) if number.isdigit() else _NUMBERS[number]) * _UNITS[found["unit"].lower()]
