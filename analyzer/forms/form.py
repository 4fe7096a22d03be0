"""What every form shares: how its text and its JSON twin become rows, and the parser that is made of it."""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Required, TypedDict, Unpack

from analyzer.artefacts.parsing import (
    MOST_LINE,
    Output,
    Parser,
    convert_params,
    fault_at,
    read_rows,
    run_template,
)
from analyzer.artefacts.tables import Block, Fault, Record, Row, Table, Value
from analyzer.forms import json_twin
from analyzer.forms.columns import Field, make_row, normalize_label

CSV_LINE = r"(?:[^\s,][^,]*)?,.*,"  # a line of CSV, for the body of an output in a transcript; its first cell may be empty
NAMED_LINE = r"</?[a-z?][^<>]*>.*|\w+(?:\[\d+\])?(?:\.\w+){2,}=.*|[A-Z]\w*\s+:(?:\s.*)?"
# What a line of the same output in another form looks like.
TWINS = f"{json_twin.LINE}|{CSV_LINE}|{NAMED_LINE}"
Finish = Callable[[Row], None]
Read = Callable[[Block], Output]
Each = Callable[[Block, Record], Output]


@dataclass(frozen=True, slots=True)
class Form:
    """An artefact whose fields tell all of it.

    template  TextFSM template made of the fields
    twin      the same output may come as JSON (`localcli --formatter=json`, `json/` of a bundle), CSV or
              named values (XML, keyvalue, PowerCLI)
    finish    sets columns of a row that take more than a label (the build inside a version)
    answers   names what a line says that is no output at all (the refusal of a CLI)
    read      reads the text in another way than the template
    """

    name: str
    table: Table
    fields: tuple[Field, ...]
    template: str
    twin: bool = False
    finish: Finish | None = None
    answers: Callable[[Iterable[Row | Fault]], Output] | None = None
    read: Read | None = None

    def parse(self, block: Block) -> Output:
        """Read an output, text or JSON, into rows of the table."""
        params = convert_params(block.params, self.table)
        if self.twin and json_twin.is_json(block):
            found: Output = json_twin.read_rows(self.table, self.fields, self.name, block, params)
        elif self.twin and is_csv(self.fields, block):
            found = read_csv(self.table, self.fields, self.name, block, params)
        elif self.twin and is_named(block):
            found = read_named(self.table, self.fields, self.name, block, params)
        elif self.read is not None:
            found = self.read(block)
        else:
            found = read_rows(self.table, self.name, block, params, self.template)
        items = self.answers(found) if self.answers is not None else found
        for item in items:
            if self.finish is not None and isinstance(item, Row):
                self.finish(item)
            yield item


class Where(TypedDict, total=False):
    """Which machine prints an output, its files and commands: see Parser."""

    node: Required[str]
    files: tuple[str, ...]
    commands: tuple[str, ...]


class Looks(Where, total=False):
    """Where an output comes from, and what its lines look like: see Parser."""

    shape: str
    body: str
    lead: str
    common: bool
    proof: str


def make_parser(form: Form, **looks: Unpack[Looks]) -> Parser:
    """Return the parser of a form."""
    return Parser(form.name, (form.table,), form.parse, template=form.template, **looks)


def template_parser(
    name: str,
    table: Table,
    *,
    finish: Finish | None = None,
    answers: Callable[[Iterable[Row | Fault]], Output] | None = None,
    **looks: Unpack[Looks],
) -> Parser:
    """Return the parser of an output with a template of its own, `templates/NAME.textfsm`, that needs no code.

    Values of the template are columns; named groups of `commands` fill columns that the text does not hold.
    answers  see Form
    """
    return make_parser(Form(name, table, (), "", finish=finish, answers=answers), **looks)


def record_parser(
    name: str,
    tables: tuple[Table, ...],
    each: Each,
    *,
    answers: Callable[[Iterable[Row | Fault]], Output] | None = None,
    **looks: Unpack[Looks],
) -> Parser:
    """Return the parser of an output with a template of its own, `templates/NAME.textfsm`, whose records take code.

    each     makes the rows of one record; lines that the template does not take are faults already
    answers  see Form
    """

    def read_records(block: Block) -> Output:
        for record in run_template(name, block):
            if isinstance(record, Fault):
                yield record
                continue
            for item in each(block, record):
                yield place_lines(item, record)

    def parse(block: Block) -> Output:
        """Read an output into rows of the tables."""
        found = read_records(block)
        return answers(found) if answers is not None else found

    return Parser(name, tables, parse, **looks)


def place_lines(item: Row | Fault, record: Record) -> Row | Fault:
    """Return a row with the line of each column, of a record that spans lines; template and table name it alike."""
    if isinstance(item, Row) and not item.lines:
        item.lines = {
            name.lower(): line for name, line in record.lines.items() if line != item.line
        }
    return item


# --- the twin as CSV ---
#
# The CSV of an output: `esxcli --formatter=csv …`.
#
# The heading holds the labels of the text without their blanks, in the order of the alphabet; every line ends with a
# comma, a cell with a comma is in quotes. A cell keeps the line its row begins on.


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


