"""A watched download folder: what is taken, when, and that nothing is done twice."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.archive.batches.jobs import Done, Job, Work
from analyzer.archive.batches.run_config import RunConfig, config_of, open_context
from analyzer.archive.batches.runner import Runner
from analyzer.archive.store import Archive
from analyzer.rules.run_options import RunOptions
from analyzer.runtime.errors import BacklineError, UsageError
from analyzer.watch_folder import folder_scan, watcher, work
from analyzer.watch_folder.state import STATE, DoneCase, WatchState, content_of, lock_results
from analyzer.watch_folder.watcher import FolderWatcher
from analyzer.watch_folder.work import Landed, triage_landed
from tests.kit.batch_kit import ROOT, backline, said, session

BUNDLE = ROOT / "samples" / "cases" / "lab-ring-before"


class Told:
    """Remembers what a watch tells."""

    def __init__(self) -> None:
        self.begins: list[str] = []
        self.cases: list[tuple[str, DoneCase, str]] = []
        self.lines: list[str] = []

    def case_begun(self, arrival: folder_scan.Arrival) -> None:
        """Remember."""
        self.begins.append(arrival.name)

    def case_done(self, arrival: folder_scan.Arrival, known: DoneCase, same: str) -> None:
        """Remember."""
        self.cases.append((arrival.name, known, same))

    def say_line(self, line: str) -> None:
        """Remember."""
        self.lines.append(line)

    def states(self) -> dict[str, str]:
        """Return what became of the cases."""
        return {name: known.state for name, known, _ in self.cases}


class Here:
    """Triages in this process."""

    def __init__(self, config: RunConfig) -> None:
        self.config = config

    def run(self, jobs: Iterator[Job]) -> Iterator[Done]:
        """Do jobs one after another."""
        for job in jobs:
            yield triage_landed(job, self.config)

    def close(self) -> None:
        """Nothing is left over."""


def watch(
    folder: Path, out: Path, runner: Runner | None = None, *, still: float = 0.0
) -> tuple[FolderWatcher, Told]:
    """Return a watch that works in this process, and what it tells."""
    told = Told()
    out.mkdir(exist_ok=True)
    state = WatchState.load_state(out, str(folder))
    return FolderWatcher(
        folder,
        state,
        lambda: runner or Here(RunConfig("", RunOptions(settings="", packs=False))),
        told,
        skip=[str(out)],
        still=still,
    ), told


def names(folder: Path) -> dict[str, str]:
    """Return what may be a case in a folder, and what it waits for."""
    return {arrival.name: arrival.waits for arrival in folder_scan.list_arrivals(folder)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an empty download folder."""
    made = tmp_path / "downloads"
    made.mkdir()
    return made


