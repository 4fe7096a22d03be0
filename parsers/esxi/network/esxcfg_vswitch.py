"""`esxcfg-vswitch -l`: switches, port groups, distributed ports and their clients.

Source: `commands/esxcfg-vswitch_-l.txt` or the command. Long names push the columns, names hold blanks,
copies from a blog lose the indents. A client is `VM1.eth0` from 5.x on and `VM1 ethernet0` in 4.x.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.tables import Block, Record, Value
from analyzer.forms import record_parser

from ._switches import (
    DVPORTS,
    PORTGROUPS,
    SWITCHES,
    find_vm,
    make_row,
    split_names,
)


def read_record(block: Block, record: Record) -> Output:
    """Yield a switch, a port group or a distributed port."""
    cells = {name.lower(): str(cell) for name, cell in record.values.items() if cell}
    values: dict[str, Value] = {"switch": cells.get("switch")}
    if "dvport" in cells:
        client = cells.get("client_name")
        vm, vnic = find_vm(client) if client else (None, None)
        values["client_name"] = client
        values["client_vm"] = vm
        values["vnic"] = vnic
        values["dvport"] = cells["dvport"]
        values["in_use"] = cells["in_use"] != "0"
        yield make_row(DVPORTS, block, record.lines["DVPORT"], values)
        return
    uplinks = split_names(cells.get("uplinks"))
    values["uplinks"] = ",".join(uplinks) or None
    values["n_uplinks"] = len(uplinks)
    values["used_ports"] = int(cells["used_ports"])
    if "portgroup" in cells:
        values["portgroup"] = cells["portgroup"]
        values["vlan_id"] = int(cells["vlan_id"])
        yield make_row(PORTGROUPS, block, record.lines["PORTGROUP"], values)
        return
    for name in ("num_ports", "configured_ports", "mtu"):
        values[name] = int(cells[name])
    if "distributed" in cells:  # grep took the heading otherwise
        values["distributed"] = cells["distributed"] == "DVS"
    yield make_row(SWITCHES, block, record.lines["SWITCH"], values)


PARSER = record_parser(
    "esxcfg_vswitch",
    (SWITCHES, PORTGROUPS, DVPORTS),
    read_record,
    node="esxi",
    files=(r"(?:^|/)commands/esxcfg-vswitch_-l\.txt$",),
    commands=(r"\besxcfg-vswitch\s+-l\b",),
    shape=r"^\s*(?:Switch|DVS) Name\s+Num Ports\s+Used Ports\s+Configured Ports\s+MTU\s+Uplinks\s*$",
    body=(
        r"^\s*(?:(?:Switch|DVS) Name\s.*|PortGroup Name\s.*|DVPort ID\s.*"
        r"|\S.*?(?:\s{1,90}\d+){4}(?:\s+\S+)?|\S.*?(?:\s{1,90}\d+){2}(?:\s+[A-Za-z]\S*)?|\S+\s+\d(?:\s+\S.*)?)\s*$"
    ),
)
