"""`esxcli storage vmfs lockmode list`: how hosts lock each VMFS volume; one mode for all hosts, or data is at risk."""

from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "vmfs_lockmodes",
    "storage vmfs lockmode list",
    "esxi.vmfs_lockmode",
    "Locking of VMFS volumes: atomic test and set alone, or SCSI reservations as well.",
    Field("Volume Name", "volume_name", "str", "name of the datastore or volume"),
    Key("UUID", "volume_uuid", "str", "id of the volume", pattern=r"[0-9a-f]+-[0-9a-f-]+"),
    Field("Type", "filesystem_type", "str", "VMFS-5, VMFS-6, VMFS-L", pattern=r"VMFS\S*"),
    Field("Locking Mode", "locking_mode", "str", "ATS, ATS+SCSI, ATS Upgrade Pending, …"),
    Field("ATS Compatible", "ats_compatible", "bool", "the volume can lock by ATS alone"),
    Field("ATS Upgrade Modes", "ats_upgrade_modes", "str", "None, Online, Online or Offline"),
    Field(
        "ATS Incompatibility Reason",
        "ats_incompatibility",
        "str",
        "why not",
        none=("None",),
        maybe=True,
    ),
    options="-i",
)
