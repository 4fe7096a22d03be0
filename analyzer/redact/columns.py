"""What the text columns of all tables hold: names of one kind, free text, or words of the product.

A column is known by its name, which means the same in all tables (`OF_TABLE` has the few that do not). A new text
column has to be entered here: `tests/redact/test_redact_columns.py` walks all tables.
"""

from __future__ import annotations

PLAIN = "plain"  # the product's own words and numbers; known names are replaced in it nevertheless
TEXT = "text"  # lines and sentences that may speak of anything
# Of a table of settings: the column that says what its value is.
LABELLED = {
    "smbios_text": "smbios_label",
    "info_text": "info_name",
    "vsish_text": "vsish_key",
    "config_text": "config_key",
    "dvs_text": "dvs_property",
    "ntp_text": "ntp_name",
    "cell_text": "label",
    "smart_text": "smart_parameter",
    "configured_value": "kernel_setting",
    "runtime_value": "kernel_setting",
    "text": "option",
    "iscsi_text": "iscsi_key",
    "vim_text": "vim_path",
}
# A name of a setting whose value is a name: first pattern that is found in it, in lower case.
LABELS = (
    (r"serial|asset ?tag|service ?tag", "serial"),
    (r"uuid|guid", "uuid"),
    (r"mac ?addr|^mac$|ethernet ?address", "mac"),
    (
        r"host ?name|^hostname|fqdn|fully qualified|server ?name|dns ?name|^server$|vcenter|mgmt.?server",
        "host",
    ),
    (r"domain|^search", "domain"),
    (r"user ?name|^user$|account|^owner$", "user"),
    (r"vm ?name|display ?name", "vm"),
    (r"port ?group", "portgroup"),
    (r"datastore|volume ?name", "datastore"),
)
OF_TABLE = {
    ("nsx.controllers", "name"): "host",
    ("esxi.vmk", "network"): "portgroup",
    ("esxi.vnic", "network"): "portgroup",
    ("esxi.vm_network", "network"): "portgroup",
    ("nsx.vdr_bridge_network", "network"): "label",
    ("nsx.vdr_bridge_mac", "network"): "label",
    ("nsx.dfw_rule", "matches"): TEXT,
}

