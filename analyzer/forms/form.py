"""What every form shares: how its text and its JSON twin become rows, and the parser that is made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Required, TypedDict, Unpack

from analyzer.artefacts.parsing import Output, Parser, rows, run_template, typed
from analyzer.artefacts.tables import Block, Fault, Record, Row, Table
from analyzer.forms import csv_twin, json_twin, named_twin
from analyzer.forms.columns import Field

# What a line of the same output in another form looks like.
TWINS = f"{json_twin.LINE}|{csv_twin.LINE}|{named_twin.LINE}"
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
        params = typed(block.params, self.table)
        if self.twin and json_twin.is_json(block):
            found: Output = json_twin.read_rows(self.table, self.fields, self.name, block, params)
        elif self.twin and csv_twin.is_csv(self.fields, block):
            found = csv_twin.read_rows(self.table, self.fields, self.name, block, params)
        elif self.twin and named_twin.is_named(block):
            found = named_twin.read_rows(self.table, self.fields, self.name, block, params)
        elif self.read is not None:
            found = self.read(block)
        else:
            found = rows(self.table, self.name, block, params, self.template)
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
