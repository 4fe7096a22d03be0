"""Which VM hangs on which port, switch and uplink: one table across the tables of a host."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from analyzer.artefacts.tables import Row
from analyzer.ingest.intake import Intake

VM_PORT = 5  # Type of a VM's port in `net-stats -l`
MODELS = {9: "VMXNET3"}  # the only SubType a source names


def topology(intake: Intake) -> list[dict[str, Any]]:
    """Return one record per VM port: node, vm, vnic, adapter, port_id, switch, portgroup, uplinks, mac.

    Call it after `name_records`.
    """
    by_table: dict[str, list[Row]] = defaultdict(list)
    for row in intake.rows:
        by_table[row.table.name].append(row)
    uplinks = _uplinks(by_table)
    vnics = {
        (row.block.node, str(row.values.get("mac") or "").lower()): row.values
        for row in by_table["esxi.vnic"]
        if row.values.get("mac")
    }
    records = [
        _record(row, uplinks, vnics)
        for row in by_table["esxi.net_stats"]
        if row.values.get("type") == VM_PORT
    ]
    unique = {(r["node"], r["port_id"], r["mac"], r["vm"]): r for r in records}
    return sorted(
        unique.values(),
        key=lambda r: (r["node"], str(r["vm"] or ""), str(r["vnic"]), r["port_id"] or 0),
    )


def _uplinks(by_table: dict[str, list[Row]]) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for row in by_table["esxi.vswitch"]:
        if row.values.get("uplinks"):
            found[(row.block.node, str(row.values["switch"]))] = str(row.values["uplinks"])
    ports: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in by_table["esxi.net_stats"]:
        name = str(row.values.get("client_name") or "")
        if row.values.get("type") == 4 and name.startswith("vmnic"):
            ports[(row.block.node, str(row.values["switch"]))].append(name)
    for key, names in ports.items():
        found.setdefault(key, ",".join(sorted(set(names))))
    return found


def _record(
    row: Row, uplinks: dict[tuple[str, str], str], vnics: dict[tuple[str, str], dict[str, Any]]
) -> dict[str, Any]:
    values = row.values
    vnic = vnics.get((row.block.node, str(values.get("mac") or "").lower()), {})
    subtype = values.get("subtype")
    model = MODELS.get(subtype, f"SubType {subtype}") if isinstance(subtype, int) else None
    return {
        "node": row.block.node,
        "vm": values.get("client_vm") or values.get("client_name"),
        "vnic": values.get("vnic"),
        "adapter": vnic.get("adapter") or model,
        "port_id": values.get("port_id"),
        "switch": values.get("switch"),
        "portgroup": vnic.get("network"),
        "uplinks": uplinks.get((row.block.node, str(values.get("switch")))),
        "mac": values.get("mac"),
    }