KINDS: dict[str, tuple[str, ...]] = {
    "host": (
        "backup_server", "controller_fqdn", "fqdn", "from_member",
        "host", "host_domain", "host_name", "hostname", "iscsi_node",
        "member", "member_names", "nfs_server", "node_name", "ntp_server", "ntp_servers", "object_name", "other",
        "neighbor_name", "peer", "ping_target", "remote_hosts", "said_by", "to_member", "transport_node", "remote_name",
        "vm_host",
    ),
    "vm": (
        "agent_vm", "client_vm", "vm_folder", "vm_name",
    ),
    "client": (
        "client_name", "used_by",
    ),
    "user": (
        "user", "username",
    ),
    "address": (
        "address", "addresses", "agent_group", "broadcast", "control_plane_ip", "controller_ip", "controllers",
        "designated_ip", "destination", "dst", "failed_from", "gateway", "gateway_ip", "host_ip", "ip",
        "ip_address", "ipv6",
        "listen_ip", "local_ip", "manager_ip", "master_group", "multicast", "multicast_ip", "neighbor", "network",
        "neighbor_address",
        "next_hop", "ntp_refid", "outer_ip", "remote_address", "remote_ip", "route", "router_id", "segment", "src",
        "vtep_ip", "vip", "vip6", "vip_owner",
    ),
    "mac": (
        "controller_mac", "fcf_mac", "gateway_mac", "holder_mac", "inner_mac", "mac", "next_hop_mac", "outer_mac",
        "source_mac",
        "vn_port_mac",
    ),
    "device": (
        "active_dump", "configured_dump", "disk_group", "dump_partition", "endpoint_id", "endpoint_lun", "hba_uid",
        "other_names", "path_name", "path_uid", "sas_address", "storage_device", "target_uid", "vml_name", "wwnn",
        "wwpn",
    ),
    "serial": (
        "array_id", "serial_number",
    ),
    "uuid": (
        "alarm_id", "backup_uuid", "bios_uuid", "cluster_id", "container_uuid", "controller_uuid",
        "disk_group_uuid", "dvs_uuid", "lun_uuid",
        "lock_owner",
        "dvs_uuids", "edge_uuid", "entity_uuid", "entry_uuid", "leader_uuid", "master_uuid", "member_uuid",
        "member_uuids", "node_uuid", "owner_uuid", "partition_guid", "peer_uuid", "remote_uuid", "session_uuid",
        "vm_uuid", "volume_uuid", "vpn_tunnel", "vsan_cluster_uuid", "vsan_uuid",
    ),
    "datastore": (
        "object_label", "volume_name",
    ),
    "portgroup": (
        "dvportgroup", "opaque_network", "portgroup", "virtual_wire", "vm_networks",
    ),
    "switch": (
        "bridge", "dvs", "dvs_name", "lif", "lr_name", "router", "router_name", "switch", "switch_name", "vdr",
    ),
    "label": (
        "address_set", "cluster_name", "containers", "datacenter", "edge_name", "entry_name", "interface_name",
        "port_name", "service_profile", "snapshot_name", "vasa_provider",
    ),
    "path": (
        "backup_folder", "dump_path", "file_name", "locked_file", "log_folder", "mount_point", "nfs_share",
        "link_target", "module_file", "parent_file", "stat_path", "tool_file",
        "vasa_url", "descriptor_file", "disk_path", "parent_path", "vdisk_file", "vm_file", "vmx_path",
    ),
    "input": (
        "bundle_name",
    ),
    "name": (
        "issuer_name", "subject_name",
    ),
    TEXT: (
        "action_time", "adapter_words", "alarm_summary", "asked", "binding_id", "cell_text", "cluster_answer",
        "coalescing_params", "collector_action",
        "command", "command_line", "config_key", "config_section", "config_text", "configured_value",
        "controller_id", "core_file",
        "iscsi_alias", "default_text", "description", "display_name",
        "down_reason", "dvs_text", "entity_id", "entry_type",
        "failure_reason",
        "failure_text", "filters", "folder", "gateway_id", "host_id", "info_path", "info_text", "internal_name",
        "iscsi_text", "kernel_options", "link_name", "manifest", "means", "message", "missing_link", "mount_obstacle",
        "named_adapter", "named_path", "neighbor_platform", "neighbor_port", "neighbor_software",
        "nvme_controller",
        "ntp_text", "object", "object_id", "of_object", "offline_remark", "parameter_text", "ping_error",
        "probe_source",
        "psp_config", "psp_path_config", "remote_id", "resignature_obstacle", "resource", "rests_on_it", "rule_tag",
        "runtime_value", "said",
        "satp_config", "satp_path_config", "sel_event", "sel_message",
        "site", "smart_text", "smbios_text", "vim_text", "source", "step", "target_words",
        "team_pnic",
        "text", "tool_above", "tool_text", "tunnel", "tunnel_name", "update_message", "vds_id", "vm_note",
        "vnic_id", "vnic_name",
        "vsan_reason", "vsish_path", "vsish_text", "working_paths", "world_name",
    ),
    PLAIN: (
        "memory_used_text", "memory_total_text", "pci_alias", "pci_owner", "pci_owner_configured", "pci_parent",
        "pci_slot", "pci_slot_name", "pci_vendor",
        "as_path", "cdp_status", "cdrom_type", "multicast_routing", "neighbor_protocol", "nvme_transport", "offload",
        "outage", "portset", "route_flags", "route_origin", "route_way", "team_uplink",
        "acceptance", "access", "action", "active_status", "active_uplinks", "adapter", "adapter_state",
        "api_code", "http_status",
        "address_family", "address_kind", "address_type", "admin_state", "admin_status", "af", "age_text", "agent_name",
        "agent_status", "agent_vm_power", "alarm_state", "apic_id", "app", "asc", "ascq",
        "ats_incompatibility", "deed", "deed_sign", "module_licence", "module_version", "sel_event_type", "sel_gravity",
        "sel_type", "alarm_severity", "alarm_status",
        "ats_status", "ats_upgrade_modes", "backup_frequency", "backup_left_out", "backup_protocol", "bank",
        "root_link", "beacon_required_by", "bfd_diag", "bfd_session_state", "bfd_state", "bgp_state", "binding_state",
        "boot_build",
        "boot_event", "boot_title", "bound_vmknics", "bundle", "bus_info", "capabilities", "certificate_use", "channel",
        "channel_detail", "channel_state", "cid", "claim_options", "clock_text", "clone_status", "coalescing_scheme",
        "code_file", "collected", "collector_command", "comp", "compliance", "component_id", "config_file",
        "configuration", "configured_status", "congestion_control", "connection_state", "connection_sync",
        "control_plane", "control_plane_agent", "control_status", "controller_state", "controller_type", "cookie",
        "core_type", "correlator", "counter", "cpu_brand", "cpu_shares", "create_type", "created_text",
        "datapath_config_channel", "datapath_status_channel", "default_action", "default_setting", "delete_status",
        "dependencies", "device", "device_id", "device_status", "device_type",
        "lun_type", "vim_path", "direction", "discovered_by", "disk",
        "disk_mode", "driver", "duplex", "dvport", "dvs_part", "dvs_property", "edge", "edge_build", "edge_connection",
        "edge_size", "edge_state", "edge_status", "edge_type", "failover_mode", "ha_mode", "ike_version",
        "peer_router_state", "port_admin_status", "router_state", "router_tier", "vpn_state", "vpn_tunnel_state",
        "vpn_type",
        "enabled_on", "encapsulation", "ended", "endpoint_type", "entity",
        "entry_health", "error_codes", "event_id", "event_time", "event_type", "exit_code", "extent_type",
        "fabric_status", "failure", "failure_detection", "failure_policy", "fc_event", "feature", "feature_id",
        "feature_version",
        "file_sync", "filesystem_type", "filesystem_version", "filter", "filter_hash", "filter_source", "filter_state",
        "firewall", "firewall_agent", "firmware", "flags", "format_type", "free_text", "fs_type", "group_state",
        "group_status", "group_type", "guest_id", "guest_os", "ha_admin_state", "ha_interface", "ha_state", "ha_status",
        "hardware_acceleration", "hardware_version", "hba", "hba_driver_version", "hba_firmware", "heading", "heap",
        "host_status", "hw_text", "image", "info_name", "info_of", "install_date", "install_status", "instance",
        "interface", "interface_mode", "interface_type", "iofilter", "iofilter_class", "iofilter_id",
        "iofilter_local_id", "iofilter_version", "ip_family", "ip_protocol", "iscsi_key", "iscsi_part", "java_class",
        "join_since", "join_status", "kernel_setting", "key", "label", "last_changed", "last_down", "last_up",
        "latency_sensitivity", "latency_type", "learned_from", "level", "lif_type", "link", "link_state", "link_status",
        "link_criteria", "load_balancing", "locking_mode",
        "neighbor_state", "teaming_flags", "log", "log_type", "logged", "maintenance_mode", "majority_since",
        "majority_status", "management_status", "manager_link", "mask", "matches", "meaning", "member_kind",
        "member_status", "memory_text", "mode", "model", "modified", "module", "module_parameter", "module_path",
        "mp_connectivity",
        "msgid", "name", "neighbor_type", "netmask", "netstack", "network_id", "nfs_security", "nic_status",
        "node_health", "node_kind", "node_rollup", "node_state", "node_status", "node_type", "noncompliance",
        "nsx_error_code", "ntp_name", "ntp_reach", "ntp_tally", "ntp_type", "ntp_when", "object_health", "object_type",
        "on_pcpu", "op_state", "operation", "opid", "option", "option_rom", "option_type", "origin", "others",
        "outcome", "overall_status", "own_health", "owner", "parameter_meaning", "parameter_type", "parent_cid",
        "partition_layout", "partition_name", "partition_table", "path_limit_type", "path_state", "pci", "pci_class",
        "pci_class_name", "pci_model", "pci_user", "subdevice_id", "subvendor_id", "peer_health", "peer_state",
        "platform_vendor", "plugin", "plugin_class",
        "plugin_status", "mem_group", "pnic", "pool", "port_cfg", "port_fcid", "port_side", "port_state", "port_type",
        "power_state", "power_status", "process_name", "product", "product_name", "profile", "program", "protocol",
        "psp",
        "psp_options", "publish_status", "queue_name", "ramdisk", "rdm_mode", "reason", "release", "release_date",
        "remote_diag", "remote_state", "renamed_from", "replication", "reporter", "req_id", "restart_since",
        "restart_status",
        "resync_gb_text", "revision", "role", "route_kind", "route_mtu", "router_type",
        "routing_status", "routing_status_channel",
        "rule_class", "rule_group", "rule_matches", "rule_state", "rule_type", "ruleset", "ruleset_name", "rx_rate",
        "s2comp", "satp", "satp_meaning", "satp_options", "scsi_command", "scsi_path", "sense", "sense_key",
        "psp_meaning", "snapshot_state",
        "server_status", "service", "service_controller", "service_name", "service_state", "session", "session_state",
        "session_status", "session_type", "setting_meaning", "setting_type", "severity", "side", "sign", "since",
        "size_text", "slot", "slowpath_rate", "smart_parameter", "smbios_label", "smbios_part", "software_version",
        "spanned", "ssl_state", "standby_uplinks", "state", "status", "stream", "sub", "subcomp", "supported_versions",
        "system_date", "system_status", "thin_provisioning", "thread", "timezone", "traffic_direction", "traffic_type",
        "transport", "tunnel_state", "tunnel_status", "tx_rate", "unit", "unit_state", "up_down_time", "update_error",
        "update_kind", "update_text",
        "uplink", "uplinks", "used_text", "vaai_plugin", "vaai_status", "vasa_status", "vcdrom", "vdisk",
        "vendor", "vendor_id", "vendor_name", "verdict", "vib_conflicts", "vib_created", "vib_depends", "vib_replaces",
        "vib_type", "vibs_installed", "vibs_removed",
        "vlan_text", "vm_moid", "vm_state", "vm_status", "vm_support_version", "vmk", "vmknic", "vmnic", "volume_mode",
        "vrf", "vsan_disk_state", "vsan_mode", "vsan_time", "vsish_key", "vtep_state", "vxlan_control_plane", "way",
        "zero_status",
        "last_failure", "stat_type",
    ),
}  # fmt: skip

_OF = {name: kind for kind, names in KINDS.items() for name in names}


def kind_of(table: str, column: str) -> str:
    """Return what a text column holds: a kind of name, `TEXT` or `PLAIN`; KeyError for one that no one entered."""
    return OF_TABLE.get((table, column)) or _OF[column]
