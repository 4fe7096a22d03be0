"""Outputs of a router's CLI: rows below the lines that tell what they belong to, and records of several lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Unpack

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.tables import Block, Row, Table
from analyzer.forms.form import Finish, Looks

from ._nsxt import DATED, match_first, place_cells, stray_fault, typed_row

_DATED = re.compile(rf"\s*{DATED}")


def text_rows(
    table: Table,
    block: Block,
    parser: str,
    above: Sequence[re.Pattern[str]],
    row: re.Pattern[str],
    rest: re.Pattern[str],
    carried: str = "",
) -> Output:
    """Read rows of one line each; named groups are columns.

    above    forms of lines above rows; the first of them begins anew, what the others give is added
    rest     form of lines that belong to the output and give nothing
    carried  column that a row without it has from the row above: further hops of one route
    """
    context: dict[str, str] = {}
    last = ""
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        if found := row.match(line):
            texts = {name: text for name, text in found.groupdict().items() if text}
            if carried:
                last = texts.setdefault(carried, last)
                if not last:
                    yield fault_at(block, at, parser, "no line above says what this belongs to")
                    continue
            cells = {}
            for name, text in {**block.params, **context, **texts}.items():
                cells[name] = (text, at)
            yield from typed_row(table, block, parser, at, cells)
        elif found := match_first(above, line):
            if found.re is above[0]:
                context = {}
            context |= {name: text for name, text in found.groupdict().items() if text}
        elif line.strip() and not rest.match(line) and not _DATED.match(line):
            yield stray_fault(block, number, parser)


def line_parser(
    name: str,
    table: Table,
    row: re.Pattern[str],
    rest: re.Pattern[str],
    above: Sequence[re.Pattern[str]] = (),
    *,
    carried: str = "",
    finish: Finish | None = None,
    **looks: Unpack[Looks],
) -> Parser:
    """Return the parser of an output that has a row a line; finish: see Form, the others `text_rows`."""

    def parse_block(block: Block) -> Output:
        for item in text_rows(table, block, name, above, row, rest, carried):
            if finish is not None and isinstance(item, Row):
                finish(item)
            yield item

    return Parser(name, (table,), parse_block, **looks)


def headed_rows(
    table: Table,
    block: Block,
    parser: str,
    head: re.Pattern[str],
    lines: Sequence[re.Pattern[str]],
    rest: re.Pattern[str],
) -> Output:
    """Read records of several lines: `head` begins one, named groups of `lines` are further columns of it."""
    cells: dict[str, tuple[str, int]] = {}
    first = 0
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        found = head.match(line)
        if found is not None:
            if cells:
                yield from typed_row(table, block, parser, first, cells)
            cells = {name: (text, at) for name, text in block.params.items()}
            cells |= place_cells(found.groupdict(), at)
            first = at
            continue
        found = match_first(lines, line) if cells else None
        if found is not None:
            added = place_cells(found.groupdict(), at)
            if any(
                cells.get(name) for name in added
            ):  # further lines are of a record without its head
                yield from typed_row(table, block, parser, first, cells)
                cells = {}
                yield fault_at(block, at, parser, "no line says what this belongs to")
            else:
                cells |= added
        elif line.strip() and not rest.match(line) and not _DATED.match(line):
            yield stray_fault(block, number, parser)
    if cells:
        yield from typed_row(table, block, parser, first, cells)
