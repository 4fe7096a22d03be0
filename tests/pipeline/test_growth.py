"""Twice as much of one thing costs twice the time: the cheap rounds of `tools/doubling.py`."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from analyzer.pipeline.triage import triage
from tools import many_machines

SLACK = 0.1  # seconds by which a busy machine is off
ROUNDS = 3  # before it is believed


def measure_triage(path: Path) -> float:
    """Return the seconds of processor time that a triage takes."""
    gc.collect()
    begun = time.process_time()
    triage([path])
    return time.process_time() - begun


def write_short_lines(folder: Path, count: int) -> Path:
    """Write a loose file of lines of one byte."""
    path = folder / "one.txt"
    path.write_bytes(b"x\n" * count)
    return path


def write_strange_lines(folder: Path, count: int) -> Path:
    """Write a loose file of lines that nothing understands."""
    path = folder / "strange.txt"
    path.write_text("".join(f"marmots over the blue field {number}\n" for number in range(count)))
    return path


@pytest.mark.size
@pytest.mark.parametrize(
    ("write", "count"),
    [
        pytest.param(many_machines.write_members, 500, id="members"),
        pytest.param(many_machines.write_rotated_logs, 200, id="rotated"),
        pytest.param(many_machines.write_vibs, 500, id="vibs"),
        pytest.param(many_machines.write_syslog, 20, id="syslog"),
        pytest.param(write_short_lines, 200_000, id="short"),
        pytest.param(write_strange_lines, 5_000, id="strange"),
    ],
)
def test_twice_as_many_cost_twice_the_time(
    tmp_path: Path, write: Callable[[Path, int], Path], count: int
) -> None:
    """What one costs is the start; above it the time grows no faster than what the case is made of."""
    paths = []
    for number in (1, count, 2 * count):
        folder = tmp_path / str(number)
        folder.mkdir()
        paths.append(write(folder, number))
    triage([paths[0]])  # the first of all imports and compiles
    for _ in range(ROUNDS):
        idle, half, whole = map(measure_triage, paths)
        if whole - idle <= 2.4 * max(half - idle, 0) + SLACK:
            return
    pytest.fail(
        f"{idle:.2f} s for one, {half:.2f} s for {count:,}, {whole:.2f} s for twice as many"
    )
