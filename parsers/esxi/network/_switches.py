"""Tables of virtual switches: `esxcfg-vswitch`, esxcli lists and esx.conf fill the same ones."""

from __future__ import annotations

import re

from analyzer.artefacts.signs import NOTHING, says_bad
from analyzer.artefacts.tables import Block, Column, Row, Table, Value

_SWITCH = Column("switch", "str", "virtual switch by the name the host gives it")

SWITCHES = Table.of(
    "esxi.vswitch",
    "Virtual switches of the host, standard and distributed, and their uplinks.",
    "esxcfg-vswitch -l; esxcli network vswitch standard list; commands/esxcfg-vswitch_-l.txt",
    _SWITCH,
    Column(
        "distributed", "bool", "a distributed switch; its portset has another name (DvsPortset-N)"
    ),
    Column("num_ports", "int", "ports there are"),
    Column("used_ports", "int", "ports in use"),
    Column("configured_ports", "int", "ports as configured"),
    Column("mtu", "int", "largest frame payload", "bytes"),
    Column("uplinks", "str", "physical NICs of the switch or port group, by commas"),
    Column("n_uplinks", "int", "how many physical NICs those are", sign=says_bad("1", weight=1.5)),
    Column(
        "cdp_status",
        "str",
        "listen, advertise, both, down: what the host does with CDP (esxcli only)",
    ),
    Column("beacon_enabled", "bool", "beacons are sent on the uplinks (esxcli only)"),
    Column("beacon_required_by", "str", "who requires the beacons (esxcli only)"),
    ask="`esxcfg-vswitch -l`",
    key=("switch",),
)

PORTGROUPS = Table.of(
    "esxi.portgroup",
    "Port groups of standard switches; a list of switches by esxcli prints their names alone.",
    "esxcfg-vswitch -l; esxcli network vswitch standard list; commands/esxcfg-vswitch_-l.txt",
    _SWITCH,
    Column(
        "portgroup", "str", "name of the port group; empty where a row speaks of the whole switch"
    ),
    Column(
        "vlan_id", "int", "VLAN, 0 = none, 4095 = all (esxcfg-vswitch, and the list of port groups)"
    ),
    Column("used_ports", "int", "ports in use"),
    Column("uplinks", "str", "physical NICs of the switch or port group, by commas"),
    Column("n_uplinks", "int", "how many physical NICs those are"),
    ask="`esxcfg-vswitch -l`",
    key=("switch", "portgroup"),
)

DVPORTS = Table.of(
    "esxi.dvport",
    "Ports of distributed switches and who sits on them.",
    "esxcfg-vswitch -l; esxcli network vswitch dvs vmware list",
    _SWITCH,
    Column("dvport", "str", "number of the distributed port, as in the VM's configuration"),
    Column("dvportgroup", "str", "key of the distributed port group (esxcli only)"),
    Column("in_use", "bool", "a client is connected"),
    Column("client_name", "str", "client as printed: vmnic0, vmk0, web01.eth0"),
    Column("client_vm", "str", "name of the VM on a VM port, without its .ethN"),
    Column("vnic", "int", "number of the VM's virtual network adapter, from 0"),
    ask="`esxcfg-vswitch -l`",
    key=("switch", "dvport"),
)

TEAMING = Table.of(
    "esxi.teaming",
    "Teaming and failover policy of a standard switch or of one of its port groups.",
    "esxcli network vswitch standard policy failover get; etc/vmware/esx.conf",
    _SWITCH,
    Column(
        "portgroup", "str", "name of the port group; empty where a row speaks of the whole switch"
    ),
    Column("failure_detection", "str", "link, or beacon = beacon probing", sign=NOTHING),
    Column("load_balancing", "str", "portid, mac, iphash, explicit, lbt"),
    Column("notify_switches", "bool", "physical switches are notified of a failover"),
    Column("failback", "bool", "a recovered uplink is taken again"),
    Column("active_uplinks", "str", "active physical NICs, by commas"),
    Column("standby_uplinks", "str", "physical NICs standing by, by commas"),
    Column("n_uplinks", "int", "how many physical NICs those are", sign=says_bad("1", weight=1.5)),
    ask="`esxcli network vswitch standard policy failover get -v <vSwitch>` and "
    "`esxcli network vswitch standard portgroup policy failover get -p <port group>`",
    key=("switch", "portgroup"),
)

_VM_CLIENT = re.compile(r"(?P<vm>.+?)(?:\.eth| ethernet)(?P<vnic>\d{1,2})$")  # 5.x and later; 4.x


def find_vm(client_name: str) -> tuple[str | None, int | None]:
    """Return (VM, number of its adapter) of a client `web01.eth0` or `web01 ethernet0`; else Nones."""
    found = _VM_CLIENT.match(client_name)
    if found:
        return (found["vm"], int(found["vnic"]))
    return (None, None)


def split_names(text: str | None) -> list[str]:
    """Return the names of a list by commas or blanks; "none" and empty text are no name."""
    found = []
    for name in re.split(r"[,\s]+", text or ""):
        if name and name.lower() != "none":
            found.append(name)
    return found


def make_row(table: Table, block: Block, line: int, values: dict[str, Value]) -> Row:
    """Return a row with every column of the table; what `values` lacks is empty."""
    return Row(table, table.blank() | values, block, line)
