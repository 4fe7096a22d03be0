"""Hardware gateways (hardware VTEPs) that logical switches are bound to.

Source: REST `GET /api/2.0/vdn/virtualwires/<id>/hardwaregateways` (NSX for vSphere 6.2.3 and later,
example of the vendor's API guide). A binding proves that a hardware VTEP is in use; other places where one
shows are in no public source and are not guessed at.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Column, KeyColumn, Table

from ..common._nsx import XML_BODY, make_row, xml_shape
from ..common._xml import read_xml

TABLE = Table.of(
    "nsx.hardware_gateway",
    "Bindings of logical switches to ports of hardware gateways (hardware VTEPs).",
    "GET /api/2.0/vdn/virtualwires/<id>/hardwaregateways",
    KeyColumn("binding_id", "str", "torbinding-1, …"),
    Column("gateway_id", "str", "torgateway-1, …"),
    Column("switch_name", "str", "switch of the hardware gateway"),
    Column("port_name", "str", "port of that switch"),
    Column("vlan", "int", "VLAN on that port"),
    Column("virtual_wire", "str", "logical switch: virtualwire-1"),
    Column("vni", "int", "VXLAN network identifier"),
    ask="`GET /api/2.0/vdn/virtualwires/<id>/hardwaregateways` for each logical switch",
)


def parse_block(block: Block) -> Output:
    """Read the bindings, one row each; an empty list is no row."""
    root, faults = read_xml(block, PARSER.name)
    for element in root.find("hardwareGatewayBinding"):
        cells = {
            "binding_id": element.child("id"),
            "gateway_id": element.child("hardwareGatewayId"),
        }
        cells |= {
            "switch_name": element.child("switchName"),
            "port_name": element.child("portname") or element.child("portName"),
        }
        cells |= {
            "vlan": element.child("vlan"),
            "virtual_wire": element.child("virtualWire"),
            "vni": element.child("vni"),
        }
        yield from make_row(TABLE, block, element, cells)
    yield from faults


PARSER = Parser(
    name="nsx_hardware_gateway",
    tables=(TABLE,),
    parse=parse_block,
    node="nsx_manager",
    commands=(
        r"/api/2\.0/vdn/virtualwires/[^/\s]+/hardwaregateways",
        r"/api/2\.0/vdn/hardwaregateways?/bindings\b",
    ),
    shape=(
        rf"(?:{xml_shape('hardwareGatewayBinding', 'hardwareGatewayBindings')}"
        r"|^\s*<list>\s*<hardwareGatewayBinding>)"
    ),
    body=XML_BODY,
)
