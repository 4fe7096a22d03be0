"""Forms of rows and columns: tables of localcli, whose ruler gives the widths, and tables without a ruler.

Source: localcli prints a heading, a line of dashes as wide as each column, and rows; a long text pushes the cells
behind it to the right, numbers stand at the right, the last column has no end. Copies from a blog have lost the widths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
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

_RULER = re.compile(r"\s*-+(?:  +-+)+\s*$")
_TIGHT_RULER = re.compile(
    r"\s*-+(?: -+)+\s*$"
)  # runs of blanks were made one, as a ticket or a web page does
_REFUSED = re.compile(rf"\s*{REFUSED}$")
_NO_ROW = "not a row of the table"
_DOUBTFUL = "runs of blanks were made one, so that its cells cannot be told apart"
_MOST_WORDS = 80  # of a row whose cells are to be told apart


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
    tight = _find_tight_columns(form.fields, block) if ruled is None else None
    if tight is not None:
        yield from _read_tight(form, block, tight)
        return
    if ruled is None:
        yield from read_rows(form.table, form.name, block, params, form.template)
        return
    above = {block.lines[ruled.heading].strip(), block.lines[ruled.ruler].strip(), ""}
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        if line.strip() in above:
            continue
        if number <= ruled.ruler or _REFUSED.match(line):
            yield fault_at(block, at, form.name, _NO_ROW)
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
            yield fault_at(block, at, form.name, _NO_ROW)


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


# --- tables whose runs of blanks were made one ---


class _TightColumn(NamedTuple):
    """A column of a table whose blanks were made one: how wide its ruler is, and its field."""

    width: int
    field: Field | None

    def fits(self, text: str, *, has_end: bool) -> bool:
        """Say whether a text may be a cell of it; has_end: its width is one that no cell goes over."""
        if not text:  # a number is hardly ever missing: a strange text stands in its place
            return self.field is None or self.field.kind == "str"
        return (len(text) <= self.width or not has_end) and self.takes(text)

    def takes(self, text: str) -> bool:
        """Say whether a text has the form of its cells, however wide it is."""
        if self.field is None or text in self.field.none:
            return True
        return re.fullmatch(f"(?:{self.field.regex}){self.field.behind}", text) is not None


class _TightTable(NamedTuple):
    """Such a table: the place of its ruler, and its columns."""

    ruler: int
    columns: list[_TightColumn]


def _find_tight_columns(fields: Sequence[Field], block: Block) -> _TightTable | None:
    """Return the columns of a table whose ruler has single blanks; None where it has no such ruler and heading."""
    ruler = next((at for at, line in enumerate(block.lines) if _TIGHT_RULER.match(line)), 0)
    if not ruler:
        return None
    widths = list(map(len, block.lines[ruler].split()))
    by_label = {normalize_label(label): field for field in fields for label in field.labels}
    plain = [_TightColumn(width, None) for width in widths]
    words = block.lines[ruler - 1].split()
    choices = _share_out(words, plain, known=by_label.keys())
    if len(choices) != 1:
        return None
    found = [by_label.get(normalize_label(label)) for label in choices[0]]
    if sum(field is not None for field in found) < min(2, len(found)):
        return None
    columns = [_TightColumn(*one) for one in zip(widths, found, strict=True)]
    return _TightTable(ruler, columns)


def _share_out(
    words: Sequence[str],
    columns: Sequence[_TightColumn],
    known: Collection[str] = (),
    least: int = 1,
) -> list[list[str]]:
    """Return the ways to share the words of a line out among columns: two at most.

    known  labels of a heading: a way with more of them is the only one
    least  words of a cell: 0 where texts may be missing, but for the first
    """
    if not least * len(columns) <= len(words) <= _MOST_WORDS:
        return []
    # by the number of words that are shared out: the ways so far
    ways: dict[int, list[list[str]]] = {0: [[]]}
    for number, column in enumerate(columns):
        is_last = number + 1 == len(columns)
        left = least * (len(columns) - number - 1)
        first = least if number else 1
        longer: dict[int, list[list[str]]] = {}
        for used, some in ways.items():
            ends = [len(words)] if is_last else range(used + first, len(words) - left + 1)
            for end in ends:
                text = " ".join(words[used:end])
                # the last column has no end, and a name may be wider than its own
                has_end = not is_last and (number > 0 or " " in text)
                if not column.fits(text, has_end=has_end):
                    continue
                longer.setdefault(end, []).extend([*way, text] for way in some)
        ways = {end: _keep_best(some, known) for end, some in longer.items()}
    return ways.get(len(words), [])


def _keep_best(ways: list[list[str]], known: Collection[str]) -> list[list[str]]:
    """Return two of some ways at most, of a heading those with the most labels that are known."""
    if not known:
        return ways[:2]
    counts = [sum(normalize_label(text) in known for text in way) for way in ways]
    return [way for way, count in zip(ways, counts, strict=True) if count == max(counts)][:2]


def _choose_cells(words: Sequence[str], columns: Sequence[_TightColumn]) -> list[list[str]] | None:
    """Return the ways to share the words of a row out, those without an empty cell before others.

    None where cells are missing and the widths do not tell which.
    """
    found = _share_out(words, columns)
    if found:
        return found
    if len(words) == len(columns):  # a cell may be wider than its column
        pairs = zip(columns, words, strict=True)
        if all(column.takes(text) for column, text in pairs):
            return [list(words)]
    if len(words) < min(2, len(columns)):  # the rest of its line was lost
        return []
    lacking = _share_out(words, columns, least=0)
    return lacking if len(lacking) == 1 else None


def _keeps_widths(row: Row, columns: Sequence[_TightColumn]) -> bool:
    """Say whether no text of a row is wider than its column; the first may be, and the last has no end."""
    for column in columns[1:-1]:
        text = row.values.get(column.field.name) if column.field is not None else None
        if isinstance(text, str) and len(text) > column.width:
            return False
    return True


def _read_tight(form: Form, block: Block, table: _TightTable) -> Output:
    """Read the rows in which only one way to share out the words fits the widths and the forms of the columns."""
    params = convert_params(block.params, form.table)
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        if not line.strip() or number in (table.ruler, table.ruler - 1):
            continue
        words = line.split()
        is_strange = number < table.ruler or _REFUSED.match(line) is not None
        choices = [] if is_strange else _choose_cells(words, table.columns)
        if choices is None:
            single = replace(block, lines=[line], first_line=at)  # by the forms of its cells
            for item in read_rows(form.table, form.name, single, params, form.template):
                is_doubtful = isinstance(item, Row) and not _keeps_widths(item, table.columns)
                yield fault_at(block, at, form.name, _DOUBTFUL) if is_doubtful else item
            continue
        if len(choices) == 1:
            pairs = []
            for column, text in zip(table.columns, choices[0], strict=True):
                if column.field is not None and text:
                    pairs.append((column.field, text, at))
            yield from make_row(form.table, block, pairs, at, form.name, params)
        else:
            yield fault_at(block, at, form.name, _NO_ROW if is_strange else _DOUBTFUL)


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
