"""`net-vdl2 -l` and `esxcli network vswitch dvs vmware vxlan list`: VXLAN of a host, or Geneve of a host of NSX-T.

Sources: both commands on a host, `dump-vxlan-info.py.txt` of a vm-support bundle, the central CLI's `show
logical-switch host … verbose`; for NSX-T a capture of a host of 3.2 in a public post. In the list three levels hang
below one another: distributed switch, its tunnel interfaces, its networks; the heading of each tells which it is, and
whether the host is one of NSX-T. What `net-vdl2 -M` printed of single networks is in the dump below a line
`Executing::` (`net_vdl2_entries`). A controller 0.0.0.0 of a network without control plane is no fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from analyzer.artefacts.parsing import Output, Parser, fault_at, read_rows
from analyzer.artefacts.signs import lies_below
from analyzer.artefacts.tables import IP_FORM, MAC_FORM, Block, Column, Table

from ..common import _host_overlay as nsxt
from ..common._nsx import Cells, make_row, name_refusals
from ..common._xml import Element
from .net_vdl2_entries import COUNTS, read_executed

_SOURCE = "net-vdl2 -l; commands/dump-vxlan-info.py.txt"
_ASK = "`net-vdl2 -l`"
DVS = nsxt.DVS

STATE = Table.of(
    "nsx.vxlan_state",
    "VXLAN of a host as a whole.",
    _SOURCE,
    Column("out_of_sync", "bool", "the host is out of step with the controllers"),
    Column("udp_port", "int", "UDP port of VXLAN"),
    ask=_ASK,
)

VDS = Table.of(
    "nsx.vxlan_vds",
    "Distributed switches of a host that carry VXLAN.",
    f"{_SOURCE}; esxcli network vswitch dvs vmware vxlan list",
    DVS,
    Column("vds_id", "str", "UUID of the switch, as printed"),
    Column(
        "mtu", "int", "MTU; VXLAN needs at least 1600", "bytes", sign=lies_below(1600, weight=4)
    ),
    Column("segment", "str", "network of the VTEPs", form=IP_FORM),
    Column("gateway_ip", "str", "gateway of that network", form=IP_FORM),
    Column("gateway_mac", "str", "MAC address of the gateway", form=MAC_FORM),
    Column("networks", "int", "logical switches on this host", "networks"),
    Column("vmknics", "int", "VXLAN interfaces", "interfaces"),
    ask="`net-vdl2 -l`, or `esxcli network vswitch dvs vmware vxlan list`",
    key=("dvs",),
)

VMKNIC = Table.of(
    "nsx.vxlan_vmknic",
    "VXLAN interfaces (VTEPs) of a host.",
    _SOURCE,
    DVS,
    Column("vmknic", "str", "VMkernel interface: vmk3"),
    Column("vds_port", "int", "port of the distributed switch"),
    Column("port_id", "int", "port of the virtual switch"),
    Column("endpoint", "int", "endpoint ID"),
    Column("vlan", "int", "VLAN of the interface"),
    Column("ip", "str", "address of the VTEP; none or 0.0.0.0 where it got none", form=IP_FORM),
    Column("mask", "str", "netmask", form=IP_FORM),
    Column("segment", "str", "network of the VTEP", form=IP_FORM),
    ask=_ASK,
    key=("dvs", "vmknic"),
)

NETWORK = Table.of(
    "nsx.vxlan_network",
    "Logical switches on a host and the controller of each.",
    _SOURCE,
    DVS,
    Column("vni", "int", "VXLAN network identifier"),
    Column("multicast", "str", "multicast address as printed; N/A with its reason"),
    *nsxt.SERVED,
    ask=_ASK,
    key=("dvs", "vni"),
)

# Heading of a level -> its table and the column the heading fills; keys of each level -> their columns.
_LEVELS = {
    "VXLAN Global States": (STATE, ""),
    "VXLAN VDS": (VDS, "dvs"),
    "VXLAN vmknic": (VMKNIC, "vmknic"),
    "VXLAN network": (NETWORK, "vni"),
    **nsxt.LEVELS,
}
_KEYS = {
    **nsxt.KEYS,
    STATE.name: {"Control plane Out-Of-Sync": "out_of_sync", "UDP port": "udp_port"},
    VDS.name: {
        "VDS ID": "vds_id", "MTU": "mtu", "Segment ID": "segment", "Gateway IP": "gateway_ip",
        "Gateway MAC": "gateway_mac", "Vmknic count": "vmknics",
    },
    VMKNIC.name: {
        "VDS port ID": "vds_port", "Switch port ID": "port_id", "Endpoint ID": "endpoint", "VLAN ID": "vlan",
        "IP": "ip", "Netmask": "mask", "Segment ID": "segment",
    },
    NETWORK.name: {
        "Multicast IP": "multicast", "Control plane": "control_plane", "Controller": "controller_ip",
        "MAC entry count": "mac_entries", "ARP entry count": "arp_entries", "Port count": "ports",
    },
}  # fmt: skip
_NSXT = tuple(nsxt.KEYS)
_NSXV = tuple(name for name in _KEYS if name not in nsxt.KEYS)
_SWITCHES = (VDS, nsxt.SWITCH)
_OUTER = (STATE, nsxt.OVERLAY, *_SWITCHES)
_HEADS = ("VXLAN ", "Global States:", "NSX VDS:")
_LINE = re.compile(r"\s*(?P<key>[A-Za-z][A-Za-z -]{1,40}):(?:\s+(?P<value>\S.*?))?\s*$")
_CONTROLLER = re.compile(r"(?P<ip>\S+) \((?P<state>[a-z]+)\)$")
_LISTED = re.compile(r"\s*VDS ID\s+VDS Name\s")


class _Record(NamedTuple):
    """A switch, an interface or a network of the list, at the line of its heading."""

    table: Table
    line: int
    cells: dict[str, Element | str | None]


def parse_block(block: Block) -> Output:
    """Read the list by its headings, or the table of switches by its columns."""
    if any(_LISTED.match(line) for line in block.lines):
        return name_refusals(read_rows(VDS, PARSER.name, block))
    return name_refusals(chain(_read_levels(block), read_executed(block, PARSER.name)))


def _read_levels(block: Block) -> Output:
    records: list[_Record] = []
    switch: dict[str, Element | str | None] = {}
    for number, line in _list_own_lines(block):
        match = _LINE.match(line)
        if match is None:
            yield fault_at(block, number, PARSER.name, "no line of the list of VXLAN switches")
            continue
        key = match["key"].strip()
        value = Element(match["key"], number, [match["value"] or ""])
        if key in _LEVELS:
            table, column = _LEVELS[key]
            cells: dict[str, Element | str | None] = {column: value} if column else {}
            if table in _OUTER:
                switch = cells if table in _SWITCHES else {}
            else:
                cells["dvs"] = switch.get("dvs")
            records.append(_Record(table, number, cells))
        elif key.lower() == "network count" and switch:
            switch["networks"] = value  # it follows the interfaces, and speaks of the switch
        elif why := _find_misplacement(records[-1] if records else None, key):
            yield fault_at(block, number, PARSER.name, why)
        else:
            record = records[-1]
            record.cells.update(_read_cells(record.table, key, value))
    for record in records:
        element = Element(record.table.name, record.line)
        yield from make_row(record.table, block, element, record.cells)


def _find_misplacement(record: _Record | None, key: str) -> str:
    """Return why a line cannot belong to the record above it, "" when it can; a heading may have been lost."""
    if record is None:
        return "before the first heading of the list"
    name = record.table.name
    column = _KEYS[name].get(key)
    # A label of the other product is one we do not name
    theirs = _NSXT if name in nsxt.KEYS else _NSXV
    if column is None and any(key in _KEYS[other] for other in theirs):
        return "the heading above it is of another level"
    return "a second value of the record" if column and column in record.cells else ""


def _read_cells(table: Table, key: str, value: Element) -> Cells:
    """Return the cells of a line; other keys are data we do not name."""
    column = _KEYS[table.name].get(key)
    if column == "controller_ip" and (match := _CONTROLLER.match(value.text)):
        ip, state = (Element(key, value.line, [match[name]]) for name in ("ip", "state"))
        return {"controller_ip": ip, "controller_state": state}
    return {column: value} if column else {}


def _list_own_lines(block: Block) -> Iterator[tuple[int, str]]:
    """Yield the lines of the list; what `net-vdl2 -M` printed in between is read elsewhere, up to the next switch."""
    skipped = False
    for number, line in enumerate(block.lines, block.first_line):
        text = line.lstrip()
        if text.startswith("Executing::"):
            skipped = "net-vdl2 -M" in line
        elif text.startswith(_HEADS):
            skipped = False
            yield number, line
        elif not skipped and text.strip("- \t"):
            yield number, line


PARSER = Parser(
    name="net_vdl2",
    tables=(STATE, VDS, VMKNIC, NETWORK, nsxt.OVERLAY, nsxt.SWITCH, nsxt.TEP, nsxt.SEGMENT, COUNTS),
    parse=parse_block,
    node="esxi",
    files=(r"(?:^|/)(?:dump-vxlan-info\.py|net-vdl2_-l[^/]*)\.txt$",),
    commands=(
        r"\bnet-vdl2\s+(?:-l|--list)\b",
        r"\bdump-vxlan-info\.py\b",
        r"\b(?:esxcli|localcli)\s+network\s+vswitch\s+dvs\s+vmware\s+vxlan\s+list\b",
        r"^\s*show logical-switch host \S+ verbose\b",
    ),
    shape=r"^\s*(?:(?:VXLAN )?Global States:|(?:VXLAN|NSX) VDS:\s|VDS ID\s+VDS Name\s+MTU\s+Segment ID\s+Gateway IP\b)",
    body=(
        r"^\s*(?:VXLAN (?:VDS|vmknic|network):|[A-Z][A-Za-z -]{1,40}:(?:\s|$)|VDS ID\s|-{3,}|Executing::"
        r"|\w{2}(?:[ -]\w{2}){15}\s|error: )"
    ),
)
