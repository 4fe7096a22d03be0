"""What answers leave out although nobody can tell is said beside them, and odd words on the command line are refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from analyzer.archive.entry import MANIFEST
from analyzer.archive.store import Archive
from analyzer.archive.upkeep.compaction import compact_archive
from analyzer.archive.upkeep.verification import verify_archive
from analyzer.commands import plain
from tests.kit.ask_kit import FORMS, filled, in_form, run
from tests.kit.batch_kit import ROOT, backline, said, session, small_cases, write

RULE = "pnic-loses-packets"


@pytest.fixture(scope="module", params=FORMS)
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of six cases, loose and compacted."""
    return in_form(request.param, tmp_path_factory.mktemp("archive") / "a")


def test_a_refused_case_has_no_counts(archive: Path) -> None:
    """Of a case that was not read nothing is counted: no zero under «cannot tell», which would look like clean."""
    line = run("list", "--archive", archive, "--state", "refused").stdout.splitlines()[1]
    assert line.split()[-2:] == ["-", "-"]
    one = json.loads(run("list", "--archive", archive, "--state", "refused", "--json").stdout)
    assert [one[key] for key in ("critical", "info", "cannot_tell")] == [None, None, None]


def test_worst_first_puts_what_was_not_read_before_what_was_found_clean(archive: Path) -> None:
    """Sorted by the worst, a refused case stands before those in which nothing was found."""
    rows = [
        json.loads(line)
        for line in run(
            "list", "--archive", archive, "--sort", "worst", "--json"
        ).stdout.splitlines()
    ]
    clean = [
        number for number, row in enumerate(rows) if row["state"] != "refused" and not row["worst"]
    ]
    refused = [number for number, row in enumerate(rows) if row["state"] == "refused"]
    assert clean and max(refused) < min(clean)


def test_a_list_by_rule_says_where_the_rule_cannot_tell(archive: Path) -> None:
    """Cases without a finding of a rule are not clean of it: doubtful and unjudged ones are told."""
    told = run("list", "--archive", archive, "--rule", RULE).stderr
    assert (
        f"more, the rule cannot tell (`backline archive search --rule {RULE} --unknown` lists them)"
        in told
    )
    assert "1 case not judged by it" in told
    done = run("list", "--archive", archive, "--rule", "pnic-lose-packets")
    assert (
        done.exit_code == 2 and "judged none of these cases" in done.stderr and RULE in done.stderr
    )
    assert (
        run(
            "export", "--all", "--rule", "nope", "--archive", archive, "-o", archive.parent / "x"
        ).exit_code
        == 2
    )


def test_a_list_says_that_it_is_empty_and_whom_the_time_left_out(archive: Path) -> None:
    """No row is told in words; a case without a time is in no stretch of time, and is counted."""
    done = run("list", "--archive", archive, "--since", "2030")
    assert done.stderr.splitlines() == ["no case matches", "1 case left out: no time is known"]
    assert run("list", "--archive", archive, "--limit", "9").stderr == ""


@pytest.mark.parametrize(
    "words",
    [
        ("nodes: complete",),
        ("--text", "connectivity"),
        ("--by", "month"),
        ("esxi.vnic: adapter == 'x'",),
    ],
)
def test_a_search_tells_how_many_cases_could_not_be_read(
    archive: Path, words: tuple[str, ...]
) -> None:
    """Whatever is searched, a refused case is no case without a hit; with --since one without a time is none either."""
    assert "1 case could not be read" in run("search", "--archive", archive, *words).stdout
    told = run("search", "--archive", archive, *words, "--since", "2024").stdout
    assert "1 case left out: no time is known" in told and "could not be read" not in told


def test_a_search_of_a_rule_counts_a_refused_case_once(archive: Path) -> None:
    """A case that was refused could not be read: it is told so, and not a second time as not judged by the rule."""
    told = run("search", "--archive", archive, "--rule", RULE).stdout
    assert "1 case could not be read" in told and "not judged by it" not in told


@pytest.mark.parametrize(
    ("until", "count"),
    [
        ("9999", 5),
        ("9999-12", 5),
        ("9999-12-31", 5),
        ("2024-01-05T10:00:01+02:00", 1),
        ("2024-01-05T09:59+0200", 0),
    ],
)
def test_times_at_the_end_of_the_calendar_and_of_other_zones(
    archive: Path, until: str, count: int
) -> None:
    """The last year is a time, and a moment may be given as it stands on a clock of another zone."""
    done = run("list", "--archive", archive, "--until", until, "--csv")
    assert done.exit_code == 0 and len(done.stdout.splitlines()) == count + 1


def test_an_undecodable_word_is_refused(archive: Path) -> None:
    """A byte that is no text is told as one, whichever option holds it; it is no internal error."""
    for words in (
        ("list", "--name", "a\udcff*"),
        ("search", "--text", "\udcff"),
        ("search", "nodes: node == '\udcff'"),
    ):
        done = run(*words, "--archive", archive)
        assert done.exit_code == 2 and "contains a byte that is not text" in done.stderr
    assert run("list", "--archive", archive, "--limit", "9" * 30).exit_code == 0


