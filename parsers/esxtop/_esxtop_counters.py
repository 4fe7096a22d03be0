"""The counters of esxtop: how the batch CSV, the screens and our tables name each.

Source: the batch CSV of ESXi 6.5 (default columns), lists of `-a` columns of a device and of an NFS volume, and the
headings of the screens. A counter that no real output shows is not here; docs/formats.md names the groups concerned.
"""

from __future__ import annotations

from typing import NamedTuple

from analyzer.artefacts.tables import Column


class TopCounter(NamedTuple):
    """One counter: column of the table, name in the batch CSV, heading of the screen, meaning, unit."""

    column: str
    batch: str
    screen: str
    meaning: str
    unit: str = ""

    def make_column(self) -> Column:
        """Return the column of a table that holds it."""
        return Column(self.column, "float", self.meaning, self.unit, printed=self.screen)


WORLDS = TopCounter(
    "nwld", "Members", "NWLD", "worlds of the VM: its vCPUs, and those that serve them"
)
CPU = (
    TopCounter(
        "used_pct", "% Used", "%USED", "CPU used, corrected for clock speed and system time", "%"
    ),
    TopCounter("run_pct", "% Run", "%RUN", "time running", "%"),
    TopCounter("sys_pct", "% System", "%SYS", "time the vmkernel worked for it", "%"),
    TopCounter("wait_pct", "% Wait", "%WAIT", "time waiting, idle included", "%"),
    TopCounter(
        "vmwait_pct", "% VmWait", "%VMWAIT", "time waiting for the vmkernel, idle not included", "%"
    ),
    TopCounter("rdy_pct", "% Ready", "%RDY", "time ready and not scheduled; holds mlmtd_pct", "%"),
    TopCounter("idle_pct", "% Idle", "%IDLE", "time idle", "%"),
    TopCounter(
        "ovrlp_pct", "% Overlap", "%OVRLP", "time the vmkernel used for others while it ran", "%"
    ),
    TopCounter(
        "cstp_pct", "% CoStop", "%CSTP", "time a vCPU was stopped to let its siblings catch up", "%"
    ),
    TopCounter(
        "mlmtd_pct", "% Max Limited", "%MLMTD", "time ready and held back by a CPU limit", "%"
    ),
    TopCounter(
        "swpwt_pct", "% Swap Wait", "%SWPWT", "time waiting for memory swapped by the host", "%"
    ),
    TopCounter(
        "lat_c_pct",
        "% CPU Latency",
        "%LAT_C",
        "time not run for contention of CPU (only with -a)",
        "%",
    ),
    TopCounter(
        "lat_m_pct",
        "% Memory Latency",
        "%LAT_M",
        "time not run for contention of memory (only with -a)",
        "%",
    ),
    TopCounter(
        "dmd_pct",
        "% Demand",
        "%DMD",
        "CPU it would use without contention and limit (only with -a)",
        "%",
    ),
)
PORT = (
    TopCounter(
        "pkts_tx_s", "Packets Transmitted/sec", "PKTTX/s", "packets sent by the client", "1/s"
    ),
    TopCounter(
        "mbits_tx_s", "MBits Transmitted/sec", "MbTX/s", "megabits sent by the client", "Mbit/s"
    ),
    TopCounter(
        "size_tx_bytes",
        "Average Packet Size  Transmitted (Bytes)",
        "PSZTX",
        "mean size of packets sent",
        "bytes",
    ),
    TopCounter(
        "pkts_rx_s", "Packets Received/sec", "PKTRX/s", "packets received by the client", "1/s"
    ),
    TopCounter(
        "mbits_rx_s", "MBits Received/sec", "MbRX/s", "megabits received by the client", "Mbit/s"
    ),
    TopCounter(
        "size_rx_bytes",
        "Average Packet Size  Received (Bytes)",
        "PSZRX",
        "mean size of those received",
        "bytes",
    ),
    TopCounter(
        "drop_tx_pct", "% Outbound Packets Dropped", "%DRPTX", "packets dropped on send", "%"
    ),
    TopCounter(
        "drop_rx_pct", "% Received Packets Dropped", "%DRPRX", "packets dropped on receive", "%"
    ),
    TopCounter(
        "actions_s",
        "Actions Posted/sec",
        "ACTN/s",
        "actions posted by the vmkernel (only with -a)",
        "1/s",
    ),
)
PCPU = (
    TopCounter(
        "used_pct",
        "% Processor Time",
        "PCPU USED(%)",
        "CPU used, corrected for clock speed (PCPU USED)",
        "%",
    ),
    TopCounter("util_pct", "% Util Time", "PCPU UTIL(%)", "time not idle (PCPU UTIL)", "%"),
    TopCounter(
        "core_util_pct",
        "% Core Util Time",
        "CORE UTIL(%)",
        "time the core was not idle (CORE UTIL), with hyper-threading",
        "%",
    ),
)
CPU_LOAD = (
    TopCounter(
        "load_1m",
        "Cpu Load (1 Minute Avg)",
        "CPU load average",
        "CPU asked for, 1.00 is all of it; last minute",
    ),
    TopCounter("load_5m", "Cpu Load (5 Minute Avg)", "", "the same, last 5 minutes"),
    TopCounter("load_15m", "Cpu Load (15 Minute Avg)", "", "the same, last 15 minutes"),
)
LEAST_NUMA = "numa_least_free_mb"  # of the memory of the host; worked out from its NUMA nodes
NUMA_NODE = (
    *PCPU,
    TopCounter("total_mb", "Total MBytes", "NUMA total", "memory of the node", "MB"),
    TopCounter("free_mb", "Free MBytes", "NUMA free", "memory nobody uses", "MB"),
)
POWER = (
    TopCounter("power_w", "Power Usage Now Watts", "Power Usage", "power the host draws", "W"),
    TopCounter(
        "power_cap_w",
        "Power Usage Cap Watts",
        "Power Cap",
        "power the host may draw; 0 without a cap",
        "W",
    ),
)
P_STATE = (TopCounter("mhz", "P-State MHZ", "", "clock speed of the P-state", "MHz"),)
PCPU_STATE = (
    *(
        TopCounter(f"c{n}_pct", f"%C-State C{n}", f"%C{n}", f"time in C-state {n}", "%")
        for n in range(7)
    ),
    *(
        TopCounter(f"p{n}_pct", f"%P-State P{n}", f"%P{n}", f"time in P-state {n}", "%")
        for n in range(16)
    ),
    *(
        TopCounter(f"t{n}_pct", f"%T-State T{n}", f"%T{n}", f"time in T-state {n}", "%")
        for n in range(8)
    ),
)

