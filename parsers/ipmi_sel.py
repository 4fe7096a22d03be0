"""`esxcli hardware ipmi sel list`: the event log of the management controller, one row an event.

Source: an output in a public note (ESXi 8) and the data object SystemEventInfo of the vSphere API, which names this
command: the time is that of the controller's clock. In the message `Assert` begins a state and `Deassert` ends it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from analyzer.forms import Field, Key, Made, get_blocks
from analyzer.parsing import Output
from analyzer.tables import Block, Row


def _state(row: Row) -> None:
    word, _, rest = str(row.values["sel_message"] or "").partition(" + ")
    known = word in ("Assert", "Deassert")
    row.values["sel_state"] = word if known else None
    row.values["sel_event"] = (rest if known else row.values["sel_message"]) or None


_FORM = get_blocks(
    "ipmi_sel",
    "hardware ipmi sel list",
    "esxi.ipmi_event",
    "Events that the management controller (BMC, iLO, iDRAC) of the host keeps, one row an event.",
    Key("", "sel_record", "str", "record as printed: Record:19"),
    Field("When", "sel_time", "time", "time by the clock of the controller", "UTC"),
    Field("Event Type", "sel_event_type", "str", "type of the event as printed: 111 (Unknown)"),
    Field("SEL Type", "sel_type", "str", "type of the record as printed: 2 (System Event)"),
    Field("Message", "sel_message", "str", "message as printed"),
    Field("Sensor Number", "sel_sensor", "int", "number of the sensor; 0: none"),
    Made("sel_state", "str", "Assert, Deassert; none for a message without either"),
    Made("sel_event", "str", "message without Assert or Deassert: Memory Uncorrectable ECC"),
    Made("sel_begun", "int", "how often this sensor began this event in the output", "events"),
    Made("sel_last", "bool", "nothing later of this sensor and event stands in the output"),
    head=r"Record:\s*\d+",
    sign="SEL Type",
    options="-p -i -n all",
    finish=_state,
    twin=False,
)


def parse(block: Block) -> Output:
    """Read the events, and tell of each whether it is the last one of its sensor; the oldest stands first."""
    read = list(_FORM.parse(block))
    events = [item for item in read if isinstance(item, Row)]
    last = {_of(row): number for number, row in enumerate(events)}
    begun = Counter(_of(row) for row in events if row.values["sel_state"] == "Assert")
    for number, row in enumerate(events):
        row.values |= {"sel_last": last[_of(row)] == number, "sel_begun": begun[_of(row)]}
    yield from read


def _of(row: Row) -> tuple[object, object]:
    return row.values["sel_sensor"], row.values["sel_event"]


PARSER = replace(_FORM, parse=parse)
