"""`get cluster config` on an NSX-T manager: the management cluster as it is configured, and what runs on each node.

Source: the installation guide of NSX-T (3.0 to 3.2) and the administration guide of VCF 9.0, which shows the nodes too.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import IP_FORM, Block, Column, KeyColumn, Table

from ..common._nsxt import (
    DATED,
    MANAGER,
    UUID,
    match_first,
    place_cells,
    row_at_first_cell,
    stray_fault,
    typed_row,
)

TABLE = Table.of(
    "nsxt.cluster_config",
    "The management cluster of NSX-T as it is configured.",
    "get cluster config",
    KeyColumn("cluster_id", "str", "id of the management cluster, the same on all managers"),
    Column("config_version", "int", "grows with each change"),
    Column("cluster_nodes", "int", "managers that belong to it", "nodes"),
    ask="`get cluster config` on an NSX-T manager",
)
ENTITIES = Table.of(
    "nsxt.cluster_entity",
    "Services of the management cluster of NSX-T and the node that runs each.",
    "get cluster config",
    KeyColumn("node_uuid", "str", "id of the node"),
    Column("node_status", "str", "JOINED, …, as printed", sign=says_good("up", "joined")),
    KeyColumn(
        "entity", "str", "HTTPS, CONTROLLER, CLUSTER_BOOT_MANAGER, DATASTORE, MANAGER, POLICY, …"
    ),
    Column("entity_uuid", "str", "id of the service there"),
    Column("address", "str", "address of the node", form=IP_FORM),
    Column("port", "int", "TCP port; none where it has none of its own"),
    Column("fqdn", "str", "name of the node"),
    ask="`get cluster config` on an NSX-T manager",
)

_CLUSTER = (
    re.compile(rf"\s*Cluster Id\s*:\s*(?P<cluster_id>{UUID})\s*$"),
    re.compile(r"\s*Cluster Configuration Version\s*:\s*(?P<config_version>\S+)\s*$"),
    re.compile(r"\s*Number of nodes in the cluster\s*:\s*(?P<cluster_nodes>\S+)\s*$"),
)
_NODE = re.compile(rf"\s*Node UUID\s*:\s*(?P<node_uuid>{UUID})\s*$")
_STATUS = re.compile(r"\s*Node Status\s*:\s*(?P<node_status>\S+)\s*$")
_ENTITY = re.compile(
    rf"\s*(?P<entity>[A-Z][A-Z0-9_-]*)\s+(?P<entity_uuid>{UUID})\s+(?P<address>[\w.:*]+)"
    r"\s+(?:(?P<port>\d+)|-)(?:\s+(?P<fqdn>\S+))?\s*$"
)
_REST = re.compile(rf"\s*(?:$|ENTITY\s+UUID|{DATED}|\.{{3}}\s*$)")


def parse_block(block: Block) -> Output:
    """Read the cluster, one row, and a row for each service of a node."""
    cluster: dict[str, tuple[str, int]] = {}
    node: dict[str, tuple[str, int]] = {}
    entities: list[tuple[int, dict[str, tuple[str, int]]]] = []
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        if found := match_first(_CLUSTER, line):
            node = {}
            groups = found.groupdict()
            if found.re is _CLUSTER[0] or groups.keys() & cluster.keys():
                yield from row_at_first_cell(TABLE, block, PARSER.name, cluster)
                cluster = {}
            for name, text in groups.items():
                cluster[name] = (text, at)
        elif found := _NODE.match(line):
            node = {"node_uuid": (found["node_uuid"], at)}
        elif found := _STATUS.match(line):
            if "node_status" in node:
                node = {}
            node["node_status"] = (found["node_status"], at)
        elif found := _ENTITY.match(line):
            entities.append((at, node | place_cells(found.groupdict(), at)))
        elif not _REST.match(line):
            yield stray_fault(block, number, PARSER.name)
    yield from row_at_first_cell(TABLE, block, PARSER.name, cluster)
    for at, cells in entities:
        yield from typed_row(ENTITIES, block, PARSER.name, at, cells)


PARSER = Parser(
    name="nsxt_cluster_config",
    tables=(TABLE, ENTITIES),
    parse=parse_block,
    node=MANAGER,
    commands=(r"^\s*get cluster config\s*$",),
    shape=rf"^\s*(?:Cluster Id\s*:\s*{UUID}|Node UUID\s*:\s*{UUID})\s*$",
    body=(
        rf"^\s*(?:Cluster (?:Id|Configuration Version)\s*:|Number of nodes in the cluster\s*:|Node (?:UUID|Status)\s*:"
        rf"|ENTITY\s+UUID|[A-Z][A-Z0-9_-]*\s+{UUID}\s|\.{{3}}\s*$|%|{DATED})"
    ),
)
