"""The JSON twin of an output: `localcli --formatter=json`, and `json/` of a bundle.

The labels are those of the text, with or without their blanks. Source: the option DUMP_JSON of the vm-support
manifests; a file may begin with lines of warnings. Every cell keeps the line it stands on.
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

from analyzer.forms.columns import Field, make_row, normalize_label
from analyzer.parsing import Output, fault_at
from analyzer.tables import Block, Fault, Row, Table, Value

MOST_WARNINGS = 100  # lines above the JSON
_OPENS = re.compile(r"\s*(?:\[\s*(?:[{\]].*)?|\{\s*(?:[\"}].*)?)$")
_SCALAR = json.JSONDecoder()

# What a line of JSON begins with, for the body of an output in a transcript.
LINE = r"[\[\]{}\"].*"
_LINE = re.compile(rf"\s*(?:{LINE}|(?:-?\d[\d.eE+-]*|true|false|null)\s*,?\s*$)")


class _Placed(NamedTuple):
    """A value of a JSON text and where it begins."""

    value: Any
    at: int


def is_json(block: Block) -> bool:
    """Tell whether a block is the JSON twin: by its name, or by its first lines."""
    if block.address.endswith(".json"):
        return True
    return any(_OPENS.match(line) for line in block.lines[:1])


def read_rows(table: Table, fields: Sequence[Field], parser: str, block: Block, told: dict[str, Value]) -> Output:
    """Yield a row for each object of the outermost list, or one for an object alone.

    A line that is no JSON costs itself; what is broken in another way costs its object.
    """
    at = next((n for n, line in enumerate(block.lines[:MOST_WARNINGS]) if _OPENS.match(line)), None)
    if at is None:
        if any(line.strip() for line in block.lines):
            yield Fault(block.address, block.first_line, block.lines[0][:300], parser, why="no JSON begins here")
        return
    lines = list(block.lines)
    for number, line in enumerate(lines):
        if line.strip() and (number < at or not _LINE.match(line)):
            yield fault_at(block, block.first_line + number, parser, "not a line of JSON")
            lines[number] = ""
    yield from _Objects(table, fields, parser, replace(block, lines=lines), told).read()


def read_cells(block: Block) -> Iterator[tuple[tuple[str, ...], str, int]]:
    """Yield every cell of a JSON text: where it stands (keys, and numbers in lists), its text and its line.

    Lines that are no JSON are left out, see `strange`. Raises ValueError where the text is no JSON, or is cut.
    """
    at = next((n for n, line in enumerate(block.lines[:MOST_WARNINGS]) if _OPENS.match(line)), None)
    if at is None:
        raise ValueError("no JSON begins here")
    kept = ["" if n < at or not _LINE.match(line) else line for n, line in enumerate(block.lines)]
    text = "\n".join(kept)
    starts = [0, *accumulate(len(line) + 1 for line in kept)]
    try:
        found, end = _scan(text, _blanks(text, 0))
    except (IndexError, StopIteration, RecursionError) as error:
        raise ValueError(f"the JSON is broken or cut: {type(error).__name__}") from error
    if text[end:].strip():
        raise ValueError("text after the JSON")
    for path, text_of, place in _walk(found, ()):
        yield path, text_of, block.first_line + bisect_right(starts, place) - 1


def list_strange_lines(block: Block) -> Iterator[int]:
    """Yield the numbers of the lines of a JSON text that are no JSON."""
    yield from (n for n, line in enumerate(block.lines, block.first_line) if line.strip() and not _LINE.match(line))


def _walk(cell: _Placed, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str, int]]:
    if _is_object(cell):
        for key, inner in cell.value:
            yield from _walk(inner, (*path, key))
    elif isinstance(cell.value, list) and any(_is_object(one) for one in cell.value if isinstance(one, _Placed)):
        for number, inner in enumerate(cell.value):
            yield from _walk(inner, (*path, str(number)))
    elif cell.value != []:
        yield path, _text(cell.value), cell.at


class _Objects:
    """Reads the objects of one text into rows."""

    def __init__(
        self, table: Table, fields: Sequence[Field], parser: str, block: Block, told: dict[str, Value]
    ) -> None:
        self.table, self.parser, self.block, self.told = table, parser, block, told
        self.by_label = {normalize_label(label): field for field in fields for label in field.labels}
        self.head = next((field for field in fields if field.above), None)
        self.text = "\n".join(block.lines)
        self.starts = [0, *accumulate(len(line) + 1 for line in block.lines)]

    def read(self) -> Iterator[Row | Fault]:
        """Yield the rows of the text, one object after the other, so that a cut text keeps those before the cut."""
        text = self.text
        at = _blanks(text, 0)
        alone = text[at : at + 1] == "{"
        at = at if alone else _blanks(text, at + 1)
        while text[at : at + 1] == "{":
            try:
                found, end = _scan(text, at)
            except (ValueError, IndexError, StopIteration, RecursionError) as error:
                yield self._fault(at, f"the JSON is broken or cut: {type(error).__name__}")
                return
            yield from self._object(found, "")
            at = _blanks(text, end)
            if alone or text[at : at + 1] != ",":
                break
            at = _blanks(text, at + 1)
        if not alone and text[at : at + 1] != "]":
            yield self._fault(at, "the JSON is broken or cut: a list without an end")
        elif rest := text[at + (not alone) :].strip():
            yield self._fault(text.rindex(rest[-1]), "text after the JSON")

    def line_at(self, place: int) -> int:
        """Return the number of the line on which a place of the text stands."""
        last = len(self.block.lines) - 1
        return self.block.first_line + min(last, max(0, bisect_right(self.starts, place) - 1))

    def _fault(self, place: int, why: str) -> Fault:
        return fault_at(self.block, self.line_at(place), self.parser, why)

    def _object(self, found: _Placed, head: str) -> Iterator[Row | Fault]:
        pairs: list[tuple[str, _Placed]] = found.value
        inner = [(key, cell) for key, cell in pairs if isinstance(cell.value, list) and _is_object(cell)]
        if not head and pairs and len(inner) == len(pairs) and self.head is not None:
            for key, cell in inner:  # an object of objects, each under the name that stands above it in the text
                yield from self._object(cell, key)
            return
        cells = list(self._cells(pairs))
        if head and self.head is not None:
            cells.append((self.head, head, self.line_at(found.at)))
        first = min((line for _, _, line in cells), default=self.line_at(found.at))
        if cells:
            yield from make_row(self.table, self.block, cells, first, self.parser, self.told)
        else:
            why = "an object with none of the labels of this output"
            yield self._fault(found.at, why)

    def _cells(self, pairs: list[tuple[str, _Placed]]) -> Iterator[tuple[Field, str, int]]:
        for key, cell in pairs:
            field = self.by_label.get(normalize_label(key))
            if field is not None:
                yield field, _text(cell.value), self.line_at(cell.at)
            elif _is_object(cell):  # a block inside the block ("Driver Info:")
                yield from self._cells(cell.value)


def _is_object(cell: _Placed) -> bool:
    return (
        isinstance(cell.value, list)
        and bool(cell.value)
        and isinstance(cell.value[0], tuple)
        and not isinstance(cell.value[0], _Placed)
    )


def _text(value: Any) -> str:
    """Return a value as the text prints it: lists with commas, true and false in lower case."""
    if isinstance(value, _Placed):
        return _text(value.value)
    if isinstance(value, list):
        return ", ".join(_text(one) for one in value if isinstance(one, _Placed))
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _scan(text: str, at: int) -> tuple[_Placed, int]:
    """Read one value as the library does, and note where it begins; objects come as lists of pairs."""
    sign = text[at]
    if sign == '"':
        value, end = scanstring(text, at + 1, False)
    elif sign == "{":
        value, end = JSONObject((text, at + 1), False, _scan, None, list, {})
    elif sign == "[":
        value, end = JSONArray((text, at + 1), _scan)
    else:
        value, end = _SCALAR.scan_once(text, at)  # type: ignore[attr-defined]
    return _Placed(value, at), end
