r"""The heading of an esxtop batch CSV: which columns feed which table.

A heading is `\\host\group[(instance)]\counter`; the counter stands after the last backslash and the
instance between the first and the last parenthesis, because VM names hold `( ) : , "` and blanks. Columns
are addressed by position: equal headings are legal.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import field
from typing import Any

from analyzer.lazy_dataclass import dataclass
from analyzer.tables import Table

from ._esxtop_tables import (
    CPU_COUNTERS,
    DISK_ADAPTER,
    DISK_COUNTERS,
    MEMORY,
    MEMORY_COUNTERS,
    PCPU,
    PCPU_COUNTERS,
    PORT,
    PORT_COUNTERS,
    VCPU,
    VM_CPU,
)

MARK = "(PDH-CSV"
MARK_WITHIN = 1024  # esxtop's complaint about an unknown terminal may stand in front of the heading

_FIRST = re.compile(r'([,;\t])("?)\\\\')
_HOST = re.compile(r"\\\\([^\\]{1,255})")
_HEADING = re.compile(r"\\\\([^\\]+)\\([^(\\]+)(?:\((.*)\))?", re.DOTALL)
_BIAS = re.compile(r"\)\s*\([^()]*\)\((-?\d{1,4})\)")
_GROUP = re.compile(r"(\d{1,18}):(.*)", re.DOTALL)
_WORLD = re.compile(r"(\d{1,18}):(vmx-vcpu-(\d{1,4})(?::.*)?)", re.DOTALL)
_NAME_AND_WORLD = re.compile(r"(.*?):(\d{1,18}:vmx-vcpu-\d{1,4}(?::.*)?)", re.DOTALL)
_PORT = re.compile(r"(.*?):(\d{1,18}):(.*)", re.DOTALL)
_VNIC = re.compile(r"(.+?)(?:\.eth| ethernet)\d{1,2}", re.DOTALL)
# Groups of the vmkernel and of user worlds (`hostd.67591`), as every host lists them.
_NO_VM = re.compile(r"(?:idle|system|helper|drivers|ft|vmotion|init|console)|.*\.\d{4,}")

_CPU = {counter: column for column, counter, _, _ in CPU_COUNTERS}
# group -> counter -> column of its table
_WANTED: dict[str, dict[str, str]] = {
    "Group Cpu": _CPU,
    "Vcpu": _CPU,
    "Network Port": {counter: column for column, counter, _, _, _ in PORT_COUNTERS},
    "Physical Cpu": {counter: column for column, counter, _ in PCPU_COUNTERS},
    "Memory": {counter: column for column, counter, _, _ in MEMORY_COUNTERS},
    "Physical Disk Adapter": {counter: column for column, counter, _, _ in DISK_COUNTERS},
}
_COUNTERS = frozenset(counter for counters in _WANTED.values() for counter in counters)
_SHAPES = {
    "esxtop.vm_cpu": r"Group Cpu({vm_id}:{vm_name})",
    "esxtop.vcpu": r"Vcpu({vm_id}:{vm_name}:{world_id}:{world_name})",
    "esxtop.port": r"Network Port({switch}:{port_id}:{used_by})",
    "esxtop.pcpu": r"Physical Cpu({pcpu})",
    "esxtop.memory": "Memory",
    "esxtop.disk_adapter": r"Physical Disk Adapter({hba})",
}

Key = tuple[Any, ...]


@dataclass(slots=True)
class Objects:
    """The objects of one table (VMs, ports, …) and where their counters stand in a row.

    names     columns that name an object, in the order of a key
    columns   key of the object -> column of the table -> position in the row
    """

    table: Table
    names: tuple[str, ...]
    columns: dict[Key, dict[str, int]] = field(default_factory=dict)

    def cells(self, host: str) -> dict[str, str]:
        """Return column -> heading, with `{column}` where the object is named."""
        shape = _SHAPES[self.table.name]
        group = shape.partition("(")[0]
        present = {column for positions in self.columns.values() for column in positions}
        return {
            column: rf"\\{host}\{shape}" + "\\" + counter
            for counter, column in _WANTED[group].items()
            if column in present
        }


@dataclass(slots=True)
class CaptureHeader:
    """What the heading line of a capture says.

    width      fields of a row, the time first; a trailing empty one is not counted
    vms        vm_id -> (name, vCPUs or None where the heading lists no worlds)
    bias_s     seconds to add to a stamp for UTC; 0 as esxtop writes it
    notes      what is odd about the heading, one sentence each
    """

    host: str
    delimiter: str
    width: int
    bias_s: int
    objects: list[Objects]
    vms: dict[int, tuple[str, int | None]]
    notes: list[str]

    def positions(self) -> list[int]:
        """Return the positions of all columns that feed a table, ascending."""
        found = {at for group in self.objects for cells in group.columns.values() for at in cells.values()}
        return sorted(found)


def find_mark(line: str) -> int:
    """Return where in a line the heading starts, or -1 when it is none."""
    at = line.find(MARK, 0, MARK_WITHIN)
    return at - 1 if at > 0 and line[at - 1] == '"' else at


def read(line: str) -> CaptureHeader | None:
    """Read a heading line (from its mark on); None when it names no column."""
    first = _FIRST.search(line, 0, MARK_WITHIN)
    if first is None:
        return None
    host = _HOST.match(line, first.end() - 2)
    delimiter = first[1]
    line = line.removesuffix(delimiter)
    separator = delimiter
    if line.startswith('"') and first[2]:
        separator = f'"{delimiter}"'
        line = line.removeprefix('"').removesuffix('"')
    bias = _BIAS.search(line, 0, first.start() + 1)
    reading = _Reading(host[1] if host else "")
    fields = headings(line, separator)
    for position, heading in enumerate(fields):
        before, _, counter = heading.rpartition("\\")
        if counter in _COUNTERS or counter[:-1] in _COUNTERS:
            reading.take(before, counter, position)
    reading.finish()
    return CaptureHeader(
        reading.host,
        delimiter,
        len(fields),
        int(bias[1]) * 60 if bias else 0,
        [group for group in reading.objects.values() if group.columns],
        reading.vms,
        reading.notes(),
    )


def headings(line: str, separator: str) -> list[str]:
    """Return the fields of a heading line.

    A field after the first starts with two backslashes or is empty; anything else is the rest of a
    VM name that holds the separator, and goes back to the field it was cut from.
    """
    fields = line.split(separator)
    if all(text.startswith(("\\\\", '"\\\\')) for text in fields[1:]):
        return fields
    joined: list[list[str]] = [[fields[0]]]
    for text in fields[1:]:
        if text and not text.startswith(("\\\\", '"\\\\')):
            joined[-1].append(text)
        else:
            joined.append([text])
    return [separator.join(parts) for parts in joined]


def _shown(text: str) -> str:
    """Return a heading without lone surrogates: bytes that are not UTF-8 are read as Latin-1."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape").decode("latin-1")
    return text


