"""vsish `/net/portsets/<switch>/ports/<port>/status`: who sits on a switch port.

Source: `vsish -e get …/status`, also looped over all ports and filtered by `grep clientName`, each after
the line of its port (`50331678/`). Of its keys only clientName, portCfg, clientType and
clientSubType are read; enums are printed as `name: n -> label`.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output, Parser, rows, typed
from analyzer.artefacts.tables import Block, Column, Row, Table
from analyzer.forms.blocks import vsish_body

from ._switches import find_vm
from ._vsish import PORT, PORT_ID, SWITCH

TABLE = Table.of(
    "esxi.port_status",
    "Client and configuration of a switch port, as the vmkernel holds it.",
    "vsish -e get /net/portsets/<switch>/ports/<port>/status",
    SWITCH.column,
    PORT_ID.column,
    Column("client_name", "str", "client as printed: vmnic0, vmk0, web01.eth0"),
    Column("client_vm", "str", "name of the VM on a VM port, without its .ethN"),
    Column("vnic", "int", "number of the VM's virtual network adapter, from 0"),
    Column("port_cfg", "str", "configuration of the port: name of the port group"),
    Column("type", "int", "3 = vmkernel nic, 4 = uplink, 5 = VM, 0 = other (a VDR port)"),
    Column("subtype", "int", "adapter of a VM port: 9 = VMXNET3, 7 = another model, 0 = none"),
    key=("switch", "port_id"),
)


def parse_block(block: Block) -> Output:
    """Read one or more dumps: one row a port."""
    for item in rows(TABLE, PARSER.name, block, typed(block.params, TABLE)):
        if isinstance(item, Row):
            item.values["client_vm"], item.values["vnic"] = find_vm(str(item.values["client_name"]))
        yield item


PARSER = Parser(
    name="port_status",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    commands=(
        PORT + r"/status\b",
        r"\b(?:get|cat)\s+\S*?/net/portsets/(?P<switch>[^/\s]+)/ports/\S*\$\S*status\b",
    ),
    body=vsish_body(r"[A-Za-z]\w*") + r"|^\s*\d{5,}/\s*$",
)
