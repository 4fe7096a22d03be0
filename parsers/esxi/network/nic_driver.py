"""`ethtool -i vmnicN` on an ESXi host: driver and firmware of one physical NIC.

Source: ethtool's own output, the same as in a guest; the name vmnicN in the command, or the prompt of a host,
tells that it speaks of a physical NIC. Hosts have the command up to 7.x, for drivers of the old kind.
"""

from analyzer.forms import Field, key_value

from ._pnic import INFO

_NONE = ("N/A", "n/a")

PARSER = key_value(
    "nic_driver",
    INFO,
    Field("driver", "driver", pattern=r"[\w-]+"),
    Field("version", "driver_version", pattern=r"\S.{0,199}?", none=_NONE),
    Field("firmware-version", "firmware_version", pattern=r"\S.{0,199}?", none=_NONE),
    Field("bus-info", "bus_info", pattern=r"\S+", none=_NONE),
    begins="driver",
    ignored=r"(?:expansion-rom-version|supports-[a-z-]+)",
    commands=(r"\bethtool\s+(?:-i|--driver)\s+(?P<pnic>vmnic\d+)\b",),
    node="esxi",
    shape=r"^\s*driver:\s*[\w-]+\s*$",
)
