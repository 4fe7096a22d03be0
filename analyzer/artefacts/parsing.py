"""How a parser is declared, found and run; TextFSM with places.

A parser module in `parsers/` holds one artefact: its table, how to recognise
it, and a `PARSER`. Nothing imports a parser by name; the registry walks the
package. Templates are fed line by line (machine.py), so that every value knows its line and a
failure names member, line, state and template line.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from analyzer.artefacts.tables import (
    Block,
    ColumnValueError,
    Fault,
    Frame,
    Record,
    Row,
    Table,
    Value,
    convert_cell,
)
from analyzer.runtime import snapshot

if TYPE_CHECKING:
    from types import ModuleType

    from analyzer.artefacts.machine import Machine

PARSERS = "parsers"  # the part of a snapshot that holds their declarations
FUNCTIONS = ("parse", "kind", "stream", "words")  # of a parser; they come with its module

Output = Iterable[Row | Fault]
Wanted = (
    Mapping[str, Collection[str] | None] | None
)  # table -> columns of samples to read; None: all of them

# No command prints a longer line. Patterns may take time by the square of a line's length, so a
# longer one (hostile, or binary) starts no output, continues none, and is a Fault in a template.
# Lines of logs may be longer; their patterns are anchored at the start.
MOST_LINE = 4000


@dataclass(frozen=True, slots=True)
class Parser:
    """One artefact: what it looks like, and the function that reads it.

    name      stem of the module, the template and the sample folder
    tables    tables it fills
    parse     Block -> rows and faults, in the order of the text
    node      kind of node the text comes from: esxi, guest, nsx_manager, nsx_controller,
              nsx_edge; "" when the command alone does not tell (then the prompt does)
    files     regexes searched in the member's path inside its bundle
    commands  regexes searched in a command line; named groups become Block.params
    shape     regex matched against one line: the first line of this output, however it
              was pasted; "" when only file or command tell
    body      regex matched against each following line while the output goes on; a line
              that does not match ends the output (blank lines are allowed inside)
    entire    regex of a first line that begins all there is: a stretch of a paste that begins so is no excerpt
    lead      regex of lines above the first one that `shape` is sure of, which belong to the output too
    typed     regex of a command that is a fact by itself, whatever it printed; its prompt line is read
    kind      what some lines tell of the kind of node, where `node` is not always true: "" when nothing
    head      of a log: regex of the head of a line, where `shape` leaves the lines to another log
    anywhere  its rows may stand in any text that no other parser reads, among lines of anything: `parse` gets all of them
    greets    it is above the prompt of its machine, not below
    rest      it reads what no other parser knows: its commands, files and lines may be those of another, which goes
              first
    common    other machines have its commands too: they are read below a prompt that is surely of `node`
    proof     other machines print the same heading: without a command of its own an output is read only where one of
              its lines matches this regex
    log       the text is a log: it is searched by signatures, and `parse` gets single lines
    head_of   log whose first lines it reads besides: in a text the lines stay the log's
    words     of a log: the values of a line by the names of its template, without time and message; None where
              only `parse` can tell
    template  text of a TextFSM template that a form made; "" where `templates/` holds one, or none is used
    stream    for artefacts too large for a Block (the esxtop CSV): reads chunks of bytes of any size, line
              ends kept (Member.chunks), and yields rows, frames and faults; the Block has no lines. Of samples it
              need not read more than the columns that are wanted
    """

    name: str
    tables: tuple[Table, ...]
    parse: Callable[[Block], Output]
    node: str = ""
    files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    shape: str = ""
    body: str = ""
    entire: str = ""
    lead: str = ""
    typed: str = ""
    head: str = ""
    log: bool = False
    head_of: str = ""
    anywhere: bool = False
    greets: bool = False
    rest: bool = False
    common: bool = False
    proof: str = ""
    template: str = ""
    words: Callable[[str], dict[str, str] | None] | None = None
    kind: Callable[[Sequence[str]], str] | None = None
    stream: (
        Callable[[Block, Iterable[bytes | memoryview], Wanted], Iterable[Row | Frame | Fault]]
        | None
    ) = None

    def kind_of(self, lines: Sequence[str]) -> str:
        """Return the kind of node that some lines of this output come from."""
        return (self.kind(lines) if self.kind is not None else "") or self.node

    def matches_file(self, path: str) -> bool:
        """Say whether a member path (inside its bundle) is this artefact's."""
        return any(compile_pattern(pattern).search(path) for pattern in self.files)

    def match_command(self, command: str) -> re.Match[str] | None:
        """Return the match of the first of `commands` found in a command line."""
        for pattern in self.commands:
            if found := compile_pattern(pattern).search(command):
                return found
        return None

    def starts_at(self, line: str) -> re.Match[str] | None:
        """Return the match of `shape` on a line that opens this output."""
        if not self.shape:
            return None
        if self.stream:  # its first line may be megabytes; how it begins tells
            return compile_pattern(self.shape).match(line, 0, MOST_LINE)
        return (
            compile_pattern(self.shape).match(line) if len(line) <= MOST_LINE or self.log else None
        )

    def is_all(self, line: str) -> bool:
        """Say whether a pasted stretch that begins with this line is no excerpt."""
        return (
            bool(self.entire)
            and len(line) <= MOST_LINE
            and bool(compile_pattern(self.entire).match(line))
        )

    def leads(self, line: str) -> bool:
        """Say whether a line right above the start of this output belongs to it."""
        return (
            bool(self.lead)
            and len(line) <= MOST_LINE
            and bool(compile_pattern(self.lead).match(line))
        )

    def is_proved(self, lines: Sequence[str]) -> bool:
        """Say whether lines that start as this output does are this output, and not what another machine prints."""
        near = (line for line in lines if len(line) <= MOST_LINE)
        return not self.proof or any(compile_pattern(self.proof).search(line) for line in near)

    def goes_on(self, line: str) -> bool:
        """Say whether a line may belong to an output that has begun."""
        if not self.body:
            return True
        if self.stream:
            return bool(compile_pattern(self.body).match(line, 0, MOST_LINE))
        return (len(line) <= MOST_LINE or self.log) and bool(compile_pattern(self.body).match(line))


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return a pattern of a parser, compiled when it is first asked for."""
    return re.compile(pattern)


@cache
def import_modules() -> list[ModuleType]:
    """Import the modules of `analyzer.parsers` and return them in order of their last names."""
    names = name_modules()
    return [importlib.import_module(names[stem]) for stem in sorted(names)]


@cache
def name_modules() -> dict[str, str]:
    """Return the dotted name of each module of `analyzer.parsers` by the last part, which is its own alone."""
    package = importlib.import_module("analyzer.parsers")
    inside = pkgutil.walk_packages(package.__path__, "analyzer.parsers.")
    return {info.name.rpartition(".")[2]: info.name for info in inside if not info.ispkg}


def list_parsers(module: ModuleType) -> dict[str, Parser]:
    """Return the parsers that a module declares, by name."""
    some = getattr(module, "PARSERS", (getattr(module, "PARSER", None),))
    return {parser.name: parser for parser in some if parser is not None}


class Declarations(msgspec.Struct):
    """What the modules of parsers declare.

    parsers  by name, in the order of their modules
    modules  the module of each
    made     tables that are made of others (`MADE` of a module)
    """

    parsers: dict[str, Parser] = {}
    modules: dict[str, str] = {}
    made: list[Table] = []


def import_declarations() -> Declarations:
    """Import all parsers, and return what they declare."""
    found = Declarations()
    for module in import_modules():
        own = list_parsers(module)
        found.parsers |= own
        found.modules |= dict.fromkeys(own, module.__name__)
        found.made += getattr(module, "MADE", ())
    return found


@cache
def read_declarations() -> Declarations:
    """Return what all parsers declare: of a wheel as it was written down, so that only those that read are imported.

    Importing a parser takes about 0.4 ms, and a case needs few of them.
    """
    brought = snapshot.read_brought(PARSERS, Declarations)
    if brought is None:
        return import_declarations()
    tables: dict[str, Table] = {}
    for name, parser in brought.parsers.items():
        own: dict[str, Any] = {
            function: _import_later(brought.modules[name], name, function)
            for function in FUNCTIONS
            if getattr(parser, function) is not None
        }
        own["tables"] = tuple(tables.setdefault(table.name, table) for table in parser.tables)
        brought.parsers[name] = replace(parser, **own)
    return brought


def _import_later(module: str, parser: str, function: str) -> Callable[..., Any]:
    """Return a function of a parser that imports its module when it is first called."""

    own: list[Callable[..., Any]] = []

    def call(*values: Any) -> Any:
        if not own:
            whole = list_parsers(importlib.import_module(module))[parser]
            own.append(getattr(whole, function))
        return own[0](*values)

    return call


def registry() -> dict[str, Parser]:
    """Return all parsers of `analyzer.parsers` by name, in the order of their modules."""
    return read_declarations().parsers


@cache
def find_siblings(table: str) -> tuple[str, ...]:
    """Return the tables that are read from the very outputs and files a table is read from, and from no other."""
    own = _find_makers().get(table, set())
    beside = {one.name for parser in own for one in registry()[parser].tables}
    return tuple(sorted(name for name in beside if name != table and _find_makers()[name] <= own))


@cache
def read_beside(table: str) -> tuple[str, ...]:
    """Return the tables that one of a table's files holds as well, though others may hold them, too."""
    own = [
        parser
        for name in sorted(_find_makers().get(table, ()))
        if (parser := registry()[name]).files
    ]
    beside = {one.name for parser in own for one in parser.tables}
    return tuple(sorted(beside - {table, *find_siblings(table)}))


