"""What the card of an ESXi host shows: one line for each table.

A row has a title, the column that names its objects ("" where the row is about the host itself), and the tables it
takes its cells from. A cell is text with columns in braces; it is left out where one of its columns is not known.
Numbers get the unit that their column declares.

    {speed_mbps}             10,000 Mbit/s
    {link_up:link up|down}   a bool as one of two words
    {serial_number:end}      only its end: a serial number is the customer's
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Cells = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """The cells that one table gives a row of the card; `only` leaves out rows of the table."""

    table: str
    cells: tuple[str, ...]
    only: Callable[[Cells], bool] | None = None


@dataclass(frozen=True, slots=True)
class RowForm:
    """One row of the card: its title, the column that names its objects, and where its cells come from."""

    title: str
    by: str
    parts: tuple[Part, ...]


def make_part(table: str, *cells: str, only: Callable[[Cells], bool] | None = None) -> Part:
    """Return the cells that a table gives a row."""
    return Part(table, cells, only)


def make_row(title: str, by: str, *parts: Part) -> RowForm:
    """Return one row of the card."""
    return RowForm(title, by, parts)


def is_datastore(cells: Cells) -> bool:
    """Tell a datastore from a boot bank, a locker, or a volume of the system."""
    return str(cells.get("filesystem_type")) not in (
        "vfat",
        "VFFS",
        "VFFS-1",
        "VMFS-L",
        "VMFSL",
        "VMFSOS",
    )


def is_changed(cells: Cells) -> bool:
    """Say whether an option differs from its default; a list of changed options does not always tell the default."""
    changed = cells.get("changed")
    return bool(cells.get("delta_only") if changed is None else changed)


def is_other(cells: Cells) -> bool:
    """Say whether the vmkernel runs with another value of a boot option than its default, or will at the next boot."""
    default, *values = (
        cells.get(name) for name in ("default_setting", "runtime_value", "configured_value")
    )
    if default is None:
        return False
    for value in values:
        if value is not None and str(value).casefold() != str(default).casefold():
            return True
    return False


def is_followed(cells: Cells) -> bool:
    """Say whether the clock of the host follows this server."""
    return bool(cells.get("ntp_followed"))


def is_time_server(cells: Cells) -> bool:
    """Say whether a line of a file of settings names a time server."""
    if cells.get("config_file") != "ntp.conf":
        return False
    return cells.get("config_key") in ("server", "pool")


def is_place_of_logs(cells: Cells) -> bool:
    """Say whether a line of a file of settings says where all logs go."""
    named = (
        cells.get("config_file") == "vmsyslog.conf"
        and cells.get("config_section") == "vmsyslog-global"
    )
    return named and cells.get("config_key") in ("loghost", "logdir")


ROWS = (
    make_row(
        "Hardware",
        "",
        make_part(
            "esxi.platform", "{platform_vendor}", "{product_name}", "serial {serial_number:end}"
        ),
    ),
    make_row(
        "Image",
        "image",
        make_part("esxi.image_profile", "{profile}", "{vendor}", "changed {profile_modified}"),
    ),
    make_row(
        "Processors",
        "",
        make_part(
            "esxi.cpu_global",
            "{cpu_packages}",
            "{cpu_cores}",
            "{cpu_threads}",
            "{hyperthreading_active:|no hyperthreading}",
        ),
        make_part(
            "esxi.cpu", "{cpu_brand} family {cpu_family} model {cpu_model} stepping {cpu_stepping}"
        ),
    ),
    make_row(
        "Memory",
        "",
        make_part("esxi.memory", "{physical_bytes}", "{numa_nodes:NUMA node|NUMA nodes}"),
    ),
    make_row(
        "Physical NICs",
        "pnic",
        make_part(
            "esxi.pnic",
            "{link_up:up|down}",
            "{speed_mbps}",
            "{driver}",
            "{mtu:MTU}",
            "{description}",
        ),
        make_part("esxi.pnic_info", "driver {driver_version}", "firmware {firmware_version}"),
    ),
    make_row(
        "Disk adapters",
        "hba",
        make_part("esxi.storage_adapter", "{driver}", "{link_state}", "{description}"),
    ),
    make_row(
        "Datastores",
        "volume_name",
        make_part(
            "esxi.filesystem",
            "{filesystem_type}",
            "{free_bytes} free of {total_bytes}",
            "{mounted:|not mounted}",
            only=is_datastore,
        ),
        make_part(
            "esxi.nfs_datastore",
            "{nfs_server}:{nfs_share}",
            "{accessible:|not accessible}",
            "{read_only:read only|}",
        ),
        make_part(
            "esxi.nfs41_datastore",
            "{nfs_server}:{nfs_share}",
            "{accessible:|not accessible}",
            "{read_only:read only|}",
        ),
    ),
    make_row(
        "Virtual switches",
        "switch",
        make_part("esxi.vswitch", "uplinks {uplinks}", "{mtu:MTU}", "{distributed:distributed|}"),
    ),
    make_row(
        "VMkernel adapters",
        "vmk",
        make_part("esxi.vmk", "{ip_address}", "{network}", "{mtu:MTU}", "{netstack}"),
    ),
    make_row(
        "VMs",
        "vm_name",
        make_part(
            "esxi.vm",
            "{vcpus:vCPU|vCPUs}",
            "{memory_mb}",
            "hardware version {hw_version}",
            "{guest_os}",
        ),
        make_part("esxi.vnic", "{adapter} on {network}"),
        make_part("esxi.vm_process", "runs as world {vm_world_id}"),
    ),
    make_row(
        "VMs to the wire",
        "vm_name",
        make_part("esxi.vm_network", "{vnic:eth} at {port_id:port} of {switch} to {uplinks}"),
        make_part("esxi.vm_network", "driver of {pnic}: {driver}"),
    ),
    make_row(
        "VMs to storage",
        "vm_name",
        make_part("esxi.vm_storage", "{vdisk} on {volume_name}"),
        make_part("esxi.vm_storage", "{volume_name} on {storage_device}"),
        make_part("esxi.vm_storage", "over {hba}, driver {driver}"),
    ),
    make_row(
        "Time",
        "",
        make_part(
            "esxi.ntp",
            "NTP {running:runs|does not run}",
            "{enabled:|does not start with the host}",
            "{ntp_servers}",
        ),
        make_part(
            "esxi.ntp_peer", "follows {ntp_server}", "offset {ntp_offset_ms}", only=is_followed
        ),
        make_part("esxi.config_line", "asks {config_text}", only=is_time_server),
    ),
    make_row(
        "Services",
        "service_name",
        make_part("esxi.service_status", "{service_running:runs|does not run}"),
    ),
    make_row(
        "Firewall",
        "",
        make_part("esxi.firewall", "{enabled:on|off}", "default action {default_action}"),
    ),
    make_row(
        "Logs",
        "",
        make_part(
            "esxi.syslog_config",
            "{log_folder}",
            "{log_persistent:|lost at a boot}",
            "to {remote_hosts}",
        ),
        make_part("esxi.config_line", "{config_key} {config_text}", only=is_place_of_logs),
    ),
    make_row(
        "Certificate",
        "",
        make_part(
            "esxi.certificate", "of {subject_name}", "by {issuer_name}", "until {valid_until}"
        ),
    ),
    make_row(
        "Core dumps go to",
        "",
        make_part(
            "esxi.coredump_partition_target", "partition {active_dump}", "{has_dump:|no partition}"
        ),
        make_part("esxi.coredump_file_target", "file {active_dump}", "{has_dump:|no file}"),
    ),
    make_row(
        "Boot options changed from default",
        "kernel_setting",
        make_part(
            "esxi.kernel_setting",
            "runs {runtime_value}",
            "next boot {configured_value}",
            "default {default_setting}",
            only=is_other,
        ),
    ),
    make_row(
        "Options changed from default",
        "option",
        make_part(
            "esxi.advanced_option",
            "{value}",
            "{text}",
            "default {default_value}",
            "default {default_text}",
            only=is_changed,
        ),
    ),
)