def test_an_archive_without_a_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unset variable of a shell does not mean the current folder."""
    monkeypatch.chdir(tmp_path)
    code, _, err = said(
        backline("batch", ROOT / "samples" / "cases" / "lab-ring-before", "--archive", "")
    )
    assert (code, list(tmp_path.iterdir())) == (2, [])
    assert "no archive given" in err


def test_judging_again_needs_an_archive(tmp_path: Path) -> None:
    """Without a PATH a wrong name of the archive is an error, and no empty success."""
    code, _, err = said(backline("batch", "--archive", tmp_path / "nope"))
    assert code == 3 and "this is not a case archive" in err and not (tmp_path / "nope").exists()


def test_only_a_reader_who_has_gone_ends_a_command_quietly(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A broken pipe to a process of our own, while the reader is there, is an error and no success."""
    script = (
        "import click, sys\n"
        "from analyzer.commands.plain import speaks_plainly\n"
        "@click.command()\n@speaks_plainly\ndef one():\n    raise BrokenPipeError(32, 'Broken pipe')\n"
        "one()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == plain.INTERNAL and "internal error (BrokenPipeError" in done.stderr


@pytest.mark.process
def test_no_word_of_the_database_at_a_damaged_archive(tmp_path: Path) -> None:
    """A damaged case is told in our words; what the database has to say when Python ends is not seen."""
    folder = tmp_path / "a"
    stored = filled(folder)
    name = next(
        item.name for item in stored.objects.list("packs/") if item.name.endswith(".full.zip")
    )
    os.truncate(folder / name, 100)
    code, _, err = said(backline("archive", "list", "--limit", "1", "--archive", folder))
    assert code == 5 and "not complete: packs/" in err and "nanobind" not in err
    err = said(backline("archive", "heatmap", "-o", tmp_path / "map", "--archive", folder))[2]
    assert err.count("not complete: packs/") == 1


@pytest.mark.process
def test_the_advice_for_a_damaged_case_brings_it_back(tmp_path: Path) -> None:
    """A batch takes a damaged case as done while it lies there: verify says to delete it first, and that helps."""
    small_cases(tmp_path / "cases", 2)
    batch = ("batch", tmp_path / "cases", "--archive", tmp_path / "a")
    assert said(backline(*batch))[0] == 0
    name = next(item.name for item in Archive.open(tmp_path / "a").objects.list("packs/"))
    os.truncate(tmp_path / "a" / name, 100)
    problem = verify_archive(Archive.open(tmp_path / "a")).problems[0]
    assert problem.object == name and "delete this object, then run the batch" in problem.do
    (tmp_path / "a" / name).unlink()
    assert said(backline(*batch))[1].startswith("2 cases: 1 done before, 1 read")
    assert verify_archive(Archive.open(tmp_path / "a")).problems == []


@pytest.mark.size
def test_a_lost_manifest_is_a_problem_and_its_cases_are_not_swept(tmp_path: Path) -> None:
    """A segment without its manifest whose cases lie nowhere else is no debris; every answer says that it is incomplete."""
    stored = filled(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "loose")
    assert compact_archive(stored, older_than=0).cases == 6
    holder = next(item.name for item in stored.objects.list("segments/")).rpartition("/")[0]
    shutil.copytree(tmp_path / "a" / holder, tmp_path / "loose" / holder)
    for folder in ("a", "loose"):
        (tmp_path / folder / holder / MANIFEST).unlink()
    found = verify_archive(Archive.open(tmp_path / "a")).problems
    assert [(one.object, one.what) for one in found] == [
        (holder, "its manifest is gone, and 6 of its cases exist nowhere else")
    ]
    for words in (
        ("list",),
        ("search", "--text", "nothing like it"),
        ("sql", "select count(*) from cases"),
        ("heatmap",),
    ):
        asked = run(*words, "--archive", tmp_path / "a")
        assert asked.exit_code == 5, asked.stderr
        assert (
            f"{holder}/{MANIFEST} cannot be read: it is gone, and 6 of its cases exist nowhere else"
            in asked.stderr
        )
    assert "not complete" not in run("list", "--archive", tmp_path / "loose").stderr
    compact_archive(Archive.open(tmp_path / "a"), older_than=0)
    assert (tmp_path / "a" / holder / "_documents.parquet").exists()
    assert not any(
        one.object == holder for one in verify_archive(Archive.open(tmp_path / "loose")).problems
    )  # written by a compaction that was killed
    compact_archive(Archive.open(tmp_path / "loose"), older_than=0)
    assert not (tmp_path / "loose" / holder).exists()


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text elsewhere")
def test_a_case_with_an_undecodable_name_is_sound(tmp_path: Path) -> None:
    """A name with bytes that are no text is kept as it is told; verify takes the case for what it is."""
    folder = tmp_path / "cases" / os.fsdecode(b"bad\xff")
    folder.mkdir(parents=True)
    write(folder / os.fsdecode(b"sess\xfeion.txt"), session(1))
    assert said(backline("batch", tmp_path / "cases", "--archive", tmp_path / "a"))[0] == 0
    report = verify_archive(Archive.open(tmp_path / "a"))
    assert (report.cases, report.problems) == (1, [])


def test_choices_of_the_help_have_no_empty_one() -> None:
    """The help lists the words that can be given, and nothing before the first bar."""
    for name in ("list", "export"):
        told = run(name, "--help").stdout
        assert "[critical|major|warning|info]" in told and "[|" not in told


def test_a_heat_map_without_marks_has_no_legend_of_marks(tmp_path: Path) -> None:
    """Of an archive without a case no sentence begins with a full stop."""
    Archive.open(tmp_path / "a", create=True)
    told = run("heatmap", "--archive", tmp_path / "a").stdout
    assert "No cases." in told and "A number counts" not in told
