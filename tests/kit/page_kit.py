"""The drag-in page as a reader meets it: the real server in a process of its own, and a real Chromium."""

from __future__ import annotations

import base64
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.full_size import FULL

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples" / "cases"
DESK, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 800}
# Sizes and colours in which a page is looked at: each of both in every run, all pairs of them at full size.
EACH_SCREEN = [
    pytest.param(DESK, "light", id="desk-light"),
    pytest.param(PHONE, "dark", id="phone-dark"),
    *(
        [
            pytest.param(DESK, "dark", id="desk-dark"),
            pytest.param(PHONE, "light", id="phone-light"),
        ]
        if FULL
        else []
    ),
]
CHROMIUM = shutil.which("chromium")
PICTURES = ROOT / "docs" if os.environ.get("BACKLINE_SCREENSHOTS") else None
SHOWN = set(
    re.findall(r"\(page-([a-z-]+)\.png\)", (ROOT / "docs" / "page.md").read_text(encoding="utf-8"))
)
AXE = ROOT / "tools" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
# The process that reads a case waits at its start while a file lies beside the folder of the server.
READING = """
import runpy, time
from pathlib import Path
while Path({hold!r}).exists():
    time.sleep(0.02)
runpy.run_module("analyzer.web.cases.analyst", run_name="__main__")
"""
START = """
import sys
from analyzer.commands.serve import command
from analyzer.web.cases import case_manager
case_manager.COMMAND = [sys.executable, "-P", "-c", {reading!r}]
command()
"""
PATIENCE = 60_000  # milliseconds: a slow machine that does other things as well
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-default-apps", "--no-first-run",
]  # fmt: skip


class Served:
    """A running `backline serve`.

    url      with the token
    address  without
    """

    def __init__(self, work: Path, *options: str) -> None:
        work.mkdir(parents=True, exist_ok=True)
        self.work, self._hold = work, work.with_name(f"{work.name}.hold")
        start = START.format(reading=READING.format(hold=str(self._hold)))
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", start, "--no-open", "--work-dir", str(work), *options],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, cwd=work,
        )  # fmt: skip
        self.lines: list[str] = []
        self.url = self._address()
        self.address = self.url.partition("#")[0]
        self.port = int(self.address.rstrip("/").rpartition(":")[2])
        threading.Thread(target=self._drain, daemon=True).start()

    def _address(self) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            found = re.search(r"http://127\.0\.0\.1:\d+/#\S+", line)
            if found:
                return found[0]
        raise AssertionError(f"the server did not start: {''.join(self.lines)}")

    def _drain(self) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(ValueError):
            self.lines.extend(self.process.stdout)

    def analyst(self) -> int:
        """Wait for the process that reads a case; return its id (Linux)."""
        until = time.monotonic() + PATIENCE / 1000
        while time.monotonic() < until:
            for path in Path("/proc").glob("[0-9]*/stat"):
                with contextlib.suppress(OSError, ValueError):
                    parent = int(path.read_text().rpartition(")")[2].split()[1])
                    told = (path.parent / "cmdline").read_bytes()
                    if parent == self.process.pid and b"analyzer.web.cases.analyst" in told:
                        return int(path.parent.name)
            time.sleep(0.02)
        raise AssertionError("no case is being read")

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Let no process that is started meanwhile begin to read, so that what waits for it can be looked at."""
        self._hold.touch()
        try:
            yield
        finally:
            self._hold.unlink()

    def stop(self, how: int = signal.SIGTERM) -> int:
        """End the server as a signal does; return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


@contextlib.contextmanager
def served(work: Path, *options: str) -> Iterator[Served]:
    """Run a server; whatever happens, it has ended afterwards."""
    server = Served(work, *options)
    try:
        yield server
    finally:
        server.stop()


def leave_by_key(report: Any, key: str) -> None:
    """Press a key within a report that takes it off the page: Chromium may never confirm a key whose frame is gone."""
    playwright = pytest.importorskip("playwright.sync_api")
    with contextlib.suppress(playwright.TimeoutError):
        report.locator("body").press(key, timeout=5000)


