"""Every parser against its samples, its template, arbitrary text, and the other parsers' tables.

A sample is `samples/<parser>/<name>.json` and beside it the text, `<name>.txt` (or another suffix):

    about    what the sample stands for; ours are synthetic and follow a named source
    command  command line that printed it; or
    path     member path inside a bundle; with neither, the text is found by its shape
    rows     {table: [{column: value}]}, empty cells left out, in the order of the text
    lines    {table: [line of each row]} (optional)
    faults   lines a parser must report as not understood
"""

from __future__ import annotations

import importlib
import inspect
import math
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from analyzer.artefacts import parsing
from analyzer.artefacts.parsing import Parser, import_modules, registry, tables, template_text
from analyzer.artefacts.tables import ORIGIN_COLUMNS, Block, Fault, Frame, Row, Table
from analyzer.forms import logs
from analyzer.ingest.reader import TIME_OF_ENTRY
from analyzer.sources.transcript import split
from tests.kit.sample_kit import ALL, Sample, recognised, run
from tests.kit.together import together

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = {p.stem for p in (ROOT / "templates").rglob("*.textfsm")}
TEMPLATES = sorted(WRITTEN | {parser.name for parser in registry().values() if parser.template})


def _as_rows(item: Row | Frame) -> Iterator[tuple[str, dict[str, Any], int]]:
    if isinstance(item, Row):
        yield item.table.name, {k: v for k, v in item.values.items() if v is not None}, item.line
        return
    columns = {name: list(cells) for name, cells in item.columns.items()}
    for index, line in enumerate(item.line):
        values = {name: _plain(cells[index]) for name, cells in columns.items()}
        yield item.table.name, {k: v for k, v in values.items() if v is not None}, int(line)


def _plain(cell: Any) -> Any:
    cell = cell.item() if hasattr(cell, "item") else cell
    if isinstance(cell, datetime):
        return cell.isoformat(" ")
    return None if isinstance(cell, float) and math.isnan(cell) else cell


@pytest.mark.size
@together(
    "name", [name for name, parser in registry().items() if parser.log and parser.shape], parts=18
)
@settings(max_examples=10)
@given(data=st.data())
def test_a_line_that_begins_an_entry_of_a_log_holds_a_time(name: str, data: st.DataObject) -> None:
    """So a text without such lines is no log, which is known without asking each log for its shape."""
    line = data.draw(st.from_regex(registry()[name].shape))
    assert TIME_OF_ENTRY.search(line)


@together("sample", ALL, ids=str, parts=4)
def test_a_sample_gives_the_rows_beside_it(sample: Sample) -> None:
    """A sample is recognised by command, path or shape; rows, lines and faults are those expected."""
    parser = registry()[sample.parser]
    rows: dict[str, list[dict[str, Any]]] = {}
    lines: dict[str, list[int]] = {}
    faults = []
    for item in run(parser, recognised(parser, sample), sample.text.read_bytes()):
        if isinstance(item, Fault):
            faults.append(item.line)
            continue
        for table, values, line in _as_rows(item):
            rows.setdefault(table, []).append(values)
            lines.setdefault(table, []).append(line)
    assert rows == sample.expected["rows"]
    assert faults == sample.expected.get("faults", [])
    for table, wanted in sample.expected.get("lines", {}).items():
        assert lines[table] == wanted, table
    assert sample.expected["about"], "a sample says what it stands for"


PROMPTS = {
    "esxi": "[root@esx0:~] ",
    "guest": "root@web01:~# ",
    "nsx_controller": "nsx-controller # ",
    "nsx_manager": "nsxmgr> ",
    "nsx_edge": "vShield-edge-1-0> ",
}
PASTED = [
    sample
    for sample in ALL
    if "path" not in sample.expected
    and "/>" not in sample.expected.get("command", "")
    and not registry()[sample.parser].log
    and not registry()[sample.parser].stream
    and registry()[sample.parser].node in PROMPTS
]


