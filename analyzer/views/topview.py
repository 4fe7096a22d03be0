"""`backline esxtop`: what a capture says, without a rule: its span, the worst of each metric, and one VM.

Metrics bear the names of esxtop's own screens. Numbers of a VM are sums over its worlds, as esxtop prints them, and per
vCPU where the capture lists the vCPUs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from analyzer.artefacts import parsing
from analyzer.artefacts.samples import SampleColumns
from analyzer.artefacts.tables import Row, Table
from analyzer.ingest.intake import Intake
from analyzer.pipeline.triage import Options, read_case
from analyzer.runtime.errors import RefusedError, UsageError
from analyzer.runtime.text import for_terminal
from analyzer.scan.signatures import Scanner
from analyzer.sources import Ledger
from analyzer.sources.kinds import KindFinder
from analyzer.sources.remote import Place

Key = tuple[Any, ...]
_ZERO = "0.00"
_ASK = "On the host: `esxtop -b -a -d 5 -n 120 > esxtop.csv`."


class Metric(NamedTuple):
    """A column worth a look; `least`: little is bad. Of the object the `shown` columns are its name."""

    table: str
    column: str
    least: bool = False


# Table -> how its objects are called, by their columns.
_SHOWN = {
    "esxtop.vm_cpu": "VM {vm_name}",
    "esxtop.vcpu": "vCPU {vcpu}, world {world_id}",
    "esxtop.vm_memory": "VM {vm_name}",
    "esxtop.memory": "host",
    "esxtop.cpu_load": "host",
    "esxtop.power": "host",
    "esxtop.pcpu": "PCPU {pcpu}",
    "esxtop.numa_node": "NUMA node {numa_node}",
    "esxtop.disk_adapter": "{hba}",
    "esxtop.disk_device": "{storage_device}",
    "esxtop.disk_path": "{path_name}",
    "esxtop.disk_world": "{storage_device}, world {world_id} {vm_name}",
    "esxtop.nfs_volume": "NFS {volume_name}",
    "esxtop.virtual_disk": "{instance}",
    "esxtop.port": "{used_by} on {switch}, port {port_id}",
}
_CPU = (
    "rdy_pct",
    "cstp_pct",
    "mlmtd_pct",
    "swpwt_pct",
    "sys_pct",
    "lat_c_pct",
    "lat_m_pct",
    "used_pct",
)
_WAITS = ("davg_ms", "kavg_ms", "qavg_ms", "gavg_ms")
_FAILS = ("failed_cmds_s", "aborts_s", "resets_s")
_DROPS = ("drop_tx_pct", "drop_rx_pct")


def list_metrics(table: str, *columns: str) -> tuple[Metric, ...]:
    """Return columns of a table of which much is bad."""
    return tuple(Metric(f"esxtop.{table}", column) for column in columns)


WORST = {
    "CPU of VMs, summed over their worlds": list_metrics("vm_cpu", *_CPU),
    "CPU of the host": list_metrics("pcpu", "used_pct", "util_pct")
    + list_metrics("cpu_load", "load_1m"),
    "Memory of the host": (
        Metric("esxtop.memory", "free_mb", least=True),
        *list_metrics(
            "memory",
            "swap_used_mb",
            "swap_read_mb_s",
            "swap_write_mb_s",
            "compressed_mb",
            "memctl_mb",
        ),
        Metric("esxtop.numa_node", "free_mb", least=True),
    ),
    "Memory of VMs": (
        *list_metrics(
            "vm_memory", "memctl_mb", "swap_used_mb", "swap_read_mb_s", "swap_write_mb_s"
        ),
        Metric("esxtop.vm_memory", "numa_local_pct", least=True),
    ),
    "Disk adapters": list_metrics("disk_adapter", *_WAITS, *_FAILS),
    "Storage devices": list_metrics("disk_device", *_WAITS, "qued", "queue_used_pct", *_FAILS),
    "NFS volumes": list_metrics("nfs_volume", "gavg_ms", *_FAILS),
    "Virtual disks": list_metrics("virtual_disk", "lat_rd_ms", "lat_wr_ms"),
    "Ports of virtual switches": list_metrics("port", *_DROPS),
}
OF_VM = {
    "CPU, summed over its worlds": list_metrics("vm_cpu", *_CPU),
    "vCPUs": list_metrics("vcpu", "rdy_pct", "cstp_pct", "mlmtd_pct", "used_pct"),
    "Memory": (
        *list_metrics(
            "vm_memory",
            "memsz_mb",
            "consumed_mb",
            "touched_mb",
            "memctl_mb",
            "swap_used_mb",
            "swap_read_mb_s",
        ),
        Metric("esxtop.vm_memory", "numa_local_pct", least=True),
    ),
    "Virtual disks": list_metrics("virtual_disk", "cmds_s", "lat_rd_ms", "lat_wr_ms"),
    "What its worlds do to devices": list_metrics(
        "disk_world", "cmds_s", "davg_ms", "kavg_ms", "qued"
    ),
    "Ports": list_metrics("port", "pkts_tx_s", "pkts_rx_s", *_DROPS),
}
_VM_COLUMN = {"esxtop.port": "client_vm"}  # the column that names the VM, where it is not vm_name
_RATE = "cmds_s"  # says how much a latency weighs
_RATED = ("esxtop.disk_adapter", "esxtop.disk_device", "esxtop.nfs_volume")
_LEFT = (
    ("rows_dropped", "rows left out"),
    ("cells_dropped", "cells without a number"),
    ("clock_steps", "steps of the clock backwards"),
)


@dataclass(slots=True)
class Stats:
    """One counter of one object over all samples: how many, their sum, the greatest and the least with their row."""

    count: int = 0
    total: float = 0.0
    most: float = -math.inf
    least: float = math.inf
    most_at: str = ""
    least_at: str = ""
    most_rate: float | None = None  # commands a second then

    @property
    def mean(self) -> float:
        """The mean of all samples that were there."""
        return self.total / self.count

    def add_samples(
        self,
        count: int,
        total: float,
        most: tuple[float, str, float | None],
        least: tuple[float, str],
    ) -> None:
        """Take further samples."""
        self.count += count
        self.total += total
        if most[0] > self.most:
            self.most, self.most_at, self.most_rate = most
        if least[0] < self.least:
            self.least, self.least_at = least


@dataclass(slots=True)
class TopFile:
    """What one source holds: its captures, VMs, and the stats of each table by object and column."""

    captures: list[Row] = field(default_factory=list)
    vcpus: dict[str, int] = field(default_factory=dict)
    vms: set[str] = field(default_factory=set)
    objects: defaultdict[str, dict[Key, dict[str, Stats]]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def find_stats(self, table: str, key: Key, column: str) -> Stats:
        """Return the stats of one counter of an object, made when they are new."""
        return self.objects[table].setdefault(key, {}).setdefault(column, Stats())

    def list_stats(self, metric: Metric) -> list[tuple[Key, Stats]]:
        """Return the stats of a metric by object."""
        found = []
        for key, stats in self.objects[metric.table].items():
            if metric.column in stats:
                found.append((key, stats[metric.column]))
        return found

    def add_frame(self, table: Table, columns: Mapping[str, Any], lines: int) -> None:
        """Take samples: of each column an array of `lines` samples of the same objects."""

        names = list_name_columns(table)
        own = columns
        moments = columns
        if isinstance(columns, SampleColumns):
            own = columns.names
            moments = columns.moments
        keys = list(zip(*(own[name].tolist() for name in names), strict=True))
        stamps = list(map(format_stamp, moments["time"], moments["sample"]))
        wanted = [name for name in list_wanted().get(table.name, ()) if name in columns]
        rate = None
        if _RATE in wanted:
            rate = columns[_RATE].reshape(lines, -1)
        for name in wanted:
            cells = columns[name].reshape(lines, -1)
            known = ~np.isnan(cells)
            counts = known.sum(axis=0).tolist()
            totals = np.where(known, cells, 0.0).sum(axis=0).tolist()
            most = np.where(known, cells, -np.inf)
            least = np.where(known, cells, np.inf)
            highs = most.argmax(axis=0).tolist()
            lows = least.argmin(axis=0).tolist()
            for at, key in enumerate(keys):
                if not counts[at]:
                    continue
                high = highs[at]
                low = lows[at]
                then = None
                if rate is not None:
                    then = float(rate[high, at])
                peak = (float(most[high, at]), stamps[high], then)
                floor = (float(least[low, at]), stamps[low])
                stats = self.find_stats(table.name, key, name)
                stats.add_samples(counts[at], totals[at], peak, floor)

    def add_row(self, row: Row) -> None:
        """Take what a capture says once of itself or a VM, or one sample of a pasted screen."""
        table = row.table.name
        values = row.values
        if table == "esxtop.capture":
            self.captures.append(row)
        elif table == "esxtop.vm":
            name = str(values.get("vm_name") or "")
            vcpus = values["vcpus"]
            self.vms.add(name)
            if isinstance(vcpus, int):
                self.vcpus[name] = vcpus
        elif table in _SHOWN:
            key = tuple(values[column] for column in list_name_columns(row.table))
            when = format_stamp(values["time"], values["sample"])
            rate = values.get(_RATE)
            then = None
            if isinstance(rate, float):
                then = rate
            for column in list_wanted()[table]:
                value = values.get(column)
                if isinstance(value, float):
                    stats = self.find_stats(table, key, column)
                    stats.add_samples(1, value, (value, when, then), (value, when))


def describe_capture(path: Place, vm: str | None) -> Iterator[str]:
    """Yield the lines of what a capture (or pasted screens) in a file says, of one VM where one is named.

    Raises RefusedError when nothing of esxtop was found, UsageError when no capture has the VM.
    """
    ledger = Ledger()
    options = Options(samples=list_wanted())
    intake = read_case([path], ledger, KindFinder(), Scanner([], limits=options.limits), options)
    files = read_files(intake)
    if not files:
        raise RefusedError("holds no samples of esxtop", where=str(path), do=_ASK)
    known: set[str] = set()
    for file in files.values():
        known |= file.vms
    if vm is not None and vm not in known:
        near = get_close_matches(vm, sorted(known), 3) or sorted(known)[:5]
        do = f"It has {len(known):,}: {', '.join(near) or 'none'}."
        raise UsageError(f"no VM {vm!r} in this capture", where=str(path), do=do)
    for address, file in files.items():
        yield for_terminal(address)
        yield from describe_source(file)
        if vm is None:
            yield from describe_worst(file)
        else:
            yield from describe_vm(file, vm)
    if intake.faults_total:
        yield ""
        yield f"Not understood or left out: {intake.faults_total:,} of the lines, the first of them:"
        for fault in intake.faults[:3]:
            yield f"  {for_terminal(f'{fault.address}:{fault.line}: {fault.why}')}"


def list_wanted() -> dict[str, set[str]]:
    """Return the columns that are looked at, by table."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for part in (*WORST.values(), *OF_VM.values()):
        for metric in part:
            found[metric.table].add(metric.column)
    for table in _RATED:
        found[table].add(_RATE)
    return dict(found)


