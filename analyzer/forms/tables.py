"""Forms of rows and columns: tables of localcli, whose ruler gives the widths, and tables without a ruler.

Source: localcli prints a heading, a line of dashes as wide as each column, and rows; a long text pushes the cells
behind it to the right, numbers stand at the right, the last column has no end. Copies from a blog have lost the widths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Unpack

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
from analyzer.parsing import Output, Parser, fault_at, rows, typed
from analyzer.tables import Block, Fault, Row, Table

_RULER = re.compile(r"\s*-+(?:  +-+)+\s*$")
_REFUSED = re.compile(rf"\s*{REFUSED}$")


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
    alone    regex of a row that no other output has: it tells the table without heading and command, as grep leaves it
    rest     without a ruler, cells may stand behind those of the fields
    For the rest see `get_blocks`.
    """
    made, told = declare_table(table, meaning, f"esxcli {path}", fields)
    base = Form(name, made, told, table_template(told, heading_of(told, 3), rest=rest), twin=True, finish=finish)
    form = replace(base, read=lambda block: _by_ruler(base, block))
    heading = heading_of(fields, 3)
    begins = row or rf"(?:{fields[0].regex})\s"
    body = rf"^\s*(?:{heading}.*|[-=][-= ]+|{begins}.*|{TWINS}|{REFUSED})$"
    own = bundle_files(f"localcli {path} {options}".strip(), twin=True)
    return make_parser(
        form,
        node="esxi",
        files=(*own, *files),
        commands=(*commands, *esxcli_commands(path)),
        shape="|".join(rf"^\s*{one}" for one in (heading, alone) if one),
        body=body,
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
    made, told = declare_table(table, meaning, source, labels, params, ask)
    above = heading or heading_of(told, 3)
    form = Form(name, made, told, table_template(told, above, rest=rest), finish=finish, answers=answers)
    return make_parser(
        form,
        shape=shape or ("" if common else rf"^\s*{heading_of(told, len(told))}\s*$"),
        body=rf"^\s*(?:{above}(?:\s|$)|-[- ]{{2,}}|{body}|{REFUSED}|error: |%)",
        common=common,
        proof=proof,
        **where,
    )


# --- readers -----------------------------------------------------------------------------------


def _by_ruler(form: Form, block: Block) -> Output:
    """Read a table by the widths of its ruler; where there is none, by the form of its cells."""
    told = typed(block.params, form.table)
    columns = _columns(form.fields, block)
    if columns is None:
        yield from rows(form.table, form.name, block, told, form.template)
        return
    heading, ruler, cuts, fields = columns
    above = {block.lines[heading].strip(), block.lines[ruler].strip(), ""}
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        if line.strip() in above:
            continue
        cells = _cells(line, cuts) if number > ruler and not _REFUSED.match(line) else []
        if cells is None:
            single = replace(block, lines=[line], first_line=at)
            yield from rows(form.table, form.name, single, told, form.template)
        elif _is_row(cells, fields):
            pairs = [(field, text, at) for field, text in zip(fields, cells, strict=True) if field is not None]
            yield from make_row(form.table, block, pairs, at, form.name, told)
        else:
            yield fault_at(block, at, form.name, "not a row of the table")


Columns = tuple[int, int, list[tuple[int, int]], list[Field | None]]


def _columns(fields: Sequence[Field], block: Block) -> Columns | None:
    """Return the places of heading and ruler, where the ruler cuts, and the field of each column; None without them."""
    ruler = next((n for n, line in enumerate(block.lines) if _RULER.match(line)), 0)
    cuts = [found.span() for found in re.finditer("-+", block.lines[ruler])] if ruler else []
    for heading in range(ruler - 1, -1, -1):  # a strange line may stand between the two
        found = _fields_at(fields, block.lines[heading], cuts)
        if sum(field is not None for field in found) > 1:
            return heading, ruler, cuts, found
    return None


def _is_row(cells: Sequence[str], fields: Sequence[Field | None]) -> bool:
    """Tell whether cells are a row: more than one of them, and the first of the form that its field has."""
    filled = [(field, text) for field, text in zip(fields, cells, strict=False) if text]
    if len(filled) < min(2, len(fields)):
        return False
    field, text = filled[0]
    return field is None or re.fullmatch(f"(?:{field.regex}){field.behind}", text) is not None or text in field.none


def _fields_at(fields: Sequence[Field], heading: str, cuts: Sequence[tuple[int, int]]) -> list[Field | None]:
    """Return the field of each column, None for one that has none; [] where the heading does not fit the ruler."""
    cells = _cells(heading, cuts)
    if cells is None:
        return []
    by_label = {normalize_label(label): field for field in fields for label in field.labels}
    return [by_label.get(normalize_label(cell)) for cell in cells]


def _cells(line: str, cuts: Sequence[tuple[int, int]]) -> list[str] | None:
    """Return the cells of a line, cut where the ruler says; None where a cell reaches over its end.

    A text that is too long pushes what is behind it: the cells then stand apart by two blanks at least.
    """
    starts = [start for start, _ in cuts]
    if all(line[start - 2 : start].strip() == "" for start in starts[1:]):
        ends = [*starts[1:], None]
        return [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    parts = re.split(r"\s{2,}", line.strip())
    return parts if len(parts) == len(cuts) else None


# --- templates ---------------------------------------------------------------------------------


def table_template(fields: Sequence[Field], heading: str, *, rest: bool = False) -> str:
    """Return the template of rows whose cells stand apart by blanks; `rest`: further cells may stand behind them."""
    values = [f"Value {field.name.upper()} ({field.regex})" for field in fields if field.name]
    end = r"(\s.*)?" if rest else r"\s*"
    rules = [rf"^\s*{_row(fields)}{end}$$ -> Record"]
    rules += [rf"^\s*{escape_dollars(heading)}(\s.*)?$$", r"^\s*[-=][-=\s]*$$", r"^\s*$$", "^. -> Error"]
    return "\n".join([*values, "", "Start", *(f"  {rule}" for rule in rules), ""])


def _row(fields: Sequence[Field]) -> str:
    row = ""
    sure = max((number for number, field in enumerate(fields) if not field.maybe), default=-1)
    for number, field in enumerate(fields):
        cell = f"${{{field.name.upper()}}}" if field.name else f"({field.regex})"
        if field.none:
            cell = f"({cell}|{'|'.join(map(escape_label, field.none))})"
        # an optional cell ends at the blanks behind it, those at the end begin at the blanks before them
        before = "" if number == 0 or fields[number - 1].maybe else r"\s+"
        text = cell + field.behind
        if number > max(sure, 0):  # from here on all cells may be missing, and the blanks before them
            row += rf"(?:\s+{text})?"
        else:
            row += before + (rf"(?:{text}\s+)?" if field.maybe else text)
    return row


def heading_of(fields: Sequence[Field], most: int) -> str:
    """Return the regex of a heading, or of its first labels: `most`."""
    parts: list[str] = []
    for field in [field for field in fields if field.labels][:most]:
        labels = "|".join(r"[\s-]+".join(map(re.escape, re.split(r"[\s-]+", label))) for label in field.labels)
        cell = rf"(?:{labels})" if "|" in labels else labels
        gap = r"\s+" if parts else ""
        parts.append(rf"(?:{gap}{cell})?" if field.maybe else gap + cell)
    return "".join(parts)
