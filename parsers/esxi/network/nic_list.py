"""`esxcli network nic list`, `esxcfg-nics -l`: physical NICs, their driver and link.

5.x prints one column "Link" and PCI addresses of three digits, 5.5 and later "Admin Status" and
"Link Status"; `esxcfg-nics` prints the speed with its unit. A NIC on USB has the PCI address "Pseudo".
"""

from analyzer.forms import Field, localcli_table
from analyzer.forms.columns import bundle_files

from ._pnic import LIST

PARSER = localcli_table(
    "nic_list",
    "network nic list",
    LIST,
    LIST.meaning,
    Field("Name", "pnic", pattern=r"\w+"),
    Field("PCI|PCI Device", "pci", pattern=r"(?:\w+:)?\w+:\w+(?:[.:]\w+)?|[A-Z][a-z]+"),
    Field("Driver", "driver", pattern=r"\S+"),
    Field("Admin Status", "admin_up", pattern="[Uu]p|[Dd]own", maybe=True),
    Field("Link Status|Link", "link_up", pattern="[Uu]p|[Dd]own"),
    Field("Speed", "speed_mbps", pattern=r"\d+", behind="(?:Mbps)?"),
    Field("Duplex", "duplex", pattern=r"\S+"),
    Field("MAC Address", "mac"),
    Field("MTU", "mtu", pattern=r"\d+"),
    Field("Description", "description", maybe=True),
    row=r"\w+\s+(?:(?:\w+:)?\w+:\w+(?:[.:]\w+)?|[A-Z][a-z]+)\s+[\w-]+\s+(?:Up|Down)\s",
    alone=r"vmnic\d+\s+\S+\s+\S+\s+(?:(?:Up|Down)\s+){1,2}\d+(?:Mbps)?\s+\S+\s+\w\w(?::[\w*]{2}){5}\s",
    files=bundle_files("esxcfg-nics -l"),
    commands=(r"\besxcfg-nics\s+-l\b",),
)
