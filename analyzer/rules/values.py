"""Small values in a rule file: lines, numbers, choices, time spans, names, tables."""

from __future__ import annotations

import re

from analyzer.artefacts.tables import Table, Tables
from analyzer.rules.language.expression import NameScope
from analyzer.rules.language.rulefile import FileSpan, RuleItem, RuleItems, RuleText, did_you_mean
from analyzer.runtime.limits import Limits

_WORD = re.compile(r"[a-z][a-z0-9_]*\Z")
_SPAN = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*(s|m|h|d)\Z")
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_RESERVED = ("true", "false", "and", "or", "not", "in", "is", "if", "else", "known")


class Values:
    """Reads single values; every refusal is a BadRuleError with its place."""

    def __init__(self, text: RuleText, tables: Tables, limits: Limits) -> None:
        self.text, self.tables, self.limits = text, tables, limits
        self.scope = NameScope()

    def _read_line(self, item: RuleItem | None, what: str) -> str:
        return " ".join(self.text.string(item, what).split()) if item is not None else ""

    def _read_list(self, item: RuleItem | None, what: str) -> list[RuleItem]:
        if item is None or item.value is None:
            return []
        if not isinstance(item.value, list):
            raise self.text.error(
                f"{what} must be a list, not {item.what}", item.place, "write it in [ ]"
            )
        return item.value

    def _read_mapping(
        self, item: RuleItem, known: tuple[str, ...], what: str, needed: tuple[str, ...]
    ) -> RuleItems:
        """Return the parts of a mapping; refuse one of an unknown key, and one that lacks a needed key."""
        parts = self.text.mapping(item, known, what)
        for key in needed:
            if key not in parts:
                raise self.text.error(f"{what} has no `{key}`", item.place)
        return parts

    def _read_lines(self, item: RuleItem | None, what: str) -> list[str]:
        if item is not None and isinstance(item.value, str):
            return [self._read_line(item, what)]
        return [self._read_line(child, what) for child in self._read_list(item, what)]

    def _read_numbers(self, item: RuleItem | None, what: str) -> list[int]:
        found = []
        for child in (
            [item]
            if item is not None and isinstance(item.value, int)
            else self._read_list(item, what)
        ):
            if not isinstance(child.value, int) or isinstance(child.value, bool):
                raise self.text.error(f"{what} holds numbers, not {child.what}", child.place)
            found.append(child.value)
        return found

    def _read_choice(
        self, item: RuleItem | None, choices: tuple[str, ...], what: str, default: str
    ) -> str:
        if item is None:
            return default
        word = self._read_line(item, what)
        if word not in choices:
            help_text = did_you_mean(word, choices) or "one of " + ", ".join(choices)
            raise self.text.error(f"unknown {what} `{word[:60]}`", item.place, help_text)
        return word

    def _read_yes(self, item: RuleItem | None, what: str) -> bool:
        """Return true or false as it stands there, false where there is nothing."""
        if item is None:
            return False
        if not isinstance(item.value, bool):
            raise self.text.error(f"{what} is true or false, not {item.what}", item.place)
        return item.value

    def _read_word(self, item: RuleItem, pattern: re.Pattern[str], what: str, help: str) -> str:
        word = self._read_line(item, what)
        if len(word) > 100 or not pattern.match(word):
            raise self.text.error(f"`{word[:60]}` is not {what}", item.place, help)
        return word

    def _read_count(self, item: RuleItem, what: str, most: int) -> int:
        if (
            not isinstance(item.value, int)
            or isinstance(item.value, bool)
            or not 1 <= item.value <= most
        ):
            raise self.text.error(f"{what} is a number from 1 to {most}", item.place)
        return item.value

    def _read_seconds(self, item: RuleItem, what: str) -> float:
        found = _SPAN.match(self._read_line(item, what))
        if found is None:
            raise self.text.error(f"{what} is a time span", item.place, "write 90s, 10m, 24h or 2d")
        return float(found[1]) * _SECONDS[found[2]]

    def _read_name(self, name: str, place: FileSpan) -> str:
        if not _WORD.match(name) or len(name) > 60 or name in _RESERVED:
            raise self.text.error(
                f"`{name[:60]}` cannot be a name", place, "use a-z, 0-9 and _, a letter first"
            )
        if name in self.scope.names():
            raise self.text.error(f"the name `{name}` is already taken", place)
        return name

    def _find_table(self, name: str, place: FileSpan, *, log: bool = False) -> Table:
        table = self.tables.get(name)
        if table is None:
            raise self.text.error(
                f"no parser makes table `{name[:80]}`", place, did_you_mean(name, self.tables)
            )
        if table.log and not log:
            help_text = "name a signature under `logs`; ask for it in `seen`, or use it as a table"
            raise self.text.error(f"`{name}` is a log", place, help_text)
        if log and not table.log:
            raise self.text.error(f"`{name}` is not a log", place, "use it in `each` or `join`")
        return table
