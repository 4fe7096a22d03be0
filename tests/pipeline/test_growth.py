"""Twice as much of one thing costs twice the time: the cheap rounds of `tools/doubling.py`."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from analyzer.pipeline.triage import triage
from tests.kit.call_count import count_calls
from tools import many_machines

SLACK = 0.1  # seconds by which a busy machine is off
SPARE_CALLS = 30_000  # what is made once, and by chance with one case or the other
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


def write_growing(
    folder: Path, write: Callable[[Path, int], Path], counts: tuple[int, int, int]
) -> list[Path]:
    """Write a case of each size."""
    paths = []
    for number in counts:
        place = folder / str(number)
        place.mkdir()
        paths.append(write(place, number))
    return paths


@pytest.mark.size
@pytest.mark.parametrize(
    ("write", "count"),
    [
        pytest.param(many_machines.write_members, 300, id="members"),
        pytest.param(many_machines.write_rotated_logs, 50, id="rotated"),
        pytest.param(many_machines.write_vibs, 200, id="vibs"),
        pytest.param(many_machines.write_syslog, 20, id="syslog"),
        pytest.param(write_short_lines, 50_000, id="short"),
        pytest.param(write_strange_lines, 2_500, id="strange"),
    ],
)
def test_twice_as_many_take_twice_the_calls(
    tmp_path: Path, write: Callable[[Path, int], Path], count: int
) -> None:
    """No machine, however slow, changes what is counted: from the double to the fourfold twice as many are added."""
    paths = write_growing(tmp_path, write, (count, 2 * count, 4 * count))
    count_calls(paths[0])  # the first of a kind imports and compiles
    once, twice, four_times = map(count_calls, paths)
    assert four_times - twice <= 2.2 * max(twice - once, 0) + SPARE_CALLS


@pytest.mark.timed
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
    paths = write_growing(tmp_path, write, (1, count, 2 * count))
    triage([paths[0]])  # the first of all imports and compiles
    for _ in range(ROUNDS):
        idle, half, whole = map(measure_triage, paths)
        if whole - idle <= 2.4 * max(half - idle, 0) + SLACK:
            return
    pytest.fail(
        f"{idle:.2f} s for one, {half:.2f} s for {count:,}, {whole:.2f} s for twice as many"
    )
