"""The JSON twin of an output: `localcli --formatter=json`, and `json/` of a bundle.

The labels are those of the text, with or without their blanks. Source: the option DUMP_JSON of the vm-support
manifests; a file may begin with lines of warnings. Every cell keeps its line.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from json.decoder import JSONArray, JSONObject, scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from analyzer.artefacts.parsing import Output, fault_at
from analyzer.artefacts.tables import Block, Fault, Row, Table, Value
from analyzer.forms.columns import Field, make_row, normalize_label

MOST_WARNINGS = 100  # lines above the JSON
_OPENS = re.compile(r"\s*(?:\[\s*(?:[{\]].*)?|\{\s*(?:[\"}].*)?)$")
_SCALAR = json.JSONDecoder()

# What a line of JSON begins with, for the body of an output in a transcript.
LINE = r"[\[\]{}\"].*"
_LINE = re.compile(rf"\s*(?:{LINE}|(?:-?\d[\d.eE+-]*|true|false|null)\s*,?\s*$)")


class _Placed(NamedTuple):
    """A value of a JSON text and where it begins; that of an object is the list of its pairs."""

    value: Any
    at: int


Path = tuple[str, ...]
Cell = tuple[Path, str, int]  # where it is (keys, and numbers in lists), its text and its line


def is_json(block: Block) -> bool:
    """Say whether a block is the JSON twin: by its name, or by its first lines."""
    if block.address.endswith(".json"):
        return True
    return any(_OPENS.match(line) for line in block.lines[:1])


def _find_start(block: Block) -> int | None:
    """Return which line of a block begins the JSON, below warnings; None where none does."""
    for number, line in enumerate(block.lines[:MOST_WARNINGS]):
        if _OPENS.match(line):
            return number
    return None


def read_rows(
    table: Table, fields: Sequence[Field], parser: str, block: Block, params: dict[str, Value]
) -> Output:
    """Yield a row for each object of the outermost list, or one for an object alone.

    A line that is no JSON costs itself; what is broken in another way costs its object.
    """
    start = _find_start(block)
    if start is None:
        if any(line.strip() for line in block.lines):
            yield Fault(
                block.address,
                block.first_line,
                block.lines[0][:300],
                parser,
                why="no JSON begins here",
            )
        return
    lines = list(block.lines)
    for number, line in enumerate(lines):
        if line.strip() and (number < start or not _LINE.match(line)):
            yield fault_at(block, block.first_line + number, parser, "not a line of JSON")
            lines[number] = ""
    yield from _Objects(table, fields, parser, replace(block, lines=lines), params).read_objects()


def read_cells(block: Block) -> Iterator[Cell]:
    """Yield every cell of a JSON text: where it is (keys, and numbers in lists), its text and its line.

    Lines that are no JSON are left out, see `list_strange_lines`. Raises ValueError where the text is no JSON, or is
    cut.
    """
    start = _find_start(block)
    if start is None:
        raise ValueError("no JSON begins here")
    kept = []
    for number, line in enumerate(block.lines):
        is_kept = number >= start and _LINE.match(line)
        kept.append(line if is_kept else "")
    text = "\n".join(kept)
    starts = [0, *accumulate(len(line) + 1 for line in kept)]
    try:
        found, end = _scan_value(text, _skip_blanks(text, 0))
    except (IndexError, StopIteration, RecursionError) as error:
        raise ValueError(f"the JSON is broken or cut: {type(error).__name__}") from error
    if text[end:].strip():
        raise ValueError("text after the JSON")
    for path, cell_text, place in _walk_cells(found, ()):
        yield path, cell_text, block.first_line + bisect_right(starts, place) - 1


def list_strange_lines(block: Block) -> Iterator[int]:
    """Yield the numbers of the lines of a JSON text that are no JSON."""
    for number, line in enumerate(block.lines, block.first_line):
        if line.strip() and not _LINE.match(line):
            yield number


def _walk_cells(cell: _Placed, path: Path) -> Iterator[Cell]:
    """Yield the cells below a value, each with its place in the text in place of its line."""
    value = cell.value
    if _is_object(cell):
        for key, inner in value:
            yield from _walk_cells(inner, (*path, key))
    elif isinstance(value, list) and any(
        isinstance(one, _Placed) and _is_object(one) for one in value
    ):
        for number, inner in enumerate(value):
            yield from _walk_cells(inner, (*path, str(number)))
    elif value != []:
        yield path, _print_value(value), cell.at


class _Objects:
    """Reads the objects of one text into rows."""

    def __init__(
        self,
        table: Table,
        fields: Sequence[Field],
        parser: str,
        block: Block,
        params: dict[str, Value],
    ) -> None:
        self.table, self.parser, self.block, self.params = table, parser, block, params
        self.by_label = {
            normalize_label(label): field for field in fields for label in field.labels
        }
        self.head = next((field for field in fields if field.above), None)
        self.text = "\n".join(block.lines)
        self.starts = [0, *accumulate(len(line) + 1 for line in block.lines)]

    def read_objects(self) -> Iterator[Row | Fault]:
        """Yield the rows of the text, one object after the other, so that a cut text keeps those before the cut."""
        text = self.text
        at = _skip_blanks(text, 0)
        alone = text[at : at + 1] == "{"
        if not alone:
            at = _skip_blanks(text, at + 1)
        while text[at : at + 1] == "{":
            try:
                found, end = _scan_value(text, at)
            except (ValueError, IndexError, StopIteration, RecursionError) as error:
                yield self._make_fault(at, f"the JSON is broken or cut: {type(error).__name__}")
                return
            yield from self._read_object(found, "")
            at = _skip_blanks(text, end)
            if alone or text[at : at + 1] != ",":
                break
            at = _skip_blanks(text, at + 1)
        if not alone:
            if text[at : at + 1] != "]":
                yield self._make_fault(at, "the JSON is broken or cut: a list without an end")
                return
            at += 1
        rest = text[at:].strip()
        if rest:
            yield self._make_fault(text.rindex(rest[-1]), "text after the JSON")

    def find_line(self, place: int) -> int:
        """Return the number of the line that holds a place of the text."""
        last = len(self.block.lines) - 1
        number = bisect_right(self.starts, place) - 1
        return self.block.first_line + min(last, max(0, number))

    def _make_fault(self, place: int, why: str) -> Fault:
        return fault_at(self.block, self.find_line(place), self.parser, why)

    def _read_object(self, found: _Placed, head: str) -> Iterator[Row | Fault]:
        """Yield the row of an object, or those of an object of objects; `head` is the name above it in the text."""
        pairs: list[tuple[str, _Placed]] = found.value
        all_objects = bool(pairs) and all(_is_object(cell) for _, cell in pairs)
        if not head and all_objects and self.head is not None:
            for key, cell in pairs:
                yield from self._read_object(cell, key)
            return
        cells = list(self._read_cells(pairs))
        if head and self.head is not None:
            cells.append((self.head, head, self.find_line(found.at)))
        if not cells:
            yield self._make_fault(found.at, "an object with none of the labels of this output")
            return
        first = min(line for _, _, line in cells)
        yield from make_row(self.table, self.block, cells, first, self.parser, self.params)

    def _read_cells(self, pairs: list[tuple[str, _Placed]]) -> Iterator[tuple[Field, str, int]]:
        for key, cell in pairs:
            field = self.by_label.get(normalize_label(key))
            if field is not None:
                yield field, _print_value(cell.value), self.find_line(cell.at)
            elif _is_object(cell):  # a block inside the block ("Driver Info:")
                yield from self._read_cells(cell.value)


def _is_object(cell: _Placed) -> bool:
    if not isinstance(cell.value, list) or not cell.value:
        return False
    first = cell.value[0]
    return isinstance(first, tuple) and not isinstance(first, _Placed)


def _print_value(value: Any) -> str:
    """Return a value as the text prints it: lists with commas, true and false in lower case."""
    if isinstance(value, _Placed):
        return _print_value(value.value)
    if isinstance(value, list):
        return ", ".join(_print_value(one) for one in value if isinstance(one, _Placed))
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _skip_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _scan_value(text: str, at: int) -> tuple[_Placed, int]:
    """Read one value as the library does, and note where it begins; objects come as lists of pairs."""
    sign = text[at]
    if sign == '"':
        value, end = scanstring(text, at + 1, False)
    elif sign == "{":
        value, end = JSONObject((text, at + 1), False, _scan_value, None, list, {})
    elif sign == "[":
        value, end = JSONArray((text, at + 1), _scan_value)
    else:
        value, end = _SCALAR.scan_once(text, at)  # type: ignore[attr-defined]
    return _Placed(value, at), end
