"""`esxcli network ip route ipv4 list`: routes of the VMkernel adapters, and who set each."""

from analyzer.forms import Field, localcli_table

from .routes import PARSER as ROUTES

_IP = r"[0-9A-Fa-fXx*]*[.:][\w.:*/]*"

PARSER = localcli_table(
    "route_list",
    "network ip route ipv4 list",
    ROUTES.tables[0],
    "",
    Field("Network", "network", pattern=rf"default|{_IP}"),
    Field("Netmask", "netmask", pattern=_IP),
    Field("Gateway", "gateway", pattern=_IP, none=("0.0.0.0",)),
    Field("Interface", "vmk", pattern=r"vmk\d+|lo\d+"),
    Field("Source", "", pattern=r"[A-Z]+", maybe=True),
)