MEMORY = (
    TopCounter(
        "overcommit_1m",
        "Memory Overcommit (1 Minute Avg)",
        "MEM overcommit avg",
        "memory promised beyond that of the host, as a share",
    ),
    TopCounter("overcommit_5m", "Memory Overcommit (5 Minute Avg)", "", "the same, last 5 minutes"),
    TopCounter(
        "overcommit_15m", "Memory Overcommit (15 Minute Avg)", "", "the same, last 15 minutes"
    ),
    TopCounter("machine_mb", "Machine MBytes", "PMEM total", "memory of the host", "MB"),
    TopCounter("kernel_mb", "Kernel MBytes", "PMEM vmk", "memory of the vmkernel", "MB"),
    TopCounter(
        "nonkernel_mb", "NonKernel MBytes", "PMEM other", "memory of VMs and user worlds", "MB"
    ),
    TopCounter("free_mb", "Free MBytes", "PMEM free", "memory nobody uses", "MB"),
    TopCounter(
        "managed_mb",
        "Kernel Managed MBytes",
        "VMKMEM managed",
        "memory the vmkernel hands out",
        "MB",
    ),
    TopCounter(
        "minfree_mb",
        "Kernel MinFree MBytes",
        "VMKMEM minfree",
        "free memory the vmkernel tries to keep",
        "MB",
    ),
    TopCounter(
        "reserved_mb",
        "Kernel Reserved MBytes",
        "VMKMEM rsvd",
        "memory that reservations hold",
        "MB",
    ),
    TopCounter(
        "unreserved_mb",
        "Kernel Unreserved MBytes",
        "VMKMEM ursvd",
        "memory no reservation holds",
        "MB",
    ),
    TopCounter(LEAST_NUMA, "", "", "free memory of the NUMA node that has the least", "MB"),
    TopCounter(
        "kernel_state",
        "Kernel State",
        "VMKMEM state",
        "state of memory by number, 0 = enough is free",
    ),
    TopCounter(
        "shared_mb", "PShare Shared MBytes", "PSHARE shared", "guest memory that is shared", "MB"
    ),
    TopCounter(
        "common_mb",
        "PShare Common MBytes",
        "PSHARE common",
        "memory that holds the shared pages",
        "MB",
    ),
    TopCounter(
        "share_savings_mb",
        "PShare Savings MBytes",
        "PSHARE saving",
        "memory saved by sharing",
        "MB",
    ),
    TopCounter(
        "swap_used_mb", "Swap Used MBytes", "SWAP curr", "guest memory the host has swapped", "MB"
    ),
    TopCounter(
        "swap_target_mb",
        "Swap Target MBytes",
        "SWAP target",
        "guest memory the host wants swapped",
        "MB",
    ),
    TopCounter(
        "swap_read_mb_s", "Swap MBytes Read/sec", "SWAP r/s", "swapped memory read back", "MB/s"
    ),
    TopCounter(
        "swap_write_mb_s", "Swap MBytes Write/sec", "SWAP w/s", "memory being swapped", "MB/s"
    ),
    TopCounter(
        "compressed_mb",
        "Total Compressed MBytes",
        "ZIP zipped",
        "guest memory that is compressed",
        "MB",
    ),
    TopCounter(
        "zip_saved_mb",
        "Total Saved By Compression MBytes",
        "ZIP saved",
        "memory saved by compression",
        "MB",
    ),
    TopCounter(
        "memctl_mb", "Memctl Current MBytes", "MEMCTL curr", "guest memory held by balloons", "MB"
    ),
    TopCounter(
        "memctl_target_mb",
        "Memctl Target MBytes",
        "MEMCTL target",
        "guest memory that balloons shall hold",
        "MB",
    ),
    TopCounter(
        "memctl_max_mb",
        "Memctl Max MBytes",
        "MEMCTL max",
        "guest memory that balloons can hold",
        "MB",
    ),
)
VM_MEMORY = (
    TopCounter("memsz_mb", "Memory Size MBytes", "MEMSZ", "memory of the VM", "MB"),
    TopCounter(
        "grant_mb", "Memory Granted Size MBytes", "GRANT", "guest memory the host has mapped", "MB"
    ),
    TopCounter(
        "consumed_mb",
        "Memory Consumed Size MBytes",
        "CNSM",
        "memory of the host the VM takes",
        "MB",
    ),
    TopCounter(
        "target_mb", "Target Size MBytes", "SZTGT", "memory the host wants the VM to have", "MB"
    ),
    TopCounter(
        "touched_mb", "Touched MBytes", "TCHD", "working set, as the vmkernel estimates it", "MB"
    ),
    TopCounter(
        "touched_write_mb", "Touched Write MBytes", "TCHD_W", "the same, pages written", "MB"
    ),
    TopCounter("memctl_mb", "Memctl MBytes", "MCTLSZ", "guest memory held by balloons", "MB"),
    TopCounter(
        "memctl_target_mb",
        "Memctl Target MBytes",
        "MCTLTGT",
        "guest memory that balloons shall hold",
        "MB",
    ),
    TopCounter(
        "memctl_max_mb", "Memctl Max MBytes", "MCTLMAX", "guest memory that balloons can hold", "MB"
    ),
    TopCounter(
        "swap_used_mb", "Swapped MBytes", "SWCUR", "guest memory the host has swapped", "MB"
    ),
    TopCounter(
        "swap_target_mb", "Swap Target MBytes", "SWTGT", "guest memory the host wants swapped", "MB"
    ),
    TopCounter(
        "swap_read_mb_s", "Swap Read MBytes/sec", "SWR/s", "swapped memory read back", "MB/s"
    ),
    TopCounter(
        "swap_write_mb_s", "Swap Written MBytes/sec", "SWW/s", "memory being swapped", "MB/s"
    ),
    TopCounter(
        "llswap_read_mb_s",
        "Llswap Read MBytes/sec",
        "LLSWR/s",
        "memory read back from host cache",
        "MB/s",
    ),
    TopCounter(
        "llswap_write_mb_s",
        "Llswap Written MBytes/sec",
        "LLSWW/s",
        "memory written to host cache",
        "MB/s",
    ),
    TopCounter(
        "overhead_uw_mb", "Overhead UW MBytes", "OVHDUW", "overhead of the VM's user world", "MB"
    ),
    TopCounter(
        "overhead_mb", "Overhead MBytes", "OVHD", "overhead of the VM in the vmkernel", "MB"
    ),
    TopCounter(
        "overhead_max_mb", "Overhead Max MBytes", "OVHDMAX", "overhead that is reserved", "MB"
    ),
    TopCounter("actv_pct", "% Active Estimate", "%ACTV", "guest memory in use (only with -a)", "%"),
    TopCounter(
        "numa_local_pct",
        "Numa % Local",
        "N%L",
        "memory on the home node of the VM (only with -a)",
        "%",
    ),
)


