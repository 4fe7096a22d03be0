"""Broken uploads, broken machines and floods through the whole command: always one plain answer.

A few places are tried each time; many with `BACKLINE_ALL_HOSTILE=1`.
"""

from __future__ import annotations

import errno
import gzip
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from analyzer.cli import main
from analyzer.pipeline.triage import triage
from analyzer.runtime import output
from tests.kit import hostile
from tests.kit.hostile import ask

ROOT = Path(__file__).resolve().parents[2]
ALL = bool(os.environ.get("BACKLINE_ALL_HOSTILE"))
RESULTS = ["case.json", "report.html", "report.md"]
_EVENTS: list[str] = []
_WATCH = [False]
_CHANGES = {
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.symlink",
    "os.link",
    "os.truncate",
    "os.rmdir",
    "os.chmod",
    "os.chown",
}
_OUTSIDE = {
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "os.forkpty",
    "os.spawn",
}


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if not _WATCH[0]:
        return
    if event in _OUTSIDE or event.startswith("socket."):
        _EVENTS.append(event)
    elif event in _CHANGES:
        _EVENTS.append(str(args[0]))
    elif event == "open" and not isinstance(args[0], int):
        mode, flags = args[1], args[2] or 0
        if (isinstance(mode, str) and set(mode) & set("wax+")) or flags & (
            os.O_WRONLY | os.O_RDWR | os.O_CREAT
        ):
            _EVENTS.append(os.fsdecode(args[0]))


sys.addaudithook(_audit)


@contextmanager
def watched() -> Iterator[list[str]]:
    """Collect every path that is written and every way out of the process."""
    _EVENTS.clear()
    _WATCH[0] = True
    try:
        yield _EVENTS
    finally:
        _WATCH[0] = False


def run(*args: object) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, [str(arg) for arg in args])


def one_line(result: Result, status: int) -> str:
    """Check that a run ended with a status and one plain line, and return the line."""
    assert result.exit_code == status, result.output
    assert result.stderr.count("\n") == 1, result.stderr
    assert result.stderr.startswith("backline: ")
    assert "Traceback" not in result.output
    assert "internal error" not in result.output
    return result.stderr


# --- broken uploads -----------------------------------------------------------------------------


def answers(document: dict[str, Any]) -> set[str]:
    """Return the rules that match or cannot tell."""
    found = {one.rule for one in document.findings}
    return found | {rule for group in document.cannot_tell for rule in group.rules}


@pytest.mark.size
def test_a_bundle_cut_anywhere_says_so_and_finds_no_more(tmp_path: Path) -> None:
    """Every cut is answered, never as «ok»; its findings are some of the whole's, and no answer turns into «no match»."""
    path = hostile.bundle(tmp_path)
    data, whole = path.read_bytes(), ask(path)
    ends = range(1, len(data)) if ALL else sorted(random.Random(3).sample(range(1, len(data)), 25))
    with hostile.rules_read_once():
        for end in [0, 1, 10, 18, *ends, len(data) - 9, len(data) - 8, len(data) - 1]:
            path.write_bytes(data[:end])
            cut = ask(path)
            assert cut.state != "ok", end
            if cut.document:
                assert cut.document.case.complete is False, end
                assert cut.findings <= whole.findings, end
                assert answers(whole.document or {}) <= answers(cut.document), end


UNDATED = ("esxi-advisory", "esxi-end-of-support")


@pytest.mark.size
def test_each_byte_of_the_headers_changed_is_answered(tmp_path: Path) -> None:
    """One byte of the gzip header or of a tar header flipped: an answer, and no finding the whole does not have."""
    path = hostile.bundle(tmp_path)
    packed, plain, whole = path.read_bytes(), hostile.tar_of(hostile.sound_files()), ask(path)
    chance = random.Random(5)
    heads = [
        at for at in range(0, len(plain) - 1024, 512) if plain[at + 257 : at + 262] == b"ustar"
    ]
    with hostile.rules_read_once():
        for at in range(10):
            path.write_bytes(
                packed[:at] + bytes([packed[at] ^ 1 << chance.randrange(8)]) + packed[at + 1 :]
            )
            assert ask(path).findings <= whole.findings
        for _ in range(800 if ALL else 25):
            at = chance.choice(heads) + chance.randrange(512)
            broken = bytearray(plain)
            broken[at] ^= 1 << chance.randrange(8)
            path.write_bytes(gzip.compress(bytes(broken), 1, mtime=1))
            changed = {
                (rule, subject)
                for rule, _, subject, _ in ask(path).findings
                if rule
                not in UNDATED  # without the day of the capture a release is judged as of today
            }
            assert changed <= {(rule, subject) for rule, _, subject, _ in whole.findings}, at


