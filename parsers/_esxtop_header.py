r"""The heading of an esxtop batch CSV: which columns feed which table.

A heading is `\\host\group[(instance)]\counter`; the counter stands after the last backslash and the
instance between the first and the last parenthesis, because VM names hold `( ) : , "` and blanks. Columns
are addressed by position: equal headings are legal.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import field

from analyzer.lazy_dataclass import dataclass
from analyzer.parsing import Wanted
from analyzer.tables import Table

from ._esxtop_counters import LEAST_NUMA
from ._esxtop_names import GROUP, Key, find_client, is_system_group, read_vcpu
from ._esxtop_tables import (
    DISK_DEVICE,
    DISK_WORLD,
    GROUPS,
    MEMORY,
    NUMA_NODE,
    PORT,
    VCPU,
    VM_CPU,
    VM_MEMORY,
    VSAN,
    Group,
)

MARK = "(PDH-CSV"
MARK_WITHIN = 1024  # esxtop's complaint about an unknown terminal may stand in front of the heading

_FIRST = re.compile(r'([,;\t])("?)\\\\')
_HOST = re.compile(r"\\\\([^\\]{1,255})")
_HEADING = re.compile(r"\\\\([^\\]+)\\([^(\\]+)(?:\((.*)\))?", re.DOTALL)
_BIAS = re.compile(r"\)\s*\([^()]*\)\((-?\d{1,4})\)")
# Commands of a VM are sent by its first world, which only the name of its network world tells.
_NET_WORLD = re.compile(r"NetWorld-VM-(\d{1,18})")
_TOTAL = "_Total"

_COUNTERS = frozenset(counter.batch for group in GROUPS for counter in group.counters if counter.batch)
_ANY_COUNTER = f"\\{VSAN.name}"  # every counter of this group is read, by its name


class _Kind:
    """A group of the heading: how it is read, worked out once."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.columns = {counter.batch: counter.column for counter in group.counters if counter.batch}
        self.instance = re.compile(group.instance, re.DOTALL)
        self.names = group.names
        kinds = {column.name: column.kind for column in group.table.columns}
        self.whole = frozenset(name for name in self.names if kinds[name] == "int")

    def read_key(self, instance: str | None, host: str) -> Key | None:
        """Return what names the object of an instance, None where it is written in another way."""
        if not self.group.instance:
            return (host,) if instance is None else None
        found = self.instance.fullmatch(instance or "")
        if found is None:
            return None
        cells = found.groupdict()
        return tuple(
            int(text) if name in self.whole and text is not None else text
            for name, text in ((name, cells.get(name)) for name in self.names)
        )


_KINDS: dict[str, list[_Kind]] = defaultdict(list)
for _group in GROUPS:
    _KINDS[_group.name].append(_Kind(_group))


