"""A rule file under the linter, and a complaint about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analyzer.authoring.lint.codes import CODES
from analyzer.rules import Rule
from analyzer.rules.language.rulefile import BadRuleError, FileSpan, RuleItem, RuleItems, RuleText
from analyzer.runtime.text import make_visible, one_line

MOST = 400  # characters of a sentence; names and conditions of a rule may be long


@dataclass(frozen=True, slots=True)
class Complaint:
    """One thing the linter finds wrong: its code, the sentence, the place, and what to do.

    place   1-based line and column, width in characters
    source  the line of the file, as it is written
    """

    code: str
    message: str
    file: str
    place: FileSpan
    source: str = ""
    help: str = ""

    @property
    def level(self) -> str:
        """`error` or `warning`, as the table of codes has it."""
        return CODES[self.code].level

    def __str__(self) -> str:
        error = BadRuleError(
            self.message, file=self.file, place=self.place, source=self.source, help=self.help
        )
        shown = str(error).removeprefix("error")
        margin = " " * len(str(self.place.line))
        see = f"{margin}= see: backline rules lint --explain {self.code}"
        return make_visible(f"{self.level}[{self.code}]{shown}\n{see}")


@dataclass(slots=True, eq=False)
class RuleFile:
    """A rule file as far as it could be read.

    name  as shown to the engineer
    tree  None when the file is not YAML
    rule  None when the file holds a mistake that keeps the rule from being loaded
    """

    path: Path
    name: str
    text: RuleText
    tree: RuleItem | None = None
    rule: Rule | None = None
    found: list[Complaint] = field(default_factory=list)

    def complain(self, code: str, message: str, place: FileSpan, help: str = "") -> None:
        """Keep a complaint; its sentences, which may quote the rule, are put on one line."""
        lines = self.text.lines
        if 0 < place.line <= len(lines):
            source = lines[place.line - 1]
        else:
            source = ""
        self.found.append(
            Complaint(code, one_line(message, MOST), self.name, place, source, one_line(help, MOST))
        )

    def find_item(self, *steps: str | int) -> RuleItem | None:
        """Return the value at keys and numbers like `"outcomes", 0, "say"`, or None."""
        return item_at(self.tree, *steps)

    def find_place(self, *steps: str | int) -> FileSpan:
        """Return where the last key of the steps stands; where it is missing, where the rule begins.

        For a number it is the place of that entry of the list.
        """
        parent = self.find_item(*steps[:-1])
        last = steps[-1]
        if parent is not None and isinstance(last, str) and last in parent.keys:
            return parent.keys[last]
        item = self.find_item(*steps)
        if item is None:
            return self.find_head()
        return begin_of(item)

    def find_head(self) -> FileSpan:
        """Return the place of the key `rule`, where complaints about what is missing point to."""
        if self.tree is None:
            return FileSpan()
        return self.tree.keys.get("rule", begin_of(self.tree))

    def read_word(self, *steps: str | int) -> str:
        """Return a scalar as written, without quotes and on one line; "" when it is not there."""
        item = self.find_item(*steps)
        if item is None or isinstance(item.value, dict | list):
            return ""
        if item.value is not None:
            return " ".join(item.text.split())
        return ""

    def list_entries(self, *steps: str | int) -> list[RuleItem]:
        """Return the entries of a list; none when it is not there or no list."""
        item = self.find_item(*steps)
        if item is not None and isinstance(item.value, list):
            return item.value
        return []

    def list_pairs(self, *steps: str | int) -> RuleItems:
        """Return the values of a mapping; none when it is not there or no mapping."""
        item = self.find_item(*steps)
        if item is not None and isinstance(item.value, dict):
            return item.value
        return {}

    @property
    def short(self) -> bool:
        """Say whether the rule is in the short form: what it judges has been made from `sign`."""
        return (each := self.find_item("each")) is not None and each.made

    @property
    def is_retired(self) -> bool:
        """Say whether the rule is out of use, so that no one waits for its missing parts."""
        return self.read_word("status") == "retired"


def item_at(item: RuleItem | None, *steps: str | int) -> RuleItem | None:
    """Return the value below an item at keys and numbers, or None."""
    for step in steps:
        value: Any = None
        if item is not None:
            value = item.value
        if isinstance(value, dict) and isinstance(step, str):
            item = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
            item = value[step]
        else:
            return None
    return item


def begin_of(item: RuleItem) -> FileSpan:
    """Return where an item begins: of a mapping written in lines, its first key."""
    if item.keys and item.place.width == 1:
        first = next(iter(item.keys.values()))
        if (first.line, first.column) == (item.place.line, item.place.column):
            return first
    return item.place


def is_empty(item: RuleItem | None) -> bool:
    """Say whether a value is not there, null, blank, or a list or mapping without entries."""
    if item is None or item.value is None:
        return True
    if isinstance(item.value, str):
        return not item.value.strip()
    return isinstance(item.value, dict | list) and not item.value
