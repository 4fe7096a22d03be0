"""Forms of ESXi's texts that real hosts print, read through the command. All texts here are made up.

Each follows the documented form of its output; the names in them belong to nobody.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from analyzer.cli import main


def rows(folder: Path, name: str, text: str, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table that `backline tables` prints of a file, without empty cells."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(main, ["tables", str(path), table, "--json"])
    assert done.exit_code == 0, done.output
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return [{key: cell for key, cell in row.items() if cell is not None} for row in found]


def not_understood(folder: Path, name: str, text: str) -> int:
    """Return how many lines of a file `backline tables` says were not understood."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(main, ["tables", str(path), "--json"])
    assert done.exit_code == 0, done.output
    return int(json.loads(done.stdout)["lines_not_understood"])


def test_port_groups_of_esxcli_are_rows_with_the_switch_above_them(tmp_path: Path) -> None:
    """`esxcli network vswitch standard list` names port groups: blanks stay in a name, no switch gets another's."""
    keys = "   Class: cswitch\n   Num Ports: 2560\n   Used Ports: 4\n   MTU: 1500\n   Uplinks: vmnic0\n"
    text = (
        f"vSwitch0\n   Name: vSwitch0\n{keys}   Portgroups: VM Network, Management Network\n\n"
        f"vSwitch1\n   Name: vSwitch1\n{keys}   Portgroups: \n\n"
        f"iSCSI\n   Name: iSCSI\n{keys}   Portgroups: iSCSI-A\n"
    )

    found = rows(tmp_path, "switches.txt", text, "esxi.portgroup")

    named = [(row["switch"], row["portgroup"], row["_line"]) for row in found]
    assert named == [("vSwitch0", "VM Network", 8), ("vSwitch0", "Management Network", 8), ("iSCSI", "iSCSI-A", 26)]


def test_the_network_screen_tells_which_uplink_carries_a_client(tmp_path: Path) -> None:
    """TEAM-PNIC of a pasted esxtop screen; `-` and `n/a` are no uplink."""
    text = (
        " 1:07:14am up 2:33, 163 worlds; CPU load average: 0.01, 0.05, 0.02\n\n"
        "   PORT-ID        USED-BY  TEAM-PNIC DNAME         PKTTX/s  MbTX/s  PKTRX/s  MbRX/s %DRPTX %DRPRX\n"
        "  33554433     Management        n/a vSwitch0         0.00    0.00     0.00    0.00   0.00   0.00\n"
        "  33554434         vmnic1          - vSwitch0        27.13    0.07     0.00    0.00   0.00   0.00\n"
        "  33554436  21153:app one     vmnic1 vSwitch0        27.13    0.07     0.00    0.00   0.00   0.00\n"
        "  33554437           vmk1     all(2) vSwitch0         1.00    0.01     0.00    0.00   0.00   0.00\n"
    )

    found = rows(tmp_path, "screen.txt", text, "esxtop.port")

    assert [row.get("team_pnic") for row in found] == [None, None, "vmnic1", "all(2)"]


def test_esxtop_tells_the_memory_of_the_host_and_the_latency_of_its_adapters(tmp_path: Path) -> None:
    """Columns of the groups Memory and Physical Disk Adapter are rows of a sample; a single device is no adapter."""
    columns = {
        r"Memory\Free MBytes": ("1", "579"),
        r"Memory\Swap Used MBytes": ("2", "1567"),
        r"Memory\Memctl Current MBytes": ("3", "5335"),
        r"Physical Disk Adapter(vmhba0)\Commands/sec": ("4", "18.87"),
        r"Physical Disk Adapter(vmhba0)\Average Driver MilliSec/Command": ("5", "1.14"),
        r"Physical Disk Adapter(vmhba64)\Average Driver MilliSec/Command": ("6", "40.5"),
        r"Physical Disk(vmhba0:vmhba0:C0:T2:L0)\Average Driver MilliSec/Command": ("7", "99"),
    }
    cells = [["(PDH-CSV 4.0) (UTC)(0)", *(rf"\\esx1.lab.example\{name}" for name in columns)]]
    for number, time in enumerate(("03/02/2021 10:00:00", "03/02/2021 10:00:05")):
        cells.append([time, *(values[number] for values in columns.values())])
    text = "".join(",".join(f'"{cell}"' for cell in line) + ",\n" for line in cells)

    (memory,) = rows(tmp_path, "capture.csv", text, "esxtop.memory")
    adapters = rows(tmp_path, "capture.csv", text, "esxtop.disk_adapter")

    assert (memory["free_mb"], memory["swap_used_mb"], memory["memctl_mb"], memory["_line"]) == (579, 1567, 5335, 3)
    named = [(row["hba"], row.get("cmds_s"), row["davg_ms"], row["time"]) for row in adapters]
    assert named == [("vmhba0", 18.87, 1.14, "2021-03-02 10:00:05"), ("vmhba64", None, 40.5, "2021-03-02 10:00:05")]


def test_disks_of_a_vm_are_told_from_its_drives_and_snapshots_from_base_disks(tmp_path: Path) -> None:
    """Each present `.vmdk` of a .vmx is a row; a CD image and a removed disk are none."""
    text = (
        '.encoding = "UTF-8"\ndisplayName = "db 01"\nscsi0.virtualDev = "pvscsi"\n'
        'scsi0:0.fileName = "db 01-000003.vmdk"\nscsi0:0.present = "TRUE"\n'
        'scsi0:1.fileName = "/vmfs/volumes/logs/db 01/log.vmdk"\nscsi0:1.present = "TRUE"\n'
        'scsi0:2.fileName = "gone.vmdk"\nscsi0:2.present = "FALSE"\n'
        'sata0:0.fileName = "/vmfs/volumes/iso/setup.iso"\nsata0:0.present = "TRUE"\n'
    )

    found = rows(tmp_path, "db.vmx", text, "esxi.vdisk")

    assert [(row["vdisk"], row["is_delta"], row["controller_type"], row["_line"]) for row in found] == [
        ("scsi0:0", True, "pvscsi", 4),
        ("scsi0:1", False, "pvscsi", 6),
    ]
