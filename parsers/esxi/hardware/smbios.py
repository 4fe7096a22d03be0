"""`smbiosDump`: what the firmware says of the machine: BIOS, board, processors, and each DIMM with its size and speed.

Source: `commands/smbiosDump.txt` or the command: `Processor Info (Type 4): #74` with `Label: value` deeper below.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import MOST_LINE, Output, Parser, fault_at
from analyzer.artefacts.signs import named_by
from analyzer.artefacts.tables import Block, Column, Row, Table, Value
from analyzer.forms.columns import bundle_files

TABLE = Table.of(
    "esxi.smbios_value",
    "Values that the firmware states of the machine, one row a label.",
    "smbiosDump; commands/smbiosDump.txt",
    Column("smbios_part", "str", "kind of the record: Memory Device (Type 17)"),
    Column("smbios_handle", "int", "number of the record, by which others name it"),
    Column("smbios_label", "str", "label as printed, behind those it is nested in: a/b"),
    Column(
        "smbios_text", "str", "value as printed, without its quotes", sign=named_by("smbios_label")
    ),
    Column(
        "smbios_number",
        "int",
        "value where it begins with a whole number",
        sign=named_by("smbios_label"),
    ),
    ask="`smbiosDump`",
)

MOST_VALUES = 20_000  # of one output
_PART = re.compile(r"(?P<indent>\s*)(?P<part>[A-Z][^:]{0,80}?)\s*:\s+#(?P<handle>\d{1,9})\s*$")
_RECORD = re.compile(r".*\((?:[Tt]ype \d+|OEM)")
_LABEL = re.compile(
    r"(?P<indent>\s*)(?P<label>[A-Za-z0-9][^:]{0,80}?)\s*:(?:\s+(?P<value>.*?))?\s*$"
)
_NUMBER = re.compile(r"(-?\d{1,18})(?![\w.])")


def parse_block(block: Block) -> Output:
    """Read the records; a label without a value is the head of what stands deeper below."""
    part, handle, count = "", 0, 0
    above: list[tuple[int, str]] = []
    for number, line in enumerate(block.lines, block.first_line):
        if not line.strip():
            continue
        if len(line) <= MOST_LINE:
            found = _LABEL.match(line)
        else:
            found = None
        record = _PART.match(line) if found else None
        if record and _RECORD.match(record["part"]):
            part = record["part"]
            handle = int(record["handle"])
            above = []
        elif found is None or count >= MOST_VALUES:
            if found is None:
                why = "not a label"
            else:
                why = f"more than {MOST_VALUES:,} values in one output"
            yield fault_at(block, number, PARSER.name, why)
        else:
            depth = len(found["indent"])
            text = (found["value"] or "").strip('"').strip()
            above = [one for one in above if one[0] < depth]
            if not found["value"]:
                above.append((depth, found["label"]))
            elif text:
                label = "/".join([*(one for _, one in above), found["label"]])
                own_number = _NUMBER.match(text)
                values: dict[str, Value] = {
                    "smbios_part": part or None,
                    "smbios_handle": handle if part else None,
                    "smbios_label": label,
                    "smbios_text": text,
                    "smbios_number": int(own_number[1]) if own_number else None,
                }
                yield Row(TABLE, values, block, number)
                count += 1


PARSER = Parser(
    name="smbios",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    files=bundle_files("smbiosDump"),
    commands=(r"\bsmbiosDump\b",),
    body=r"^\s*[A-Za-z0-9][^:]{0,80}:(?:\s.*)?$",
)
