"""`esxcli storage core adapter list`: disk adapters, their driver and link."""

from analyzer.artefacts.signs import says_good
from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "storage_adapters",
    "storage core adapter list",
    "esxi.storage_adapter",
    "Disk adapters of the host.",
    Key("HBA Name", "hba", "str", "disk adapter as the host names it: vmhba0", pattern=r"vmhba\d+"),
    Field("Driver", "driver", "str", "driver in use", pattern=r"\S+"),
    Field(
        "Link State",
        "link_state",
        "str",
        "link-up, link-down, link-n/a, online, unbound",
        pattern=r"\S+",
        sign=says_good("link-up", "online", "link-n/a", "unbound", "unknown"),
    ),
    Field("UID", "hba_uid", "str", "identifier of the adapter: WWNs, IQN", pattern=r"\S+"),
    Field(
        "Capabilities",
        "capabilities",
        "str",
        "what the adapter can do: Second Level Lun ID, Data Integrity",
        pattern=r"[A-Z].*?",
        maybe=True,
    ),
    Field(
        "Description",
        "description",
        "str",
        "model as the driver names it",
        pattern=r"(?:\(|iSCSI Software Adapter).*",
    ),
    alone=r"vmhba\d+\s+\S+\s+(?:link-\S+|online|unbound)\s+\S+\s+.*(?:\(|iSCSI Software Adapter)",
    commands=(r"\besxcfg-scsidevs\s+(?:-a|--hbas)\b",),
)
