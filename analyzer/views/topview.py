"""`backline esxtop`: what a capture says, without a rule: its span, the worst of each metric, and one VM.

Metrics bear the names of esxtop's own screens. Numbers of a VM are sums over its worlds, as esxtop prints them, and per
vCPU where the capture lists the vCPUs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NamedTuple

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


_SHOWN = {  # table -> how its objects are called, by their columns
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


def _of(table: str, *columns: str) -> tuple[Metric, ...]:
    return tuple(Metric(f"esxtop.{table}", column) for column in columns)


WORST = {
    "CPU of VMs, summed over their worlds": _of("vm_cpu", *_CPU),
    "CPU of the host": _of("pcpu", "used_pct", "util_pct") + _of("cpu_load", "load_1m"),
    "Memory of the host": (
        Metric("esxtop.memory", "free_mb", least=True),
        *_of(
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
        *_of("vm_memory", "memctl_mb", "swap_used_mb", "swap_read_mb_s", "swap_write_mb_s"),
        Metric("esxtop.vm_memory", "numa_local_pct", least=True),
    ),
    "Disk adapters": _of("disk_adapter", *_WAITS, *_FAILS),
    "Storage devices": _of("disk_device", *_WAITS, "qued", "queue_used_pct", *_FAILS),
    "NFS volumes": _of("nfs_volume", "gavg_ms", *_FAILS),
    "Virtual disks": _of("virtual_disk", "lat_rd_ms", "lat_wr_ms"),
    "Ports of virtual switches": _of("port", *_DROPS),
}
OF_VM = {
    "CPU, summed over its worlds": _of("vm_cpu", *_CPU),
    "vCPUs": _of("vcpu", "rdy_pct", "cstp_pct", "mlmtd_pct", "used_pct"),
    "Memory": (
        *_of(
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
    "Virtual disks": _of("virtual_disk", "cmds_s", "lat_rd_ms", "lat_wr_ms"),
    "What its worlds do to devices": _of("disk_world", "cmds_s", "davg_ms", "kavg_ms", "qued"),
    "Ports": _of("port", "pkts_tx_s", "pkts_rx_s", *_DROPS),
}
_VM_COLUMN = {"esxtop.port": "client_vm"}  # the column that names the VM, where it is not vm_name
_RATE = "cmds_s"  # says how much a latency weighs


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

    def add(
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

    def take(
        self, table: Table, columns: Mapping[str, Any], names: Sequence[str], lines: int
    ) -> None:
        """Take samples: of each column an array of `lines` samples of the same objects."""
        import numpy as np  # noqa: PLC0415 - heavy

        own = (
            columns.names
            if isinstance(columns, SampleColumns)
            else {name: columns[name] for name in names}
        )
        keys = list(zip(*(own[name].tolist() for name in names), strict=True))
        moments = columns.moments if isinstance(columns, SampleColumns) else columns
        stamps = [
            _stamp(time, sample)
            for time, sample in zip(moments["time"], moments["sample"], strict=True)
        ]
        wanted = [name for name in _wanted().get(table.name, ()) if name in columns]
        rate = columns[_RATE].reshape(lines, -1) if _RATE in wanted else None
        for name in wanted:
            cells = columns[name].reshape(lines, -1)
            known = ~np.isnan(cells)
            counts, totals = (
                known.sum(axis=0).tolist(),
                np.where(known, cells, 0.0).sum(axis=0).tolist(),
            )
            most, least = np.where(known, cells, -np.inf), np.where(known, cells, np.inf)
            high, low = most.argmax(axis=0).tolist(), least.argmin(axis=0).tolist()
            for at, key in enumerate(keys):
                if counts[at]:
                    stats = self.objects[table.name].setdefault(key, {}).setdefault(name, Stats())
                    then = None if rate is None else float(rate[high[at], at])
                    peak = (float(most[high[at], at]), stamps[high[at]], then)
                    stats.add(
                        counts[at], totals[at], peak, (float(least[low[at], at]), stamps[low[at]])
                    )


def show(path: Place, vm: str | None) -> Iterator[str]:
    """Yield the lines of what a capture (or pasted screens) in a file says, of one VM where one is named.

    Raises RefusedError when nothing of esxtop was found, UsageError when no capture has the VM.
    """
    ledger = Ledger()
    options = Options(samples=_wanted())
    intake = read_case([path], ledger, KindFinder(), Scanner([], limits=options.limits), options)
    files = _files(intake)
    if not files:
        raise RefusedError("holds no samples of esxtop", where=str(path), do=_ASK)
    known = sorted({name for one in files.values() for name in one.vms})
    if vm is not None and vm not in known:
        near = get_close_matches(vm, known, 3) or known[:5]
        said = ", ".join(near) if near else "none"
        raise UsageError(
            f"no VM {vm!r} in this capture", where=str(path), do=f"It has {len(known):,}: {said}."
        )
    for address, found in files.items():
        yield from _heading(address, found)
        yield from _vm_part(found, vm) if vm is not None else _worst_part(found)
    if intake.faults_total:
        yield ""
        yield f"Not understood or left out: {intake.faults_total:,} of the lines, the first of them:"
        yield from (
            f"  {for_terminal(f'{one.address}:{one.line}: {one.why}')}" for one in intake.faults[:3]
        )


def _wanted() -> dict[str, set[str]]:
    """Return the columns that are looked at, by table."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for part in (*WORST.values(), *OF_VM.values()):
        for metric in part:
            found[metric.table].add(metric.column)
    for table in ("esxtop.disk_adapter", "esxtop.disk_device", "esxtop.nfs_volume"):
        found[table].add(_RATE)
    return dict(found)


