"""`esxcli hardware ipmi sel list`: what the management controller of the machine logged: memory, power, fans, drives.

Labels and messages (`Assert + Memory Uncorrectable ECC`) as published outputs and
Broadcom article 336323 show them. The clock is that of the controller, which is often local time.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.signs import NOTHING, names_entry
from analyzer.artefacts.tables import Block, Row
from analyzer.forms import Field, Made, get_blocks

_MESSAGE = re.compile(r"(?P<way>Assert|Deassert) \+ (?P<what>.+)")


def finish_row(row: Row) -> None:
    """Part a message into what it says and whether it began or ended."""
    found = _MESSAGE.match(str(row.values["sel_message"] or ""))
    row.values["is_asserted"] = found["way"] == "Assert" if found else None
    row.values["sel_event"] = found["what"].strip() if found else None


_FORM = get_blocks(
    "ipmi_sel",
    "hardware ipmi sel list",
    "esxi.ipmi_sel",
    "Records of the management controller (IPMI system event log), one row a record.",
    Field("Record Id", "sel_record", "int", "number of the record"),
    Field(
        "When", "sel_time", "time", "when, by the clock of the controller, which need not be UTC"
    ),
    Field("SEL Type", "sel_type", "str", "2 (System Event), or a form of the vendor"),
    Field(
        "Message",
        "sel_message",
        "str",
        "what happened, as printed",
        sign=names_entry("hardware event").except_where("is_asserted", "false"),
    ),
    Field("Sensor Number", "sensor_number", "int", "sensor that reported it"),
    Made("is_asserted", "bool", "it began: Assert; Deassert is its end"),
    Made(
        "sel_event",
        "str",
        "the message without Assert or Deassert: Memory Uncorrectable ECC, …",
        sign=NOTHING,
    ),
    Made("sel_begun", "int", "how often this sensor began this event in the output", "events"),
    Made("is_last", "bool", "nothing later of this sensor and event stands in the output"),
    head=r"Record:\d+",
    sign="SEL Type",
    options="-p -i -n all",
    finish=finish_row,
)


def parse_block(block: Block) -> Output:
    """Read the records, and tell of each whether it is the last one of its sensor and event; the oldest stands first.

    So the end of a list, as `tail` leaves it, can be judged.
    """
    read = list(_FORM.parse(block))
    records = [item for item in read if isinstance(item, Row)]
    last = {_find_sensor(row): number for number, row in enumerate(records)}
    begun = Counter(_find_sensor(row) for row in records if row.values["is_asserted"])
    for number, row in enumerate(records):
        row.values |= {
            "is_last": last[_find_sensor(row)] == number,
            "sel_begun": begun[_find_sensor(row)],
        }
    yield from read


def _find_sensor(row: Row) -> tuple[object, object]:
    return row.values["sensor_number"], row.values["sel_event"]


PARSER = replace(_FORM, parse=parse_block)
