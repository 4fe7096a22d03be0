"""Measure what docs/scale.md states, on this machine, and print its tables in Markdown.

    python tools/scale.py [--work DIR] [--quick] [--counts 100,1000,10000] [--only STEP,...] [--again]
                          [--print] [--docs]

Every figure is measured with real processes of the command line. Results are kept in DIR/results.json
after each step, so that a stopped run goes on where it was; `--again` measures steps anew. `--docs`
writes the tables between the markers of docs/scale.md. The cases are synthetic (tools/make_cases.py);
the full run takes about an hour on two cores and 5 GB of disk.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools import make_bundle, scale_tables
from tools.make_cases import write_each
from tools.scale_names import measure_names
from tools.scale_run import (
    ROOT,
    Failed,
    Run,
    describe_machine,
    find_median_wall,
    measure_command,
    measure_tree,
    run_backline,
)

COUNTS, QUICK_COUNTS = (100, 1000, 10_000), (40, 120)
REAL_TEXT, QUICK_TEXT = ("160M", "320M", "640M", "1284M") * 2, ("60M", "120M") * 2
BACKTESTED = ("kb-2039495", "i40en-mdd")
BROKEN = 0.2
PER_COUNT = (
    "first",
    "second",
    "rejudge",
    "loose",
    "compact",
    "verify",
    "queries",
    "acts",
    "backtest",
    "rejudge-compacted",
)
ONCE = ("processes", "broken", "real", "names")

# What is asked of an archive, by the name the table gives it. `{out}` is a folder to write to.
QUESTIONS: dict[str, tuple[str, ...]] = {
    "list, the newest 50": ("list", "--limit", "50"),
    "search: where one KB article showed": ("search", "--kb", "2039495"),
    "text search in log lines": ("search", "--text", "Malicious Driver Detection"),
    "sql: hits per rule per month": (
        "sql",
        "select rule, strftime(last, '%Y-%m') as month, count(*) from findings join cases using (case_id) "
        "group by 1, 2 order by 3 desc",
    ),
    "search: ixgben below 1.7.20 with missed errors on 6.5": (
        "search",
        'esxi.pnic_info: driver == "ixgben" and driver_version < "1.7.20"',
        "esxi.pnic_stats: rx_missed_errors > 0",
        'nodes: version >= "6.5" and version < "6.6"',
    ),
    "the same in sql": (
        "sql",
        "select distinct case_id, i.node from esxi.pnic_info i join esxi.pnic_stats s using (case_id, node, pnic) "
        "join nodes n using (case_id, node) where driver = 'ixgben' "
        "and i.driver_version_key < version_key('1.7.20') and rx_missed_errors > 0 and n.version like '6.5%'",
    ),
    "heat map by month, text": ("heatmap", "--by", "month"),
    "heat map of all cases, HTML": ("heatmap", "-o", "{out}"),
}  # fmt: skip


class Bench:
    """The steps, their results, and the folder they work in."""

    def __init__(self, work: Path, *, quick: bool, again: bool) -> None:
        self.work, self.quick, self.again = work, quick, again
        self.rounds = 1 if quick else 3
        self.stored = 0  # bytes of the last fresh archive
        self.file = work / "results.json"
        work.mkdir(parents=True, exist_ok=True)
        self.results: dict[str, Any] = (
            json.loads(self.file.read_text("utf-8")) if self.file.is_file() else {}
        )

    def run_step(self, key: str, measure: Callable[[], dict[str, Any]]) -> None:
        """Measure one step unless it is measured already, and keep what came out."""
        if key in self.results and not self.again:
            print(f"{key}: measured before", flush=True)
            return
        load = describe_machine()["load"]
        try:
            found = measure()
        except Failed as failed:
            print(f"{key}: not measured: {failed}", flush=True)
            self.results.pop(key, None)
        else:
            self.results[key] = {**found, "load": load}
            print(f"{key}: {json.dumps(found)}", flush=True)
        self.results["machine"] = describe_machine()
        self.file.write_text(json.dumps(self.results, indent=1) + "\n", "utf-8")

    def make_cases(self, count: int) -> Path:
        """Return a folder of `count` synthetic cases, made when it is not there."""
        folder = self.work / f"cases-{count}"
        ready = self.work / f"cases-{count}.ready"
        if not ready.exists():
            shutil.rmtree(folder, ignore_errors=True)
            for _ in write_each(folder, count, form="mixed"):
                pass
            ready.touch()
        return folder

    def archive_path(self, count: int) -> Path:
        """Return where the archive of `count` cases is."""
        return self.work / f"archive-{count}"

    # --- steps for each number of cases --------------------------------------------------------

    def first(self, count: int) -> dict[str, Any]:
        """First batch into an empty archive."""
        cases = self.make_cases(count)
        archive = self.archive_path(count)
        shutil.rmtree(archive, ignore_errors=True)
        for step in PER_COUNT[1:]:
            self.results.pop(f"{step}/{count}", None)
        files, size = measure_tree(cases)
        run = self._run_batch(count, archive)
        return {
            **list_figures(run),
            "files": files,
            "bytes": size,
            "rate": count / run.wall,
            "mb_s": size / 1e6 / run.wall,
        }

    def second(self, count: int) -> dict[str, Any]:
        """The same again: nothing is new."""
        wall = find_median_wall(
            self.rounds, partial(self._run_batch, count, self.archive_path(count))
        )
        first = self.results.get(f"first/{count}")
        return {"wall": wall, **({"ratio": first["wall"] / wall} if first else {})}

    def rejudge(self, count: int) -> dict[str, Any]:
        """A changed catalog, from stored facts: on a copy, so that the archive stays as it is."""
        copy = self.work / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.archive_path(count), copy)
        run = self._run_batch(count, copy, "--kb", self.write_changed_catalog())
        shutil.rmtree(copy)
        return {**list_figures(run), "rate": count / run.wall}

    def _run_batch(self, count: int, archive: Path, *more: str | Path) -> Run:
        # Some of the cases are sites of which a part is cut: 5 is how a batch of such ends.
        return run_backline(
            "batch",
            self.make_cases(count),
            "--archive",
            archive,
            "--no-compact",
            *more,
            codes=(0, 5),
        )

    def write_changed_catalog(self) -> Path:
        """Return a folder with one more rule: a shipped one under another id and with another threshold."""
        folder = self.work / "more-rules"
        folder.mkdir(exist_ok=True)
        text = (ROOT / "analyzer" / "kb" / "network" / "pnic-loses-packets.yaml").read_text("utf-8")
        text = text.replace("rule: pnic-loses-packets", "rule: pnic-loses-more").replace(
            "0.0001\n", "0.0002\n", 1
        )
        (folder / "pnic-loses-more.yaml").write_text(
            text.partition("\nexamples:")[0] + "\n", "utf-8"
        )
        return folder

    def loose(self, count: int) -> dict[str, Any]:
        """Size, verification and questions before compaction."""
        rounds = (
            1 if count > COUNTS[1] else self.rounds
        )  # a question to ten thousand loose cases takes a minute
        return {
            **self._measure_size(count),
            "verify": self._time_verification(count),
            **self._time_questions(count, rounds),
        }

    def compact(self, count: int) -> dict[str, Any]:
        """Compaction of the loose cases into segments."""
        run = run_backline("archive", "compact", "--all", "--archive", self.archive_path(count))
        segments = self.archive_path(count) / "segments"
        inside = measure_tree(segments)[0]
        return {
            **list_figures(run),
            **self._measure_size(count),
            "segments": len(list(segments.iterdir())),
            "segment_objects": inside,
        }

    def verify(self, count: int) -> dict[str, Any]:
        """Verification of the compacted archive."""
        return {"wall": self._time_verification(count)}

    def queries(self, count: int) -> dict[str, Any]:
        """Questions to the compacted archive."""
        return self._time_questions(count, self.rounds)

    def acts(self, count: int) -> dict[str, Any]:
        """Single acts inside one process, in milliseconds."""
        folder = self.work / "acts"
        shutil.rmtree(folder, ignore_errors=True)
        run = measure_command(
            [
                sys.executable,
                str(ROOT / "tools" / "scale_one.py"),
                str(self.archive_path(count)),
                str(folder),
            ]
        )
        if run.code:
            raise Failed(run.err.strip().rpartition("\n")[2])
        found: dict[str, Any] = json.loads(run.out)
        return found

    def backtest(self, count: int) -> dict[str, Any]:
        """Back-test of two shipped rules over all cases."""
        out = {}
        for rule in BACKTESTED:
            test = partial(
                run_backline, "rules", "backtest", rule, "--archive", self.archive_path(count)
            )
            out[rule] = find_median_wall(self.rounds, test)
        return out

    def _measure_size(self, count: int) -> dict[str, Any]:
        objects, size = measure_tree(self.archive_path(count))
        return {"objects": objects, "size": size, "per_case": size / count}

    def _time_verification(self, count: int) -> float:
        return find_median_wall(
            1,
            lambda: run_backline(
                "archive", "verify", "--archive", self.archive_path(count), codes=(0,)
            ),
        )

    def _time_questions(self, count: int, rounds: int) -> dict[str, Any]:
        out: dict[str, Any] = {
            "start": find_median_wall(self.rounds, lambda: run_backline("--version"))
        }
        for name, (verb, *words) in QUESTIONS.items():
            filled = [str(self.work / "page") if word == "{out}" else word for word in words]
            ask = partial(
                run_backline, "archive", verb, "--archive", self.archive_path(count), *filled
            )
            try:
                out[name] = find_median_wall(rounds, ask)
            except Failed as failed:
                print(f"{name}: not measured: {failed}", flush=True)
        return out

    # --- steps done once -----------------------------------------------------------------------

    def processes(self) -> dict[str, Any]:
        """One against two processes, alternating, on the second of the counts or fewer."""
        count = QUICK_COUNTS[0] if self.quick else 400
        walls: dict[int, list[Run]] = {1: [], 2: []}
        for _ in range(self.rounds):
            for jobs, runs in walls.items():
                runs.append(self._run_fresh_batch(self.make_cases(count), "--jobs", str(jobs)))
        return compare_jobs(walls) | {"count": count}

    def broken(self) -> dict[str, Any]:
        """What broken uploads cost: a set with a fifth broken, against its sound cases alone."""
        count = QUICK_COUNTS[1] if self.quick else 400
        mixed = self.work / "mixed"
        sound = self.work / "sound"
        for folder in (mixed, sound):
            shutil.rmtree(folder, ignore_errors=True)
        kinds = list(write_each(mixed, count, broken_share=BROKEN, form="mixed"))
        sound.mkdir()
        for made in kinds:
            if not made.kind.startswith("broken-"):
                (shutil.copytree if made.path.is_dir() else shutil.copy2)(
                    made.path, sound / made.path.name
                )
        both = [
            (self._run_fresh_batch(mixed), self._run_fresh_batch(sound)) for _ in range(self.rounds)
        ]
        walls, cpus = (
            sorted(getattr(one, of) / getattr(other, of) - 1 for one, other in both)
            for of in ("wall", "cpu")
        )
        spoiled = sum(made.kind.startswith("broken-") for made in kinds)
        middle = len(both) // 2
        return {"count": count, "broken": spoiled, "lost": walls[middle], "lost_cpu": cpus[middle]}

    def real(self) -> dict[str, Any]:
        """Bundles of real size, one against two processes."""
        folder = self.work / ("bundles-quick" if self.quick else "bundles")
        folder.mkdir(exist_ok=True)
        texts = QUICK_TEXT if self.quick else REAL_TEXT
        for number, text in enumerate(texts):
            path = folder / f"bundle-{number}.tgz"
            if not path.exists():
                make_bundle.write_bundle(
                    path.with_suffix(".part"), make_bundle.parse_size(text), seed=number
                )
                path.with_suffix(".part").rename(path)
        size = measure_tree(folder)[1]
        walls: dict[int, list[Run]] = {1: [], 2: []}
        for _ in range(self.rounds):
            for jobs, runs in walls.items():
                runs.append(self._run_fresh_batch(folder, "--jobs", str(jobs)))
        found = compare_jobs(walls)
        sizes = sorted(path.stat().st_size for path in folder.iterdir())
        return {
            **found,
            "bundles": len(texts),
            "bytes": size,
            "stored": self.stored,
            "smallest": sizes[0],
            "largest": sizes[-1],
            "mb_s": size / 1e6 / found["wall_2"],
        }

    def names(self) -> dict[str, Any]:
        """Snapshots of many names, in memory: what a listing costs apart from the store."""
        return measure_names((10_000, 100_000) if self.quick else (10_000, 100_000, 1_000_000))

    def _run_fresh_batch(self, cases: Path, *more: str) -> Run:
        """Batch into a new archive, which is removed again."""
        archive = self.work / "fresh"
        shutil.rmtree(archive, ignore_errors=True)
        run = run_backline("batch", cases, "--archive", archive, *more, codes=(0, 5))
        self.stored = measure_tree(archive)[1]
        shutil.rmtree(archive, ignore_errors=True)
        return run


def compare_jobs(walls: dict[int, list[Run]]) -> dict[str, Any]:
    """Return the medians of both sides and the scaling: 1.0 is twice as fast with two processes."""
    middle = {}
    for jobs, runs in walls.items():
        middle[jobs] = sorted(runs, key=lambda run: run.wall)[len(runs) // 2]
    return {
        "wall_1": middle[1].wall,
        "wall_2": middle[2].wall,
        "scaling": middle[1].wall / middle[2].wall / 2,
        **{key: value for key, value in list_figures(middle[2]).items() if key != "wall"},
    }


def list_figures(run: Run) -> dict[str, Any]:
    """Return the figures of a run."""
    return {
        "wall": run.wall,
        "cpu": run.cpu,
        "parent_mb": run.parent,
        "worker_mb": run.worker,
        "together_mb": run.together,
    }


def main() -> None:
    """Measure what is asked for, and print the tables."""
    parser = argparse.ArgumentParser(
        description="Measure the archive on this machine; prints Markdown tables."
    )
    parser.add_argument(
        "--work",
        type=Path,
        help="folder for cases, archives and results (default: below the folder for temporary files)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="few and small cases: whether it runs, no figures to quote",
    )
    parser.add_argument("--counts", type=lambda text: tuple(int(word) for word in text.split(",")))
    parser.add_argument(
        "--only",
        type=lambda text: text.split(","),
        default=[*PER_COUNT, *ONCE],
        metavar="STEP,...",
        help=", ".join((*PER_COUNT, *ONCE)),
    )
    parser.add_argument(
        "--again", action="store_true", help="measure steps anew that have a result"
    )
    parser.add_argument(
        "--print", dest="only_print", action="store_true", help="print the tables of results.json"
    )
    parser.add_argument("--docs", action="store_true", help="write the tables into docs/scale.md")
    options = parser.parse_args()
    if unknown := set(options.only) - {*PER_COUNT, *ONCE}:
        parser.error(
            f"there is no step {', '.join(sorted(unknown))}; the steps are {', '.join((*PER_COUNT, *ONCE))}"
        )
    work = options.work or Path(tempfile.gettempdir()) / (
        "backline-scale-quick" if options.quick else "backline-scale"
    )
    bench = Bench(work, quick=options.quick, again=options.again)
    counts = options.counts or (QUICK_COUNTS if options.quick else COUNTS)
    if not options.only_print:
        run_steps(bench, counts, options.only)
    blocks = scale_tables.make_blocks(bench.results)
    if options.docs:
        scale_tables.write_blocks(ROOT / "docs" / "scale.md", blocks)
    else:
        print("\n\n".join(blocks.values()))


def run_steps(bench: Bench, counts: tuple[int, ...], only: list[str]) -> None:
    """Run the steps in order; a step that needs the first batch makes it."""
    steps: dict[str, Callable[[int], dict[str, Any]]] = {
        "first": bench.first, "second": bench.second, "rejudge": bench.rejudge, "loose": bench.loose,
        "compact": bench.compact, "verify": bench.verify, "queries": bench.queries, "acts": bench.acts,
        "backtest": bench.backtest, "rejudge-compacted": bench.rejudge,
    }  # fmt: skip
    for name, step in (
        (name, getattr(bench, name)) for name in ONCE if name in only and name != "real"
    ):
        bench.run_step(name, step)
    for count in counts:
        for name in PER_COUNT:
            if name in only:
                bench.run_step(f"{name}/{count}", partial(steps[name], count))
    if "real" in only:
        bench.run_step("real", bench.real)


if __name__ == "__main__":
    main()
