"""`get transport-nodes status` on an NSX-T manager: which edges and hosts are connected to a controller.

Source: the NSX CLI guide in three forms: 3.2 and before; 4.1 with addresses and the manager; `status-from-all-nodes`.
A node is connected to the controller that serves it: the others show it as CLOSED.
"""

from __future__ import annotations

import re

from analyzer.parsing import Output, Parser
from analyzer.tables import IP_FORM, Block, Column, KeyColumn, Table

from ._nsxt import DATED, MANAGER, UUID, stray, typed_row

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
    Column("connection_state", "str", "OPENED, CLOSED"),
    Column("supported_versions", "str", "versions of the protocol, none when it is not connected"),
    ask="`get transport-nodes status` on each NSX-T manager",
)

_ROW = re.compile(
    rf"\s*(?P<transport_node>{UUID})(?:\s+(?P<remote_address>[\w.:*]+:\d+))?\s+(?P<controller_uuid>{UUID}|[\w.:*]+)"
    r"(?:\s+(?P<manager_ip>[0-9A-Fa-fXx*]*[.:][\w.:*]+))?(?:\s+(?P<ipv6>[0-9a-fA-F]*:[0-9a-fA-F:]+|NA))?"
    r"\s+(?P<ssl>true|false)\s+(?P<connection_state>[A-Z]+)\s+(?P<supported_versions>\[[^\]]*\]|[\w.]+)"
    r"(?:\s+(?P<node_type>\S+)\s+(?P<node_name>\S.*?))?\s*$"
)
_REST = re.compile(rf"\s*(?:$|{DATED}|TransportNode-ID\s|-[- ]+$)")


def parse(block: Block) -> Output:
    """Read the transport nodes, one row each."""
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        if found := _ROW.match(line):
            texts = {name: text for name, text in found.groupdict().items() if text and name != "ipv6"}
            texts["supported_versions"] = texts["supported_versions"].strip("[]")
            yield from typed_row(TABLE, block, PARSER.name, at, {name: (text, at) for name, text in texts.items()})
        elif not _REST.match(line):
            yield stray(block, number, PARSER.name)


PARSER = Parser(
    name="nsxt_transport_nodes",
    tables=(TABLE,),
    parse=parse,
    node=MANAGER,
    commands=(rf"^\s*get transport-nodes? (?:{UUID} )?status(?:-from-all-nodes)?\s*$",),
    shape=r"^\s*TransportNode-ID\s+(?:Remote-Address\s+)?Controller\s",
    body=rf"^\s*(?:TransportNode-ID\s|{UUID}\s|%|{DATED})",
)
