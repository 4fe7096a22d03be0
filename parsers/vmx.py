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
from dataclasses import replace
from pathlib import PurePosixPath

from analyzer.kept_patterns import compiled
from analyzer.lazy_dataclass import dataclass
from analyzer.parsing import Output, Parser, fault_at, run_template
from analyzer.tables import Block, Column, Fault, Row, Table, Value

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
    Column("memory_limit_mb", "int", "memory limit; empty = none", "MB"),
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
    Column("file_name", "str", "descriptor of the disk, as configured; a path where it lies elsewhere"),
    Column("is_delta", "bool", "named as the disk of a snapshot is: ends in six digits, -000001.vmdk"),
    Column("disk_mode", "str", "persistent, independent-persistent, …; empty = default"),
    Column("controller_type", "str", "lsilogic, pvscsi, lsisas1068, …; empty = the guest's default"),
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
    Column("file_name", "str", "descriptor of the disk, as configured; a path where it lies elsewhere"),
    Column("start_connected", "bool", "connected when the VM is powered on"),
    ask="the VM's .vmx file",
    key=("vmx_path", "vcdrom"),
)

_COMPATIBLE = compiled(r'^\s*virtualHW\.productCompatibility\s*=\s*"?hosted', re.MULTILINE | re.IGNORECASE)
_OF_DESKTOP = compiled(
    r'^\s*(?:ethernet\d+\.connectionType\s*=\s*"(?:nat|hostonly|bridged|custom)|priority\.(?:un)?grabbed\b'
    r'|sound\.(?:present|fileName)\b|sharedFolder|[\w.:]+\s*=\s*"(?:[A-Za-z]:|\.)\\)',
    re.MULTILINE | re.IGNORECASE,
)
_OF_ESXI = compiled(
    r"/vmfs/volumes/|^\s*(?:ethernet\d+\.(?:networkName|dvs\.)|sched\.(?:cpu\.(?:units|shares|min)|swap\.|scsi)|vc\.uuid\b)",
    re.MULTILINE | re.IGNORECASE,
)
_ETHERNET = compiled(r"ethernet(?P<vnic>\d{1,2})\.present$")
_CDROM = compiled(r"((?:sata|ide|scsi)\d{1,2}):\d{1,2}\.devicetype$")
_DISK = compiled(r"((?:scsi|sata|ide|nvme)\d{1,2}):\d{1,2}\.filename$")
_DELTA = compiled(r"-\d{6}\.vmdk$", re.IGNORECASE)
_ESCAPE = compiled(r"\|([0-9A-Fa-f]{2})")
_MOST = 2000
_NO_LIMIT = ("", "-1", "unlimited")
_WHOLE = compiled(r"\d{1,12}$")
_TRUE = {"true": True, "false": False}


@dataclass(slots=True)
class _Config:
    """Keys of a .vmx file in lower case -> value and line."""

    values: dict[str, str]
    lines: dict[str, int]
    block: Block
    faults: list[Fault]

    def read_text(self, key: str) -> str | None:
        return self.values.get(key) or None

    def read_number(self, key: str) -> int | None:
        """Return a whole number; a value of another form is a fault and empty."""
        text = self.values.get(key, "")
        if not text:
            return None
        if _WHOLE.match(text):
            return int(text)
        self.faults.append(fault_at(self.block, self.lines[key], "vmx", f"{key} is no whole number"))
        return None

    def read_flag(self, key: str) -> bool | None:
        """Return TRUE or FALSE; a value of another form is a fault and empty."""
        text = self.values.get(key, "")
        if text and text.lower() not in _TRUE:
            self.faults.append(fault_at(self.block, self.lines[key], "vmx", f"{key} is neither TRUE nor FALSE"))
        return _TRUE.get(text.lower())