def _files(intake: Intake) -> dict[str, TopFile]:
    """Return what each source holds, by its address."""
    files: defaultdict[str, TopFile] = defaultdict(TopFile)
    for frame in intake.frames:
        if frame.table.name in _SHOWN and len(frame.line):
            found = files[frame.block.address]
            columns = frame.columns
            lines = columns.samples if isinstance(columns, SampleColumns) else len(frame.line)
            found.take(frame.table, columns, _names(frame.table), lines)
    for row in intake.rows:
        if row.table.product == "esxtop":
            _take_row(files[row.block.address], row)
    return dict(files)


def _take_row(found: TopFile, row: Row) -> None:
    """Take what is said once of a capture or a VM, or one sample of a pasted screen."""
    name = str(row.values.get("vm_name") or "")
    if row.table.name == "esxtop.capture":
        found.captures.append(row)
    elif row.table.name == "esxtop.vm":
        found.vms.add(name)
        if isinstance(vcpus := row.values["vcpus"], int):
            found.vcpus[name] = vcpus
    elif row.table.name in _SHOWN:
        key = tuple(row.values[column] for column in _names(row.table))
        when = _stamp(row.values["time"], row.values["sample"])
        rate = row.values.get(_RATE)
        for column in _wanted()[row.table.name]:
            value = row.values.get(column)
            if isinstance(value, float):
                stats = (
                    found.objects[row.table.name].setdefault(key, {}).setdefault(column, Stats())
                )
                stats.add(
                    1,
                    value,
                    (value, when, rate if isinstance(rate, float) else None),
                    (value, when),
                )


def _names(table: Table) -> list[str]:
    columns = [column.name for column in table.columns]
    return columns[: columns.index("sample")]


def _stamp(time: Any, sample: Any) -> str:
    text = "" if time is None else str(time)
    return f"sample {sample}" if text in ("", "NaT") else text.replace("T", " ")[:19]


def _heading(address: str, found: TopFile) -> Iterator[str]:
    yield f"{for_terminal(address)}"
    for row in found.captures:
        cells = row.values
        samples, first, last = cells["samples"], str(cells["first"] or ""), str(cells["last"] or "")
        span = f"{first} to {last} UTC" if first and last else "without dates"
        yield f"  host {for_terminal(str(cells['host'] or 'not named'))}: {samples:,} samples, {span}{_every(row)}"
        found_, read = cells["columns_found"], cells["columns_read"]
        yield f"  {found_:,} columns, {read:,} of them in tables; the first sample (averages since boot) is left out"
        left = [(cells[name], what) for name, what in _LEFT]
        if said := [f"{count:,} {what}" for count, what in left if count]:
            yield f"  {', '.join(said)}"
    if not found.captures:
        yield "  pasted screens"


_LEFT = (
    ("rows_dropped", "rows left out"),
    ("cells_dropped", "cells without a number"),
    ("clock_steps", "steps of the clock backwards"),
)


