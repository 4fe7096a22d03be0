"""`/etc/init.d/netcpad status` and `/etc/init.d/vShield-Stateful-Firewall status`: agents of NSX for vSphere on a host.

Source: outputs of both in public posts on NSX 6.2; of an agent that does not run only that it prints other words.
"""

from __future__ import annotations

import re

from analyzer.parsing import Output, Parser, fault_at
from analyzer.tables import Block, Column, KeyColumn, Row, Table

TABLE = Table.of(
    "nsx.agent_service",
    "Agents of NSX for vSphere on a host, as their own scripts state them.",
    "/etc/init.d/netcpad status; /etc/init.d/vShield-Stateful-Firewall status",
    KeyColumn("host_agent", "str", "netCP agent service: the control plane; vShield-Stateful-Firewall: the firewall"),
    Column("agent_state", "str", "running, not running, stopped, as printed"),
    ask="`/etc/init.d/netcpad status` and `/etc/init.d/vShield-Stateful-Firewall status` on the host",
)
_LINE = re.compile(
    r"\s*(?P<host_agent>netCP agent service|vShield-Stateful-Firewall)\s+is\s+(?P<agent_state>\S.*?)\.?\s*$"
)


def parse(block: Block) -> Output:
    """Read the state of an agent, one row a line."""
    for number, line in enumerate(block.lines, block.first_line):
        if found := _LINE.match(line):
            yield Row(TABLE, dict(found.groupdict()), block, number)
        elif line.strip():
            yield fault_at(block, number, PARSER.name, "not a line of this output")


PARSER = Parser(
    name="nsx_agents",
    tables=(TABLE,),
    parse=parse,
    node="esxi",
    commands=(r"^\s*(?:\S*/)?(?:netcpad|vShield-Stateful-Firewall)\s+status\s*$",),
    shape=r"^\s*(?:netCP agent service|vShield-Stateful-Firewall) is (?:not )?running\b",
    body=r"^\s*(?:netCP agent service|vShield-Stateful-Firewall)\s+is\s",
)
