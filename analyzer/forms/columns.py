"""What a form declares: the labels of an output and the columns they fill, and how a bundle names a command's file.

Source of the names: the vm-support manifests of ESXi 6.7 (`commands/` and `json/` of a bundle).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from analyzer.artefacts.signs import CellSign
from analyzer.artefacts.tables import (
    IP_FORM,
    MAC_FORM,
    Block,
    Column,
    ColumnValueError,
    Fault,
    Kind,
    Row,
    Table,
    Value,
    convert_cell,
)

# Addresses, masked ones as well: those are reported, and no reason to lose their row.
FORMS = {
    MAC_FORM: "[0-9a-zA-Z*]{2}(?::[0-9a-zA-Z*]{2}){5}",
    IP_FORM: r"[0-9A-Fa-fXx*]*[.:][\w.:*]+",
}
# What a cell of a kind looks like where nothing but its form tells where it ends.
PATTERNS: dict[Kind, str] = {
    "str": r"\S.*?",
    "int": r"-?\d+|0x[0-9a-fA-F]+",
    "float": r"-?\d+(?:\.\d+)?",
    "bool": r"[Tt]rue|[Ff]alse|[Yy]es|[Nn]o|[Oo]n|[Oo]ff|[01]",
    "version": r"\S.*?",
    "time": r"\S.*?",
}
REFUSED = r"(?:Errors?|Unable|Failed)\b.*"  # what esxcli prints instead of an output
# Options before the path, with a value behind them or not.
_OPTIONS = r"(?:-(?:[^\s\"]|\"[^\"]*\")+\s+(?:[^-\s]\S*\s+)?){0,9}"
_MOST_NAME = 100  # characters of a file's name; a longer one is cut and ends in [...]


@dataclass(frozen=True, slots=True)
class Field:
    """One label of an output and the column it fills.

    label    as printed, other spellings behind `|` ("Link Status|Link"); "" is the line above a block, which
             names it ("|Device": so, and in JSON by that label)
    name     column, "" for a cell that none keeps; kind, meaning, unit and form are the column's (see Column), and
             those of the table where the form is given one
    pattern  regex of the text, where that of its kind does not fit
    behind   regex of what follows the text and is no part of it
    none     texts that stand for no value
    maybe    of a table without a ruler: the cell may be missing in a row
    key      it tells one object from another
    made     no label: `finish` of the form sets it
    sign     that of the column (see Column)
    """

    label: str
    name: str = ""
    kind: Kind = "str"
    meaning: str = ""
    unit: str = ""
    form: str = ""
    pattern: str = ""
    behind: str = ""
    none: tuple[str, ...] = ()
    maybe: bool = False
    key: bool = False
    made: bool = False
    sign: CellSign | None = None

    @property
    def column(self) -> Column:
        """The column it fills."""
        return Column(
            self.name, self.kind, self.meaning, self.unit, self.form, printed="", sign=self.sign
        )

    @property
    def labels(self) -> list[str]:
        """All spellings of the label; of the line above a block, those of the JSON."""
        return [label for label in self.label.split("|") if label]

    @property
    def above(self) -> bool:
        """It is the line above a block."""
        return self.label.partition("|")[0] == ""

    @property
    def regex(self) -> str:
        """The regex of its text."""
        return self.pattern or FORMS.get(self.form) or PATTERNS[self.kind]

    def convert_text(self, text: str) -> Value:
        """Return a cell's text as the column's type; raises ColumnValueError where it is not of that type."""
        if self.behind:
            text = re.sub(rf"(?:{self.behind})$", "", text)
        if text in self.none:
            return None
        return convert_cell(self.column, text)


def Key(  # noqa: N802 - declares as Field does
    label: str,
    name: str,
    kind: Kind,
    meaning: str,
    unit: str = "",
    form: str = "",
    pattern: str = "",
    sign: CellSign | None = None,
) -> Field:
    """Return a field that tells one object from another."""
    return Field(label, name, kind, meaning, unit, form, pattern, key=True, sign=sign)


def Made(  # noqa: N802 - declares as Field does
    name: str,
    kind: Kind,
    meaning: str,
    unit: str = "",
    *,
    key: bool = False,
    sign: CellSign | None = None,
) -> Field:
    """Return a field without a label, which the `finish` of the form sets."""
    return Field("", name, kind, meaning, unit, key=key, made=True, sign=sign)


@dataclass(frozen=True, slots=True)
class Param:
    """A column that the command tells, not the text.

    option   what comes before its value ("-n", "--nic-name"); in a path of vsish the place it has there ("port")
    pattern  regex of the value; behind: regex of what may follow it and is no part of it
    key      it tells one object from another
    """

    option: tuple[str, ...]
    name: str
    kind: Kind
    meaning: str
    pattern: str = r"[\w.:-]+"
    behind: str = ""
    key: bool = True

    @property
    def column(self) -> Column:
        """The column it fills."""
        return Column(self.name, self.kind, self.meaning)


def make_table(
    name: str,
    meaning: str,
    source: str,
    ask: str,
    fields: Sequence[Field],
    params: Sequence[Param] = (),
) -> Table:
    """Return the table that fields and parameters fill; a column that several labels fill is in it once."""
    every: list[Field | Param] = [*params, *fields]
    columns = {one.name: one.column for one in every if one.name}
    keys = dict.fromkeys(one.name for one in every if one.key)
    return Table(name, meaning, source, ask, tuple(columns.values()), tuple(keys))


def split_fields(fields: Sequence[Field | Param]) -> tuple[list[Field], list[Param]]:
    """Return the labels of an output, and the columns that its command tells."""
    labels = [one for one in fields if isinstance(one, Field)]
    params = [one for one in fields if isinstance(one, Param)]
    return labels, params


def declare_table(
    table: str | Table,
    meaning: str,
    source: str,
    fields: Sequence[Field],
    params: Sequence[Param] = (),
    ask: str = "",
) -> tuple[Table, tuple[Field, ...]]:
    """Return the table given, or the one that the fields declare, with its complete fields; `source`: the command."""
    labelled = tuple(field for field in fields if not field.made)
    if isinstance(table, Table):
        return table, complete_fields(labelled, table)
    return make_table(table, meaning, source, ask or f"`{source}`", fields, params), labelled


def complete_fields(fields: Sequence[Field], table: Table) -> tuple[Field, ...]:
    """Return fields with what the table declares of their columns; ValueError for one that is no column of it."""
    complete = []
    for field in fields:
        if not field.name:
            complete.append(field)
            continue
        column = table.column(field.name)
        if column is None:
            raise ValueError(f"{table.name} has no column {field.name}")
        key = field.name in table.key
        complete.append(
            replace(
                field,
                kind=column.kind,
                meaning=column.meaning,
                unit=column.unit,
                form=column.form,
                key=key,
            )
        )
    return tuple(complete)


def file_name(command: str) -> str:
    """Return the name a vm-support bundle gives to the output of a command, without suffix.

    The first word without its folder, and with arguments `_` and these joined by `-`, all but letters, digits and
    `()-_` left out of them; the program keeps its dots: `swfw.sh`, `prettyPrint.sh_hostlist`.
    """
    program, *arguments = shlex.split(command)
    text = program.rpartition("/")[2]
    if arguments:
        text += "_" + re.sub(r"[^()\-_0-9A-Za-z]", "", "-".join(arguments))
    if len(text) + len(".txt") > _MOST_NAME:
        text = text[: _MOST_NAME - len("[...].txt")] + "[...]"
    return text


def bundle_files(command: str, *, twin: bool = False) -> tuple[str, ...]:
    """Return the regexes of the members that hold the output of a command; a second file of a name is `1.<name>`."""
    name = re.escape(file_name(command))
    text_file = rf"(?:^|/)commands/(?:\d+\.)?{name}\.txt$"
    if not twin:
        return (text_file,)
    json_file = rf"(?:^|/)json/(?:\d+\.)?{name}\.json$"
    return text_file, json_file


def esxcli_commands(path: str, params: Sequence[Param] = ()) -> tuple[str, ...]:
    """Return the regexes of `esxcli …` and `localcli …`, which print the same; parameters become named groups.

    Between the program and the path are options of the form and of the connection (`-s vc01 -u root`); 4.x calls
    `storage core` corestorage, and `storage nmp` nmp. PowerCLI calls `$esxcli.network.nic.list()`, in its second
    version with `.Invoke(@{…})`.
    """
    words = _join_words(path)
    for today, former in (("storage core ", "corestorage "), ("storage nmp ", "nmp ")):
        if path.startswith(today):
            rest = path.removeprefix(today)
            words = rf"(?:{_join_words(today)}|{_join_words(former)})\s+{_join_words(rest)}"
    head = rf"\b(?:esxcli|localcli)\s+{_OPTIONS}{words}\b"
    patterns = []
    for param in params:
        options = []
        for option in param.option:
            gap = r"[= ]\s*" if option.startswith("--") else r"\s*"
            options.append(re.escape(option) + gap)
        given = "|".join(options)
        patterns.append(rf"{head}.*?\s(?:{given})(?P<{param.name}>{param.pattern})(?!\S)")

    dotted = re.escape(".".join(path.split()))
    call = rf"\$\w+\.{dotted}(?:\.Invoke)?\("
    for param in params[:1]:
        patterns.append(
            rf"{call}\s*(?:@\{{\s*\w+\s*=\s*)?[\"'](?P<{param.name}>{param.pattern})[\"']"
        )
    return (*patterns, call, head)


def _join_words(path: str) -> str:
    """Return the regex of words with any blanks between them."""
    return r"\s+".join(re.escape(word) for word in path.split())


def any_esxcli() -> str:
    """Return the regex of every `esxcli … list` and `… get`, whatever stands between."""
    return rf"\b(?:esxcli|localcli)\s+{_OPTIONS}[a-z][\w.]*(?:\s+[\w.]+){{0,7}}?\s+(?:list|get)\b"


def normalize_label(label: str) -> str:
    """Return a label as both twins print it: the text with blanks, JSON often without ("Link Status", LinkStatus)."""
    return re.sub(r"[^a-z0-9]", "", label.lower())


def make_row(
    table: Table,
    block: Block,
    cells: Sequence[tuple[Field, str, int]],
    line: int,
    parser: str,
    params: dict[str, Value],
) -> Iterator[Row | Fault]:
    """Yield a row of cells, each with its field and line, and a fault for each cell of the wrong type.

    params  what the command tells (see `typed`)
    """
    values: dict[str, Value] = {column.name: params.get(column.name) for column in table.columns}
    lines: dict[str, int] = {}
    for field, text, at in cells:
        if not field.name:
            continue
        try:
            value = field.convert_text(text.strip())
        except ColumnValueError as error:
            yield Fault(block.address, at, text[:300], parser, why=str(error))
            continue
        if value is not None:
            values[field.name] = value
            lines[field.name] = at
    spans_lines = any(at != line for at in lines.values())
    yield Row(table, values, block, line, lines if spans_lines else {})


def escape_label(text: str) -> str:
    """Return a text as a template matches it; blanks stay, so that a rule's first characters are known."""
    return escape_dollars(re.escape(text).replace(r"\ ", " ").replace(r"\#", "#"))


def escape_dollars(pattern: str) -> str:
    """Return a regex as a rule of a template holds it: `$` twice, values of the template left alone."""
    return re.sub(r"\$(?!\{)", "$$$$", pattern)
