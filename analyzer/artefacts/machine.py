"""TextFSM that knows the line of every value and asks only the rules a line can match.

The library reads the templates and its options (Filldown, Required, List, …) do their work; two of its
steps are done here. `feed` leaves out the rules whose first literal characters the line does not
begin with, and remembers what a line matched: both cannot change a row (tests compare them with the
unmodified library). Values without options live in one dict, as a record of forty is mostly them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from io import StringIO
from typing import Any

import textfsm
from textfsm import parser as library
from textfsm.parser import SkipRecord

from analyzer.artefacts.first_chars import find_literals, first_characters
from analyzer.artefacts.tables import Record

KEY = 4  # characters of a line that choose the rules to ask
MOST_CHOICES = 5000  # hostile text has many beginnings
# Lines remembered with what they matched, of all machines together; counters are mostly 0, so lines come again.
MOST_KNOWN = 8000
MOST_KNOWN_LINE = 200

_SEPARATOR = re.compile(r"[\s:.,-]*")

Step = tuple[Any, list[tuple[str, str | None]]]  # a rule that matched, and the values it read
_known: dict[tuple[Machine, str, str], list[Step]] = {}  # by machine, its state and the line


class KeptRegex(library.CopyableRegexObject):  # type: ignore[misc]
    """The pattern of a rule as the library holds it, compiled once on a machine."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.regex = re.compile(pattern)
        self.match = self.regex.match  # the library's own method passes it on, at a price


library.CopyableRegexObject = KeptRegex