def put(path: Path, text: str = "") -> Path:
    """Write a small synthetic case."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text or session(1), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "name",
    [
        "b.tgz.crdownload",
        "b.tgz.part",
        "b.tgz.partial",
        "b.tgz.tmp",
        "b.tgz.filepart",
        ".b.tgz.x7",
        "b.pdf",
    ],
)
def test_partial_names_and_other_things_are_no_cases(folder: Path, name: str) -> None:
    """A partial download, a hidden file and a document are not taken, whatever they hold."""
    put(folder / name)
    assert names(folder) == {}


def test_a_placeholder_waits_for_its_download(folder: Path) -> None:
    """Firefox keeps the name free with an empty file, curl and aria2 write the file itself: all of them wait."""
    put(folder / "a.tgz.part")
    (folder / "a.tgz").touch()
    put(folder / "b.tgz")
    put(folder / "b.tgz.aria2")
    (folder / "c.tgz").touch()
    (folder / "d.tgz.download").mkdir()  # Safari's is a folder
    put(folder / "d.tgz.download" / "d.tgz")
    found = names(folder)
    assert sorted(found) == ["a.tgz", "b.tgz", "c.tgz"]
    assert all(found.values()), found


def test_files_folders_and_pieces_are_cases(folder: Path) -> None:
    """A file, a sub-folder with all below it, and the pieces of one file are one case each; links are none."""
    put(folder / "one.txt")
    put(folder / "two" / "deep" / "a.txt")
    put(folder / "two" / "b.txt")
    put(folder / "x.txt.FRAG-00000")
    put(folder / "x.txt.FRAG-00001")
    (folder / "pictures").mkdir()
    put(folder / "pictures" / "screen.png")
    put(folder / "archive" / "backline-archive.json")
    (folder / "link.txt").symlink_to(folder / "one.txt")
    assert sorted(names(folder)) == ["one.txt", "two", "x.txt"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="leases are a matter of Linux")
def test_a_file_that_somebody_writes_is_not_taken(folder: Path) -> None:
    """However long a file is still: while a program has it open for writing, it waits; afterwards it is taken."""
    path = folder / "upload.txt"
    watching, told = watch(folder, folder.parent / "out")
    with path.open("w", encoding="utf-8") as stream:
        stream.write(session(1))
        stream.flush()
        ready, waiting = watching.look_again()
        if ready:
            pytest.skip("this file system gives no leases")
        assert [arrival.name for arrival in waiting] == ["upload.txt"]
    assert [arrival.name for arrival in watching.look_again()[0]] == ["upload.txt"]
    assert told.lines == []


def test_a_growing_file_waits_until_it_is_still(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each change begins the waiting anew; after long it is told once, and waiting goes on."""
    now = [1000.0]
    monkeypatch.setattr(watcher.time, "monotonic", lambda: now[0])
    watching, told = watch(folder, folder.parent / "out", still=5.0)
    path = put(folder / "grows.txt", "a")
    for number in range(200):
        assert watching.look_again()[0] == []
        now[0] += 4.0
        path.write_text("a" * (number + 2), encoding="utf-8")
    assert len(told.lines) == 1
    assert "grows.txt is not complete yet (it still grows or changes" in told.lines[0]
    watching.look_again()
    now[0] += 5.0
    assert [arrival.name for arrival in watching.look_again()[0]] == ["grows.txt"]


def test_what_was_done_is_not_done_again(folder: Path, tmp_path: Path) -> None:
    """A restart does nothing; a renamed or touched file is known by its content; a changed one is done anew."""
    put(folder / "a.txt")
    first, told = watch(folder, tmp_path / "out")
    first.watch_folder(once=True)
    assert told.states() == {"a.txt": "ok"}
    before = (tmp_path / "out" / "a.txt" / "case.json").read_bytes()
    again, told = watch(folder, tmp_path / "out")
    again.watch_folder(once=True)
    assert told.begins == told.cases == []
    os.utime(folder / "a.txt", (1, 1))
    again.watch_folder(once=True)
    assert told.begins == told.cases == []
    (folder / "a.txt").rename(folder / "b.txt")
    again.watch_folder(once=True)
    assert [(name, same) for name, _, same in told.cases] == [("b.txt", "a.txt")]
    assert told.begins == []
    put(folder / "b.txt", session(2))
    again.watch_folder(once=True)
    assert [(name, same) for name, _, same in told.cases[1:]] == [("b.txt", "")]
    assert (tmp_path / "out" / "a.txt" / "case.json").read_bytes() == before, (
        "the report of the other stays"
    )
    assert (tmp_path / "out" / "b.txt" / "report.html").exists()


@pytest.mark.process
def test_the_results_are_those_of_triage(folder: Path, tmp_path: Path) -> None:
    """case.json of a watched folder has the bytes that `backline triage` writes; pieces are joined as there."""
    shutil.copytree(BUNDLE, folder / "case")
    watch(folder, tmp_path / "out")[0].watch_folder(once=True)
    code, out, _ = said(
        backline("triage", folder / "case", "--json", "-", "--no-settings", "--no-packs")
    )
    assert code == 0
    assert (tmp_path / "out" / "case" / "case.json").read_text(encoding="utf-8") == out


def test_results_never_overwrite_what_is_not_theirs(folder: Path, tmp_path: Path) -> None:
    """Names that become the same folder, or one that is there already, get a number."""
    put(folder / "a b.txt", session(1))
    put(folder / "a-b.txt", session(2))
    notes = put(tmp_path / "out" / "a-b.txt" / "notes.txt", "mine")
    watch(folder, tmp_path / "out")[0].watch_folder(once=True)
    assert list((tmp_path / "out" / "a-b.txt").iterdir()) == [notes]
    assert sorted(path.parent.name for path in (tmp_path / "out").glob("*/report.html")) == [
        "a-b.txt-2",
        "a-b.txt-3",
    ]


