"""`esxcli storage san sas list`: SAS adapters with address, link rates, firmware and driver."""

from analyzer.forms import Field, Key, get_blocks

from ._san import FIRMWARE

PARSER = get_blocks(
    "sas_adapters",
    "storage san sas list",
    "esxi.sas_adapter",
    "SAS adapters: address, link rate, firmware, driver.",
    Key("Device Name", "hba", "str", "disk adapter as the host names it: vmhba2"),
    Field("SAS Address", "sas_address", "str", "address of the adapter"),
    Field("Physical ID", "phy", "int", "number of the PHY"),
    Field("Minimum Link Rate", "min_link_mbps", "int", "lowest rate", "Mbit/s", behind=" Mbps"),
    Field("Maximum Link Rate", "max_link_mbps", "int", "highest rate", "Mbit/s", behind=" Mbps"),
    Field("Negotiated Link Rate", "link_mbps", "int", "rate in use", "Mbit/s", behind=" Mbps"),
    Field("Model Description", "description", "str", "model as the driver names it"),
    *FIRMWARE,
    begins="Device Name",
)
