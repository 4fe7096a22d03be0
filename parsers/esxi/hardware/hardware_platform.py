"""`esxcli hardware platform get`: vendor, model and serial number of the machine."""

from analyzer.forms import Field, get_block

PARSER = get_block(
    "hardware_platform",
    "hardware platform get",
    "esxi.platform",
    "The machine the host runs on.",
    Field("Product Name", "product_name", "str", "model of the machine"),
    Field("Vendor Name", "platform_vendor", "str", "who made it"),
    Field("Serial Number", "serial_number", "str", "serial number of the machine"),
    Field("IPMI Supported", "ipmi_supported", "bool", "it has a management controller"),
    title="Platform Information",
    sign="IPMI Supported",
    shape=r"^\s*Platform Information\s*$",
)