def test_a_refused_file_is_told_once(folder: Path, tmp_path: Path) -> None:
    """What is no case is told once and left alone, until another version of the tool meets it."""
    (folder / "noise.bin").write_bytes(bytes(range(256)) * 8)
    watching, told = watch(folder, tmp_path / "out")
    watching.watch_folder(once=True)
    watching.watch_folder(once=True)
    assert told.states() == {"noise.bin": "refused"}
    assert len(told.cases) == 1
    assert watching.bad
    assert not list((tmp_path / "out").glob("*/report.html"))
    held = json.loads((tmp_path / "out" / STATE).read_text(encoding="utf-8"))
    held["cases"]["noise.bin"]["tool"] = "0.0.1"
    (tmp_path / "out" / STATE).write_text(json.dumps(held), encoding="utf-8")
    _, told = again = watch(folder, tmp_path / "out")
    again[0].watch_folder(once=True)
    assert len(told.cases) == 1


class Growing(Here):
    """Triages while the file grows."""

    def __init__(self, path: Path) -> None:
        super().__init__(RunConfig("", RunOptions(settings="", packs=False)))
        self.path, self.times = path, 0

    def run(self, jobs: Iterator[Job]) -> Iterator[Done]:
        """Change the file after its first reading."""
        for done in super().run(jobs):
            self.times += 1
            if self.times == 1:
                put(self.path, session(2))
            yield done


def test_what_changes_while_it_is_read_is_read_again(folder: Path, tmp_path: Path) -> None:
    """A file that becomes another during its triage is told and taken again; the report is of its last content."""
    path = put(folder / "a.txt")
    os.utime(path, (1, 1))
    watching, told = watch(folder, tmp_path / "out", Growing(path))
    watching.watch_folder(once=True)
    assert "changed while it was read" in told.lines[0]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert digest in (tmp_path / "out" / "a.txt" / "case.json").read_text(encoding="utf-8")
    assert len(told.cases) == 1


