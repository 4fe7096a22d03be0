"""`esxcli network vswitch standard list` and `… dvs vmware list`: switches as blocks of keys.

Says more than `esxcfg-vswitch`: whether beacons are sent and who requires them, and the port
group of each distributed port.
"""

from __future__ import annotations

from analyzer.parsing import Output, Parser, Record, run_template
from analyzer.tables import Block, Fault, Value

from ._switches import DVPORTS, SWITCHES, names, row, vm_of


def parse(block: Block) -> Output:
    """Read the blocks: one row a switch, and one a distributed port."""
    seen: set[str] = set()
    for record in run_template(PARSER.name, block):
        if isinstance(record, Fault):
            yield record
            continue
        switch = str(record.values["SWITCH"])
        if switch and switch not in seen and record.values["NUM_PORTS"]:
            seen.add(switch)
            yield row(SWITCHES, block, record.lines.get("SWITCH", record.line), _switch(record))
        if record.values["DVPORT"]:
            yield row(DVPORTS, block, record.lines["DVPORT"], _dvport(record))


def _switch(record: Record) -> dict[str, Value]:
    cells = {name.lower(): str(cell) for name, cell in record.values.items() if cell}
    uplinks = names(cells.get("uplinks"))
    values: dict[str, Value] = {"switch": cells["switch"], "distributed": "vds_id" in cells}
    values |= {"uplinks": ",".join(uplinks) or None, "n_uplinks": len(uplinks)}
    for name in ("num_ports", "used_ports", "configured_ports", "mtu"):
        values[name] = int(cells[name]) if name in cells else None
    beacon = cells.get("beacon_enabled")
    return values | {
        "beacon_enabled": beacon == "true" if beacon else None,
        "beacon_required_by": cells.get("beacon_required_by"),
    }


def _dvport(record: Record) -> dict[str, Value]:
    client = str(record.values["CLIENT_NAME"]) or None
    vm, vnic = vm_of(client) if client else (None, None)
    return {
        "switch": str(record.values["SWITCH"]) or None,
        "dvport": str(record.values["DVPORT"]),
        "dvportgroup": str(record.values["DVPORTGROUP"]) or None,
        "in_use": str(record.values["IN_USE"]) == "true",
        "client_name": client,
        "client_vm": vm,
        "vnic": vnic,
    }


PARSER = Parser(
    name="vswitch_list",
    tables=(SWITCHES, DVPORTS),
    parse=parse,
    node="esxi",
    commands=(r"\b(?:esxcli|localcli)\s+network\s+vswitch\s+(?:standard|dvs\s+vmware)\s+list\b",),
    # the name of a switch stands alone on the line before; with the command known it is read too
    shape=r"^\s*(?:Class: (?:cswitch|etherswitch)|VDS ID: [0-9a-f]{2} [0-9a-f -]{30,})\s*$",
    body=(
        r"^\s*(?:(?:Name|VDS ID|Class|Num Ports|Used Ports|Configured Ports|MTU|CDP Status|Beacon [A-Z][\w ]*"
        r"|Uplinks|Portgroups|VMware Branded|DVPort|Client|DVPortgroup ID|In Use|Port ID):.*|\S[^:]*)$"
    ),
)
