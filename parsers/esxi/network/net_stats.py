"""`net-stats -l`: which client sits on which port of which switch.

Source: `commands/net-stats_-l.txt` of a vm-support bundle, or the command's output. The text
is printed by fixed widths until a switch name is longer than 16 characters; copies from
a blog lose the blanks. The client name is the rest of the line and may hold blanks.
"""

import re
from dataclasses import replace

from analyzer.artefacts.parsing import Output, Parser, rows
from analyzer.artefacts.tables import MAC_FORM, Block, Column, Fault, Table

from ._switches import find_vm
from ._vsish import PORT_ID, SWITCH

TABLE = Table.of(
    "esxi.net_stats",
    "Ports of all virtual switches of the host and the client on each.",
    "net-stats -l; commands/net-stats_-l.txt",
    PORT_ID.column,
    Column("type", "int", "3 = vmkernel nic, 4 = uplink, 5 = VM, 0 = other (a VDR port)"),
    Column("subtype", "int", "adapter of a VM port: 9 = VMXNET3, 7 = another model, 0 = none"),
    SWITCH.column,
    Column("mac", "str", "MAC address of the client", form=MAC_FORM),
    Column("client_name", "str", "client as printed: vmnic0, vmk0, web01.eth0"),
    Column("client_vm", "str", "name of the VM on a VM port, without its .ethN"),
    Column("vnic", "int", "number of the VM's virtual network adapter, from 0"),
    ask="`net-stats -l`",
    key=("switch", "port_id"),
)

_VM_PORT = 5
_WHY_LEFT_OUT = "whoever pasted the text left lines out here"
_LEFT_OUT = re.compile(r"^\s*(?:<snip>|\[\.\.\.\]|\.\.\.)\s*$")


def parse_block(block: Block) -> Output:
    """Read the port list: one row a port; `client_vm` and `vnic` only for ports of a VM."""
    for item in rows(TABLE, PARSER.name, block):
        if isinstance(item, Fault):
            left_out = bool(_LEFT_OUT.match(item.text))
            yield replace(item, state="", why=_WHY_LEFT_OUT) if left_out else item
            continue
        name = item.values["client_name"]
        if item.values["type"] == _VM_PORT and isinstance(name, str):
            vm_name, vnic = find_vm(name)
            item.values |= {"client_vm": vm_name or name, "vnic": vnic}
        yield item


PARSER = Parser(
    name="net_stats",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    files=(r"(?:^|/)net-stats_-l\.txt$",),
    commands=(r"\bnet-stats\s+-l\b",),
    shape=r"^\s*PortNum\s+Type\s+SubType\s+SwitchName\s+MACAddress\s+ClientName\s*$",
    body=r"^\s*(?:\d+\s+\d+\s+\d+\s+\S.*|<snip>|\[?\.\.\.\]?|PortNum\s+Type\s.*|.*: not found.*)$",
)
