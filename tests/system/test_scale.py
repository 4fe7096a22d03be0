"""Facts about the tool that measures the archive: its tables, its arithmetic, its page."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tools import scale_tables
from tools.scale import ONCE, PER_COUNT, QUESTIONS, Bench
from tools.scale_names import measure_names
from tools.scale_run import Failed, measure_command, run_backline

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scale.md"
RUN = {
    "wall": 100.0,
    "cpu": 180.0,
    "parent_mb": 60.0,
    "worker_mb": 200.0,
    "together_mb": 400.0,
    "load": 0.1,
}
RESULTS: dict[str, Any] = {
    "machine": {
        "cores": 2,
        "architecture": "x86-64",
        "system": "Linux",
        "python": "CPython 3.11.7",
        "memory_gb": 24,
        "load": 0.1,
    },
    "first/1000": {**RUN, "files": 2000, "bytes": 20_000_000, "rate": 10.0, "mb_s": 0.2},
    "second/1000": {"wall": 1.0, "ratio": 100.0, "load": 0.1},
    "rejudge-compacted/1000": {**RUN, "cpu": 20.0, "rate": 50.0},
    "loose/1000": {
        "objects": 1002,
        "size": 50_000_000,
        "per_case": 50_000.0,
        "verify": 9.0,
        "load": 0.1,
    },
    "compact/1000": {
        **RUN,
        "objects": 92,
        "size": 9_000_000,
        "per_case": 9000.0,
        "segments": 2,
        "segment_objects": 90,
    },
    "backtest/1000": {"kb-2039495": 2.5, "load": 0.1},
}


def test_what_has_no_result_is_said_to_be_not_measured() -> None:
    """Without results every block says so, and no figure stands there."""
    for name, block in scale_tables.make_blocks({}).items():
        assert "not measured" in block or not re.search(r"\d", block), name


def test_the_page_has_a_place_for_every_block() -> None:
    """docs/scale.md has the markers of all blocks, each once."""
    text = PAGE.read_text("utf-8")
    for name in scale_tables.make_blocks({}):
        assert text.count(f"<!-- measured: {name} -->\n") == 1


def test_writing_the_page_twice_changes_nothing_more(tmp_path: Path) -> None:
    """Tables go between their markers and nowhere else; the same results give the same page."""
    page = tmp_path / "scale.md"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    pages = []
    for _ in range(2):
        scale_tables.write_blocks(page, scale_tables.make_blocks(RESULTS))
        pages.append(page.read_text("utf-8"))
    assert pages[0] == pages[1]
    marked = re.compile(r"(<!-- measured: [a-z]+ -->\n).*?(<!-- end -->)", re.DOTALL)
    assert marked.sub(r"\1\2", pages[0]) == marked.sub(r"\1\2", PAGE.read_text("utf-8"))
    assert "| 1,000 cases |" in pages[0]


def test_a_page_without_a_marker_is_refused(tmp_path: Path) -> None:
    """A block without its place in the page ends the tool instead of being lost."""
    page = tmp_path / "scale.md"
    page.write_text("# Scale\n", "utf-8")
    with pytest.raises(SystemExit, match="no marker for machine"):
        scale_tables.write_blocks(page, scale_tables.make_blocks(RESULTS))


@pytest.mark.parametrize(
    ("arithmetic", "result"),
    [
        ("180 ms of processor x 1,000,000", "50 CPU hours"),
        ("50.0 KB x 1,000,000", "50 GB"),
        ("9.0 KB x 1,000,000", "9 GB"),
        ("20 ms of processor x 1,000,000", "6 CPU hours"),
        ("1,000,000 / 1,000", "1,000 LIST requests, 0.005 USD"),
        ("200 segments x 45 files = 9,000", "18 LIST and 200 GET requests, 0.00017 USD"),
    ],
)
def test_the_arithmetic_of_a_million(arithmetic: str, result: str) -> None:
    """The plan is the measured cost of a case times a million, shown with its factors."""
    rows = [
        row
        for row in scale_tables.make_blocks(RESULTS)["million"].splitlines()
        if arithmetic in row
    ]
    assert len(rows) == 1
    assert result in rows[0]


def test_a_busy_machine_is_told() -> None:
    """When other work ran beside a step, the page says so."""
    busy = {**RESULTS, "second/1000": {"wall": 1.0, "ratio": 100.0, "load": 6.5}}
    assert "other work ran beside" in scale_tables.make_blocks(busy)["machine"]
    assert "other work" not in scale_tables.make_blocks(RESULTS)["machine"]


@pytest.mark.process
def test_a_run_is_measured_with_its_children() -> None:
    """Processor time and memory of what a command starts are counted, and its exit code is told."""
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'x = [0] * 30_000_000; sum(x); sum(x); sum(x)'])"
    run = measure_command([sys.executable, "-c", f"{code}; sys.exit(3)"])
    assert run.code == 3
    assert run.wall > 0
    if sys.platform.startswith("linux"):
        assert run.worker > 100 > run.parent
        assert run.cpu > 0.1


def test_a_command_that_fails_gives_no_figure() -> None:
    """An exit code that was not expected is Failed, with what the command said."""
    with pytest.raises(Failed, match="/nowhere/at/all"):
        run_backline("archive", "list", "--archive", "/nowhere/at/all")


def test_a_finished_step_is_not_measured_again(tmp_path: Path) -> None:
    """Results are kept after each step, for a stopped run to go on; --again measures anew; a failure keeps nothing."""
    calls: list[str] = []

    def step() -> dict[str, Any]:
        calls.append("x")
        if len(calls) == 3:
            raise Failed("no")
        return {"wall": float(len(calls))}

    for again in (False, False, True, True):
        Bench(tmp_path, quick=True, again=again).run_step("second/10", step)
    assert len(calls) == 3
    assert "second/10" not in Bench(tmp_path, quick=True, again=False).results


def test_every_step_and_question_has_a_name_of_its_own() -> None:
    """Steps are told apart by name on the command line, questions in the table."""
    assert len({*PER_COUNT, *ONCE}) == len(PER_COUNT) + len(ONCE)
    assert all(verb in {"list", "search", "sql", "heatmap"} for verb, *_ in QUESTIONS.values())


def test_a_snapshot_of_made_up_names_sees_them_all() -> None:
    """The measurement of listings sees every case, loose and in segments, or it would fail."""
    found = measure_names([600], [0, 500])
    assert set(found) == {"600/0", "600/500"}
    assert found["600/500"]["read_mb"] > 0 == found["600/0"]["read_mb"]