@dataclass(slots=True)
class Objects:
    """The objects of one table (VMs, ports, …) and where their counters stand in a row.

    columns   key of the object -> column of the table -> position in the row
    least     column that holds the least of several cells -> their positions
    """

    group: Group
    columns: dict[Key, dict[str, int]] = field(default_factory=dict)
    least: dict[str, list[int]] = field(default_factory=dict)

    @property
    def table(self) -> Table:
        """The table they fill."""
        return self.group.table

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that name an object, in the order of a key."""
        return self.group.names

    def map_headings(self, host: str) -> dict[str, str]:
        """Return column -> heading, with `{column}` where the object is named."""
        if self.group is VSAN:
            return {"measured": rf"\\{host}" + "\\{heading}"}
        shape = self.group.name + (f"({self.group.written})" if self.group.written else "")
        present = {column for positions in self.columns.values() for column in positions}
        found = {
            counter.column: rf"\\{host}\{shape}" + "\\" + counter.batch
            for counter in self.group.counters
            if counter.column in present
        }
        return found | dict.fromkeys(self.least, rf"\\{host}\{NUMA_NODE.name}(*)\Free MBytes")


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

    def list_positions(self, wanted: Wanted = None) -> list[int]:
        """Return the positions of the columns that feed a table, ascending: all, or those that are wanted."""
        found: set[int] = set()
        for group in self.objects:
            some = wanted.get(group.table.name, ()) if wanted is not None else None
            for cells in group.columns.values():
                found.update(cells.values() if some is None else (at for name, at in cells.items() if name in some))
            for name, places in group.least.items():
                found.update(places if some is None or name in some else ())
        return sorted(found)

    @property
    def devices(self) -> list[str]:
        """The storage devices it lists, in their order."""
        return [str(key[0]) for group in self.objects if group.group is DISK_DEVICE for key in group.columns]


def find_mark(line: str) -> int:
    """Return where in a line the heading starts, or -1 when it is none."""
    at = line.find(MARK, 0, MARK_WITHIN)
    return at - 1 if at > 0 and line[at - 1] == '"' else at


def read_heading(line: str) -> CaptureHeader | None:
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
    fields = split_headings(line, separator)
    for position, heading in enumerate(fields):
        before, _, counter = heading.rpartition("\\")
        if counter in _COUNTERS or counter[:-1] in _COUNTERS or _ANY_COUNTER in before:
            reading.take_column(before, counter, position)
    reading.finish_objects()
    return CaptureHeader(
        reading.host,
        delimiter,
        len(fields),
        int(bias[1]) * 60 if bias else 0,
        [group for group in reading.objects.values() if group.columns],
        reading.vms,
        reading.list_notes(),
    )


def split_headings(line: str, separator: str) -> list[str]:
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


def _replace_surrogates(text: str) -> str:
    """Return a heading without lone surrogates: bytes that are not UTF-8 are read as Latin-1."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape").decode("latin-1")
    return text


