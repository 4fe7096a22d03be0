"""`vmkiscsid --dump-db`: targets and portals of software iSCSI with what each is set to (DelayedAck, timeouts, login).

Source: `commands/vmkiscsid_--dump-db.txt` or the command. A line `=========[Targets]=========` begins a part, one
without a name ends a record; the rest are lines such as ``   `node.name`='iqn.…'`` (format strings of vmkiscsid 6.7,
and a published dump of 5.0). The data base holds secrets of CHAP: no value of a key that names one becomes a row.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import MOST_LINE, Output, Parser, fault_at
from analyzer.artefacts.tables import Block, Column, Row, Table, Value
from analyzer.forms.columns import bundle_files

TABLE = Table.of(
    "esxi.iscsi_setting",
    "Settings of software iSCSI as its daemon keeps them, one row a setting; secrets are left out.",
    "vmkiscsid --dump-db; commands/vmkiscsid_--dump-db.txt",
    Column("iscsi_part", "str", "part of the data base: ISID, InitiatorNodes, Targets, nodes, …"),
    Column("iscsi_node", "str", "node.name of the record, for lines after it"),
    Column(
        "iscsi_key", "str", "key as printed: node.conn[0].address, node.conn[0].iscsi.DelayedAck"
    ),
    Column("iscsi_text", "str", "value as printed"),
    Column("iscsi_number", "int", "value where it is a whole number"),
    ask="`vmkiscsid --dump-db`",
)

MOST_VALUES = 100_000  # of one output: about 60 for each portal of a target
_PART = re.compile(r"\s*={5,}(?:\[(?P<name>[^\[\]]{1,80})\])?={5,}\s*$")
_SETTING = re.compile(r"\s*`(?P<key>[A-Za-z][\w.\[\]-]{0,120})`='(?P<text>.*)'\s*$")
_SECRET = re.compile(r"password|secret", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d{1,18}$")


def parse_block(block: Block) -> Output:
    """Yield a row for each setting but secrets; an empty value is none."""
    part: str | None = None
    node: str | None = None
    count = 0
    for number, line in enumerate(block.lines, block.first_line):
        if not line.strip() or line.startswith(("Dumping Configuration DB", "Dump Complete")):
            continue
        if found := _PART.match(line):
            part, node = found["name"] or part, None
            continue
        if len(line) <= MOST_LINE:
            setting = _SETTING.match(line)
        else:
            setting = None
        if setting is None or count == MOST_VALUES:
            if setting:
                why = f"more than {MOST_VALUES:,} settings"
            else:
                why = "neither a setting of iSCSI nor the head of a part"
            yield fault_at(block, number, PARSER.name, why)
            continue
        key, text = setting["key"], setting["text"]
        if key == "node.name":
            node = text or None
        if _SECRET.search(key):
            continue
        count += 1
        values: dict[str, Value] = {
            "iscsi_part": part,
            "iscsi_node": node,
            "iscsi_key": key,
            "iscsi_text": text or None,
        }
        if _NUMBER.match(text):
            values["iscsi_number"] = int(text)
        else:
            values["iscsi_number"] = None
        yield Row(TABLE, values, block, number)


PARSER = Parser(
    name="iscsi_database",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    files=bundle_files("vmkiscsid --dump-db"),
    commands=(r"\bvmkiscsid\s+--dump-db(?!\S)(?!\s*[\w/])",),
    body=r"^\s*(?:={5,}.*|`[A-Za-z][^`]*`=.*|Dump.*|)\s*$",
)
