"""The tables of esxtop: filled by the batch CSV (frames) and by pasted screens (rows).

Names are those of the screen in lower case: %RDY is `rdy_pct`. Percentages of a VM are sums over
all its worlds, so a rule divides them by `vcpus`; %RDY holds %MLMTD. GROUPS says which group of the batch CSV
fills which table, and how its instances are written.
"""

from __future__ import annotations

from typing import NamedTuple

from analyzer.artefacts.tables import Column, Table

from . import _esxtop_counters as counters
from ._esxtop_counters import TopCounter

_ASK = "`esxtop -b -a -d 5 -n 120 > esxtop.csv` on the host, while the problem is there"
_CSV = "esxtop batch CSV (esxtop -b)"
_BOTH = "esxtop batch CSV (esxtop -b), or the esxtop screen pasted"

VM_ID = Column("vm_id", "int", "group id (GID) of the VM, until its next power-on")
VM_NAME = Column("vm_name", "str", "name of the VM; a screen cuts it to 15 characters")
SAMPLE = Column(
    "sample", "int", "number of the sample in the capture; 0 (averages since boot) is left out"
)
TIME = Column("time", "time", "when the sample was taken, where the source shows it", "UTC")
_HOST = Column("host", "str", "host named in the headings")
_HBA = Column("hba", "str", "disk adapter as the host names it: vmhba0")
_DEVICE = Column("storage_device", "str", "storage device: naa.…, eui.…, t10.…, mpx.…")
_PATH = Column("path_name", "str", "name of the path: vmhba2:C0:T0:L1; changes over a reboot")
_PCPU = Column("pcpu", "int", "number of the physical CPU (thread), from 0")
_INSTANCE = Column("instance", "str", "the object as the heading names it")

CAPTURE = Table.of(
    "esxtop.capture",
    "One esxtop capture as a whole, and what of it could not be used.",
    _CSV,
    _HOST,
    Column("samples", "int", "samples read, the first (averages since boot) included"),
    Column("first", "time", "stamp of the first sample", "UTC"),
    Column("last", "time", "stamp of the last sample", "UTC"),
    Column("columns_read", "int", "columns of the counters that the tables hold"),
    Column("columns_found", "int", "columns of the capture"),
    Column("rows_dropped", "int", "rows left out: cut, or of another width than the heading"),
    Column(
        "cells_dropped",
        "int",
        "cells without a usable number, of those asked for: blank, NaN, -1, text",
    ),
    Column("clock_steps", "int", "samples stamped earlier than the sample before"),
    ask=_ASK,
)
VM = Table.of(
    "esxtop.vm",
    "A VM seen by esxtop, once a capture.",
    _BOTH,
    VM_ID,
    VM_NAME,
    Column(
        "vcpus", "int", "vCPU worlds of the VM (vmx-vcpu-N); empty where the source lists no worlds"
    ),
    Column("samples", "int", "samples read, the first (averages since boot) included"),
    Column("first", "time", "stamp of the first sample", "UTC"),
    Column("last", "time", "stamp of the last sample", "UTC"),
    ask=_ASK,
    key=("vm_id",),
)
DEVICE = Table.of(
    "esxtop.device",
    "A storage device seen by esxtop, once a capture.",
    _BOTH,
    _DEVICE,
    Column("samples", "int", "samples read, the first (averages since boot) included"),
    ask=_ASK,
    key=("storage_device",),
)


