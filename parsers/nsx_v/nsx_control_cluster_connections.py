"""`show control-cluster connections` on an NSX Controller: the ports of its roles.

Source: NSX Controller CLI (NSX for vSphere). Only the ZooKeeper leader listens on server/2878, and its
number of connections is then the number of the other controllers; followers show `-`.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output, Parser, read_rows
from analyzer.artefacts.signs import says_bad
from analyzer.artefacts.tables import Block, Column, KeyColumn, Row, Table, Value

from ..common._nsx import name_refusals

TABLE = Table.of(
    "nsx.controller_connection",
    "Ports of one NSX Controller: listening, and open connections.",
    "show control-cluster connections (on each controller)",
    KeyColumn("role", "str", "api_provider, persistence_server, switch_manager, system"),
    KeyColumn("service", "str", "api, server, client, election, ovsmgmt, openflow, cluster"),
    Column("port", "int", "TCP port"),
    Column(
        "listening",
        "bool",
        "Y; a dash is no",
        sign=says_bad("false", weight=3.5).except_where("service", "server"),
    ),
    Column("connections", "int", "open connections", "connections"),
    ask="`show control-cluster connections` on each NSX Controller",
)


def parse_block(block: Block) -> Output:
    """Read the ports, one row each; a row without a role belongs to the role above."""
    role: Value = None
    for item in name_refusals(read_rows(TABLE, PARSER.name, block)):
        if isinstance(item, Row):
            role = item.values["role"] = item.values["role"] or role
            item.values["listening"] = bool(item.values["listening"])
        yield item


PARSER = Parser(
    name="nsx_control_cluster_connections",
    tables=(TABLE,),
    parse=parse_block,
    node="nsx_controller",
    commands=(r"^\s*show control-cluster connections\b",),
    shape=r"^\s*role\s+port\s+listening\s+open conns\s*$",
    body=r"^\s*(?:role\s+port|-{3,}|(?:[a-z][a-z_-]+\s+)?[a-z]+/\d+\s|error: |%)",
)