def may_be_in(table: str, path: str) -> bool:
    """Say whether a file of this path is one that holds a table, on hosts that have rows of it."""
    return any(registry()[name].matches_file(path) for name in _find_makers().get(table, ()))


@cache
def _find_makers() -> dict[str, set[str]]:
    """Return the names of the parsers that fill each table."""
    made_by: dict[str, set[str]] = {}
    for parser in registry().values():
        for one in parser.tables:
            made_by.setdefault(one.name, set()).add(parser.name)
    return made_by


@cache
def tables_of_bundles() -> frozenset[str]:
    """Return the tables of a host that a support bundle holds: those read from a file with a name of its own."""
    read = (table.name for parser in registry().values() if parser.files for table in parser.tables)
    return frozenset(name for name in read if name.startswith("esxi."))


@cache
def tables() -> dict[str, Table]:
    """Return all declared tables by name: those of parsers, and those that are made of them (`MADE` of a module)."""
    made = read_declarations().made
    return {
        table.name: table
        for table in [*(one for p in registry().values() for one in p.tables), *made]
    }


@cache
def _list_renamed() -> dict[str, str]:
    return {old: table.name for table in tables().values() for old in table.formerly}


def name_today(name: str) -> str:
    """Return the name of a table today, given the one it had when a case was stored."""
    return _list_renamed().get(name, name)


