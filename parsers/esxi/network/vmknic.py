"""`esxcfg-vmknic -l`: VMkernel adapters with port group, addresses, MTU and TCP/IP stack.

Source: `commands/esxcfg-vmknic_-l.txt` or the command. 4.x prints no family and no stack, an IPv6 address has no
broadcast; the name of a port group holds blanks, and copies from a blog have lost the columns.
"""

from analyzer.forms import Field, text_table
from analyzer.forms.columns import bundle_files

from ._vmk import VMK

PARSER = text_table(
    "vmknic",
    VMK,
    Field("Interface", "vmk", pattern=r"vmk\d+"),
    Field("Port Group|Port_Group|DVPort", "network"),
    Field("IP Family", "ip_family", pattern="IPv[46]", maybe=True),
    Field("IP Address", "ip_address", pattern=r"N/A|\S*[.:]\S*"),
    Field("Netmask", "netmask", pattern=r"N/A|\d{1,3}|\S*\.\S*"),
    Field("Broadcast", "broadcast", pattern=r"N/A|\S*\.\S*", maybe=True),
    Field("MAC Address", "mac"),
    Field("MTU", "mtu", pattern=r"\d+"),
    Field("TSO MSS", "tso_mss", pattern=r"\d+", maybe=True),
    Field("Enabled", "enabled", pattern="true|false", maybe=True),
    Field("Type", "address_type", pattern="[A-Z]+(?:, [A-Z]+)*", maybe=True),
    Field("NetStack", "netstack", maybe=True),
    node="esxi",
    files=bundle_files("esxcfg-vmknic -l"),
    commands=(r"\besxcfg-vmknic\s+(?:-l|--list)\b",),
    shape=r"^\s*Interface\s+(?:Port[ _]Group\S*(?: Network)?|DVPort)\s+(?:IP[ _]Family\s+)?IP[ _]Address\s+Netmask\s",
    heading=r"Interface\s+(?:Port[ _]Group|DVPort)\S*.*\sMTU",
    body=r"vmk\d+\s",
)
