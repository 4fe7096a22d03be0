"""Settings of the whole suite: hypothesis searches anew on a desk and repeats itself in a check run."""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from analyzer import commands, rules
from analyzer.runtime import garbage
from tests.kit import read_once
from tests.kit.page_kit import Seat, Served, launch, served, windows

settings.register_profile("desk", deadline=None)
settings.register_profile(
    "check", deadline=None, derandomize=True, print_blob=True, max_examples=45
)
settings.load_profile("check" if os.environ.get("CI") else "desk")

# Each process of the run reads the shipped rules from YAML once, as a user's machine does; a test of the cache says where.
CACHE = Path(tempfile.mkdtemp(prefix="backline-rules-"))
os.environ["BACKLINE_CACHE"] = str(CACHE)
read_once.begin(CACHE)
SAFE_PATH = os.environ.get("PYTHONSAFEPATH")

# No test cuts the power: to wait for the disk ten thousand times (10 ms each) would prove nothing. Processes that a
# test starts do wait; a handle that is none is an error as ever.
os.fsync = lambda handle: os.fstat(handle) and None


# What a test without a mark may take: seconds of processor time, those of its processes included. The clock is no
# measure on a machine that does other things as well, so it is held far more loosely; and where more wants to run than
# there are processors, the same work takes up to three times its processor time.
UNIT_SECONDS = 1.0
FIRST_USE_SECONDS = (
    1.0  # a process loads a library or compiles patterns once: which test pays for it is chance
)
UNIT_CLOCK_SECONDS = 10.0
BUSY_FACTOR = 3.0
MARKED = frozenset({"process", "size", "timed"})
BY_NATURE_A_PROCESS = frozenset({"browser", "axe", "editor"})


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option by which the suite holds the time of its tests; a single test may warm up what others find warm."""
    parser.addoption(
        "--hold-times",
        action="store_true",
        help="fail a test without a mark that takes above a second",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what opens a browser or an editor's server as `process`: `make test` leaves it out."""
    for item in items:
        if BY_NATURE_A_PROCESS & {mark.name for mark in item.iter_markers()}:
            item.add_marker("process")


def count_processor_seconds() -> float:
    """Return the processor time of this process and of those it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def is_machine_busy() -> bool:
    """Tell whether more processes want to run than there are processors, one for the run itself left out."""
    load: float = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return load > (os.cpu_count() or 1) + 1


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that takes longer than a unit test may: it is `process` or `size`, by what makes it slow."""
    cost, clock = count_processor_seconds(), time.perf_counter()
    result = yield
    cost, clock = count_processor_seconds() - cost, time.perf_counter() - clock
    is_held = item.config.getoption("--hold-times") and not MARKED & {
        mark.name for mark in item.iter_markers()
    }
    allowed = (UNIT_SECONDS + FIRST_USE_SECONDS) * (BUSY_FACTOR if is_machine_busy() else 1)
    if is_held and (cost > allowed or clock > UNIT_CLOCK_SECONDS * BUSY_FACTOR):
        pytest.fail(
            f"took {cost:.2f} s of processor time in {clock:.2f} s: mark it `process` or `size`, or do less"
        )
    return result


def pytest_runtest_setup() -> None:
    """Give each test the environment of the run: a command run in this process sets PYTHONSAFEPATH for its children.

    What distributes the tests tells its processes a width; a pipe has none, and a long path would be broken in its name.
    """
    os.environ.pop("COLUMNS", None)
    os.environ.pop("PYTHONSAFEPATH", None)
    if SAFE_PATH is not None:
        os.environ["PYTHONSAFEPATH"] = SAFE_PATH


def pytest_collection_finish() -> None:
    """Fill the cache and import the commands before the first test.

    One that changes how rules are read would leave its own in the cache, and a command that is first imported while a
    test has put another function in the place of ours would keep that one.

    What was made so far stays to the end of the run, so Python need not look through it for what can go: with its own
    settings it spent a sixth of a run on that. A program of ours looks as seldom.
    """
    rules.load()
    for module in pkgutil.iter_modules(commands.__path__, f"{commands.__name__}."):
        importlib.import_module(module.name)
    garbage.look_seldom()
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Remove the cache of this process."""
    shutil.rmtree(CACHE, ignore_errors=True)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the seed of the order at the end, also with -q: the run can be repeated with it."""
    seed = config.getoption("randomly_seed", None)
    if isinstance(seed, int):
        terminalreporter.write_line(
            f"tests ran in random order; the same order again: --randomly-seed={seed}"
        )


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Give a Chromium to the tests of one module."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        chromium = launch(driver)
        yield chromium
        chromium.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    """Serve the page to one test."""
    with served(tmp_path / "work") as running:
        yield running


@pytest.fixture
def sit(browser: Any) -> Iterator[Callable[..., Seat]]:
    """Open windows; each must have been without errors, and without requests to anywhere else, when it closes."""
    with windows(browser) as opened:
        yield opened
