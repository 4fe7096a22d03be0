"""The declarations of all parsers in one file, so that a run imports only the parsers that read something.

Importing a parser takes about 0.4 ms, and a case needs few of them. The index is written when a wheel is built
(setup.py); a checkout has none. It is JSON: the tables once, then the parsers, each with the module that declares it.
It counts as long as the modules beside it are those that it was made of, by name and size; otherwise, or when it is
damaged, all of them are imported as in a checkout.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.artefacts.tables import Column, Table

if TYPE_CHECKING:
    from types import ModuleType

    from analyzer.artefacts.parsing import Parser

FILE = "index.json"
FUNCTIONS = ("parse", "kind", "stream", "words")  # not stored: they come with the module
_DAMAGE = (OSError, ValueError, LookupError, TypeError)


def declared(module: ModuleType) -> dict[str, Parser]:
    """Return the parsers that a module declares, by name."""
    some = getattr(module, "PARSERS", (getattr(module, "PARSER", None),))
    return {parser.name: parser for parser in some if parser is not None}


def write(folder: Path, modules: Sequence[ModuleType]) -> None:
    """Write the index of the parsers of some modules into a folder that holds copies of them."""
    tables: dict[str, list[Any]] = {}
    parsers = []
    for module in modules:
        for parser in declared(module).values():
            tables |= {table.name: _row(table) for table in parser.tables}
            cells = [_cell(name, getattr(parser, name)) for name in _stored(type(parser))]
            parsers.append([module.__name__.removeprefix("analyzer.parsers."), *cells])
    made = [_row(table) for module in modules for table in getattr(module, "MADE", ())]
    text = json.dumps([_sizes(folder), list(tables.values()), parsers, made], separators=(",", ":"))
    (folder / FILE).write_text(text, encoding="utf-8")


def read(folder: str, make: Callable[..., Parser]) -> tuple[dict[str, Parser], list[Table]] | None:
    """Return the parsers by name, and the tables that are made of others; None when there is no index to go by."""
    try:
        sizes, tables, parsers, made = json.loads(Path(folder, FILE).read_bytes())
        if sizes != _sizes(folder):
            return None
        by_name = {row[0]: _table(row) for row in tables}
        names = _stored(make)
        found = {}
        for module, *cells in parsers:
            given = dict(zip(names, cells, strict=True))
            given["tables"] = tuple(by_name[name] for name in given["tables"])
            given |= {key: tuple(given[key]) for key in ("files", "commands")}
            for name in FUNCTIONS:
                given[name] = _later(module, given["name"], name) if given[name] else None
            found[given["name"]] = make(**given)
        return found, [_table(row) for row in made]
    except _DAMAGE:
        return None


def _stored(kind: Any) -> list[str]:
    return [one.name for one in fields(kind)]


def _cell(name: str, value: Any) -> Any:
    if name in FUNCTIONS:
        return value is not None
    return [table.name for table in value] if name == "tables" else value


def _row(table: Table) -> list[Any]:
    """Return the fields of a declared table; that of a rule or of the catalog is no parser's."""
    assert table.lines_of is None and table.given is None, table.name
    cells = [getattr(table, name) for name in _stored(Table)]
    cells[_COLUMNS] = [
        [getattr(column, name) for name in _stored(Column)] for column in table.columns
    ]
    return cells


def _table(row: list[Any]) -> Table:
    columns = tuple(Column(*column) for column in row[_COLUMNS])
    cells: list[Any] = [tuple(cell) if type(cell) is list else cell for cell in row]
    cells[_COLUMNS] = columns
    return Table(*cells)


_COLUMNS = _stored(Table).index("columns")


def _later(module: str, parser: str, name: str) -> Callable[..., Any]:
    """Return a function of a parser that imports its module when it is first called."""
    own: list[Callable[..., Any]] = []

    def call(*values: Any) -> Any:
        if not own:
            whole = declared(importlib.import_module(f"analyzer.parsers.{module}"))[parser]
            own.append(getattr(whole, name))
        return own[0](*values)

    return call


def _sizes(folder: str | Path) -> dict[str, int]:
    """Return the size of each module in a folder and below it, by file name."""
    modules = sorted(Path(folder).rglob("*.py"), key=lambda path: path.as_posix())
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in modules}
