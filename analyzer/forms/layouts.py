"""Dumps that differ in their numbers only are read in one step.

A host prints the dump of a port thousands of times. The first one of a form goes through the template; what it gave
says which line fills which column. A further text with the same lines and other numbers needs no more than one regex.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.tables import Block, ColumnValueError, Row, Table, Value, convert_cell

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
    own: frozenset[str]  # columns that the text gives, whatever the command says
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

    def read_block(self, block: Block) -> Output:
        """Return what the general way would return."""
        if self._known and len(block.lines) <= MOST_LINES:
            text = "\n".join(block.lines)
            for layout in self._known:
                found = layout.pattern.fullmatch(text)
                row = self._fill_row(layout, found, block) if found is not None else None
                if row is not None:
                    return (row,)
        found_rows = list(self.general(block))
        if len(found_rows) == 1 and isinstance(found_rows[0], Row) and self._tried < MOST_LAYOUTS:
            self._tried += 1
            self._learn_layout(block, found_rows[0])
        return found_rows

    def _learn_layout(self, block: Block, row: Row) -> None:
        """Keep the layout of a dump that gave one row, if it stands its trial."""
        names = {line - block.first_line: name for name, line in row.lines.items()}
        parts: list[str] = []
        columns: list[str] = []
        free: set[int] = set()  # places of the lines whose number may be another
        for number, line in enumerate(block.lines):
            counter, name = _COUNTER.match(line), names.get(number)
            if counter is None or (name is not None and self._columns[name].kind != "int"):
                parts.append(re.escape(line))
                continue
            free.add(number)
            label = re.escape(counter[1])
            if name is None:
                parts.append(label + _DIGITS)
            else:
                parts.append(f"{label}({_DIGITS})")
                columns.append(name)
        if len(block.lines) > MOST_LINES or not columns:
            return

        rest = dict(row.values)
        for name in block.params:
            if name in rest and name not in row.lines:
                rest[name] = None
        layout = _Layout(
            pattern=re.compile("\n".join(parts)),
            columns=tuple(columns),
            line=row.line - block.first_line,
            lines={name: line - block.first_line for name, line in row.lines.items()},
            own=frozenset(row.lines),
            rest=rest,
        )
        if self._is_sound(layout, free, block):
            self._known.append(layout)

    def _is_sound(self, layout: _Layout, free: set[int], block: Block) -> bool:
        """Say whether the general way reads the same lines with other numbers as the layout does."""
        for digits in _OTHERS:
            lines = list(block.lines)
            for number in free:
                lines[number] = _COUNTER.sub(rf"\g<1>{digits}", lines[number])
            other = replace(block, lines=lines)
            found = layout.pattern.fullmatch("\n".join(lines))
            if found is None or list(self.general(other)) != [self._fill_row(layout, found, other)]:
                return False
        return True

    def _fill_row(self, layout: _Layout, found: re.Match[str], block: Block) -> Row | None:
        """Return the row of a dump that its layout matched; None where the command has a parameter of another type."""
        values = layout.rest.copy()
        try:
            for name, text in block.params.items():
                column = self._columns.get(name)
                if column is not None and name not in layout.own:
                    values[name] = convert_cell(column, text)
        except ColumnValueError:
            return None
        values.update(zip(layout.columns, map(int, found.groups()), strict=True))
        first = block.first_line
        return Row(self.table, values, block, first + layout.line, _LinesBelow(layout.lines, first))