class Group(NamedTuple):
    """A group of the batch CSV and the table it fills.

    written   an instance, `{column}` where a column of the table is in it; "" for a group without instances
    instance  regex of an instance; its named groups are columns of the table
    """

    name: str
    table: Table
    counters: tuple[TopCounter, ...]
    written: str = ""
    instance: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that name an object."""
        columns = [column.name for column in self.table.columns]
        return tuple(columns[: columns.index("sample")])


def _make_group(
    group: str,
    name: str,
    meaning: str,
    named: tuple[Column, ...],
    sampled: tuple[TopCounter, ...],
    written: str = "",
    instance: str = "",
    *,
    key: tuple[str, ...] = (),
    source: str = _CSV,
) -> Group:
    """Return a group with its table, which has one row an object and sample.

    group  as the batch CSV names it
    named  columns that name the object; `key` says which of them do, where others only describe it
    """
    columns = (*named, SAMPLE, TIME, *(counter.make_column() for counter in sampled))
    keys = key or tuple(column.name for column in named)
    table = Table(f"esxtop.{name}", meaning, source, _ASK, columns, keys)
    return Group(group, table, sampled, written, instance)


_VM_WRITTEN, _VM = "{vm_id}:{vm_name}", r"(?P<vm_id>\d{1,18}):(?P<vm_name>.*)"

VM_CPU = _make_group(
    "Group Cpu",
    "vm_cpu",
    "CPU of a VM in one sample, summed over all its worlds.",
    (VM_ID, VM_NAME),
    (counters.WORLDS, *counters.CPU),
    _VM_WRITTEN,
    _VM,
    key=("vm_id",),
    source=_BOTH,
)
VCPU = _make_group(
    "Vcpu",
    "vcpu",
    "CPU of one vCPU of a VM in one sample.",
    (
        VM_ID,
        VM_NAME,
        Column("vcpu", "int", "number of the vCPU, from 0"),
        Column("world_id", "int", "world of the vCPU"),
        Column("world_name", "str", "name of the world, vmx-vcpu-N:<VM>"),
    ),
    counters.CPU,
    "{vm_id}:{vm_name}:{world_id}:{world_name}",
    key=("vm_id", "vcpu"),
)
VM_MEMORY = _make_group(
    "Group Memory",
    "vm_memory",
    "Memory of a VM in one sample.",
    (VM_ID, VM_NAME),
    counters.VM_MEMORY,
    _VM_WRITTEN,
    _VM,
    key=("vm_id",),
    source=_BOTH,
)
PORT = _make_group(
    "Network Port",
    "port",
    "A port of a virtual switch in one sample.",
    (
        Column(
            "switch",
            "str",
            "portset (virtual switch) the port belongs to, as the vmkernel names it",
        ),
        Column("port_id", "int", "PortNum of the port on its switch"),
        Column(
            "used_by",
            "str",
            "client as esxtop prints it: a VM has its world id in front, 444768:web01",
        ),
        Column("client_name", "str", "client without the world id: web01.eth0, vmnic0, vmk0"),
        Column("client_vm", "str", "name of the VM on a VM port, without its .ethN"),
        Column(
            "team_pnic", "str", "uplink that carries the client: vmnic0; the screen alone tells"
        ),
    ),
    counters.PORT,
    "{switch}:{port_id}:{used_by}",
    r"(?P<switch>.*?):(?P<port_id>\d{1,18}):(?P<used_by>.*)",
    key=("switch", "port_id"),
    source=_BOTH,
)
MEMORY = _make_group(
    "Memory", "memory", "Memory of the host in one sample.", (_HOST,), counters.MEMORY, source=_BOTH
)
NUMA_NODE = _make_group(
    "Numa Node",
    "numa_node",
    "A NUMA node of the host in one sample.",
    (Column("numa_node", "int", "number of the NUMA node, from 0"),),
    counters.NUMA_NODE,
    "{numa_node}",
    r"(?P<numa_node>\d{1,9})",
    source=_BOTH,
)
DISK_ADAPTER = _make_group(
    "Physical Disk Adapter",
    "disk_adapter",
    "A disk adapter of the host in one sample.",
    (_HBA,),
    counters.DISK,
    "{hba}",
    r"(?P<hba>.+)",
    source=_BOTH,
)
DISK_DEVICE = _make_group(
    "Physical Disk SCSI Device",
    "disk_device",
    "A storage device in one sample.",
    (_DEVICE,),
    counters.DEVICE,
    "{storage_device}",
    r"(?P<storage_device>.+)",
    source=_BOTH,
)
NFS_VOLUME = _make_group(
    "Physical Disk NFS Volume",
    "nfs_volume",
    "A datastore on NFS in one sample.",
    (Column("volume_name", "str", "name of the datastore or volume"),),
    counters.NFS_VOLUME,
    "{volume_name}",
    r"(?P<volume_name>.+)",
    source=_BOTH,
)
VIRTUAL_DISK = _make_group(
    "Virtual Disk",
    "virtual_disk",
    "A virtual disk in one sample, and all disks of a VM together.",
    (
        _INSTANCE,
        VM_NAME,
        Column("disk", "str", "virtual disk: scsi0:0; none for all disks of the VM together"),
    ),
    counters.VIRTUAL_DISK,
    "{instance}",
    r"(?P<instance>(?P<vm_name>.+?)(?::(?P<disk>(?:scsi|sata|ide|nvme)\d{1,3}:\d{1,3}))?)",
    key=("instance",),
    source=_BOTH,
)
DISK_WORLD = _make_group(
    "Physical Disk Per-Device-Per-World",
    "disk_world",
    "What one world does to one storage device, in one sample.",
    (_DEVICE, Column("world_id", "int", "world that sends the commands"), VM_NAME),
    counters.DEVICE,
    "{storage_device}-{world_id}",
    r"(?P<storage_device>.+)-(?P<world_id>\d{1,18})",
    key=("storage_device", "world_id"),
)
# Its counters are names, not columns of a table: a row holds one of them, and what it measured.
VSAN = _make_group(
    "VSAN",
    "vsan",
    "vSAN of the host in one sample, one row a counter, named as printed.",
    (
        Column(
            "role",
            "str",
            "role on this host, as the heading names it; none for the host as a whole",
        ),
        Column("counter", "str", "counter as printed, such as Enabled?"),
        Column("heading", "str", "heading without the host"),
    ),
    (TopCounter("measured", "", "", "value of the counter, in the unit its name tells"),),
    "{heading}",
    key=("role", "counter"),
)._replace(counters=())

GROUPS = (
    VM_CPU,
    VCPU,
    PORT,
    _make_group(
        "Physical Cpu",
        "pcpu",
        "A physical CPU of the host in one sample.",
        (_PCPU,),
        counters.PCPU,
        "{pcpu}",
        r"(?P<pcpu>\d{1,9})",
    ),
    MEMORY,
    DISK_ADAPTER,
    VM_MEMORY,
    DISK_DEVICE,
    VIRTUAL_DISK,
    NFS_VOLUME,
    DISK_WORLD,
    _make_group(
        "Physical Disk",
        "disk_lun",
        "A LUN behind one adapter, or the adapter itself, in one sample.",
        (_INSTANCE, _HBA, _PATH),
        counters.DISK,
        "{instance}",
        r"(?P<instance>(?P<hba>[^:]+)(?::(?P<path_name>.+))?)",
        key=("instance",),
    ),
    _make_group(
        "Physical Disk Path",
        "disk_path",
        "A path to a LUN in one sample.",
        (_PATH,),
        counters.DISK,
        "{path_name}",
        r"(?P<path_name>.+)",
    ),
    _make_group(
        "Physical Disk Partition",
        "disk_partition",
        "A partition of a storage device in one sample.",
        (_DEVICE, Column("partition", "int", "number of the partition")),
        counters.DISK,
        "{storage_device}-{partition}",
        r"(?P<storage_device>.+)-(?P<partition>\d{1,9})",
    ),
    _make_group(
        "Physical Cpu Load",
        "cpu_load",
        "CPU load of the host in one sample.",
        (_HOST,),
        counters.CPU_LOAD,
    ),
    NUMA_NODE,
    _make_group("Power", "power", "Power of the host in one sample.", (_HOST,), counters.POWER),
    _make_group(
        "Power",
        "p_state",
        "A P-state of the physical CPUs in one sample.",
        (Column("p_state", "int", "number of the P-state, 0 is the fastest"),),
        counters.P_STATE,
        "{p_state}",
        r"(?P<p_state>\d{1,9})",
    ),
    _make_group(
        "PCPU Power State",
        "pcpu_state",
        "States of a physical CPU in one sample.",
        (_PCPU,),
        counters.PCPU_STATE,
        "PCPU {pcpu}",
        r"PCPU (?P<pcpu>\d{1,9})",
    ),
    _make_group(
        "Interrupt Cookie",
        "interrupt",
        "An interrupt in one sample, on one physical CPU or on all.",
        (
            _INSTANCE,
            Column("cookie", "str", "interrupt cookie: 0x1a"),
            Column("on_pcpu", "str", "physical CPU that handles it: CPU0; none for all together"),
        ),
        counters.INTERRUPT,
        "{instance}",
        r"(?P<instance>(?P<cookie>0x[0-9a-fA-F]+)(?::(?P<on_pcpu>CPU\d+))?)",
        key=("instance",),
    ),
    VSAN,
)
TABLES = (CAPTURE, VM, DEVICE, *(group.table for group in GROUPS))
