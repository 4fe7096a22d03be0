"""Twice the hosts, bundles or objects take twice the work; time and memory at full size are held by `make bench`.

Work is counted in calls, which are the same in each run and on each machine; the ratio of two short times is not.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kit.call_count import count_calls
from tools import many_machines, sick

Write = Callable[[Path, int], Path]
MOST_GROWTH = 1.25  # of the calls for each thing when there are twice as many; 2 is quadratic


def write_objects(folder: Path, count: int) -> Path:
    """Write events of so many volumes."""
    return Path(sick.write_objects(folder, count)[0])


KINDS: tuple[tuple[Write, int], ...] = (
    (many_machines.write_transcript, 8),
    (many_machines.write_bundles, 8),
    (write_objects, 40),
)


def make_case(write: Write, folder: Path, count: int) -> Path:
    """Return the path of a case in a folder of its own."""
    folder.mkdir()
    return write(folder, count)


@pytest.fixture(scope="module", autouse=True)
def _read_rules(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Read the rules and compile the patterns that the cases use, which no later triage does again."""
    folder = tmp_path_factory.mktemp("first")
    count_calls(*(make_case(write, folder / write.__name__, 1) for write, _ in KINDS))


@pytest.mark.parametrize(("write", "count"), KINDS)
def test_twice_as_many_take_twice_the_work(write: Write, count: int, tmp_path: Path) -> None:
    """The calls for each thing above those for one are as many when there are twice as many things."""
    one = count_calls(make_case(write, tmp_path / "one", 1))
    half = count_calls(make_case(write, tmp_path / "half", count))
    whole = count_calls(make_case(write, tmp_path / "whole", 2 * count))

    each_of_half = (half - one) / (count - 1)
    each_of_whole = (whole - one) / (2 * count - 1)
    assert each_of_whole < MOST_GROWTH * each_of_half
