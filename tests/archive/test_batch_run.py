"""What a batch does with its cases, in one process: nothing twice, nothing lost, no bundle opened without need."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from analyzer.archive.batches import batch as module
from analyzer.archive.batches.jobs import FAIL, GONE, HASH, JUDGE, READ, Done, Job, Result, Work
from analyzer.archive.batches.plan import Wishes
from analyzer.archive.batches.run_config import RunConfig
from analyzer.archive.batches.runner import Runner, start_processes
from analyzer.archive.batches.work import do_job
from analyzer.archive.query import ask
from analyzer.archive.store import Archive
from analyzer.archive.upkeep.compaction import compact_archive
from analyzer.archive.upkeep.verification import verify_archive
from analyzer.case import case_file
from analyzer.pipeline.triage import Options, triage
from analyzer.rules.run_catalog import Local
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.limits import Limits
from tests.kit.batch_kit import (
    LOG,
    LONG_AGO,
    RULE,
    Here,
    batch,
    documents,
    metas,
    packs,
    session,
    small_cases,
    write,
)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Three cases and their archive; tests work on a copy."""
    top = tmp_path_factory.mktemp("stored")
    cases = small_cases(top / "cases", 2)
    write(cases / "case-log" / "vmkernel.log", LOG.format(number=1) * 3)
    batch(top / "archive", cases)
    return cases, top / "archive"


