r"""The heading of an esxtop batch CSV: which columns feed which table.

A heading is `\\host\group[(instance)]\counter`; the counter stands after the last backslash and the
instance between the first and the last parenthesis, because VM names hold `( ) : , "` and blanks. Columns
are addressed by position: equal headings are legal.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from analyzer.artefacts.parsing import Wanted
from analyzer.artefacts.tables import Table

from ._esxtop_counters import LEAST_NUMA
from ._esxtop_names import (
    GROUP,
    Key,
    find_client,
    is_system_group,
    read_vcpu,
)
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
MARK_WITHIN = 1024  # esxtop's complaint about an unknown terminal may be in front of the heading

_FIRST = re.compile(r'([,;\t])("?)\\\\')
_HOST = re.compile(r"\\\\([^\\]{1,255})")
_HEADING = re.compile(r"\\\\([^\\]+)\\([^(\\]+)(?:\((.*)\))?", re.DOTALL)
_BIAS = re.compile(r"\)\s*\([^()]*\)\((-?\d{1,4})\)")
# Commands of a VM are sent by its first world, which only the name of its network world tells.
_NET_WORLD = re.compile(r"NetWorld-VM-(\d{1,18})")
_TOTAL = "_Total"

_COUNTERS = frozenset(
    counter.batch for group in GROUPS for counter in group.counters if counter.batch
)
_ANY_COUNTER = f"\\{VSAN.name}"  # every counter of this group is read, by its name


class _Kind:
    """A group of the heading: how it is read, worked out once."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.columns = {
            counter.batch: counter.column for counter in group.counters if counter.batch
        }
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
        key: list[str | int | None] = []
        for name in self.names:
            text = found.groupdict().get(name)
            key.append(int(text) if text is not None and name in self.whole else text)
        return tuple(key)


_KINDS: dict[str, list[_Kind]] = defaultdict(list)
for _group in GROUPS:
    _KINDS[_group.name].append(_Kind(_group))


