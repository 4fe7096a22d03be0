"""`GET /api/v1/cluster/status` of NSX-T: the groups of the management cluster, as its CLI prints them.

Source: the schemas ClusterStatus, AllClusterGroupStatus, ClusterGroupStatus, ClusterGroupMemberStatus and
ClusterGroupServiceLeader of the REST API (4.0 to 9.0). Releases before 2.4 have only the status of two clusters.
"""

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Fault

from ..common._nsxt import MANAGER, typed_row
from ._rest_json import BODY, LEAD, Cells, answer_shape, read_objects
from .nsxt_cluster_status import GROUPS, LEADERS, MEMBERS

_MEMBER = {
    "member_uuid": "member_uuid", "member_fqdn": "fqdn", "member_ip": "ip", "member_ipv6": "ipv6",
    "member_status": "member_status",
}  # fmt: skip
_LEADER = {
    "service_name": "service_name",
    "leader_uuid": "leader_uuid",
    "lease_version": "lease_version",
}


def parse_block(block: Block) -> Output:
    """Read groups, members and leaders, one row each."""
    groups: dict[tuple[str, ...], Cells] = {}
    cluster: Cells = {}
    for item in read_objects(block, PARSER.name):
        if isinstance(item, Fault):
            yield item
            continue
        path, cells = item
        if "overall_status" in cells and "groups" not in path:
            cluster.update(cells)
        if "group_type" in cells:
            groups[path] = cells
    for path, cells in groups.items():
        row: Cells = {}
        for name in ("cluster_id", "overall_status"):
            if name in cluster:
                row[name] = cluster[name]
        for name in ("group_type", "group_status"):
            if name in cells:
                row[name] = cells[name]
        _, line = row.get("group_status", row["group_type"])
        yield from typed_row(GROUPS, block, PARSER.name, line, row)
        yield from _read_members(block, path, row["group_type"])


def _read_members(block: Block, group: tuple[str, ...], group_type: tuple[str, int]) -> Output:
    """Read the members and leaders of a group."""
    for item in read_objects(block, PARSER.name):
        if isinstance(item, Fault) or item[0][: len(group)] != group:
            continue
        path, cells = item
        if len(path) != len(group) + 2:
            continue
        for inside, table, columns in (
            ("members", MEMBERS, _MEMBER),
            ("leaders", LEADERS, _LEADER),
        ):
            if path[len(group)] == inside:
                own = {column: cells[key] for key, column in columns.items() if key in cells}
                _, line = next(iter(own.values()), group_type)
                yield from typed_row(
                    table, block, PARSER.name, line, {"group_type": group_type, **own}
                )


PARSER = Parser(
    name="nsxt_rest_cluster",
    tables=(GROUPS, MEMBERS, LEADERS),
    parse=parse_block,
    node=MANAGER,
    commands=(r"/api/v1/cluster/status\b",),
    shape=answer_shape("detailed_cluster_status"),
    body=BODY,
    lead=LEAD,
)
