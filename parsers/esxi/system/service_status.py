"""`/etc/init.d/NAME status`: whether an agent of the host, of ESXi or of NSX for vSphere, runs, as its own script says.

Source: public scripts that quote `hostd is running.` and `hostd is not running.`; posts on NSX 6.2 with `netCP agent
service is running`, which is netcpad, and vShield-Stateful-Firewall. A script that says it in other words gives no row.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.signs import says_bad
from analyzer.artefacts.tables import Block, Column, KeyColumn, Row, Table

TABLE = Table.of(
    "esxi.service_status",
    "Agents and services of the host, those of NSX for vSphere as well, as their start scripts state them.",
    "/etc/init.d/NAME status",
    KeyColumn(
        "service_name",
        "str",
        "service as its script names it: hostd, vpxa, ntpd, netCP agent service",
    ),
    Column("service_running", "bool", "it runs", sign=says_bad("false", weight=1.5)),
    ask="`/etc/init.d/hostd status` and `/etc/init.d/vpxa status`; with NSX for vSphere `/etc/init.d/netcpad status`",
)
_SERVICES = (
    r"(?:hostd|vpxa|rhttpproxy|envoy|ntpd|ptpd|chronyd|snmpd|sfcbd(?:-watchdog)?|wsman|openwsmand|lbtd|fdm|vmware-fdm|vobd"
    r"|slpd|lwsmd|usbarbitrator|storageRM|vvold|nfsgssd|nfcd|dcbd|cdp|lacp|vitd|kmxd|attestd|clomd|cmmdsd|osfsd|epd|vsan\w+"
    r"|swapobjd|iofilterd-\w+|iofiltervpd|vmsyslogd|infravisor|configstoreBackup|hbrsrv|vmtoolsd"
    r"|netcpad|netCP agent service|vShield-Stateful-Firewall)"
)
_NAME = r"(?:netCP agent service|[A-Za-z][\w.-]{1,40})"
_LINE = re.compile(rf"\s*(?P<service_name>{_NAME})\s+is\s+(?P<no>not\s+)?running\.?\s*$")


def parse_block(block: Block) -> Output:
    """Read the state of each service that says it in the known words."""
    for number, line in enumerate(block.lines, block.first_line):
        if found := _LINE.match(line):
            values = {"service_name": found["service_name"], "service_running": not found["no"]}
            yield Row(TABLE, values, block, number)
        elif line.strip():
            yield fault_at(block, number, PARSER.name, "not a line of this output")


PARSER = Parser(
    name="service_status",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    commands=(rf"^\s*(?:\S*/)?{_SERVICES}\s+status\s*$",),
    shape=rf"^\s*{_SERVICES}\s+is\s+(?:not\s+)?running\.?\s*$",
    body=rf"^\s*{_NAME}\s+is\s+(?:not\s+)?running\.?\s*$",
)