_LATENCIES = (
    ("davg", "Driver", "in driver, fabric and array"),
    ("kavg", "Kernel", "in the vmkernel"),
    ("gavg", "Guest", "as the guest sees it"),
    ("qavg", "Queue", "in queues of the vmkernel"),
)


def _make_latencies(kind: str, suffix: str, of: str) -> tuple[TopCounter, ...]:
    """Return the four latencies of commands, reads or writes."""
    return tuple(
        TopCounter(
            f"{name}{suffix}_ms",
            f"Average {who} MilliSec/{kind}",
            f"{name.upper()}/{of}",
            f"time of a {kind.lower()} {where} ({name.upper()})",
            "ms",
        )
        for name, who, where in _LATENCIES
    )


IO = (
    TopCounter("cmds_s", "Commands/sec", "CMDS/s", "commands", "1/s"),
    TopCounter("reads_s", "Reads/sec", "READS/s", "reads", "1/s"),
    TopCounter("writes_s", "Writes/sec", "WRITES/s", "writes", "1/s"),
    TopCounter("mbytes_read_s", "MBytes Read/sec", "MBREAD/s", "data read", "MB/s"),
    TopCounter("mbytes_written_s", "MBytes Written/sec", "MBWRTN/s", "data written", "MB/s"),
)
FAILED = (
    TopCounter(
        "failed_cmds_s",
        "Failed Commands/sec",
        "FCMDS/s",
        "commands that failed (only with -a)",
        "1/s",
    ),
    TopCounter(
        "failed_reads_s", "Failed Reads/sec", "FREAD/s", "reads that failed (only with -a)", "1/s"
    ),
    TopCounter(
        "failed_writes_s",
        "Failed Writes/sec",
        "FWRITE/s",
        "writes that failed (only with -a)",
        "1/s",
    ),
    TopCounter(
        "failed_reserves_s",
        "Failed Reserves/sec",
        "FRESV/s",
        "reservations that failed (only with -a)",
        "1/s",
    ),
    TopCounter("aborts_s", "Aborts/sec", "ABRTS/s", "commands aborted (only with -a)", "1/s"),
    TopCounter(
        "resets_s", "Resets/sec", "RESETS/s", "resets of bus or device (only with -a)", "1/s"
    ),
)
DISK = (
    *IO,
    *_make_latencies("Command", "", "cmd"),
    *_make_latencies("Read", "_rd", "rd"),
    *_make_latencies("Write", "_wr", "wr"),
    *FAILED,
)
QUEUE = (
    TopCounter("dqlen", "Device Q Depth", "DQLEN", "queue depth of the device"),
    TopCounter("wqlen", "World Q Depth", "WQLEN", "queue depth of the world"),
    TopCounter("actv", "Active Commands", "ACTV", "commands the device works on"),
    TopCounter("qued", "Queued Commands", "QUED", "commands that wait in the vmkernel"),
    TopCounter("queue_used_pct", "% Used", "%USD", "share of the queue depth in use", "%"),
    TopCounter("queue_load", "Load", "LOAD", "commands active and queued, to the queue depth"),
)
DEVICE = (*QUEUE, *DISK)
NFS_VOLUME = (QUEUE[2], *IO, *(one for one in DISK if one.column.startswith("gavg")), *FAILED)
VIRTUAL_DISK = (
    *IO,
    TopCounter(
        "lat_rd_ms", "Average MilliSec/Read", "LAT/rd", "time of a read as the VM sees it", "ms"
    ),
    TopCounter(
        "lat_wr_ms", "Average MilliSec/Write", "LAT/wr", "time of a write as the VM sees it", "ms"
    ),
)
INTERRUPT = (
    TopCounter("interrupts_s", "Interrupts/second", "COUNT/s", "interrupts", "1/s"),
    TopCounter(
        "handling_us", "Processing Time MicroSec/Interrupt", "TIME/int", "time to handle one", "us"
    ),
)