def test_results_that_cannot_be_written_are_told_and_tried_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the disk full nothing counts as done, it is told once; when there is space again, all is done."""
    put(folder / "a.txt", session(1))
    put(folder / "b.txt", session(2))
    full = [True]

    def write(_folder: Path, _texts: dict[str, str]) -> None:
        if full[0]:
            raise BacklineError(
                "cannot write the result", where="out", why="No space left on device"
            )
        real(_folder, _texts)

    from analyzer.watch_folder import work

    real = work._write_results
    monkeypatch.setattr(work, "_write_results", write)
    watching, told = watch(folder, tmp_path / "out")
    with pytest.raises(BacklineError, match="not all results could be written"):
        watching.watch_folder(once=True)
    assert len(told.lines) == 1
    assert "No space left" in told.lines[0]
    assert told.begins == ["a.txt"], "the second one is not even read"
    assert told.cases == []
    full[0] = False
    (tmp_path / "out" / "a.txt").mkdir(exist_ok=True)  # what a full disk leaves behind
    again, told = watch(folder, tmp_path / "out")
    again.watch_folder(once=True)
    assert told.states() == {"a.txt": "ok", "b.txt": "ok"}
    assert sorted(path.parent.name for path in (tmp_path / "out").glob("*/report.html")) == [
        "a.txt",
        "b.txt",
    ]


def test_a_folder_that_goes_and_comes_back(folder: Path, tmp_path: Path) -> None:
    """While the folder is away that is told once; what was done before is still known when it is back."""
    put(folder / "a.txt")
    watching, told = watch(folder, tmp_path / "out")
    watching.triage_ready(watching.look_again()[0])
    folder.rename(tmp_path / "away")
    assert watching.look_again() == ([], [])
    assert watching.look_again() == ([], [])
    assert len(told.lines) == 1
    assert "waiting until it is there again" in told.lines[0]
    (tmp_path / "away").rename(folder)
    assert watching.look_again() == ([], [])
    assert told.lines[1:] == ["the folder is there again"]


def test_one_folder_of_results_is_for_one_watch(tmp_path: Path) -> None:
    """A second watch on the same results is refused as long as the first one lives."""
    with (
        lock_results(tmp_path),
        pytest.raises(BacklineError, match="another watch is at work"),
        lock_results(tmp_path),
    ):
        pass
    with lock_results(tmp_path):
        pass


def test_results_of_another_folder_are_not_mixed(tmp_path: Path) -> None:
    """A state of another watched folder, and a damaged one, are told; nothing is overwritten."""
    WatchState(tmp_path, "/one").save_state()
    with pytest.raises(UsageError, match="another watched folder"):
        WatchState.load_state(tmp_path, "/two")
    (tmp_path / STATE).write_text(
        '{"format": "backline/watch-1", "folder": "/one", "cases": {"a": {}}}', encoding="utf-8"
    )
    with pytest.raises(BacklineError, match="cannot be read"):
        WatchState.load_state(tmp_path, "/one")


@given(st.text(max_size=300))
def test_no_state_file_gives_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    """Whatever stands in the state file, reading it gives a state or a plain error."""
    out = tmp_path_factory.mktemp("state")
    (out / STATE).write_text(text, encoding="utf-8", errors="replace")
    with pytest.raises(BacklineError):
        WatchState.load_state(out, "/one")


def test_a_state_cannot_lead_out_of_the_results(tmp_path: Path) -> None:
    """A results folder such as ../x in a state that somebody changed is not used."""
    state = WatchState(tmp_path, "/one")
    state.cases["a"] = DoneCase("", "", 1, 1, "ok", "", "../x", "", "")
    state.save_state()
    with pytest.raises(BacklineError, match="a folder that Backline did not make"):
        WatchState.load_state(tmp_path, "/one")


@given(
    st.text(alphabet=st.characters(codec="utf-8"), max_size=20),
    st.lists(st.tuples(st.text(max_size=5), st.integers(0, 9))),
)
def test_the_content_does_not_hang_on_the_name(name: str, files: list[tuple[str, int]]) -> None:
    """A case under another name has the same content; the order of its files does not matter."""
    one = [(f"{name}/{path}", size, "0") for path, size in files]
    other = [(f"renamed/{path}", size, "0") for path, size in reversed(files)]
    assert content_of(name, one) == content_of("renamed", other)


@pytest.mark.size
def test_a_process_that_dies_costs_its_case_only(folder: Path, tmp_path: Path) -> None:
    """A case that kills its process is told as failed; the others are done."""
    put(folder / "bad.txt", session(1))
    put(folder / "good.txt", session(2))
    from analyzer.archive.batches.runner import start_processes

    watching, told = watch(
        folder,
        tmp_path / "out",
        start_processes(RunConfig("", RunOptions(settings="", packs=False)), 2, dies),
    )
    watching.watch_folder(once=True)
    assert told.states() == {"bad.txt": "failed", "good.txt": "ok"}
    assert watching.bad


def dies(job: Job, config: RunConfig) -> Done:
    """Die over the file that is named bad."""
    if job.works[0].name == "bad.txt":
        os.kill(os.getpid(), signal.SIGKILL)
    return triage_landed(job, config)


def test_an_archive_that_does_not_answer_costs_no_case(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stored cases have of its signs is not known then, and said; the case is read, written and kept."""

    def refuse(*_args: object) -> None:
        raise BacklineError("the archive takes too long")

    monkeypatch.setattr(work, "tell_known", refuse)
    options = RunOptions(settings="", packs=False)
    plain = RunConfig("", options)
    archive = Archive.open(tmp_path / "archive", create=True)
    config = config_of(str(tmp_path / "archive"), *open_context(plain), options)
    put(folder / "a.txt")
    one = Work("a.txt", str(folder / "a.txt"), (str(folder / "a.txt"),), 1)
    done = triage_landed(Landed(1, "read", (one,), out=str(tmp_path / "out")), config)

    (result,) = done.results
    assert result.state == "partial"
    assert "what stored cases have is not known: the archive takes too long" in result.why
    assert (tmp_path / "out" / "report.html").exists()
    assert len(archive.take_snapshot().list_visible_cases()) == 1