def read_files(intake: Intake) -> dict[str, TopFile]:
    """Return what each source holds, by its address."""
    files: defaultdict[str, TopFile] = defaultdict(TopFile)
    for frame in intake.frames:
        if frame.table.name in _SHOWN and len(frame.line):
            columns = frame.columns
            if isinstance(columns, SampleColumns):
                lines = columns.samples
            else:
                lines = len(frame.line)
            files[frame.block.address].add_frame(frame.table, columns, lines)
    for row in intake.rows:
        if row.table.product == "esxtop":
            files[row.block.address].add_row(row)
    return dict(files)


def list_name_columns(table: Table) -> list[str]:
    """Return the columns that name the objects of a table: those before the number of the sample."""
    columns = [column.name for column in table.columns]
    return columns[: columns.index("sample")]


def format_stamp(time: Any, sample: Any) -> str:
    """Return when a sample was taken, or its number."""
    text = ""
    if time is not None:
        text = str(time)
    if text in ("", "NaT"):
        return f"sample {sample}"
    return text.replace("T", " ")[:19]


def describe_source(file: TopFile) -> Iterator[str]:
    """Yield what captures say of themselves: host, span, columns, what was left out."""
    for row in file.captures:
        cells = row.values
        samples = cells["samples"]
        first = str(cells["first"] or "")
        last = str(cells["last"] or "")
        span = "without dates"
        if first and last:
            span = f"{first} to {last} UTC"
            if isinstance(samples, int) and samples > 1:
                apart = datetime.fromisoformat(last) - datetime.fromisoformat(first)
                seconds = apart.total_seconds() / (samples - 1)
                if seconds > 0:
                    span += f", every {seconds:.3g} s"
        host = for_terminal(str(cells["host"] or "not named"))
        yield f"  host {host}: {samples:,} samples, {span}"
        columns = cells["columns_found"]
        read = cells["columns_read"]
        yield f"  {columns:,} columns, {read:,} of them in tables; the first sample (averages since boot) is left out"
        left = []
        for name, what in _LEFT:
            if cells[name]:
                left.append(f"{cells[name]:,} {what}")
        if left:
            yield f"  {', '.join(left)}"
    if not file.captures:
        yield "  pasted screens"


