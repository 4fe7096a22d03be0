"""What a vm-support bundle says of storage and vSAN is read through the command. All texts here are made up.

The forms are those of localcli and the scripts of ESXi 6.7; names and numbers belong to nobody.
"""

from __future__ import annotations

import json
import re
import tarfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.artefacts.parsing import registry
from analyzer.artefacts.tables import Block, Fault, Row
from analyzer.cli import main
from tests.kit.sample_kit import ALL

HOST = "esx-host1-2024-01-12--13.56-2107676"
LUN = "naa.60060160a0b02f0012345678abcdef01"
BASE = {
    "README": "Command line: /sbin/vm-support\nBundle name: synthetic\n",
    "commands/vmware_-vl.txt": "VMware ESXi 6.7.0 build-8169922\nVMware ESXi 6.7.0 GA\n",
    "error.log": "",
    "action.log": "",
    "etc/vmware/esx.conf": "",
}
OF_STORAGE = [
    "claim_rules",
    "satp_rules",
    "nmp_paths",
    "mpath",
    "mapped_volumes",
    "device_capacity",
    "device_partitions",
    "partition_guids",
    "detached_devices",
    "storage_plugins",
    "vaai_ats",
    "vaai_clone",
    "vaai_delete",
    "vaai_zero",
    "fc_adapters",
    "fc_stats",
    "fc_events",
    "fcoe_adapters",
    "fcoe_stats",
    "fcoe_nics",
    "fcoe_ports",
    "sas_adapters",
    "sas_stats",
    "iscsi_adapters",
    "iscsi_stats",
    "iscsi_software",
    "iscsi_portals",
    "iscsi_logical_portals",
    "iscsi_physical_portals",
    "nfs41_list",
    "vmfs_snapshots",
    "vmfs_lockmodes",
    "volume_details",
    "smart",
    "disk_partitions",
    "rdm_disks",
    "vm_files",
    "vm_snapshots",
    "vvol_providers",
    "vvol_containers",
    "vvol_endpoints",
    "iofilters",
    "vsan_cluster",
    "vsan_networks",
    "vsan_disks",
    "vsan_unicast_agents",
    "vsan_device_states",
    "vsan_disk_loads",
    "cmmds_entries",
]


def packed(folder: Path, files: dict[str, str]) -> Path:
    """Write a packed bundle with some members, and return its path."""
    top = folder / HOST
    for name, text in (BASE | files).items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with tarfile.open(folder / f"{HOST}.tgz", "w:gz") as archive:
        archive.add(top, HOST)
    return folder / f"{HOST}.tgz"


def printed(path: Path, *table: str) -> list[dict[str, Any]]:
    """Return what `backline tables PATH [TABLE] --json` prints: rows without empty cells and places, or the overview."""
    done = CliRunner().invoke(main, ["tables", str(path), *table, "--json"])
    assert done.exit_code == 0, done.output
    if not table:
        return [json.loads(done.stdout)]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return [
        {key: cell for key, cell in row.items() if cell is not None and key[:1] != "_"}
        for row in found
    ]


def test_a_packed_bundle_gives_every_table_of_storage_and_vsan(tmp_path: Path) -> None:
    """All outputs of storage and vSAN in one bundle: each fills its tables, and no line is left over."""
    plain = [one for one in ALL if one.parser in OF_STORAGE and one.text.stem == "plain"]
    assert {one.parser for one in plain} == set(OF_STORAGE)
    members = {
        one.expected["path"].partition("/")[2]: one.text.read_text(encoding="utf-8")
        for one in plain
    }
    path = packed(tmp_path, members)

    (overview,) = printed(path)

    counts = overview["rows"]
    wanted: dict[str, int] = {}
    for one in plain:
        for table, rows in one.expected["rows"].items():
            wanted[table] = wanted.get(table, 0) + len(rows)
    assert {table: counts.get(table) for table in wanted} == wanted
    assert overview["lines_not_understood"] == 0


