"""Guest `ethtool -i`: which driver and version serve a network interface.

Source: ethtool's own output, `key: value` in lines at the left margin. `N/A` stands for "not
known to the driver" and is left empty.
"""

from analyzer.forms import written
from analyzer.tables import Column, Table

from ._guest import INTERFACE, ethtool

TABLE = Table(
    name="guest.ethtool_driver",
    meaning="Driver of a network interface in a Linux guest.",
    source="ethtool -i <interface>, in the guest",
    ask="`ethtool -i eth0` in the guest, for each interface",
    key=("interface",),
    columns=(
        INTERFACE,
        Column("driver", "str", "name of the driver: vmxnet3, e1000, e1000e, pcnet32"),
        Column("version", "version", "version of the driver; `-k` in it means bundled with the kernel"),
        Column("firmware", "str", "firmware version, empty where the driver has none"),
        Column("bus_info", "str", "PCI address of the adapter in the guest"),
    ),
)


PARSER = written(
    "ethtool_driver",
    TABLE,
    node="guest",
    commands=(ethtool("-i", "--driver"),),
    shape=r"^\s*driver:\s*[\w-]+\s*$",
    body=r"^\s*(?:driver|version|firmware-version|expansion-rom-version|bus-info|supports-[a-z-]+):.*$",
)
