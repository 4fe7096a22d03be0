"""How tables are declared: the vocabulary of parsers, rules, report and archive.

A table is declared once, next to its parser. From the declaration come the
types of DuckDB and pandas, the lint of rules, the page of `backline tables --doc` and the schema
for rule editors. Every row carries its origin.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from analyzer.artefacts.logtime import FarTimeError, parse_time
from analyzer.artefacts.samples import SampleColumns
from analyzer.artefacts.signs import CellSign

Kind = Literal["str", "int", "float", "bool", "version", "time"]
Value = str | int | float | bool | None
Since = Literal["", "boot", "port", "guest"]

SQL_TYPES: dict[Kind, str] = {
    "str": "VARCHAR",
    "int": "BIGINT",
    "float": "DOUBLE",
    "bool": "BOOLEAN",
    "version": "VARCHAR",  # compared part by part, see logic.py
    "time": "TIMESTAMP",  # UTC
}

# What an address looks like; whoever masks one leaves a row that is still worth reading.
MAC_FORM = r"[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}"
IP_FORM = r"[0-9a-fA-F.:]+"

# Names every table has besides its own columns; rules may use `node` and `taken`.
ORIGIN_COLUMNS: dict[str, Kind] = {"node": "str", "taken": "time"}

INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True)
class Column:
    """One column: name (snake case, the trade's own), type, meaning, unit.

    form     regex that the whole of a cell must match; another text (an address that was masked) is no value
    printed  the name by which the tool itself shows it, where engineers know it by that: %RDY
    sign     when a cell says trouble, where name and type do not say it (analyzer/signals/columns.py)
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    form: str = ""
    printed: str = ""
    sign: CellSign | None = None


class KeyColumn(Column):
    """A column that tells one object from another, among the columns of `Table.of`."""

    __slots__ = ()

    @property
    def plain(self) -> Column:
        """The column itself: the table says that it is a key."""
        return Column(
            self.name, self.kind, self.meaning, self.unit, self.form, self.printed, self.sign
        )


@dataclass(frozen=True, slots=True)
class CatalogRows:
    """Rows that a table of the catalog holds in every case: facts next to the rules, read from no customer's file.

    digest  SHA-256 of the files they come from
    rows    file, line, cells by column; those of the tool are read when they are first asked for
    files   what evidence calls these files: two catalogs of the same bytes differ in nothing else
    """

    digest: str
    rows: Sequence[tuple[str, int, Mapping[str, Value]]] = field(compare=False, repr=False)
    files: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Table:
    """A declared table.

    name     `product.artefact`, e.g. `esxi.vmxnet3_rx_summary`; the product is one of api (what an interface
             answers), esxi, esxtop, guest, nsx (NSX for vSphere), nsxt (NSX-T, NSX 4); `site`, made of what machines say of one
             another; or `kb`, the catalog itself
    source   command or file it comes from, in the words an engineer would use
    ask      what to request from the customer when it is missing (command or file)
    key      columns that tell one object from another; of several rows with one key
             (the same thing dumped twice) a join takes the one nearest to its partner
    log      True for a log: rows are lines, found by signatures, with a column `time`
    inside   of a log: other logs whose files hold its lines, all of them; each file is read once for both
    partly   of a log: other logs whose files hold some of its lines, so that they prove no absence
    copied_in  of a log: other logs that repeat some of its lines: they are searched in its place where a machine sent
             no file of its own, and prove no absence (scan/parts.py)
    once     of a log: columns that tell one event; what two logs of a machine have of it within a second counts once
             (judge/twins.py): of one line `again` is set
    made_of  names of the tables it is made of before rules are judged; no parser fills it
    lines_of, signature  of a signature that a rule uses as a table: its log, and its name in the rule
    formerly  names it had in stored cases of earlier versions
    given    rows of a table of the catalog: every node has them, none is ever missing
    checked  of a table of the catalog: day on which its sources were last read, YYYY-MM-DD, "" where it names none
    counts_since  its numbers are counters, which only grow, since: `boot` of the machine (or since the driver was
             loaded), the moment its `port` was connected, the boot of the `guest`. "" where they are no counters
    gauges   of a table of counters: numbers that are none
    lists    kind of node whose members its rows are, where a node of another kind prints them: `nsx_edge`
    """

    name: str
    meaning: str
    source: str
    ask: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    log: bool = False
    inside: tuple[str, ...] = ()
    partly: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    made_of: tuple[str, ...] = ()
    lines_of: Table | None = None
    signature: str = ""
    formerly: tuple[str, ...] = ()
    given: CatalogRows | None = None
    counts_since: Since = ""
    gauges: tuple[str, ...] = ()
    copied_in: tuple[str, ...] = ()
    lists: str = ""
    checked: str = ""

    @classmethod
    def of(
        cls,
        name: str,
        meaning: str,
        source: str,
        *columns: Column,
        ask: str = "",
        key: Sequence[str] = (),
        **more: Any,
    ) -> Self:
        """Return a table as parsers declare it: the columns follow the source.

        key  where it is not the `KeyColumn`s in their order; ask: where it says more than the source; more: see above
        """
        keys = tuple(key) or tuple(one.name for one in columns if isinstance(one, KeyColumn))
        plain = tuple(one.plain if isinstance(one, KeyColumn) else one for one in columns)
        return cls(name, meaning, source, ask or f"`{source}`", plain, keys, **more)

    def blank(self) -> dict[str, Value]:
        """Return the values of a row in which nothing is known yet."""
        return dict.fromkeys((column.name for column in self.columns), None)

    @property
    def counters(self) -> tuple[str, ...]:
        """The columns that only grow until they start again; a difference of two of them is worth something."""
        if not self.counts_since:
            return ()
        left_out = {*self.key, *self.gauges}
        return tuple(
            one.name
            for one in self.columns
            if one.kind in ("int", "float") and one.name not in left_out
        )

    @property
    def product(self) -> str:
        """The part of the name before the dot."""
        return self.name.partition(".")[0]

    @property
    def shares_files(self) -> bool:
        """Say whether its lines stand among those of another log: a line is one of them only as its parser says."""
        return bool(self.declared_table.inside or self.declared_table.partly)

    @property
    def words(self) -> str:
        """What an engineer would call it: the first of its sources, and its name."""
        if self.lines_of is not None:
            return self.lines_of.words
        source = self.source.partition(";")[0].removesuffix(" with its rotated copies")
        return f"{source} ({self.name})" if source else self.name

    @property
    def declared_table(self) -> Table:
        """The table that a parser declares: this one, or of a signature the log its lines are in."""
        return self.lines_of or self

    @property
    def own_rows(self) -> Iterator[Mapping[str, Value]]:
        """The rows that the catalog itself gives it."""
        return (cells for _, _, cells in self.given.rows) if self.given is not None else iter(())

    @property
    def spoken_name(self) -> str:
        """The name by which a rule speaks of it."""
        return self.signature or self.name

    def column(self, name: str) -> Column | None:
        """Return the declared column of that name, or None."""
        return next((column for column in self.columns if column.name == name), None)


Tables = Mapping[str, Table]  # by name


@dataclass(slots=True)
class NodeOwned:
    """Base of what is read in a scope and belongs to a node later: a bundle's tree may prove to be a known host's.

    node  key of the node, in no instance until `assign_node` sets it: whoever reads it before gets an AttributeError, never
          the scope in its stead. One slot for a block or a scan, none for their rows and hits
    """

    node: str = field(init=False, repr=False)

    def assign_node(self, node: str) -> Self:
        """Say which node it belongs to, and return it; a node is named once and never another."""
        assert not hasattr(self, "node"), f"of node {self.node!r} already, not of {node!r}"
        self.node = node
        return self


@dataclass(slots=True)
class Block(NodeOwned):
    """A stretch of text from one place, ready for a parser.

    lines      without line ends
    first_line 1-based number of lines[0] in the member
    address    `outer.tgz!inner/member`, as evidence shows it
    scope      what it was read in, as the reader knows it (`FactScope.key`), "" outside a case
    command    the command that printed it, where known; `params` are named groups of
               the parser's matching `commands` pattern (switch, port_id, queue, …)
    taken      ISO 8601 UTC stamp of the capture where known, else ""
    cut        True when the source ended inside this block: its last line is not whole
               and has been dropped already
    order      position of the block in the case; joins use it for "nearest"
    gaps       numbers of blank lines that a copy put below those of the output: templates do not see them
    """

    lines: list[str]
    first_line: int = 1
    address: str = ""
    scope: str = ""
    command: str = ""
    params: dict[str, str] = field(default_factory=dict)
    taken: str = ""
    cut: bool = False
    order: int = 0
    gaps: frozenset[int] = frozenset()


@dataclass(slots=True)
class Row:
    """One row of a table with its origin.

    line   1-based number of the line the row is on (or starts on)
    lines  for rows that span lines: column -> its own line number
    """

    table: Table
    values: dict[str, Value]
    block: Block
    line: int
    lines: Mapping[str, int] = field(default_factory=dict)

    def line_of(self, column: str) -> int:
        """Return the line number a column's value was read from."""
        return self.lines.get(column, self.line)

    def block_of(self, column: str) -> Block:  # noqa: ARG002 - a row that is made of several has more than one
        """Return the block a column's value was read from."""
        return self.block


@dataclass(slots=True)
class Frame:
    """Many rows of one table as columns, for samples (esxtop).

    columns  column name -> numpy array, all of one length (SampleColumns makes them when they are asked for)
    line     numpy array, or what stands for one: line number of each row in the member
    block    origin shared by all rows (its `lines` are empty)
    cells    column name -> heading of the cell in the source, shown as evidence; `{column}` in it
             stands for the value of that column in the same row (see `heading`)
    """

    table: Table
    columns: Mapping[str, Any]
    line: Any
    block: Block
    cells: dict[str, str] = field(default_factory=dict)

    def take(self, column: str, rows: Sequence[int]) -> Any:
        """Return the cells of one column for some rows, as a numpy array; the whole column need not be made for it."""
        if isinstance(self.columns, SampleColumns):
            return self.columns.take(column, rows)
        import numpy as np  # noqa: PLC0415 - heavy

        return np.asarray(self.columns[column])[np.asarray(rows)]

    def heading(self, column: str, row: int) -> str:
        """Return the full heading of one cell: which column of the source its value was read from."""

        def value(place: re.Match[str]) -> str:
            return str(self.take(place[1], [row])[0]) if place[1] in self.columns else place[0]

        return re.sub(r"\{(\w+)\}", value, self.cells.get(column, column))


def name_blocks(items: Iterable[Row | Frame], node_of: Callable[[str], str]) -> None:
    """Name the node of each block that rows or frames are in, once: `node_of` gives it for a scope."""
    for block in {id(item.block): item.block for item in items}.values():
        block.assign_node(node_of(block.scope))


@dataclass(frozen=True, slots=True)
class Fault:
    """A line that a parser did not understand: place and reason, for the coverage part."""

    address: str
    line: int
    text: str
    parser: str
    state: str = ""
    template_line: int = 0
    why: str = ""

    def __str__(self) -> str:
        at = f"state {self.state}, template line {self.template_line}" if self.state else self.why
        return f"{self.address}:{self.line}: not understood by {self.parser} ({at}): {self.text[:120]!r}"


class ColumnValueError(ValueError):
    """A cell does not have the declared type of its column."""


def convert_cell(column: Column, text: str | None) -> Value:
    """Return the cell `text` as the column's type; empty text and None give None.

    Raises ColumnValueError when the text is not of the declared type or form. Integers may be
    decimal or 0x hex and must fit 64 bits; bool takes yes/no, true/false, on/off,
    enabled/disabled, 1/0; times are read in every form that logs and certificates print
    (analyzer/artefacts/logtime.py) and kept as ISO text in UTC.
    """
    if text is None or text == "":
        return None
    if column.form and not re.fullmatch(column.form, text):
        raise ColumnValueError(f"{column.name} is masked or in an unknown format: {text[:60]!r}")
    try:
        return _CONVERT[column.kind](text)
    except FarTimeError as error:
        raise ColumnValueError(f"{column.name} is {error}: {text[:60]!r}") from error
    except (ValueError, OverflowError, KeyError) as error:
        raise ColumnValueError(f"{column.name} is not {column.kind}: {text[:60]!r}") from error


def cell_of(column: Column, value: Value) -> Value:
    """Return a cell as its column's kind, a text converted; None when it is not of that kind."""
    if not isinstance(value, str):
        return value
    try:
        return convert_cell(column, value)
    except ColumnValueError:
        return None


def _read_int(text: str) -> int:
    if len(text) < 19 and text.isdecimal():  # the plain case, and below 2**63
        return int(text)
    text = text.strip().replace(",", "")
    if len(text) > 20:
        raise ValueError(text[:20])
    number = int(text, 16) if text.lower().startswith("0x") else int(text)
    if number not in INT64:
        raise ValueError(text)
    return number


def _read_float(text: str) -> float:
    number = float(text.strip().rstrip("%"))
    if not math.isfinite(number):
        raise ValueError(text)
    return number


_WORDS = {
    **dict.fromkeys(("yes", "true", "on", "enabled", "up", "1", "y"), True),
    **dict.fromkeys(("no", "false", "off", "disabled", "down", "0", "n"), False),
}


def _read_time(text: str) -> str:
    found = parse_time(text)
    if found is None:
        raise ValueError(text)
    return found


_CONVERT: dict[Kind, Callable[[str], Value]] = {
    "str": str,
    "int": _read_int,
    "float": _read_float,
    "bool": lambda text: _WORDS[text.strip().lower()],
    "version": lambda text: text.strip(),
    "time": _read_time,
}


@dataclass(slots=True)
class Record:
    """What a template recorded: values by upper-case name, and the line of each.

    again  the record began where a value came a second time, without the heading of a new record:
           what the block says of its subject (Block.params) speaks of the record before
    """

    values: dict[str, str | list[str]]
    line: int
    lines: dict[str, int] = field(default_factory=dict)
    again: bool = False
