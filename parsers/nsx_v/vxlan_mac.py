"""`esxcli network vswitch dvs vmware vxlan network mac list`: MAC addresses of a logical switch on a host.

Only the command tells the logical switch.
"""

from analyzer.artefacts.tables import IP_FORM, MAC_FORM
from analyzer.forms import Field, Key, Param, text_table

PARSER = text_table(
    "vxlan_mac",
    "nsx.vxlan_mac",
    Param((), "dvs", "str", "distributed switch, where the command tells"),
    Param((), "vni", "int", "VXLAN network identifier, where the command tells"),
    Key("Inner MAC", "inner_mac", "str", "MAC address behind the VTEP", form=MAC_FORM),
    Field(
        "Outer MAC", "outer_mac", "str", "MAC address of the VTEP", form=MAC_FORM, pattern=r"\S+"
    ),
    Field("Outer IP", "outer_ip", "str", "address of the VTEP", form=IP_FORM, pattern=r"\S+"),
    Field("Flags", "flags", "str", "flags as printed", pattern=r"\S+"),
    meaning="MAC addresses of a logical switch and the VTEP behind which each is, as a host knows them.",
    source="esxcli network vswitch dvs vmware vxlan network mac list",
    ask="`esxcli network vswitch dvs vmware vxlan network mac list --vds-name <dvs> --vxlan-id <vni>`",
    node="esxi",
    commands=(
        r"\b(?:esxcli|localcli)\s+network\s+vswitch\s+dvs\s+vmware\s+vxlan\s+network\s+mac\s+list\b"
        r"(?=(?:.*--vds-name[= ](?P<dvs>[^\s;|]+))?)(?=(?:.*--vxlan-id[= ](?P<vni>\d+))?)",
    ),
    body=r"[0-9A-Za-z*]{2}(?::[0-9A-Za-z*]{2}){5}\s",
)
