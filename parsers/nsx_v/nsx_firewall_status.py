"""`GET /api/4.0/firewall/globalroot-0/status`: how far the last publish of the distributed firewall got on each host.

Source: `firewallStatus` of the API guide (NSX for vSphere 6.4). A generation number is that of the rules a host has;
it tells whether a change has come to the host. Stamps are milliseconds since 1970.
"""

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import lies_above, says_good
from analyzer.artefacts.tables import Block, Column, KeyColumn, Table

from ..common._nsx import XML_BODY, convert_stamp, make_row, xml_shape
from ..common._xml import Element, read_xml

TABLE = Table.of(
    "nsx.firewall_status",
    "How far the last publish of the distributed firewall got, one row a host.",
    "GET /api/4.0/firewall/globalroot-0/status",
    KeyColumn("host_id", "str", "host-32, …"),
    Column("host_name", "str", "name of the host"),
    Column("cluster_id", "str", "cluster of the host: domain-c33"),
    Column(
        "publish_status",
        "str",
        "published, inprogress, failed, …, as printed",
        sign=says_good("published"),
    ),
    Column("publish_error", "int", "error of the host, 0 for none", sign=lies_above(0, weight=3.5)),
    Column("generation", "int", "number of the rules that the host has"),
    Column("wanted_generation", "int", "number of the rules that were published last"),
    Column("started", "time", "begin of the publish to this host", "UTC"),
    Column("ended_at", "time", "end of the publish to this host", "UTC"),
)


def parse_block(block: Block) -> Output:
    """Read the hosts of each answer, one row each."""
    root, faults = read_xml(block, PARSER.name)
    for status in root.find("firewallStatus"):
        for host in status.find("hostStatus"):
            cells: dict[str, Element | str | None] = {
                "host_id": host.child("hostId"),
                "host_name": host.child("hostName"),
                "cluster_id": host.child("clusterId"),
                "publish_status": host.child("status"),
                "publish_error": host.child("errorCode"),
                "generation": host.child("generationNumber"),
                "wanted_generation": status.child("generationNumber"),
                "started": convert_stamp(host.child("startTime")),
                "ended_at": convert_stamp(host.child("endTime")),
            }
            yield from make_row(TABLE, block, host, cells)
    yield from faults


PARSER = Parser(
    name="nsx_firewall_status",
    tables=(TABLE,),
    parse=parse_block,
    node="nsx_manager",
    commands=(r"/api/4\.0/firewall/globalroot-0/(?:status|config/layer[23]sections/\d+/status)\b",),
    shape=xml_shape("firewallStatus"),
    body=XML_BODY,
)
