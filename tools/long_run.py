"""Let many cases arrive at `backline watch` or `backline serve`, with faults, and say whether anything was lost or grew.

    python tools/long_run.py watch --count 500 --work DIR
    python tools/long_run.py serve --count 500 --work DIR

A fifth of the cases is cut, empty, noise or damaged, some are links to nowhere, and the watch is killed in between and
started again. `--results DIR` puts the results elsewhere: on a small file system, to see what a full disk does. A row is
printed for every tenth of the run: cases that are done, MB of memory, MB of what was written. It exits with 1 when a case
has neither a result nor an error.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.make_cases import write_each
from tools.scale_run import ROOT, list_family, read_memory

BROKEN, LINKS, KILLS = (
    0.2,
    25,
    4,
)  # share of broken cases; every so many a link; times the watch is killed
STILL = 0.3  # seconds
PATIENCE = 120.0  # seconds without a case that is done
OVER = ("ok", "done", "partial", "refused", "failed", "cancelled")


def start_backline(*words: str | Path, **over: Any) -> subprocess.Popen[str]:
    """Start the program as a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    command = [sys.executable, "-m", "analyzer", *map(str, words)]
    return subprocess.Popen(command, env=environment, text=True, start_new_session=True, **over)


def measure_folder(folder: Path) -> float:
    """Return the MB of all files below a folder."""
    sizes = (path.lstat().st_size for path in folder.rglob("*") if path.is_file())
    return sum(sizes) / 1e6 if folder.exists() else 0.0


def print_row(done: int, pid: int, written: Path) -> None:
    """Print one row: cases that are done, memory of the process and of all its descendants, what was written."""
    all_of_them = sum(read_memory(one)[0] for one in list_family(pid))
    own = read_memory(pid)[0]
    print(
        f"{done:6,} {own:8.0f} MB {all_of_them:8.0f} MB {measure_folder(written):9.1f} MB",
        flush=True,
    )


def report_end(states: Mapping[str, str], names: list[str]) -> int:
    """Print what became of the cases; return 1 when one has neither a result nor an error."""
    lost = [name for name in names if states.get(name) not in OVER]
    print(dict(Counter(states.values())), f"{len(lost)} lost", *lost[:10])
    return 1 if lost else 0


# -- watch


