"""The central CLI of the NSX Manager: `show cluster all`, `show cluster ID`, `show vm ID`, `show edge all`.

Source: captures of a Manager of 6.2 in a public post; `show edge all` of 6.2.7 in the notes of a public script.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeVar

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import Block, Column, KeyColumn, Table

from ..common._nsxt import stray_fault, typed_row
from .nsx_rest_states import EDGES

_CLUSTER = Column("cluster_name", "str", "name of the cluster")
CLUSTERS = Table.of(
    "nsx.cluster",
    "Clusters of hosts as the NSX Manager knows them.",
    "show cluster all (central CLI)",
    _CLUSTER,
    KeyColumn("cluster_id", "str", "id in vCenter: domain-c7"),
    Column("datacenter", "str", "data center it is in"),
    Column("firewall", "str", "Enabled, …, as printed"),
    ask="`show cluster all` on the NSX Manager",
)
HOSTS = Table.of(
    "nsx.cluster_host",
    "Hosts of a cluster and how far NSX is installed on each, as the NSX Manager knows them.",
    "show cluster <id> (central CLI)",
    _CLUSTER,
    Column("host_name", "str", "name or address of the host"),
    KeyColumn("host_id", "str", "id in vCenter: host-10"),
    Column(
        "install_status",
        "str",
        "Ready, …, as printed",
        sign=says_good("enabled", "ready", "up", "installed"),
    ),
    ask="`show cluster <id>` on the NSX Manager; `show cluster all` lists the ids",
)
VMS = Table.of(
    "nsx.cluster_vm",
    "VMs of a cluster as the NSX Manager knows them.",
    "show cluster <id> (central CLI)",
    _CLUSTER,
    Column("vm_name", "str", "name of the VM"),
    KeyColumn("vm_moid", "str", "id in vCenter: vm-75"),
    Column("power_status", "str", "on, off, as printed"),
    ask="`show cluster <id>` on the NSX Manager; `show cluster all` lists the ids",
)
VNICS = Table.of(
    "nsx.vm_vnic",
    "Virtual network cards of a VM and the filters before them, as the NSX Manager knows them.",
    "show vm <id> (central CLI)",
    _CLUSTER,
    Column("host_name", "str", "name or address of the host"),
    Column("vm_name", "str", "name of the VM"),
    Column("vnic_name", "str", "name of the card"),
    KeyColumn("vnic_id", "str", "id of the card"),
    Column("filters", "str", "names of its filters: nic-…-eth0-vmware-sfw.2"),
    ask="`show vm <id>` on the NSX Manager",
)

# Lines that tell what the rows below them belong to; a name opens what is below it anew.
_TOLD = {
    "datacenter": r"Datacenter:\s+(\S.*?)",
    "cluster_name": r"Cluster:\s+(\S.*?)",
    "host_name": r"Host:\s+(\S.*?)",
    "vm_name": r"VM:\s+(\S.*?)",
    "vnic_name": r"Vnic Name\s+(\S.*?)",
    "vnic_id": r"Vnic Id\s+(\S+)",
}
_ABOVE = [(name, re.compile(rf"\s*{form}\s*$")) for name, form in _TOLD.items()]
_ROWS = [
    (table, re.compile(rf"\s*{form}\s*$"))
    for table, form in (
        (
            CLUSTERS,
            r"\d+\s+(?P<cluster_name>\S.*?)\s+(?P<cluster_id>domain-c\d+)\s+(?P<datacenter>\S.*?)\s{2,}(?P<firewall>\S.*?)",
        ),
        (HOSTS, r"\d+\s+(?P<host_name>\S.*?)\s+(?P<host_id>host-\d+)\s+(?P<install_status>\S.*?)"),
        (VMS, r"\d+\s+(?P<vm_name>\S.*?)\s+(?P<vm_moid>vm-\d+)\s+(?P<power_status>[A-Za-z]+)"),
        (VNICS, r"Filters\s+(?P<filters>\S.*?)"),
        (
            EDGES,
            r"(?P<edge>edge-[\w-]+)\s+(?P<edge_name>\S.*?)\s+(?P<edge_size>[CLXQ])\s+(?P<edge_release>\d[\d.]*)\s+(?P<edge_status>[A-Z]+)",
        ),
    )
]
# What `show edge all` prints above its rows.
_REMARK = r"NOTE: CLI |CLI commands for |Edges with version |Legend:|Edge Size:|Edge ID\s"
_REST = re.compile(rf"\s*(?:No\.\s+\S|Virtual Nics List:|\d+\.\s*$|$|{_REMARK})")


_Thing = TypeVar("_Thing")


def parse_block(block: Block) -> Output:
    """Read the output: a row for each cluster, host, VM, card or Edge in it."""
    order = list(_TOLD)
    above: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        if context := _find_form(_ABOVE, line):
            column, found = context
            outer = order[: order.index(column)]
            above = {name: cell for name, cell in above.items() if name in outer}
            above[column] = found[1], at
        elif row := _find_form(_ROWS, line):
            table, found = row
            cells = {name: (text, at) for name, text in found.groupdict().items()}
            yield from typed_row(table, block, PARSER.name, at, above | cells)
        elif not _REST.match(line):
            yield stray_fault(block, number, PARSER.name)


def _find_form(
    forms: Iterable[tuple[_Thing, re.Pattern[str]]], line: str
) -> tuple[_Thing, re.Match[str]] | None:
    """Return what the first form that matches a line is of, and the match."""
    for thing, form in forms:
        found = form.match(line)
        if found is not None:
            return thing, found
    return None


PARSER = Parser(
    name="nsx_central_cli",
    tables=(CLUSTERS, HOSTS, VMS, VNICS, EDGES),
    parse=parse_block,
    node="nsx_manager",
    commands=(
        r"^\s*show cluster (?:all|domain-c\d+)\s*$",
        r"^\s*show vm vm-\d+\s*$",
        r"^\s*show edge all\s*$",
    ),
    shape=(
        r"^\s*(?:No\.\s+Cluster Name\s+Cluster Id\s|No\.\s+Host Name\s+Host Id\s|Datacenter:\s+\S.*"
        r"|Edge ID\s+Name\s+Size\s+Version\s+Status\s*$)"
    ),
    body=(
        r"^\s*(?:No\.\s|\d+\s+\S.*(?:domain-c|host-|vm-)\d|(?:Datacenter|Cluster|Host|VM):\s|Virtual Nics List:"
        rf"|\d+\.\s*$|Vnic (?:Name|Id)\s|Filters\s|%|$|{_REMARK}|edge-\w)"
    ),
)
