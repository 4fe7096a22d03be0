"""`show service highavailability` on an NSX Edge or the control VM of a logical router: which unit is active.

Source: NSX Edge CLI (NSX for vSphere), as captured on a control VM of 6.1. A prompt names the unit (`edge-1-0`).
"""

from analyzer.forms import recorded
from analyzer.parsing import Output
from analyzer.tables import Block, Column, KeyColumn, Record, Row, Table, Value

from ._nsx import answers

TABLE = Table.of(
    "nsx.edge_ha",
    "High availability of an NSX Edge, as one of its units sees it.",
    "show service highavailability (on the Edge)",
    Column("ha_status", "str", "running, disabled, …, as printed"),
    KeyColumn("unit", "str", "name of this unit: edge-1-0"),
    Column("unit_state", "str", "active or standby, as printed"),
    Column("ha_interface", "str", "interfaces of the heartbeat: vNic_0"),
    Column("dead_s", "int", "time after which a silent peer counts as dead", "s"),
    Column("peer", "str", "name of the other unit"),
    Column("peer_health", "str", "good, …, as printed"),
    Column("own_health", "str", "good, …, as printed"),
    Column("file_sync", "str", "running, …, as printed"),
    Column("connection_sync", "str", "running, …, as printed"),
    ask="`show service highavailability` on both units of the Edge",
)


def _rows(block: Block, record: Record) -> Output:
    values: dict[str, Value] = {}
    for column in TABLE.columns:
        text = str(record.values.get(column.name.upper(), "")).strip() or None
        values[column.name] = int(text) if text and column.kind == "int" else text
    lines = {name.lower(): line for name, line in record.lines.items()}
    yield Row(TABLE, values, block, record.line, lines)


PARSER = recorded(
    "nsx_edge_ha",
    (TABLE,),
    _rows,
    node="nsx_edge",
    commands=(r"^\s*show service highavailability\b",),
    shape=r"^\s*Highavailability Status:\s",
    body=(
        r"^\s*(?:Highavailability [A-Z]|Unit Poll Policy:|(?:Frequency|Deadtime|Stateful Sync-up Time):"
        r"|(?:Peer|This) host \[|(?:File|Connection)-Sync\s|xmit\s+xerr|\d+\s+\d+\s+\d+\s+\d+\s*$|error: |%)"
    ),
    answers=answers,
)
