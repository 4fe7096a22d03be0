"""A host at one moment, as the files of a small vm-support bundle and what was typed on it; all of it synthetic."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tools.case_pack import tgz
from tools.case_text import client_stats, net_stats, rx_queue, rx_summary, vib_list, vmx_file
from tools.make_case import vm_support

_NIC = "Name    PCI Device    Driver  Admin Status  Link Status  Speed  Duplex  MAC Address         MTU  Description\n"
_RULER = "------  ------------  ------  ------------  -----------  -----  ------  -----------------  ----  -----------\n"
_FORM = "{name}  0000:04:00.{n}  ixgben  Up            Up           10000  Full    {mac}  1500  Synthetic 10 Gigabit\n"


@dataclass(slots=True)
class Vm:
    """A VM with one VMXNET3 adapter; `received`, `missed` are counters of its port, `ring` the size of ring #1."""

    name: str
    mac: str
    port: int
    uuid: str = "56 4d 00 00 00 00 00 01-00 00 00 00 00 00 00 01"
    path: str = ""
    received: int = 1_000_000
    missed: int = 0
    ring: int = 256
    world: int = 35001


@dataclass(slots=True)
class HostMoment:
    """A host when it was captured."""

    name: str = "esx81.lab.example"
    captured: str = "2017-10-14 16:53:20"
    uptime: int | None = 3_542_400
    serial: str = "SYN0000081"
    build: int = 5969303
    nics: dict[str, str] = field(
        default_factory=lambda: {"vmnic0": "00:25:90:aa:81:00", "vmnic1": "00:25:90:aa:81:01"}
    )
    received: int = 81_220_045
    crc: int = 0
    crc_of: str = "vmnic1"
    vms: list[Vm] = field(default_factory=list)
    i40en: str = ""
    extra: dict[str, str] = field(default_factory=dict)

    def files(self) -> dict[str, str | bytes]:
        """Return the bundle, and a transcript with the counters of its ports."""
        top, made = vm_support(self.name, "6.5.0", self.build, {**self.commands(), **self.extra})
        if self.uptime is None:
            del made[f"{top}/commands/localcli_system-stats-uptime-get.txt"]
        found: dict[str, str | bytes] = {f"{self.name.partition('.')[0]}.tgz": tgz(made)}
        if any(vm.port for vm in self.vms):
            found[f"{self.name.partition('.')[0]}.txt"] = self._typed()
        return found

    def base(self) -> dict[str, str | bytes]:
        """Return what any bundle has, without its top directory."""
        top, made = vm_support(self.name, "6.5.0", self.build, {})
        return {name.removeprefix(f"{top}/"): body for name, body in made.items()}

    def write(self, folder: Path, *others: HostMoment) -> Path:
        """Write a side: this host and others of its case; return its folder."""
        folder.mkdir(parents=True)
        for one in (self, *others):
            for name, body in one.files().items():
                (folder / name).write_bytes(body.encode() if isinstance(body, str) else body)
        return folder

    def commands(self) -> dict[str, str]:
        """Return what its commands print, by their file."""
        ports = [
            (33554434 + n, 4, 0, "vSwitch0", mac, name)
            for n, (name, mac) in enumerate(self.nics.items())
        ]
        ports += [(vm.port, 5, 9, "vSwitch0", vm.mac, f"{vm.name}.eth0") for vm in self.vms]
        made = {
            "README": f"Command line: /sbin/vm-support\nBundle name: esx-{self.name}\nCaptured on: {self.captured}.000000\n"
            "vm-support version: v3.3\nOptions: {}\n",
            "commands/localcli_hardware-platform-get.txt": "Platform Information:\n   UUID: 0x4c 0x4c\n"
            f"   Product Name: Synthetic R000\n   Vendor Name: Synth\n   Serial Number: {self.serial}\n   IPMI Supported: true\n",
            "commands/net-stats_-l.txt": net_stats(ports),
            "commands/nicinfo.sh.txt": self._nicinfo(),
            "commands/localcli_software-vib-list.txt": vib_list(i40en=self.i40en),
            "commands/localcli_vm-process-list.txt": "".join(map(_process, self.vms)),
        }
        if self.uptime is not None:
            made["commands/localcli_system-stats-uptime-get.txt"] = f"{self.uptime}000000\n"
        for vm in self.vms:
            path = _path(vm).removeprefix("/")
            made[path] = vmx_file(
                vm.name, "centos7-64", vcpus=2, nics=[("vmxnet3", "VM Network", vm.mac)]
            )
        return made

    def _nicinfo(self) -> str:
        rows = [
            _FORM.format(name=name, n=n, mac=mac) for n, (name, mac) in enumerate(self.nics.items())
        ]
        text = _NIC + _RULER + "".join(rows)
        for n, name in enumerate(self.nics):
            crc = self.crc if name == self.crc_of else 0
            text += (
                f"\nNIC:  {name}\n\n   Advertised Auto Negotiation: true\n   Driver Info:\n"
                f"         Bus Info: 0000:04:00.{n}\n         Driver: ixgben\n         Firmware Version: 0x800003df\n"
                "         Version: 1.4.1\n   Link Detected: true\n   Link Status: Up\n\n"
                f"NIC statistics for {name}\n   Packets received: {self.received}\n   Packets sent: 60110444\n"
                f"   Bytes received: 90112004410\n   Bytes sent: 60110444000\n   Receive packets dropped: 0\n"
                f"   Transmit packets dropped: 0\n   Total receive errors: {crc}\n   Receive length errors: 0\n"
                f"   Receive over errors: 0\n   Receive CRC errors: {crc}\n   Receive frame errors: 0\n"
                "   Receive FIFO errors: 0\n   Receive missed errors: 0\n   Total transmit errors: 0\n"
            )
        return text

    def _typed(self) -> str:
        prompt = f"[root@{self.name.partition('.')[0]}:~] "
        text = ""
        for vm in self.vms:
            path = f"/net/portsets/vSwitch0/ports/{vm.port}"
            text += (
                f"{prompt}vsish -e get {path}/clientStats\n{client_stats(pktsRxOK=vm.received, droppedRx=vm.missed)}"
                f"{prompt}vsish -e get {path}/vmxnet3/rxSummary\n"
                f"{rx_summary(lro=0, pkts=vm.received, full1=vm.missed, full2=0)}"
                f"{prompt}vsish -e get {path}/vmxnet3/rxqueues/0/status\n{rx_queue(vm.ring, 256)}"
            )
        return text


def _path(vm: Vm) -> str:
    return vm.path or f"/vmfs/volumes/59e1f0aa-1b2c3d4e-0005-002590aa8101/{vm.name}/{vm.name}.vmx"


def _process(vm: Vm) -> str:
    return (
        f"{vm.name}:\n   World ID: {vm.world}\n   Process ID: 0\n   VMX Cartel ID: {vm.world - 1}\n   UUID: {vm.uuid}\n"
        f"   Display Name: {vm.name}\n   Config File: {_path(vm)}\n\n"
    )