@together("sample", PASTED, ids=str, parts=6)
def test_a_sample_inside_a_mail_gives_the_same_rows(sample: Sample) -> None:
    """A dump pasted below its prompt, with sentences around, gives the rows and lines it gives alone."""
    head = ["Hello, this is what we see:", ""]
    tail = ["", "Please tell us what to do about it."]
    if command := sample.expected.get("command"):
        head.append(PROMPTS[registry()[sample.parser].node] + command)
    text = sample.text.read_bytes().decode("utf-8", "surrogateescape").split("\n")
    rows: dict[str, list[dict[str, Any]]] = {}
    lines: dict[str, list[int]] = {}
    for piece in split(head + text + tail, registry().values()):
        if piece.parser is None:
            continue
        block = Block(piece.lines, piece.first_line, command=piece.command, params=piece.params)
        for item in registry()[piece.parser].parse(block):
            if isinstance(item, Row):
                for table, values, line in _as_rows(item):
                    rows.setdefault(table, []).append(values)
                    lines.setdefault(table, []).append(line - len(head))
    wanted = {table: sample.expected["lines"][table] for table in sample.expected.get("lines", {})}
    same = rows == sample.expected["rows"] and all(
        lines[table] == wanted[table] for table in wanted
    )
    assert same, rows


@together("name", sorted(registry()))
def test_a_parser_has_a_plain_and_an_odd_sample(name: str) -> None:
    """Each artefact is shown by at least two samples, the usual text and one odd variant."""
    assert len([sample for sample in ALL if sample.parser == name]) >= 2


def test_each_sample_folder_belongs_to_a_parser() -> None:
    """A folder without its parser would be samples that no test reads."""
    assert {sample.parser for sample in ALL} <= set(registry())


def test_commands_of_samples_are_taken_by_one_parser_only() -> None:
    """Two parsers of one kind of node must not both claim a command."""
    for sample in ALL:
        if command := sample.expected.get("command"):
            node = registry()[sample.parser].node
            every = [p for p in registry().values() if p.node == node and p.match_command(command)]
            claim = [p.name for p in every if not p.rest] or [p.name for p in every]
            if len(claim) > 1:  # what stands in `$( )` prints nothing
                shown = re.sub(r"\$\([^()]*\)", "$", command)
                claim = [name for name in claim if registry()[name].match_command(shown)]
            assert claim == [sample.parser], command


# --- templates ---------------------------------------------------------------------------------

_VALUE = re.compile(r"^Value\s+(?:(?P<options>[A-Z][\w,]*)\s+)?(?P<name>\S+)\s+\(")
_CATCH_ALL = re.compile(r"^\^(?:\.(?:\*\$?\$?)?|\.\*\$\$)(?:\s+->.*)?$")


def template_problems(text: str, columns: set[str], source: str, *, log: bool) -> list[str]:
    """Return what is wrong with a template.

    columns  columns of the tables it fills; source  text of the parsers that run it: a value that is
    no column must be read there by name; log  templates of log lines have no catch-all
    """
    names = [found["name"] for line in text.splitlines() if (found := _VALUE.match(line))]
    problems = [f"value {name} is not upper case" for name in names if name != name.upper()]
    for name in names:
        if "${" + name + "}" not in text:
            problems.append(f"value {name} is never filled")
        read = f'"{name}"' in source or f'"{name.lower()}"' in source
        if name.lower() not in columns and not read:
            problems.append(f"value {name} is no column and not read by name")
    for state, rules in _states(text).items():
        last, before = rules[-1], rules[-2] if len(rules) > 1 else ""
        if not log and last != "^. -> Error" and not _is_counted_catch_all(last, before):
            problems.append(f"state {state} ends in {last!r}: lines could be lost silently")
    return problems


def _states(text: str) -> dict[str, list[str]]:
    """Return the rules and comments of each state, stripped, in order."""
    states: dict[str, list[str]] = {}
    rules: list[str] | None = None
    for line in text.splitlines():
        if re.fullmatch(r"[A-Za-z]\w*", line):
            rules = states.setdefault(line, [])
        elif rules is not None and line.strip():
            rules.append(line.strip())
    return {name: rules for name, rules in states.items() if rules}


