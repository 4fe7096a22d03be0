"""`nsxdp-cli ens uplink list`: which physical NICs can and do run the enhanced data path of NSX-T.

True and False are spelled as Python does; descriptions are cut by the command.
"""

from analyzer.artefacts.tables import MAC_FORM
from analyzer.forms import Field, Key, text_table

_BOOL = "True|False"

PARSER = text_table(
    "ens_uplinks",
    "esxi.ens_uplink",
    Key("Name", "pnic", "str", "physical NIC as the host names it: vmnic0", pattern=r"\w+"),
    Field("Driver", "driver", "str", "driver in use", pattern=r"\S+"),
    Field(
        "ENS Capable",
        "ens_capable",
        "bool",
        "the driver can run in the enhanced data path",
        pattern=_BOOL,
    ),
    Field(
        "ENS Driven",
        "ens_driven",
        "bool",
        "the NIC is driven by the enhanced data path",
        pattern=_BOOL,
    ),
    Field(
        "INTR Capable",
        "intr_capable",
        "bool",
        "the driver can run it in interrupt mode",
        pattern=_BOOL,
        maybe=True,
    ),
    Field(
        "INTR Enabled",
        "intr_enabled",
        "bool",
        "the NIC runs in interrupt mode",
        pattern=_BOOL,
        maybe=True,
    ),
    Field("MAC Address", "mac", "str", "MAC address of the client", form=MAC_FORM),
    Field("Description", "description", "str", "model as the driver names it", maybe=True),
    meaning="Physical NICs and the enhanced data path (ENS) of NSX-T.",
    source="nsxdp-cli ens uplink list",
    node="esxi",
    commands=(r"\bnsxdp-cli\s+ens\s+uplink\s+list\b",),
    shape=r"^\s*Name\s+Driver\s+ENS Capable\s+ENS Driven\s",
    heading=r"Name\s+Driver\s+ENS.*",
    body=rf"\w+\s+[\w-]+\s+(?:{_BOOL})\s",
)
