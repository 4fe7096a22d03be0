"""`esxcli storage san fc list`: Fibre Channel adapters with WWNs, speed, port state, firmware and driver.

A field the driver does not tell is printed as "Error getting field …" by localcli.
"""

from analyzer.forms import Field, get_blocks

from ._san import FIRMWARE, HBA, PORT

PARSER = get_blocks(
    "fc_adapters",
    "storage san fc list",
    "esxi.fc_adapter",
    "Fibre Channel adapters: port, speed, firmware, driver.",
    HBA,
    *PORT,
    Field("Model Description", "description", "str", "model as the driver names it"),
    *FIRMWARE,
    begins="Adapter",
)
