"""The tables of esxtop: filled by the batch CSV (frames) and by pasted screens (rows).

Names are those of the screen in lower case: %RDY is `rdy_pct`. Percentages of a VM are sums over
all its worlds, so a rule divides them by `vcpus`; %RDY holds %MLMTD.
"""

from collections.abc import Iterable

from analyzer.tables import Column, Table

_ASK = "`esxtop -b -a -d 5 -n 120 > esxtop.csv` on the host, while the trouble lasts"
_SOURCE = "esxtop batch CSV (esxtop -b), or the esxtop screen pasted"

VM_ID = Column("vm_id", "int", "group id (GID) of the VM, until its next power-on")
VM_NAME = Column("vm_name", "str", "name of the VM; a screen cuts it to 15 characters")
SAMPLE = Column("sample", "int", "number of the sample in the capture; 0 (averages since boot) is left out")
TIME = Column("time", "time", "when the sample was taken, where the source shows it", "UTC")

# The counters of a group and of a world: column, counter of the batch CSV, heading of the screen, meaning.
CPU_COUNTERS: tuple[tuple[str, str, str, str], ...] = (
    ("used_pct", "% Used", "%USED", "CPU used, corrected for clock speed and system time"),
    ("run_pct", "% Run", "%RUN", "time running"),
    ("sys_pct", "% System", "%SYS", "time the vmkernel worked for it"),
    ("wait_pct", "% Wait", "%WAIT", "time waiting, idle included"),
    ("vmwait_pct", "% VmWait", "%VMWAIT", "time waiting for the vmkernel, idle not included"),
    ("rdy_pct", "% Ready", "%RDY", "time ready and not scheduled; holds mlmtd_pct"),
    ("idle_pct", "% Idle", "%IDLE", "time idle"),
    ("ovrlp_pct", "% Overlap", "%OVRLP", "time the vmkernel used for others while it ran"),
    ("cstp_pct", "% CoStop", "%CSTP", "time a vCPU was stopped to let its siblings catch up"),
    ("mlmtd_pct", "% Max Limited", "%MLMTD", "time ready and held back by a CPU limit"),
    ("swpwt_pct", "% Swap Wait", "%SWPWT", "time waiting for memory swapped by the host"),
    ("lat_c_pct", "% CPU Latency", "%LAT_C", "time not run for contention of CPU (only with -a)"),
)
PORT_COUNTERS: tuple[tuple[str, str, str, str, str], ...] = (
    ("pkts_tx_s", "Packets Transmitted/sec", "PKTTX/s", "packets sent by the client", "1/s"),
    ("mbits_tx_s", "MBits Transmitted/sec", "MbTX/s", "megabits sent by the client", "Mbit/s"),
    ("pkts_rx_s", "Packets Received/sec", "PKTRX/s", "packets received by the client", "1/s"),
    ("mbits_rx_s", "MBits Received/sec", "MbRX/s", "megabits received by the client", "Mbit/s"),
    ("drop_tx_pct", "% Outbound Packets Dropped", "%DRPTX", "packets dropped on send", "%"),
    ("drop_rx_pct", "% Received Packets Dropped", "%DRPRX", "packets dropped on receive", "%"),
)
PCPU_COUNTERS: tuple[tuple[str, str, str], ...] = (
    ("used_pct", "% Processor Time", "CPU used, corrected for clock speed (PCPU USED)"),
    ("util_pct", "% Util Time", "time not idle (PCPU UTIL)"),
    ("core_util_pct", "% Core Util Time", "time the core was not idle (CORE UTIL), with hyper-threading"),
)

MEMORY_COUNTERS: tuple[tuple[str, str, str, str], ...] = (
    ("overcommit_1m", "Memory Overcommit (1 Minute Avg)", "memory promised beyond that of the host, as a share", ""),
    ("machine_mb", "Machine MBytes", "memory of the host", "MB"),
    ("kernel_mb", "Kernel MBytes", "memory of the vmkernel", "MB"),
    ("nonkernel_mb", "NonKernel MBytes", "memory of VMs and user worlds", "MB"),
    ("free_mb", "Free MBytes", "memory nobody uses", "MB"),
    ("minfree_mb", "Kernel MinFree MBytes", "free memory that the vmkernel tries to keep", "MB"),
    ("kernel_state", "Kernel State", "state of memory by number, 0 = enough is free", ""),
    ("shared_mb", "PShare Shared MBytes", "guest memory that is shared", "MB"),
    ("share_savings_mb", "PShare Savings MBytes", "memory saved by sharing", "MB"),
    ("swap_used_mb", "Swap Used MBytes", "guest memory the host has swapped", "MB"),
    ("swap_target_mb", "Swap Target MBytes", "guest memory the host wants swapped", "MB"),
    ("swap_read_mb_s", "Swap MBytes Read/sec", "swapped memory read back", "MB/s"),
    ("swap_write_mb_s", "Swap MBytes Write/sec", "memory being swapped", "MB/s"),
    ("compressed_mb", "Total Compressed MBytes", "guest memory that is compressed", "MB"),
    ("memctl_mb", "Memctl Current MBytes", "guest memory held by balloons", "MB"),
    ("memctl_target_mb", "Memctl Target MBytes", "guest memory that balloons shall hold", "MB"),
)
DISK_COUNTERS: tuple[tuple[str, str, str, str], ...] = (
    ("cmds_s", "Commands/sec", "commands", "1/s"),
    ("reads_s", "Reads/sec", "reads", "1/s"),
    ("writes_s", "Writes/sec", "writes", "1/s"),
    ("mbytes_read_s", "MBytes Read/sec", "data read", "MB/s"),
    ("mbytes_written_s", "MBytes Written/sec", "data written", "MB/s"),
    ("davg_ms", "Average Driver MilliSec/Command", "time of a command in driver, fabric and array (DAVG)", "ms"),
    ("kavg_ms", "Average Kernel MilliSec/Command", "time of a command in the vmkernel (KAVG)", "ms"),
    ("gavg_ms", "Average Guest MilliSec/Command", "time of a command as the guest sees it (GAVG)", "ms"),
    ("qavg_ms", "Average Queue MilliSec/Command", "time of a command in queues of the vmkernel (QAVG)", "ms"),
)

