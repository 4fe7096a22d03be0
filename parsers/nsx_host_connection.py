"""How the NSX Manager sees its hosts: message bus, control plane agent, host to controllers.

Source: REST `GET /api/2.0/vdn/inventory/hosts/connection/status` (NSX for vSphere 6.2.3 and later).
"""

from __future__ import annotations

from analyzer.parsing import Output, Parser
from analyzer.tables import Block, Column, Table

from ._nsx import XML_BODY, row, xml_shape
from ._xml import read

TABLE = Table(
    name="nsx.host_connection",
    meaning="Connections of each host to the NSX Manager and to the controllers: UP, DOWN or NOT_AVAILABLE.",
    source="GET /api/2.0/vdn/inventory/hosts/connection/status",
    ask="`GET /api/2.0/vdn/inventory/hosts/connection/status`",
    key=("host_id",),
    columns=(
        Column("host_id", "str", "host-31, …"),
        Column("firewall_agent", "str", "Manager to the firewall agent of the host"),
        Column("control_plane_agent", "str", "Manager to the control plane agent of the host"),
        Column("controllers", "str", "host to the controllers"),
        Column("failed_controllers", "int", "controllers the host reports an error with", "controllers"),
        Column("error_codes", "str", "their codes, comma separated: 1255603 TLS handshake, 1255604 refused"),
    ),
)


def parse(block: Block) -> Output:
    """Read the connection states, one row a host."""
    root, faults = read(block, PARSER.name)
    for element in root.find("hostConnStatus"):
        codes = [error.get("errorCode") for error in element.find("hostToControllerConnectionError")]
        yield from row(
            TABLE,
            block,
            element,
            {
                "host_id": element.child("hostId"),
                "firewall_agent": element.child("nsxMgrToFirewallAgentConn"),
                "control_plane_agent": element.child("nsxMgrToControlPlaneAgentConn"),
                "controllers": element.child("hostToControllerConn"),
                # of an answer that is cut nobody knows how many there were
                "failed_controllers": str(len(codes)) if element.whole else None,
                "error_codes": ",".join(codes),
            },
        )
    yield from faults


PARSER = Parser(
    name="nsx_host_connection",
    tables=(TABLE,),
    parse=parse,
    node="nsx_manager",
    commands=(r"/api/2\.0/vdn/inventory/hosts?/.*connection/status\b",),
    shape=xml_shape("hostConnStatusList", "hostConnStatus"),
    body=XML_BODY,
)
