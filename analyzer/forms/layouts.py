"""Dumps that differ in their numbers only are read in one step.

A host prints the dump of a port thousands of times. The first one of a form goes through the template; what it gave
says which line fills which column. A further text with the same lines and other numbers needs no more than one regex.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from analyzer.lazy_dataclass import dataclass
from analyzer.parsing import Output
from analyzer.tables import Block, ColumnValueError, Row, Table, Value, convert

MOST_LAYOUTS = 8  # of one form: releases differ, dumps of one host do not
MOST_LINES = 400
_COUNTER = re.compile(r"(\s*[^:{}]+:)([0-9]{1,18})$")
_DIGITS = "[0-9]{1,18}"  # below 2**63
_OTHERS = ("7", "9" * 18)  # numbers by which a layout is tried before it is trusted


@dataclass(frozen=True, slots=True)
class _Layout:
    """The lines of a dump: its numbers as groups, the columns they fill, and the line of each from the first."""

    pattern: re.Pattern[str]
    columns: tuple[str, ...]
    line: int
    lines: dict[str, int]
    own: frozenset[str]  # columns that the text tells, whatever the command says
    rest: dict[str, Value]


class _LinesBelow(Mapping[str, int]):
    """The lines of the columns of a dump, by their places in any dump of its layout; numbers would be half of a row."""

    __slots__ = ("_first", "_places")

    def __init__(self, places: dict[str, int], first: int) -> None:
        self._places, self._first = places, first

    def __getitem__(self, name: str) -> int:
        return self._first + self._places[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class Layouts:
    """Reads the dumps of one table; `general` is what reads a dump whose layout was not seen before."""

    def __init__(self, table: Table, general: Callable[[Block], Output]) -> None:
        self.table, self.general = table, general
        self._columns = {column.name: column for column in table.columns}
        self._known: list[_Layout] = []
        self._tried = 0

    def read(self, block: Block) -> Output:
        """Return what the general way would return."""
        if self._known and len(block.lines) <= MOST_LINES:
            text = "\n".join(block.lines)
            for layout in self._known:
                if (found := layout.pattern.fullmatch(text)) and (row := self._row(layout, found, block)):
                    return (row,)
        return self._learning(block)

    def _learning(self, block: Block) -> Output:
        found = list(self.general(block))
        if len(found) == 1 and isinstance(row := found[0], Row) and self._tried < MOST_LAYOUTS:
            self._tried += 1
            if (made := self._layout(block, row)) is not None and self._holds(*made, block):
                self._known.append(made[0])
        return found

    def _layout(self, block: Block, row: Row) -> tuple[_Layout, set[int]] | None:
        """Return the layout of a dump that gave one row, and the places of its lines whose number may be another."""
        at = {line - block.first_line: name for name, line in row.lines.items()}
        parts: list[str] = []
        columns: list[str] = []
        free: set[int] = set()
        for number, line in enumerate(block.lines):
            counter, name = _COUNTER.match(line), at.get(number)
            if counter is None or (name is not None and self._columns[name].kind != "int"):
                parts.append(re.escape(line))
                continue
            free.add(number)
            if name is None:
                parts.append(re.escape(counter[1]) + _DIGITS)
            else:
                parts.append(f"{re.escape(counter[1])}({_DIGITS})")
                columns.append(name)
        if len(block.lines) > MOST_LINES or not columns:
            return None
        told = {name for name in block.params if name not in row.lines}
        rest = {name: None if name in told else cell for name, cell in row.values.items()}
        lines = {name: line - block.first_line for name, line in row.lines.items()}
        pattern = re.compile("\n".join(parts))
        first = row.line - block.first_line
        return _Layout(pattern, tuple(columns), first, lines, frozenset(row.lines), rest), free

    def _holds(self, layout: _Layout, free: set[int], block: Block) -> bool:
        """Tell whether the general way reads the same lines with other numbers as the layout does."""
        for digits in _OTHERS:
            lines = [
                _COUNTER.sub(rf"\g<1>{digits}", line) if at in free else line for at, line in enumerate(block.lines)
            ]
            other = replace(block, lines=lines)
            found = layout.pattern.fullmatch("\n".join(lines))
            if found is None or list(self.general(other)) != [self._row(layout, found, other)]:
                return False
        return True

    def _row(self, layout: _Layout, found: re.Match[str], block: Block) -> Row | None:
        values = layout.rest.copy()
        try:
            for name, text in block.params.items():
                if (column := self._columns.get(name)) is not None and name not in layout.own:
                    values[name] = convert(column, text)
        except ColumnValueError:
            return None
        values.update(zip(layout.columns, map(int, found.groups()), strict=True))
        first = block.first_line
        return Row(self.table, values, block, first + layout.line, _LinesBelow(layout.lines, first))
