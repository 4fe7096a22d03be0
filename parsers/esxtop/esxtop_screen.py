"""esxtop screens pasted into a text: c (cpu), m (memory), d, u and v (disk adapter, device, VM), n (network).

Each screen is one sample. Columns are taken by their heading, because versions and field selections differ; a terminal
cuts a screen at its right edge, so a last heading that is no known one is left out with its column. A name is cut to
its column and may hold blanks. The screen does not tell how many vCPUs a VM has (NWLD counts all its worlds), so
`vcpus` stays empty. Groups that are no VM show `-` under %VMWAIT; where that column is missing, known names
of the vmkernel and of user worlds tell. Rows of an expanded group, adapter or device are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Fault, Row, Table, Value

from ._esxtop_counters import LEAST_NUMA, WORLDS
from ._esxtop_names import find_client, is_system_group
from ._esxtop_tables import (
    DEVICE,
    DISK_ADAPTER,
    DISK_DEVICE,
    MEMORY,
    NFS_VOLUME,
    NUMA_NODE,
    PORT,
    VIRTUAL_DISK,
    VM,
    VM_CPU,
    VM_MEMORY,
    Group,
)

_NAME = r"\S.{0,99}?"
_CELL = r"(?:-|[YN]|-?\d{1,15}(?:\.\d{1,15})?)"
_NFS = "{NFS}"
_ABOVE = re.compile(
    r"\s*(?:\d+:\d\d:\d\d\s?[ap]m up .*|(?:PCPU|CORE|CCPU|NUMA|PSHARE|SWAP|ZIP|MEMCTL|VMKMEM|PMEM)\b.*|)\s*"
)

# What the lines above the memory screen say: column -> the number in front of a word, on the line of a heading.
_MEMORY = {
    "machine_mb": ("PMEM", "total"),
    "kernel_mb": ("PMEM", "vmk"),
    "nonkernel_mb": ("PMEM", "other"),
    "free_mb": ("PMEM", "free"),
    "managed_mb": ("VMKMEM", "managed"),
    "minfree_mb": ("VMKMEM", "minfree"),
    "reserved_mb": ("VMKMEM", "rsvd"),
    "unreserved_mb": ("VMKMEM", "ursvd"),
    "shared_mb": ("PSHARE", "shared"),
    "common_mb": ("PSHARE", "common"),
    "share_savings_mb": ("PSHARE", "saving"),
    "swap_used_mb": ("SWAP", "curr"),
    "swap_read_mb_s": ("SWAP", "r/s"),
    "swap_write_mb_s": ("SWAP", "w/s"),
    "compressed_mb": ("ZIP", "zipped"),
    "zip_saved_mb": ("ZIP", "saved"),
    "memctl_mb": ("MEMCTL", "curr"),
    "memctl_target_mb": ("MEMCTL", "target"),
    "memctl_max_mb": ("MEMCTL", "max"),
}
_HOST_LINE = re.compile(r"\s*(PMEM|VMKMEM|PSHARE|SWAP|ZIP|MEMCTL)\s*/MB:(.*)")
_HOST_WORDS = "|".join(
    sorted({word for _, word in _MEMORY.values()} | {"cos", "rclmtgt"})
)  # the last two: no column
_HOST_CELL = re.compile(rf"(?<![\w.-])(\d{{1,15}}(?:\.\d{{1,15}})?)\s*\(?({_HOST_WORDS})\b\)?[,:]?")
_NUMA_HEAD = re.compile(r"\s*NUMA\s*/MB:")
_NUMA_LINE = re.compile(r"\s*NUMA\s*/MB:((?:\s*\d{1,15}\s*\(\s*\d{1,15}\)\s*,?)+)\s*")
_NUMA_CELL = re.compile(
    r"(\d+)\s*\(\s*(\d+)\)"
)  # memory of a node, and in brackets what of it is free
_NO_CELL = re.compile(r"(?:[a-z]{1,20} state)?")  # "soft state" ends the line of VMKMEM


class _Read(NamedTuple):
    """One row of a screen: what names its object, and the counters by heading."""

    names: dict[str, str]
    counters: dict[str, str]


class _Screen(NamedTuple):
    """One kind of screen: the headings before the counters, what is below them, and how a row is read."""

    heading: str
    first: str  # the first counter; a heading without it is another screen
    names: str
    rows: Callable[[_Read], Iterator[tuple[Table, dict[str, str], dict[str, Value]]]]


def _map_columns(group: Group) -> dict[str, str]:
    return {counter.screen: counter.column for counter in group.counters if counter.screen}


_Made = Iterator[tuple[Table, dict[str, str], dict[str, Value]]]
_CPU, _VM_MEMORY, _PORT = _map_columns(VM_CPU), _map_columns(VM_MEMORY), _map_columns(PORT)
_ADAPTER, _DEVICE, _VOLUME, _DISK = map(
    _map_columns, (DISK_ADAPTER, DISK_DEVICE, NFS_VOLUME, VIRTUAL_DISK)
)


def _read_cpu(read: _Read) -> _Made:
    names, waits = read.names, read.counters.get("%VMWAIT")
    if waits is None:
        is_vm = not is_system_group(names["name"])
    else:
        is_vm = waits != "-"
    if is_vm and names["id"] == names["gid"]:  # another ID is a world of an expanded group
        yield from _read_vm(read, VM_CPU, _CPU)


def _read_memory(read: _Read) -> _Made:
    if read.counters.get("MCTLSZ") != "-" and not is_system_group(read.names["name"]):
        yield from _read_vm(read, VM_MEMORY, _VM_MEMORY)


def _read_vm(read: _Read, group: Group, columns: dict[str, str]) -> _Made:
    named: dict[str, Value] = {"vm_id": int(read.names["gid"]), "vm_name": read.names["name"]}
    yield VM, {}, named
    yield group.table, columns, named


def _read_adapter(read: _Read) -> _Made:
    if read.names["path"] == "-":
        yield DISK_ADAPTER.table, _ADAPTER, {"hba": read.names["hba"]}


def _read_device(read: _Read) -> _Made:
    name = read.names["device"]
    if (read.names.get("part") or "-") != "-":
        return
    if name.startswith(_NFS):
        yield NFS_VOLUME.table, _VOLUME, {"volume_name": name.removeprefix(_NFS)}
    else:
        yield DEVICE, {}, {"storage_device": name}
        yield DISK_DEVICE.table, _DEVICE, {"storage_device": name}


def _read_virtual_disk(read: _Read) -> _Made:
    name = read.names["name"]
    disk = read.names["disk"].replace("-", "") or None
    if disk:
        instance = f"{name}:{disk}"
    else:
        instance = name
    yield VIRTUAL_DISK.table, _DISK, {"instance": instance, "vm_name": name, "disk": disk}


def _read_port(read: _Read) -> _Made:
    names = read.names
    client_name, client_vm = find_client(names["used_by"], set())
    team_pnic = names["team_pnic"]
    named: dict[str, Value] = {
        "switch": names["switch"],
        "port_id": int(names["port_id"]),
        "used_by": names["used_by"],
        "client_name": client_name,
        "client_vm": client_vm,
        "team_pnic": None if team_pnic in ("-", "n/a") else team_pnic,
    }
    yield PORT.table, _PORT, named


_ID = r"\d{1,18}"
_FIRST = r"(?=\s+(?:-|\d+\.\d)\S*)"  # a decimal: a number that ends a name has none
_SCREENS = (
    _Screen(
        r"ID\s+GID\s+NAME\s+NWLD",
        r"%[A-Z_]+",
        rf"(?P<id>{_ID})\s+(?P<gid>{_ID})\s+(?P<name>{_NAME})\s+(?P<nwld>\d{{1,9}}){_FIRST}",
        _read_cpu,
    ),
    _Screen(r"GID\s+NAME", "MEMSZ", rf"(?P<gid>{_ID})\s+(?P<name>{_NAME}){_FIRST}", _read_memory),
    _Screen(r"ADAPTR\s+PATH", "NPTH", r"(?P<hba>\S+)\s+(?P<path>\S+)", _read_adapter),
    _Screen(
        r"DEVICE\s+PATH/WORLD/PARTITION",
        "DQLEN",
        rf"(?P<device>{_NAME})\s+(?P<part>\S+)",
        _read_device,
    ),
    _Screen("DEVICE", "DQLEN", rf"(?P<device>{_NAME})", _read_device),
    _Screen(
        r"GID\s+VMNAME\s+VDEVNAME\s+NVDISK",
        "CMDS/s",
        rf"(?P<gid>{_ID})\s+(?P<name>{_NAME})\s+(?P<disk>-|[a-z]{{2,5}}\d{{1,3}}:\d{{1,3}})\s+(?:-|\d+){_FIRST}",
        _read_virtual_disk,
    ),
    _Screen(
        r"PORT-ID\s+USED-BY\s+TEAM-PNIC\s+DNAME",
        r"\S+",
        rf"(?P<port_id>{_ID})\s+(?P<used_by>{_NAME})\s+(?P<team_pnic>\S+)\s+(?P<switch>\S+)",
        _read_port,
    ),
)
_HEADINGS = [
    re.compile(rf"\s*{one.heading}((?:\s+{one.first})(?:\s+\S+){{0,60}})\s*") for one in _SCREENS
]
_KNOWN = {*_CPU, *_VM_MEMORY, *_ADAPTER, *_DEVICE, *_VOLUME, *_DISK, *_PORT}


class _Reading:
    """One block: the screen that runs, how many there were of each kind, and what was named before."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.screen: _Screen | None = None
        self.titles: list[str] = []
        self.row = re.compile("")
        self.counts: dict[str, int] = {}
        self.seen: set[tuple[str, Value]] = set()
        self.host: dict[str, Value] = {}
        self.host_lines: dict[str, int] = {}
        self.numa: list[tuple[float, float]] = []

    def take_line(self, number: int, line: str) -> Output:
        """Read one line."""
        for screen, heading in zip(_SCREENS, _HEADINGS, strict=True):
            found = heading.fullmatch(line)
            if found is not None:
                yield from self.close_screen()
                titles = found[1].split()
                self.screen = screen
                self.counts[screen.first] = self.counts.get(screen.first, 0) + 1
                cut = ""
                if titles[-1] not in _KNOWN:  # the terminal ended inside the last heading
                    cut = r"(?:\s+\S+)?"
                    titles = titles[:-1]
                self.titles = titles
                self.row = re.compile(
                    rf"\s*{screen.names}(?P<cells>(?:\s+{_CELL}){{{len(titles)}}}){cut}\s*"
                )
                return
        if _ABOVE.fullmatch(line):
            yield from self._take_host_line(number, line)
            return
        if self.screen is None:
            yield self._make_fault(
                number, line, "no heading of an esxtop screen stands above this line"
            )
            return
        found = self.row.fullmatch(line)
        if found is None:
            why = f"this is no row of {len(self.titles)} numbers, as the heading wants it"
            yield self._make_fault(number, line, why)
            return
        names = found.groupdict()
        counters = dict(zip(self.titles, found["cells"].split(), strict=False))
        if WORLDS.column in names:  # a counter that is printed among the names
            counters[WORLDS.screen] = names[WORLDS.column]
        read = _Read(names, counters)
        sample = self.counts[self.screen.first]
        for table, columns, named in self.screen.rows(read):
            if not columns:  # the object itself, once
                (key, *_) = named.values()
                if (table.name, key) not in self.seen:
                    self.seen.add((table.name, key))
                    yield self._make_row(table, named | {"samples": 1}, number)
                continue
            values = named | {"sample": sample}
            for name, text in read.counters.items():
                if name in columns:
                    values[columns[name]] = None if text in ("-", "Y", "N") else float(text)
            yield self._make_row(table, values, number)

    def _take_host_line(self, number: int, line: str) -> Output:
        """Take a line above the memory screen; the row of the host is yielded when the heading below them comes."""
        found = _HOST_LINE.fullmatch(line)
        if found is None:
            yield from self._take_numa_line(number, line)
            return
        if found[1] == "PMEM":
            yield from self.close_screen()
        cells = {word: float(value) for value, word in _HOST_CELL.findall(found[2])}
        if not _NO_CELL.fullmatch(_HOST_CELL.sub("", found[2]).strip()):
            yield self._make_fault(
                number,
                line,
                "not all of this line is numbers with the word that says what they count",
            )
        for column, (head, word) in _MEMORY.items():
            if head == found[1] and word in cells:
                self.host[column], self.host_lines[column] = cells[word], number

    def _take_numa_line(self, number: int, line: str) -> Output:
        """Take the line that lists memory and free memory of each NUMA node; a later line of a screen goes on."""
        if not _NUMA_HEAD.match(line):
            return
        found = _NUMA_LINE.fullmatch(line)
        if found is None:
            why = "not every NUMA node has its memory, and in brackets what of it is free"
            yield self._make_fault(number, line, why)
            return
        for total, free in _NUMA_CELL.findall(found[1]):
            self.numa.append((float(total), float(free)))
        self.host[LEAST_NUMA] = min(free for _, free in self.numa)
        self.host_lines[LEAST_NUMA] = number

    def close_screen(self) -> Output:
        """Yield what the lines above a screen hold of the host: those of the next screen are another sample."""
        if self.host:
            self.counts["PMEM"] = self.counts.get("PMEM", 0) + 1
            sample: dict[str, Value] = {"sample": self.counts["PMEM"]}
            row = self._make_row(MEMORY.table, sample | self.host, min(self.host_lines.values()))
            row.lines = self.host_lines
            yield row
            for node, (total, free) in enumerate(self.numa):
                cells: dict[str, Value] = {"numa_node": node, "total_mb": total, "free_mb": free}
                yield self._make_row(NUMA_NODE.table, sample | cells, self.host_lines[LEAST_NUMA])
        self.host, self.host_lines, self.numa = {}, {}, []

    def _make_row(self, table: Table, values: dict[str, Value], number: int) -> Row:
        return Row(table, table.blank() | values, self.block, number)

    def _make_fault(self, number: int, line: str, why: str) -> Fault:
        return Fault(self.block.address, number, line, PARSER.name, why=why)


