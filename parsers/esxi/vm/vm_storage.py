"""From the VM to the array: disk, datastore, device, paths, adapter and its driver.

The disk names its datastore by its path, or lies next to the VM's configuration. A datastore on NFS, vSAN or vVols has
no device of its own: the chain ends there. A raw device mapping is followed to where its mapping file lies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from analyzer.artefacts.tables import Column, Value
from analyzer.forms.chain import Cells, Chain, ChainLink, Made, Source, Start, make_chain

from ._vm_files import host_path

_VOLUME = re.compile(r"vmfs/volumes/([^/]+)/")
_ON_DEVICES = re.compile(r"VMFS", re.IGNORECASE)


def _find_volume(cells: Cells) -> Mapping[str, Value]:
    """Return the volume a disk lies on: id or name, as its path has it."""
    paths = (str(cells.get(name) or "") for name in ("file_name", "vmx_path"))
    found = next((match[1] for path in paths if (match := _VOLUME.search(path))), None)
    return {"volume": found, "config_file": host_path(cells.get("vmx_path"))}


def _is_on_device(cells: Cells) -> Mapping[str, Value]:
    """Say whether the datastore lies on devices of the host."""
    kind = cells.get("filesystem_type")
    return {"on_device": None if kind is None else bool(_ON_DEVICES.match(str(kind)))}


def _without_device(cells: Cells) -> bool:
    return cells.get("on_device") is False


CHAIN: Chain = make_chain(
    "esxi.vm_storage",
    "From the VM to the array: disk, datastore, device, and a row for each path to it with its adapter.",
    Start(
        "esxi.vdisk",
        (
            Column("vm_name", "str", "name of the virtual machine"),
            Column("vmx_path", "str", "path of the VM's .vmx file"),
            Column("vdisk", "str", "controller and place of the disk: scsi0:0"),
            Column(
                "file_name",
                "str",
                "descriptor of the disk, as configured; a path where it lies elsewhere",
            ),
        ),
    ),
    Made(("vmx_path",), _find_volume),
    ChainLink(
        (
            Source("esxi.vm_process", {"config_file": "vmx_path"}),
            Source("esxi.vm_process", {"vm_name": "vm_name"}),
        ),
        (
            Column(
                "vm_world_id", "int", "world that leads the VM: the id that `vm process kill` takes"
            ),
        ),
    ),
    ChainLink(
        (
            Source("esxi.filesystem", {"volume": "volume_uuid"}),
            Source("esxi.filesystem", {"volume": "volume_name"}),
        ),
        (
            Column("volume_name", "str", "name of the datastore or volume"),
            Column("volume_uuid", "str", "id of the volume"),
            Column("filesystem_type", "str", "VMFS-5, VMFS-6, NFS, NFS41, vfat, VFFS, VMFS-L"),
        ),
    ),
    Made(
        ("filesystem_type",),
        _is_on_device,
        (
            Column(
                "on_device",
                "bool",
                "the datastore lies on devices of the host; NFS, vSAN and vVols do not",
            ),
        ),
    ),
    ChainLink(
        (
            Source("esxi.vmfs_extent", {"volume_uuid": "volume_uuid"}),
            Source("esxi.mapped_volume", {"volume_uuid": "volume_uuid"}),
            Source("esxi.vmfs_extent", {"volume": "volume_uuid"}),
            Source("esxi.mapped_volume", {"volume": "volume_uuid"}),
        ),
        (Column("storage_device", "str", "storage device: naa.…, eui.…, t10.…, mpx.…"),),
        many=True,
        ends=_without_device,
    ),
    ChainLink(
        (Source("esxi.scsi_device", {"storage_device": "storage_device"}),),
        (
            Column("device_status", "str", "state of the device as printed: on"),
            Column("is_local", "bool", "no other host can reach it"),
        ),
    ),
    ChainLink(
        (
            Source("esxi.storage_path", {"storage_device": "storage_device"}),
            Source("esxi.mpath", {"storage_device": "storage_device"}),
        ),
        (
            Column("path_name", "str", "name of the path: vmhba2:C0:T0:L1; changes over a reboot"),
            Column("path_state", "str", "active, standby, dead, off, disabled, …"),
        ),
        many=True,
    ),
    Made(
        ("path_name",),
        lambda cells: {
            "hba": str(cells["path_name"]).partition(":")[0] if cells.get("path_name") else None
        },
        (Column("hba", "str", "disk adapter as the host names it: vmhba2"),),
    ),
    ChainLink(
        (Source("esxi.storage_adapter", {"hba": "hba"}),),
        (
            Column("link_state", "str", "link-up, link-down, link-n/a, online, unbound"),
            Column("driver", "str", "driver in use"),
        ),
    ),
    key=("vmx_path", "vdisk", "storage_device", "path_name"),
    ask="the VM's .vmx file",
)

MADE = (CHAIN.table,)
