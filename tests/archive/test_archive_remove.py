"""`backline archive remove`: a case is gone with its revisions and labels, and no other case is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.archive.labels import current_labels
from analyzer.archive.store import Archive
from analyzer.archive.upkeep import removal
from analyzer.archive.upkeep.compaction import CLAIM, compact_archive
from analyzer.runtime.errors import BacklineError
from tests.kit.ask_kit import Host, filled, id_of, in_form, put, run
from tests.kit.batch_kit import backline, said, session, write

FORMS = ("packs", "segments")


def names(archive: Path) -> list[str]:
    """Return the names of the cases that are listed."""
    return sorted(
        line.split(",")[0]
        for line in run("list", "--archive", archive, "--csv").stdout.splitlines()[1:]
    )


def faults(archive: Path) -> set[str]:
    """Return what `verify` complains of, without the names of objects."""
    lines = run("verify", "--archive", archive).stdout.splitlines()
    return {line.partition(": ")[2] for line in lines if ": " in line}


def bytes_of(archive: Path) -> bytes:
    """Return all bytes below an archive."""
    return b"".join(path.read_bytes() for path in sorted(archive.rglob("*")) if path.is_file())


@pytest.mark.size
@pytest.mark.parametrize("form", FORMS)
def test_a_case_is_gone_and_the_others_stay(tmp_path: Path, form: str) -> None:
    """Its labels go with it, the reports of the others are the same to the byte, and verify has nothing to say."""
    archive = in_form(form, tmp_path / "archive")
    for case in ("bert-1", "acme-1"):
        words = ("label", case, "beacon-probing", "--archive", archive, "--confirm", "--force")
        assert run(*words).exit_code == 0
    told = faults(archive)  # the facts of made-up cases are not all there
    before = {
        name: run("show", name, "--archive", archive, "--format", "json").stdout
        for name in ("acme-1", "acme-2")
    }
    done = run("remove", "bert-1", "--archive", archive, "--yes")
    assert done.exit_code == 0
    assert (
        done.stdout.splitlines()[0]
        == f"removed: bert-1  {id_of('bert-1')[:12]}  (1 revision, 1 label)"
    )
    assert ("5 other cases in the same segment were rewritten" in done.stdout) == (
        form == "segments"
    )
    assert "not touched: /cases/bert-1" in done.stderr
    assert names(archive) == ["acme-1", "acme-2", "acme-3", "bert-2", "bert-3"]
    assert [label.id for label in current_labels(Archive.open(archive))] == [id_of("acme-1")]
    for name, text in before.items():
        assert run("show", name, "--archive", archive, "--format", "json").stdout == text
    assert faults(archive) <= told
    assert b"host-e" not in bytes_of(archive)
    assert run("show", "bert-1", "--archive", archive).exit_code == 2


@pytest.mark.parametrize("form", FORMS)
def test_earlier_revisions_go_with_it(tmp_path: Path, form: str) -> None:
    """What was read from the same source before does not come back when the newest is gone."""
    archive = filled(tmp_path / "archive")
    put(archive, "acme-1", [Host("host-z")], content="second")
    if form == "segments":
        compact_archive(archive, older_than=0)
    done = run("remove", id_of("acme-1", "second")[:12], "--archive", tmp_path / "archive", "--yes")
    assert done.stdout.count("removed: acme-1") == 2
    assert "acme-1" not in names(tmp_path / "archive")
    assert b"host-z" not in bytes_of(tmp_path / "archive")


def test_without_yes_it_says_what_and_asks(tmp_path: Path) -> None:
    """Where nobody can answer nothing is removed; what would be is said."""
    archive = in_form("packs", tmp_path / "archive")
    done = run("remove", "bert-1", "acme-2", "--archive", archive)
    assert done.exit_code == 2
    assert "to be removed: acme-2" in done.stderr
    assert "to be removed: bert-1" in done.stderr
    assert "Add --yes" in done.stderr
    assert len(names(archive)) == 6


def test_a_no_keeps_the_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal, anything but a yes keeps it; a yes removes it."""
    archive = in_form("packs", tmp_path / "archive")
    monkeypatch.setattr("analyzer.commands.archive_remove.can_answer", lambda: True)
    done = run("remove", "bert-1", "--archive", archive, stdin="n\n")
    assert done.exit_code == 0
    assert "nothing was removed" in done.stderr
    assert "bert-1" in names(archive)
    assert run("remove", "bert-1", "--archive", archive, stdin="y\n").exit_code == 0
    assert "bert-1" not in names(archive)


def test_a_name_that_is_no_case_removes_nothing(tmp_path: Path) -> None:
    """One wrong name among right ones stops all of it."""
    archive = in_form("packs", tmp_path / "archive")
    assert run("remove", "bert-1", "bert-9", "--archive", archive, "--yes").exit_code == 2
    assert len(names(archive)) == 6


def test_it_waits_for_nobody_and_breaks_nothing(tmp_path: Path) -> None:
    """While a compaction is at work, or when a case beside it cannot be read, all cases stay."""
    place = in_form("segments", tmp_path / "archive")
    archive = Archive.open(place)
    other = Archive.open(place)
    assert other.claims.take_claim(CLAIM)
    cases = [archive.take_snapshot().find_case("bert-1")]
    with pytest.raises(BacklineError, match="compaction is at work"):
        removal.remove_cases(archive, cases)
    other.claims.release_claim(CLAIM)
    for path in (place / "segments").rglob("*.parquet"):
        path.write_bytes(path.read_bytes()[:-9] + b"x" * 9)
    with pytest.raises(BacklineError, match="rewritten"):
        removal.remove_cases(archive, cases)
    assert len(Archive.open(place).take_snapshot().list_visible_cases()) == 6


@pytest.mark.process
def test_the_checksums_of_its_files_are_forgotten(tmp_path: Path) -> None:
    """After a batch the paths of a removed case stand nowhere in the archive; the next batch stores it again."""
    for number, name in enumerate(("one", "two")):
        write(tmp_path / "cases" / name / "session.txt", session(number))
    command = ("batch", tmp_path / "cases", "--archive", tmp_path / "archive", "--quiet")
    assert said(backline(*command))[0] == 0
    assert run("remove", "one", "--archive", tmp_path / "archive", "--yes").exit_code == 0
    hashes = b"".join(path.read_bytes() for path in (tmp_path / "archive" / "hashes").iterdir())
    assert b"cases/one/" not in hashes
    assert b"cases/two/" in hashes
    assert said(backline(*command))[0] == 0
    assert names(tmp_path / "archive") == ["one", "two"]