@pytest.fixture
def copy(stored: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """The cases where they were stored from, and an archive that may be changed."""
    shutil.copytree(stored[1], tmp_path / "archive")
    return stored[0], tmp_path / "archive"


def rules(
    folder: Path, name: str, words: str = "link of (?P<nic>vmnic\\d+) went"
) -> tuple[Path, ...]:
    """Write a folder with one rule on the made-up log lines."""
    write(folder / f"{name}.yaml", RULE.format(name=name, words=words))
    return (folder,)


def fresh(path: Path, kb: tuple[Path, ...] = ()) -> str:
    """Return the case document of a triage of one path."""
    return case_file.write_case(triage([path], Options(kb=kb, local=Local(packs=False))).document)


@pytest.mark.size
def test_nothing_is_written_outside_the_archive(
    copy: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Storing, judging again, asking, verifying and compacting use no temporary folder of the system."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "not there"))
    cases, place = copy
    batch(tmp_path / "new", cases)
    summary, _ = batch(place, cases, kb=rules(tmp_path / "kb", "made-up"))
    assert summary.judged == 3
    archive = Archive.open(place)
    answer = ask.run_sql(archive, "SELECT count(*) FROM cases")
    assert [list(row) for row in answer.rows] == [[3]]
    answer.close()
    assert not verify_archive(archive).problems
    compact_archive(archive, all=True)
    assert not list((place / "tmp").iterdir())


def test_what_is_stored_is_what_triage_gives(stored: tuple[Path, Path]) -> None:
    """The stored case document is that of `triage`, byte for byte, and its meta tells of its source."""
    cases, archive = stored
    assert documents(archive) == {path.name: fresh(path) for path in sorted(cases.iterdir())}
    meta = metas(archive)["case-log"]
    assert (meta["state"], meta["source"], meta["files"]) == ("ok", str(cases / "case-log"), 1)
    one_file = [
        "esxi.event",
        "esxi.purple_screen",
        "esxi.scsi_error",
        "esxi.vmkernel",
    ]  # events are told there too
    assert meta["logs"] == one_file


_OPENED: list[str] = []


def _note(event: str, details: tuple[object, ...]) -> None:
    if event == "open":
        _OPENED.append(str(details[0]))


sys.addaudithook(_note)


def test_a_second_run_opens_nothing_and_writes_nothing(copy: tuple[Path, Path]) -> None:
    """A second run neither opens a file of a case nor writes an object, and starts no job."""
    cases, archive = copy
    before = packs(archive)
    _OPENED.clear()
    summary, here = batch(archive, cases)
    assert (summary.found, summary.done, summary.read, here.jobs) == (3, 3, 0, [])
    assert packs(archive) == before
    assert [path for path in _OPENED if path.startswith(str(archive))], (
        "the hook sees what is opened"
    )
    assert not [path for path in _OPENED if path.startswith(str(cases))]
    assert not [path for path in _OPENED if path.endswith(".zip")]


def test_without_known_hashes_files_are_hashed_and_no_more(copy: tuple[Path, Path]) -> None:
    """When the cache of hashes is lost, or --checksum asks for it, stored cases are hashed and not read again."""
    cases, archive = copy
    before = packs(archive)
    for wishes in (Wishes(checksum=True), None):
        shutil.rmtree(archive / "hashes")
        summary, here = batch(archive, cases, wishes=wishes)
        assert (here.acts, summary.done, summary.read) == ([HASH] * 3, 3, 0)
    assert packs(archive) == before
    assert batch(archive, cases)[1].jobs == []


def test_checksum_sees_content_that_size_and_time_hide(tmp_path: Path) -> None:
    """A file with other content, but the size and time it had, is noticed with --checksum only."""
    cases = small_cases(tmp_path / "cases", 1)
    file = cases / "case-000" / "session.txt"
    batch(tmp_path / "archive", cases)
    write(file, session(0).replace("7129", "7130"))
    assert batch(tmp_path / "archive", cases)[0].done == 1
    summary, here = batch(tmp_path / "archive", cases, wishes=Wishes(checksum=True))
    assert (here.acts, summary.read, summary.superseded) == ([HASH, READ], 1, 1)


def test_new_content_of_a_place_takes_the_place_of_the_old(tmp_path: Path) -> None:
    """A, then B, then A again at one place: the visible case is always the one that lies there."""
    cases = small_cases(tmp_path / "cases", 1)
    archive, file = tmp_path / "archive", cases / "case-000" / "session.txt"
    texts = [session(0), session(1), session(0)]
    seen = []
    for number, text in enumerate(texts):
        write(file, text, LONG_AGO + number)
        summary, here = batch(archive, cases)
        assert summary.superseded == (number > 0)
        assert documents(archive) == {"case-000": fresh(cases / "case-000")}
        seen.append(here.acts)
    assert seen[2] == [HASH, JUDGE], "A was stored: its facts are still there"
    assert len(Archive.open(archive).take_snapshot().list_every_case()) == 2


def test_one_content_at_two_places(tmp_path: Path) -> None:
    """A copy of a case under the same name elsewhere is stored for its place; both stay visible as one case."""
    for place in ("a", "b"):
        write(tmp_path / place / "case" / "session.txt", session(0))
    batch(tmp_path / "archive", tmp_path / "a")
    batch(tmp_path / "archive", tmp_path / "b")
    summary, here = batch(tmp_path / "archive", tmp_path / "a", tmp_path / "b")
    assert (summary.done, here.jobs) == (2, [])
    assert len(Archive.open(tmp_path / "archive").take_snapshot().list_visible_cases()) == 1


@pytest.mark.size
def test_new_rules_are_applied_without_a_bundle(stored: tuple[Path, Path], tmp_path: Path) -> None:
    """With other rules the stored cases are judged again although their bundles are gone, as a fresh triage would."""
    cases, archive = tmp_path / "cases", tmp_path / "archive"
    kb = rules(tmp_path / "kb", "made-up")
    shutil.copytree(stored[0], cases)
    batch(archive, cases, kb=kb)
    write(tmp_path / "kb" / "made-up.yaml", RULE.format(name="made-up", words="link of (?P<nic>vmnic\\d+) went")
          .replace("severity: warning", "severity: critical"))  # fmt: skip
    expected = {path.name: fresh(path, kb) for path in sorted(cases.iterdir())}
    assert any('"severity":"critical"' in text.replace(": ", ":") for text in expected.values())
    for path in cases.rglob("*.*"):
        size, time = path.stat().st_size, path.stat().st_mtime_ns
        path.write_bytes(b"\0" * size)
        os.utime(path, ns=(time, time))
    summary, here = batch(archive, cases, kb=kb)
    assert (here.acts, summary.judged, summary.read) == ([JUDGE], 3, 0)
    assert documents(archive) == expected
    assert batch(archive, cases, kb=kb)[0].done == 3


@pytest.mark.size
def test_the_whole_archive_is_judged_again_without_paths(
    copy: tuple[Path, Path], tmp_path: Path
) -> None:
    """Without PATHs every stored case is judged by the rules of now, and keeps the place it came from."""
    _, archive = copy
    before = metas(archive)
    kb = rules(tmp_path / "kb", "made-up")
    summary, here = batch(archive, kb=kb)
    assert (here.acts, summary.found, summary.judged) == ([JUDGE], 3, 3)
    after = metas(archive)
    assert {name: meta["source"] for name, meta in after.items()} == {
        n: m["source"] for n, m in before.items()
    }
    assert batch(archive, kb=kb)[0].done == 3
    assert batch(archive, kb=kb, reading="0" * 12)[0].stale == 0, "what is done is not stale"
    assert batch(archive, kb=kb, reading="0" * 12, judging="1" * 12)[0].stale == 3


@pytest.mark.size
def test_a_signature_that_was_not_searched_is_told_and_rescan_reads_only_what_must_be(
    copy: tuple[Path, Path], tmp_path: Path
) -> None:
    """A rule that searches something new cannot tell of stored cases with that log; --rescan reads only those."""
    cases, archive = copy
    kb = rules(tmp_path / "kb", "made-up")
    summary, _ = batch(archive, cases, kb=kb)
    assert dict(summary.unsearched) == {"made-up/hit": 1}
    assert "made-up" in str(
        documents(archive)["case-log"].partition('"cannot_tell"')[2].partition('"quiet"')[0]
    )
    summary, here = batch(archive, cases, kb=kb, wishes=Wishes(rescan=True))
    assert [work.name for job in here.jobs for work in job.works] == ["case-log"]
    assert (summary.read, summary.read_again, summary.done) == (1, 1, 2)
    assert documents(archive) == {path.name: fresh(path, kb) for path in sorted(cases.iterdir())}
    assert batch(archive, cases, kb=kb, wishes=Wishes(rescan=True))[1].jobs == []


def test_other_limits_of_reading_read_again(copy: tuple[Path, Path]) -> None:
    """Another limit that changes what is read means reading again; one of rule time means nothing."""
    cases, archive = copy
    summary, _ = batch(archive, cases, limits=replace(Limits(), rule_seconds=59))
    assert summary.done == 3


def test_refused_cases_are_stored_with_the_reason_and_not_tried_again(tmp_path: Path) -> None:
    """An unreadable upload is stored as refused with its reason; only --retry tries it again."""
    write(
        tmp_path / "cases" / "page.tgz",
        "<!DOCTYPE html><html><head></head><body>session expired</body></html>",
    )
    write(tmp_path / "cases" / "good" / "session.txt", session(0))
    archive = tmp_path / "archive"
    summary, _ = batch(archive, tmp_path / "cases")
    assert (summary.read, summary.refused) == (2, 1)
    assert "HTML" in summary.troubles[0].why
    assert metas(archive)["page.tgz"]["state"] == "refused"
    summary, here = batch(archive, tmp_path / "cases")
    assert (summary.no_result, summary.done, here.jobs) == (1, 1, [])
    summary, here = batch(archive, tmp_path / "cases", wishes=Wishes(retry=True))
    assert (here.acts, summary.refused) == ([READ], 1)


def test_a_cut_bundle_is_partial_and_says_where(tmp_path: Path) -> None:
    """A cut archive is stored as partial, and the summary names the place."""
    whole = next(Path("samples/cases/slow-storage").glob("*.tgz")).read_bytes()
    write(tmp_path / "cases" / "cut.tgz", whole[: len(whole) * 2 // 3])
    summary, _ = batch(tmp_path / "archive", tmp_path / "cases")
    assert (summary.partial, summary.troubles[0].state) == (1, "partial")
    assert "cut.tgz" in summary.troubles[0].why


def test_a_fault_of_ours_fails_that_case_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exception in one case is stored as failed with its place; the others are read."""
    cases = small_cases(tmp_path / "cases", 3)
    import analyzer.pipeline.triage as pipeline

    real = pipeline.read_case

    def breaks(paths: list[Path], *rest: object) -> object:
        if "case-001" in str(paths[0]):
            raise ZeroDivisionError("made up")
        return real(paths, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "read_case", breaks)
    summary, _ = batch(tmp_path / "archive", cases)
    assert (summary.read, summary.failed) == (3, 1)
    assert metas(tmp_path / "archive")["case-001"]["state"] == "failed"
    assert "test_batch_run.py" in summary.troubles[0].why
    assert batch(tmp_path / "archive", cases)[0].no_result == 1
    monkeypatch.undo()
    summary, _ = batch(tmp_path / "archive", cases, wishes=Wishes(retry=True))
    assert (summary.read, summary.failed) == (1, 0)
    assert len(documents(tmp_path / "archive")) == 3


def test_rules_that_change_while_a_run_goes_on_end_it(tmp_path: Path) -> None:
    """A process that sees other rules than the command ends the run with a plain error, and stores nothing."""
    cases = small_cases(tmp_path / "cases", 1)
    with pytest.raises(BacklineError, match="other rules or settings"):
        batch(tmp_path / "archive", cases, catalog="0" * 64)
    assert packs(tmp_path / "archive") == []


def test_facts_that_cannot_be_read_back_are_read_anew(
    copy: tuple[Path, Path], tmp_path: Path
) -> None:
    """A damaged pack does not stop judging again: its case is read from its source."""
    cases, archive = copy
    pack = next(path for path in archive.glob("packs/*/*.zip") if "case-001" in _name_of(path))
    pack.write_bytes(pack.read_bytes()[:200])
    kb = rules(tmp_path / "kb", "made-up")
    summary, _ = batch(archive, cases, kb=kb)
    assert (summary.judged, summary.read, summary.failed) == (2, 1, 0)
    assert documents(archive)["case-001"] == fresh(cases / "case-001", kb)


def _name_of(pack: Path) -> str:
    import zipfile

    return zipfile.ZipFile(pack).read("meta.json").decode()


class Disturbed(Here):
    """A runner in which another run stores a case while this one is at its first."""

    def __init__(self, config: RunConfig, other: Callable[[], None]) -> None:
        super().__init__(config)
        self.other: Callable[[], None] | None = other

    def run(self, jobs: Iterator[Job]) -> Iterator[Done]:
        """Do jobs; before the first, let the other run go ahead."""
        for job in jobs:
            if self.other is not None:
                other, self.other = self.other, None
                other()
            self.jobs.append(job)
            yield do_job(job, self.config)


def test_a_case_of_another_run_is_left_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A case that another run at work has claimed is not read here; when it is stored, it counts as done by others."""
    monkeypatch.setattr(module, "WAIT", 0.01)
    cases, archive = small_cases(tmp_path / "cases", 3), tmp_path / "archive"
    theirs = Archive.open(archive, create=True)
    real = Archive.claim_case
    taken: list[str] = []

    def claim(self: Archive, case: str) -> bool:
        if len(taken) < 1:
            taken.append(case)
            real(theirs, case)
        return real(self, case)

    monkeypatch.setattr(Archive, "claim_case", claim)

    def other() -> None:
        monkeypatch.setattr(Archive, "claim_case", real)
        first = tmp_path / "cases" / "case-000"
        batch(archive, first.parent, runner=lambda config: Only(config, "case-000"))
        theirs.release_case(taken[0])

    summary, _ = batch(archive, cases, runner=lambda config: Disturbed(config, other))
    assert summary.others == 1
    assert summary.read == 2
    assert len(packs(archive)) == 3


class Only(Here):
    """A runner that does the jobs of one case and leaves the rest."""

    def __init__(self, config: RunConfig, name: str) -> None:
        super().__init__(config)
        self.name = name

    def run(self, jobs: Iterator[Job]) -> Iterator[Done]:
        """Do what is asked for."""
        del jobs
        from analyzer.archive.batches.find import cases_in

        top = Path(self.config.archive).parent / "cases"
        found = next(one for one in cases_in([str(top)]) if one.name == self.name)
        yield do_job(
            Job(0, READ, (Work(found.name, found.source, found.paths, found.disk_size),)),
            self.config,
        )
        raise KeyboardInterrupt


def test_a_case_whose_process_died_twice_is_stored_as_failed(tmp_path: Path) -> None:
    """What the runner tells of a dead process is stored as the reason; the next run does not try it."""
    cases, archive = small_cases(tmp_path / "cases", 2), tmp_path / "archive"

    class Dying(Here):
        def run(self, jobs: Iterator[Job]) -> Iterator[Done]:
            for job in jobs:
                self.jobs.append(job)
                work = job.works[0]
                if work.name == "case-000" and job.act == READ:
                    yield Done(
                        job.number,
                        job.act,
                        (Result(work.source, work.name, "lost", "the process died"),),
                    )
                else:
                    yield do_job(job, self.config)

    summary, here = batch(archive, cases, runner=Dying)
    assert sorted(here.acts) == [FAIL, READ, READ]
    assert (summary.failed, summary.troubles[0].why) == (1, "the process died")
    assert metas(archive)["case-000"]["state"] == "failed"
    assert batch(archive, cases)[0].no_result == 1


def test_pieces_of_one_file_are_stored_under_its_name(tmp_path: Path) -> None:
    """A case that came in fragments has the name of the file they make, and is known again."""
    text = session(0)
    write(tmp_path / "cases" / "whole.txt.FRAG-00000", text[:100])
    write(tmp_path / "cases" / "whole.txt.FRAG-00001", text[100:])
    archive = tmp_path / "archive"
    batch(archive, tmp_path / "cases")
    assert list(documents(archive)) == ["whole.txt"]
    assert batch(archive, tmp_path / "cases")[0].done == 1


def test_an_archive_inside_a_case_is_noticed(tmp_path: Path) -> None:
    """An archive in the folder of a case would be read as a part of it: the case is named."""
    from analyzer.archive.batches.find import cases_in

    cases = small_cases(tmp_path, 2)
    found = list(cases_in([str(cases)]))
    assert module.find_enclosing_case(str(cases / "case-001" / "archive"), found) == found[1]
    assert module.find_enclosing_case(str(cases / "archive"), found) is None


def test_a_job_that_died_among_many_is_found_one_by_one(
    stored: tuple[Path, Path], tmp_path: Path
) -> None:
    """When judging many cases at once kills the process, each is judged by itself and one culprit stays."""
    shutil.copytree(stored[1], tmp_path / "archive")
    kb = rules(tmp_path / "kb", "made-up")
    runner: list[Runner] = []

    def pool(config: RunConfig) -> Runner:
        runner.append(start_processes(config, 1, do=dies_at_the_log))
        return runner[0]

    summary, _ = batch(tmp_path / "archive", stored[0], kb=kb, runner=pool)
    assert (summary.judged, summary.failed) == (2, 1)
    assert "died" in summary.troubles[0].why
    assert summary.troubles[0].name == "case-log"


def dies_at_the_log(job: Job, config: RunConfig) -> Done:
    """Do a job as always, but die where the case with a log is among them."""
    if any(work.name == "case-log" for work in job.works):
        os.abort()
    return do_job(job, config)


def test_a_case_without_facts_and_source_is_told(copy: tuple[Path, Path], tmp_path: Path) -> None:
    """Without PATHs a damaged pack is a failed case in the summary, and the others are judged."""
    _, archive = copy
    pack = next(path for path in archive.glob("packs/*/*.zip") if "case-001" in _name_of(path))
    pack.write_bytes(pack.read_bytes()[:200])
    summary, _ = batch(archive, kb=rules(tmp_path / "kb", "made-up"))
    assert (summary.judged, summary.failed) == (2, 1)
    assert summary.troubles[0].why == "its stored facts cannot be read"
    assert GONE == "gone"