def find_template(name: str) -> Path:
    """Return the file of a template, which is in a folder of `templates/` named as that of its parser."""
    folder = Path(importlib.import_module("analyzer.templates").__path__[0])
    return next(folder.rglob(f"{name}.textfsm"), folder / f"{name}.textfsm")


@cache
def template_text(name: str) -> str:
    """Return the template of a parser: what its form made, or the text of `templates/…/<name>.textfsm`."""
    parser = registry().get(name)
    if parser is not None and parser.template:
        return parser.template
    return find_template(name).read_text(encoding="utf-8")


def run_template(name: str, block: Block, template: str = "") -> list[Record | Fault]:
    """Run `templates/<name>.textfsm`, or the text of another template, over a block, line by line.

    Returns a Record for each row the template recorded and a Fault for each line that
    reached `-> Error`; after a fault the next line goes on in the same state, so one
    strange line never loses the rest. (A list, not a generator: the compiled machine is
    shared and must not be entered twice.)
    """
    import textfsm  # noqa: PLC0415 - a heavy import that `--help` must not pay for

    parser = registry().get(name)
    is_log = parser is not None and parser.log
    machine = _compile_template(name, template)
    machine.begin()
    found: list[Record | Fault] = []
    for number, text in enumerate(block.lines, block.first_line):
        if number in block.gaps:
            continue
        if len(text) > MOST_LINE and not is_log:
            why = f"a line of {len(text)} characters; no line of this output is longer than {MOST_LINE}"
            found.append(Fault(block.address, number, text[:MOST_LINE], name, why=why))
            continue
        try:
            machine.feed(text, number)
        except textfsm.TextFSMError as error:
            where = re.search(r"Rule Line: (\d+)", str(error))
            template_line = int(where.group(1)) if where else 0
            found.append(Fault(block.address, number, text, name, machine.state, template_line))
        if machine.records or machine.unnamed:
            _take_records(machine, name, block, found)
        if machine.ended:
            break
    machine.finish()
    _take_records(machine, name, block, found)
    return found


