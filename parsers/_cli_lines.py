"""Outputs of a router's CLI: rows below the lines that tell what they belong to, and records of several lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Unpack

from analyzer.forms.form import Finish, Looks
from analyzer.parsing import Output, Parser, fault_at
from analyzer.tables import Block, Row, Table

from ._nsxt import DATED, stray_fault, typed_row

_DATED = re.compile(rf"\s*{DATED}")


def text_rows(
    table: Table,
    block: Block,
    parser: str,
    told: Sequence[re.Pattern[str]],
    row: re.Pattern[str],
    rest: re.Pattern[str],
    carried: str = "",
) -> Output:
    """Read rows of one line each; named groups are columns.

    told     forms of lines above rows; the first of them begins anew, what the others tell is added
    rest     form of lines that belong to the output and tell nothing
    carried  column that a row without it has from the row above: further hops of one route
    """
    above: dict[str, str] = {}
    last = ""
    for number, line in enumerate(block.lines):
        if found := row.match(line):
            cells = {name: text for name, text in found.groupdict().items() if text}
            if carried:
                last = cells.setdefault(carried, last)
            if carried and not last:
                yield fault_at(block, block.first_line + number, parser, "no line above says what this belongs to")
                continue
            at = block.first_line + number
            yield from typed_row(
                table,
                block,
                parser,
                at,
                {name: (text, at) for name, text in {**block.params, **above, **cells}.items()},
            )
        elif found := next(filter(None, (form.match(line) for form in told)), None):
            above = ({} if found.re is told[0] else above) | {k: v for k, v in found.groupdict().items() if v}
        elif line.strip() and not rest.match(line) and not _DATED.match(line):
            yield stray_fault(block, number, parser)


def line_parser(
    name: str,
    table: Table,
    row: re.Pattern[str],
    rest: re.Pattern[str],
    told: Sequence[re.Pattern[str]] = (),
    *,
    carried: str = "",
    finish: Finish | None = None,
    **looks: Unpack[Looks],
) -> Parser:
    """Return the parser of an output that has a row a line; finish: see Form, the others `text_rows`."""

    def parse(block: Block) -> Output:
        for item in text_rows(table, block, name, told, row, rest, carried):
            if finish is not None and isinstance(item, Row):
                finish(item)
            yield item

    return Parser(name, (table,), parse, **looks)


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
        if found := head.match(line):
            if cells:
                yield from typed_row(table, block, parser, first, cells)
            cells, first = {name: (text, at) for name, text in block.params.items()}, at
        else:
            found = next(filter(None, (form.match(line) for form in lines)), None) if cells else None
        if found and found.re is not head and any(cells.get(name) for name, text in found.groupdict().items() if text):
            yield from typed_row(table, block, parser, first, cells)  # further lines are of a record without its head
            cells = {}
            yield fault_at(block, at, parser, "no line says what this belongs to")
        elif found:
            cells |= {name: (text, at) for name, text in found.groupdict().items() if text}
        elif line.strip() and not rest.match(line) and not _DATED.match(line):
            yield stray_fault(block, number, parser)
    if cells:
        yield from typed_row(table, block, parser, first, cells)
