r"""Captures of esxtop in batch mode, of any width and length, all of them synthetic.

They follow the grammar of the batch CSV: a heading of quoted fields `\\host\group(instance)\counter` behind
`(PDH-CSV 4.0) (UTC)(0)`, LF, a comma behind the last field; groups, instances and counters are those that `-a`
prints, one group after the other. Which columns the product reads is not known here.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

HOST = "esx71.lab.example"
VERSIONS = 41  # of the cells that mean nothing: a row is one of them, with the planted cells in it
START = datetime(2021, 3, 2, 10, 0, 0)

_WORLD = [
    "% Used",
    "% Run",
    "% System",
    "% Wait",
    "% VmWait",
    "% Ready",
    "% Idle",
    "% Overlap",
    "% CoStop",
    "% Max Limited",
    "% Swap Wait",
    "Switches/sec",
    "Migrates/sec",
    "Wakeups/sec",
]
_GROUP = [
    "Members",
    *_WORLD,
    *(["% CPU Latency", "% Memory Latency", "% Demand", "Effective Min (MHz)"]),
]
_PORT = [
    "Link Up?",
    "Link Speed (Mb/s)",
    "Full Duplex?",
    "Packets Transmitted/sec",
    "MBits Transmitted/sec",
    "Average Packet Size  Transmitted (Bytes)",
    "Packets Received/sec",
    "MBits Received/sec",
    "Average Packet Size  Received (Bytes)",
    "% Outbound Packets Dropped",
    "% Received Packets Dropped",
    "Actions Posted/sec",
]
_MEMORY = [
    "Memory Size MBytes",
    "Memory Granted Size MBytes",
    "Memory Consumed Size MBytes",
    "Target Size MBytes",
    "Touched MBytes",
    "Touched Write MBytes",
    "Swapped MBytes",
    "Swap Target MBytes",
    "Swap Read MBytes/sec",
    "Swap Written MBytes/sec",
    "Overhead MBytes",
    "Memctl?",
    "Memctl MBytes",
    "Memctl Target MBytes",
    "Numa % Local",
]
_IO = ["Commands/sec", "Reads/sec", "Writes/sec", "MBytes Read/sec", "MBytes Written/sec"]
_DISK = [*_IO, "Average MilliSec/Read", "Average MilliSec/Write"]
_LATENCY = [f"Average {layer} MilliSec/Command" for layer in ("Driver", "Kernel", "Guest", "Queue")]
_PHYSICAL = [*_IO, *_LATENCY, "Failed Commands/sec", "Aborts/sec", "Resets/sec"]
_DEVICE = [
    "Device Q Depth",
    "World Q Depth",
    "Active Commands",
    "Queued Commands",
    "% Used",
    "Load",
    *_PHYSICAL,
]
_NFS = ["Active Commands", *_IO, "Average Guest MilliSec/Command", "Average Guest MilliSec/Read"]
_HOST = [
    "Memory Overcommit (1 Minute Avg)",
    "Machine MBytes",
    "Kernel MBytes",
    "NonKernel MBytes",
    "Free MBytes",
    "Kernel MinFree MBytes",
    "Kernel State",
    "Swap Used MBytes",
    "Swap MBytes Read/sec",
    "Memctl Current MBytes",
]
_ORDER = [
    "Memory",
    "Physical Cpu Load",
    "Physical Cpu",
    "Numa Node",
    "Power",
    "VSAN",
    "Group Cpu",
    "Vcpu",
    "Group Memory",
    "Physical Disk Adapter",
    "Physical Disk",
    "Physical Disk SCSI Device",
    "Physical Disk Path",
    "Physical Disk Per-Device-Per-World",
    "Physical Disk Partition",
    "Physical Disk NFS Volume",
    "Virtual Disk",
    "Network Port",
    "Interrupt Cookie",
    "PCPU Power State",
]
_CALM = {
    "% Ready",
    "% CoStop",
    "% Max Limited",
    "% Swap Wait",
    "% System",
    "% Outbound Packets Dropped",
    "% Received Packets Dropped",
    *_LATENCY,
    "Swap Read MBytes/sec",
    "Swap MBytes Read/sec",
}
_HEALTHY = {  # cells that a rule would not let pass at random
    **dict.fromkeys(
        ["Swapped MBytes", "Swap Used MBytes", "Memctl MBytes", "Memctl Current MBytes"], "0.00"
    ),
    **dict.fromkeys(
        ["Queued Commands", "Aborts/sec", "Resets/sec", "Failed Commands/sec", "Kernel State"],
        "0.00",
    ),
    "Numa % Local": "100.00",
    "Average MilliSec/Read": "1.20",
    "Average MilliSec/Write": "1.40",
    "Cpu Load (1 Minute Avg)": "0.60",
    "Cpu Load (5 Minute Avg)": "0.60",
    "Cpu Load (15 Minute Avg)": "0.60",
    "Power Usage Now Watts": "180.00",
    "Power Usage Cap Watts": "0.00",
    "Free MBytes": "60000.00",
    "Kernel MinFree MBytes": "3000.00",
}


@dataclass(frozen=True)
class Capture:
    """A capture to be written.

    columns  fields of the heading, the stamp first and the empty one behind the last comma not counted
    samples  rows below it
    ill      name of the VM that a CPU limit holds back: 2 vCPUs, %RDY 60 and %MLMTD 56 for the whole VM
    """

    columns: int
    samples: int
    ill: str = "web-ill"
    names: dict[int, str] = field(
        default_factory=dict
    )  # number of a VM -> its name, where it matters
    plants: dict[str, str] = field(
        default_factory=dict
    )  # heading without the host -> its cell in every sample

    def heading(self) -> list[str]:
        """Return the fields of the heading."""
        found: list[tuple[int, str]] = []
        for number, (group, instance, counters) in enumerate(self._objects()):
            place = f"{group}({instance})" if instance else group
            order = _ORDER.index(group) * 1_000_000 + number
            found += [(order, rf"\\{HOST}\{place}\{counter}") for counter in counters]
            if len(found) >= self.columns - 1:
                break
        chosen = sorted(found[: self.columns - 1], key=lambda one: one[0])
        return ["(PDH-CSV 4.0) (UTC)(0)", *(text for _, text in chosen)]

    def _objects(self) -> Iterator[tuple[str, str, list[str]]]:
        """Yield group, instance and counters, the ill VM first."""
        vm = 0
        while True:
            gid, world = 4000 + 61 * vm, 900_000 + 61 * vm
            name = self.ill if vm == 0 else self.names.get(vm, f"app-{vm:04d}")
            yield "Group Cpu", f"{gid}:{name}", _GROUP
            for cpu in range(2):
                yield "Vcpu", f"{gid}:{name}:{world + 1 + cpu}:vmx-vcpu-{cpu}:{name}", _WORLD
            if vm == 0:
                yield "Physical Cpu Load", "", ["Cpu Load (1 Minute Avg)"]
                yield "Memory", "", _HOST
                yield "Power", "", ["Power Usage Now Watts", "Power Usage Cap Watts"]
                yield "VSAN", "", ["Enabled?"]
            yield "Network Port", f"vSwitch0:{33_554_440 + vm}:{world}:{name}", _PORT
            yield "Vcpu", f"{gid}:{name}:{world}:vmx", _WORLD
            yield "Group Memory", f"{gid}:{name}", _MEMORY
            yield "Virtual Disk", f"{name}:scsi0:0", _DISK
            yield "Physical Cpu", str(vm), ["% Processor Time", "% Util Time", "% Core Util Time"]
            for device in range(3):
                yield "Physical Disk Per-Device-Per-World", f"naa.6005{device:08x}-{world}", _DEVICE
            if vm % 4 == 0:
                yield from self._storage(vm // 4)
            yield (
                "Group Cpu",
                f"{1_500_000 + vm}:sh.{world}",
                [name for name in _GROUP if name != "% VmWait"],
            )
            yield (
                "Interrupt Cookie",
                f"{vm:#x}",
                ["Interrupts/second", "Processing Time MicroSec/Interrupt"],
            )
            yield (
                "PCPU Power State",
                f"PCPU {vm}",
                ["%C-State C0", "%C-State C1", "%P-State P0", "%P-State P1"],
            )
            vm += 1

    @staticmethod
    def _storage(number: int) -> Iterator[tuple[str, str, list[str]]]:
        """Yield a storage device in all groups that show it, an adapter, a NUMA node, a P-state and an NFS volume."""
        device, path = (
            f"naa.6005{number:08x}",
            f"vmhba{number % 4}:C0:T{number // 256}:L{number % 256}",
        )
        yield "Physical Disk SCSI Device", device, _DEVICE
        yield "Physical Disk Path", path, _PHYSICAL
        yield "Physical Disk", f"vmhba{number % 4}:{path}", _PHYSICAL
        yield "Physical Disk Partition", f"{device}-1", _PHYSICAL
        if number < 4:
            yield "Physical Disk Adapter", f"vmhba{number}", _PHYSICAL
            yield (
                "Numa Node",
                str(number),
                ["% Processor Time", "% Util Time", "Total MBytes", "Free MBytes"],
            )
            yield "Power", str(number), ["P-State MHZ"]
            yield "Physical Disk NFS Volume", f"nfs-{number}", _NFS

    def rows(self) -> Iterator[list[str]]:
        """Yield the rows as lists of cells, the stamp first; cells of the ill VM are those of `planted`."""
        headings = self.heading()
        dice = random.Random(f"esxtop/{self.columns}")
        pool = ["0.00"] * 1200 + [
            f"{dice.random() * 10 ** dice.choice((0, 1, 2, 3)):.2f}" for _ in range(1800)
        ]
        calm = [f"{dice.random() * 0.05:.2f}" for _ in range(50)]
        versions = []
        for _ in range(min(VERSIONS, self.samples)):
            cells = dice.choices(pool, k=self.columns)
            for at, text in enumerate(headings):
                counter = text.rpartition("\\")[2]
                if counter in _HEALTHY:
                    cells[at] = _HEALTHY[counter]
                elif counter in _CALM:
                    cells[at] = dice.choice(calm)
            versions.append(cells)
        ill = {at: cell for at, text in enumerate(headings) if (cell := self.planted(text))}
        for cells in versions:
            for at, cell in ill.items():
                cells[at] = cell
        for sample in range(self.samples):
            cells = versions[sample % VERSIONS]
            cells[0] = (START + timedelta(seconds=5 * sample)).strftime("%m/%d/%Y %H:%M:%S")
            yield cells

    def planted(self, heading: str) -> str:
        """Return the cell below a heading of the ill VM, or one of `plants`; "" for any other."""
        planted = self.plants.get(heading.removeprefix(f"\\\\{HOST}\\"))
        if planted is not None:
            return planted
        before, _, counter = heading.rpartition("\\")
        if not before.endswith(f"Group Cpu(4000:{self.ill})"):
            return ""
        return {"% Ready": "60.12", "% Max Limited": "56.34", "Members": "6"}.get(counter, "")

    def chunks(self, end: str = "\n") -> Iterator[bytes]:
        """Yield the file as esxtop writes it."""
        yield ('"' + '","'.join(self.heading()) + f'",{end}').encode()
        if not self.samples:
            return
        headless: dict[
            int, str
        ] = {}  # a version's text without its stamp; it is the same each time
        for number, cells in enumerate(self.rows()):
            version = number % VERSIONS
            if version not in headless:
                headless[version] = '","'.join(cells[1:])
            yield f'"{cells[0]}","{headless[version]}",{end}'.encode()

    def write(self, path: Path) -> Path:
        """Write the file as esxtop does."""
        with path.open("wb") as file:
            file.writelines(self.chunks())
        return path

    def excel(self, separator: str = ";", comma: str = ",") -> str:
        """Return the capture as a spreadsheet of a country with decimal commas saves it: no quotes, CRLF, no seconds."""
        lines = [separator.join(_quoted(text, separator) for text in self.heading())]
        for cells in self.rows():
            when = datetime.strptime(cells[0], "%m/%d/%Y %H:%M:%S")
            stamp = f"{when.month}/{when.day}/{when.year} {when.hour}:{when.minute:02d}"
            rest = [cell.replace(".", comma) for cell in cells[1:]]
            lines.append(separator.join([stamp, *(_quoted(cell, separator) for cell in rest)]))
        return "".join(f"{line}\r\n" for line in lines)


def _quoted(text: str, separator: str) -> str:
    """Return a field as CSV: in quotes where it holds the separator or a quote."""
    return '"' + text.replace('"', '""') + '"' if separator in text or '"' in text else text
