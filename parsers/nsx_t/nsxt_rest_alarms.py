"""`GET /api/v1/alarms` of NSX-T: the alarms that the managers keep, open and resolved.

Source: the schema Alarm of the REST API (3.0 to 4.2). Stamps are milliseconds since 1970.
"""

from __future__ import annotations

from datetime import UTC, datetime

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import names_entry
from analyzer.artefacts.tables import Block, Column, Fault, KeyColumn, Table

from ..common._nsxt import MANAGER, typed_row
from ._rest_json import BODY, LEAD, answer_shape, pick_columns, read_objects

TABLE = Table.of(
    "nsxt.alarm",
    "Alarms that the managers of NSX-T keep.",
    "GET /api/v1/alarms",
    KeyColumn("alarm_id", "str", "id of the alarm"),
    Column(
        "event_type",
        "str",
        "eventType of an alarm: certificate_expired, edge_disk_usage_very_high, …",
        sign=names_entry("alarm", of="alarm_summary", severity="alarm_severity").except_where(
            "alarm_status", "resolved", "suppressed"
        ),
    ),
    Column("feature", "str", "what it belongs to: certificates, edge_health, …"),
    Column(
        "alarm_status",
        "str",
        "OPEN, ACKNOWLEDGED, SUPPRESSED, RESOLVED",
    ),
    Column("alarm_severity", "str", "CRITICAL, HIGH, MEDIUM, LOW"),
    Column("alarm_summary", "str", "what it says of the object"),
    Column("node_name", "str", "node it was seen on"),
    Column("entity_id", "str", "object concerned; the node where none is named"),
    Column("reported", "time", "when it was last reported", "UTC"),
)
_KEYS = {
    "id": "alarm_id", "event_type": "event_type", "feature_name": "feature", "status": "alarm_status",
    "severity": "alarm_severity", "description": "alarm_summary", "node_display_name": "node_name",
    "entity_id": "entity_id", "last_reported_time": "reported",
}  # fmt: skip


def parse_block(block: Block) -> Output:
    """Read the alarms, one row each."""
    for item in read_objects(block, PARSER.name):
        if isinstance(item, Fault):
            yield item
            continue
        own = item[1]
        if "event_type" not in own or "status" not in own:
            continue
        cells = pick_columns(own, _KEYS)
        if "summary" in own:
            cells.setdefault("alarm_summary", own["summary"])
        if "node_id" in own:
            cells.setdefault("node_name", own["node_id"])
        cells.setdefault("entity_id", cells.get("node_name", ("the node", own["status"][1])))
        if "reported" in cells:
            text, line = cells["reported"]
            if (
                text.isdigit() and len(text) <= 14
            ):  # milliseconds; other text is a fault of its cell
                moment = datetime.fromtimestamp(int(text) / 1000, UTC)
                cells["reported"] = (moment.isoformat(timespec="milliseconds"), line)
        yield from typed_row(TABLE, block, PARSER.name, own["status"][1], cells)


PARSER = Parser(
    name="nsxt_rest_alarms",
    tables=(TABLE,),
    parse=parse_block,
    node=MANAGER,
    commands=(r"/api/v1/alarms\b",),
    shape=answer_shape("event_type_display_name", "feature_display_name"),
    body=BODY,
    lead=LEAD,
)
