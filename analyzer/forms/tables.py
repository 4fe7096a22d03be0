"""Forms of rows and columns: tables of localcli, whose ruler gives the widths, and tables without a ruler.

Source: localcli prints a heading, a line of dashes as wide as each column, and rows; a long text pushes the cells
behind it to the right, numbers stand at the right, the last column has no end. Copies from a blog have lost the widths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple, Unpack

from analyzer.artefacts.parsing import Output, Parser, convert_params, fault_at, read_rows
from analyzer.artefacts.tables import Block, Fault, Row, Table
from analyzer.forms.columns import (
    REFUSED,
    Field,
    Param,
    bundle_files,
    declare_table,
    escape_dollars,
    escape_label,
    esxcli_commands,
    make_row,
    normalize_label,
    split_fields,
)
from analyzer.forms.form import TWINS, Finish, Form, Where, make_parser
from analyzer.forms.tight_tables import IS_REFUSED, NO_ROW, find_tight_columns, read_tight_rows

_RULER = re.compile(r"\s*-+(?:  +-+)+\s*$")


def localcli_table(
    name: str,
    path: str,
    table: str | Table,
    meaning: str,
    *fields: Field,
    row: str = "",
    alone: str = "",
    options: str = "",
    files: Sequence[str] = (),
    commands: Sequence[str] = (),
    rest: bool = False,
    finish: Finish | None = None,
) -> Parser:
    """Return the parser of a table: `esxcli PATH`, one row a line.

    fields   labels of the heading and their columns; a release may leave some out or add others
    row      regex of how a row begins, for lines picked out of the table; default: the first field's own
    alone    regex of a row that no other output has: it shows the table without heading and command, as grep leaves it
    rest     without a ruler, cells may follow those of the fields
    For the rest see `get_blocks`.
    """
    own_table, complete = declare_table(table, meaning, f"esxcli {path}", fields)
    template = table_template(complete, heading_of(complete, 3), rest=rest)
    base = Form(name, own_table, complete, template, twin=True, finish=finish)
    form = replace(base, read=lambda block: _read_by_ruler(base, block))
    heading = heading_of(fields, 3)
    begins = row or rf"(?:{fields[0].regex})\s"
    own_files = bundle_files(f"localcli {path} {options}".strip(), twin=True)
    return make_parser(
        form,
        node="esxi",
        files=(*own_files, *files),
        commands=(*commands, *esxcli_commands(path)),
        shape="|".join(rf"^\s*{one}" for one in (heading, alone) if one),
        body=rf"^\s*(?:{heading}.*|[-=][-= ]+|{begins}.*|{TWINS}|{REFUSED})$",
    )


def text_table(
    name: str,
    table: str | Table,
    *fields: Field | Param,
    meaning: str = "",
    source: str = "",
    ask: str = "",
    shape: str = "",
    body: str,
    heading: str = "",
    rest: bool = False,
    finish: Finish | None = None,
    answers: Callable[[Iterable[Row | Fault]], Output] | None = None,
    common: bool = False,
    proof: str = "",
    **where: Unpack[Where],
) -> Parser:
    """Return the parser of a table without a ruler: cells are recognised by their patterns and the blanks between them.

    meaning  of the table, where the fields declare it; source: the command; ask: what to request, where that says more
    body     regex of how a row begins; answers: see Form
    heading  regex of the heading, where its labels in their order say too little
    common   see Parser: the heading is known by its command only, or by the `shape` given; proof: see Parser
    """
    labels, params = split_fields(fields)
    own_table, complete = declare_table(table, meaning, source, labels, params, ask)
    above = heading or heading_of(complete, 3)
    template = table_template(complete, above, rest=rest)
    form = Form(name, own_table, complete, template, finish=finish, answers=answers)
    if not shape and not common:
        shape = rf"^\s*{heading_of(complete, len(complete))}\s*$"
    return make_parser(
        form,
        shape=shape,
        body=rf"^\s*(?:{above}(?:\s|$)|-[- ]{{2,}}|{body}|{REFUSED}|error: |%)",
        common=common,
        proof=proof,
        **where,
    )


# --- readers -----------------------------------------------------------------------------------


class _Ruled(NamedTuple):
    """A table with a ruler: the places of heading and ruler, where the ruler cuts, and the field of each column."""

    heading: int
    ruler: int
    cuts: list[tuple[int, int]]
    fields: list[Field | None]


def _read_by_ruler(form: Form, block: Block) -> Output:
    """Read a table by the widths of its ruler; where there is none, by the form of its cells."""
    params = convert_params(block.params, form.table)
    ruled = _find_columns(form.fields, block)
    tight = find_tight_columns(form.fields, block) if ruled is None else None
    if tight is not None:
        yield from read_tight_rows(form, block, tight)
        return
    if ruled is None:
        yield from read_rows(form.table, form.name, block, params, form.template)
        return
    above = {block.lines[ruled.heading].strip(), block.lines[ruled.ruler].strip(), ""}
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        if line.strip() in above:
            continue
        if number <= ruled.ruler or IS_REFUSED.match(line):
            yield fault_at(block, at, form.name, NO_ROW)
            continue
        cells = _cut_cells(line, ruled.cuts)
        if cells is None:
            single = replace(block, lines=[line], first_line=at)
            yield from read_rows(form.table, form.name, single, params, form.template)
        elif _is_row(cells, ruled.fields):
            pairs = [
                (field, text, at)
                for field, text in zip(ruled.fields, cells, strict=True)
                if field is not None
            ]
            yield from make_row(form.table, block, pairs, at, form.name, params)
        else:
            yield fault_at(block, at, form.name, NO_ROW)


def _find_columns(fields: Sequence[Field], block: Block) -> _Ruled | None:
    """Return heading, ruler and columns of a table; None where one of the two lines is missing."""
    ruler = next((number for number, line in enumerate(block.lines) if _RULER.match(line)), 0)
    if not ruler:
        return None
    cuts = [found.span() for found in re.finditer("-+", block.lines[ruler])]
    by_label = {normalize_label(label): field for field in fields for label in field.labels}
    for heading in range(ruler - 1, -1, -1):  # a strange line may be between the two
        cells = _cut_cells(block.lines[heading], cuts) or []
        found = [by_label.get(normalize_label(cell)) for cell in cells]
        if sum(field is not None for field in found) > 1:
            return _Ruled(heading, ruler, cuts, found)
    return None


def _is_row(cells: Sequence[str], fields: Sequence[Field | None]) -> bool:
    """Say whether cells are a row: more than one of them, and the first of the form that its field has."""
    filled = [(field, text) for field, text in zip(fields, cells, strict=False) if text]
    if len(filled) < min(2, len(fields)):
        return False
    field, text = filled[0]
    if field is None or text in field.none:
        return True
    return re.fullmatch(f"(?:{field.regex}){field.behind}", text) is not None


def _cut_cells(line: str, cuts: Sequence[tuple[int, int]]) -> list[str] | None:
    """Return the cells of a line, cut where the ruler says; None where a cell reaches over its end.

    A text that is too long pushes what is behind it: the cells are then parted by two blanks at least.
    """
    starts = [start for start, _ in cuts]
    if all(line[start - 2 : start].strip() == "" for start in starts[1:]):
        ends = [*starts[1:], None]
        return [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    parts = re.split(r"\s{2,}", line.strip())
    return parts if len(parts) == len(cuts) else None


# --- templates ---------------------------------------------------------------------------------


def table_template(fields: Sequence[Field], heading: str, *, rest: bool = False) -> str:
    """Return the template of rows whose cells are parted by blanks; `rest`: further cells may follow them."""
    # An optional cell ends at the blanks behind it; those at the end of a row begin at the blanks before them.
    row = ""
    last_sure = max((number for number, field in enumerate(fields) if not field.maybe), default=0)
    for number, field in enumerate(fields):
        cell = f"${{{field.name.upper()}}}" if field.name else f"({field.regex})"
        if field.none:
            nothing = "|".join(escape_label(text) for text in field.none)
            cell = f"({cell}|{nothing})"
        text = cell + field.behind
        if number > last_sure:  # from here on all cells may be missing, and the blanks before them
            row += rf"(?:\s+{text})?"
            continue
        if number > 0 and not fields[number - 1].maybe:
            row += r"\s+"
        row += rf"(?:{text}\s+)?" if field.maybe else text
    lines = [f"Value {field.name.upper()} ({field.regex})" for field in fields if field.name]
    end = r"(\s.*)?" if rest else r"\s*"
    lines += [
        "",
        "Start",
        rf"  ^\s*{row}{end}$$ -> Record",
        rf"  ^\s*{escape_dollars(heading)}(\s.*)?$$",
        r"  ^\s*[-=][-=\s]*$$",
        r"  ^\s*$$",
        "  ^. -> Error",
        "",
    ]
    return "\n".join(lines)


def heading_of(fields: Sequence[Field], most: int) -> str:
    """Return the regex of a heading, or of its first labels: `most`."""
    heading = ""
    labelled = [field for field in fields if field.labels]
    for field in labelled[:most]:
        spellings = []
        for label in field.labels:
            words = re.split(r"[\s-]+", label)
            spellings.append(r"[\s-]+".join(re.escape(word) for word in words))
        labels = "|".join(spellings)
        cell = rf"(?:{labels})" if "|" in labels else labels
        gap = r"\s+" if heading else ""
        heading += rf"(?:{gap}{cell})?" if field.maybe else gap + cell
    return heading
