"""What a form is told: the labels of an output and the columns they fill, and how a bundle names a command's file.

Source of the names: the vm-support manifests of ESXi 6.7 (`commands/` and `json/` of a bundle).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzer.tables import Block, Column, ColumnValueError, Fault, Kind, Row, Table, Value, convert

# What stands for no value in the outputs of esxcli.
NONE = ("N/A", "n/a", "None", "Not Applicable", "Unavailable", "Unknown", "<not set>", "-")

# What a cell of a kind looks like where nothing but its form tells where it ends.
PATTERNS: dict[Kind, str] = {
    "str": r"\S.*?",
    "int": r"-?\d+|0x[0-9a-fA-F]+",
    "float": r"-?\d+(?:\.\d+)?",
    "bool": r"[Tt]rue|[Ff]alse|[Yy]es|[Nn]o|[Oo]n|[Oo]ff|[01]",
    "version": r"\S.*?",
    "time": r"\S.*?",
}
_MOST_NAME = 100  # characters of a file's name; a longer one is cut and ends in [...]


@dataclass(frozen=True, slots=True)
class Field:
    """One label of an output and the column it fills.

    label    as printed, other spellings behind `|` ("Link Status|Link"); "" is the line above a block, which names it
    name     column; kind, meaning, unit and form are the column's (see Column)
    pattern  regex of the text, where that of its kind does not fit: groups are not captured
    none     texts that stand for no value
    maybe    of a table without a ruler: the cell may be missing in a row
    key      it tells one object from another
    """

    label: str
    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    form: str = ""
    pattern: str = ""
    none: tuple[str, ...] = ()
    maybe: bool = False
    key: bool = False

    @property
    def column(self) -> Column:
        """The column it fills."""
        return Column(self.name, self.kind, self.meaning, self.unit, self.form)

    @property
    def labels(self) -> list[str]:
        """All spellings of the label; none for the line above a block."""
        return self.label.split("|") if self.label else []

    @property
    def regex(self) -> str:
        """The regex of its text."""
        return self.pattern or PATTERNS[self.kind]

    def value(self, text: str) -> Value:
        """Return a cell's text as the column's type; raises ColumnValueError where it is not of that type."""
        return None if text in self.none else convert(self.column, text)


def Key(label: str, name: str, kind: Kind, meaning: str, unit: str = "", form: str = "", pattern: str = "") -> Field:  # noqa: N802 - declares as Field does
    """Return a field that tells one object from another."""
    return Field(label, name, kind, meaning, unit, form, pattern, key=True)


@dataclass(frozen=True, slots=True)
class Param:
    """A column that the command tells, not the text: `option` is what stands before its value ("-n", "--nic-name").

    key  it tells one object from another
    """

    option: tuple[str, ...]
    name: str
    kind: Kind
    meaning: str
    pattern: str = r"[\w.:-]+"
    key: bool = True

    @property
    def column(self) -> Column:
        """The column it fills."""
        return Column(self.name, self.kind, self.meaning)


def table_of(
    name: str, meaning: str, source: str, ask: str, fields: Sequence[Field], params: Sequence[Param] = ()
) -> Table:
    """Return the table that fields and parameters fill; a column that several labels fill stands once."""
    every: list[Field | Param] = [*params, *fields]
    columns = {one.name: one.column for one in every}
    keys = tuple(dict.fromkeys(one.name for one in every if one.key))
    return Table(name, meaning, source, ask, tuple(columns.values()), keys)


def known(fields: Sequence[Field], table: Table) -> Table:
    """Return a table that other parsers fill too, checked: each field is one of its columns, as declared there.

    Raises ValueError for a field that is not.
    """
    for field in fields:
        if (column := table.column(field.name)) is None or column.kind != field.kind:
            raise ValueError(f"{table.name} has no column {field.name} of kind {field.kind}")
    return table


def file_name(command: str) -> str:
    """Return the name a vm-support bundle gives to the output of a command, without suffix.

    The first word without its folder, `_`, the arguments joined by `-`, all but letters, digits and `()-_` left out.
    """
    program, *arguments = shlex.split(command)
    text = program.rpartition("/")[2] + ("_" + "-".join(arguments) if arguments else "")
    text = re.sub(r"[^()\-_0-9A-Za-z]", "", text)
    if len(text) + len(".txt") > _MOST_NAME:
        text = text[: _MOST_NAME - len("[...].txt")] + "[...]"
    return text


def bundle_files(command: str, *, twin: bool = False) -> tuple[str, ...]:
    """Return the regexes of the members that hold the output of a command; a second file of a name is `1.<name>`."""
    name = re.escape(file_name(command))
    files = [rf"(?:^|/)commands/(?:\d+\.)?{name}\.txt$"]
    return (*files, rf"(?:^|/)json/(?:\d+\.)?{name}\.json$") if twin else tuple(files)


def esxcli(path: str, params: Sequence[Param] = ()) -> tuple[str, ...]:
    """Return the regexes of `esxcli …` and `localcli …`, which print the same; parameters become named groups."""
    words = r"\s+".join(map(re.escape, path.split()))
    head = rf"\b(?:esxcli|localcli)\s+(?:--formatter[= ]\S+\s+)?{words}\b"
    given = [
        rf"{head}.*?\s(?:{'|'.join(map(_option, one.option))})(?P<{one.name}>{one.pattern})(?!\S)" for one in params
    ]
    return (*given, head)


def _option(text: str) -> str:
    return rf"{re.escape(text)}[= ]\s*" if text.startswith("--") else rf"{re.escape(text)}\s*"


def plain(label: str) -> str:
    """Return a label as both twins print it: the text with blanks, JSON often without ("Link Status", LinkStatus)."""
    return re.sub(r"[^a-z0-9]", "", label.lower())


def row_of(
    table: Table, block: Block, cells: Sequence[tuple[Field, str, int]], line: int, parser: str, told: dict[str, Value]
) -> Iterator[Row | Fault]:
    """Yield a row of cells, each with its field and line, and a fault for each cell of the wrong type.

    told  what the command tells (see `typed`)
    """
    values: dict[str, Value] = {column.name: told.get(column.name) for column in table.columns}
    lines: dict[str, int] = {}
    for field, text, at in cells:
        try:
            value = field.value(text.strip())
        except ColumnValueError as error:
            yield Fault(block.address, at, text[:300], parser, why=str(error))
            continue
        if value is not None:
            values[field.name] = value
            lines[field.name] = at
    own = lines if any(at != line for at in lines.values()) else {}
    yield Row(table, values, block, line, own)
