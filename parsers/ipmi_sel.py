"""`esxcli hardware ipmi sel list`: what the management controller of the machine logged: memory, power, fans, drives.

Labels and messages (`Assert + Memory Uncorrectable ECC`) as published outputs and
Broadcom article 336323 show them. The clock is that of the controller, which is often local time.
"""

from __future__ import annotations

import re

from analyzer.forms import Field, Made, get_blocks
from analyzer.tables import Row

_MESSAGE = re.compile(r"(?P<way>Assert|Deassert) \+ (?P<what>.+)")


def _finish(row: Row) -> None:
    """Part a message into what it says and whether it began or ended."""
    found = _MESSAGE.match(str(row.values["sel_message"] or ""))
    row.values["is_asserted"] = found["way"] == "Assert" if found else None
    row.values["sel_event"] = found["what"].strip() if found else None


PARSER = get_blocks(
    "ipmi_sel",
    "hardware ipmi sel list",
    "esxi.ipmi_sel",
    "Records of the management controller (IPMI system event log), one row a record.",
    Field("Record Id", "sel_record", "int", "number of the record"),
    Field("When", "sel_time", "time", "when, by the clock of the controller, which need not be UTC"),
    Field("SEL Type", "sel_type", "str", "2 (System Event), or a form of the vendor"),
    Field("Message", "sel_message", "str", "what happened, as printed"),
    Field("Sensor Number", "sensor_number", "int", "sensor that reported it"),
    Made("is_asserted", "bool", "it began: Assert; Deassert is its end"),
    Made("sel_event", "str", "the message without Assert or Deassert: Memory Uncorrectable ECC, …"),
    head=r"Record:\d+",
    sign="SEL Type",
    options="-p -i -n all",
    finish=_finish,
)