def _is_counted_catch_all(last: str, before: str) -> bool:
    return bool(_CATCH_ALL.match(last)) and before.startswith("# not read:")


def _users(template: str) -> list[Parser]:
    """Return the parsers that run a template: the one of its name, and those that name it."""
    return [p for p in registry().values() if p.name == template or f'"{template}"' in _source(p)]


def _source(parser: Parser) -> str:
    """Return the text of the modules that read an output, and of the one that declares its parser by a form."""
    declared = next(one for one in import_modules() if parser.name in _declared(one))
    readers = [importlib.import_module(parser.parse.__module__), *([logs] if parser.log else [])]
    return "".join(map(_text_of, (*readers, declared)))


_text_of = cache(inspect.getsource)
_declared = cache(parsing.list_parsers)


def test_no_template_is_written_beside_one_that_a_form_makes() -> None:
    """A written template of an artefact whose form makes one would be read by nobody."""
    assert not WRITTEN & {parser.name for parser in registry().values() if parser.template}


@together("name", TEMPLATES, parts=10)
def test_a_template_loses_no_line_and_names_columns(name: str) -> None:
    """Values are upper-case columns, each filled; states end in an error or say what is not read."""
    users = _users(name)
    assert users, f"templates/{name}.textfsm is run by no parser"
    columns = {
        column.name for parser in users for table in parser.tables for column in table.columns
    }
    source = "".join(map(_source, users))
    assert (
        template_problems(template_text(name), columns, source, log=any(p.log for p in users)) == []
    )


def test_the_template_check_can_fail() -> None:
    """A bad template is told from a good one, with each kind of problem named."""
    bogus = "Value port_id (\\d+)\nValue MAC (\\S+)\n\nStart\n  ^${port_id} -> Record\n\nRows\n  ^.*$$\n"
    assert template_problems(bogus, {"port_id", "mac"}, "", log=False) == [
        "value port_id is not upper case",
        "value MAC is never filled",
        "state Start ends in '^${port_id} -> Record': lines could be lost silently",
        "state Rows ends in '^.*$$': lines could be lost silently",
    ]
    assert template_problems(bogus, {"port_id"}, "", log=True)[2] == (
        "value MAC is no column and not read by name"
    )


# --- tables ------------------------------------------------------------------------------------


@together("table", tables().values(), ids=lambda table: table.name)
def test_a_table_is_declared_in_the_words_of_the_trade(table: Table) -> None:
    """Names are snake case, keys are columns, origin columns are not taken, all is explained."""
    assert re.fullmatch(r"(api|esxi|esxtop|guest|nsxt?|site|vcenter)\.[a-z][a-z0-9_]*", table.name)
    names = [column.name for column in table.columns]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names)
    assert set(table.key) <= set(names)
    assert not set(names) & set(ORIGIN_COLUMNS)
    assert table.meaning and table.source and table.ask
    assert all(column.meaning for column in table.columns)


def test_a_column_name_has_one_kind_and_unit_in_all_tables() -> None:
    """`port_id` is the same thing wherever it stands, so that rules can join on it."""
    seen: dict[str, dict[tuple[str, str], list[str]]] = {}
    for table in tables().values():
        for column in table.columns:
            seen.setdefault(column.name, {}).setdefault((column.kind, column.unit), []).append(
                table.name
            )
    assert {name: kinds for name, kinds in seen.items() if len(kinds) > 1} == {}


def test_one_table_name_is_one_declaration() -> None:
    """Two parsers that fill a table share its declaration."""
    for parser in registry().values():
        for table in parser.tables:
            assert tables()[table.name] is table, (parser.name, table.name)


# --- arbitrary text ----------------------------------------------------------------------------

_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "version": (str,),
    "time": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
}


def _check(parser: Parser, item: Row | Fault | Frame, block: Block) -> None:
    assert isinstance(item, Row | Fault | Frame)
    if isinstance(item, Fault):
        assert block.first_line <= item.line < block.first_line + max(1, len(block.lines))
        return
    assert item.table in parser.tables
    if isinstance(item, Row):
        assert block.first_line <= item.line < block.first_line + max(1, len(block.lines))
        assert set(item.values) == {column.name for column in item.table.columns}
        for column in item.table.columns:
            cell = item.values[column.name]
            if cell is not None:
                assert isinstance(cell, _TYPES[column.kind]), (column.name, cell)
                assert isinstance(cell, bool) == (column.kind == "bool"), (column.name, cell)


