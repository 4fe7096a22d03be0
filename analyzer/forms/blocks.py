"""Forms of labels and values: `esxcli … get`, lists of such blocks, dumps of vsish, and `key: value` of any tool.

Sources: esxcli prints `   Label: value`, in a list below a line that names the object; vsish prints `title {`, then
`   key:value`, and `}`. Copies lose indents and braces, and remarks get typed behind values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Unpack

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
from analyzer.forms.layouts import Layouts
from analyzer.parsing import Output, Parser, fault_at, rows, typed
from analyzer.tables import Block, Fault, Row, Since, Table

_LABEL = r"[A-Z#][^:]{0,70}:(?:\s.*)?"  # any label of esxcli, and what follows
_IGNORED = r"[A-Z#][^:]*"  # any label, of which no column may want to know
_BARE = r"[\w(]\S*[^\s:]"  # a line that names an object: one word, and no label
_HEAD = rf"(?:{_BARE}|[a-z0-9_(]\S*[^\s:]:)"  # localcli ends it with a colon; a label begins with a capital
_UNTOLD = r"Error getting field \S.*"  # localcli prints this instead of a label; the rest of the block is whole


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
    plain, told = declare_table(table, meaning, f"esxcli {path}", fields)
    made = _counting(plain, counts_since, gauges)
    above = rf"(?:{head}):?" if head else "" if begins else _HEAD
    template = block_template(told, head=above, begins=begins, ignored=ignored)
    form = Form(name, made, told, template, twin=twin, finish=finish)
    label = _LABEL if ignored == _IGNORED else rf"(?:{ignored}):(?:\s.*)?"
    if any(field.above and field.key for field in told):
        form = replace(form, read=_Named(form, above, label).read)
    elif titled:
        form = replace(form, read=_Titled(form, begins).read)
    above = titled or above
    named = next((field.pattern for field in told if field.above and field.pattern), above)
    shape, lead = _signed(sign, shape, label, rf"(?:{named}):?" if named else "") if sign else (shape, lead)
    body = rf"^\s*(?:{label}|{TWINS}|{REFUSED}{'|' + above if above else ''}|)$"
    own = bundle_files(f"localcli {path} {options}".strip(), twin=twin)
    return make_parser(
        form,
        node="esxi",
        files=(*own, *files),
        commands=(*commands, *esxcli_commands(path)),
        shape=shape,
        body=body,
        lead=lead,
    )


def _signed(sign: str, shape: str, label: str, above: str) -> tuple[str, str]:
    """Return shape and lead of a block that some labels tell: the first of them, and the lines of its block above."""
    signs = "|".join(map(re.escape, sign.split("|")))
    told = rf"^\s*(?:{signs}):(?:\s|$)" + (f"|{shape}" if shape else "")
    return told, rf"^\s*(?:{label}{'|' + above if above else ''})\s*$"


class _Titled:
    """Reads blocks whose first label has a line of any words above it, which a label says again."""

    def __init__(self, form: Form, begins: str) -> None:
        self._form, self._begins = form, re.compile(rf"\s*{re.escape(begins)}\s*:")
        self._order = {label: place for place, field in enumerate(form.fields) for label in field.labels}

    def read(self, block: Block) -> Output:
        """Read the blocks by the template without the lines above them; lines of a block without its first are faults.

        A label out of its order tells that the first one of its block is missing.
        """
        lines = list(block.lines)
        starts = [number for number, line in enumerate(lines) if self._begins.match(line)]
        ends = [*starts[1:], len(lines)]
        for start, end in zip(starts, ends[: len(starts)], strict=True):
            if (above := self._title(block.lines, start, end)) is not None:
                lines[above] = ""
        for start, end in zip(starts, ends[: len(starts)], strict=True):
            for number in self._strange(lines, start, end):
                lines[number] = ""
                yield fault_at(block, block.first_line + number, self._form.name, "no line says what this belongs to")
        told = typed(block.params, self._form.table)
        yield from rows(self._form.table, self._form.name, replace(block, lines=lines), told, self._form.template)

    def _strange(self, lines: list[str], start: int, end: int) -> Iterator[int]:
        """Yield the lines from the first label on that stands behind one it is printed before."""
        last, strange = -1, False
        for number in range(start, end):
            place = self._order.get(lines[number].partition(":")[0].strip(), last + 1)
            strange = strange or (place <= last and number > start)
            last = place if lines[number].partition(":")[0].strip() in self._order else last
            if strange and lines[number].strip():
                yield number

    def _title(self, lines: list[str], start: int, end: int) -> int | None:
        """Return which line stands above a block: of several the one whose words a label has, else the nearest."""
        found = []
        for number in range(start - 1, max(start - 4, -1), -1):
            if re.match(r"\s+[A-Z][\w ]*:", lines[number]) or not lines[number].strip():
                break
            found.append(number)
        texts = [line.partition(":")[2].strip() for line in lines[start:end]]
        said = [number for number in found if any(text and text in lines[number] for text in texts)]
        return next(iter(said or found), None)


class _Named:
    """Reads blocks that nothing but the line above them names.

    A block whose line is missing would be taken for more of the block before: a label that comes a second time tells.
    """

    def __init__(self, form: Form, head: str, label: str) -> None:
        self._form, self._head, self._label = form, re.compile(rf"\s*{head}\s*$"), re.compile(rf"\s*{label}$")

    def read(self, block: Block) -> Output:
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
                yield fault_at(block, block.first_line + number, self._form.name, "no line says what this belongs to")
        told = typed(block.params, self._form.table)
        yield from rows(self._form.table, self._form.name, replace(block, lines=lines), told, self._form.template)


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

    A `Param` among the fields is a column that the command tells (`-n vmnic0`). `title` is a line above the
    block that names no object, or one that stands for no block at all; several are parted by `|`.
    For the rest see `get_blocks`.
    """
    own_labels, params = split_fields(fields)
    asked = " ".join([f"esxcli {path}", *(f"{one.option[0]} <{one.name}>" for one in params)])
    made, labels = declare_table(table, meaning, asked, own_labels, params)
    template = block_template(labels, title=title, begins=begins)
    form = Form(name, made, labels, template, twin=True)
    own = () if params else bundle_files(f"localcli {path}", twin=True)
    titles = "|".join(map(re.escape, title.split("|")))
    body = rf"^\s*(?:{_LABEL}|{titles + '|' if title else ''}{TWINS}|{REFUSED})$"
    shape, lead = _signed(sign, shape, _LABEL, titles) if sign else (shape, "")
    return make_parser(
        form, node="esxi", files=own, commands=esxcli_commands(path, params), shape=shape, body=body, lead=lead
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
    plain, told = declare_table(table, meaning, source, labels, params, ask)
    made = _counting(plain, counts_since, gauges)
    template = block_template(told, head=head, begins=begins, separator=separator, ignored=ignored)
    form = Form(name, made, told, template, finish=finish, answers=answers)
    looks.setdefault("body", rf"^\s*(?:(?:{_either(labels)}|{ignored})\s*{separator}.*|{REFUSED})$")
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
    made = _counting(declare_table(table, meaning, f"vsish -e get {path}", labels, params)[0], counts_since, gauges)
    base = Form(name, made, tuple(labels), vsish_template(title, labels))
    form = replace(base, read=Layouts(made, base.parse).read, finish=finish)
    start = rf"^\s*{re.escape(title)}\s*\{{?\s*$" if shaped else ""
    return make_parser(
        form,
        node="esxi",
        commands=(vsish_command(path, params), *commands),
        shape=start,
        body=vsish_body(re.escape(title)),
    )


def _counting(table: Table, since: Since, gauges: Sequence[str]) -> Table:
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
    rules = [rf"^\s*{_UNTOLD}$$"]
    if head and not begins:
        rules.append(rf"^\s*{escape_dollars(head)}\s*$$ -> Continue.Record")
    elif begins:
        rules.append(rf"^\s*{escape_label(begins)}\s*{separator} -> Continue.Record")
    for field in fields:
        rules += _label_rules(field, separator)
    rules.append(rf"^\s*({_either(fields, escape=True)})\s*{separator}\S -> Error")
    rules.append(rf"^\s*({escape_dollars(REFUSED)}) -> Error")
    rules.append(rf"^\s*{escape_dollars(ignored)}\s*{separator}.*$$")
    if title:
        rules.append(rf"^\s*({'|'.join(map(escape_label, title.split('|')))})\s*$$")
    if head and not any(field.above for field in fields):
        rules.append(rf"^\s*{escape_dollars(head)}\s*$$")
    return _template(fields, rules, required=bool(head and not begins))


def vsish_template(title: str, fields: Sequence[Field]) -> str:
    """Return the template of dumps of vsish; keys of later releases are data that has no name yet."""
    rules = [rf"^\s*{escape_label(title)}\s*\{{?\s*$$ -> Record"]
    for field in fields:
        for label in field.labels:
            rules.append(rf"^\s*{escape_label(label)}:\s*${{{field.name.upper()}}}(\s.*)?$$")
    rules.append(rf"^\s*({_either(fields, escape=True)}): -> Error")
    rules += [r"^\s*[#A-Za-z0-9][^:{}]*:[^{}]*\{?\s*$$", r"^\s*\[\d+\]:.*$$", r"^\s*[{}]\s*$$"]
    return _template(fields, rules)


def _label_rules(field: Field, separator: str) -> list[str]:
    value = f"${{{field.name.upper()}}}"
    if field.above:
        label = "" if field.pattern else r"(?![A-Z][^:]*:\s*$$)"
        again = [rf"^\s*{escape_label(text)}\s*{separator}.*$$" for text in field.labels]  # some print it below as well
        return [rf"^\s*{label}{value}:?\s*$$", *again]
    rules = []
    for label in field.labels:
        if field.none:
            nothing = "|".join(map(escape_label, field.none))
            rules.append(rf"^\s*{escape_label(label)}\s*{separator}({nothing})?\s*$$")
        rules.append(rf"^\s*{escape_label(label)}\s*{separator}{value}{field.behind}\s*$$")
    return rules


def _template(fields: Sequence[Field], rules: Sequence[str], *, required: bool = False) -> str:
    values: dict[str, str] = {}
    for field in fields:
        pattern = field.pattern or _BARE if field.above else field.regex
        option = "Required " if required and field.key else ""
        values.setdefault(field.name, f"Value {option}{field.name.upper()} ({pattern})")
    lines = [*values.values(), "", "Start", *(f"  {rule}" for rule in rules), r"  ^\s*$$", "  ^. -> Error", ""]
    return "\n".join(lines)


def _either(fields: Sequence[Field], *, escape: bool = False) -> str:
    labels = [label for field in fields for label in field.labels]
    return "|".join(map(escape_label if escape else re.escape, labels))
