"""`esxcli storage core device list`: storage devices with state, queue depth and what the array supports."""

from dataclasses import replace

from analyzer.forms import Field, get_blocks

from ._scsi import DEVICES, NAME

_LIST = get_blocks(
    "storage_devices",
    "storage core device list",
    DEVICES,
    DEVICES.meaning,
    Field("|Device", "storage_device", pattern=NAME),
    Field("Display Name", "display_name"),
    Field("Size", "size_mb"),
    Field("Device Type", "device_type"),
    Field("Multipath Plugin", "plugin"),
    Field("Vendor", "vendor_name"),
    Field("Model", "model"),
    Field("Revision", "revision"),
    Field("SCSI Level", "scsi_level"),
    Field("Is Pseudo", "is_pseudo"),
    Field("Status", "device_status"),
    Field("Is RDM Capable", "is_rdm_capable"),
    Field("Is Local", "is_local"),
    Field("Is Removable", "is_removable"),
    Field("Is SSD", "is_ssd"),
    Field("Is Offline", "is_offline"),
    Field("Is Perennially Reserved", "is_reserved"),
    Field("Thin Provisioning Status", "thin_provisioning"),
    Field("VAAI Status", "vaai_status"),
    Field("Other UIDs", "other_names"),
    Field("Is Shared Clusterwide", "is_shared"),
    Field("Is Boot Device", "is_boot_device"),
    Field("Device Max Queue Depth", "queue_depth"),
    Field("No of outstanding IOs with competing worlds", "competing_depth"),
    sign="Has Settable Display Name",
)
# the list of protocol endpoints alone is another table
PARSER = replace(_LIST, commands=tuple(rf"{one}(?!.*\s--pe-only\b)" for one in _LIST.commands))
