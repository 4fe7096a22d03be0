"""From the VM to the wire: world, VM, virtual NIC, port, switch, uplink, driver.

The port tells which VM and which of its NICs sits on it; the VM's configuration is found by the MAC address, else by
both names. Which of its uplinks a port uses now only esxtop tells: the chain names all that its port group may use.
"""

from __future__ import annotations

from collections.abc import Mapping

from analyzer.artefacts.tables import Column, Value
from analyzer.forms.chain import Apart, Cells, Chain, ChainLink, Made, Source, Start, make_chain

from ._vm_files import host_path

_VM_PORT, _UPLINK_PORT = 5, 4  # Type of a port in `net-stats -l`


def _is_of_vm(cells: Cells) -> bool:
    return cells.get("type") == _VM_PORT


def _is_of_uplink(cells: Cells) -> bool:
    return cells.get("type") == _UPLINK_PORT


def _has_uplinks(cells: Cells) -> bool:
    return cells.get("uplinks") is not None


def _make_absolute(cells: Cells) -> Mapping[str, Value]:
    return {"config_file": host_path(cells.get("vmx_path"))}


def _has_uplink(cells: Cells) -> Mapping[str, Value]:
    """Say whether the port leaves the host; a switch without uplinks is internal."""
    return {
        "has_uplink": True
        if cells.get("uplinks")
        else (False if cells.get("n_uplinks") == 0 else None)
    }


CHAIN: Chain = make_chain(
    "esxi.vm_network",
    "From the VM to the wire: world, virtual NIC, port, switch, and a row for each uplink it may use.",
    Start(
        "esxi.net_stats",
        (
            Column("vm_name", "str", "name of the virtual machine"),
            Column("vnic", "int", "number of the VM's virtual network adapter, from 0"),
            Column("mac", "str", "MAC address of the client"),
            Column(
                "switch",
                "str",
                "portset (virtual switch) the port belongs to, as the vmkernel names it",
            ),
            Column("port_id", "int", "PortNum of the port on its switch"),
        ),
        only=_is_of_vm,
        renamed={"vm_name": "client_vm"},
    ),
    ChainLink(
        (
            Source("esxi.vnic", {"mac": "mac"}),
            Source("esxi.vnic", {"vm_name": "vm_name", "vnic": "vnic"}),
        ),
        (
            Column("vmx_path", "str", "path of the VM's .vmx file"),
            Column(
                "adapter",
                "str",
                "vmxnet3, e1000, e1000e, vmxnet, vlance; empty = the guest's default",
            ),
            Column("network", "str", "port group it is connected to"),
        ),
    ),
    Made(("vmx_path",), _make_absolute),
    ChainLink(
        (
            Source("esxi.vm_process", {"config_file": "vmx_path"}),
            Source("esxi.vm_process", {"vm_name": "vm_name"}),
        ),
        (
            Column(
                "vm_world_id", "int", "world that leads the VM: the id that `vm process kill` takes"
            ),
        ),
    ),
    ChainLink(
        (
            Source("esxi.portgroup", {"switch": "switch", "network": "portgroup"}, _has_uplinks),
            Source("esxi.vswitch", {"switch": "switch"}),
            Source(
                "esxi.net_stats", {"switch": "switch"}, _is_of_uplink, {"uplinks": "client_name"}
            ),
        ),
        (
            Column("uplinks", "str", "physical NICs of the switch or port group, by commas"),
            Column("n_uplinks", "int", "how many physical NICs those are"),
        ),
        many=True,
    ),
    Made(
        ("uplinks",),
        _has_uplink,
        (Column("has_uplink", "bool", "the port can reach a physical NIC"),),
    ),
    Apart("uplinks", Column("pnic", "str", "physical NIC as the host names it: vmnic0")),
    ChainLink(
        (Source("esxi.pnic", {"pnic": "pnic"}),),
        (
            Column("link_up", "bool", "the link is up"),
            Column("speed_mbps", "int", "speed of the link, 0 while down", "Mbit/s"),
            Column("mtu", "int", "largest frame payload", "bytes"),
            Column("driver", "str", "driver in use"),
        ),
    ),
    ChainLink(
        (Source("esxi.pnic_info", {"pnic": "pnic"}),),
        (
            Column("driver_version", "version", "version of the driver"),
            Column("firmware_version", "version", "version of the firmware"),
        ),
    ),
    key=("switch", "port_id", "pnic"),
    ask="`net-stats -l`",
)

MADE = (CHAIN.table,)
