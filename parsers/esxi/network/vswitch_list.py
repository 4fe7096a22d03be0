"""`esxcli network vswitch standard list` and `… dvs vmware list`: switches as blocks of keys.

Says more than `esxcfg-vswitch`: whether beacons are sent and who requires them, and the port
group of each distributed port. Of port groups it prints the names alone, by comma and blank.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from analyzer.artefacts.parsing import Output, Parser, fault_at, run_template, without_subject
from analyzer.artefacts.tables import Block, Fault, Record, Value
from analyzer.forms.form import place_lines

from ._switches import (
    DVPORTS,
    PORTGROUPS,
    SWITCHES,
    find_vm,
    make_row,
    split_names,
)


def parse_block(block: Block) -> Output:
    """Read the blocks: one row a switch, one a port group, and one a distributed port."""
    yield from _list_strange_lines(block)
    named = 0  # line of the name that has its switch already: what comes below belongs to one without a name
    whose = True
    for record in run_template(PARSER.name, block):
        if isinstance(record, Fault):
            yield record
            continue
        line = record.lines.get("SWITCH", 0)
        if record.values["NUM_PORTS"] or record.values["PORTGROUPS"]:
            whose, named = line > named, line
        if not whose:
            record.values["SWITCH"] = ""
            own = {name: number for name, number in record.lines.items() if name != "SWITCH"}
            yield from without_subject(replace(record, lines=own), PARSER.name, block)
            continue
        if record.values["NUM_PORTS"]:
            switch = make_row(SWITCHES, block, line, _make_switch_row(record))
            switch.lines = {name.lower(): number for name, number in record.lines.items()}
            switch.lines["n_uplinks"] = record.lines.get(
                "UPLINKS", line
            )  # a switch without any prints the label alone
            yield switch
        for name in str(record.values["PORTGROUPS"]).split(", "):
            if name.strip():  # their VLANs are in `esxcfg-vswitch -l`
                group: dict[str, Value] = {
                    "switch": str(record.values["SWITCH"]),
                    "portgroup": name.strip(),
                }
                yield make_row(PORTGROUPS, block, record.lines["PORTGROUPS"], group)
        if record.values["DVPORT"]:
            client = str(record.values["CLIENT_NAME"]) or None
            vm, vnic = find_vm(client) if client else (None, None)
            port: dict[str, Value] = {
                "switch": str(record.values["SWITCH"]) or None,
                "dvport": str(record.values["DVPORT"]),
                "dvportgroup": str(record.values["DVPORTGROUP"]) or None,
                "in_use": str(record.values["IN_USE"]) == "true",
                "client_name": client,
                "client_vm": vm,
                "vnic": vnic,
            }
            yield place_lines(make_row(DVPORTS, block, record.lines["DVPORT"], port), record)


def _list_strange_lines(block: Block) -> Iterator[Fault]:
    """Yield the lines without a key that do not name the switch of the lines below them."""
    lines = [
        (line, number) for number, line in enumerate(block.lines, block.first_line) if line.strip()
    ]
    for (line, number), (below, _) in pairwise([*lines, ("", 0)]):
        if below.lstrip().startswith("Name:"):
            named = below.partition(":")[2].strip()
        else:
            named = None
        if ":" not in line and line.strip() != named:
            yield fault_at(
                block, number, PARSER.name, "neither a key nor the name of the next switch"
            )


def _make_switch_row(record: Record) -> dict[str, Value]:
    cells = {name.lower(): str(cell) for name, cell in record.values.items() if cell}
    uplinks = split_names(cells.get("uplinks"))
    values: dict[str, Value] = {"switch": cells["switch"], "distributed": "vds_id" in cells}
    values |= {"uplinks": ",".join(uplinks) or None, "n_uplinks": len(uplinks)}
    for name in ("num_ports", "used_ports", "configured_ports", "mtu"):
        if name in cells:
            values[name] = int(cells[name])
        else:
            values[name] = None
    beacon = cells.get("beacon_enabled")
    return values | {
        "cdp_status": cells.get("cdp_status"),
        "beacon_enabled": beacon == "true" if beacon else None,
        "beacon_required_by": cells.get("beacon_required_by"),
    }


PARSER = Parser(
    name="vswitch_list",
    tables=(SWITCHES, PORTGROUPS, DVPORTS),
    parse=parse_block,
    node="esxi",
    commands=(r"\b(?:esxcli|localcli)\s+network\s+vswitch\s+(?:standard|dvs\s+vmware)\s+list\b",),
    # the name of a switch is alone on the line before; with the command known it is read too
    # net-vdl2 prints a VDS ID as well, but no class
    shape=r"^\s*Class: (?:cswitch|etherswitch)\s*$",
    lead=r"^\s*(?:Name|VDS ID):\s",
    body=(
        r"^\s*(?:(?:Name|VDS ID|Class|Num Ports|Used Ports|Configured Ports|MTU|CDP Status|Beacon [A-Z][\w ]*"
        r"|Uplinks|Portgroups|VMware Branded|DVPort|Client|DVPortgroup ID|In Use|Port ID):.*|\S[^:]*)$"
    ),
)
