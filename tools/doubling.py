"""Double what a case is made of and see how the time grows: `make bench`, or

    python tools/doubling.py [--only syslog,vibs] [--scale 0.1] [--keep FOLDER]

Each row is triaged at a half and at the whole of its size, by the command, in a process of its own. Measured are its
processor time with all that it started, its peak memory, and the exponent: 1 is linear, 2 quadratic. Goals hold on the
machine of docs/performance.md; the exponent holds anywhere. Exit 1: a goal is missed.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools import many_machines
from tools.bench import Run, Unmeasured, run_child

ENDED = (0, 1, 5)  # exit codes of a triage that came to its end


@dataclass(frozen=True, slots=True)
class GrowthRow:
    """A case that grows: how it is made, how many of what, and what it may cost.

    cpu       seconds of processor time at `count`
    memory    peak in MB at `count`, 0 for no goal
    exponent  how the time may grow from the half to the whole
    """

    name: str
    text: str
    count: int
    write: Callable[[Path, int], Path]
    cpu: float
    memory: int = 0
    exponent: float = 1.1


ROWS = (
    GrowthRow("syslog", "hosts named in one loose syslog", 1000, many_machines.write_syslog, 6),
    GrowthRow(
        "transcript", "prompts of different hosts in one transcript", 2000,
        many_machines.write_transcript, 20, 200,
    ),
    GrowthRow("bundles", "bundles of different hosts in one archive", 1000, many_machines.write_bundles, 25),
    GrowthRow("vibs", "VIBs in one list", 5000, many_machines.write_vibs, 4),
    GrowthRow("members", "members of one byte", 10_000, many_machines.write_members, 2.5),
    GrowthRow("rotated", "rotated logs", 4000, many_machines.write_rotated_logs, 9),
    GrowthRow("site", "host bundles of one NSX site", 250, many_machines.write_site, 25),
)  # fmt: skip


def run_triage(path: Path, out: Path) -> Run:
    """Triage a path with all its results, as an engineer does."""
    words = ["triage", str(path), "-o", str(out), "--quiet", "--no-settings"]
    return run_child([sys.executable, "-m", "analyzer", *words], good=ENDED)


def measure_growth(row: GrowthRow, count: int, folder: Path) -> tuple[Run, Run, float]:
    """Return the runs at the half and the whole of a size, and the exponent of their time."""
    # What the start of the command costs is no growth; the first run of all compiles the rules
    sizes = (1, 1, count // 2, count)
    runs = []
    for turn, number in enumerate(sizes):
        place = folder / f"{row.name}-{turn}-{number}"
        place.mkdir(parents=True)
        runs.append(run_triage(row.write(place, number), place / "out"))
    _, idle, half, whole = runs
    grown = [max(run.cpu - idle.cpu, 0.01) for run in (half, whole)]
    return half, whole, math.log2(grown[1] / grown[0])


def print_row(row: GrowthRow, count: int, folder: Path) -> bool:
    """Measure a row and print it; return whether its goals are met."""
    try:
        half, whole, exponent = measure_growth(row, count, folder)
    except Unmeasured as error:
        print(f"{row.text:46} {count:7,}  not measured: {error}", flush=True)
        return False
    met = exponent <= row.exponent
    if count == row.count:
        met &= whole.cpu <= row.cpu and (not row.memory or whole.peak <= row.memory)
    memory = f", {row.memory} MB" if row.memory else ""
    goal = f"<= {row.cpu:g} s{memory}, n^{row.exponent:g}"
    figures = f"{half.cpu:6.1f} {whole.cpu:6.1f} s {whole.peak:5.0f} MB  n^{exponent:.2f}"
    print(
        f"{row.text:46} {count:7,} {figures}  {goal:26} {'met' if met else 'NOT MET'}", flush=True
    )
    return met


def main() -> int:
    """Measure what is asked for; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description="Double what a case is made of and see how the time grows.")  # fmt: skip
    parser.add_argument("--only", default="", help="rows to measure, for example syslog,vibs")
    parser.add_argument("--scale", type=float, default=1.0, help="this share of each size; only exponents are held")  # fmt: skip
    parser.add_argument("--keep", type=Path, help="folder where the cases stay")
    options = parser.parse_args()
    names = [name for name in options.only.split(",") if name]
    rows = [row for row in ROWS if not names or row.name in names]
    met = True
    with tempfile.TemporaryDirectory(prefix="backline-doubling-") as made:
        for row in rows:
            met &= print_row(row, round(row.count * options.scale), options.keep or Path(made))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