def describe_worst(file: TopFile) -> Iterator[str]:
    """Yield the worst instance of each metric."""
    for title, metrics in WORST.items():
        lines: list[tuple[str, ...]] = []
        for metric in metrics:
            some = file.list_stats(metric)
            if some:
                least = min(some, key=lambda one: one[1].least)
                most = max(some, key=lambda one: one[1].most)
                lines.append(write_metric(file, metric, *(least if metric.least else most)))
        yield from write_metrics(title, lines)


def describe_vm(file: TopFile, vm: str) -> Iterator[str]:
    """Yield what the capture says of one VM: each of its objects, the worst first."""
    if vm not in file.vms:
        yield f"  no VM {for_terminal(vm)} here"
        return
    vcpus = file.vcpus.get(vm)
    count = ""
    if vcpus:
        count = f", {vcpus} {'vCPU' if vcpus == 1 else 'vCPUs'}"
    yield f"  VM {for_terminal(vm)}{count}"
    for title, metrics in OF_VM.items():
        lines: list[tuple[str, ...]] = []
        for metric in metrics:
            names = list_name_columns(parsing.tables()[metric.table])
            place = names.index(_VM_COLUMN.get(metric.table, "vm_name"))
            own = [one for one in file.list_stats(metric) if one[0][place] == vm]
            own.sort(key=lambda one: one[1].most, reverse=True)
            lines += [write_metric(file, metric, key, stats) for key, stats in own]
        yield from write_metrics(title, lines)


