"""`vsipioctl getfilters`: the distributed firewall's filters of a host, one for each network card of a VM.

The name of a filter holds the number of the card and the slot: `nic-230869-eth0-vmware-sfw.2`.
"""

from analyzer.forms import Field, Key, key_value

PARSER = key_value(
    "dfw_filters",
    "nsx.dfw_filter",
    Key("Filter Name", "filter", "str", "name of the filter", pattern=r"\S+"),
    Field("VM UUID", "vm_uuid", "str", "UUID of the VM, as printed"),
    Field("VNIC Index", "vnic", "int", "index of the network card in the VM", pattern=r"\S+"),
    Field(
        "Service Profile",
        "service_profile",
        "str",
        "service profile; --NOT SET-- where there is none",
    ),
    Field(
        "Filter Hash",
        "filter_hash",
        "str",
        "number before the lines of this filter in dfwpktlogs.log; from 6.2.3 on",
    ),
    meaning="Filters of the distributed firewall on a host.",
    source="vsipioctl getfilters",
    node="esxi",
    commands=(r"\bvsipioctl\s+getfilters\b",),
    shape=r"^\s*Filter Name\s*:\s*\S",
    begins="Filter Name",
    ignored=r"[A-Z][\w ]{1,30}?",
)
