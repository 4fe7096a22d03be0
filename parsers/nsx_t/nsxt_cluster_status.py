"""`get cluster status [verbose]` on an NSX-T manager: each group of the management cluster, its members and leaders.

Source: the NSX CLI guide (3.2 to 9.0) and the VCF 9 page on the status of the manager cluster. A group is STABLE,
DEGRADED, UNSTABLE or UNAVAILABLE, a member UP, DOWN or UNKNOWN (REST schema). 4.1 and later print two addresses of a
member; "not configured" stands for none. A manager whose services do not run answers `% An internal error occurred,
please retry execution again` (a public report of NSX 9.0.1), which is a row of its own; another refusal is a mistyped
command.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import says_good, says_rows
from analyzer.artefacts.tables import IP_FORM, Block, Column, Table

from ..common._nsxt import DATED, MANAGER, UUID, stray_fault, typed_row

_ASK = "`get cluster status verbose` on each NSX-T manager"
_SOURCE = "get cluster status; get cluster status verbose"
_GROUP = Column(
    "group_type", "str", "DATASTORE, CLUSTER_BOOT_MANAGER, CONTROLLER, MANAGER, POLICY, HTTPS, …"
)
GROUPS = Table.of(
    "nsxt.cluster_group",
    "Groups of the management cluster of NSX-T as one manager sees them.",
    _SOURCE,
    _GROUP,
    Column(
        "group_status", "str", "STABLE, DEGRADED, UNSTABLE, UNAVAILABLE", sign=says_good("stable")
    ),
    Column("cluster_id", "str", "id of the management cluster, the same on all managers"),
    Column(
        "overall_status",
        "str",
        "status of the whole cluster, where it is printed",
        sign=says_good("stable"),
    ),
    Column(
        "cluster_answer",
        "str",
        "the error that the manager or its UI answered instead; nothing else is known then",
        sign=says_rows(4.5),
    ),
    ask=_ASK,
    key=("group_type",),
)
MEMBERS = Table.of(
    "nsxt.cluster_member",
    "Members of each group of the management cluster of NSX-T as one manager sees them.",
    _SOURCE,
    _GROUP,
    Column(
        "member_uuid",
        "str",
        "id of the member; in the group CONTROLLER another one than in the others",
    ),
    Column("fqdn", "str", "name of the manager"),
    Column("ip", "str", "address of the manager", form=IP_FORM),
    Column("ipv6", "str", "its second address, where one is configured", form=IP_FORM),
    Column("member_status", "str", "UP, DOWN, UNKNOWN", sign=says_good("up")),
    ask=_ASK,
    key=("group_type", "member_uuid"),
)
LEADERS = Table.of(
    "nsxt.cluster_leader",
    "Services of the management cluster of NSX-T and the member that leads each.",
    "get cluster status verbose",
    _GROUP,
    Column("service_name", "str", "cluster-manager, ShardingService, …"),
    Column("leader_uuid", "str", "member that leads it"),
    Column("lease_version", "int", "grows each time another member leads"),
    ask=_ASK,
    key=("group_type", "service_name"),
)

_SAYS = re.compile(
    r"\s*(?P<label>Cluster Id|Overall Status|Group Type|Group Status)\s*:\s*(?P<text>\S.*?)\s*$"
)
_NAMED = {
    "Cluster Id": "cluster_id", "Overall Status": "overall_status",
    "Group Type": "group_type", "Group Status": "group_status",
}  # fmt: skip
_MEMBER = re.compile(
    rf"\s*(?P<member_uuid>{UUID})\s+(?P<fqdn>\S+)\s+(?P<ip>not configured|[\w.:*]+)"
    r"(?:\s+(?P<ipv6>not configured|[\w.:*]+))??\s+(?P<member_status>[A-Z_]+)\s*$"
)
_WEIGHT = re.compile(rf"\s*{UUID}\s+(?:SMALL|MEDIUM|LARGE)\s+\d+\s*$")
_LEADER = re.compile(
    rf"\s*(?P<service_name>\S+)\s+(?:\d+\s+[A-Z]+\s+)?(?P<leader_uuid>{UUID})\s+(?P<lease_version>\d+)\s*$"
)
_BROKEN = re.compile(r"\s*%\s*(?P<cluster_answer>An (?:internal )?error occurred\S*(?: .*?)?)\s*$")
_REST = re.compile(
    rf"\s*(?:$|{DATED}|Members:|Leaders:|Current occupied weight|UUID\s|SERVICE\s|(?:UP|DOWN|STABLE|DEGRADED)\s*$)"
)


def parse_block(block: Block) -> Output:
    """Read groups, members and leaders; a row is on its own line, a group on that of its status."""
    labels: dict[str, str] = {}
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        group = {"group_type": labels.get("Group Type")}
        if found := _SAYS.match(line):
            label = found["label"]
            labels[label] = found["text"]
            if label == "Group Type":
                labels.pop("Group Status", None)
            elif label == "Group Status":
                own = {name: labels.get(label) for label, name in _NAMED.items()}
                yield from _make_row(GROUPS, block, at, own)
        elif "Group Type" in labels and (found := _MEMBER.match(line)):
            yield from _make_row(MEMBERS, block, at, group | found.groupdict())
        elif "Group Type" in labels and (found := _LEADER.match(line)):
            yield from _make_row(LEADERS, block, at, group | found.groupdict())
        elif found := _BROKEN.match(line):
            yield from _make_row(GROUPS, block, at, found.groupdict())
        elif not _WEIGHT.match(line) and not _REST.match(line):
            yield stray_fault(block, number, PARSER.name)


def _make_row(table: Table, block: Block, line: int, texts: Mapping[str, str | None]) -> Output:
    cells = {}
    for name, text in texts.items():
        if text and text != "not configured":
            cells[name] = (text, line)
    return typed_row(table, block, PARSER.name, line, cells)


PARSER = Parser(
    name="nsxt_cluster_status",
    tables=(GROUPS, MEMBERS, LEADERS),
    parse=parse_block,
    node=MANAGER,
    commands=(r"^\s*get cluster status(?:\s+verbose)?\s*$",),
    shape=rf"^\s*(?:Cluster Id:\s*{UUID}|Group Type:\s*[A-Z_]+)\s*$",
    body=(
        r"^\s*(?:Cluster Id:|Overall Status:|Group (?:Type|Status):|Members:|Leaders:|Current occupied|UUID\s|SERVICE\s"
        rf"|{UUID}\s|\S+\s+(?:\d+\s+[A-Z]+\s+)?{UUID}\s|(?:UP|DOWN)\s*$|%|{DATED})"
    ),
)
