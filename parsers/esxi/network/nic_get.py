"""`esxcli network nic get -n vmnicN`: driver, firmware and link of one physical NIC; a stuck one prints an error."""

from analyzer.forms import Field, Param, get_block

from ._pnic import INFO

PARSER = get_block(
    "nic_get",
    "network nic get",
    INFO,
    INFO.meaning,
    Param(("-n", "--nic-name"), "pnic", "str", "physical NIC as the host names it: vmnic0", r"\w+"),
    Field("Name", "pnic", pattern=r"\w+"),
    Field("Driver", "driver", pattern=r"\S+"),
    Field("Version", "driver_version", pattern=r"\S+"),
    Field("Firmware Version", "firmware_version"),
    Field("Bus Info", "bus_info", pattern=r"\S+"),
    Field("Link Status", "link_status"),
    Field("Link Detected", "link_detected", pattern="true|false"),
    Field("Auto Negotiation", "auto_negotiation", pattern="true|false"),
    Field("Pause RX", "pause_rx", pattern="true|false"),
    Field("Pause TX", "pause_tx", pattern="true|false"),
    begins="Advertised Auto Negotiation",
    shape=r"^\s*Advertised Auto Negotiation:\s",
)