def parse_block(block: Block) -> Output:
    """Read one file: a row of esxi.vm, and one of each adapter, disk and CD drive that is present."""
    config = _Config({}, {}, block, [])
    for record in run_template(PARSER.name, _without_long_values(block)):
        if isinstance(record, Fault):
            config.faults.append(record)
            continue
        key = str(record.values["KEY"]).lower()
        if key in config.values:  # two files in one text: the first stands
            config.faults.append(fault_at(block, record.line, PARSER.name, f"{key} is set a second time"))
            continue
        config.values[key] = str(record.values["VALUE"])
        config.lines[key] = record.line
    encoding = config.values.get(".encoding", "")
    config.values = {key: _decode_value(text, encoding) for key, text in config.values.items()}
    if config.values:
        yield _make_vm_row(config)
        for key in [key for key in config.values if _ETHERNET.match(key)]:
            if config.read_flag(key):
                yield _make_vnic_row(config, key)
        for key in [key for key in config.values if _DISK.match(key)]:
            if (
                config.values[key].lower().endswith(".vmdk")
                and config.read_flag(_sibling_key(key, "present")) is not False
            ):
                yield _make_vdisk_row(config, key)
        for key in [key for key in config.values if _CDROM.match(key)]:
            if "cdrom" in config.values[key].lower() and config.read_flag(_sibling_key(key, "present")) is not False:
                yield _make_vcdrom_row(config, key)
    yield from sorted(config.faults, key=lambda fault: fault.line)


def _without_long_values(block: Block) -> Block:
    """Leave out the settings that hold whole documents (guestinfo, OVF environment)."""
    lines = ["" if len(line) > _MOST and "=" in line[:200] else line for line in block.lines]
    return replace(block, lines=lines)


def _decode_value(text: str, encoding: str) -> str:
    """Undo `|XX`; bytes that were no UTF-8 are read in the encoding the file names."""
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    if any("\udc80" <= sign <= "\udcff" for sign in text):
        try:
            text = text.encode("utf-8", "surrogateescape").decode(encoding or "windows-1252", "replace")
        except (LookupError, UnicodeError):
            return text
    return text.strip()


def _find_name(config: _Config) -> tuple[str | None, str | None]:
    path = config.block.address.rsplit("!", 1)[-1] or None
    stem = PurePosixPath(path).stem if path and path.endswith(".vmx") else None
    return config.read_text("displayname") or stem, path


