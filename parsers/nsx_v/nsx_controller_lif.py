"""`show control-cluster logical-routers interface-summary` and `interface`: interfaces of a logical router.

Source: NSX Controller CLI (NSX for vSphere). The summary has one line an interface, the other command tells all of one;
a second distributed switch, or a second address, is below the first.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser, convert_params, read_rows
from analyzer.artefacts.tables import IP_FORM, MAC_FORM, Block, Column, KeyColumn, Table

from ..common._nsx import name_refusals

TABLE = Table.of(
    "nsx.controller_lif",
    "Interfaces (LIF) of the logical routers, as one NSX Controller knows them.",
    "show control-cluster logical-routers interface-summary <lr-id> (on each controller)",
    KeyColumn("lr_id", "int", "number of the logical router"),
    KeyColumn("lif", "str", "name of the interface"),
    Column("lif_type", "str", "vlan or vxlan"),
    Column("network_number", "int", "VLAN, or VXLAN network identifier"),
    Column("addresses", "str", "addresses with the length of their netmask"),
    Column("dvs_uuids", "str", "distributed switches, by UUID"),
    Column("mac", "str", "MAC address", form=MAC_FORM),
    Column("mtu", "int", "MTU", "bytes"),
    Column("multicast_ip", "str", "multicast address; 0.0.0.1 without one", form=IP_FORM),
    Column("designated_ip", "str", "host that is the designated instance", form=IP_FORM),
    Column("is_sedimented", "bool", "Is-Sedimented as printed"),
    Column("bridge", "str", "bridge it belongs to"),
    Column("bridge_id", "int", "number of that bridge"),
    ask="`show control-cluster logical-routers interface-summary <lr-id>` on each NSX Controller",
)

_SUMMARY = re.compile(r"\s*Interface\s+Type\s+Id\s+IP\[\]\s*$")


def parse_block(block: Block) -> Output:
    """Read the summary, one row an interface, or all of one interface."""
    summary = any(_SUMMARY.match(line) for line in block.lines)
    template = "nsx_controller_lif" if summary else "nsx_controller_one_lif"
    return name_refusals(read_rows(TABLE, template, block, convert_params(block.params, TABLE)))


PARSER = Parser(
    name="nsx_controller_lif",
    tables=(TABLE,),
    parse=parse_block,
    node="nsx_controller",
    commands=(
        r"^\s*show control-cluster logical-routers interface(?:-summary)?(?:\s+(?P<lr_id>0x[0-9A-Fa-f]{1,8}\b|\d+))?",
    ),
    shape=r"^\s*(?:Interface\s+Type\s+Id\s+IP\[\]\s*$|Interface-Name:\s*\S)",
    body=(
        r"^\s*(?:Interface\s+Type\s|-{3,}|\S+\s+(?:vlan|vxlan)\s|[A-Z][A-Za-z-]{1,30}:"
        r"|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}\s*$|\S+[.:]\S*/\d+\s*$|error: |%)"
    ),
)