def write_metric(file: TopFile, metric: Metric, key: Key, stats: Stats) -> tuple[str, ...]:
    """Return name of the metric, worst value, mean, time, object, and what puts the value right."""
    table = parsing.tables()[metric.table]
    column = table.column(metric.column)
    assert column is not None
    cells = ["" if cell is None else cell for cell in key]
    names = dict(zip(list_name_columns(table), cells, strict=True))
    value, when = (stats.least, stats.least_at) if metric.least else (stats.most, stats.most_at)
    thing = for_terminal(_SHOWN[metric.table].format_map(names).strip())
    more = ""
    vcpus = None
    if metric.table == "esxtop.vm_cpu":
        vcpus = file.vcpus.get(str(names["vm_name"]))
    if vcpus:
        more = f"{value / vcpus:.2f} per vCPU of {vcpus}"
    elif column.unit == "ms" and stats.most_rate is not None:
        more = f"at {stats.most_rate:,.2f} commands/s"
    # the name says it
    unit = ""
    if column.unit != "%":
        unit = column.unit
    label = column.printed or column.name
    return label, f"{value:,.2f}", unit, f"{stats.mean:,.2f}", when, thing, more


def write_metrics(title: str, lines: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield a part of the answer: a table of the metrics that are not zero, and the names of those that are."""
    if not lines:
        return
    yield ""
    yield title
    rows = [line for line in lines if line[1] != _ZERO]
    if rows:
        table = [("", "worst", "", "mean", "at (UTC)", "of", ""), *rows]
        widths = []
        for column in zip(*table, strict=True):
            widths.append(max(map(len, column)))
        for row in table:
            cells = []
            for cell, width in zip(row, widths, strict=True):
                cells.append(cell.ljust(width))
            for place in (1, 3):  # numbers
                cells[place] = row[place].rjust(widths[place])
            yield ("  " + "  ".join(cells)).rstrip()
    moving = {row[0] for row in rows}
    zero = dict.fromkeys(line[0] for line in lines if line[0] not in moving)
    if zero:
        yield f"  0 in all samples: {', '.join(zero)}"