def test_a_device_has_one_name_in_all_outputs_of_a_bundle(tmp_path: Path) -> None:
    """localcli ends the name above a block with a colon, a table does not: both name the same device."""
    path = packed(
        tmp_path,
        {
            "commands/localcli_storage-nmp-device-list.txt": f"{LUN}:\n   Device Display Name: LUN 7\n"
            "   Storage Array Type: VMW_SATP_ALUA\n   Working Paths: vmhba2:C0:T0:L1\n",
            "commands/localcli_storage-core-device-list.txt": f"{LUN}:\n   Display Name: LUN 7\n   Size: 1048576\n",
            "commands/localcli_storage-core-device-vaai-ats-list.txt": "Device"
            f"{'':{len(LUN) - 6}}  Maximum Compare and Write Length (in blocks)\n{'-' * len(LUN)}  {'-' * 44}\n{LUN}"
            f"{1:46}\n",
        },
    )
    for table in ("esxi.nmp_device", "esxi.scsi_device", "esxi.vaai_ats"):
        assert [row["storage_device"] for row in printed(path, table)] == [LUN], table


def test_a_field_that_localcli_could_not_get_costs_nothing(tmp_path: Path) -> None:
    """`Error getting field DriverVersion` stands below a block of a driver that has none: the adapter is a row."""
    text = (
        "FcDevice:\n   Adapter: vmhba3\n   Port ID: 010600\n   Speed: 16 Gbps\n   Port State: ONLINE\n"
        "   Driver Name: qlnativefc\nError getting field DriverVersion\n\n"
    )
    path = packed(tmp_path, {"commands/localcli_storage-san-fc-list.txt": text})

    (row,) = printed(path, "esxi.fc_adapter")

    assert (row["hba"], row["speed_gbps"], row["driver"]) == ("vmhba3", 16, "qlnativefc")
    assert "hba_driver_version" not in row
    assert printed(path)[0]["lines_not_understood"] == 0


def test_a_label_without_a_value_is_no_name_of_a_block(tmp_path: Path) -> None:
    """In a copy without indents `VswitchUuid:` stands alone on a line, as a name of localcli does."""
    text = f"{LUN}\nDevice Display Name: LUN 7\nPath Selection Policy: VMW_PSP_RR\nOption:\nWorking Paths: vmhba2:C0:T0:L1\n"
    (tmp_path / "mail.txt").write_text(
        f"[root@esx0:~] esxcli storage nmp device list\n{text}", encoding="utf-8"
    )

    (row,) = printed(tmp_path / "mail.txt", "esxi.nmp_device")

    assert (row["storage_device"], row["working_paths"]) == (LUN, "vmhba2:C0:T0:L1")


@pytest.mark.parametrize("why", ["VSAN Clustering", "Virtual SAN Clustering", "vSAN Clustering"])
def test_a_host_without_vsan_has_no_row_and_no_strange_line(tmp_path: Path, why: str) -> None:
    """The sentence that says so differs by release."""
    path = packed(
        tmp_path,
        {
            "commands/localcli_vsan-cluster-get.txt": f"Cluster Information:\n   {why} is not enabled on this host\n"
        },
    )
    assert printed(path, "esxi.vsan_cluster") == []
    assert printed(path)[0]["lines_not_understood"] == 0


def test_times_of_snapshots_are_utc(tmp_path: Path) -> None:
    """Two halves of microseconds since 1970, the low one with a sign, as every .vmsd has them."""
    when = 1704889722 * 1_000_000  # 2024-01-10 12:28:42
    high, low = when >> 32, when & 0xFFFFFFFF
    low -= (low >> 31) << 32
    text = (
        f'.encoding = "UTF-8"\nsnapshot.lastUID = "1"\nsnapshot.current = "1"\nsnapshot0.uid = "1"\n'
        f'snapshot0.displayName = "nightly"\nsnapshot0.createTimeHigh = "{high}"\n'
        f'snapshot0.createTimeLow = "{low}"\nsnapshot.numSnapshots = "1"\n'
    )
    path = packed(
        tmp_path, {"vmfs/volumes/5f1e2d3c-4b5a6978-8796-a5b4c3d2e1f0/db 01/db 01.vmsd": text}
    )

    (row,) = printed(path, "esxi.vm_snapshot")

    assert low < 0, "the case that needs the sign"
    assert (row["vm_folder"], row["snapshot_name"]) == ("db 01", "nightly")
    assert row["created"].replace("T", " ").startswith("2024-01-10 12:28:42")


