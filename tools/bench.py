"""Measure Backline against yardsticks on this machine, in this run: `make bench`.

    python tools/bench.py [--quick] [--size 1284M] [--rounds 5] [--only P1,P7]

Every figure is a ratio: the median of paired runs that alternate (A B A B), each run a process of
its own. Demands P1 to P11 are those of docs (performance); they were set on a quiet machine with two
cores and a bundle of 1,284 MB of text. With a smaller bundle start-up weighs more; the heading
says so. What cannot be measured is named with the reason and never estimated.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tools import bench_jobs
from tools.make_bundle import FULL, esxtop_csv, parse_size, write_bundle

ROOT = Path(__file__).resolve().parent.parent

QUICK = 60_000_000
SMALL = 40_000_000  # the reference scan is too slow for more


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a child process: seconds of wall clock and processor, peak memory in MB, its answer."""

    wall: float
    cpu: float
    peak: float
    answer: str


class Unmeasured(Exception):
    """Why a demand cannot be measured here."""


@dataclass(slots=True)
class Line:
    """One row of the result."""

    demand: str
    text: str
    measured: str
    target: str
    met: bool | None


class Bench:
    """The demands, one method each; results go to `lines`."""

    def __init__(self, folder: Path, size: int, rounds: int, *, quick: bool) -> None:
        self.folder, self.size, self.rounds, self.quick = folder, size, rounds, quick
        self.lines: list[Line] = []
        self._bundles: dict[int, Path] = {}
        self.folder.mkdir(parents=True, exist_ok=True)

    # --- runs ---

    def make_bundle(self, size: int) -> Path:
        """Return the bundle of that size, made once."""
        if size not in self._bundles:
            path = self.folder / f"esx-bench-{size // 10**6}M.tgz"
            if not path.with_suffix(".nested.gz").exists():
                print_progress(f"writing a bundle of {size / 1e6:.0f} MB of text")
                write_bundle(path, size, 7)
                bench_jobs.write_nested(path, path.with_suffix(".nested.gz"))
            self._bundles[size] = path
        return self._bundles[size]

    def run_job(self, name: str, *words: object, env: dict[str, str] | None = None) -> Run:
        """Run a job of bench_jobs in a process of its own."""
        return run_child([sys.executable, "-m", "tools.bench_jobs", name, *map(str, words)], env)

    def run_pairs(
        self, first: Callable[[], Run], second: Callable[[], Run], rounds: int = 0
    ) -> list[tuple[Run, Run]]:
        """Run both in turn and return the pairs; a first pair warms the caches and is dropped."""
        pairs = [(first(), second()) for _ in range(1 + (rounds or self.rounds))]
        return pairs[1:]

    def add_line(
        self, demand: str, text: str, measured: str, target: str, met: bool | None
    ) -> None:
        """Add a row and show it at once."""
        self.lines.append(Line(demand, text, measured, target, met))
        print_progress(f"{demand}: {measured}")

    # --- demands ---

    def p1(self) -> None:
        """Walk and scan without parsers, against inflating."""
        path = self.make_bundle(self.size)
        scan = self.run_pairs(
            lambda: self.run_job("inflate", path), lambda: self.run_job("scan", path, 60)
        )
        self.add_line(
            "P1", "walk + scan, 60 signatures, wall / Y1", *describe_ratio(scan, "wall", 2.8)
        )
        self.add_line(
            "P1",
            "the same, CPU / Y1 (holds on a busy machine too)",
            describe_ratio(scan, "cpu", 0, "cpu")[0],
            "",
            None,
        )
        both = self.run_pairs(
            lambda: self.run_job("inflate", path, "nested"), lambda: self.run_job("scan", path, 60)
        )
        self.add_line("P1", "the same / Y2 (all gzip layers)", *describe_ratio(both, "wall", 1.6))

    def p2(self) -> None:
        """Full triage by the command, without HTML."""
        path = self.make_bundle(self.size)
        found = self.run_pairs(lambda: self.run_job("inflate", path), lambda: run_triage(path))
        self.add_line("P2", "full triage, wall / Y1", *describe_ratio(found, "wall", 3.7))
        self.add_line("P2", "full triage, CPU / Y1", *describe_ratio(found, "cpu", 6.0, "cpu"))

    def p3(self) -> None:
        """Five hundred signatures against sixty."""
        path = self.make_bundle(self.size)
        found = self.run_pairs(
            lambda: self.run_job("scan", path, 60), lambda: self.run_job("scan", path, 500)
        )
        self.add_line("P3", "500 against 60 signatures, wall", *describe_ratio(found, "wall", 1.25))

    def p4(self) -> None:
        """Peak memory at two sizes."""
        for size in (max(QUICK // 2, self.size // 8), self.size):
            path = self.make_bundle(size)
            for text, run, most in (
                ("scan only", self.run_job("scan", path, 60), 80),
                ("full triage", try_run(partial(run_triage, path)), 150),
            ):
                if isinstance(run, str):
                    self.add_line("P4", f"peak memory, {text}", run, f"<= {most} MB", None)
                    continue
                name = f"peak memory, {text}, {size / 1e6:.0f} MB of text"
                self.add_line("P4", name, f"{run.peak:.0f} MB", f"<= {most} MB", run.peak <= most)

    def p5(self) -> None:
        """The reference scan of the standard library: the same findings for how much less work."""
        path = self.make_bundle(SMALL // 4 if self.quick else SMALL)
        slow = self.run_job("reference", path, 60)
        quick = self.run_job("scan", path, 60)
        same = slow.answer.rpartition(" ")[2] == quick.answer.rpartition(" ")[2]
        text = f"{slow.cpu / quick.cpu:.1f}x, findings {'identical' if same else 'DIFFER'}"
        self.add_line(
            "P5",
            "CPU of the line-by-line reference / scan",
            text,
            ">= 25x",
            same and slow.cpu / quick.cpu >= 25,
        )
        start = self.run_job("scan", self.make_bundle(1_000_000), 60)
        text = f"{slow.cpu / max(0.01, quick.cpu - start.cpu):.1f}x"
        self.add_line("P5", "the same without start-up of the process", text, ">= 25x", None)

    def p6(self) -> None:
        """A member of zeros."""
        path = self.folder / "zeros.tgz"
        bench_jobs.write_zeros(path, 300_000_000)
        run = min((self.run_job("scan", path, 60) for _ in range(3)), key=lambda one: one.wall)
        met = run.wall <= 0.5 and run.peak <= 60
        self.add_line(
            "P6",
            "member of 300 MB of zeros, searched",
            f"{run.wall:.2f} s, {run.peak:.0f} MB",
            "<= 0.5 s, <= 60 MB",
            met,
        )

    def p7(self) -> None:
        """A signature that hits every line."""
        path = self.make_bundle(self.size)
        found = self.run_pairs(
            lambda: self.run_job("scan", path, 60), lambda: self.run_job("scan", path, 60, "storm")
        )
        self.add_line(
            "P7", "a signature that hits each line, wall", *describe_ratio(found, "wall", 1.5)
        )
        more = statistics.median(b.peak - a.peak for a, b in found)
        self.add_line("P7", "the same, memory", f"{more:+.0f} MB", "<= +20 MB", more <= 20)

    def p8(self) -> None:
        """The esxtop CSV against pandas."""
        shapes = [(5_000, 720, 3.0), (20_000, 360, 5.0), (60_000, 120, 20.0)]
        for columns, full, least in shapes:
            rows = full // 8 if self.quick else full
            path = self.folder / f"esxtop-{columns}.csv"
            with path.open("wb") as file:
                file.writelines(esxtop_csv(columns, rows, 7))
            found = self.run_pairs(
                partial(self.run_job, "esxtop", path), partial(self.run_job, "pandas", path), 2
            )
            speed = statistics.median(b.wall / a.wall for a, b in found)
            memory = statistics.median(b.peak / a.peak for a, b in found)
            text = f"esxtop {columns} columns x {rows}: pandas / parser ({found[0][0].answer})"
            self.add_line(
                "P8",
                text,
                f"{speed:.1f}x, memory {memory:.1f}x",
                f">= {least:.0f}x, >= 2.3x",
                speed >= least and memory >= 2.3,
            )

    def p10(self) -> None:
        """Without any compiled wheel."""
        path = self.make_bundle(SMALL if not self.quick else SMALL // 2)
        found = self.run_pairs(
            lambda: self.run_job("scan", path, 60),
            lambda: self.run_job("scan", path, 60, "bare"),
            2,
        )
        same = len({run.answer for pair in found for run in pair}) == 1
        value, _, met = describe_ratio(found, "wall", 25)
        text = f"{value}, findings {'identical' if same else 'DIFFER'}"
        self.add_line("P10", "without isal, hyperscan, re2: wall", text, "<= 25x", met and same)

    def p11(self) -> None:
        """Start-up of the command."""
        runs = []
        for _ in range(2 * self.rounds + 1):
            runs.append(run_child([sys.executable, "-m", "analyzer", "--help"]))
        wall = statistics.median(run.wall for run in runs) * 1000
        shown = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "analyzer", "--help"],
            capture_output=True,
            text=True,
            cwd=ROOT,
            check=True,
        )
        heavy = [
            name
            for name in ("numpy", "pandas", "duckdb", "jinja2", "hyperscan")
            if f" {name}\n" in shown.stderr
        ]
        text = f"{wall:.0f} ms, imports {', '.join(heavy) or 'nothing heavy'}"
        self.add_line(
            "P11", "--help", text, "<= 60 ms, no numpy, no pandas", wall <= 60 and not heavy
        )


def describe_ratio(
    found: Sequence[tuple[Run, Run]], field: str, most: float, against: str = "wall"
) -> tuple[str, str, bool]:
    """Return (median of the ratios with its spread, target, whether it is met)."""
    values = [getattr(b, field) / getattr(a, against) for a, b in found]
    middle = statistics.median(values)
    return f"{middle:.2f}x ({min(values):.2f}-{max(values):.2f})", f"<= {most}x", middle <= most


def run_triage(path: Path) -> Run:
    """Run the command on a bundle; exit 0, 1 and 5 mean that it came to an end."""
    return run_child(
        [sys.executable, "-m", "analyzer", "triage", str(path), "--json", "-", "--quiet"],
        good=(0, 1, 5),
    )


def try_run(run: Callable[[], Run]) -> Run | str:
    """Return a run, or why there is none."""
    try:
        return run()
    except Unmeasured as error:
        return f"not measured: {error}"


def run_child(
    words: list[str], env: dict[str, str] | None = None, good: Sequence[int] = (0,)
) -> Run:
    """Run a process to its end and return what it used."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen(
            words,
            stdout=out,
            stderr=err,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode not in good:
            last = err.read().decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
            raise Unmeasured(f"exit {process.returncode}: {last[0][:120]}")
        answer = out.read(4096).decode(errors="replace").strip()
    scale = 1e6 if sys.platform == "darwin" else 1e3
    return Run(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / scale, answer)


def print_progress(text: str) -> None:
    """Print a line of progress on stderr."""
    print(f"  {text}", file=sys.stderr, flush=True)


def print_table(lines: Sequence[Line]) -> None:
    """Print the table."""
    widths = []
    for name in ("demand", "text", "measured", "target"):
        widths.append(max(len(getattr(line, name)) for line in lines))
    for line in lines:
        cells = [line.demand, line.text, line.measured, line.target]
        met = {True: "met", False: "NOT MET", None: "-"}[line.met]
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)),
            met,
            sep="  ",
        )


def main() -> None:
    """Measure what is asked for and print one table."""
    parser = argparse.ArgumentParser(
        description="Measure Backline against yardsticks of this machine."
    )
    parser.add_argument(
        "--quick", action="store_true", help="small inputs, one round: under a minute"
    )
    parser.add_argument(
        "--size", type=parse_size, help="text in the bundle (default 1284M, quick 60M)"
    )
    parser.add_argument("--rounds", type=int, help="pairs a figure (default 5, quick 2)")
    parser.add_argument("--only", default="", help="demands to measure, for example P1,P7")
    parser.add_argument("--keep", type=Path, help="folder where the bundles stay for the next run")
    options = parser.parse_args()
    size = options.size or (QUICK if options.quick else FULL)
    rounds = options.rounds or (2 if options.quick else 5)
    names = [name.strip().lower() for name in options.only.split(",") if name.strip()]
    with tempfile.TemporaryDirectory(prefix="backline-bench-") as folder:
        bench = Bench(options.keep or Path(folder), size, rounds, quick=options.quick)
        for name in names or [f"p{number}" for number in range(1, 12)]:
            try:
                getattr(bench, name)()
            except Unmeasured as error:
                text = str(getattr(bench, name).__doc__).split("\n", maxsplit=1)[0]
                bench.add_line(name.upper(), text, f"not measured: {error}", "", None)
    note = "" if size >= FULL else "; targets were set for 1284 MB, here start-up weighs more"
    print(f"{bench_jobs.describe_machine()}; bundle of {size / 1e6:.0f} MB of text{note}\n")
    print_table(bench.lines)


if __name__ == "__main__":
    main()