class Seat:
    """A window of the browser, and everything in it that must not happen."""

    def __init__(self, browser: Any, **options: Any) -> None:
        options.setdefault("viewport", {"width": 1280, "height": 860})
        options.setdefault("reduced_motion", "reduce")
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.trouble: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.trouble.append(f"error: {error}"))
        self.page.on("request", self._request)
        self.page.add_init_script(SHIFTS)

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.trouble.append(f"console: {message.text}")

    def _request(self, request: Any) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "data:", "blob:", "about:")):
            self.trouble.append(f"request: {request.url}")

    def enter(self, server: Served, to: str = "") -> Seat:
        """Open the printed address, and a part of the page."""
        self.page.goto(server.url)
        self.page.wait_for_selector("body[data-done]", state="attached")
        if to:
            go(self, to)
        return self

    def drop(self, *files: tuple[str, bytes]) -> None:
        """Drop files: a DataTransfer with File objects, as a script can make one."""
        self.page.evaluate(
            DROP, [[name, base64.b64encode(data).decode("ascii")] for name, data in files]
        )

    def drop_paths(self, *paths: Path) -> None:
        """Drop files and folders of the disk, as the hand does."""
        box = self.page.locator("#zone").bounding_box() or {
            "x": 200,
            "y": 200,
            "width": 0,
            "height": 0,
        }
        at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        link = self.context.new_cdp_session(self.page)
        for kind in ("dragEnter", "dragOver", "drop"):
            link.send("Input.dispatchDragEvent", {"type": kind, **at, "data": data})
        link.detach()

    def slow(self, rate: int) -> None:
        """Let no more than `rate` bytes a second leave the browser; -1 takes the bound away."""
        link = self.context.new_cdp_session(self.page)
        link.send("Network.enable")
        link.send(
            "Network.emulateNetworkConditions",
            {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": rate},
        )

    def stage(self, stage: str) -> None:
        """Wait until the case on the screen is in a stage."""
        self.page.wait_for_selector(f'#stages [data-stage="{stage}"][data-is="now"]')

    def state(self, state: str) -> Any:
        """Wait until the row of a case on the first page says its state."""
        return self.page.wait_for_selector(f'#lately [data-state="{state}"]')

    def report(self) -> Any:
        """Wait for the report in place; return its frame."""
        handle = self.page.wait_for_selector("#report")
        frame = handle.content_frame()
        frame.wait_for_selector("body[data-done]", state="attached")
        return frame

    def shifts(self) -> float:
        """Return how much of the page jumped, as the browser measures it (0 is nothing)."""
        return float(self.page.evaluate("window.jumped.reduce((sum, one) => sum + one.value, 0)"))


SHIFTS = """
window.jumped = [];
if (window.top === window && window.PerformanceObserver) {
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      window.jumped.push({value: entry.value, recent: entry.hadRecentInput,
        what: entry.sources.map((s) => s.node ? (s.node.id || s.node.className || s.node.nodeName) : '?')});
    }
  }).observe({type: 'layout-shift', buffered: true});
}
"""
DROP = """(files) => {
  const transfer = new DataTransfer();
  for (const [name, data] of files) {
    transfer.items.add(new File([Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0))], name));
  }
  const zone = document.querySelector('#zone');
  const send = (type, to) => to.dispatchEvent(new DragEvent(type, {dataTransfer: transfer, bubbles: true, cancelable: true}));
  const to = zone.offsetParent ? zone : document.body;
  send('dragenter', to); send('dragover', to); send('drop', to);
}"""


def launch(driver: Any, *more: str) -> Any:
    """Start Chromium."""
    return driver.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, *more])


def files_of(case: str) -> list[tuple[str, bytes]]:
    """Return the files of a sample case; its README, dropped by itself, would be a file that nobody understands."""
    files = (
        path
        for path in sorted((SAMPLES / case).rglob("*"))
        if path.is_file() and path.name != "README.md"
    )
    return [(path.name, path.read_bytes()) for path in files]


def picture(seat: Seat, name: str) -> None:
    """Write a picture of the documentation, when asked to."""
    if PICTURES and name in SHOWN:
        seat.page.screenshot(path=str(PICTURES / f"page-{name}.png"))


def complaints(seat: Seat) -> Any:
    """Return what axe-core finds, nothing where it is not installed."""
    if not AXE.exists():
        return []
    link = seat.context.new_cdp_session(seat.page)
    link.send("Runtime.evaluate", {"expression": AXE.read_text(encoding="utf-8")})
    link.detach()
    return seat.page.evaluate(
        "axe.run(document, {iframes: false}).then((done) => done.violations.map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 200))]))"
    )


@contextlib.contextmanager
def windows(browser: Any, *, expected: str = "") -> Iterator[Callable[..., Seat]]:
    """Give what opens windows; each must have been without trouble when they close, but for lines that are expected."""
    seats: list[Seat] = []

    def opened(**options: Any) -> Seat:
        seats.append(Seat(browser, **options))
        return seats[-1]

    yield opened
    trouble = [
        line for seat in seats for line in seat.trouble if not expected or expected not in line
    ]
    for seat in seats:
        seat.context.close()
    assert not trouble, "\n".join(trouble)


def go(seat: Seat, to: str) -> None:
    """Follow the address of a part of the page."""
    seat.page.evaluate("(to) => { location.hash = to; }", to)


def until(where: Any, script: str) -> None:
    """Wait until a script gives true; the policy of the page allows no script that waits in it."""
    page = where.page if isinstance(where, Seat) else where
    end = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(script):
        assert time.monotonic() < end, script
        page.wait_for_timeout(50)
