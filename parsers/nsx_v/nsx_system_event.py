"""System events and alarms of an NSX Manager, as its REST API gives them.

Source: `pagedSystemEventList` and `systemAlarm` of the API guide (NSX for vSphere 6.4). Stamps are milliseconds since
1970. An answer of events is one page of several; when it says that there are more, that is named.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.signs import names_entry
from analyzer.artefacts.tables import Block, Column, KeyColumn, Table

from ..common._nsx import XML_BODY, convert_stamp, make_row, xml_shape
from ..common._xml import read_xml

TABLE = Table.of(
    "nsx.system_event",
    "System events and alarms of the NSX Manager.",
    "GET /api/2.0/systemevent; GET /api/2.0/services/systemalarms",
    KeyColumn("event_number", "int", "number of the event"),
    Column("time", "time", "when it happened", "UTC"),
    Column(
        "severity",
        "str",
        "as printed: Critical, High, Major, Medium, Low, Informational",
    ),
    Column(
        "code",
        "int",
        "event code: 340004, 300006, …",
        sign=names_entry("system event", of="message", severity="severity"),
    ),
    Column("source", "str", "event source"),
    Column("module", "str", "module"),
    Column("message", "str", "the event in words"),
    Column("object_id", "str", "object concerned"),
    Column("object_name", "str", "its name"),
    Column("reporter", "str", "who reported it"),
    Column("is_alarm", "bool", "an alarm: it stands until it is resolved"),
    Column("resolution_attempted", "bool", "of an alarm: somebody tried to resolve it"),
    ask="`GET /api/2.0/systemevent`",
)

_EVENTS = ("systemEvent", "systemAlarm")


def parse_block(block: Block) -> Output:
    """Read the events and alarms, one row each."""
    root, faults = read_xml(block, PARSER.name)
    for element in root.find(*_EVENTS):
        cells = {
            "event_number": element.child("eventId"),
            "time": convert_stamp(element.child("timestamp")),
            "severity": element.child("severity"),
            "code": element.child("eventCode") or element.child("alarmCode"),
            "source": element.child("eventSource") or element.child("alarmSource"),
            "module": element.child("module"),
            "message": element.child("message"),
            "object_id": element.child("objectId"),
            "object_name": element.child("displayName"),
            "reporter": element.child("reporterName"),
            "is_alarm": "true" if element.tag == "systemAlarm" else "false",
            "resolution_attempted": element.child("resolutionAttempted"),
        }
        yield from make_row(TABLE, block, element, cells)
    held = sum(1 for _ in root.find(*_EVENTS))
    for paging in root.find("pagingInfo"):
        total = paging.child("totalCount")
        if (
            total is not None
            and total.text.strip().isdecimal()
            and int(total.text.strip()[:18]) > held
        ):
            why = f"the answer holds {held} of {total.text.strip()[:18]} events: the others are on further pages"
            yield fault_at(block, total.line, PARSER.name, why)
    yield from faults


PARSER = Parser(
    name="nsx_system_event",
    tables=(TABLE,),
    parse=parse_block,
    node="nsx_manager",
    commands=(r"/api/2\.0/systemevent\b", r"/api/2\.0/services/(?:systemalarms|alarms)\b"),
    shape=xml_shape(
        "pagedSystemEventList", "pagedSystemAlarmList", "systemEvents?", "systemAlarms?"
    ),
    body=XML_BODY,
)