def test_the_jobs_are_small(folder: Path) -> None:
    """A job for a process names paths and contents only."""
    put(folder / "a.txt")
    watching, _ = watch(folder, folder.parent / "out")
    job = watching._make_job(watching.look_again()[0][0], set())
    assert isinstance(job, Landed)
    assert job.works[0].paths == (str(folder / "a.txt"),)


@pytest.mark.process
def test_once_as_a_command(folder: Path, tmp_path: Path) -> None:
    """--once does what lies there: one line a case on stdout, results and archive filled, nothing moved."""
    shutil.copytree(BUNDLE, folder / "case")
    (folder / "noise.bin").write_bytes(bytes(range(256)) * 8)
    before = sorted((str(path), path.stat().st_mtime_ns) for path in folder.rglob("*"))
    words = (
        "watch",
        folder,
        "--once",
        "--still",
        "0.2",
        "--archive",
        tmp_path / "archive",
        "--no-packs",
    )
    code, out, err = said(backline(*words, cwd=tmp_path))
    assert code == 5, err
    lines = sorted(line.split("  ")[1:] for line in out.splitlines())
    assert [line[0] for line in lines] == ["case", "noise.bin"]
    assert lines[0][1].startswith("warning: ")
    assert (tmp_path / lines[0][2]).read_bytes().startswith(b"<!")
    assert lines[1][1].startswith("refused: ")
    assert before == sorted((str(path), path.stat().st_mtime_ns) for path in folder.rglob("*"))
    archive = Archive.open(tmp_path / "archive")
    kept = {
        archive.read_meta(case)["name"]: case
        for case in archive.take_snapshot().list_visible_cases()
    }
    assert sorted(kept) == ["case", "noise.bin"]
    written = (tmp_path / "backline-out" / "case" / "case.json").read_text(encoding="utf-8")
    assert archive.document_text(kept["case"]) == written
    code, out, _ = said(backline(*words, cwd=tmp_path))
    assert (code, out) == (0, "")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["nowhere"], "no such folder"),
        (["FOLDER", "-o", "FOLDER"], "cannot go into"),
        (["FOLDER", "--kb", "nowhere"], "no such file"),
        (["FOLDER", "--limit", "nonsense=1"], "is not valid"),
        (["."], "no folder for the results"),
    ],
)
def test_a_wrong_command_line_is_told(folder: Path, words: list[str], why: str) -> None:
    """Folders that do not go together, and wrong options, end with 2 and one line; nothing is made."""
    words = [str(folder) if word == "FOLDER" else word for word in words]
    code, out, err = said(backline("watch", *words, "--once", cwd=folder))
    assert (code, out) == (2, "")
    assert why in err
    assert list(folder.iterdir()) == []


@pytest.mark.release
@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_a_storm_of_files_and_ctrl_c(folder: Path, tmp_path: Path) -> None:
    """80 files that land at once, one of them slowly under a partial name, are all done once; Ctrl-C ends with 130.

    A second watch on the same results is refused meanwhile, and nothing is left running.
    """
    out = tmp_path / "out"
    process = backline(
        "watch", folder, "-o", out, "--still", "0.5", "--no-packs", "--no-settings", "--jobs", "2"
    )
    try:
        for number in range(80):
            partial = put(folder / f"n{number:03d}.txt.part", session(number))
            partial.rename(folder / f"n{number:03d}.txt")
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(80)]
        code, _, err = said(backline("watch", folder, "-o", out, "--once"))
        assert code == 3
        assert "another watch is at work" in err
    finally:
        os.killpg(process.pid, signal.SIGINT)
        code, rest, err = said(process)
    assert code == 130, err
    assert rest == ""
    assert err.rstrip().endswith("backline: interrupted")
    assert sorted(line.split("  ")[1] for line in lines) == [
        f"n{number:03d}.txt" for number in range(80)
    ]
    assert len(list(out.glob("*/report.html"))) == 80
    assert wait_for_no_group(process.pid)


def wait_for_no_group(group: int) -> bool:
    """Wait until no process of a group is left."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        alive = subprocess.run(
            ["ps", "-eo", "pgid=,stat="], capture_output=True, text=True, check=True
        ).stdout
        if not any(
            line.split()[0] == str(group) and "Z" not in line.split()[1]
            for line in alive.splitlines()
        ):
            return True
        time.sleep(0.1)
    return False
