"""`archive background`: what machines of several sites show all the time. Lines are synthetic."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from analyzer.archive.entry import Entry
from analyzer.archive.packs.encode import encode_case
from analyzer.archive.prints import case_id, source_key
from analyzer.archive.query.background import CalmCase, choose_speakers
from analyzer.archive.store import Archive
from analyzer.cli import main
from analyzer.pipeline.triage import Options, gather_case
from analyzer.signals.kinds import hash_kind
from tests.kit import archive_kit
from tests.kit.ask_kit import run

COMMON = "cannot frobnicate the widget, giving up"
RARE = "cannot gyrate the gimble, giving up"


def write_case(place: Path, host: str, *lines: str) -> Path:
    """Return a transcript of a host whose log has these lines."""
    shown = [f"[root@{host}:~] cat /var/log/vmkernel.log"]
    for second, line in enumerate(lines):
        shown.append(f"2026-01-02T10:00:{second:02}.000Z cpu3:2097)Frobnicator: 11: {line}")
    place.mkdir()
    (place / "session.txt").write_text("\n".join([*shown, ""]), "utf-8")
    return place


def store_case(archive: Archive, place: Path, number: int, age: str = "") -> None:
    """Store a case as read, its signals of this age."""
    material = gather_case([place], archive_kit.catalog().signatures(), Options())
    outcome = archive_kit.judged(material)
    for one in outcome.signals:
        one["age"] = age
    identity, source = case_id(place.name, []), f"/cases/{place.name}"
    entry = Entry(
        identity, source_key(source), "a" * 12, "b" * 12, 1_767_000_000_000 + number, "full"
    )
    archive.put_pack(entry, encode_case(material, outcome, archive_kit.meta_of(place.name)))


def make_archive(folder: Path, hosts: Iterable[str], age: str = "") -> Path:
    """Return an archive with a case of each host; all have one sign, the first has another one too."""
    place = folder / "archive"
    archive = Archive.open(place, create=True)
    for number, host in enumerate(hosts):
        lines = [COMMON, RARE] if not number else [COMMON]
        store_case(archive, write_case(folder / f"case{number}", host, *lines), number, age)
    return place


def write_background(place: Path, file: Path) -> Result:
    """Run the command."""
    return run("background", "--archive", place, "-o", file)


def read_hashes(file: Path) -> list[dict[str, str]]:
    """Return the rows."""
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def triage(*words: object) -> str:
    """Run `backline triage`; return what it prints."""
    done = CliRunner().invoke(main, ["triage", *map(str, words)])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_what_three_healthy_sites_show_ranks_lower(tmp_path: Path) -> None:
    """The kind of three sites goes out and lowers that sign, which is still shown; that of one site does neither."""
    place = make_archive(tmp_path, ["esx01", "esx02", "esx03"])
    file = tmp_path / "own" / "facts" / "background.csv"
    file.parent.mkdir(parents=True)
    assert "no sign is at 3 sites all the time" in write_background(place, file).output
    assert not file.exists()
    for number in range(3):
        run("label", f"case{number}", "healthy", "--confirm", "--archive", place)
    done = write_background(place, file)
    assert done.exit_code == 0, done.output
    assert "1 kind of sign of 3 sites, 3 machines, 3 of them healthy" in done.stdout
    (row,) = read_hashes(file)
    assert row["kind_hash"] == hash_kind("line", "Frobnicator", f"#: {COMMON}")
    assert (row["machines_with"], row["machines_counted"], row["sites_with"]) == ("3", "3", "3")
    text = file.read_text("utf-8")
    assert not any(word in text for word in ("widget", "Frobnicator", "esx0", "case0"))
    new = write_case(tmp_path / "new", "esx09", COMMON, RARE)
    plain = triage(new, "-o", tmp_path / "plain")
    assert plain.index("frobnicate") < plain.index("gyrate")
    lowered = triage(new, "-o", tmp_path / "out", "--kb", tmp_path / "own")
    assert lowered.index("gyrate") < lowered.index("frobnicate")
    assert "in 100 % of 3 healthy machines" in lowered
    assert "2 signs of trouble" in lowered and "2 signs of trouble" in plain


def test_what_was_there_all_along_counts_without_a_label(tmp_path: Path) -> None:
    """Of other cases what was there all along counts, unless the case is called not healthy."""
    place = make_archive(tmp_path, ["esx01", "esx02", "esx03"], "all along")
    file = tmp_path / "background.csv"
    assert write_background(place, file).exit_code == 0
    assert [row["machines_healthy"] for row in read_hashes(file)] == ["0"]
    run("label", "case1", "healthy", "--reject", "--archive", place)
    assert write_background(place, file).exit_code != 0


def test_a_site_counts_once(tmp_path: Path) -> None:
    """Three cases of one machine are one site."""
    place = make_archive(tmp_path, ["esx01", "esx01", "esx01", "esx02"], "steady")
    assert write_background(place, tmp_path / "background.csv").exit_code != 0


def test_one_case_speaks_for_a_site() -> None:
    """A healthy case comes before a newer one; a chain of shared machines is one site; cases without names are one."""
    cases = [
        CalmCase(0, "a", "2026-01-01", healthy=True, machines=2, names={"x", "y"}),
        CalmCase(1, "b", "2026-01-03", healthy=False, machines=2, names={"z"}),
        CalmCase(2, "c", "2026-01-02", healthy=False, machines=2, names={"y", "z"}),
        CalmCase(3, "d", "2026-01-01", healthy=False, machines=1),
        CalmCase(4, "e", "2026-01-02", healthy=False, machines=1),
        CalmCase(5, "f", "2026-01-02", healthy=False, machines=1, names={"w"}),
    ]
    assert [one.id for one in choose_speakers(cases)] == ["a", "e", "f"]
    assert [one.id for one in choose_speakers(cases[::-1])] == ["a", "e", "f"]


@pytest.mark.parametrize("words", [["--missed"], ["--node", "esx01"], ["--subject", "x"]])
def test_healthy_is_said_of_a_whole_case(tmp_path: Path, words: list[str]) -> None:
    """No machine and no finding of it is healthy by itself; the label is shown and taken back as any other."""
    place = make_archive(tmp_path, ["esx01"])
    done = run("label", "case0", "healthy", "--confirm", *words, "--archive", place)
    assert done.exit_code == 2
    assert "healthy is said of a whole case" in done.output
    run("label", "case0", "healthy", "--confirm", "--archive", place)
    assert "healthy: confirmed: the case" in run("show", "case0", "--archive", place).stdout
    run("label", "case0", "healthy", "--remove", "--archive", place)
    assert "healthy" not in run("show", "case0", "--source", "--archive", place).stdout
