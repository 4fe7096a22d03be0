"""`.vmx`: the configuration of a virtual machine.

Source: `vmfs/volumes/<uuid>/<vm>/<vm>.vmx` of a bundle, or the file alone; hosted products write the
same form. Lines are `key = "value"`, keys in any case, `|22` stands for a quote and so on; the
encoding is named in the file. An absent `virtualDev` means the default of that guest system, which is
left empty here; an absent `numvcpus` is one vCPU, an absent `sched.cpu.max` no limit, an absent `vcpu.hotadd` or
`ctkEnabled` means off, unless the text was cut.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from analyzer.artefacts.parsing import Output, Parser, fault_at, run_template
from analyzer.artefacts.signs import lies_below, says_bad
from analyzer.artefacts.tables import Block, Column, Fault, Row, Table, Value

_VM_NAME = Column("vm_name", "str", "name of the virtual machine")
_VMX_PATH = Column("vmx_path", "str", "path of the VM's .vmx file")

VM = Table.of(
    "esxi.vm",
    "Virtual machines by their configuration file: size, limits, guest system.",
    "<vm>.vmx; vmfs/volumes/<datastore>/<vm>/<vm>.vmx of a bundle",
    _VM_NAME,
    _VMX_PATH,
    Column("guest_os", "str", "guest system as configured: windows9srv-64, debian10-64"),
    Column("is_windows", "bool", "the configured guest system is a Windows"),
    Column("hw_version", "int", "virtual hardware version"),
    Column("vcpus", "int", "number of virtual CPUs"),
    Column("cores_per_socket", "int", "cores the guest sees in a socket"),
    Column("memory_mb", "int", "memory of the VM", "MB"),
    Column("cpu_limit_mhz", "int", "CPU limit; empty = none", "MHz"),
    Column("cpu_limited", "bool", "a CPU limit is set"),
    Column("cpu_reservation_mhz", "int", "CPU reservation", "MHz"),
    Column("cpu_shares", "str", "CPU shares: low, normal, high or a number"),
    Column("latency_sensitivity", "str", "low, normal, medium, high"),
    Column("memory_reservation_mb", "int", "memory reservation", "MB"),
    Column(
        "memory_limit_mb",
        "int",
        "memory limit; empty = none",
        "MB",
        sign=lies_below(1, of="memory_mb", weight=2.5),
    ),
    Column("memory_limited", "bool", "a memory limit is set"),
    Column("cpu_hot_add", "bool", "vCPUs can be added while the VM runs (vcpu.hotadd)"),
    ask="the VM's .vmx file",
    key=("vmx_path",),
)

VNIC = Table.of(
    "esxi.vnic",
    "Virtual network adapters of the VMs, as configured.",
    "<vm>.vmx; vmfs/volumes/<datastore>/<vm>/<vm>.vmx of a bundle",
    _VM_NAME,
    _VMX_PATH,
    Column("vnic", "int", "number of the VM's virtual network adapter, from 0"),
    Column("adapter", "str", "vmxnet3, e1000, e1000e, vmxnet, vlance; empty = the guest's default"),
    Column("network", "str", "port group it is connected to"),
    Column("dvport", "str", "number of the distributed port, as in the VM's configuration"),
    Column("dvportgroup", "str", "key of the distributed port group (esxcli only)"),
    Column("mac", "str", "MAC address of the client"),
    Column("start_connected", "bool", "connected when the VM is powered on"),
    Column("coalescing_scheme", "str", "disabled, calibrate, rbc, adapt; empty = default"),
    Column("coalescing_params", "str", "parameter of the scheme: interrupts a second for rbc"),
    Column("upt_compatible", "bool", "may use a direct path (uptCompatibility)"),
    Column("uptv2", "bool", "direct path of the 2nd version is on (uptv2Enabled)"),
    ask="the VM's .vmx file",
    key=("vmx_path", "vnic"),
)

VDISK = Table.of(
    "esxi.vdisk",
    "Virtual disks of the VMs, as configured; drives of CDs and floppies are none.",
    "<vm>.vmx; vmfs/volumes/<datastore>/<vm>/<vm>.vmx of a bundle",
    _VM_NAME,
    _VMX_PATH,
    Column("vdisk", "str", "controller and place of the disk: scsi0:0"),
    Column(
        "file_name", "str", "descriptor of the disk, as configured; a path where it lies elsewhere"
    ),
    Column(
        "is_delta", "bool", "named as the disk of a snapshot is: ends in six digits, -000001.vmdk"
    ),
    Column(
        "disk_mode",
        "str",
        "persistent, independent-persistent, …; empty = default",
        sign=says_bad("independent-nonpersistent", weight=2.5),
    ),
    Column(
        "controller_type", "str", "lsilogic, pvscsi, lsisas1068, …; empty = the guest's default"
    ),
    Column("change_tracking", "bool", "changed blocks are tracked for backups (ctkEnabled)"),
    ask="the VM's .vmx file",
    key=("vmx_path", "vdisk"),
)

VCDROM = Table.of(
    "esxi.vcdrom",
    "CD drives of the VMs, as configured: an image, the drive of the host, or that of a client.",
    "<vm>.vmx; vmfs/volumes/<datastore>/<vm>/<vm>.vmx of a bundle",
    _VM_NAME,
    _VMX_PATH,
    Column("vcdrom", "str", "controller and place of the drive: ide1:0, sata0:0"),
    Column("cdrom_type", "str", "cdrom-image: a file; atapi-cdrom, cdrom-raw: a drive"),
    Column(
        "file_name", "str", "descriptor of the disk, as configured; a path where it lies elsewhere"
    ),
    Column("start_connected", "bool", "connected when the VM is powered on"),
    ask="the VM's .vmx file",
    key=("vmx_path", "vcdrom"),
)

_COMPATIBLE = re.compile(
    r'^\s*virtualHW\.productCompatibility\s*=\s*"?hosted', re.MULTILINE | re.IGNORECASE
)
_OF_DESKTOP = re.compile(
    r'^\s*(?:ethernet\d+\.connectionType\s*=\s*"(?:nat|hostonly|bridged|custom)|priority\.(?:un)?grabbed\b'
    r'|sound\.(?:present|fileName)\b|sharedFolder|[\w.:]+\s*=\s*"(?:[A-Za-z]:|\.)\\)',
    re.MULTILINE | re.IGNORECASE,
)
_OF_ESXI = re.compile(
    r"/vmfs/volumes/|^\s*(?:ethernet\d+\.(?:networkName|dvs\.)|sched\.(?:cpu\.(?:units|shares|min)|swap\.|scsi)|vc\.uuid\b)",
    re.MULTILINE | re.IGNORECASE,
)
_ETHERNET = re.compile(r"ethernet(?P<vnic>\d{1,2})\.present$")
_CDROM = re.compile(r"((?:sata|ide|scsi)\d{1,2}):\d{1,2}\.devicetype$")
_DISK = re.compile(r"((?:scsi|sata|ide|nvme)\d{1,2}):\d{1,2}\.filename$")
_DELTA = re.compile(r"-\d{6}\.vmdk$", re.IGNORECASE)
_ESCAPE = re.compile(r"\|([0-9A-Fa-f]{2})")
_MOST = 2000
_NO_LIMIT = ("", "-1", "unlimited")
_WHOLE = re.compile(r"\d{1,12}$")
_TRUE = {"true": True, "false": False}


@dataclass(slots=True)
class _Config:
    """Keys of a .vmx file in lower case -> value and line."""

    values: dict[str, str]
    lines: dict[str, int]
    block: Block
    faults: list[Fault]

    def read_text(self, key: str) -> str | None:
        """Return a value, None for an empty or absent one."""
        return self.values.get(key) or None

    def read_number(self, key: str) -> int | None:
        """Return a whole number; a value of another form is a fault and empty."""
        text = self.values.get(key, "")
        if not text:
            return None
        if _WHOLE.match(text):
            return int(text)
        self.add_fault(self.lines[key], f"{key} is no whole number")
        return None

    def read_flag(self, key: str) -> bool | None:
        """Return TRUE or FALSE; a value of another form is a fault and empty."""
        text = self.values.get(key, "").lower()
        if text and text not in _TRUE:
            self.add_fault(self.lines[key], f"{key} is neither TRUE nor FALSE")
        return _TRUE.get(text)

    def read_flag_or_off(self, key: str) -> bool | None:
        """Return a flag that means off where it is absent from a text that is not cut."""
        if key in self.values:
            return self.read_flag(key)
        return None if self.block.cut else False

    def add_fault(self, line: int, why: str) -> None:
        """Note what is wrong with a line."""
        self.faults.append(fault_at(self.block, line, "vmx", why))

    def list_keys(self, pattern: re.Pattern[str]) -> list[str]:
        """Return the keys that a pattern matches from their begin."""
        return [key for key in self.values if pattern.match(key)]


def parse_block(block: Block) -> Output:
    """Read one file: a row of esxi.vm, and one of each adapter, disk and CD drive that is present."""
    config = _read_config(block)
    if config.values:
        yield _make_vm_row(config)
        for key in config.list_keys(_ETHERNET):
            if config.read_flag(key):
                yield _make_vnic_row(config, key)
        for key in config.list_keys(_DISK):
            is_disk = config.values[key].lower().endswith(".vmdk")
            if is_disk and config.read_flag(_sibling_key(key, "present")) is not False:
                yield _make_vdisk_row(config, key)
        for key in config.list_keys(_CDROM):
            is_cdrom = "cdrom" in config.values[key].lower()
            if is_cdrom and config.read_flag(_sibling_key(key, "present")) is not False:
                yield _make_vcdrom_row(config, key)
    yield from sorted(config.faults, key=lambda fault: fault.line)


def _read_config(block: Block) -> _Config:
    """Read the settings; those that hold whole documents (guestinfo, OVF environment) are left out."""
    config = _Config({}, {}, block, [])
    lines = []
    for line in block.lines:
        lines.append("" if len(line) > _MOST and "=" in line[:200] else line)
    for record in run_template(PARSER.name, replace(block, lines=lines)):
        if isinstance(record, Fault):
            config.faults.append(record)
            continue
        key = str(record.values["KEY"]).lower()
        if key in config.values:  # two files in one text: the first counts
            config.add_fault(record.line, f"{key} is set a second time")
            continue
        config.values[key] = str(record.values["VALUE"])
        config.lines[key] = record.line
    encoding = config.values.get(".encoding", "")
    for key, text in config.values.items():
        config.values[key] = _decode_value(text, encoding)
    return config


def _decode_value(text: str, encoding: str) -> str:
    """Undo `|XX`; bytes that were no UTF-8 are read in the encoding the file names."""
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    if any("\udc80" <= sign <= "\udcff" for sign in text):
        try:
            text = text.encode("utf-8", "surrogateescape").decode(
                encoding or "windows-1252", "replace"
            )
        except (LookupError, UnicodeError):
            return text
    return text.strip()


def _find_name(config: _Config) -> tuple[str | None, str | None]:
    path = config.block.address.rsplit("!", 1)[-1] or None
    if path and path.endswith(".vmx"):
        stem = PurePosixPath(path).stem
    else:
        stem = None
    return config.read_text("displayname") or stem, path


def _make_vm_row(config: _Config) -> Row:
    name, path = _find_name(config)
    is_cut = config.block.cut
    guest = config.read_text("guestos")
    is_mhz = config.values.get("sched.cpu.units", "mhz").lower() == "mhz"
    most_cpu = config.values.get("sched.cpu.max", "").lower()
    cpu_limited = most_cpu not in _NO_LIMIT
    most_memory = config.values.get("sched.mem.max", "").lower()
    memory_limited = most_memory not in _NO_LIMIT
    vcpus = None if is_cut else 1
    if "numvcpus" in config.values:
        vcpus = config.read_number("numvcpus")
    values: dict[str, Value] = {
        "vm_name": name,
        "vmx_path": path,
        "guest_os": guest,
        "is_windows": guest.lower().startswith(("win", "longhorn")) if guest else None,
        "hw_version": config.read_number("virtualhw.version"),
        "vcpus": vcpus,
        "cores_per_socket": config.read_number("cpuid.corespersocket"),
        "memory_mb": config.read_number("memsize"),
        "cpu_limit_mhz": config.read_number("sched.cpu.max") if cpu_limited and is_mhz else None,
        "cpu_limited": cpu_limited if most_cpu or not is_cut else None,
        "cpu_reservation_mhz": config.read_number("sched.cpu.min") if is_mhz else None,
        "cpu_shares": config.read_text("sched.cpu.shares"),
        "latency_sensitivity": config.read_text("sched.cpu.latencysensitivity"),
        "memory_reservation_mb": config.read_number("sched.mem.min"),
        "memory_limit_mb": config.read_number("sched.mem.max") if memory_limited else None,
        "memory_limited": memory_limited if most_memory or not is_cut else None,
        "cpu_hot_add": config.read_flag_or_off("vcpu.hotadd"),
    }
    return _make_row(VM, config, min(config.lines.values()), values, _VM_LINES)


_VM_LINES = {
    "vm_name": "displayname",
    "guest_os": "guestos",
    "is_windows": "guestos",
    "hw_version": "virtualhw.version",
    "vcpus": "numvcpus",
    "cores_per_socket": "cpuid.corespersocket",
    "memory_mb": "memsize",
    "cpu_limit_mhz": "sched.cpu.max",
    "cpu_limited": "sched.cpu.max",
    "cpu_reservation_mhz": "sched.cpu.min",
    "cpu_shares": "sched.cpu.shares",
    "latency_sensitivity": "sched.cpu.latencysensitivity",
    "memory_reservation_mb": "sched.mem.min",
    "memory_limit_mb": "sched.mem.max",
    "memory_limited": "sched.mem.max",
    "cpu_hot_add": "vcpu.hotadd",
}
_VNIC_LINES = {
    "adapter": "virtualdev",
    "network": "networkname",
    "dvport": "dvs.portid",
    "dvportgroup": "dvs.portgroupid",
    "mac": "generatedaddress",
    "start_connected": "startconnected",
    "coalescing_scheme": "coalescingscheme",
    "coalescing_params": "coalescingparams",
    "upt_compatible": "uptcompatibility",
    "uptv2": "uptv2enabled",
}


def _make_vnic_row(config: _Config, present: str) -> Row:
    name, path = _find_name(config)
    prefix = present.removesuffix("present")
    keys = {column: prefix + key for column, key in _VNIC_LINES.items()}
    if config.read_text(prefix + "address"):
        keys["mac"] = prefix + "address"
    adapter = config.read_text(keys["adapter"])
    mac = config.read_text(keys["mac"])
    values: dict[str, Value] = {
        "vm_name": name,
        "vmx_path": path,
        "vnic": int(prefix.removeprefix("ethernet").rstrip(".")),
        "adapter": adapter.lower() if adapter else None,
        "network": config.read_text(keys["network"]),
        "dvport": config.read_text(keys["dvport"]),
        "dvportgroup": config.read_text(keys["dvportgroup"]),
        "mac": mac.lower() if mac else None,
        "start_connected": config.read_flag(keys["start_connected"]),
        "coalescing_scheme": config.read_text(keys["coalescing_scheme"]),
        "coalescing_params": config.read_text(keys["coalescing_params"]),
        "upt_compatible": config.read_flag(keys["upt_compatible"]),
        "uptv2": config.read_flag(keys["uptv2"]),
    }
    return _make_row(VNIC, config, config.lines[present], values, keys)


def _sibling_key(key: str, name: str) -> str:
    """Return the key of another setting of the same device: scsi0:0.filename, present -> scsi0:0.present."""
    return f"{key.rpartition('.')[0]}.{name}"


def _make_vdisk_row(config: _Config, key: str) -> Row:
    name, path = _find_name(config)
    place = key.rpartition(".")[0]
    file_name = config.values[key]
    keys = {
        "disk_mode": f"{place}.mode",
        "controller_type": f"{place.partition(':')[0]}.virtualdev",
        "change_tracking": f"{place}.ctkenabled",
    }
    values: dict[str, Value] = {
        "vm_name": name,
        "vmx_path": path,
        "vdisk": place,
        "file_name": file_name,
        "is_delta": _DELTA.search(file_name) is not None,
        "disk_mode": config.read_text(keys["disk_mode"]),
        "controller_type": config.read_text(keys["controller_type"]),
        "change_tracking": config.read_flag_or_off(keys["change_tracking"]),
    }
    return _make_row(VDISK, config, config.lines[key], values, keys)


def _make_vcdrom_row(config: _Config, key: str) -> Row:
    name, path = _find_name(config)
    keys = {
        "file_name": _sibling_key(key, "filename"),
        "start_connected": _sibling_key(key, "startconnected"),
    }
    values: dict[str, Value] = {
        "vm_name": name,
        "vmx_path": path,
        "vcdrom": key.rpartition(".")[0],
        "cdrom_type": config.values[key].lower(),
        "file_name": config.read_text(keys["file_name"]),
        "start_connected": config.read_flag(keys["start_connected"]),
    }
    return _make_row(VCDROM, config, config.lines[key], values, keys)


def _make_row(
    table: Table, config: _Config, line: int, values: dict[str, Value], keys: dict[str, str]
) -> Row:
    lines = {}
    for column, key in keys.items():
        if key in config.lines:
            lines[column] = config.lines[key]
    return Row(table, values, config.block, line, lines)


def find_kind(lines: Sequence[str]) -> str:
    """Return hosted for a VM of Workstation, Player or Fusion.

    ESXi writes `productCompatibility = "hosted"` as well (a real file shows it), so that a sign of a desktop must
    be next to it, and none of ESXi.
    """
    text = "\n".join(line[:400] for line in lines[:2000])
    is_hosted = _COMPATIBLE.search(text) and _OF_DESKTOP.search(text) and not _OF_ESXI.search(text)
    return "hosted" if is_hosted else ""


PARSER = Parser(
    name="vmx",
    tables=(VM, VNIC, VDISK, VCDROM),
    parse=parse_block,
    node="esxi",
    kind=find_kind,
    files=(r"\.vmx$",),
    commands=(r"^\s*(?:cat|more|less|head|tail|sed|g?awk|[ef]?grep)\s.*?\.vmx\b",),
    shape=r'^\s*\.encoding\s*=\s*"[\w-]+"\s*$',
    body=r"^\s*(?:[.A-Za-z][\w:.\[\]-]*\s*=\s*.*|#.*)$",
)