def read_states(results: Path) -> dict[str, str]:
    """Return the state of each case that a watch has done."""
    try:
        held = json.loads((results / "backline-watch.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: one["state"] for name, one in held["cases"].items()}


def run_watch(cases: list[Path], work: Path, results: Path) -> int:
    """Let cases arrive in a watched folder; the watch is killed sometimes."""
    incoming = work / "incoming"
    incoming.mkdir()
    log = (work / "watch.log").open("w", encoding="utf-8")
    words = (
        "watch",
        incoming,
        "-o",
        results,
        "--still",
        str(STILL),
        "--jobs",
        "1",
        "--no-settings",
    )
    watch = start_backline(*words, stdout=log, stderr=log)
    names = [path.name for path in cases]
    begun = time.monotonic()
    tenths = 0
    kills = {len(cases) * (one + 1) // (KILLS + 1) for one in range(KILLS)}
    for number, path in enumerate(cases):
        path.rename(incoming / f"{path.name}.part")
        (incoming / f"{path.name}.part").rename(incoming / path.name)
        if number % LINKS == LINKS - 1:
            (incoming / f"link-{number}.tgz").symlink_to("nowhere.tgz")
        if number in kills:
            os.killpg(watch.pid, signal.SIGKILL)
            watch.wait()
            watch = start_backline(*words, stdout=log, stderr=log)
        while number - len(states := read_states(results)) > 20:
            if time.monotonic() - begun > PATIENCE:
                break
            time.sleep(0.2)
        else:
            begun = time.monotonic()
        if len(states) * 10 // len(cases) > tenths:
            tenths = len(states) * 10 // len(cases)
            print_row(len(states), watch.pid, results)
    while watch.poll() is None and len(states := read_states(results)) < len(names):
        if time.monotonic() - begun > PATIENCE:
            break
        time.sleep(0.5)
    print_row(len(states), watch.pid, results)
    ended = watch.poll()
    watch.send_signal(signal.SIGINT)
    watch.wait(60)
    log.close()
    print(
        "the watch ended by itself" if ended is not None else "the watch ended when it was asked to"
    )
    return report_end(states, names)


# -- serve


def list_sent_files(path: Path) -> dict[str, Path]:
    """Return the files of a case by the names a browser sends them with.

    Those of a folder begin with its name: without it, each would be a file that the engineer gave by name, of which
    a README that nothing reads leaves the case in part.
    """
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    return {one.relative_to(path.parent).as_posix(): one for one in files}


class Page:
    """What our page in a browser asks of the server."""

    def __init__(self, url: str) -> None:
        self.address, _, token = url.partition("/#")
        self.headers = {
            "Host": self.address.partition("//")[2],
            "Origin": self.address,
            "Sec-Fetch-Site": "same-origin",
        }
        self.home = ""
        self.home = str(self.ask("POST", "/enter", {"X-Backline-Token": token})["path"])

    def ask(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Any:
        """Send one request; return what the server answers, as JSON."""
        connection = http.client.HTTPConnection(self.headers["Host"], timeout=60)
        try:
            connection.request(method, self.home + path, body, {**self.headers, **(headers or {})})
            answer = connection.getresponse()
            if cookie := answer.getheader("set-cookie"):
                self.headers["Cookie"] = cookie.partition(";")[0]
            text = answer.read()
            if answer.status >= 400:
                raise RuntimeError(
                    f"{method} {path.rpartition('/')[2]}: {answer.status} {text[:200]!r}"
                )
            return json.loads(text) if text else None
        finally:
            connection.close()

    def send_case(self, path: Path) -> str:
        """Announce a case, send its files and start it; return its id."""
        files = list_sent_files(path)
        said = [{"name": name, "size": one.stat().st_size} for name, one in files.items()]
        body = json.dumps({"name": path.name, "files": said}).encode()
        case = str(self.ask("POST", "/cases", {"Content-Type": "application/json"}, body)["id"])
        for number, one in enumerate(files.values()):
            self.ask("PUT", f"/cases/{case}/files/{number}", body=one.read_bytes())
        self.ask("POST", f"/cases/{case}/start")
        return case


def run_serve(cases: list[Path], work: Path) -> int:
    """Send cases to the page, one after another."""
    (work / "serve").mkdir()
    server = start_backline(
        "serve", "--no-open", "--no-settings", "--work-dir", work / "serve", stdout=subprocess.PIPE
    )
    assert server.stdout is not None
    url = next(word for line in server.stdout for word in line.split() if "/#" in word)
    page = Page(url)
    ids: dict[str, str] = {}
    states: dict[str, str] = {}
    for number, path in enumerate(cases, 1):
        try:
            ids[path.name] = page.send_case(path)
        except RuntimeError as error:  # the page shows it: nothing is lost
            states[path.name] = "refused"
            print(path.name, error, flush=True)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            now = {one["id"]: one["state"] for one in page.ask("GET", "/cases")["cases"]}
            states |= {name: now[key] for name, key in ids.items() if key in now}
            if sum(states[name] not in OVER for name in ids if name in states) < 5:
                break
            time.sleep(0.2)
        if number % max(len(cases) // 10, 1) == 0:
            print_row(number, server.pid, work / "serve")
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and any(state not in OVER for state in states.values()):
        time.sleep(0.5)
        now = {one["id"]: one["state"] for one in page.ask("GET", "/cases")["cases"]}
        states |= {name: now[key] for name, key in ids.items() if key in now}
    server.send_signal(signal.SIGINT)
    server.wait(60)
    print(f"{measure_folder(work / 'serve'):.1f} MB are left of it")
    return report_end(states, [path.name for path in cases])


def main() -> int:
    """Let cases arrive and print what became of them."""
    ask = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ask.add_argument("way", choices=("watch", "serve"))
    ask.add_argument("--count", type=int, default=500)
    ask.add_argument("--seed", type=int, default=1)
    ask.add_argument("--work", type=Path, required=True, help="a folder that is made anew")
    ask.add_argument(
        "--results", type=Path, help="of the watch, where they do not belong into --work"
    )
    asked = ask.parse_args()
    shutil.rmtree(asked.work, ignore_errors=True)
    made = asked.work.resolve() / "made"
    made_cases = [
        one.path
        for one in write_each(made, asked.count, asked.seed, broken_share=BROKEN, form="mixed")
    ]
    cases = [path for path in made_cases if path.is_file() or any(path.iterdir())]
    print("  done  process      and workers    written")
    if asked.way == "serve":
        return run_serve(cases, asked.work.resolve())
    return run_watch(
        cases, asked.work.resolve(), (asked.results or asked.work / "results").resolve()
    )


if __name__ == "__main__":
    sys.exit(main())
