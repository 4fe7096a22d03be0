"""`esxcli network vswitch standard [portgroup] policy failover get`: how uplinks share and fail over.

The text does not name its switch or port group: they come from the command. A port group's
answer has further keys saying whether it overrides the switch.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output, without_subject
from analyzer.artefacts.tables import Block, Record, Value
from analyzer.forms import record_parser

from ._switches import TEAMING, make_row, split_names

# printed by `get` (srcport, srcmac) and taken by `set` (portid, mac): one meaning each
LOAD_BALANCING = {
    "srcport": "portid",
    "portid": "portid",
    "srcmac": "mac",
    "mac": "mac",
    "iphash": "iphash",
    "explicit": "explicit",
}


def read_record(block: Block, record: Record) -> Output:
    """Yield a policy; the command names the first one alone."""
    if record.again:
        yield from without_subject(record, PARSER.name, block)
        return
    cells = {name.lower(): str(cell) for name, cell in record.values.items() if cell}
    active = split_names(cells.get("active_uplinks"))
    standby = split_names(cells.get("standby_uplinks"))
    values: dict[str, Value] = {
        "switch": block.params.get("switch"),
        "portgroup": block.params.get("portgroup"),
        "failure_detection": cells.get("failure_detection"),
        "load_balancing": LOAD_BALANCING.get(cells.get("load_balancing", "")),
        "active_uplinks": ",".join(active) or None,
        "standby_uplinks": ",".join(standby) or None,
        "n_uplinks": len(active) + len(standby) if "has_adapters" in cells else None,
    }
    for name in ("notify_switches", "failback"):
        if name in cells:
            values[name] = cells[name] == "true"
        else:
            values[name] = None
    yield make_row(TEAMING, block, record.line, values)


_GET = r"\b(?:esxcli|localcli)\s+network\s+vswitch\s+standard\s+"
_SWITCH = _GET + r"policy\s+failover\s+get\s+(?:-v\s*|--vswitch-name[= ])"
_GROUP = _GET + r"portgroup\s+policy\s+failover\s+get\s+(?:-p\s*|--portgroup-name[= ])"

PARSER = record_parser(
    "teaming",
    (TEAMING,),
    read_record,
    node="esxi",
    commands=(
        _SWITCH + r"(?P<quote>[\"'])(?P<switch>.+?)(?P=quote)",
        _SWITCH + r"(?P<switch>\S+)",
        _GROUP + r"(?P<quote>[\"'])(?P<portgroup>.+?)(?P=quote)",
        _GROUP + r"(?P<portgroup>\S+)",
    ),
    shape=r"^\s*Load Balancing: (?:srcport|portid|srcmac|mac|iphash|explicit)\s*$",
    body=(
        r"^\s*(?:Load Balancing|Network Failure Detection|Notify Switches|Failback"
        r"|(?:Active|Standby|Unused) Adapters|Override [\w ]+):.*$"
    ),
)