def _make_vm_row(config: _Config) -> Row:
    name, path = _find_name(config)
    guest = config.read_text("guestos")
    unit = config.values.get("sched.cpu.units", "mhz").lower()
    limit = config.values.get("sched.cpu.max", "").lower()
    limited = limit not in _NO_LIMIT
    most_memory = config.values.get("sched.mem.max", "").lower()
    memory_limited = most_memory not in _NO_LIMIT
    whole = not config.block.cut
    values: dict[str, Value] = {
        "vm_name": name,
        "vmx_path": path,
        "guest_os": guest,
        "is_windows": guest.lower().startswith(("win", "longhorn")) if guest else None,
        "hw_version": config.read_number("virtualhw.version"),
        "vcpus": config.read_number("numvcpus") if "numvcpus" in config.values else 1 if whole else None,
        "cores_per_socket": config.read_number("cpuid.corespersocket"),
        "memory_mb": config.read_number("memsize"),
        "cpu_limit_mhz": config.read_number("sched.cpu.max") if limited and unit == "mhz" else None,
        "cpu_limited": limited if limit or whole else None,
        "cpu_reservation_mhz": config.read_number("sched.cpu.min") if unit == "mhz" else None,
        "cpu_shares": config.read_text("sched.cpu.shares"),
        "latency_sensitivity": config.read_text("sched.cpu.latencysensitivity"),
        "memory_reservation_mb": config.read_number("sched.mem.min"),
        "memory_limit_mb": config.read_number("sched.mem.max") if memory_limited else None,
        "memory_limited": memory_limited if most_memory or whole else None,
        "cpu_hot_add": config.read_flag("vcpu.hotadd") if "vcpu.hotadd" in config.values else False if whole else None,
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
    adapter, mac = config.read_text(prefix + "virtualdev"), config.read_text(prefix + "generatedaddress")
    values: dict[str, Value] = {
        "vm_name": name,
        "vmx_path": path,
        "vnic": int(prefix.removeprefix("ethernet").rstrip(".")),
        "adapter": adapter.lower() if adapter else None,
        "network": config.read_text(prefix + "networkname"),
        "dvport": config.read_text(prefix + "dvs.portid"),
        "dvportgroup": config.read_text(prefix + "dvs.portgroupid"),
        "mac": (config.read_text(prefix + "address") or mac or "").lower() or None,
        "start_connected": config.read_flag(prefix + "startconnected"),
        "coalescing_scheme": config.read_text(prefix + "coalescingscheme"),
        "coalescing_params": config.read_text(prefix + "coalescingparams"),
        "upt_compatible": config.read_flag(prefix + "uptcompatibility"),
        "uptv2": config.read_flag(prefix + "uptv2enabled"),
    }
    keys = {column: prefix + key for column, key in _VNIC_LINES.items()}
    if config.read_text(prefix + "address"):
        keys["mac"] = prefix + "address"
    return _make_row(VNIC, config, config.lines[present], values, keys)


def _sibling_key(key: str, name: str) -> str:
    """Return the key of another setting of the same device: scsi0:0.filename, present -> scsi0:0.present."""
    return f"{key.rpartition('.')[0]}.{name}"


def _make_vdisk_row(config: _Config, key: str) -> Row:
    name, path = _find_name(config)
    place, file_name = key.rpartition(".")[0], config.values[key]
    mode, controller = f"{place}.mode", f"{place.partition(':')[0]}.virtualdev"
    tracking = f"{place}.ctkenabled"
    values: dict[str, Value] = {
        "vm_name": name,
        "vmx_path": path,
        "vdisk": place,
        "file_name": file_name,
        "is_delta": _DELTA.search(file_name) is not None,
        "disk_mode": config.read_text(mode),
        "controller_type": config.read_text(controller),
        "change_tracking": config.read_flag(tracking) if tracking in config.values or config.block.cut else False,
    }
    keys = {"disk_mode": mode, "controller_type": controller, "change_tracking": tracking}
    return _make_row(VDISK, config, config.lines[key], values, keys)


def _make_vcdrom_row(config: _Config, key: str) -> Row:
    name, path = _find_name(config)
    file_name, connected = _sibling_key(key, "filename"), _sibling_key(key, "startconnected")
    values: dict[str, Value] = {
        "vm_name": name,
        "vmx_path": path,
        "vcdrom": key.rpartition(".")[0],
        "cdrom_type": config.values[key].lower(),
        "file_name": config.read_text(file_name),
        "start_connected": config.read_flag(connected),
    }
    return _make_row(VCDROM, config, config.lines[key], values, {"file_name": file_name, "start_connected": connected})


def _make_row(table: Table, config: _Config, line: int, values: dict[str, Value], keys: dict[str, str]) -> Row:
    lines = {column: config.lines[key] for column, key in keys.items() if key in config.lines}
    return Row(table, values, config.block, line, lines)


def find_kind(lines: Sequence[str]) -> str:
    """Return hosted for a VM of Workstation, Player or Fusion.

    ESXi writes `productCompatibility = "hosted"` as well (a real file shows it), so that a sign of a desktop must
    stand beside it, and none of ESXi.
    """
    text = "\n".join(line[:400] for line in lines[:2000])
    return "hosted" if _COMPATIBLE.search(text) and _OF_DESKTOP.search(text) and not _OF_ESXI.search(text) else ""


PARSER = Parser(
    name="vmx",
    tables=(VM, VNIC, VDISK, VCDROM),
    parse=parse_block,
    node="esxi",
    kind=find_kind,
    files=(r"\.vmx$",),
    commands=(r"\b(?:cat|more|less)\s[^|]*\.vmx\b",),
    shape=r'^\s*\.encoding\s*=\s*"[\w-]+"\s*$',
    body=r"^\s*(?:[.A-Za-z][\w:.\[\]-]*\s*=\s*.*|#.*)$",
)
