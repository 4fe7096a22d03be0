"""`esxcli network vswitch dvs vmware vxlan network mac list`: MAC addresses of a logical switch on a host.

Only the command tells the logical switch.
"""

from analyzer.forms import written
from analyzer.tables import IP_FORM, MAC_FORM, Column, Table

TABLE = Table(
    name="nsx.vxlan_mac",
    meaning="MAC addresses of a logical switch and the VTEP behind which each is, as a host knows them.",
    source="esxcli network vswitch dvs vmware vxlan network mac list",
    ask="`esxcli network vswitch dvs vmware vxlan network mac list --vds-name <dvs> --vxlan-id <vni>`",
    key=("dvs", "vni", "inner_mac"),
    columns=(
        Column("dvs", "str", "distributed switch, where the command tells"),
        Column("vni", "int", "VXLAN network identifier, where the command tells"),
        Column("inner_mac", "str", "MAC address behind the VTEP", form=MAC_FORM),
        Column("outer_mac", "str", "MAC address of the VTEP", form=MAC_FORM),
        Column("outer_ip", "str", "address of the VTEP", form=IP_FORM),
        Column("flags", "str", "flags as printed"),
    ),
)


PARSER = written(
    "vxlan_mac",
    TABLE,
    node="esxi",
    commands=(
        r"\b(?:esxcli|localcli)\s+network\s+vswitch\s+dvs\s+vmware\s+vxlan\s+network\s+mac\s+list\b"
        r"(?=(?:.*--vds-name[= ](?P<dvs>[^\s;|]+))?)(?=(?:.*--vxlan-id[= ](?P<vni>\d+))?)",
    ),
    shape=r"^\s*Inner MAC\s+Outer MAC\s+Outer IP\s+Flags\s*$",
    body=r"^\s*(?:Inner MAC\s|-{3,}|[0-9A-Za-z*]{2}(?::[0-9A-Za-z*]{2}){5}\s)",
)
