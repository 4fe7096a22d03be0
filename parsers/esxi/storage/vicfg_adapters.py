"""`vicfg-scsidevs -a`: disk adapters as the remote command line (vCLI, vMA) lists them, with a heading, without links.

Source: a public capture of vMA, which has the IQN of the software iSCSI adapter under UID.
"""

from analyzer.forms import Field, text_table

from .storage_adapters import PARSER as ADAPTERS

PARSER = text_table(
    "vicfg_adapters",
    ADAPTERS.tables[0],
    Field("Adapter_ID", "hba", pattern=r"vmhba\d+"),
    Field("Driver", "driver", pattern=r"\S+"),
    Field("UID", "hba_uid", pattern=r"\S+"),
    Field("PCI", "", pattern=r"\([^()]*\)"),
    Field("Vendor & Model", "description"),
    node="esxi",
    commands=(r"\bvicfg-scsidevs\b.*\s(?:-a|--hbas)\b",),
    shape=r"^\s*Adapter_ID\s+Driver\s+UID\s+PCI\s+Vendor & Model\s*$",
    heading=r"Adapter_ID\s+Driver\s.*",
    body=r"vmhba\d+\s+\S+\s+\S+\s+\(",
)
