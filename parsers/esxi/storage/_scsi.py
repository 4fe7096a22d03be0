"""What outputs about storage devices share: the table of devices, their name above a block, counters of commands."""

from analyzer.artefacts.signs import NOTHING, counts_loss, says_good
from analyzer.artefacts.tables import Column, KeyColumn, Table
from analyzer.forms import Field, Key

DEVICES = Table.of(
    "esxi.scsi_device",
    "Storage devices of the host.",
    "esxcli storage core device list; esxcfg-scsidevs -l; commands/esxcfg-scsidevs_-l.txt",
    KeyColumn("storage_device", "str", "storage device: naa.…, eui.…, t10.…, mpx.…"),
    Column("device_type", "str", "Direct-Access for a disk, CD-ROM, …"),
    Column("size_mb", "int", "size of the device", "MB"),
    Column("display_name", "str", "name shown to the administrator"),
    Column("plugin", "str", "multipath plugin that owns it: NMP"),
    Column("vendor_name", "str", "vendor as the device states it"),
    Column("model", "str", "model as the device states it"),
    Column("revision", "str", "revision as the device states it"),
    Column("scsi_level", "int", "SCSI level the device states"),
    Column(
        "device_status",
        "str",
        "state of the device as printed: on",
        sign=says_good("on", "degraded"),
    ),
    Column("is_pseudo", "bool", "no device of its own"),
    Column("is_rdm_capable", "bool", "may be given to a VM whole"),
    Column("is_removable", "bool", "the medium can be taken out"),
    Column("is_local", "bool", "no other host can reach it"),
    Column("is_ssd", "bool", "the device says that it has no disks that turn"),
    Column("is_offline", "bool", "the device is offline (esxcli only)"),
    Column(
        "is_reserved",
        "bool",
        "marked as reserved for good by another host, as clusters of VMs do (esxcli only)",
        sign=NOTHING,
    ),
    Column("is_boot_device", "bool", "the host has booted from it (esxcli only)"),
    Column("is_shared", "bool", "other hosts may have it as well (esxcli only)"),
    Column("thin_provisioning", "str", "the array has it thin: yes, no, unknown (esxcli only)"),
    Column("vaai_status", "str", "supported, unsupported, unknown (esxcli only)"),
    Column(
        "queue_depth", "int", "most commands the device takes at once (esxcli only)", "commands"
    ),
    Column(
        "competing_depth",
        "int",
        "most commands of one VM while others use the device (esxcli only)",
        "commands",
    ),
    Column("other_names", "str", "further names, by commas: vml.…"),
    ask="`esxcfg-scsidevs -l`",
)

NAME = r"(?:naa|eui|t10|mpx|vml|uuid)\.\S*[^\s:]"  # of a storage device
# The line above a block of esxcli; JSON holds it as a label.
DEVICE = Key(
    "|Device", "storage_device", "str", "storage device: naa.…, eui.…, t10.…, mpx.…", pattern=NAME
)
# the first cell of a row
DEVICE_CELL = Key(
    "Device", "storage_device", "str", "storage device: naa.…, eui.…, t10.…, mpx.…", pattern=NAME
)
# `… stats get` of a device and of an adapter
COMMANDS = (
    Field("Successful Commands", "cmds_ok", "int", "commands that succeeded", "times"),
    Field("Blocks Read", "blocks_read", "int", "blocks read", "blocks"),
    Field("Blocks Written", "blocks_written", "int", "blocks written", "blocks"),
    Field("Read Operations", "read_ops", "int", "reads", "times"),
    Field("Write Operations", "write_ops", "int", "writes", "times"),
    Field("Reserve Operations", "reserve_ops", "int", "SCSI reservations asked for", "times"),
    Field(
        "Reservation Conflicts",
        "reservation_conflicts",
        "int",
        "commands refused for a reservation of another host",
        "times",
    ),
    Field(
        "Failed Commands",
        "failed_cmds",
        "int",
        "commands that failed",
        "times",
        sign=counts_loss("cmds_ok"),
    ),
    Field(
        "Failed Blocks Read", "failed_blocks_read", "int", "blocks whose reading failed", "blocks"
    ),
    Field(
        "Failed Blocks Written",
        "failed_blocks_written",
        "int",
        "blocks whose writing failed",
        "blocks",
    ),
    Field("Failed Read Operations", "failed_read_ops", "int", "reads that failed", "times"),
    Field("Failed Write Operations", "failed_write_ops", "int", "writes that failed", "times"),
    Field(
        "Failed Reserve Operations",
        "failed_reserve_ops",
        "int",
        "reservations that failed",
        "times",
    ),
)