def _every(row: Row) -> str:
    """Say how far samples are apart."""
    from datetime import datetime  # noqa: PLC0415 - only here

    samples, first, last = (row.values[name] for name in ("samples", "first", "last"))
    if not (
        isinstance(samples, int)
        and samples > 1
        and isinstance(first, str)
        and isinstance(last, str)
    ):
        return ""
    seconds = (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds() / (
        samples - 1
    )
    return f", every {seconds:.3g} s" if seconds > 0 else ""


def _worst_part(found: TopFile) -> Iterator[str]:
    """Yield the worst instance of each metric."""
    for title, metrics in WORST.items():
        lines: list[tuple[str, ...]] = []
        for metric in metrics:
            some = [(key, stats[metric.column]) for key, stats in found.objects[metric.table].items()
                    if metric.column in stats]  # fmt: skip
            if some:
                pick = (
                    min(some, key=lambda one: one[1].least)
                    if metric.least
                    else max(some, key=_greatest)
                )
                lines.append(_line(found, metric, *pick))
        yield from _aligned(title, lines)


def _greatest(one: tuple[Key, Stats]) -> float:
    return one[1].most


def _vm_part(found: TopFile, vm: str) -> Iterator[str]:
    """Yield what the capture says of one VM: each of its objects, the worst first."""
    if vm not in found.vms:
        yield f"  no VM {for_terminal(vm)} here"
        return
    vcpus = found.vcpus.get(vm)
    counted = f", {vcpus} {'vCPU' if vcpus == 1 else 'vCPUs'}" if vcpus else ""
    yield f"  VM {for_terminal(vm)}{counted}"
    for title, metrics in OF_VM.items():
        lines: list[tuple[str, ...]] = []
        for metric in metrics:
            names = _names(parsing.tables()[metric.table])
            place = names.index(_VM_COLUMN.get(metric.table, "vm_name"))
            some = [(key, stats[metric.column]) for key, stats in found.objects[metric.table].items()
                    if key[place] == vm and metric.column in stats]  # fmt: skip
            some.sort(key=_greatest, reverse=True)
            lines += [_line(found, metric, *one) for one in some]
        yield from _aligned(title, lines)


def _line(found: TopFile, metric: Metric, key: Key, stats: Stats) -> tuple[str, ...]:
    """Return name of the metric, worst value, mean, time, object, and what puts the value right."""
    table = parsing.tables()[metric.table]
    column = table.column(metric.column)
    assert column is not None
    names = dict(zip(_names(table), key, strict=True))
    value, when = (stats.least, stats.least_at) if metric.least else (stats.most, stats.most_at)
    shown = _SHOWN[metric.table].format_map(
        {name: "" if cell is None else cell for name, cell in names.items()}
    )
    more = ""
    if metric.table == "esxtop.vm_cpu" and (vcpus := found.vcpus.get(str(names["vm_name"]))):
        more = f"{value / vcpus:.2f} per vCPU of {vcpus}"
    elif column.unit == "ms" and stats.most_rate is not None:
        more = f"at {stats.most_rate:,.2f} commands/s"
    unit = "" if column.unit == "%" else column.unit  # the name says it
    label = column.printed or column.name
    return (
        label,
        f"{value:,.2f}",
        unit,
        f"{stats.mean:,.2f}",
        when,
        for_terminal(shown.strip()),
        more,
    )


def _aligned(title: str, lines: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield a part of the answer: a table of the metrics that are not zero, and the names of those that are."""
    if not lines:
        return
    yield ""
    yield title
    rows = [line for line in lines if line[1] != _ZERO]
    zero = dict.fromkeys(line[0] for line in lines if line[1] == _ZERO)
    for name, *_ in rows:
        zero.pop(name, None)
    if rows:
        yield from _columns([("", "worst", "", "mean", "at (UTC)", "of", ""), *rows])
    if zero:
        yield f"  0 in all samples: {', '.join(zero)}"


def _columns(table: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[place]) for row in table) for place in range(len(table[0]))]
    for row in table:
        cells = [cell.rjust(width) if place in (1, 3) else cell.ljust(width)
                 for place, (cell, width) in enumerate(zip(row, widths, strict=True))]  # fmt: skip
        yield ("  " + "  ".join(cells)).rstrip()
