"""Outputs of ESXi as people paste them, read through the command: without prompt, heading, widths. All texts are made up.

Each follows the form of its output in a published capture; names, addresses and serial numbers belong to nobody.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.samples.test_esxi_forms import not_understood, rows

DEVICE = "naa.600a0b80000000010000000100000001"
WITHOUT_PROMPT = {
    "nmp device": (
        f"{DEVICE}\n   Device Display Name: Acme iSCSI Disk ({DEVICE})\n   Storage Array Type: VMW_SATP_ALUA\n"
        "   Path Selection Policy: VMW_PSP_MRU\n   Working Paths: vmhba37:C0:T0:L1\n",
        "esxi.nmp_device",
        {"storage_device": DEVICE, "satp": "VMW_SATP_ALUA", "psp": "VMW_PSP_MRU", "_line": 1},
    ),
    "nmp path": (
        f"fc.2000:1000-fc.5006:5006-{DEVICE}\nRuntime Name: vmhba2:C0:T1:L1\nDevice: {DEVICE}\n"
        f"Device Display Name: Acme Disk ({DEVICE})\nGroup State: active unoptimized\n",
        "esxi.nmp_path",
        {"path_name": "vmhba2:C0:T1:L1", "group_state": "active unoptimized"},
    ),
    "device": (
        f"{DEVICE}\nDisplay Name: Acme Disk\nHas Settable Display Name: true\nSize: 307200\nMultipath Plugin: NMP\n",
        "esxi.scsi_device",
        {"storage_device": DEVICE, "size_mb": 307200, "plugin": "NMP"},
    ),
    "device of esxcfg": (
        f"{DEVICE}\nDevice Type: Direct-Access\nSize: 20480 MB\nMultipath Plugin: NMP\nConsole Device: /dev/sdb\n"
        "Vendor: ACME Model: RAID Revis: 0531\n",
        "esxi.scsi_device",
        {"storage_device": DEVICE, "size_mb": 20480, "vendor_name": "ACME"},
    ),
    "vmk": (
        "vmk1\n   Name: vmk1\n   MAC Address: 00:50:56:00:00:01\n   Enabled: true\n   Portset: vSwitch1\n   MTU: 9000\n",
        "esxi.vmk_port",
        {"vmk": "vmk1", "switch": "vSwitch1", "mtu": 9000},
    ),
    "platform": (
        "Platform Information\n   UUID: 0x24 0x98\n   Product Name: Acme R1\n   Vendor Name: Acme\n",
        "esxi.platform",
        {"product_name": "Acme R1", "platform_vendor": "Acme"},
    ),
    "syslog of 5.x": (
        "Default Rotation Size: 1024\nDefault Rotations: 8\nLog Output: /scratch/log\nRemote Host:\n",
        "esxi.syslog_config",
        {"rotation_kib": 1024, "rotations": 8, "log_folder": "/scratch/log"},
    ),
    "smart": (
        "Parameter                     Value  Threshold  Worst\n----------------------------  -----  ---------  -----\n"
        "Health Status                 OK     N/A        N/A\nReallocated Sector Count      100    10         100\n",
        "esxi.smart",
        {"smart_parameter": "Reallocated Sector Count", "smart_value": 100, "smart_threshold": 10},
    ),
    "a VIB that grep left": (
        "net-ixgbe   3.7.13.7iov-10vmw   Acme   VMwareCertified   2012-11-22\n",
        "esxi.vib",
        {"name": "net-ixgbe", "vendor": "Acme", "install_date": "2012-11-22"},
    ),
    "a NIC that grep left": (
        "vmnic4 0000:0b:00.00 e1000e Up 1000Mbps Full 00:26:55:00:00:01 1500 Acme Dual Port Adapter\n",
        "esxi.pnic",
        {"pnic": "vmnic4", "driver": "e1000e", "speed_mbps": 1000, "mtu": 1500},
    ),
    "an adapter that grep left": (
        "vmhba1 fnic link-up fc.2001:2000 (0:16:0.0) Acme FCoE HBA\n",
        "esxi.storage_adapter",
        {"hba": "vmhba1", "link_state": "link-up", "hba_uid": "fc.2001:2000"},
    ),
}


def one(folder: Path, text: str, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table of a pasted text."""
    return rows(folder, "paste.txt", text, table)


@pytest.mark.parametrize("name", WITHOUT_PROMPT)
def test_an_output_is_known_without_its_command(tmp_path: Path, name: str) -> None:
    """A block or row below a sentence, its prompt left out, is a row with its object; the sentence is none of it."""
    text, table, wanted = WITHOUT_PROMPT[name]

    found = one(
        tmp_path, f"This is what the host says about it, as far as I can see:\n\n{text}", table
    )

    wanted = {key: cell + 2 if key == "_line" else cell for key, cell in wanted.items()}
    assert any(wanted.items() <= row.items() for row in found), found
    assert not_understood(tmp_path, "paste.txt", text) == 0


