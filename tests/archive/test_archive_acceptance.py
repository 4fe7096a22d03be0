"""What the archive promises, shown with real processes of the command line over synthetic cases.

Smaller counts than the promises speak of, so that the file stays below three minutes on two busy cores:
`tools/scale.py` measures the same with 1,000 and 10,000 cases.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from analyzer.archive.store import Archive
from tools.make_cases import Made, write_cases

pytestmark = [pytest.mark.process, pytest.mark.release]

ROOT = Path(__file__).resolve().parents[2]
COUNT, MIXED, TWICE, JUDGED = 20, 30, 50, 8
PATIENCE = 300  # seconds that any one command may take, on a machine that does other things as well
MODULES = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
ENVIRONMENT = {**os.environ, "PYTHONPATH": MODULES, "NO_COLOR": "1", "COLUMNS": "120"}


def backline(
    *words: str | Path, codes: tuple[int, ...] = (0,), before: tuple[str, ...] = ()
) -> str:
    """Run `backline WORDS` and return what it said; the exit code must be one of `codes`, and no traceback shown."""
    command = [*before, sys.executable, "-m", "analyzer", *map(str, words)]
    run = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=ENVIRONMENT,
        cwd=ROOT,
        check=False,
    )
    said = run.stdout + run.stderr
    assert run.returncode in codes, f"exit code {run.returncode}\n{said}"
    assert "Traceback" not in said, said
    return said


def started(*words: str | Path) -> subprocess.Popen[str]:
    """Start `backline WORDS` in a process group of its own, as a terminal does."""
    return subprocess.Popen(
        [sys.executable, "-m", "analyzer", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=ENVIRONMENT,
        cwd=ROOT,
        start_new_session=True,
    )


def documents(archive: Path) -> dict[str, str]:
    """Return the exact text of each visible case document by the name of the case; refused cases are left out."""
    opened = Archive.open(archive)
    cases = opened.take_snapshot().list_visible_cases()
    metas = opened.read_metas(cases)
    return {
        metas[case.id]["name"]: opened.document_text(case)
        for case in cases
        if case.judged.kind != "none"
    }


def packs(archive: Path) -> list[str]:
    """Return the names of the stored objects that hold cases."""
    return sorted(str(path.relative_to(archive)) for path in archive.glob("packs/*/*.zip"))


def verified(archive: Path) -> None:
    """`archive verify` finds nothing wrong."""
    backline("archive", "verify", "--archive", archive, codes=(0,))


@dataclass(frozen=True)
class Undisturbed:
    """A set of cases and what a batch made of them that nothing disturbed."""

    cases: Path
    archive: Path
    documents: dict[str, str]
    made: list[Made]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """Twenty cases in folders and archives, batched once by one undisturbed run."""
    folder = tmp_path_factory.mktemp("undisturbed")
    made = write_cases(folder / "cases", COUNT, form="mixed")
    backline("batch", folder / "cases", "--archive", folder / "archive")
    return Undisturbed(folder / "cases", folder / "archive", documents(folder / "archive"), made)


def test_a_batch_stores_every_case_and_the_archive_is_sound(undisturbed: Undisturbed) -> None:
    """Each case is stored once, fires the rule it was made for, and `archive verify` finds nothing wrong."""
    assert len(undisturbed.documents) == COUNT == len(packs(undisturbed.archive))
    for made in undisturbed.made:
        fired = {
            one["rule"] for one in json.loads(undisturbed.documents[made.path.name])["findings"]
        }
        assert made.kind in fired or made.kind == "healthy" or made.kind.startswith("lacks-"), made
    verified(undisturbed.archive)


@pytest.mark.timed
def test_a_second_run_is_many_times_faster(tmp_path: Path) -> None:
    """Batched again, 50 cases take at most a quarter of the first time and write no object.

    A second run that met a busy moment of the machine is done again, as is every later one.
    """
    write_cases(tmp_path / "cases", TWICE, seed=5)
    walls: list[float] = []
    while len(walls) < 2 or (len(walls) < 4 and walls[0] <= 4 * min(walls[1:])):
        began = time.monotonic()
        backline("batch", tmp_path / "cases", "--archive", tmp_path / "archive")
        walls.append(time.monotonic() - began)
        stored = packs(tmp_path / "archive")
        assert len(stored) == TWICE
    assert walls[0] > 4 * min(walls[1:]), f"{walls} s; with 1,000 cases the promise is fifty times"


@pytest.mark.process
def test_broken_cases_have_an_answer_and_stop_nothing(tmp_path: Path) -> None:
    """With a fifth of the uploads broken every case has an answer with a reason, and the sound ones their findings."""
    made = write_cases(tmp_path / "cases", MIXED, seed=2, broken_share=0.2, form="mixed")
    said = backline("batch", tmp_path / "cases", "--archive", tmp_path / "archive", codes=(5,))
    opened = Archive.open(tmp_path / "archive")
    metas = {
        meta["name"]: meta
        for meta in opened.read_metas(opened.take_snapshot().list_visible_cases()).values()
    }
    found = {
        one.path.name for one in made if one.kind != "broken-nothing"
    }  # an empty folder is no case
    assert found <= set(metas), f"no answer for {sorted(found - set(metas))}\n{said}"
    for one in made:
        if one.kind in ("broken-empty", "broken-noise"):
            assert metas[one.path.name]["state"] == "refused", one
            assert metas[one.path.name]["why"]
        elif not one.kind.startswith("broken-"):
            assert metas[one.path.name]["state"] == "ok", (one, metas[one.path.name])
    again = documents(tmp_path / "archive")
    backline("batch", tmp_path / "cases", "--archive", tmp_path / "archive", codes=(5,))
    assert documents(tmp_path / "archive") == again
    verified(tmp_path / "archive")


@pytest.mark.process
def test_two_runs_at_once_do_no_harm(undisturbed: Undisturbed, tmp_path: Path) -> None:
    """Two batches of the same cases into one archive at once both end well; each case is there, with the same bytes."""
    runs = [
        started("batch", undisturbed.cases, "--archive", tmp_path / "archive") for _ in range(2)
    ]
    for run in runs:
        said, _ = run.communicate(timeout=PATIENCE)
        assert run.returncode in (0,), said
        assert "Traceback" not in said
    assert documents(tmp_path / "archive") == undisturbed.documents
    verified(tmp_path / "archive")


@pytest.mark.process
def test_questions_and_compaction_go_on_beside_a_batch(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """While a batch writes, the archive is asked and compacted again and again; answers are whole, nothing is lost."""
    archive = tmp_path / "archive"
    run = started("batch", undisturbed.cases, "--archive", archive)
    until = time.monotonic() + PATIENCE
    while not packs(archive) and time.monotonic() < until and run.poll() is None:
        time.sleep(0.05)
    asked = 0
    while run.poll() is None or not asked:
        assert "case-" in backline("archive", "list", "--archive", archive)
        backline("archive", "compact", "--target", "5", "--archive", archive)
        counted = backline(
            "archive", "sql", "--archive", archive, "--csv", "select count(*) as n from cases"
        )
        assert 1 <= int(counted.split()[-1]) <= COUNT, counted
        asked += 1
    said, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, said
    assert documents(archive) == undisturbed.documents
    verified(archive)


@pytest.mark.process
def test_ctrl_c_keeps_what_is_done(undisturbed: Undisturbed, tmp_path: Path) -> None:
    """Ctrl-C ends a run within seconds, with exit code 130; what was stored stays, and a second run does the rest."""
    run = started("batch", undisturbed.cases, "--archive", tmp_path / "archive", "--jobs", "1")
    until = time.monotonic() + PATIENCE
    while len(packs(tmp_path / "archive")) < 3 and time.monotonic() < until and run.poll() is None:
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGINT)
    began = time.monotonic()
    said, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 130, said
    assert time.monotonic() - began < 30, "promised are 10 s on a machine of its own"
    assert "Traceback" not in said
    kept = packs(tmp_path / "archive")
    assert 3 <= len(kept) < COUNT
    verified(tmp_path / "archive")
    backline("batch", undisturbed.cases, "--archive", tmp_path / "archive")
    assert set(kept) <= set(packs(tmp_path / "archive")), "a stored case was written anew"
    assert documents(tmp_path / "archive") == undisturbed.documents


@pytest.mark.process
def test_a_changed_catalog_is_judged_from_stored_facts(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """With one more rule all cases are judged again without opening a bundle, to the bytes of a fresh batch."""
    cases, archive = tmp_path / "cases", tmp_path / "archive"
    cases.mkdir()
    for path in sorted(undisturbed.cases.iterdir())[
        -JUDGED:
    ]:  # the last of the scenarios is this rule's
        (shutil.copytree if path.is_dir() else shutil.copy2)(path, cases / path.name)
    backline("batch", cases, "--archive", archive)
    rules = tmp_path / "rules"
    rules.mkdir()
    text = (ROOT / "analyzer" / "kb" / "network" / "pnic-loses-packets.yaml").read_text(
        encoding="utf-8"
    )
    text = text.replace("rule: pnic-loses-packets", "rule: pnic-loses-more").partition(
        "\nexamples:"
    )[0]
    (rules / "pnic-loses-more.yaml").write_text(text + "\n", encoding="utf-8")
    backline("batch", cases, "--archive", tmp_path / "fresh", "--kb", rules)
    for path in cases.rglob("*"):  # whoever opens a bundle now reads noughts
        if path.is_file():
            stat = path.stat()
            path.write_bytes(bytes(stat.st_size))
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    backline("batch", cases, "--archive", archive, "--kb", rules)
    judged = documents(archive)
    assert judged == documents(tmp_path / "fresh")
    assert any('"pnic-loses-more"' in text for text in judged.values())
    verified(archive)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[tuple[str, ...]]:
    """What to put before a command so that the folder `full` below `tmp_path` is a disk of 300 KB."""
    folder = tmp_path / "full"
    folder.mkdir()
    keep = f'cp -a "{folder}/." "{tmp_path}/left/"'
    mount = f'mount -t tmpfs -o size=300k tmpfs "{folder}" && "$@"; code=$?; {keep}; exit $code'
    (tmp_path / "left").mkdir()
    before = ("unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", "-c", mount, "sh")
    tried = (
        shutil.which("unshare")
        and subprocess.run([*before, "true"], capture_output=True, check=False).returncode == 0
    )
    if not tried:
        pytest.skip("no private mounts here: a full disk cannot be made")
    yield before


@pytest.mark.process
def test_a_full_disk_is_said_and_what_was_stored_is_whole(
    undisturbed: Undisturbed, tmp_path: Path, small_disk: tuple[str, ...]
) -> None:
    """A run that fills the disk ends with a plain error; what it stored is whole, and goes on where there is room."""
    said = backline(
        "batch",
        undisturbed.cases,
        "--archive",
        tmp_path / "full" / "archive",
        codes=(6,),
        before=small_disk,
    )
    assert "No space left" in said
    left = tmp_path / "left" / "archive"
    assert 0 < len(packs(left)) < COUNT
    verified(left)
    assert documents(left).items() <= undisturbed.documents.items()
    backline("batch", undisturbed.cases, "--archive", left)
    assert documents(left) == undisturbed.documents


def _read_only(folder: Path) -> tuple[str, ...]:
    """Return what to put before a command so that it sees `folder` read-only; skips where that cannot be made."""
    if os.geteuid() != 0:
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        return ()
    before = (
        "unshare",
        "-m",
        "sh",
        "-c",
        f'mount --bind "{folder}" "{folder}" && mount -o remount,bind,ro "{folder}" && "$@"',
        "sh",
    )
    if (
        not shutil.which("unshare")
        or subprocess.run([*before, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("root, and no private mounts: nothing can be made read-only")
    return before


@pytest.mark.process
def test_a_read_only_archive_is_read_and_a_batch_into_it_refused(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """A read-only archive can be listed, searched and verified; a batch into it ends with one plain line."""
    archive = tmp_path / "archive"
    shutil.copytree(undisturbed.archive, archive)
    shutil.rmtree(archive / "tmp", ignore_errors=True)
    shutil.copytree(undisturbed.cases, tmp_path / "cases")
    write_cases(tmp_path / "more", 1, seed=9)
    before = _read_only(archive)
    try:
        said = backline("archive", "list", "--archive", archive, before=before)
        assert "case-000000" in said
        backline(
            "archive", "sql", "--archive", archive, "select count(*) from findings", before=before
        )
        backline("archive", "verify", "--archive", archive, codes=(0,), before=before)
        refused = backline(
            "batch", tmp_path / "more", "--archive", archive, codes=(6,), before=before
        )
        assert "Read-only file system" in refused or "Permission denied" in refused
        assert refused.count("\n") < 20
    finally:
        if not before:
            for path in [archive, *archive.rglob("*")]:
                path.chmod(0o755 if path.is_dir() else 0o644)
    assert documents(archive) == undisturbed.documents
