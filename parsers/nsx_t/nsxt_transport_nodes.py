"""`get transport-nodes status` on an NSX-T manager: which edges and hosts are connected to a controller.

Source: the NSX CLI guide in three forms: 3.2 and before; 4.1 with addresses and the manager; `status-from-all-nodes`.
A node is connected to the controller that serves it: the others show it as CLOSED.
"""

from __future__ import annotations

import re

from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import IP_FORM, Column, KeyColumn, Row, Table

from ..common._cli_lines import line_parser
from ..common._nsxt import DATED, MANAGER, UUID

TABLE = Table.of(
    "nsxt.transport_node",
    "Transport nodes (edges, hosts) as the controller of one manager sees them.",
    "get transport-nodes status; get transport-nodes status-from-all-nodes",
    KeyColumn("transport_node", "str", "id of the edge or host"),
    Column("node_name", "str", "its name, where that is printed"),
    Column("node_type", "str", "ESXi, Edge, …, where that is printed"),
    Column("remote_address", "str", "address and port it is connected from"),
    Column("controller_uuid", "str", "controller that serves it"),
    Column("manager_ip", "str", "manager of that controller", form=IP_FORM),
    Column("ssl", "bool", "the connection is encrypted"),
    Column(
        "connection_state", "str", "OPENED, CLOSED", sign=says_good("up", "connected", "opened")
    ),
    Column("supported_versions", "str", "versions of the protocol, none when it is not connected"),
    ask="`get transport-nodes status` on each NSX-T manager",
)

_ROW = re.compile(
    rf"\s*(?P<transport_node>{UUID})(?:\s+(?P<remote_address>[\w.:*]+:\d+))?\s+(?P<controller_uuid>{UUID}|[\w.:*]+)"
    r"(?:\s+(?P<manager_ip>[0-9A-Fa-fXx*]*[.:][\w.:*]+))?(?:\s+(?:[0-9a-fA-F]*:[0-9a-fA-F:]+|NA))?"
    r"\s+(?P<ssl>true|false)\s+(?P<connection_state>[A-Z]+)\s+(?P<supported_versions>\[[^\]]*\]|[\w.]+)"
    r"(?:\s+(?P<node_type>\S+)\s+(?P<node_name>\S.*?))?\s*$"
)
_REST = re.compile(r"\s*(?:TransportNode-ID\s|-[- ]+$)")


def finish_row(row: Row) -> None:
    """Take the list of versions out of its brackets."""
    row.values["supported_versions"] = str(row.values["supported_versions"]).strip("[]") or None


PARSER = line_parser(
    "nsxt_transport_nodes",
    TABLE,
    _ROW,
    _REST,
    finish=finish_row,
    node=MANAGER,
    commands=(rf"^\s*get transport-nodes? (?:{UUID} )?status(?:-from-all-nodes)?\s*$",),
    shape=r"^\s*TransportNode-ID\s+(?:Remote-Address\s+)?Controller\s",
    body=rf"^\s*(?:TransportNode-ID\s|{UUID}\s|%|{DATED})",
)
