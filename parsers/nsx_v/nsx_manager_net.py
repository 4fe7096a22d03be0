"""`sys_net` of an NSX Manager's bundle: the addresses of its interfaces, as ifconfig prints them.

Source: a public script of a support engineer, which takes the address below the line that begins with `mgmt`.
"""

from analyzer.artefacts.tables import IP_FORM, Column, KeyColumn, Table
from analyzer.forms import template_parser

TABLE = Table.of(
    "nsx.manager_interface",
    "Network interfaces of the NSX Manager.",
    "sys_net of the Manager's bundle",
    KeyColumn("interface", "str", "name of the interface: mgmt"),
    Column("ip", "str", "its address", form=IP_FORM),
    Column("mask", "str", "netmask", form=IP_FORM),
    ask="NSX Manager tech-support bundle",
)

PARSER = template_parser(
    "nsx_manager_net",
    TABLE,
    node="nsx_manager",
    files=(r"(?:^|/)sys_net$",),
    body=r"^\s*\S",
)
