"""`nsxdp-cli ens uplink list`: which physical NICs can and do run the enhanced data path of NSX-T.

True and False are spelled as Python does; descriptions are cut by the command.
"""

from analyzer.forms import written
from analyzer.tables import MAC_FORM, Column, Table

from ._pnic import PNIC

TABLE = Table(
    name="esxi.ens_uplink",
    meaning="Physical NICs and the enhanced data path (ENS) of NSX-T.",
    source="nsxdp-cli ens uplink list",
    ask="`nsxdp-cli ens uplink list`",
    key=("pnic",),
    columns=(
        PNIC,
        Column("driver", "str", "driver in use"),
        Column("ens_capable", "bool", "the driver can run in the enhanced data path"),
        Column("ens_driven", "bool", "the NIC is driven by the enhanced data path"),
        Column("intr_capable", "bool", "the driver can run it in interrupt mode"),
        Column("intr_enabled", "bool", "the NIC runs in interrupt mode"),
        Column("mac", "str", "MAC address of the client", form=MAC_FORM),
        Column("description", "str", "model as the driver names it"),
    ),
)


PARSER = written(
    "ens_uplinks",
    TABLE,
    node="esxi",
    commands=(r"\bnsxdp-cli\s+ens\s+uplink\s+list\b",),
    shape=r"^\s*Name\s+Driver\s+ENS Capable\s+ENS Driven\s",
    body=r"^\s*(?:Name\s+Driver\s+ENS.*|-[- ]+|\w+\s+[\w-]+\s+(?:True|False)\s.*)$",
)
