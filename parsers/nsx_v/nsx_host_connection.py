"""How the NSX Manager sees its hosts: message bus, control plane agent, host to controllers.

Source: REST `GET /api/2.0/vdn/inventory/hosts/connection/status` (NSX for vSphere 6.2.3 and later).
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import NOTHING, says_good
from analyzer.artefacts.tables import IP_FORM, Block, Column, KeyColumn, Table

from ..common._nsx import XML_BODY, make_row, xml_shape
from ..common._xml import read_xml

TABLE = Table.of(
    "nsx.host_connection",
    "Connections of each host to the NSX Manager and to the controllers: UP, DOWN or NOT_AVAILABLE.",
    "GET /api/2.0/vdn/inventory/hosts/connection/status",
    KeyColumn("host_id", "str", "host-31, …"),
    Column(
        "firewall_agent", "str", "Manager to the firewall agent of the host", sign=says_good("up")
    ),
    Column(
        "control_plane_agent",
        "str",
        "Manager to the control plane agent of the host",
        sign=says_good("up"),
    ),
    Column("controllers", "str", "host to the controllers", sign=says_good("up")),
    Column(
        "failed_controllers", "int", "controllers the host reports an error with", "controllers"
    ),
    Column(
        "error_codes", "str", "their codes, comma separated: 1255603 TLS handshake, 1255604 refused"
    ),
)

ERROR = Table.of(
    "nsx.host_controller_error",
    "Errors of a host's connections to the controllers, one row a host and controller.",
    "GET /api/2.0/vdn/inventory/hosts/connection/status",
    KeyColumn("host_id", "str", "host-31, …"),
    KeyColumn("controller_ip", "str", "controller the host could not connect to", form=IP_FORM),
    Column("error_code", "int", "1255603 TLS handshake, 1255604 refused", sign=NOTHING),
    Column("message", "str", "the error in words"),
)


def parse_block(block: Block) -> Output:
    """Read the connection states, one row a host and one for each controller it reports an error with."""
    root, faults = read_xml(block, PARSER.name)
    for element in root.find("hostConnStatus"):
        errors = list(element.find("hostToControllerConnectionError"))
        codes = [error.get("errorCode") for error in errors]
        yield from make_row(
            TABLE,
            block,
            element,
            {
                "host_id": element.child("hostId"),
                "firewall_agent": element.child("nsxMgrToFirewallAgentConn"),
                "control_plane_agent": element.child("nsxMgrToControlPlaneAgentConn"),
                "controllers": element.child("hostToControllerConn"),
                # of an answer that is cut no one knows how many there were
                "failed_controllers": str(len(codes)) if element.whole else None,
                "error_codes": ",".join(codes),
            },
        )
        for error in errors:
            cells = {
                "host_id": element.child("hostId"),
                "controller_ip": error.child("controllerIp"),
            }
            cells |= {
                "error_code": error.child("errorCode"),
                "message": error.child("errorMessage"),
            }
            yield from make_row(ERROR, block, error, cells)
    yield from faults


PARSER = Parser(
    name="nsx_host_connection",
    tables=(TABLE, ERROR),
    parse=parse_block,
    node="nsx_manager",
    commands=(r"/api/2\.0/vdn/inventory/hosts?/.*connection/status\b",),
    shape=xml_shape("hostConnStatusList", "hostConnStatus"),
    body=XML_BODY,
)