def _directory(objects: int) -> Iterator[str]:
    """Yield the lines of a directory as cmmds-tool writes it for Python: a node, and so many objects of 6 kB each."""

    def entry(number: int, kind: str, content: str) -> Iterator[str]:
        uuid = f"7328b659-9d15-cb40-68eb-{number:012x}"
        yield "{"
        yield f'   "uuid": "{uuid}",'
        yield '   "owner": "5c1f0a2b-3c4d-5e6f-7081-92a3b4c5d6e6",'
        yield '   "health": "Healthy",'
        yield '   "revision": "3",'
        yield f'   "type": "{kind}",'
        yield '   "flag": "2",'
        yield f'   "content": "{content}",'
        yield '   "errorStr": "(null)"'
        yield "},"

    yield "["
    yield from entry(0, "HOSTNAME", '{\\"hostname\\": \\"esx0.example.com\\"}')
    child = '\\"child-1\\": {\\"type\\": \\"Component\\", \\"componentState\\": 5}, '
    for number in range(1, objects + 1):
        yield from entry(number, "DOM_OBJECT", "{" + child * 100 + "}")
        yield from entry(
            number, "CONFIG_STATUS", f'{{\\"state\\": {13 if number == 77 else 7}, \\"CSN\\": 27}}'
        )
    yield "]"


@pytest.mark.size
def test_the_directory_of_a_large_vsan_gives_its_few_facts(tmp_path: Path) -> None:
    """Thousands of objects with lines of 6 kB: no line is strange, the one object nobody reaches is named with its line."""
    lines = list(_directory(4000))
    assert max(map(len, lines)) > 6000
    path = packed(tmp_path, {"commands/cmmds-tool_find--f-python.txt": "\n".join(lines) + "\n"})

    found = printed(path, "esxi.cmmds_entry")

    assert len(found) == 4001
    assert [row["entry_uuid"][-2:] for row in found if row.get("object_state") == 13] == [
        f"{77:02x}"
    ]
    assert printed(path)[0]["lines_not_understood"] == 0


@pytest.mark.release
@pytest.mark.size
def test_rows_of_a_directory_do_not_keep_its_text() -> None:
    """It is read as it comes, beyond what an artefact may hold: 27 MB of objects leave rows of a few hundred bytes."""
    lines = [f"{line}\n".encode() for line in _directory(4000)]
    reading = registry()["cmmds_entries"].stream
    assert reading is not None
    tracemalloc.start()
    try:
        found = [one for one in reading(Block([]), lines) if isinstance(one, Row)]
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found) == 4001
    assert taken < sum(map(len, lines)) / 4


@pytest.mark.parametrize("name", [one for one in OF_STORAGE if not registry()[one].log])
def test_a_hostile_text_is_rows_or_faults(name: str) -> None:
    """Control characters, a line of 100,000 characters and numbers beyond all sizes neither raise nor make a wrong cell."""
    plain = next(one for one in ALL if one.parser == name and one.text.stem == "plain")
    text = plain.text.read_text(encoding="utf-8")
    spoiled = [
        re.sub(r"\d{3,}", "9" * 40, text),
        text.replace(":", ":\x00\x1b[31m"),
        "A" * 100_000 + "\n" + text,
    ]
    for one in spoiled:
        for item in registry()[name].parse(Block(one.split("\n"), address=plain.expected["path"])):
            assert isinstance(item, Row | Fault)
            if isinstance(item, Row):
                for column in item.table.columns:
                    cell = item.values[column.name]
                    assert cell is None or isinstance(
                        cell, {"int": int, "bool": bool}.get(column.kind, str)
                    ), column