# --- broken machines ----------------------------------------------------------------------------


def _fifo(path: Path) -> None:
    os.mkfifo(path)


BAD_INPUTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe": (_fifo, "not a regular file but a pipe"),
    "a link to an endless device": (
        lambda path: path.symlink_to("/dev/zero"),
        "not a regular file but a device",
    ),
    "a dangling link": (lambda path: path.symlink_to("/nowhere/at all"), "No such file"),
    "a loop of links": (lambda path: path.symlink_to(path), "symbolic links"),
    "an empty file": (lambda path: path.touch(), "empty"),
    "an empty folder": (lambda path: path.mkdir(), "no file was found"),
    "nothing": (lambda path: None, "no such file or folder"),
    "a page of the portal": (lambda path: path.write_text("<!DOCTYPE html><html>"), "HTML"),
}


@pytest.mark.parametrize("kind", BAD_INPUTS)
def test_an_input_that_is_none_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    """One line with path, reason and what to do; status 3; nothing is written."""
    make, said = BAD_INPUTS[kind]
    path = tmp_path / "input.tgz"
    make(path)
    begun = time.process_time()
    line = one_line(run("triage", path, "-o", tmp_path / "out"), 3)

    assert time.process_time() - begun < 3
    assert str(path) in line
    assert said in line
    assert re.search(r"\S\. (?:Give|Check) .+\.$", line.strip())
    assert not (tmp_path / "out").exists()


def test_names_too_long_for_the_system_are_no_fault_of_ours(tmp_path: Path) -> None:
    """A path of 5,000 characters is «no such file», with and without the word triage."""
    for name in ("x" * 300, "/".join(["x" * 200] * 25)):
        assert "no such file" in one_line(run("triage", tmp_path / name), 3)
        assert "no such file" in one_line(run(tmp_path / name), 3)


def test_hostile_things_in_a_folder_do_not_keep_it_from_being_read(tmp_path: Path) -> None:
    """Pipe, endless device, loop, link to a file of the analyst: listed, not opened; the bundle beside them is read."""
    case = tmp_path / "case"
    hostile.bundle(case)
    os.mkfifo(case / "pipe")
    (case / "zero.log").symlink_to("/dev/zero")
    (case / "self").symlink_to(case)
    (case / "loop").symlink_to(case / "loop")
    (case / "passwd.txt").symlink_to("/etc/passwd")
    result = run("triage", case, "-o", tmp_path / "out")
    text = (tmp_path / "out" / "case.json").read_text()

    assert result.exit_code == 0
    assert "root:x:0" not in text
    states = {one["address"]: one["why"] for one in json.loads(text)["sources"]}
    assert "not opened" in states["pipe"]
    assert all(
        "not followed" in states[name] for name in ("zero.log", "self", "loop", "passwd.txt")
    )


@pytest.mark.process
def test_three_thousand_nested_folders(tmp_path: Path) -> None:
    """Folders deeper than a path may be long: read as far as the system goes, and said."""
    case = tmp_path / "case"
    hostile.bundle(case)
    here = os.open(case, os.O_RDONLY)
    opened = [here]
    for _ in range(3000):
        os.mkdir("d", dir_fd=here)
        here = os.open("d", os.O_RDONLY, dir_fd=here)
        opened.append(here)
        if len(opened) > 100:
            os.close(opened.pop(0))
    for handle in opened:
        os.close(handle)
    try:
        answer = ask(case)
    finally:
        subprocess.run(["rm", "-rf", str(case)], check=True)  # shutil.rmtree goes by recursion
    assert answer.state == "partial"
    assert "name too long" in str(answer.document and answer.document.damage)
    assert hostile.HOST in [node.name for node in (answer.document or {}).nodes]