class _Reading:
    """Gathers the columns of interest while the heading goes by."""

    def __init__(self, host: str) -> None:
        self.host = _shown(host)
        self.objects = {
            "Group Cpu": Objects(VM_CPU, ("vm_id", "vm_name")),
            "Vcpu": Objects(VCPU, ("vm_id", "vm_name", "vcpu", "world_id", "world_name")),
            "Network Port": Objects(PORT, ("switch", "port_id", "used_by", "client_name", "client_vm", "team_pnic")),
            "Physical Cpu": Objects(PCPU, ("pcpu",)),
            "Memory": Objects(MEMORY, ("host",)),
            "Physical Disk Adapter": Objects(DISK_ADAPTER, ("hba",)),
        }
        self.vms: dict[int, tuple[str, int | None]] = {}
        self.worlds: list[tuple[str, str, int]] = []
        self.lists_worlds = self.shows_vmwait = False
        self.prefixes: dict[str, tuple[str, Key] | None] = {}
        self.repeated = self.other_hosts = self.odd = 0

    def take(self, before: str, counter: str, position: int) -> None:
        """Note one column whose counter some table has; `before` is its heading up to the counter."""
        if before not in self.prefixes:
            self.prefixes[before] = self._object(before)
        found = self.prefixes[before]
        if found is None:
            return
        group, key = found
        column = _WANTED[group].get(counter.rstrip('"'))
        if column is None:
            return
        if group == "Vcpu":
            self.worlds.append((str(key[0]), column, position))
        else:
            self.shows_vmwait |= group == "Group Cpu" and column == "vmwait_pct"
            self._put(group, key, column, position)

    def _object(self, before: str) -> tuple[str, Key] | None:
        """Return the group and the key of the object a heading names; None for one not wanted."""
        if before.startswith('"'):  # quoted alone, as a spreadsheet does where a comma is inside
            before = before[1:]
        found = _HEADING.fullmatch(_shown(before.replace('""', '"')))
        if found is None or found[2] not in _WANTED:
            return None
        group, instance = found[2], found[3] or ""
        if found[1] != self.host:
            self.other_hosts += 1
            return None
        if group == "Vcpu":
            self.lists_worlds = True
            return (group, (instance,)) if ":vmx-vcpu-" in instance else None
        key = self._key(group, instance)
        if key is None:
            self.odd += instance != "_Total"
            return None
        return group, key

    def _key(self, group: str, instance: str) -> Key | None:
        if group == "Physical Cpu":
            return (int(instance),) if re.fullmatch(r"\d{1,9}", instance) else None
        if group == "Memory":
            return (self.host,)
        if group == "Physical Disk Adapter":
            return (instance,) if instance else None
        if group == "Group Cpu":
            found = _GROUP.fullmatch(instance)
            return (int(found[1]), found[2]) if found else None
        found = _PORT.fullmatch(instance)
        return (found[1], int(found[2]), found[3]) if found else None

    def _put(self, group: str, key: Key, column: str, position: int) -> None:
        cells = self.objects[group].columns.setdefault(key, {})
        if column in cells:
            self.repeated += 1  # the first of equal headings counts
        else:
            cells[column] = position

    def finish(self) -> None:
        """Tell VMs from other groups, then bring worlds and ports to their VMs."""
        groups = self.objects["Group Cpu"].columns
        names = dict(groups)
        vcpus = self._finish_worlds(dict(names))
        for (vm_id, name), cells in names.items():
            if vm_id in vcpus or "vmwait_pct" in cells:
                vm = True
            else:
                vm = not (self.lists_worlds or self.shows_vmwait or is_system_group(name))
            if vm:
                self.vms[vm_id] = (name, len(vcpus[vm_id]) if vm_id in vcpus else None)
            else:
                del groups[vm_id, name]
        for vm_id, name, *_ in self.objects["Vcpu"].columns:
            self.vms.setdefault(vm_id, (name, len(vcpus[vm_id])))
        self._finish_ports()

    def _finish_worlds(self, names: dict[int, str]) -> dict[int, set[int]]:
        vcpus: dict[int, set[int]] = {}
        known: dict[str, Key | None] = {}  # a world has a dozen columns
        for instance, column, position in self.worlds:
            if instance not in known:
                known[instance] = key = _world(instance, names)
                if key is not None:
                    vcpus.setdefault(key[0], set()).add(key[2])
            key = known[instance]
            if key is None:
                self.odd += 1
            else:
                self._put("Vcpu", key, column, position)
        return vcpus

    def _finish_ports(self) -> None:
        names = {name for name, _ in self.vms.values()}
        ports = self.objects["Network Port"]
        ports.columns = {
            (switch, port_id, used_by, *client(used_by, names), None): cells
            for (switch, port_id, used_by), cells in ports.columns.items()
        }

    def notes(self) -> list[str]:
        """Return what is odd about the heading."""
        told = []
        if self.repeated:
            told.append(f"{self.repeated} columns repeat the heading of an earlier one; the first counts")
        if self.other_hosts:
            told.append(f"{self.other_hosts} objects of another host than {self.host} are left out")
        if self.odd:
            told.append(f"{self.odd} objects are named in an unknown form and are left out")
        counts = Counter(name for name, _ in self.vms.values())
        twins = sorted(name for name, count in counts.items() if count > 1)
        if twins:
            told.append(f"{len(twins)} names stand for several VMs ({twins[0]!r}): their ports look alike")
        return told


def _world(instance: str, names: dict[int, str]) -> Key | None:
    """Return (VM id, VM name, vCPU, world id, world name) of `id:name:world id:world name`."""
    found = _GROUP.fullmatch(instance)
    if not found:
        return None
    vm_id, rest = int(found[1]), found[2]
    name = names.get(vm_id)
    if name is None or not rest.startswith(f"{name}:"):
        split = _NAME_AND_WORLD.fullmatch(rest)
        name, rest = (split[1], split[2]) if split else ("", "")
    else:
        rest = rest[len(name) + 1 :]
    world = _WORLD.fullmatch(rest)
    return (vm_id, name, int(world[3]), int(world[1]), world[2]) if world else None


def is_system_group(name: str) -> bool:
    """Tell whether a group is the vmkernel's or a user world's, by the names every host lists."""
    return bool(_NO_VM.fullmatch(name))


def client(used_by: str, vm_names: set[str]) -> tuple[str, str | None]:
    """Return the client's name and, when it is a VM (a world id stands in front), the VM's name."""
    found = _GROUP.fullmatch(used_by)
    if not found:
        return used_by, None
    name = found[2]
    vnic = _VNIC.fullmatch(name)
    return name, vnic[1] if vnic and name not in vm_names else name
