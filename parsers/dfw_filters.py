"""`vsipioctl getfilters`: the distributed firewall's filters of a host, one for each network card of a VM.

The name of a filter holds the number of the card and the slot: `nic-230869-eth0-vmware-sfw.2`.
"""

from analyzer.forms import written
from analyzer.tables import Column, Table

TABLE = Table(
    name="nsx.dfw_filter",
    meaning="Filters of the distributed firewall on a host.",
    source="vsipioctl getfilters",
    ask="`vsipioctl getfilters`",
    key=("filter",),
    columns=(
        Column("filter", "str", "name of the filter"),
        Column("vm_uuid", "str", "UUID of the VM, as printed"),
        Column("vnic", "int", "index of the network card in the VM"),
        Column("service_profile", "str", "service profile; --NOT SET-- where there is none"),
    ),
)


PARSER = written(
    "dfw_filters",
    TABLE,
    node="esxi",
    commands=(r"\bvsipioctl\s+getfilters\b",),
    shape=r"^\s*Filter Name\s*:\s*\S",
    body=r"^\s*(?:Filter Name|VM UUID|VNIC Index|Service Profile|[A-Z][\w ]{1,30}?)\s*:(?:\s|$)",
)