def test_a_folder_without_permission_is_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that may not be listed and a file that may not be opened are named; the rest is read."""
    case = tmp_path / "case"
    hostile.bundle(case)
    (case / "closed").mkdir()
    (case / "closed.txt").write_text("x")
    scan, opened = os.scandir, os.open

    def no_scan(path: Any) -> Any:
        if str(path).endswith("closed"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return scan(path)

    def no_open(path: Any, *rest: Any, **named: Any) -> int:
        if str(path).endswith("closed.txt"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, *rest, **named)

    monkeypatch.setattr(os, "scandir", no_scan)
    monkeypatch.setattr(os, "open", no_open)
    answer = ask(case)

    assert answer.state == "partial"
    assert "Permission denied" in str(answer.document and answer.document.damage)
    assert {one.address: one.state for one in (answer.document or {}).sources}[
        "closed.txt"
    ] == "refused"


@pytest.mark.parametrize("what", ["grows", "shrinks", "vanishes"])
def test_a_file_that_changes_while_it_is_read(tmp_path: Path, what: str) -> None:
    """A log that grows, shrinks or goes while it is read: an answer without a fault inside."""
    case = tmp_path / "case"
    hostile.bundle(case)
    log = case / "vmkernel.log"
    line = b"2017-10-14T16:20:00.312Z cpu0:33000)NetPort: 1879: disabled port 0x2000010\n"
    log.write_bytes(line * 60_000)
    done = threading.Event()

    def change() -> None:
        while not done.wait(0.005):
            if what == "grows":
                with log.open("ab") as stream:
                    stream.write(line * 100)
            elif what == "vanishes":
                log.unlink(missing_ok=True)
            elif log.stat().st_size > 10_000:
                os.truncate(log, 10_000)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        answer = ask(case)
    finally:
        done.set()
        thread.join()
    assert answer.document is not None
    assert len(answer.findings) >= 5


FAULTS: dict[str, tuple[str, int]] = {
    "fsync": ("No space left on device", errno.ENOSPC),
    "replace": ("Read-only file system", errno.EROFS),
    "mkstemp": ("Permission denied", errno.EACCES),
}


@pytest.mark.size
@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("call", FAULTS)
def test_a_write_that_fails_leaves_no_half_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    """Disk full or read-only at the first, second or third file: one line, status 3, no temporary file.

    Only what goes to the output folder counts: a cache that cannot be written, as on a first run, stops nothing.
    """
    why, code = FAULTS[call]
    out = tmp_path / "out"
    places: dict[str, Any] = {"fsync": output.os, "replace": Path, "mkstemp": output.tempfile}
    real, count = getattr(places[call], call), [0]

    def fails(*args: Any, **named: Any) -> Any:
        place = (
            named.get("dir") or args[0]
        )  # fsync has a file number: only results are written through
        ours = isinstance(place, int) or out in (Path(place), *Path(place).parents)
        count[0] += ours
        if ours and count[0] == number:
            raise OSError(code, why)
        return real(*args, **named)

    monkeypatch.setattr(places[call], call, fails)
    if number == 1:
        monkeypatch.setenv(
            "BACKLINE_CACHE", str(tmp_path / "cache")
        )  # empty: it is written in this run
    path = hostile.bundle(tmp_path)
    line = one_line(run("triage", path, "-o", tmp_path / "out"), 6)

    assert why in line
    assert str(tmp_path / "out") in line
    assert line.strip().endswith("Give another folder with -o.")
    assert not [one.name for one in (tmp_path / "out").iterdir() if one.name.startswith(".")]
    if call != "replace":
        assert not list((tmp_path / "out").iterdir())


def test_an_output_that_cannot_be_is_said_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file as output folder, a folder under a file, a folder where a result must lie, a read-only folder."""
    path = hostile.bundle(tmp_path / "in")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "taken" / "report.md").mkdir(parents=True)
    monkeypatch.setattr(
        "analyzer.pipeline.triage.triage", lambda *_: pytest.fail("the work was begun")
    )
    for folder, said in (
        ("file", "it is a file"),
        ("file/below", "it is a file"),
        ("taken", "it is a folder"),
    ):
        assert said in one_line(run("triage", path, "-o", tmp_path / folder), 6)
    monkeypatch.setattr(output.os, "access", lambda *_: False)  # as on a read-only file system
    assert "cannot be written to" in one_line(run("triage", path, "-o", tmp_path / "new"), 6)
    assert (tmp_path / "file").read_text() == "mine"
    assert not (tmp_path / "new").exists()


# --- what a run does and does not ---------------------------------------------------------------


def test_nothing_is_written_outside_the_output_folder(tmp_path: Path) -> None:
    """Members named upwards, absolute and as links: only the output folder is written, no socket, no process."""
    tail = hostile.tar_of(
        dict.fromkeys(("../up.txt", "/abs.txt", "a/../../b.txt", "C:\\x\\y.txt"), b"x\n")
    )
    path = hostile.bundle(tmp_path / "in", tail=tail)
    folder = tmp_path / "out"
    triage([path])  # what Python writes once (compiled modules) is not of this run
    with watched() as events:
        result = run("triage", path, "-o", folder)
    assert result.exit_code in (0, 5)
    assert [
        event for event in events if event != os.devnull and not event.startswith(str(folder))
    ] == []
    assert sorted(one.name for one in folder.iterdir()) == RESULTS
    assert sorted(one.name for one in tmp_path.iterdir()) == ["in", "out"]


