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
# What a record says of itself, worst first: the words of the IPMI specification for a state, for a threshold that is
# passed outwards, and for any other fault.
_GRAVITY = tuple(
    (word, re.compile(form, re.IGNORECASE))
    for word, form in (
        (
            "fatal",
            r"\b(?:transition to|upper(?= \S+ going high)|lower(?= \S+ going low)) non-?recoverable\b",
        ),
        (
            "critical",
            r"\b(?:transition to|upper(?= \S+ going high)|lower(?= \S+ going low)) critical\b",
        ),
        (
            "non-critical",
            r"\b(?:transition to|upper(?= \S+ going high)|lower(?= \S+ going low)) non-?critical\b",
        ),
        ("fatal", r"\bfatal\b"),
        (
            "fault",
            r"\b(?:fail(?:ed|ure)?|fault|uncorrectable|unrecoverable|error|(?:redundancy|input) lost|overtemperature"
            r"|transition to degraded)\b",
        ),
    )
)
_FATAL_TYPE = re.compile(r"\bfatal|non-?recoverable", re.IGNORECASE)


def finish_row(row: Row) -> None:
    """Part a message into what it says and whether it began or ended."""
    found = _MESSAGE.match(str(row.values["sel_message"] or ""))
    row.values["is_asserted"] = found["way"] == "Assert" if found else None
    row.values["sel_event"] = found["what"].strip() if found else None
    row.values["sel_gravity"] = find_gravity(row) if found else None


def find_gravity(row: Row) -> str | None:
    """Return how grave a record calls its event; None where it does not."""
    event = str(row.values["sel_event"])
    if _FATAL_TYPE.search(str(row.values["sel_event_type"] or "")):
        return "fatal"
    return next((word for word, form in _GRAVITY if form.search(event)), None)


_FORM = get_blocks(
    "ipmi_sel",
    "hardware ipmi sel list",
    "esxi.ipmi_sel",
    "Records of the management controller (IPMI system event log), one row a record.",
    Field("Record Id", "sel_record", "int", "number of the record"),
    Field(
        "When", "sel_time", "time", "when, by the clock of the controller, which need not be UTC"
    ),
    Field("Event Type", "sel_event_type", "str", "7 (Fatal/NonRecoverable), 111 (Unknown), …"),
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
    Made(
        "sel_gravity",
        "str",
        "how grave the record calls it: fatal, critical, non-critical; fault where a word alone says trouble",
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