@dataclass(slots=True)
class Objects:
    """The objects of one table (VMs, ports, …) and where their counters are in a row.

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
        shape = self.group.name
        if self.group.written:
            shape += f"({self.group.written})"
        present = {column for positions in self.columns.values() for column in positions}
        headings = {}
        for counter in self.group.counters:
            if counter.column in present:
                headings[counter.column] = rf"\\{host}\{shape}" + "\\" + counter.batch
        for column in self.least:
            headings[column] = rf"\\{host}\{NUMA_NODE.name}(*)\Free MBytes"
        return headings


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
            if wanted is not None:
                names = wanted.get(group.table.name, ())
            else:
                names = None
            for cells in group.columns.values():
                found.update(at for name, at in cells.items() if names is None or name in names)
            for name, places in group.least.items():
                if names is None or name in names:
                    found.update(places)
        return sorted(found)

    @property
    def devices(self) -> list[str]:
        """The storage devices it lists, in their order."""
        found: list[str] = []
        for group in self.objects:
            if group.group is DISK_DEVICE:
                found += [str(key[0]) for key in group.columns]
        return found


def find_mark(line: str) -> int:
    """Return where in a line the heading starts, or -1 when it is none."""
    at = line.find(MARK, 0, MARK_WITHIN)
    if at > 0 and line[at - 1] == '"':
        return at - 1
    return at


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
        host=reading.host,
        delimiter=delimiter,
        width=len(fields),
        bias_s=int(bias[1]) * 60 if bias else 0,
        objects=[group for group in reading.objects.values() if group.columns],
        vms=reading.vms,
        notes=reading.list_notes(),
    )


def split_headings(line: str, separator: str) -> list[str]:
    """Return the fields of a heading line.

    A field after the first starts with two backslashes or is empty; anything else is the rest of a
    VM name that holds the separator, and goes back to the field it was cut from.
    """
    starts = ("\\\\", '"\\\\')
    fields = line.split(separator)
    if all(text.startswith(starts) for text in fields[1:]):
        return fields
    groups: list[list[str]] = [[fields[0]]]
    for text in fields[1:]:
        if text and not text.startswith(starts):
            groups[-1].append(text)
        else:
            groups.append([text])
    return [separator.join(parts) for parts in groups]


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
            heading = before.lstrip('"').lstrip("\\").partition("\\")[2]  # without the host
            self._put_column(VSAN, (*key, counter, f"{heading}\\{counter}"), "measured", position)
            return
        column = kind.columns.get(counter)
        if column is None:
            return
        if kind.group is VCPU:
            self.worlds.append((str(key[0]), column, position))
            return
        if kind.group is VM_CPU and column == "vmwait_pct":
            self.shows_vmwait = True
        self._put_column(kind.group, key, column, position)

    def _find_object(self, before: str) -> tuple[_Kind, Key] | None:
        """Return the group and the key of the object a heading names; None for one not wanted."""
        if before.startswith('"'):  # quoted alone, as a spreadsheet does where a comma is inside
            before = before[1:]
        found = _HEADING.fullmatch(_replace_surrogates(before.replace('""', '"')))
        if found is None or found[2] not in _KINDS:
            return None
        host, group, instance = found.groups()
        if host != self.host:
            self.other_hosts += 1
            return None
        kinds = _KINDS[group]
        if kinds[0].group is VSAN:
            return kinds[0], (instance,)
        if kinds[0].group is VCPU:
            self.lists_worlds = True
            instance = instance or ""
            if ":vmx-vcpu-" in instance:  # taken apart when the names of all VMs are known
                return kinds[0], (instance,)
            self.other_worlds.append(instance)
            return None
        for kind in kinds:
            key = kind.read_key(instance, self.host)
            if key is not None:
                return kind, key
        self.odd += instance != _TOTAL
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
                is_vm = True
            else:
                is_vm = not (self.lists_worlds or self.shows_vmwait or is_system_group(name))
            if is_vm:
                self.vms[vm_id] = (name, len(vcpus[vm_id]) if vm_id in vcpus else None)
            else:
                del groups[vm_id, name]
        for vm_id, name, *_ in self.columns_of(VCPU):
            self.vms.setdefault(vm_id, (name, len(vcpus[vm_id])))
        self._finish_memory(vms_are_known=bool(names) or self.lists_worlds)
        # How much the fullest NUMA node has left is shown with the memory of the host
        nodes = self.columns_of(NUMA_NODE).values()
        free = [cells["free_mb"] for cells in nodes if "free_mb" in cells]
        memory = self.objects[MEMORY.table.name]
        if free and memory.columns:
            memory.least = {LEAST_NUMA: free}
        # The key of a port has the name of its client and the VM as well
        vm_names = {name for name, _ in self.vms.values()}
        ports = self.objects[PORT.table.name]
        columns = {}
        for (switch, port_id, used_by, *_), cells in ports.columns.items():
            client = find_client(used_by, vm_names)
            columns[switch, port_id, used_by, *client, None] = cells
        ports.columns = columns
        self._finish_disk_worlds()

    def _finish_worlds(self, names: dict[int, str]) -> dict[int, set[int]]:
        """Put the columns of worlds to their vCPUs; returns the vCPUs of each VM."""
        vcpus: dict[int, set[int]] = {}
        keys: dict[str, Key | None] = {}  # a world has a dozen columns
        for instance, column, position in self.worlds:
            if instance not in keys:
                keys[instance] = read_vcpu(instance, names)
            key = keys[instance]
            if key is None:
                self.odd += 1
                continue
            vcpus.setdefault(key[0], set()).add(key[2])
            self._put_column(VCPU, key, column, position)
        return vcpus

    def _finish_memory(self, *, vms_are_known: bool) -> None:
        """Keep the memory of VMs; `vms_are_known`: columns of CPU have shown which groups are VMs."""
        memory = self.columns_of(VM_MEMORY)
        for vm_id, name in list(memory):
            if vm_id not in self.vms and (vms_are_known or is_system_group(name)):
                del memory[vm_id, name]
            else:
                self.vms.setdefault(vm_id, (name, None))

    def _finish_disk_worlds(self) -> None:
        """Name the VM of each world that uses a disk."""
        disks = self.objects[DISK_WORLD.table.name]
        if not disks.columns:
            return
        names = dict(self._list_worlds_of_vms())
        columns = {}
        for (device, world_id, _), cells in disks.columns.items():
            columns[device, world_id, names.get(world_id)] = cells
        disks.columns = columns

    def _list_worlds_of_vms(self) -> Iterator[tuple[int, str]]:
        """Yield world and VM, as the names of worlds and the clients of ports show."""
        for instance in self.other_worlds:
            vm_id, _, rest = instance.partition(":")
            name = ""
            if vm_id.isdecimal() and int(vm_id) in self.vms:
                name = self.vms[int(vm_id)][0]
            if not name or not rest.startswith(f"{name}:"):
                continue
            found = GROUP.fullmatch(rest[len(name) + 1 :])
            if found is not None:
                yield int(found[1]), name
                for world in _NET_WORLD.findall(found[2]):
                    yield int(world), name
        for vm_id, name, _, world_id, _ in self.columns_of(VCPU):
            yield world_id, self.vms[vm_id][0] or name
        for _, _, used_by, _, vm, _ in self.columns_of(PORT):
            if vm is not None:
                yield int(used_by.partition(":")[0]), vm

    def list_notes(self) -> list[str]:
        """Return what is odd about the heading."""
        notes = []
        if self.repeated:
            notes.append(
                f"{self.repeated} columns repeat the heading of an earlier one; the first counts"
            )
        if self.other_hosts:
            notes.append(
                f"{self.other_hosts} objects of another host than {self.host} are left out"
            )
        if self.odd:
            notes.append(f"{self.odd} objects are named in an unknown form and are left out")
        counts = Counter(name for name, _ in self.vms.values())
        twins = sorted(name for name, count in counts.items() if count > 1)
        if twins:
            notes.append(
                f"{len(twins)} names stand for several VMs ({twins[0]!r}): their ports look alike"
            )
        return notes