def test_an_earlier_result_is_no_material(tmp_path: Path) -> None:
    """Run twice in the folder of the case: the report of the first run is listed, hashed and read by nobody."""
    hostile.bundle(tmp_path / "case")
    folder = tmp_path / "case" / "backline-out"
    documents = []
    for _ in range(3):
        assert run("triage", tmp_path / "case", "-o", folder).exit_code == 0
        documents.append((folder / "case.json").read_bytes())
    first, second = (json.loads(one) for one in documents[:2])

    assert documents[1] == documents[2]
    assert first["case"] == second["case"]
    assert first["findings"] == second["findings"]
    skipped = [one for one in second["sources"] if one["state"] == "skipped"]
    assert [one["address"].rpartition("/")[2] for one in skipped] == RESULTS


INTERRUPTED = """
import os, signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what runs in its background
{before}
sys.argv = ["backline", "triage", {path!r}, "-o", {out!r}]
from analyzer.__main__ import run
run()
"""
MOMENTS = {
    "while options are read": (
        "import analyzer.commands.places as p\nreal = p.CasePath.convert\n"
        "def convert(*a):\n    os.kill(os.getpid(), 2); return real(*a)\np.CasePath.convert = convert"
    ),
    "while the command is found": (
        "import analyzer.cli as c\nreal = c.DefaultToTriage.resolve_command\n"
        "def found(*a):\n    os.kill(os.getpid(), 2); return real(*a)\nc.DefaultToTriage.resolve_command = found"
    ),
    "at the start": "import analyzer.__main__\nthreading.Timer(0.02, os.kill, (os.getpid(), 2)).start()",
    "while members are read": (
        "import analyzer.ingest.reader as i\nreal = i.MemberReader.read_member\n"
        "def read(self, member):\n    real(self, member); os.kill(os.getpid(), 2)\ni.MemberReader.read_member = read"
    ),
    "swallowed by a library": (
        "import analyzer.pipeline.case_data as t\nreal = t.judge\n"
        "def judge(*a, **k):\n"
        "    try: os.kill(os.getpid(), 2); import time; time.sleep(1)\n"
        "    except KeyboardInterrupt: pass\n"
        "    return real(*a, **k)\nt.judge = judge"
    ),
    "while results are written": (
        "real = os.fsync\ndef fsync(handle):\n    os.kill(os.getpid(), 2); real(handle)\nos.fsync = fsync"
    ),
}


@pytest.mark.process
@pytest.mark.parametrize("moment", MOMENTS)
def test_an_interrupt_ends_with_130_and_leaves_nothing(tmp_path: Path, moment: str) -> None:
    """Ctrl-C at any time: one line, status 130, no traceback, no half report."""
    path, out = hostile.bundle(tmp_path), tmp_path / "out"
    code = INTERRUPTED.format(before=MOMENTS[moment], path=str(path), out=str(out))
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stderr) == (130, "backline: interrupted\n")
    assert done.stdout == ""
    assert not out.exists() or not list(out.iterdir())


@pytest.mark.process
def test_the_same_case_gives_the_same_bytes_anywhere(tmp_path: Path) -> None:
    """Another hash seed, folder, time stamp and way of giving the path: the same bytes of all three results."""
    results = []
    for number, seed in enumerate(("1", "2")):
        place = tmp_path / f"place{number}" / "case"
        hostile.bundle(place)
        for name in ("lab-ring-before/esx0.txt", "cpu-limited-vm/esxtop.csv"):
            source = ROOT / "samples" / "cases" / name
            if source.exists():
                (place / source.name).write_bytes(source.read_bytes())
        for one in place.iterdir():
            os.utime(one, (10**9 * (number + 1), 10**9 * (number + 1)))
        given, cwd = (str(place), ROOT) if number else ("case", place.parent)
        done = subprocess.run(
            [sys.executable, "-m", "analyzer", "triage", given, "-o", str(tmp_path / f"out{number}")],
            cwd=cwd, capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "TZ": ("UTC", "Asia/Tokyo")[number]},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        results.append({name: (tmp_path / f"out{number}" / name).read_bytes() for name in RESULTS})
    assert results[0] == results[1]
