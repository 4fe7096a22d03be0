"""The CSV of an output: `esxcli --formatter=csv …`.

The heading holds the labels of the text without their blanks, in the order of the alphabet; every line ends with a
comma, a cell with a comma is in quotes. A cell keeps the line its row begins on.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from analyzer.artefacts.parsing import MOST_LINE, Output, fault_at
from analyzer.artefacts.tables import Block, Table, Value
from analyzer.forms.columns import Field, make_row, normalize_label

LINE = r"(?:[^\s,][^,]*)?,.*,"  # a line of CSV, for the body of an output in a transcript; its first cell may be empty
_ASKED = re.compile(r"\s--formatter[= ]csv\b")
_HEADING = re.compile(r"\s*\w+(?:,\w+)+,?\s*$")


def is_csv(fields: Sequence[Field], block: Block) -> bool:
    """Say whether a block is CSV: the command asked for it, or its first line is a heading of two labels at least."""
    first = next((line for line in block.lines if line.strip()), "")
    if len(first) > MOST_LINE or not _HEADING.match(first):
        return bool(_ASKED.search(block.command))
    known = {normalize_label(label) for field in fields for label in field.labels}
    printed = {normalize_label(cell) for cell in first.split(",")}
    return len(known & printed) >= min(2, len(known))


def read_rows(
    table: Table, fields: Sequence[Field], parser: str, block: Block, params: dict[str, Value]
) -> Output:
    """Yield a row for each line of the CSV below its heading."""
    by_label = {normalize_label(label): field for field in fields for label in field.labels}
    heading: list[Field | None] = []
    reader = csv.reader(line if len(line) <= MOST_LINE else "" for line in block.lines)
    end = 0
    while True:
        begin = end
        at = block.first_line + begin
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            last_line = block.first_line + len(block.lines) - 1
            yield fault_at(block, min(at, last_line), parser, f"no CSV: {error}")
            end = reader.line_num
            continue
        end = reader.line_num
        if not any(cell.strip() for cell in cells):
            if len(block.lines[begin]) > MOST_LINE:
                yield fault_at(block, at, parser, "no line of this output is as long")
        elif not heading:
            found = [by_label.get(normalize_label(cell)) for cell in cells]
            if any(found):
                heading = found
            else:
                yield fault_at(
                    block, at, parser, "a heading with none of the labels of this output"
                )
        elif len(cells) != len(heading):
            for number in range(begin, end):
                yield fault_at(
                    block, block.first_line + number, parser, "not as many cells as the heading has"
                )
        else:
            named = zip(heading, cells, strict=True)
            known = [(field, text, at) for field, text in named if field is not None and text]
            yield from make_row(table, block, known, at, parser, params)
