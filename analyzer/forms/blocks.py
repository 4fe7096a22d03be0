"""Forms of labels and values: `esxcli … get`, lists of such blocks, dumps of vsish, and `key: value` of any tool.

Sources: esxcli prints `   Label: value`, in a list below a line that names the object; vsish prints `title {`, then
`   key:value`, and `}`. Copies lose indents and braces, and remarks get typed behind values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from analyzer.artefacts.parsing import Output, Parser, convert_params, fault_at, read_rows
from analyzer.artefacts.tables import (
    Block,
    ColumnValueError,
    Fault,
    Row,
    Since,
    Table,
    Value,
    convert_cell,
)
from analyzer.forms.columns import (
    REFUSED,
    Field,
    Param,
    bundle_files,
    declare_table,
    escape_dollars,
    escape_label,
    esxcli_commands,
    split_fields,
)
from analyzer.forms.form import TWINS, Finish, Form, Looks, make_parser

_LABEL = r"[A-Z#][^:]{0,70}:(?:\s.*)?"  # any label of esxcli, and what follows
_IGNORED = r"[A-Z#][^:]*"  # any label, of which no column may want to know
_BARE = r"[\w(]\S*[^\s:]"  # a line that names an object: one word, and no label
_HEAD = rf"(?:{_BARE}|[a-z0-9_(]\S*[^\s:]:)"  # localcli ends it with a colon; a label begins with a capital
_NO_LABEL = r"Error getting field \S.*"  # localcli prints this instead of a label; the rest of the block is whole


def get_blocks(
    name: str,
    path: str,
    table: str | Table,
    meaning: str,
    *fields: Field,
    begins: str = "",
    titled: str = "",
    head: str = "",
    sign: str = "",
    shape: str = "",
    lead: str = "",
    files: Sequence[str] = (),
    commands: Sequence[str] = (),
    finish: Finish | None = None,
    options: str = "",
    ignored: str = _IGNORED,
    twin: bool = True,
    counts_since: Since = "",
    gauges: Sequence[str] = (),
) -> Parser:
    """Return the parser of a list of blocks: `esxcli PATH`, one row a block.

    name     stem of the module and of the sample folder
    path     the command behind esxcli; `options` are those of the bundle's own call ("-i")
    table    name of the table, or a table that other parsers fill too
    fields   labels and columns; label "" is the line above a block
    begins   label that begins a block, where no line above names it; a line that `head` describes says nothing then
    titled   regex of a line above `begins` that may hold anything and says what a label says again
    head     regex of the line above a block, where "a line without a label" says too little; its colon is no part of it
    sign     labels by `|` that no other output has, so that a block is known without its command
    files, commands  regexes besides those that follow from `path`
    ignored  regex of labels that no column keeps
    twin     the output may come as JSON or CSV too, which esxcli of 4.x does not print
    counts_since, gauges  see Table
    """
    plain_table, complete = declare_table(table, meaning, f"esxcli {path}", fields)
    counting = _add_counting(plain_table, counts_since, gauges)
    above = "" if begins else _HEAD
    if head:
        above = rf"(?:{head}):?"
    template = block_template(complete, head=above, begins=begins, ignored=ignored)
    form = Form(name, counting, complete, template, twin=twin, finish=finish)
    label = _LABEL if ignored == _IGNORED else rf"(?:{ignored}):(?:\s.*)?"
    if any(field.above and field.key for field in complete):
        form = replace(form, read=_NamedBlocks(form, above, label).read_blocks)
    elif begins and titled:
        form = replace(form, read=_TitledBlocks(form, begins).read_blocks)
    above = titled or above
    if sign:
        named = next((field.pattern for field in complete if field.above and field.pattern), above)
        shape, lead = _sign_block(sign, shape, label, rf"(?:{named}):?" if named else "")
    body = rf"^\s*(?:{label}|{TWINS}|{REFUSED}{_add_alternative(above)}|)$"
    own_files = bundle_files(f"localcli {path} {options}".strip(), twin=twin)
    return make_parser(
        form,
        node="esxi",
        files=(*own_files, *files),
        commands=(*commands, *esxcli_commands(path)),
        shape=shape,
        body=body,
        lead=lead,
    )


def _add_alternative(pattern: str) -> str:
    """Return a pattern as one more alternative of a regex, "" for none."""
    return f"|{pattern}" if pattern else ""


def _sign_block(sign: str, shape: str, label: str, above: str) -> tuple[str, str]:
    """Return shape and lead of a block that is known by some labels: the first of them, and the lines above it."""
    signs = "|".join(re.escape(one) for one in sign.split("|"))
    signed = rf"^\s*(?:{signs}):(?:\s|$)" + _add_alternative(shape)
    return signed, rf"^\s*(?:{label}{_add_alternative(above)})\s*$"


class _TitledBlocks:
    """Reads blocks whose first label has a line of any words above it, which a label says again."""

    def __init__(self, form: Form, begins: str) -> None:
        self._form = form
        self._begins = re.compile(rf"\s*{re.escape(begins)}\s*:")
        self._order = {
            label: place for place, field in enumerate(form.fields) for label in field.labels
        }

    def read_blocks(self, block: Block) -> Output:
        """Read the blocks by the template without the lines above them; lines of a block without its first are faults.

        A label out of its order shows that the first one of its block is missing.
        """
        lines = list(block.lines)
        starts = [number for number, line in enumerate(lines) if self._begins.match(line)]
        spans = list(zip(starts, [*starts[1:], len(lines)], strict=False))
        for start, end in spans:
            above = self._find_title(block.lines, start, end)
            if above is not None:
                lines[above] = ""
        for start, end in spans:
            last = -1
            misplaced = False  # from the first label on that comes behind one it is printed before
            for number in range(start, end):
                place = self._order.get(lines[number].partition(":")[0].strip())
                if place is not None:
                    misplaced = misplaced or (place <= last and number > start)
                    last = place
                if misplaced and lines[number].strip():
                    lines[number] = ""
                    yield fault_at(block, block.first_line + number, self._form.name, _NO_OWNER)
        yield from _read_by_template(self._form, replace(block, lines=lines))

    def _find_title(self, lines: list[str], start: int, end: int) -> int | None:
        """Return which line is above a block: of several the one whose words a label has, else the nearest."""
        candidates = []
        for number in range(start - 1, max(start - 4, -1), -1):
            if re.match(r"\s+[A-Z][\w ]*:", lines[number]) or not lines[number].strip():
                break
            candidates.append(number)
        texts = [line.partition(":")[2].strip() for line in lines[start:end]]
        for number in candidates:
            if any(text and text in lines[number] for text in texts):
                return number
        return candidates[0] if candidates else None


class _NamedBlocks:
    """Reads blocks that nothing but the line above them names.

    A block whose line is missing would be taken for more of the block before: a label that comes again shows it.
    """

    def __init__(self, form: Form, head: str, label: str) -> None:
        self._form = form
        self._head = re.compile(rf"\s*{head}\s*$")
        self._label = re.compile(rf"\s*{label}$")

    def read_blocks(self, block: Block) -> Output:
        """Read the blocks by the template; those without a name are faults, line by line."""
        lines = list(block.lines)
        seen: set[str] = set()
        nameless = False
        for number, line in enumerate(lines):
            label = line.partition(":")[0].strip() if self._label.match(line) else ""
            if not label:
                if self._head.match(line):
                    nameless = False
                    seen.clear()
                continue
            nameless = nameless or label in seen
            seen.add(label)
            if nameless:
                lines[number] = ""
                yield fault_at(block, block.first_line + number, self._form.name, _NO_OWNER)
        yield from _read_by_template(self._form, replace(block, lines=lines))


_NO_OWNER = "no line says what this belongs to"


def _read_by_template(form: Form, block: Block) -> Output:
    """Read a block by the template of its form."""
    return read_rows(
        form.table, form.name, block, convert_params(block.params, form.table), form.template
    )


def get_block(
    name: str,
    path: str,
    table: str | Table,
    meaning: str,
    *fields: Field | Param,
    title: str = "",
    begins: str = "",
    sign: str = "",
    shape: str = "",
) -> Parser:
    """Return the parser of one block: `esxcli PATH`, one row.

    A `Param` among the fields is a column that the command gives (`-n vmnic0`). `title` is a line above the
    block that names no object, or one that is printed in place of a block; several are parted by `|`.
    For the rest see `get_blocks`.
    """
    own_labels, params = split_fields(fields)
    asked = f"esxcli {path}"
    for param in params:
        asked += f" {param.option[0]} <{param.name}>"
    own_table, labels = declare_table(table, meaning, asked, own_labels, params)
    template = block_template(labels, title=title, begins=begins)
    form = Form(name, own_table, labels, template, twin=True)
    own_files = () if params else bundle_files(f"localcli {path}", twin=True)
    titles = "|".join(re.escape(one) for one in title.split("|"))
    body = rf"^\s*(?:{_LABEL}|{titles + '|' if title else ''}{TWINS}|{REFUSED})$"
    lead = ""
    if sign:
        shape, lead = _sign_block(sign, shape, _LABEL, titles)
    return make_parser(
        form,
        node="esxi",
        files=own_files,
        commands=esxcli_commands(path, params),
        shape=shape,
        body=body,
        lead=lead,
    )


def key_value(
    name: str,
    table: str | Table,
    *fields: Field | Param,
    meaning: str = "",
    source: str = "",
    ask: str = "",
    separator: str = r":\s*",
    ignored: str = r"[A-Za-z][^:=]{0,70}",
    begins: str = "",
    head: str = "",
    finish: Finish | None = None,
    answers: Callable[[Iterable[Row | Fault]], Output] | None = None,
    counts_since: Since = "",
    gauges: Sequence[str] = (),
    **looks: Unpack[Looks],
) -> Parser:
    """Return the parser of `key: value` or `key = value` lines of any tool, one row.

    meaning    of the table, where the fields declare it; source: the command; ask: what to request, if that says more
    separator  regex between key and value; ignored: regex of keys that no column keeps
    begins     key that begins a further record; head: regex of a line that begins one and names nothing
    answers    see Form
    counts_since, gauges  see Table
    """
    labels, params = split_fields(fields)
    plain_table, complete = declare_table(table, meaning, source, labels, params, ask)
    counting = _add_counting(plain_table, counts_since, gauges)
    template = block_template(
        complete, head=head, begins=begins, separator=separator, ignored=ignored
    )
    form = Form(name, counting, complete, template, finish=finish, answers=answers)
    looks.setdefault(
        "body", rf"^\s*(?:(?:{_match_labels(labels)}|{ignored})\s*{separator}.*|{REFUSED})$"
    )
    return make_parser(form, **looks)


def vsish_block(
    name: str,
    path: str,
    title: str,
    table: str,
    meaning: str,
    *fields: Field | Param,
    commands: Sequence[str] = (),
    shaped: bool = True,
    finish: Finish | None = None,
    counts_since: Since = "",
    gauges: Sequence[str] = (),
) -> Parser:
    """Return the parser of a dump of vsish: `vsish -e get PATH`, one row a dump.

    path    of the node, `<option>` for what the path tells; each has its Param among the fields
    title   the line before the brace
    shaped  the title is enough to know the dump without its command
    counts_since, gauges  see Table
    """
    labels, params = split_fields(fields)
    made = _add_counting(
        declare_table(table, meaning, f"vsish -e get {path}", labels, params)[0],
        counts_since,
        gauges,
    )
    base = Form(name, made, tuple(labels), vsish_template(title, labels))
    form = replace(base, read=Layouts(made, base.parse).read_block, finish=finish)
    start = rf"^\s*{re.escape(title)}\s*\{{?\s*$" if shaped else ""
    return make_parser(
        form,
        node="esxi",
        commands=(vsish_command(path, params), *commands),
        shape=start,
        body=vsish_body(re.escape(title)),
    )


def _add_counting(table: Table, since: Since, gauges: Sequence[str]) -> Table:
    """Return a table whose numbers, but for gauges, count since a moment; the table itself where they do not."""
    return replace(table, counts_since=since, gauges=tuple(gauges)) if since else table


def vsish_command(path: str, params: Sequence[Param]) -> str:
    """Return the regex of a command that prints a node of vsish; what the path tells becomes named groups.

    The first word may be the prompt of an interactive session, and `vsish -c FILE -e get PATH` reads a VSI cache.
    """
    text = re.escape(path)
    for one in params:
        text = text.replace(f"<{one.option[0]}>", f"(?P<{one.name}>{one.pattern}){one.behind}")
    return rf"\b(?:get|cat)\s+\S*?{text}\b"


def vsish_body(heading: str) -> str:
    """Return the regex of the lines of a dump: its title (a regex) again, keys, braces, vsish errors.

    Prose has a blank after its colon and no number there, vsish has none.
    """
    return (
        r"^\s*(?:[#A-Za-z0-9][^:]{1,70}:(?:\S.*|\s*|\s+-?(?:0x)?[0-9a-f]+(?:\s.*)?)|[{}]\s*"
        rf"|{heading}(?:\s*\{{)?\s*|<snip>|\.\.\.|VSISH\w*\(\):.*|.*Command not found.*)$"
    )


# --- templates ---------------------------------------------------------------------------------


def block_template(
    fields: Sequence[Field],
    *,
    head: str = "",
    title: str = "",
    begins: str = "",
    separator: str = r":\s*",
    ignored: str = _IGNORED,
) -> str:
    """Return the template of blocks of labels.

    head    regex of the line above each block, "" when there is none; title: a line above the block that names none
    begins  label that begins a block
    """
    rules = [rf"^\s*{_NO_LABEL}$$"]
    if head and not begins:
        rules.append(rf"^\s*{escape_dollars(head)}\s*$$ -> Continue.Record")
    elif begins:
        rules.append(rf"^\s*{escape_label(begins)}\s*{separator} -> Continue.Record")
    for field in fields:
        value = f"${{{field.name.upper()}}}"
        if field.above:
            no_label = "" if field.pattern else r"(?![A-Z][^:]*:\s*$$)"
            rules.append(rf"^\s*{no_label}{value}:?\s*$$")
        for label in field.labels:
            start = rf"^\s*{escape_label(label)}\s*{separator}"
            if field.above:  # some print it below as well
                rules.append(rf"{start}.*$$")
                continue
            if field.none:
                nothing = "|".join(escape_label(text) for text in field.none)
                rules.append(rf"{start}({nothing})?\s*$$")
            rules.append(rf"{start}{value}{field.behind}\s*$$")
    rules.append(rf"^\s*({_match_labels(fields, escape=True)})\s*{separator}\S -> Error")
    rules.append(rf"^\s*({escape_dollars(REFUSED)}) -> Error")
    rules.append(rf"^\s*{escape_dollars(ignored)}\s*{separator}.*$$")
    if title:
        rules.append(rf"^\s*({'|'.join(map(escape_label, title.split('|')))})\s*$$")
    if head and not any(field.above for field in fields):
        rules.append(rf"^\s*{escape_dollars(head)}\s*$$")
    return _write_template(fields, rules, required=bool(head and not begins))


def vsish_template(title: str, fields: Sequence[Field]) -> str:
    """Return the template of dumps of vsish; keys of later releases are data that has no name yet."""
    rules = [rf"^\s*{escape_label(title)}\s*\{{?\s*$$ -> Record"]
    for field in fields:
        for label in field.labels:
            rules.append(rf"^\s*{escape_label(label)}:\s*${{{field.name.upper()}}}(\s.*)?$$")
    rules.append(rf"^\s*({_match_labels(fields, escape=True)}): -> Error")
    rules += [r"^\s*[#A-Za-z0-9][^:{}]*:[^{}]*\{?\s*$$", r"^\s*\[\d+\]:.*$$", r"^\s*[{}]\s*$$"]
    return _write_template(fields, rules)


def _write_template(
    fields: Sequence[Field], rules: Sequence[str], *, required: bool = False
) -> str:
    values: dict[str, str] = {}
    for field in fields:
        pattern = field.pattern if field.above else field.regex
        option = "Required " if required and field.key else ""
        values.setdefault(field.name, f"Value {option}{field.name.upper()} ({pattern or _BARE})")
    lines = [*values.values(), "", "Start"]
    lines += [f"  {rule}" for rule in rules]
    lines += [r"  ^\s*$$", "  ^. -> Error", ""]
    return "\n".join(lines)


def _match_labels(fields: Sequence[Field], *, escape: bool = False) -> str:
    """Return the regex of any label of some fields, with `escape` as a template holds it."""
    labels = [label for field in fields for label in field.labels]
    return "|".join(map(escape_label if escape else re.escape, labels))


# --- dumps that differ in their numbers only ---
#
# Dumps that differ in their numbers only are read in one step.
#
# A host prints the dump of a port thousands of times. The first one of a form goes through the template; what it gave
# says which line fills which column. A further text with the same lines and other numbers needs no more than one regex.


MOST_LAYOUTS = 8  # of one form: releases differ, dumps of one host do not
MOST_LINES = 400
_COUNTER = re.compile(r"(\s*[^:{}]+:)([0-9]{1,18})$")
_DIGITS = "[0-9]{1,18}"  # below 2**63
_OTHERS = ("7", "9" * 18)  # numbers by which a layout is tried before it is trusted


@dataclass(frozen=True, slots=True)
class _Layout:
    """The lines of a dump: its numbers as groups, the columns they fill, and the line of each from the first."""

    pattern: re.Pattern[str]
    columns: tuple[str, ...]
    line: int
    lines: dict[str, int]
    own: frozenset[str]  # columns that the text gives, whatever the command says
    rest: dict[str, Value]


class _LinesBelow(Mapping[str, int]):
    """The lines of the columns of a dump, by their places in any dump of its layout; numbers would be half of a row."""

    __slots__ = ("_first", "_places")

    def __init__(self, places: dict[str, int], first: int) -> None:
        self._places, self._first = places, first

    def __getitem__(self, name: str) -> int:
        return self._first + self._places[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class Layouts:
    """Reads the dumps of one table; `general` is what reads a dump whose layout was not seen before."""

    def __init__(self, table: Table, general: Callable[[Block], Output]) -> None:
        self.table, self.general = table, general
        self._columns = {column.name: column for column in table.columns}
        self._known: list[_Layout] = []
        self._tried = 0

    def read_block(self, block: Block) -> Output:
        """Return what the general way would return."""
        if self._known and len(block.lines) <= MOST_LINES:
            text = "\n".join(block.lines)
            for layout in self._known:
                found = layout.pattern.fullmatch(text)
                row = self._fill_row(layout, found, block) if found is not None else None
                if row is not None:
                    return (row,)
        found_rows = list(self.general(block))
        if len(found_rows) == 1 and isinstance(found_rows[0], Row) and self._tried < MOST_LAYOUTS:
            self._tried += 1
            self._learn_layout(block, found_rows[0])
        return found_rows

    def _learn_layout(self, block: Block, row: Row) -> None:
        """Keep the layout of a dump that gave one row, if it stands its trial."""
        names = {line - block.first_line: name for name, line in row.lines.items()}
        parts: list[str] = []
        columns: list[str] = []
        free: set[int] = set()  # places of the lines whose number may be another
        for number, line in enumerate(block.lines):
            counter, name = _COUNTER.match(line), names.get(number)
            if counter is None or (name is not None and self._columns[name].kind != "int"):
                parts.append(re.escape(line))
                continue
            free.add(number)
            label = re.escape(counter[1])
            if name is None:
                parts.append(label + _DIGITS)
            else:
                parts.append(f"{label}({_DIGITS})")
                columns.append(name)
        if len(block.lines) > MOST_LINES or not columns:
            return

        rest = dict(row.values)
        for name in block.params:
            if name in rest and name not in row.lines:
                rest[name] = None
        layout = _Layout(
            pattern=re.compile("\n".join(parts)),
            columns=tuple(columns),
            line=row.line - block.first_line,
            lines={name: line - block.first_line for name, line in row.lines.items()},
            own=frozenset(row.lines),
            rest=rest,
        )
        if self._is_sound(layout, free, block):
            self._known.append(layout)

    def _is_sound(self, layout: _Layout, free: set[int], block: Block) -> bool:
        """Say whether the general way reads the same lines with other numbers as the layout does."""
        for digits in _OTHERS:
            lines = list(block.lines)
            for number in free:
                lines[number] = _COUNTER.sub(rf"\g<1>{digits}", lines[number])
            other = replace(block, lines=lines)
            found = layout.pattern.fullmatch("\n".join(lines))
            if found is None or list(self.general(other)) != [self._fill_row(layout, found, other)]:
                return False
        return True

    def _fill_row(self, layout: _Layout, found: re.Match[str], block: Block) -> Row | None:
        """Return the row of a dump that its layout matched; None where the command has a parameter of another type."""
        values = layout.rest.copy()
        try:
            for name, text in block.params.items():
                column = self._columns.get(name)
                if column is not None and name not in layout.own:
                    values[name] = convert_cell(column, text)
        except ColumnValueError:
            return None
        values.update(zip(layout.columns, map(int, found.groups()), strict=True))
        first = block.first_line
        return Row(self.table, values, block, first + layout.line, _LinesBelow(layout.lines, first))
