"""TextFSM that knows the line of every value and asks only the rules a line can match.

The library stays as it is; two of its steps are overridden. `_CheckLine` leaves out the rules whose
first literal characters the line does not begin with: such a rule cannot match, so rows are
the same (a test compares them). `_AssignVar` and `_AppendRecord` also note line numbers.
"""

from __future__ import annotations

from io import StringIO
import re
from re import _constants as opcodes  # type: ignore[attr-defined]  # the parse tree of `re` itself
from re import _parser as reparser  # type: ignore[attr-defined]
from typing import Any

import textfsm

from analyzer.parsing import Record

KEY = 4  # characters of a line that choose the rules to ask


class Machine(textfsm.TextFSM):  # type: ignore[misc]  # textfsm has no types
    """A template that is fed line by line; `records` holds what it recorded so far."""

    def __init__(self, template: str) -> None:
        super().__init__(StringIO(template))
        self.names = [value.name for value in self.values]
        self.stays = {value.name for value in self.values if "Filldown" in value.OptionNames()}
        self.first = {
            id(rule): first_characters(rule.regex) for state in self.states.values() for rule in state
        }
        self._choices: dict[tuple[str, str], list[Any]] = {}

    def begin(self) -> None:
        """Start over with no records."""
        self.Reset()
        self.records: list[Record] = []
        self.at: dict[str, int] = {}
        self.number = 0

    @property
    def state(self) -> str:
        """The name of the state the next line will meet."""
        return str(self._cur_state_name)

    def feed(self, text: str, number: int) -> None:
        """Take one line; raises textfsm.TextFSMError where the template says Error."""
        self.number = number
        self._CheckLine(text)

    def finish(self) -> None:
        """Do what the end of the text does: record once more, unless the template says otherwise."""
        if self.state != "End" and "EOF" not in self.states:
            self._AppendRecord()

    def _CheckLine(self, line: str) -> None:  # noqa: N802 - the library's name
        for rule in self._asked(line):
            matched = self._CheckRule(rule, line)
            if not matched:
                continue
            for value in matched.groupdict():
                self._AssignVar(matched, value)
            if self._Operations(rule, line):
                if rule.new_state:
                    if rule.new_state not in ("End", "EOF"):
                        self._cur_state = self.states[rule.new_state]
                    self._cur_state_name = rule.new_state
                return

    def _asked(self, line: str) -> list[Any]:
        """Return the rules of this state that may match a line, in their order."""
        head = line.lstrip()[:KEY]
        known = self._choices.get((self._cur_state_name, head))
        if known is None:
            known = [
                rule
                for rule in self._cur_state
                if (first := self.first[id(rule)]) is None or head.startswith(first[:KEY])
            ]
            if len(self._choices) > 5000:  # hostile text has many beginnings
                self._choices.clear()
            self._choices[(self._cur_state_name, head)] = known
        return known

    def _AssignVar(self, matched: Any, value: str) -> None:  # noqa: N802
        super()._AssignVar(matched, value)
        if matched.group(value):
            self.at[value] = self.number

    def _AppendRecord(self) -> None:  # noqa: N802
        at = dict(self.at)
        super()._AppendRecord()
        for result in self._result:
            values = dict(zip(self.names, result, strict=True))
            lines = {name: at.get(name, self.number) for name, cell in values.items() if cell}
            self.records.append(Record(values, min(lines.values(), default=self.number), lines))
        self._result.clear()
        self.at = {name: line for name, line in self.at.items() if name in self.stays}


def first_characters(pattern: str) -> str | None:
    """Return the literal text that every match begins with after blanks, or None.

    Only for patterns that are anchored and literal from there on; a rule without such a text
    is asked for every line.
    """
    tree = reparser.parse(pattern)
    nodes = list(tree)
    if tree.state.flags & re.IGNORECASE or not nodes or nodes[0] != (opcodes.AT, opcodes.AT_BEGINNING):
        return None
    text = ""
    for operation, argument in nodes[1:]:
        if operation is opcodes.LITERAL:
            text += chr(argument)
        elif text or not _blanks(operation, argument):
            break
    return text.lstrip() or None


def _blanks(operation: Any, argument: Any) -> bool:
    """Tell whether a node matches blanks only: `\\s*`, ` +`, …"""
    if operation not in (opcodes.MAX_REPEAT, opcodes.MIN_REPEAT):
        return False
    inner = list(argument[2])
    blank = [(opcodes.IN, [(opcodes.CATEGORY, opcodes.CATEGORY_SPACE)])], [(opcodes.LITERAL, ord(" "))]
    return inner in blank
