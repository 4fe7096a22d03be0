"""`esxcfg-route -l` and `-f V6 -l`: routes of the VMkernel adapters.

Source: `commands/esxcfg-route_-l.txt`, `commands/esxcfg-route_-f-V6--l.txt`, or the command.
"""

from analyzer.forms import Field, Key, text_table
from analyzer.forms.columns import bundle_files

_IP = r"[0-9A-Fa-fXx*]*[.:][\w.:*]+"

PARSER = text_table(
    "routes",
    "esxi.route",
    Key(
        "Network",
        "network",
        "str",
        "network it leads to; default for all others",
        pattern=rf"default|{_IP}",
    ),
    Field(
        "Netmask|Prefix Length",
        "netmask",
        "str",
        "its mask",
        pattern=rf"{_IP}|\d{{1,3}}",
        maybe=True,
    ),
    Field("Gateway", "gateway", "str", "gateway", pattern=_IP, none=("Local Subnet",)),
    Key("Interface", "vmk", "str", "VMkernel adapter: vmk0", pattern=r"vmk\d+|lo\d+"),
    meaning="Routes of the host, one row a route.",
    source="esxcfg-route -l",
    node="esxi",
    files=(*bundle_files("esxcfg-route -l"), *bundle_files("esxcfg-route -f V6 -l")),
    commands=(r"\besxcfg-route\s+(?:-f\s*V6\s+)?(?:-l|--list)\b",),
    shape=r"^\s*VMkernel Routes:\s*$",
    heading=r"(?:VMkernel Routes:|Network\s+(?:Netmask|Prefix Length)?.*\sInterface)",
    body=r"(?:default|[0-9a-fA-F.:]+)\s.*\s(?:vmk|lo)\d+\s*$",
)