CAPTURE = Table(
    name="esxtop.capture",
    meaning="One esxtop capture as a whole, and what of it could not be used.",
    source="esxtop batch CSV (esxtop -b)",
    ask=_ASK,
    columns=(
        Column("host", "str", "host named in the headings"),
        Column("samples", "int", "samples read, the first (averages since boot) included"),
        Column("first", "time", "stamp of the first sample", "UTC"),
        Column("last", "time", "stamp of the last sample", "UTC"),
        Column("columns_read", "int", "columns of the counters that the tables hold"),
        Column("columns_found", "int", "columns of the capture"),
        Column("rows_dropped", "int", "rows left out: cut, or of another width than the heading"),
        Column("cells_dropped", "int", "cells without a usable number: blank, NaN, infinite, -1, text"),
        Column("clock_steps", "int", "samples stamped earlier than the sample before"),
    ),
)
VM = Table(
    name="esxtop.vm",
    meaning="A VM seen by esxtop, once a capture.",
    source=_SOURCE,
    ask=_ASK,
    key=("vm_id",),
    columns=(
        VM_ID,
        VM_NAME,
        Column("vcpus", "int", "vCPU worlds of the VM (vmx-vcpu-N); empty where the source lists no worlds"),
        Column("samples", "int", "samples read, the first (averages since boot) included"),
        Column("first", "time", "stamp of the first sample", "UTC"),
        Column("last", "time", "stamp of the last sample", "UTC"),
    ),
)
VM_CPU = Table(
    name="esxtop.vm_cpu",
    meaning="CPU of a VM in one sample, summed over all its worlds.",
    source=_SOURCE,
    ask=_ASK,
    key=("vm_id",),
    columns=(
        VM_ID,
        VM_NAME,
        SAMPLE,
        TIME,
        *(Column(name, "float", meaning, "%") for name, _, _, meaning in CPU_COUNTERS),
    ),
)
VCPU = Table(
    name="esxtop.vcpu",
    meaning="CPU of one vCPU of a VM in one sample.",
    source="esxtop batch CSV (esxtop -b)",
    ask=_ASK,
    key=("vm_id", "vcpu"),
    columns=(
        VM_ID,
        VM_NAME,
        Column("vcpu", "int", "number of the vCPU, from 0"),
        Column("world_id", "int", "world of the vCPU"),
        Column("world_name", "str", "name of the world, vmx-vcpu-N:<VM>"),
        SAMPLE,
        TIME,
        *(Column(name, "float", meaning, "%") for name, _, _, meaning in CPU_COUNTERS),
    ),
)
PORT = Table(
    name="esxtop.port",
    meaning="A port of a virtual switch in one sample.",
    source=_SOURCE,
    ask=_ASK,
    key=("switch", "port_id"),
    columns=(
        Column("switch", "str", "portset (virtual switch) the port belongs to, as the vmkernel names it"),
        Column("port_id", "int", "PortNum of the port on its switch"),
        Column("used_by", "str", "client as esxtop prints it: a VM has its world id in front, 444768:web01"),
        Column("client_name", "str", "client without the world id: web01.eth0, vmnic0, vmk0"),
        Column("client_vm", "str", "name of the VM on a VM port, without its .ethN"),
        Column("team_pnic", "str", "uplink that carries the client: vmnic0; the screen alone tells"),
        SAMPLE,
        TIME,
        *(Column(name, "float", meaning, unit) for name, _, _, meaning, unit in PORT_COUNTERS),
    ),
)


def _sampled(name: str, meaning: str, key: Column, counters: Iterable[Column]) -> Table:
    """Return the table of an object that a batch CSV alone tells of, one row a sample."""
    source = "esxtop batch CSV (esxtop -b)"
    return Table(f"esxtop.{name}", meaning, source, _ASK, (key, SAMPLE, TIME, *counters), (key.name,))


PCPU = _sampled(
    "pcpu",
    "A physical CPU of the host in one sample.",
    Column("pcpu", "int", "number of the physical CPU (thread), from 0"),
    (Column(name, "float", meaning, "%") for name, _, meaning in PCPU_COUNTERS),
)
MEMORY = _sampled(
    "memory",
    "Memory of the host in one sample.",
    Column("host", "str", "host named in the headings"),
    (Column(name, "float", meaning, unit) for name, _, meaning, unit in MEMORY_COUNTERS),
)
DISK_ADAPTER = _sampled(
    "disk_adapter",
    "A disk adapter of the host in one sample.",
    Column("hba", "str", "disk adapter as the host names it: vmhba0"),
    (Column(name, "float", meaning, unit) for name, _, meaning, unit in DISK_COUNTERS),
)
