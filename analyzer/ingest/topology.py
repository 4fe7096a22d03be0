"""Which VM hangs on which port, switch and uplink: one table across the tables of a host."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from analyzer.artefacts.tables import Row
from analyzer.ingest.intake import Intake

UPLINK_PORT = 4  # Type of the port of an uplink in `net-stats -l`
VM_PORT = 5  # the same of a VM
MODELS = {9: "VMXNET3"}  # the only SubType a source names


def make_topology(intake: Intake) -> list[dict[str, Any]]:
    """Return one record per VM port: node, vm, vnic, adapter, port_id, switch, portgroup, uplinks, mac.

    Call it after `name_records`.
    """
    by_table: dict[str, list[Row]] = defaultdict(list)
    for row in intake.rows:
        by_table[row.table.name].append(row)
    uplinks = _find_uplinks(by_table)
    vnics: dict[tuple[str, str], dict[str, Any]] = {}
    for row in by_table["esxi.vnic"]:
        if mac := row.values.get("mac"):
            vnics[row.block.node, str(mac).lower()] = row.values

    records: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in by_table["esxi.net_stats"]:
        node, values = row.block.node, row.values
        if values.get("type") != VM_PORT:
            continue
        mac, vm, port = values.get("mac"), values.get("client_vm"), values.get("port_id")
        vm = vm or values.get("client_name")
        vnic = vnics.get((node, str(mac or "").lower()), {})
        subtype = values.get("subtype")
        model = MODELS.get(subtype, f"SubType {subtype}") if isinstance(subtype, int) else None
        records[node, port, mac, vm] = {
            "node": node,
            "vm": vm,
            "vnic": values.get("vnic"),
            "adapter": vnic.get("adapter") or model,
            "port_id": port,
            "switch": values.get("switch"),
            "portgroup": vnic.get("network"),
            "uplinks": uplinks.get((node, str(values.get("switch")))),
            "mac": mac,
        }

    def order(record: dict[str, Any]) -> tuple[Any, ...]:
        vm, vnic = str(record["vm"] or ""), str(record["vnic"])
        return record["node"], vm, vnic, record["port_id"] or 0

    return sorted(records.values(), key=order)


def _find_uplinks(by_table: dict[str, list[Row]]) -> dict[tuple[str, str], str]:
    """Return (node, switch) -> its uplinks: as the switch lists them, else by the ports they hold."""
    uplinks: dict[tuple[str, str], str] = {}
    for row in by_table["esxi.vswitch"]:
        if listed := row.values.get("uplinks"):
            uplinks[row.block.node, str(row.values["switch"])] = str(listed)
    ports: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in by_table["esxi.net_stats"]:
        name = str(row.values.get("client_name") or "")
        if row.values.get("type") == UPLINK_PORT and name.startswith("vmnic"):
            ports[row.block.node, str(row.values["switch"])].add(name)
    for key, names in ports.items():
        uplinks.setdefault(key, ",".join(sorted(names)))
    return uplinks
