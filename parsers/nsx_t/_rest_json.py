"""Answers of the REST API of NSX-T as JSON: the objects in them, each cell with its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from analyzer.artefacts.parsing import fault_at
from analyzer.artefacts.tables import Block, Fault
from analyzer.forms import json_twin

Cells = dict[str, tuple[str, int]]
# A line above the first one that tells which answer it is belongs to it.
LEAD = rf"^\s*(?:{json_twin.LINE})$"
BODY = rf"^\s*(?:{json_twin.LINE}|-?\d[\d.eE+-]*,?|(?:true|false|null),?)\s*$"


def read_objects(block: Block, parser: str) -> Iterator[tuple[tuple[str, ...], Cells] | Fault]:
    """Yield where each object stands (keys, and numbers in lists) and its own cells, key -> text and line.

    Lines that are no JSON are faults; so is a text that is broken or cut, which gives no object and is known as cut.
    """
    found: dict[tuple[str, ...], Cells] = {}
    try:
        for path, text, line in json_twin.read_cells(block):
            found.setdefault(path[:-1], {})[path[-1] if path else ""] = (text, line)
    except ValueError as error:
        for at, text in enumerate(block.lines, block.first_line):
            if text.strip():
                yield fault_at(block, at, parser, f"no answer as JSON: {error}"[:200])
        block.cut = True
        return
    yield from found.items()
    for number in json_twin.list_strange_lines(block):
        yield fault_at(block, number, parser, "not a line of JSON")


def pick_columns(cells: Mapping[str, tuple[str, int]], columns: Mapping[str, str]) -> Cells:
    """Return the cells of an object that are columns of a table, by their column; `columns`: key -> column."""
    return {columns[key]: cell for key, cell in cells.items() if key in columns}


def answer_shape(*keys: str) -> str:
    """Return the shape of an answer that has one of these keys, on the first line or further down."""
    either = "|".join(keys)
    return rf'^\s*(?:\{{.{{0,3000}}?)?"(?:{either})"\s*:'