def line_alone(name: str, line: str) -> dict[str, str] | None:
    """Return what a template reads in a line that is a record by itself; None where `run_template` must tell."""
    return _compile_template(name, "").alone(line)


def _take_records(machine: Machine, name: str, block: Block, found: list[Record | Fault]) -> None:
    """Take over what the machine recorded, and the lines of records that have no name as faults."""
    for line in machine.unnamed:
        found.append(fault_at(block, line, name, "belongs to a record whose name is missing"))
    found += machine.records
    machine.records.clear()
    machine.unnamed.clear()


@cache
def _compile_template(name: str, text: str) -> Machine:
    from analyzer.artefacts.machine import Machine  # noqa: PLC0415 - the same

    return Machine(text or template_text(name))


def may_record(parser: Parser, lines: Iterable[str]) -> bool:
    """Say whether the template of a form can make a record of some lines; False is certain, and found quickly."""
    return _compile_template(parser.name, parser.template).may_record(
        line for line in lines if len(line) <= MOST_LINE
    )


def read_rows(
    table: Table, name: str, block: Block, extra: dict[str, Value] | None = None, template: str = ""
) -> Output:
    """Run a template (see `run_template`) and yield typed rows of `table`.

    A template value NAME fills the column `name`; `extra` (often Block.params) fills columns
    the text itself does not hold. A cell of the wrong type becomes a Fault and stays
    empty; the rest of its row is kept.
    """
    columns = [(column.name.upper(), column) for column in table.columns]
    start = table.blank()
    start.update({k: v for k, v in (extra or {}).items() if k in start})
    if extra and block.lines:
        yield from _wrong_params(table, name, block)
    for record in run_template(name, block, template):
        if isinstance(record, Fault):
            yield record
            continue
        if (
            record.again
            and table.key
            and not any(record.values.get(part.upper()) for part in table.key)
        ):
            yield from without_subject(record, name, block)
            continue
        values = start.copy()
        for key, column in columns:
            cell = record.values.get(key)
            if isinstance(cell, list):
                cell = ",".join(cell)
            if not cell:
                continue
            try:
                values[column.name] = convert_cell(column, cell)
            except ColumnValueError as error:
                yield fault_at(block, record.lines.get(key, record.line), name, str(error))
        spans = any(line != record.line for line in record.lines.values())
        own = {key.lower(): line for key, line in record.lines.items()} if spans else {}
        yield Row(table, values, block, record.line, own)


def _wrong_params(table: Table, name: str, block: Block) -> Iterator[Fault]:
    """Yield a fault for each parameter of the command that is no value of its column."""
    for parameter, text in block.params.items():
        column = table.column(parameter)
        try:
            if column is not None:
                convert_cell(column, text)
        except ColumnValueError as error:
            yield fault_at(
                block, block.first_line, name, f"the command {block.command[:120]!r}: {error}"
            )


def without_subject(record: Record, name: str, block: Block) -> Iterator[Fault]:
    """Yield a fault for each line of a record that nothing gives a name (Record.again)."""
    why = "a second record without a heading: the text does not say whose it is"
    for line in sorted(set(record.lines.values())):
        yield fault_at(block, line, name, why)


def fault_at(block: Block, line: int, name: str, why: str) -> Fault:
    """Return the fault of a line of a block, given by its number in the member."""
    return Fault(
        block.address, line, block.lines[line - block.first_line][:MOST_LINE], name, why=why
    )


def convert_params(params: dict[str, str], table: Table) -> dict[str, Value]:
    """Return command parameters as values of the table's columns; wrong ones are left out, and `rows` names them."""
    values: dict[str, Value] = {}
    for name, text in params.items():
        column = table.column(name)
        if column is not None:
            try:
                values[name] = convert_cell(column, text)
            except ColumnValueError:
                continue
    return values
