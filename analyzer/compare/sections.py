"""Which part of the comparison a change belongs to."""

from __future__ import annotations

import re

from analyzer.artefacts.tables import Column, Table

VERSIONS = "Versions, drivers and firmware"
HARDWARE = "Hardware"
SETTINGS = "Settings"
VMS = "Virtual machines"
NETWORK = "Network"
STORAGE = "Storage"
NSX = "NSX"
MEASURED = "Measured values"
OTHER = "Other"
SECTIONS = (VERSIONS, HARDWARE, SETTINGS, VMS, NETWORK, STORAGE, NSX, OTHER, MEASURED)

_VERSION = re.compile(
    r"(?:^|_)(?:version|build|firmware|driver|release|update_text|revision|option_rom)(?:_|$)"
)
_MEASURE = re.compile(
    r"(?:^|_)(?:used|free|available|peak|pct|load|left|now|latency|congestion|delay|offset|jitter|buffers|cached|"
    r"buff|shared|allocated|queue_length|size_text|retransmits|bandwidth)(?:_|$)|_max_so_far$"
)
_TABLES = (
    (VERSIONS, r"vib|vib_detail|image_profile|release|boot_bank|loadesx"),
    (HARDWARE, r"platform|cpu|cpu_global|memory|pci_\w+|smbios_value|smart|info_value"),
    (SETTINGS, r"advanced_option|kernel_setting|config_line|"
     r"module|syslog_config|ntp\w*|firewall|coredump\w+|acceptance|"
     r"certificate|claim_rule|satp_rule|iofilter|vsish_value|command_value"),
    (VMS, r"vm(?:_\w+)?|vnic|vdisk|snapshot_chain|dvfilter|rdm_disk"),
    (NETWORK, r"pnic\w*|vmk\w*|vswitch|portgroup|port_status|net_stats|teaming|route|dv\w+|ens_uplink|vmxnet3_\w+|"
     r"client_stats|vsan_network|ethtool_\w+|tcp_stats"),
)  # fmt: skip


def find_section(table: Table, column: Column | None = None) -> str:
    """Return the part a table, or one of its columns, belongs to."""
    if column is not None and not column.name.startswith("is_"):
        if _VERSION.search(column.name) and column.kind != "float":
            return VERSIONS
        if column.kind in ("int", "float") and (
            column.kind == "float" or _MEASURE.search(column.name)
        ):
            return MEASURED
        if column.name.endswith("size_text") or column.name in ("used_text", "free_text"):
            return MEASURED
    if table.product in ("nsx", "nsxt", "site"):
        return NSX
    name = table.name.partition(".")[2]
    if table.name == "guest.memory":
        return MEASURED
    found = ""
    for what, form in _TABLES:
        if re.fullmatch(form, name):
            found = what
            break
    return found or (STORAGE if table.product == "esxi" else OTHER)
