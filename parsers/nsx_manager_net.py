"""`sys_net` of an NSX Manager's bundle: the addresses of its interfaces, as ifconfig prints them.

Source: a public script of a support engineer, which takes the address below the line that begins with `mgmt`.
"""

from analyzer.forms import written
from analyzer.tables import IP_FORM, Column, Table

TABLE = Table(
    name="nsx.manager_interface",
    meaning="Network interfaces of the NSX Manager.",
    source="sys_net of the Manager's bundle",
    ask="NSX Manager tech-support bundle",
    key=("interface",),
    columns=(
        Column("interface", "str", "name of the interface: mgmt"),
        Column("ip", "str", "its address", form=IP_FORM),
        Column("mask", "str", "netmask", form=IP_FORM),
    ),
)

PARSER = written(
    "nsx_manager_net",
    TABLE,
    node="nsx_manager",
    files=(r"(?:^|/)sys_net$",),
    body=r"^\s*\S",
)