def read_csv(
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


# --- the twin as named values ---
#
# An output of `esxcli` as named values: `--formatter=xml`, `--formatter=keyvalue`, and the lists of PowerCLI.
#
# XML has `<structure typeName="Nic">` with `<field name="Name"><string>vmnic0</string></field>`, keyvalue a line
# `structure[0].Nic.Name.string=vmnic0` a value, PowerShell `Name : vmnic0` with a blank line between two records. The
# labels are those of the text without their blanks. A cell keeps its line.


# What such a line begins with, for the body of an output in a transcript.
_FIRST = re.compile(rf"\s*(?:{NAMED_LINE})$")
_TAG = re.compile(r"<\?[^<>]*>|<(?P<end>/?)(?P<name>\w+)(?P<rest>[^<>]*)>|(?P<text>[^<]+)")
_NAME = re.compile(r"\bname=\"(?P<name>[^\"]*)\"")
_PAIR = re.compile(r"\s*(?P<path>\w+(?:\[\d+\])?(?:\.\w+)*)\.(?P<label>\w+)\.\w+=(?P<text>.*)$")
_ITEM = re.compile(r"\s*(?P<label>\w+)\s*:(?:\s(?P<text>.*))?$")
_HOLDERS = frozenset(("output", "root", "list", "structure", "field"))
_MORE = 4  # blanks before the rest of a value that the console of PowerShell has wrapped

Cells = list[tuple[str, str, int]]  # label, text, line


def is_named(block: Block) -> bool:
    """Say whether the first line of a block is one of named values."""
    first = next((line for line in block.lines if line.strip()), "")
    return len(first) <= MOST_LINE and _FIRST.match(first) is not None


def read_named(
    table: Table, fields: Sequence[Field], parser: str, block: Block, params: dict[str, Value]
) -> Output:
    """Yield a row for each record, and a fault for each line that is of none."""
    by_label = {normalize_label(label): field for field in fields for label in field.labels}
    first = next(line for line in block.lines if line.strip()).lstrip()
    strange: list[int] = []
    if first.startswith("<"):
        records = _read_xml(block, strange)
    elif _PAIR.match(first):
        records = _read_pairs(block, strange)
    else:
        records = _read_items(block, strange)
    for cells in records:
        known = []
        for label, text, line in cells:
            field = by_label.get(normalize_label(label))
            if field is not None:
                known.append((field, text, line))
        if known:
            yield from make_row(table, block, known, known[0][2], parser, params)
        elif cells:
            yield fault_at(
                block, cells[0][2], parser, "a record with none of the labels of this output"
            )
    for line in strange:
        yield fault_at(block, line, parser, "no named value")


def _read_xml(block: Block, strange: list[int]) -> Iterator[Cells]:
    """Yield the structures of the outermost list; what is inside a structure belongs to it."""
    reader = _Structures()
    for line, text in enumerate(block.lines, block.first_line):
        if len(text) > MOST_LINE:
            strange.append(line)
            continue
        refused = [tag for tag in _TAG.finditer(text) if not reader.take_tag(tag, line)]
        if refused:
            strange.append(line)
        yield from reader.complete
        reader.complete.clear()
    if reader.cells:  # the text was cut inside a structure
        yield reader.cells


class _Structures:
    """The structures of an XML text, tag by tag: those that ended, and the cells of the one that is open."""

    def __init__(self) -> None:
        self.complete: list[Cells] = []
        self.cells: Cells = []
        self._depth = 0
        self._open: list[list[str]] = []  # label and value of each field

    def take_tag(self, found: re.Match[str], line: int) -> bool:
        """Take a tag or the text between two; False for a text outside of all fields."""
        name, ends = found["name"], bool(found["end"])
        if found["text"] is not None:
            text = found["text"]
            text = html.unescape(text.strip())
            if self._open and self._depth:
                self._open[-1][1] += text
            return bool(self._open) or not text
        if name is None:  # <?xml …?>
            return True
        if name == "structure":
            self._depth += -1 if ends else 1
            if ends and self._depth == 0:
                self.complete.append(self.cells)
                self.cells = []
        elif name == "field" and not ends:
            label = _NAME.search(found["rest"])
            self._open.append([label["name"] if label else "", ""])
        elif name == "field" and self._open:
            field, value = self._open.pop()
            if field and value:
                self.cells.append((field, value.strip(", "), line))
        elif name not in _HOLDERS and ends and self._open and self._open[-1][1]:
            self._open[-1][1] += ", "  # a further value of a list may come
        return True


def _read_pairs(block: Block, strange: list[int]) -> Iterator[Cells]:
    """Yield the records of lines `structure[0].Nic.Name.string=vmnic0`: one for each number."""
    record, cells = "", Cells()
    for line, text in enumerate(block.lines, block.first_line):
        found = _PAIR.match(text) if len(text) <= MOST_LINE else None
        if found is None:
            if text.strip():
                strange.append(line)
            continue
        own_record = found["path"].partition(".")[0]
        if own_record != record:
            yield cells
            record, cells = own_record, Cells()
        cells.append((found["label"], found["text"].strip(), line))
    yield cells


def _read_items(block: Block, strange: list[int]) -> Iterator[Cells]:
    """Yield the records of lines `Name : vmnic0`, which blank lines part."""
    cells = Cells()
    for line, text in enumerate(block.lines, block.first_line):
        indent = len(text) - len(text.lstrip())
        found = _ITEM.match(text) if len(text) <= MOST_LINE else None
        if found is not None:
            value = (found["text"] or "").strip()
            if value.startswith("{") and value.endswith("}") and "=" not in value:
                value = value[1:-1]  # PowerShell puts a list in braces: {vmnic0, vmnic1}
            cells.append((found["label"], value, line))
        elif not text.strip():
            yield cells
            cells = Cells()
        elif cells and indent >= _MORE and len(text) <= MOST_LINE:
            label, before, at = cells[-1]
            cells[-1] = (label, f"{before} {text.strip()}", at)
        else:
            strange.append(line)
    yield cells
