"""`show service highavailability` on an NSX Edge or the control VM of a logical router: which unit is active.

Source: NSX Edge CLI (NSX for vSphere), as captured on a control VM of 6.1; the later form, with numbers for the units
and sessions between their interfaces, as in VMware's own published test code. A prompt names the unit (`edge-1-0`).
"""

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import Block, Column, KeyColumn, Record, Row, Table, Value
from analyzer.forms import record_parser

from ..common._nsx import name_refusals

TABLE = Table.of(
    "nsx.edge_ha",
    "High availability of an NSX Edge, as one of its units sees it.",
    "show service highavailability (on the Edge)",
    Column(
        "ha_status",
        "str",
        "running, disabled, …, as printed",
        sign=says_good("enabled", "active", "standby", "running"),
    ),
    KeyColumn("unit", "str", "name of this unit: edge-1-0"),
    Column("unit_number", "int", "number of this unit: 0 or 1; releases from 6.2 on"),
    Column("unit_state", "str", "active or standby; Up or Down from 6.2 on, as printed"),
    Column("ha_admin_state", "str", "Up, Down, as printed; from 6.2 on"),
    Column("ha_interface", "str", "interfaces of the heartbeat: vNic_0"),
    Column("dead_s", "int", "time after which a silent peer counts as dead", "s"),
    Column("peer", "str", "name of the other unit, its number from 6.2 on"),
    Column(
        "peer_health",
        "str",
        "good, …; Up or Down from 6.2 on, as printed",
        sign=says_good("good", "up", "ok"),
    ),
    Column(
        "own_health",
        "str",
        "good, …; Up or Down from 6.2 on, as printed",
        sign=says_good("good", "up", "ok"),
    ),
    Column(
        "sessions_down",
        "int",
        "sessions between interfaces of the units that are not up; from 6.2 on",
        "sessions",
    ),
    Column("file_sync", "str", "running, …, as printed"),
    Column("connection_sync", "str", "running, …, as printed"),
    ask="`show service highavailability` on both units of the Edge",
)


def read_record(block: Block, record: Record) -> Output:
    """Make the row of an edge, with the number of its sessions that are down."""
    values: dict[str, Value] = {}
    for column in TABLE.columns:
        text = str(record.values.get(column.name.upper(), "")).strip() or None
        if text and column.kind == "int":
            values[column.name] = int(text)
        else:
            values[column.name] = text
    if sessions := record.values.get("SESSION"):
        values["sessions_down"] = sum(state != "Up" for state in sessions)
    lines = {name.lower(): line for name, line in record.lines.items()}
    yield Row(TABLE, values, block, record.line, lines)


PARSER = record_parser(
    "nsx_edge_ha",
    (TABLE,),
    read_record,
    node="nsx_edge",
    commands=(r"^\s*show (?:service highavailability|edge-cluster status)\b",),
    shape=r"^\s*Highavailability Status:\s",
    body=(
        r"^\s*(?:Highavailability [A-Z]|Unit Poll Policy:|(?:Frequency|Deadtime|Stateful Sync-up Time):"
        r"|(?:Peer|This) (?:host|unit) \[|(?:File|Connection)-Sync\s|xmit\s+xerr|\d+\s+\d+\s+\d+\s+\d+\s*$|error: |%"
        r"|(?:Routing|Healthcheck) (?:Config |Status )?(?:Channel|Status):|Active: \d|Session via \w+: )"
    ),
    answers=name_refusals,
)