def parse_block(block: Block) -> Output:
    """Read the screens of a block: VMs, devices and one sample of each object a screen."""
    reading = _Reading(block)
    for number, line in enumerate(block.lines, block.first_line):
        yield from reading.take_line(number, line)
    yield from reading.close_screen()


PARSER = Parser(
    name="esxtop_screen",
    tables=(
        VM,
        VM_CPU.table,
        PORT.table,
        VM_MEMORY.table,
        MEMORY.table,
        NUMA_NODE.table,
        DISK_ADAPTER.table,
        DEVICE,
        DISK_DEVICE.table,
        NFS_VOLUME.table,
        VIRTUAL_DISK.table,
    ),
    parse=parse_block,
    node="esxi",
    shape=(
        r"^\s*(?:ID\s+GID\s+NAME\s+NWLD(?:\s+%[A-Z_]+)+|PORT-ID\s+USED-BY\s+TEAM-PNIC\s+DNAME(?:\s+\S+)+"
        r"|GID\s+NAME\s+MEMSZ(?:\s+\S+)+|ADAPTR\s+PATH\s+NPTH(?:\s+\S+)+"
        r"|DEVICE\s+(?:PATH/WORLD/PARTITION\s+)?DQLEN(?:\s+\S+)+|GID\s+VMNAME\s+VDEVNAME\s+NVDISK(?:\s+\S+)+"
        r"|PMEM\s*/MB:\s*\d+\s+total:.*)\s*$"
    ),
    body=(
        r"^\s*(?:\d+\s+\d+\s+\S.{0,99}?\s+\d+(?:\s+(?:-|-?\d+\.\d+))+"
        r"|\S.{0,120}?(?:\s+(?:-|[YN]|-?\d+(?:\.\d+)?)){4,60}(?:\s+\S+)?"
        r"|(?:ADAPTR|DEVICE|GID|ID|PORT-ID)\s+[A-Z].*"
        r"|\d+:\d\d:\d\d\s?[ap]m up .*|(?:PCPU|CORE|CCPU|NUMA|PSHARE|SWAP|ZIP|MEMCTL|VMKMEM|PMEM)\b.*)\s*$"
    ),
)
