"""`vmkload_mod -s MODULE`, `esxcli system module get -m MODULE`: version, licence and file of a module of the vmkernel.

Source: outputs of 4.x to 6.5 that administrators published; behind `| grep` the version is alone. The
parameters below are those of `esxcli system module parameters list`, which says what is set, too; here they are
left out.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import MOST_LINE, Output, Parser, fault_at
from analyzer.artefacts.tables import Block, Column, KeyColumn, Row, Table, Value

TABLE = Table.of(
    "esxi.module_info",
    "Modules of the vmkernel as their files describe them, one row a module.",
    "esxcli system module get -m <module>; vmkload_mod -s <module>",
    KeyColumn("module", "str", "name of the module: ixgben, vmfs3"),
    Column("module_file", "str", "its file"),
    Column("module_version", "str", "its version as printed, with the build it was made for"),
    Column("module_licence", "str", "its licence, as printed"),
    ask="`esxcli system module get -m <module>`",
)

_LABEL = re.compile(r"\s*(?P<label>input file|Module File|License|Version):\s*(?P<value>\S.*?)\s*$")
_COLUMNS = {
    "input file": "module_file",
    "Module File": "module_file",
    "License": "module_licence",
    "Version": "module_version",
}
_OTHER = re.compile(
    r"\s*(?:vmkload_mod module information|Name-space:.*|Required name-spaces:|Parameters:"
    r"|(?:Build Type|Module|Sign[\w ]+|(?:Provided|Required) Namespaces|Containing VIB|Acceptance Level):.*"
    r"|[\w.]+[#@]\S+|[\w-]+: (?:array of )?u?(?:int|short|long|char|byte|string|bool)\b.*|)$"
)
_TEXT = re.compile(r"\s{4,}\S")  # what a parameter does


def parse_block(block: Block) -> Output:
    """Read one module; a line in no known form is a fault."""
    values: dict[str, Value] = TABLE.blank()
    values["module"] = block.params.get("module")
    lines: dict[str, int] = {}
    for number, line in enumerate(block.lines, block.first_line):
        if len(line) <= MOST_LINE:
            found = _LABEL.match(line)
        else:
            found = None
        if found and values[column := _COLUMNS[found["label"]]] is None:
            values[column] = found["value"]
            lines[column] = number
        elif len(line) > MOST_LINE or not (_OTHER.match(line) or _TEXT.match(line)):
            yield fault_at(block, number, PARSER.name, "in no known form of this output")
    if lines:
        if values["module"] is None and (file := values["module_file"]):
            values["module"] = str(file).rpartition("/")[2]
        yield Row(TABLE, values, block, min(lines.values()), lines)


PARSER = Parser(
    name="module_info",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    commands=(
        r"\bvmkload_mod\s+-s\s+(?:\S*/)?(?P<module>[\w.-]+)",
        r"^(?!.*--formatter).*\bsystem\s+module\s+get\s+(?:-m|--module)[= ]?\s*(?P<module>[\w.-]+)",
    ),
    shape=r"^\s*vmkload_mod module information\s*$",
    body=(
        r"^\s*(?:(?:input file|Module(?: File)?|License|Version|Name-space|Build Type|Sign[\w ]+|Containing VIB"
        r"|Acceptance Level|(?:Provided|Required) Namespaces):.*|vmkload_mod module information"
        r"|Required name-spaces:|Parameters:|[\w.]+[#@]\S+"
        r"|[\w-]+: (?:array of )?u?(?:int|short|long|char|byte|string|bool)\b.*)$"
        r"|^\s{4,}\S.*$"
    ),
)
