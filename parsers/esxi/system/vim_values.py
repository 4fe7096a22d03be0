"""`vim-cmd`: objects of the host where no other parser knows the answer, every property with its value.

Source: answers of 4.x to 7.0 that administrators published. `(vim.host.SystemInfo) {` opens an object, `name = value,`
is a property, `name = (vim.…) [` a list; `<unset>` and `null` are no value. Copies lose the indents, so braces tell the
levels; what `grep` left has no braces, and its properties stand alone.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import MOST_LINE, Output, Parser, fault_at
from analyzer.artefacts.signs import named_by
from analyzer.artefacts.tables import Block, Column, KeyColumn, Row, Table

TABLE = Table.of(
    "esxi.vim_value",
    "Properties of objects of the host or a VM that have no table of their own, one row a value.",
    "vim-cmd hostsvc/…, vimsvc/…, vmsvc/…",
    Column("asked", "str", "command behind vim-cmd: hostsvc/hosthardware, vmsvc/get.summary"),
    KeyColumn(
        "vim_path",
        "str",
        "property as printed, behind those it is nested in: systemInfo/uuid; [0] in a list",
    ),
    Column("vim_text", "str", "value as printed, without its quotes", sign=named_by("vim_path")),
    Column("vim_number", "int", "value where it is a whole number", sign=named_by("vim_path")),
    ask="`vim-cmd hostsvc/hosthardware`",
)

MOST_VALUES = 20_000  # of one answer
_OPENS = re.compile(r"(?:(?P<name>[A-Za-z]\w*) = )?\((?P<type>[\w.]+)\) (?P<brace>[\[{])$")
_PROPERTY = re.compile(r"(?P<name>[A-Za-z]\w*) = (?:\([\w.]+\) )?(?P<text>.*?),?$")
_ELEMENT = re.compile(r"(?P<text>'[^']*'|\"[^\"]*\"|-?\d+),?$")
_CLOSES = re.compile(r"[\]}]+,?$")
_NO_VALUE = frozenset(("", "<unset>", "null", "[]", '""'))
_NUMBER = re.compile(r"-?\d{1,18}$")
_FRAME = re.compile(r"(?:Array of .*|[\w ]+:|\.\.\.|\(\w+\) null,?|--)$")


def parse_block(block: Block) -> Output:
    """Read an answer, a row for each property that has a value."""
    levels: list[tuple[str, int]] = []  # name of what is open, how many elements it had
    count = 0
    for number, line in enumerate(block.lines, block.first_line):
        text = line.strip()
        if not text:
            continue
        if len(line) > MOST_LINE or count >= MOST_VALUES:
            yield fault_at(
                block, number, PARSER.name, f"a line too long, or more than {MOST_VALUES:,} values"
            )
        elif opens := _OPENS.match(text):
            levels.append((opens["name"] or _find_next_place(levels), 0))
        elif _CLOSES.match(text):
            levels = levels[:-1]
        elif (found := _PROPERTY.match(text)) or (found := _ELEMENT.match(text)):
            name = found.groupdict().get("name") or _find_next_place(levels)
            if (cell := found["text"].strip()) not in _NO_VALUE and name != "dynamicType":
                path = "/".join(filter(None, (*(level for level, _ in levels), name)))
                value = cell.strip("\"'").strip()
                values = TABLE.blank()
                values["asked"] = block.params.get("asked")
                values["vim_path"] = path
                values["vim_text"] = value
                if _NUMBER.match(value):
                    values["vim_number"] = int(value)
                else:
                    values["vim_number"] = None
                yield Row(TABLE, values, block, number)
                count += 1
        elif not _FRAME.match(text):
            yield fault_at(
                block, number, PARSER.name, "neither a property nor the begin or end of an object"
            )


def _find_next_place(levels: list[tuple[str, int]]) -> str:
    """Return the place of the next element of what is open; "" where nothing is."""
    if not levels:
        return ""
    name, count = levels[-1]
    levels[-1] = name, count + 1
    return f"[{count}]"


PARSER = Parser(
    name="vim_values",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    commands=(r"\bvim-cmd\s+(?:-\S+\s+)*/?(?P<asked>\w+/[\w/.-]*\w)",),
    shape=r"^\s*\((?:vim|vmodl)\.[\w.]+\) [\[{]\s*$",
    body=(
        r"^\s*(?:(?:[A-Za-z]\w* = )?\([\w.]+\) (?:[\[{]|null,?)|[A-Za-z]\w* = .*|[\]}]+,?|\.\.\.|--"
        r"|'[^']*',?|\"[^\"]*\",?|[A-Z][\w ]*:)\s*$"
    ),
    rest=True,
)