def test_commands_of_older_releases_and_of_remote_shells_are_the_same_commands(
    tmp_path: Path,
) -> None:
    """`esxcli nmp …` and `esxcli corestorage …` of 4.x, and options of the connection before the path."""
    block = "{0}\n   Device Display Name: Acme\n   Storage Array Type: VMW_SATP_EQL\n\n"
    volumes = "Volume Name  Host      Share   Accessible  Mounted  Hardware Acceleration\n"
    volumes += "-----------  --------  ------  ----------  -------  ---------------------\n"
    text = (
        "# esxcli nmp device list -d naa.1\n"
        + block.format("naa.1")
        + "# esxcli corestorage device list\nnaa.2\n"
    )
    text += "   Size: 1024\n\nvi-admin@vma:~> esxcli -s 192.0.2.1 -h 192.0.2.2 -u root storage nfs list\n"
    text += volumes + "nfs1         192.0.2.9  /vol/1  true        true     Not Supported\n"

    assert [row["satp"] for row in one(tmp_path, text, "esxi.nmp_device")] == ["VMW_SATP_EQL"]
    assert [row["size_mb"] for row in one(tmp_path, text, "esxi.scsi_device")] == [1024]
    assert [row["nfs_server"] for row in one(tmp_path, text, "esxi.nfs_datastore")] == ["192.0.2.9"]


XML = """[root@esx1:~] esxcli --formatter=xml network nic list
<?xml version="1.0" encoding="utf-8"?>
<output xmlns="http://www.vmware.com/Products/ESX/5.0/esxcli">
<root>
   <list type="structure">
      <structure typeName="Nic">
         <field name="Description">
            <string>Acme R&amp;D Controller</string>
         </field>
         <field name="Name">
            <string>vmnic0</string>
         </field>
         <field name="Speed">
            <integer>10000</integer>
         </field>
      </structure>
      <structure typeName="Nic">
         <field name="Name"><string>vmnic1</string></field>
"""
KEYS = """[root@esx1:~] esxcli --formatter=keyvalue network nic list
structure[0].Nic.Name.string=vmnic2
structure[0].Nic.Speed.integer=25000
structure[1].Nic.Name.string=vmnic3
what is this
structure[1].Nic.Speed.integer=fast
"""
POWERCLI = r"""PowerCLI C:\> $esxcli.network.nic.list()


Description : Acme 10-Gigabit SFI/SFP+ Network
              Connection
Name        : vmnic4
Speed       : 10000

Name        : vmnic5
Speed       : 0


PS C:\> $esxcli.storage.nmp.device.list.Invoke()

Device           : naa.1
StorageArrayType : VMW_SATP_ALUA
WorkingPaths     : {vmhba1:C0:T0:L1, vmhba2:C0:T0:L1}
"""


def test_xml_keyvalue_and_powercli_say_what_the_text_says(tmp_path: Path) -> None:
    """Each record is a row with the line of its cells, a cut one too; a strange line and a wrong number are counted."""
    nics = one(tmp_path, XML + KEYS + POWERCLI, "esxi.pnic")
    devices = one(tmp_path, POWERCLI, "esxi.nmp_device")

    told = {row["pnic"]: (row.get("speed_mbps"), row.get("description")) for row in nics}
    assert told == {
        "vmnic0": (10000, "Acme R&D Controller"),
        "vmnic1": (None, None),
        "vmnic2": (25000, None),
        "vmnic3": (None, None),
        "vmnic4": (10000, "Acme 10-Gigabit SFI/SFP+ Network Connection"),
        "vmnic5": (0, None),
    }
    assert devices[0]["working_paths"] == "vmhba1:C0:T0:L1, vmhba2:C0:T0:L1"
    assert not_understood(tmp_path, "paste.txt", XML + KEYS + POWERCLI) == 2


def test_a_caption_between_the_code_block_of_a_command_and_its_output_is_none_of_it(
    tmp_path: Path,
) -> None:
    """A blog that says "Output:" between two code blocks loses neither the output nor the command."""
    text = "```bash\nvsish -e cat /hardware/health/mce\n```\n\nOutput:\n\n```\nMachine check error stats {\n"
    text += "   Total corrected errors since boot:3\n}\n```\n"

    (row,) = one(tmp_path, text, "esxi.vsish_value")

    assert (row["vsish_path"], row["vsish_number"], row["_line"]) == ("/hardware/health/mce", 3, 9)
    assert not_understood(tmp_path, "paste.txt", text) == 0


def test_tables_without_their_last_columns_and_with_other_rulers_are_read(tmp_path: Path) -> None:
    """A neighbour without state and type, an NFS list of 5.0 below `=====`, and the first lines of a boot of 4.x."""
    text = "~ # esxcli network ip neighbor list\nNeighbor Mac Address Vmknic Expiry State\n---- ---- ---- ---- ----\n"
    text += "192.0.2.121 00:50:56:00:00:01 vmk0 1183 sec\n~ # esxcli storage nfs list\nVolume Name Host Share Accessible "
    text += "Mounted Hardware Acceleration\n====== ==== ===== ====== ====== ======\nnfs 192.0.2.7 /data true true Unknown\n"
    boot = "Sep 26 18:22:28 vmkernel: TSC: 1899066536 cpu0:0)BootConfig: 110: auditMode = TRUE\n"

    assert [row["expiry_s"] for row in one(tmp_path, text, "esxi.ip_neighbor")] == [1183]
    assert [row["nfs_share"] for row in one(tmp_path, text, "esxi.nfs_datastore")] == ["/data"]
    assert [row["message"] for row in one(tmp_path, boot, "esxi.vmkernel")] == [
        "BootConfig: 110: auditMode = TRUE"
    ]