@cache
def _lines_of_samples(name: str) -> list[str]:
    """Return the lines of all samples of a parser."""
    texts = [sample.text.read_bytes() for sample in ALL if sample.parser == name]
    return [line for text in texts for line in text.decode("utf-8", "replace").split("\n")]


_JUNK = st.text(max_size=80).map(lambda text: text.replace("\n", " "))


@st.composite
def damaged(draw: st.DrawFn, lines: list[str]) -> list[str]:
    """Lines of samples in any order, some cut short, with arbitrary lines in between."""
    taken = draw(st.lists(st.sampled_from(lines) if lines else _JUNK, max_size=12))
    found = []
    for line in taken:
        cut = draw(st.integers(0, len(line)))
        found.append(line if draw(st.booleans()) else line[:cut])
        if draw(st.booleans()):
            found.append(draw(_JUNK))
    return found


@pytest.mark.size
@together("name", sorted(registry()), parts=37)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
@example(data=None)
def test_a_parser_yields_rows_and_faults_whatever_it_is_fed(
    name: str, data: st.DataObject | None
) -> None:
    """No text makes a parser raise; cells have the declared type; lines lie inside the block."""
    parser = registry()[name]
    fixed = ["", "\x00", "\ud800", "a" * 5000, "{" * 40, "-1:" * 99]
    lines = fixed if data is None else data.draw(damaged(_lines_of_samples(name)))
    block = Block(lines, first_line=7, address="a.tgz!b", command="x")
    raw = "\n".join(lines).encode("utf-8", "surrogatepass")
    for item in run(parser, block, raw):
        if parser.stream is None:
            _check(parser, item, block)
        else:
            assert isinstance(item, Row | Frame | Fault)


_LONG = 1500
_NASTY = (
    "a" + " " * _LONG + "b",
    " " * _LONG + "x",
    "1 " * (_LONG // 2) + "x",
    "a=a=" * (_LONG // 4) + " x",
    "a=b=c " * (_LONG // 6) + "x",
    "a:" * (_LONG // 2),
    "ab " * (_LONG // 3) + "!",
    "00:" * (_LONG // 3),
    'a = "' + '"' * _LONG,
    "vmnic0 0000:00:00.0 " + " " * _LONG + "x",
    "/a" * (_LONG // 2),
    "." * _LONG,
)


@together("name", sorted(registry()), parts=8)
def test_no_pattern_of_a_parser_hangs_on_a_hostile_line(name: str) -> None:
    """A line made to provoke backtracking costs a parser's patterns milliseconds, not minutes."""
    parser = registry()[name]
    for line in _NASTY:
        with _seconds(2):
            parser.starts_at(line)
            parser.goes_on(line)
            parser.match_command(line)
            list(parser.parse(Block([line], address="x")))


@contextmanager
def _seconds(most: int) -> Iterator[None]:
    """Fail when the body takes longer; a regex is stopped where the system has alarms."""

    def stop(*_: object) -> None:
        raise AssertionError(f"still not done after {most} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_line_no_command_prints_is_reported_and_the_rest_is_read() -> None:
    """A line of 5,000 characters starts no output and is a fault in one; its neighbours are rows."""
    row = "33554464 5 9 vSwitch0 00:50:56:a6:55:f4 web01.eth0"
    parser = registry()["net_stats"]
    assert (
        parser.starts_at("PortNum Type SubType SwitchName MACAddress ClientName" + " " * 5000)
        is None
    )
    assert not parser.goes_on(row + " " * 5000)
    found = list(parser.parse(Block([row, row + "x" * 5000, row], first_line=3, address="a")))
    assert [type(item) for item in found] == [Row, Fault, Row]
    assert found[1].line == 4  # type: ignore[union-attr]