class _Reading:
    """Gathers the columns of interest while the heading goes by."""

    def __init__(self, host: str) -> None:
        self.host = _replace_surrogates(host)
        self.objects = {group.table.name: Objects(group) for group in GROUPS}
        self.vms: dict[int, tuple[str, int | None]] = {}
        self.worlds: list[tuple[str, str, int]] = []
        self.other_worlds: list[str] = []
        self.lists_worlds = self.shows_vmwait = False
        self.prefixes: dict[str, tuple[_Kind, Key] | None] = {}
        self.repeated = self.other_hosts = self.odd = 0

    def columns_of(self, group: Group) -> dict[Key, dict[str, int]]:
        """Return the objects of a group."""
        return self.objects[group.table.name].columns

    def take_column(self, before: str, counter: str, position: int) -> None:
        """Note one column whose counter some table has; `before` is its heading up to the counter."""
        if before not in self.prefixes:
            self.prefixes[before] = self._find_object(before)
        found = self.prefixes[before]
        if found is None:
            return
        kind, key = found
        counter = counter.rstrip('"')
        if kind.group is VSAN:
            self._put_column(VSAN, (*key, counter, f"{_after_host(before)}\\{counter}"), "measured", position)
            return
        column = kind.columns.get(counter)
        if column is None:
            return
        if kind.group is VCPU:
            self.worlds.append((str(key[0]), column, position))
        else:
            self.shows_vmwait |= kind.group is VM_CPU and column == "vmwait_pct"
            self._put_column(kind.group, key, column, position)

    def _find_object(self, before: str) -> tuple[_Kind, Key] | None:
        """Return the group and the key of the object a heading names; None for one not wanted."""
        if before.startswith('"'):  # quoted alone, as a spreadsheet does where a comma is inside
            before = before[1:]
        found = _HEADING.fullmatch(_replace_surrogates(before.replace('""', '"')))
        if found is None or found[2] not in _KINDS:
            return None
        if found[1] != self.host:
            self.other_hosts += 1
            return None
        kinds, instance = _KINDS[found[2]], found[3]
        if kinds[0].group is VSAN:
            return kinds[0], (instance,)
        if kinds[0].group is VCPU:
            return self._note_world(kinds[0], instance or "")
        for kind in kinds:
            key = kind.read_key(instance, self.host)
            if key is not None:
                return kind, key
        self.odd += instance != _TOTAL
        return None

    def _note_world(self, kind: _Kind, instance: str) -> tuple[_Kind, Key] | None:
        """Return a vCPU by its instance, to be taken apart when the names of all VMs are known."""
        self.lists_worlds = True
        if ":vmx-vcpu-" in instance:
            return kind, (instance,)
        self.other_worlds.append(instance)
        return None

    def _put_column(self, group: Group, key: Key, column: str, position: int) -> None:
        cells = self.columns_of(group).setdefault(key, {})
        if column in cells:
            self.repeated += 1  # the first of equal headings counts
        else:
            cells[column] = position

    def finish_objects(self) -> None:
        """Tell VMs from other groups, then bring worlds, ports and what they do to disks to their VMs."""
        groups = self.columns_of(VM_CPU)
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
        for vm_id, name, *_ in self.columns_of(VCPU):
            self.vms.setdefault(vm_id, (name, len(vcpus[vm_id])))
        self._finish_memory(told=bool(names) or self.lists_worlds)
        self._finish_numa()
        self._finish_ports()
        self._finish_disk_worlds()

    def _finish_worlds(self, names: dict[int, str]) -> dict[int, set[int]]:
        vcpus: dict[int, set[int]] = {}
        known: dict[str, Key | None] = {}  # a world has a dozen columns
        for instance, column, position in self.worlds:
            if instance not in known:
                known[instance] = key = read_vcpu(instance, names)
                if key is not None:
                    vcpus.setdefault(key[0], set()).add(key[2])
            key = known[instance]
            if key is None:
                self.odd += 1
            else:
                self._put_column(VCPU, key, column, position)
        return vcpus

    def _finish_memory(self, *, told: bool) -> None:
        """Keep the memory of VMs; `told`: columns of CPU have told which groups are VMs."""
        memory = self.columns_of(VM_MEMORY)
        for vm_id, name in list(memory):
            if vm_id not in self.vms and (told or is_system_group(name)):
                del memory[vm_id, name]
            else:
                self.vms.setdefault(vm_id, (name, None))

    def _finish_numa(self) -> None:
        """Let the memory of the host tell how much the fullest NUMA node has left."""
        free = [cells["free_mb"] for cells in self.columns_of(NUMA_NODE).values() if "free_mb" in cells]
        memory = self.objects[MEMORY.table.name]
        if free and memory.columns:
            memory.least = {LEAST_NUMA: free}

    def _finish_ports(self) -> None:
        names = {name for name, _ in self.vms.values()}
        ports = self.objects[PORT.table.name]
        ports.columns = {
            (switch, port_id, used_by, *find_client(used_by, names), None): cells
            for (switch, port_id, used_by, *_), cells in ports.columns.items()
        }

    def _finish_disk_worlds(self) -> None:
        disks = self.objects[DISK_WORLD.table.name]
        if disks.columns:
            names = dict(self._worlds_of_vms())
            disks.columns = {
                (device, world_id, names.get(world_id)): cells for (device, world_id, _), cells in disks.columns.items()
            }

    def _worlds_of_vms(self) -> Iterator[tuple[int, str]]:
        """Yield world and VM, as the names of worlds and the clients of ports tell."""
        for instance in self.other_worlds:
            vm_id, _, rest = instance.partition(":")
            name, _ = self.vms.get(int(vm_id) if vm_id.isdecimal() else -1, ("", None))
            found = GROUP.fullmatch(rest[len(name) + 1 :]) if name and rest.startswith(f"{name}:") else None
            if found:
                yield int(found[1]), name
                yield from ((int(world), name) for world in _NET_WORLD.findall(found[2]))
        for vm_id, name, _, world_id, _ in self.columns_of(VCPU):
            yield world_id, self.vms[vm_id][0] or name
        for _, _, used_by, _, vm, _ in self.columns_of(PORT):
            if vm is not None:
                yield int(used_by.partition(":")[0]), vm

    def list_notes(self) -> list[str]:
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


def _after_host(before: str) -> str:
    """Return a heading without what stands before its group."""
    return before.lstrip('"').lstrip("\\").partition("\\")[2]
