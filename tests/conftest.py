"""Settings of the whole suite: hypothesis searches anew on a desk and repeats itself in a check run."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from analyzer import garbage, rules
from tests import read_once
from tests.page_kit import Seat, Served, launch, served, windows

settings.register_profile("desk", deadline=None)
settings.register_profile("check", deadline=None, derandomize=True, print_blob=True, max_examples=45)
settings.load_profile("check" if os.environ.get("CI") else "desk")

# Each process of the run reads the shipped rules from YAML once, as a user's machine does; a test of the cache says where.
CACHE = Path(tempfile.mkdtemp(prefix="backline-rules-"))
os.environ["BACKLINE_CACHE"] = str(CACHE)
read_once.begin(CACHE)
SAFE_PATH = os.environ.get("PYTHONSAFEPATH")

# No test cuts the power: to wait for the disk ten thousand times (10 ms each) would prove nothing. Processes that a
# test starts do wait; a handle that is none is an error as ever.
os.fsync = lambda handle: os.fstat(handle) and None


def pytest_runtest_setup() -> None:
    """Give each test the environment of the run: a command run in this process sets PYTHONSAFEPATH for its children."""
    os.environ.pop("PYTHONSAFEPATH", None)
    if SAFE_PATH is not None:
        os.environ["PYTHONSAFEPATH"] = SAFE_PATH


def pytest_collection_finish() -> None:
    """Fill the cache before the first test: one that changes how rules are read would leave its own in it.

    What was made so far stays to the end of the run, so Python need not look through it for what can go: with its own
    settings it spent a sixth of a run on that. A program of ours looks as seldom.
    """
    rules.load()
    garbage.look_seldom()
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Remove the cache of this process."""
    shutil.rmtree(CACHE, ignore_errors=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the seed of the order at the end, also with -q: the run can be repeated with it."""
    seed = config.getoption("randomly_seed", None)
    if isinstance(seed, int):
        terminalreporter.write_line(f"tests ran in random order; the same order again: --randomly-seed={seed}")


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
