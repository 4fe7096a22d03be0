"""Compares esxtop captures: mean and worst of what an engineer looks at, for each VM, port, device and the host.

Only metrics in which more is worse. What a capture shows depends on the load of its minutes: a mean that is smaller
later says less than a counter, and the page says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from analyzer.artefacts.tables import Frame
from analyzer.case.comparison import Place, SampledChange, SampledMean
from analyzer.compare.counters import BETTER, WORSE
from analyzer.compare.machines import ComparedMachine
from analyzer.compare.matching import Match
from analyzer.compare.sides import CaseSide
from analyzer.facts import Facts

LEAST_SAMPLES = 12  # own threshold: a minute of the usual five seconds
LEAST = 1.0  # own threshold: a mean below on all sides is none worth a line


class SampledMetric(NamedTuple):
    """A column of samples, and the column that names its objects ("" for the host itself)."""

    table: str
    column: str
    named: str


METRICS = (
    *(
        SampledMetric("esxtop.vm_cpu", name, "vm_name")
        for name in ("rdy_pct", "cstp_pct", "mlmtd_pct", "swpwt_pct")
    ),
    SampledMetric("esxtop.port", "drop_rx_pct", "client_vm"),
    *(
        SampledMetric("esxtop.disk_device", name, "storage_device")
        for name in ("davg_ms", "kavg_ms", "qavg_ms")
    ),
    *(SampledMetric("esxtop.vm_memory", name, "vm_name") for name in ("memctl_mb", "swap_used_mb")),
    *(SampledMetric("esxtop.memory", name, "") for name in ("memctl_mb", "swap_used_mb")),
)


@dataclass(slots=True)
class SampledFigures:
    """What the samples of one object say; `address` and `line` are those of its worst sample."""

    mean: float
    worst: float
    count: int
    address: str
    line: int


def capture_records(
    sides: Sequence[CaseSide], pairs: Sequence[Match[ComparedMachine]], *, hosts: bool
) -> list[SampledChange]:
    """Return a record for each object and metric that two sides or more have samples of; names pair the objects.

    hosts  the sides are different hosts, which have no objects in common but the host itself
    """
    found = []
    for metric in METRICS:
        table = next(
            (side.facts.tables.get(metric.table) for side in sides if side.facts is not None), None
        )
        if table is None or (hosts and metric.named):
            continue
        column = table.column(metric.column)
        assert column is not None
        every = []
        for side in sides:
            if side.facts is not None:
                every.append(read_figures(side.facts, metric))
            else:
                every.append({})
        for pair in pairs:
            here = []
            for some, machine in zip(every, pair.on, strict=True):
                if machine is not None:
                    here.append(some.get(machine.key, {}))
                else:
                    here.append({})
            for name in dict.fromkeys(name for some in here for name in some):
                on = [some.get(name) for some in here]
                known = [one for one in on if one is not None]
                if len(known) < 2 or max(one.mean for one in known) < LEAST:
                    continue
                found.append(
                    SampledChange(
                        table=metric.table,
                        column=metric.column,
                        meaning=column.meaning,
                        printed=column.printed,
                        unit=column.unit,
                        machine=pair.last.name,
                        subject=name,
                        on=[describe_samples(one) for one in on],
                        at=[
                            Place(one.address, one.line) if one is not None else None for one in on
                        ],
                        verdict=judge_means(known[0], known[-1]),
                    )
                )
    return found


def describe_samples(one: SampledFigures | None) -> SampledMean | None:
    """Return the figures of one side as the document has them."""
    if one is not None:
        return SampledMean(one.mean, one.worst, one.count)
    return None


def judge_means(first: SampledFigures, last: SampledFigures) -> str:
    """Return better, worse, same or cannot tell, by the means of the first and the last side."""
    if min(first.count, last.count) < LEAST_SAMPLES:
        return "cannot tell"
    if first.mean == 0:
        if last.mean:
            return "worse"
        return "same"
    ratio = last.mean / first.mean
    if ratio <= BETTER:
        return "better"
    if ratio >= WORSE:
        return "worse"
    return "same"


def read_figures(facts: Facts, metric: SampledMetric) -> dict[str, dict[str, SampledFigures]]:
    """Return what the samples say by machine and name of the object; of several captures the last one."""
    found: defaultdict[str, dict[str, SampledFigures]] = defaultdict(dict)
    if facts.count(metric.table):
        for frame in facts.store(metric.table).frames:
            if metric.column in frame.columns and (
                not metric.named or metric.named in frame.columns
            ):
                found[frame.block.node] |= read_frame(frame, metric)
    return found


def read_frame(frame: Frame, metric: SampledMetric) -> dict[str, SampledFigures]:
    """Return what the samples of one frame say, by name of the object."""

    values = np.asarray(frame.columns[metric.column], dtype=float)
    if metric.named:
        names = np.asarray(frame.columns[metric.named]).astype(str)
    else:
        names = np.full(len(values), "")
    found = {}
    objects, which = np.unique(names, return_inverse=True)
    order = np.argsort(which, kind="stable")
    bounds = np.searchsorted(which[order], np.arange(len(objects) + 1))
    for place, name in enumerate(objects):
        rows = order[bounds[place] : bounds[place + 1]]
        rows = rows[np.isfinite(values[rows])]
        if len(rows) and (name or not metric.named):
            worst = int(rows[int(np.argmax(values[rows]))])
            mean = round(float(values[rows].mean()), 3)
            line = int(frame.line[worst])
            found[str(name)] = SampledFigures(
                mean, float(values[worst]), len(rows), frame.block.address, line
            )
    return found
