"""Guest `ethtool -i`: which driver and version serve a network interface.

Source: ethtool's own output, `key: value` in lines at the left margin. `N/A` stands for "not
known to the driver" and is left empty. Without its command a driver that no VM has is that of a host's NIC.
"""

from analyzer.forms import Field, Param, key_value

from ._guest import INTERFACE, ethtool_command

_NONE = ("N/A", "n/a")

PARSER = key_value(
    "ethtool_driver",
    "guest.ethtool_driver",
    Param((), INTERFACE.name, INTERFACE.kind, INTERFACE.meaning),
    Field("driver", "driver", "str", "name of the driver: vmxnet3, e1000, e1000e, pcnet32", pattern=r"[\w-]+"),
    Field(
        "version", "version", "version", "version of the driver; `-k` in it means bundled with the kernel",
        pattern=r"\S.{0,199}?", none=_NONE,
    ),
    Field(
        "firmware-version", "firmware", "str", "firmware version, empty where the driver has none",
        pattern=r"\S.{0,199}?", none=_NONE,
    ),
    Field("bus-info", "bus_info", "str", "PCI address of the adapter in the guest", pattern=r"\S+", none=_NONE),
    meaning="Driver of a network interface in a Linux guest.",
    source="ethtool -i <interface>, in the guest",
    ask="`ethtool -i eth0` in the guest, for each interface",
    node="guest",
    commands=(ethtool_command("-i", "--driver"),),
    shape=r"^\s*driver:\s*(?:vmxnet\d?|e1000e?|pcnet32|vlance|virtio_net)\s*$",  # others serve NICs of a host
    begins="driver",
    ignored=r"(?:expansion-rom-version|supports-[a-z-]+)",
)  # fmt: skip
