"""`archive similar` and what an archive knows of kinds of signals."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from analyzer.archive.query import ask
from analyzer.archive.query.known_kinds import count_known_kinds
from analyzer.archive.query.similar import SimilarCases, find_similar
from analyzer.archive.store import Archive
from analyzer.archive.upkeep.compaction import compact_archive
from analyzer.archive.upkeep.verification import verify_archive
from analyzer.report.signals import describe_known
from analyzer.runtime.errors import BacklineError, UsageError
from analyzer.signals.kinds import hash_kind
from tests.kit import archive_kit
from tests.kit.ask_kit import run
from tests.kit.fleet_factory import Told, stored

EARLIER = Path(__file__).parents[1] / "earlier" / "archive"
DAY = "2017-10-03"
COMMON, RARE, ODD = "vmkernel: heap # is low", "scsi: path # is gone", "nic: queue # is stuck"


def told(name: str, *signs: str, found: str = "") -> Told:
    """Return a made-up case with some signs."""
    return Told(name, DAY, found=found, signs=signs, content=name)


def small(place: Path) -> Archive:
    """Return an archive of six cases: `one` has a common sign and a rare one, which `three` has as well."""
    return stored(
        place,
        [
            told("one", COMMON, RARE),
            told("two", COMMON),
            told("three", RARE, ODD, found="ring C esx1"),
            told("four", COMMON),
            told("five"),
            Told("six", DAY, refused="nothing could be read"),
        ],
    )


def similar(archive: Archive, name: str) -> SimilarCases:
    """Return what is like a case."""
    snapshot = archive.take_snapshot()
    return find_similar(archive, snapshot, snapshot.find_case(name))


def make_hashes(signs: Iterable[str]) -> list[str]:
    """Return the hashes of signs."""
    return [hash_kind("line", *sign.split(": ", 1)) for sign in signs]


def test_a_case_stored_twice_is_most_like_itself(tmp_path: Path) -> None:
    """Of cases with signs by chance the copy under another name comes first, and nothing is more like it."""
    chance = random.Random(5)
    cases = []
    for number in range(12):
        signs = [f"m{chance.randrange(3)}: sign {chance.randrange(15)}" for _ in range(6)]
        signs.append(f"own: sign of {number}")
        cases += [told(f"case-{number:02}", *signs), told(f"copy-{number:02}", *signs[::-1])]
    archive = stored(tmp_path / "archive", cases)
    for number in (0, 5, 11):
        found = similar(archive, f"case-{number:02}")
        assert found.cases[0].name == f"copy-{number:02}"
        assert found.cases[0].share == 1
        assert all(one.share < 1 for one in found.cases[1:])
        assert found.cases == sorted(found.cases, key=lambda one: -one.share)
        assert len(found.cases) == 5


def test_two_cases_alone_are_alike(tmp_path: Path) -> None:
    """Where every case has all signs, what they share still weighs something."""
    archive = stored(tmp_path / "archive", [told("one", COMMON), told("two", COMMON)])
    assert [(one.name, one.share) for one in similar(archive, "one").cases] == [("two", 1.0)]


def test_rare_kinds_weigh_more(tmp_path: Path) -> None:
    """The case that shares the rare sign comes before those that share the common one, though it has another."""
    found = similar(small(tmp_path / "archive"), "one")
    assert [one.name for one in found.cases] == ["three", "four", "two"]
    assert [kind.template for kind in found.cases[0].kinds] == ["path # is gone"]
    assert found.cases[0].kinds[0].cases == 2
    assert (found.total, found.asked, found.unknown) == (2, 4, 1)


def test_of_two_that_share_as_much_the_smaller_comes_first(tmp_path: Path) -> None:
    """A case with much else beside the same signs comes after one that has nothing else."""
    cases = [told("one", COMMON), told("bare", COMMON), told("all", COMMON, RARE, ODD)]
    found = similar(stored(tmp_path / "archive", cases), "one")
    assert [(one.name, one.share) for one in found.cases] == [("bare", 1.0), ("all", 1.0)]


def test_what_is_known_of_a_kind(tmp_path: Path) -> None:
    """Cases that have it, cases in all without the refused one, rules that an engineer confirmed in those."""
    place = tmp_path / "archive"
    archive = small(place)
    assert (
        run("label", "three", "ring", "--confirm", "--by", "NN", "--archive", place).exit_code == 0
    )
    known = count_known_kinds(archive, make_hashes([COMMON, RARE, "never: seen"]))
    words = [describe_known(one) for one in known.values()]
    assert words == [
        "in 3 of 5 stored cases",
        "in 2 of 5 stored cases; an engineer confirmed ring in 1 of 2",
        "in 0 of 5 stored cases",
    ]
    (one,) = make_hashes([RARE])
    own = archive.take_snapshot().find_case("three").id
    assert describe_known(count_known_kinds(archive, [one], [own])[one]) == (
        "in 1 of 4 stored cases"
    )
    run("label", "three", "ring", "--reject", "--archive", place)
    assert count_known_kinds(archive, [one])[one].labels == []


def test_the_command_tells_all_of_it(tmp_path: Path) -> None:
    """The signs of the case with what is known of them, the similar cases with what they share and their labels."""
    place = tmp_path / "archive"
    small(place)
    run("label", "three", "ring", "--confirm", "--note", "cable \x1b[31mred", "--archive", place)
    done = run("similar", "one", "--archive", place)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("one  ") and lines[0].endswith(
        "2 kinds of signs, compared with 4 other cases"
    )
    assert lines[1:5] == [
        "  scsi: path # is gone",
        "    in 1 of 4 stored cases; an engineer confirmed ring in 1 of 1",
        "  vmkernel: heap # is low",
        "    in 2 of 4 stored cases",
    ]
    assert lines[6].startswith("three  ")
    assert lines[6].endswith("61% alike: has 1 of these 2, and 1 other")
    assert lines[7] == "  scsi: path # is gone  (in 2 of 5)"
    assert lines[8].startswith("  label: ring: confirmed: esx1 / vm0")
    assert "\x1b" not in done.stdout
    assert "not compared: 1 case whose signs are not known" in done.stderr


def test_rows_for_programs(tmp_path: Path) -> None:
    """JSON has a line for each similar case with kinds and labels as records; CSV has the same columns."""
    place = tmp_path / "archive"
    small(place)
    run("label", "three", "ring", "--confirm", "--archive", place)
    rows = [json.loads(line) for line in run("similar", "one", "--archive", place, "--json").stdout.splitlines()]  # fmt: skip
    assert [row["case"] for row in rows] == ["three", "four", "two"]
    assert rows[0]["kinds"][0]["module"] == "scsi" and rows[0]["labels"][0]["rule"] == "ring"
    assert 0 < rows[0]["share"] < 1 and rows[0]["shared"] == 1 and rows[0]["signs"] == 2
    table = run("similar", "one", "--archive", place, "--csv").stdout.splitlines()
    assert table[0] == "case,id,share,shared,signs,kinds,labels" and len(table) == 4


def test_nothing_alike_is_an_answer(tmp_path: Path) -> None:
    """A case without signs, and one that shares none: exit code 0, and a sentence."""
    place = tmp_path / "archive"
    stored(place, [told("one", COMMON), told("two", RARE), told("three")])
    for name, words in (
        ("one", "no other case shares a sign with it"),
        ("three", "this case has no signs of trouble that no finding rests on"),
    ):
        done = run("similar", name, "--archive", place)
        assert done.exit_code == 0 and words in done.stderr


def test_what_cannot_be_answered_is_an_error(tmp_path: Path) -> None:
    """A case that is not there, and one that was refused."""
    place = tmp_path / "archive"
    archive = small(place)
    assert run("similar", "seven", "--archive", place).exit_code == 2
    done = run("similar", "six", "--archive", place)
    assert done.exit_code == 2 and "was refused" in done.stderr
    with pytest.raises(UsageError):
        similar(archive, "six")


def test_an_earlier_archive_says_that_it_does_not_know(tmp_path: Path) -> None:
    """A case of an earlier version is not compared and counts nowhere, as a pack and in a segment beside a new one."""
    place = tmp_path / "archive"
    shutil.copytree(EARLIER, place)
    archive = Archive.open(place)
    (one,) = make_hashes([COMMON])
    assert describe_known(count_known_kinds(archive, [one])[one]) == ""
    with pytest.raises(BacklineError, match="an earlier version stored it"):
        similar(archive, "limited-vm")
    stored(place, [told("one", COMMON), told("two", COMMON)])
    for _ in range(2):
        found = similar(archive, "one")
        assert [case.name for case in found.cases] == ["two"]
        assert (found.asked, found.unknown) == (1, 1)
        assert count_known_kinds(archive, [one])[one].of == 2
        done = run("similar", "limited-vm", "--archive", place)
        assert done.exit_code == 3 and "`backline batch` over its source" in done.stderr
        compact_archive(archive, older_than=0, all=True)
    assert not list((place / "packs").rglob("*.zip"))


def test_packs_and_segments_answer_alike(tmp_path: Path) -> None:
    """Compaction changes no answer, and neither does asking again."""
    place = tmp_path / "archive"
    archive = small(place)
    before = run("similar", "one", "--archive", place).output
    assert run("similar", "one", "--archive", place).output == before
    assert compact_archive(archive, older_than=0).cases == 6
    assert run("similar", "one", "--archive", place).output == before


def test_other_revisions_of_a_case_are_not_like_it(tmp_path: Path) -> None:
    """A case that was read again with other content is held against other cases, in its older state as well."""
    place = tmp_path / "archive"
    old, new = told("one", COMMON, RARE), told("one", COMMON)
    old.content = "old"
    archive = stored(place, [old, new, told("two", RARE)])
    snapshot = archive.take_snapshot()
    for case in snapshot.list_every_case():
        found = find_similar(archive, snapshot, case)
        assert all(one.name != found.name for one in found.cases)
        assert found.asked == 1 if found.name == "one" else True


def test_a_damaged_pack_is_left_out(tmp_path: Path) -> None:
    """The answer comes from the others, with exit code 5; a damaged case itself is an error."""
    place = tmp_path / "archive"
    archive = small(place)
    snapshot = archive.take_snapshot()
    holder = snapshot.find_case("three").judged.holder
    case, whole = snapshot.find_case("three").id, (place / holder).read_bytes()
    (place / holder).write_bytes(whole[: len(whole) // 2])
    done = run("similar", "one", "--archive", place)
    assert done.exit_code == 5 and holder in done.stderr
    assert "two  " in done.stdout and "three" not in done.stdout
    done = run("similar", case, "--archive", place)
    assert done.exit_code in (3, 5) and holder in done.stderr


def test_the_kinds_of_a_real_case_are_stored(tmp_path: Path) -> None:
    """SQL shows the kinds of the signals of the document, and the case says how many there are."""
    archive = Archive.open(tmp_path / "archive", create=True)
    archive_kit.stored(archive, "lab-ring-before", archive_kit.packed("lab-ring-before")[0])
    sql = "SELECT c.signals, s.module, s.count FROM signals s JOIN cases c USING (case_id) ORDER BY ALL"
    rows = list(ask.run_sql(archive, sql).rows)
    (case,) = archive.take_snapshot().list_visible_cases()
    modules = {one.module for one in archive.read_document(case).signals}
    assert rows and {row[1] for row in rows} == modules
    assert {row[0] for row in rows} == {len(rows)}
    assert verify_archive(archive).problems == []
    compact_archive(archive, older_than=0, all=True)
    assert list(ask.run_sql(archive, sql).rows) == rows
    assert verify_archive(archive).problems == []
