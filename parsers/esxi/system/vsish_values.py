"""A dump of vsish that no other parser knows: every key with its value, and where it is in the tree.

Source: `vsish -e get PATH` prints `title {`, then `   key:value` with three more blanks for each level, a nested
`key:title {`, `[0]: value` of a list, and `}`. A node that is one value prints that alone. Copies lose the indents, so
braces tell the levels.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import MOST_LINE, Output, Parser, fault_at
from analyzer.artefacts.signs import lies_above, named_by
from analyzer.artefacts.tables import Block, Column, KeyColumn, Row, Table, Value
from analyzer.forms.blocks import vsish_body

TABLE = Table.of(
    "esxi.vsish_value",
    "Values of vsish that have no table of their own, one row a value.",
    "vsish -e get PATH",
    KeyColumn(
        "vsish_path", "str", "node of the tree: /vmkModules/tracing/stats; of a file its name"
    ),
    KeyColumn(
        "vsish_key", "str", "key as printed, behind those it is nested in: a/b; [0] in a list"
    ),
    Column("vsish_text", "str", "value as printed", sign=named_by("vsish_key")),
    Column(
        "vsish_number",
        "int",
        "value where it is a whole number, decimal or 0x hex",
        sign=named_by("vsish_key", **{"adjtime() (usec)": lies_above(60_000_000)}),
    ),
    ask="`vsish -e get <path>`",
)

MOST_VALUES = 20_000  # of one dump
_KEY = re.compile(r"\s*(?P<key>\[\d+\]|[^\s:{}][^:{}]{0,119}):\s*(?P<value>.*?)\s*$")
_NUMBER = re.compile(r"-?\d{1,18}$|0x[0-9a-fA-F]{1,15}$")
_FILE = re.compile(r"(?:\d+\.)?vsish_-e-(?:get|cat)-(?P<name>[^/]+)\.txt$")


def parse_block(block: Block) -> Output:
    """Read a dump into rows; a line that is neither key nor brace is a fault."""
    in_address = _FILE.search(block.address)
    path = block.params.get("vsish_path") or (in_address["name"] if in_address else None)
    levels: list[str] = []
    list_name, count = "", 0
    for number, line in enumerate(block.lines, block.first_line):
        text = line.strip()
        if not text or text.startswith("--"):
            continue
        if len(line) > MOST_LINE or count >= MOST_VALUES:
            if len(line) > MOST_LINE:
                why = "a line too long"
            else:
                why = f"more than {MOST_VALUES:,} values in one dump"
            yield fault_at(block, number, PARSER.name, why)
        elif text == "}":
            levels = levels[:-1]
        elif text.endswith("{"):
            levels.append(text.partition(":")[0].strip() if ":" in text else "")
        elif (found := _KEY.match(text)) or _NUMBER.match(text):
            # A node that is one number has no key
            key, value = (found["key"], found["value"]) if found else ("", text)
            is_element = key.startswith("[")
            if not value:
                list_name = key
                continue
            if not is_element:
                list_name = ""
            names = [*levels, list_name, key]
            vsish_number = None
            if _NUMBER.match(value):
                vsish_number = int(value, 16 if value.startswith("0x") else 10)
            values: dict[str, Value] = {
                "vsish_path": path,
                "vsish_key": "/".join(filter(None, names)) or None,
                "vsish_text": value,
                "vsish_number": vsish_number,
            }
            yield Row(TABLE, values, block, number)
            count += 1
        else:
            yield fault_at(block, number, PARSER.name, "neither a key nor a brace of vsish")


PARSER = Parser(
    name="vsish_values",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    files=(r"(?:^|/)commands/(?:\d+\.)?vsish_-e-(?:get|cat)-[^/]+\.txt$",),
    commands=(r"\bvsish\s(?:[^;|]{0,200}?\s)?(?:get|cat)\s+(?P<vsish_path>/[^\s;|]+)",),
    body=vsish_body(r"[\w .#-]{1,80}")
    + r"|^\s*(?:\[\d+\]:.*|--.*|-?\d+|0x[0-9a-fA-F]+)\s*$|^[^:{}]{1,80}\{\s*$",
    rest=True,
)