class Machine(textfsm.TextFSM):  # type: ignore[misc]  # textfsm has no types
    """A template that is fed line by line; `records` holds what it recorded so far.

    begins_again  a value that comes a second time begins a new record (the library overwrites it)
    """

    _cur_state_name: str  # of the library

    def __init__(self, template: str, *, begins_again: bool = True) -> None:
        self._optioned: dict[str, Any] = {}  # values with options, which the library keeps
        self._cells: dict[str, str | None] = {}  # the others, as far as this record has them
        super().__init__(StringIO(template))
        self._empty: dict[str, str | list[str]] = {value.name: "" for value in self.values}
        self._optioned = {value.name: value for value in self.values if value.options}
        self._stays = {value.name for value in self.values if "Filldown" in value.OptionNames()}
        # neither filled down nor gathered: one record has each of them once
        once = [
            value.name
            for value in self.values
            if not {"Filldown", "List"} & set(value.OptionNames())
        ]
        self._single = set(once) if begins_again else set()
        self._first = {
            id(rule): first_characters(rule.regex) or ""
            for state in self.states.values()
            for rule in state
        }
        self._choices: dict[tuple[str, str], list[tuple[str, list[str], Any]]] = {}
        self.begin()

    def may_record(self, lines: Iterable[str]) -> bool:
        """Say whether a line gives what a record cannot do without: False means that no record comes of them."""
        return any(match(line) for line in lines for match in self._telling)

    @cached_property
    def _telling(self) -> list[Callable[[str], Any]]:
        needed = {one.name for one in self.values if "Required" in one.OptionNames()} or set(
            self._empty
        )
        rules = [rule for state in self.states.values() for rule in state]
        return [
            one.regex_obj.match
            for one in rules
            if any(f"(?P<{name}>" in one.regex for name in needed)
        ]

    def alone(self, line: str) -> dict[str, str] | None:
        """Return the values of the record that a line is by itself; None where more than one rule decides."""
        if not self._is_fresh:
            self.begin()
        steps = self._match_rules(line)
        if len(steps) != 1 or self._optioned:
            return None
        rule, values = steps[0]
        if rule.record_op != "Record" or rule.line_op not in ("", "Next"):
            return None
        return {name: cell for name, cell in values if cell}

    def begin(self) -> None:
        """Start over with no records."""
        self.Reset()
        self.records: list[Record] = []
        self.unnamed: list[int] = []  # lines of records that lack a required value and are no rows
        self._again = False
        self.at: dict[str, int] = {}
        self.number = 0
        self.ended = False
        self._is_fresh = True  # nothing was fed since

    @property
    def state(self) -> str:
        """The name of the state the next line will meet."""
        return str(self._cur_state_name)

    def feed(self, text: str, number: int) -> None:
        """Take one line; raises textfsm.TextFSMError where the template says Error."""
        self.number = number
        self._is_fresh = False
        key = (self, self._cur_state_name, text)
        steps = _known.get(key)
        if steps is None:
            steps = self._match_rules(text)
            if len(text) <= MOST_KNOWN_LINE:
                if len(_known) >= MOST_KNOWN:
                    _known.clear()
                _known[key] = steps
        for rule, values in steps:
            # A value that comes again on another line begins a record whose heading is missing; without
            # this the second record would overwrite the first and keep what only the first had.
            filled = [name for name, cell in values if cell and name in self._single]
            if any(self.at.get(name, number) != number for name in filled):
                self._AppendRecord()
                self._again = True
            for name, cell in values:
                if name in self._optioned:
                    self._optioned[name].AssignVar(cell)
                else:
                    self._cells[name] = cell
                if cell:
                    self.at[name] = number
            if (rule.record_op or rule.line_op) and not self._Operations(rule, text):
                continue
            if rule.new_state:
                self.ended = rule.new_state in ("End", "EOF")
                if not self.ended:
                    self._cur_state = self.states[rule.new_state]
                self._cur_state_name = rule.new_state

    def finish(self) -> None:
        """Do what the end of the text does: record once more, unless the template says otherwise."""
        self._is_fresh = False
        if self.state != "End" and "EOF" not in self.states:
            self._AppendRecord()

    def _match_rules(self, line: str) -> list[Step]:
        """Return the rules a line matches in this state, down to the first that does not say Continue."""
        steps: list[Step] = []
        text = line.lstrip()
        key = (self._cur_state_name, text[:KEY])
        asked = self._choices.get(key)
        if (
            asked is None
        ):  # the rules of this state that may match a line beginning so, in their order
            asked = []
            for rule in self._cur_state:
                first = self._first[id(rule)]
                if text[:KEY].startswith(first[:KEY]):
                    asked.append((first, list_telling_literals(rule.regex), rule))
            if len(self._choices) > MOST_CHOICES:
                self._choices.clear()
            self._choices[key] = asked
        empty = self._empty
        for first, literals, rule in asked:
            if not text.startswith(first):
                continue
            for literal in literals:
                if literal not in line:
                    break
            else:
                matched = rule.regex_obj.match(line)
                if not matched:
                    continue
                values = [pair for pair in matched.groupdict().items() if pair[0] in empty]
                steps.append((rule, values))
                if rule.line_op != "Continue":
                    break
        return steps

    def _AppendRecord(self) -> None:  # noqa: N802 - the library's name
        """Record what the lines so far gave, unless a required value is missing or there is nothing."""
        try:
            for value in self._optioned.values():
                value.OnSaveRecord()
        except SkipRecord:
            own = {line for name, line in self.at.items() if name not in self._stays}
            if (
                len(own) > 1
            ):  # a heading alone (a port without a client) says nothing that could be lost
                self.unnamed += sorted(own)
            self._ClearRecord()
        else:
            cells: dict[str, str | list[str]] = {}
            cells.update((name, cell) for name, cell in self._cells.items() if cell is not None)
            cells.update(
                (name, one.value) for name, one in self._optioned.items() if one.value is not None
            )
            if any(cell != [] for cell in cells.values()):
                values = self._empty | cells
                lines = {
                    name: self.at.get(name, self.number) for name, cell in values.items() if cell
                }
                first = min(lines.values(), default=self.number)
                self.records.append(Record(values, first, lines, again=self._again))
                self._ClearRecord()
        self._again = False
        self._forget_lines()

    def _ClearRecord(self) -> None:  # noqa: N802
        self._cells.clear()
        for value in self._optioned.values():
            value.ClearVar()
        self._forget_lines()

    def _forget_lines(self) -> None:
        self.at = {name: line for name, line in self.at.items() if name in self._stays}

    def _ClearAllRecord(self) -> None:  # noqa: N802
        self._cells.clear()
        for value in self._optioned.values():
            value.ClearAllVar()
        self.at = {}


def list_telling_literals(pattern: str) -> list[str]:
    """Return texts that every line of a pattern holds, but for separators, which any line has."""
    return [text for text in find_literals(pattern) if not _SEPARATOR.fullmatch(text)]
