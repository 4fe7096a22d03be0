"""Compaction: loose packs become segments, and no case is lost, whatever happens meanwhile."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest

from analyzer.archive import claims
from analyzer.archive.documents import DamagedError, open_zip
from analyzer.archive.entries import read_manifest
from analyzer.archive.entry import MANIFEST, PACKS, SEGMENTS
from analyzer.archive.object_store.local_store import LocalStore
from analyzer.archive.store import Archive
from analyzer.archive.upkeep.compaction import CLAIM, CompactionReport, compact_archive, find_debris
from analyzer.archive.upkeep.segment import write_segment
from tests.kit.ask_kit import run
from tests.kit.store_kit import LATER, document_of, id_of, real, store, whole, zipped

ROOT = Path(__file__).resolve().parents[2]
NAMES = [f"case-{number}" for number in range(12)]


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """An empty local archive."""
    return Archive.open(tmp_path / "archive", create=True)


@pytest.fixture
def filled(archive: Archive) -> Archive:
    """An archive with twelve loose cases."""
    for number, name in enumerate(NAMES):
        store(archive, name, stamp=number)
    return archive


def listed(archive: Archive, prefix: str) -> list[str]:
    """Return the names of the objects below a prefix."""
    return [item.name for item in archive.objects.list(prefix)]


def rows(archive: Archive, name: str) -> list[tuple[Any, ...]]:
    """Return all rows of a Parquet object."""
    from analyzer.facts import database

    con = database.connect()
    return con.execute(
        "SELECT * FROM read_parquet(?)", [archive.objects.duck_path(con, name)]
    ).fetchall()


def held_rows(archive: Archive, member: str, tmp_path: Path) -> list[tuple[Any, ...]]:
    """Return all rows of a member of the real pack."""
    from analyzer.facts import database

    (tmp_path / "t.parquet").write_bytes(real()[member])
    return database.connect().execute(f"SELECT * FROM '{tmp_path / 't.parquet'}'").fetchall()


def test_loose_cases_become_segments_of_the_wanted_size(filled: Archive) -> None:
    """Twelve cases make segments of five, five and two; no pack is left; every text is as before."""
    report = compact_archive(filled, target=5)
    assert (report.segments, report.cases, report.packs, report.damaged) == (3, 12, 12, [])
    assert listed(filled, "packs/") == []
    sizes = [
        len(read_manifest(filled.objects, name)["entries"])
        for name in listed(filled, SEGMENTS)
        if MANIFEST in name
    ]
    assert sorted(sizes) == [2, 5, 5]
    whole(filled, NAMES)
    assert compact_archive(filled, target=5) == CompactionReport()
    assert filled.objects.on_the_way() == []
    assert listed(filled, "claims/") == []


def test_few_loose_cases_are_left_alone_unless_asked(filled: Archive) -> None:
    """Fewer than are wanted stay loose and are told; the command says how to put them together all the same."""
    report = compact_archive(filled, few=13)
    assert (report.left, report.cases, len(listed(filled, PACKS)), listed(filled, SEGMENTS)) == (
        12,
        0,
        12,
        [],
    )
    done = run("compact", "--archive", filled.objects.url)
    assert (
        done.stdout
        == "12 loose cases left as they are, too few for a segment (--all combines them)\n"
    )
    assert run("compact", "--archive", filled.objects.url, "--target", 4).stdout.startswith(
        "12 cases into 3 segments"
    )
    assert compact_archive(filled, few=13) == CompactionReport()


def test_all_takes_few_loose_cases_too(filled: Archive) -> None:
    """With --all a handful becomes a segment."""
    assert run("compact", "--archive", filled.objects.url, "--all").stdout.startswith(
        "12 cases into 1 segment,"
    )


@pytest.mark.size
def test_a_remote_archive_is_compacted_alike(tmp_path: Path) -> None:
    """In an object store the same cases give the same segment and the same texts."""
    pytest.importorskip("fsspec")
    archive = Archive.open(f"memory://{tmp_path.name}/{time.time_ns()}", create=True)
    for number, name in enumerate(NAMES):
        store(archive, name, stamp=number)
    assert compact_archive(archive).cases == 12
    assert listed(archive, "packs/") == []
    whole(archive, NAMES)
    store(archive, NAMES[3], kind="case", stamp=100, judging=LATER)
    assert compact_archive(archive, all=True).segments == 1
    whole(archive, NAMES)


@pytest.mark.size
def test_the_rows_of_every_table_are_those_of_the_packs(filled: Archive, tmp_path: Path) -> None:
    """Each table of a segment has the rows of each case in their order, after the number of the case."""
    compact_archive(filled)
    (manifest,) = [name for name in listed(filled, SEGMENTS) if MANIFEST in name]
    tables = [member for member in real() if member.startswith("tables/")]
    assert any("." in member.removesuffix(".parquet") for member in tables), (
        "a declared table is among them"
    )
    for member in tables:
        one = held_rows(filled, member, tmp_path)
        found = rows(filled, manifest.replace(MANIFEST, member.removeprefix("tables/")))
        assert found == [(number, *row) for number in range(12) for row in one], member
    assert len(listed(filled, SEGMENTS)) == len(tables) + 2  # the texts, the manifest


@pytest.mark.size
def test_a_new_judgement_is_merged_with_the_facts_of_a_segment(filled: Archive) -> None:
    """After a re-judgement, compaction puts both in one place; with `all` the old segment goes."""
    compact_archive(filled)
    old = {name.rpartition("/")[0] for name in listed(filled, SEGMENTS)}
    for number in (2, 7):
        store(filled, NAMES[number], kind="case", stamp=100 + number, judging=LATER)
    whole(filled, NAMES)
    assert compact_archive(filled).cases == 2
    whole(filled, NAMES)
    snapshot = filled.take_snapshot()
    merged = [case for case in snapshot.list_visible_cases() if case.judged.judging == LATER]
    assert len(merged) == 2
    for case in merged:
        assert case.judged == case.facts
        assert case.judged.holder not in old
    assert compact_archive(filled, all=True).cases == 12
    now = {name.rpartition("/")[0] for name in listed(filled, SEGMENTS)}
    assert len(now) == 1
    assert not now & old
    whole(filled, NAMES)


def test_a_new_judgement_is_merged_with_the_facts_of_a_pack(
    filled: Archive, tmp_path: Path
) -> None:
    """Facts of the old pack and the new judgement lie in one segment; both packs are gone."""
    store(filled, NAMES[0], kind="case", stamp=100, judging=LATER)
    report = compact_archive(filled)
    assert (report.cases, report.packs) == (12, 13)
    whole(filled, NAMES)
    (case,) = [
        case for case in filled.take_snapshot().list_visible_cases() if case.id == id_of(NAMES[0])
    ]
    assert case.judged == case.facts
    assert case.judged.judging == LATER


def test_cases_read_in_different_ways_do_not_share_a_segment(filled: Archive) -> None:
    """The tables of another version may have other columns."""
    store(filled, "other", reading="e" * 12, stamp=50)
    assert compact_archive(filled).segments == 2
    whole(filled, [*NAMES, "other"])


def test_superseded_sources_are_kept_unless_asked(filled: Archive) -> None:
    """A source read again with other content hides the older case; only `drop_superseded` deletes it."""
    store(filled, NAMES[0], content="more", stamp=100)
    for rewrite in (False, True):
        compact_archive(filled, all=rewrite, older_than=0)
        every = {case.id: case for case in filled.take_snapshot().list_every_case()}
        assert filled.document_text(every[id_of(NAMES[0])]) == document_of(NAMES[0])
        assert id_of(NAMES[0]) not in {
            case.id for case in filled.take_snapshot().list_visible_cases()
        }
    compact_archive(filled, older_than=0, drop_superseded=True)
    assert len(filled.take_snapshot().list_every_case()) == 12


def test_refused_cases_go_along(filled: Archive) -> None:
    """A case without a judgement has its meta and its row among the cases in the segment."""
    store(filled, "refused", kind="none", stamp=50)
    assert compact_archive(filled).cases == 13
    stored = filled.take_snapshot().find_case("refused")
    assert (stored.judged.kind, stored.facts) == ("none", None)
    assert stored.judged.place >= 0
    assert filled.read_meta(stored)["why"] == "nothing readable"


def test_a_damaged_pack_is_left_and_named(filled: Archive) -> None:
    """One damaged pack, one cut, one with a table that is none: they stay, the nine others are compacted."""
    names = [
        case.judged.holder
        for case in sorted(
            filled.take_snapshot().list_visible_cases(), key=lambda case: case.judged.stamp
        )
    ]
    data = bytearray(filled.objects.get(names[0]))
    data[len(data) // 2] ^= 1
    filled.objects.put(names[0], bytes(data))
    filled.objects.put(names[5], filled.objects.get(names[5])[:-100])
    store(
        filled, NAMES[8], stamp=8, change={"tables/_verdicts.parquet": b"PAR1 is not enough PAR1"}
    )
    report = compact_archive(filled)
    assert sorted(name for name, _ in report.damaged) == sorted([names[0], names[5], names[8]])
    assert any("_verdicts" in why for _, why in report.damaged)
    assert (report.cases, sorted(listed(filled, "packs/"))) == (
        9,
        sorted([names[0], names[5], names[8]]),
    )
    good = [name for number, name in enumerate(NAMES) if number not in (0, 5, 8)]
    found = {case.id: case for case in filled.take_snapshot().list_visible_cases()}
    for name in good:
        assert filled.document_text(found[id_of(name)]) == document_of(name)


def test_a_damaged_segment_is_not_rewritten(filled: Archive) -> None:
    """A flipped byte of a segment's table is noticed before its cases are copied; the segment stays as it is."""
    compact_archive(filled)
    store(filled, NAMES[0], kind="case", stamp=100, judging=LATER)
    name = next(name for name in listed(filled, SEGMENTS) if name.endswith("_unknowns.parquet"))
    data = bytearray(filled.objects.get(name))
    data[len(data) // 2] ^= 1
    filled.objects.put(name, bytes(data))
    report = compact_archive(filled, all=True)
    assert report.damaged == [(name, "its bytes are not those that were written")]
    assert report.cases == 0
    assert name in listed(filled, SEGMENTS)
    assert len(listed(filled, "packs/")) == 1


def test_young_debris_is_left_and_old_debris_swept(filled: Archive) -> None:
    """Half a segment, a temporary file, a claim that ran out and a superseded pack go when they are old enough."""
    objects = filled.objects
    objects.put("segments/00000000001-00000001/_case.parquet", b"half")
    objects.put("claims/" + "a" * 32, b'{"at": 1}')
    store(filled, NAMES[0], stamp=200)  # the same case once more: the older one is superseded
    assert objects.local is not None
    (objects.local / "tmp" / "1-dead.part").write_bytes(b"x")
    found = find_debris(filled)
    assert [
        len(part) for part in (found.packs, found.dead, found.half, found.moving, found.claims)
    ] == [1, 0, 1, 1, 1]
    assert compact_archive(filled).swept == 0
    assert compact_archive(filled, older_than=0).swept == 4
    found = find_debris(filled)
    assert [
        len(part) for part in (found.packs, found.dead, found.half, found.moving, found.claims)
    ] == [0] * 5
    whole(filled, NAMES)


def test_a_second_compaction_waits_for_none(filled: Archive) -> None:
    """While another process compacts, a second one says so and does nothing; a dead one is no hindrance."""
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        text = claims.Claims(filled.objects)._claim_text().decode()
        mine = f'"pid": {os.getpid()}, "started": "{claims._read_start_time(os.getpid())}"'
        assert mine in text
        theirs = f'"pid": {other.pid}, "started": "{claims._read_start_time(other.pid)}"'
        filled.objects.put(f"claims/{CLAIM}", text.replace(mine, theirs).encode())
        assert compact_archive(filled).busy
        assert len(listed(filled, "packs/")) == 12
    finally:
        other.communicate(b"\n")
    assert compact_archive(filled).cases == 12


@pytest.mark.size
def test_two_compactions_at_once_lose_nothing(filled: Archive) -> None:
    """Even without the claim, two that took the same cases leave doubles that collapse and are swept later."""
    cases = filled.take_snapshot().list_visible_cases()
    one, two = write_segment(filled.objects, cases), write_segment(filled.objects, cases[::-1])
    whole(filled, NAMES)
    assert compact_archive(filled, older_than=0).cases == 0
    whole(filled, NAMES)
    left = {name.rpartition("/")[0] for name in listed(filled, SEGMENTS)}
    assert left == {max(one.holder, two.holder)}
    assert listed(filled, "packs/") == []


def test_a_case_that_goes_away_meanwhile_is_left_out(filled: Archive) -> None:
    """A pack that another run has deleted is no error: the segment is made of the others."""
    cases = filled.take_snapshot().list_visible_cases()
    filled.objects.delete(cases[4].judged.holder)
    written = write_segment(filled.objects, cases)
    assert written.gone == [cases[4]]
    assert len(written.taken) == 11


@pytest.mark.size
def test_readers_and_writers_meanwhile(filled: Archive) -> None:
    """While a thread stores cases and another compacts again and again, a third always finds every case."""
    stop, failures = threading.Event(), []
    names = list(NAMES)

    def guarded(work: Any) -> Any:
        def run() -> None:
            turn = 0
            while not stop.is_set():
                try:
                    work(turn)
                except BaseException as error:  # noqa: BLE001 - shown by the assert
                    failures.append(error)
                    stop.set()
                turn += 1

        return run

    def write(turn: int) -> None:
        store(filled, NAMES[turn % 12], kind="case", stamp=1000 + turn, judging=LATER)

    threads = [
        threading.Thread(target=guarded(write)),
        threading.Thread(
            target=guarded(
                lambda turn: compact_archive(filled, target=5, all=turn % 2 == 1, older_than=0)
            )
        ),
    ]
    for thread in threads:
        thread.start()
    try:
        end = time.monotonic() + 3
        while time.monotonic() < end and not failures:
            seen = {case.id for case in filled.take_snapshot().list_visible_cases()}
            assert seen == {id_of(name) for name in names}
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert failures == []
    whole(filled, NAMES)


PROGRAM = """
import sys
from analyzer.facts import database
from analyzer.archive.upkeep.compaction import compact_archive
from analyzer.archive.store import Archive
archive = Archive.open(sys.argv[1])
database.connect()
print("ready", flush=True)
compact_archive(archive, target=4, all=True, older_than=float(sys.argv[2]))
print("done", flush=True)
"""


@pytest.mark.release
@pytest.mark.process
def test_killed_at_any_moment_every_case_is_readable(filled: Archive) -> None:
    """kill -9 at random moments of a compaction: each case has its texts; the next run ends the work."""
    assert filled.objects.local is not None
    chance = random.Random(4)
    killed, longest = 0, 0.3
    for turn in range(10):
        for number in range(turn % 3, 12, 3):
            store(
                filled,
                NAMES[number],
                kind="case" if turn % 2 else "full",
                stamp=1000 * (turn + 1) + number,
            )
        command = [
            sys.executable,
            "-c",
            PROGRAM,
            str(filled.objects.local),
            "0" if turn % 4 == 3 else "1000",
        ]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            began = time.monotonic()
            try:
                process.wait(timeout=chance.uniform(0, 0.7 * longest) if turn else None)
                longest = time.monotonic() - began if not turn else longest
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                killed += 1
        whole(Archive.open(filled.objects.local), NAMES)
    assert killed >= 3  # how many it is depends on what else the machine does
    report = compact_archive(filled, all=True, older_than=0)
    assert report.damaged == []
    whole(filled, NAMES)
    assert listed(filled, "packs/") == []
    assert filled.objects.on_the_way() == []


class Dead(BaseException):
    """Stands for the end of the process: nothing more is written."""


@pytest.mark.size
def test_dead_before_any_step_every_case_is_readable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many objects were written and deleted before the end, each case has its texts."""
    first = Archive.open(tmp_path / "first", create=True)
    for number, name in enumerate(NAMES[:3]):
        store(first, name, stamp=number)
    compact_archive(first)
    store(first, NAMES[1], kind="case", stamp=100, judging=LATER)
    store(first, NAMES[3], stamp=100)
    for last in range(200):
        shutil.copytree(tmp_path / "first", tmp_path / str(last))
        archive = Archive.open(tmp_path / str(last))
        left = [last]

        def step(self: LocalStore, *given: Any, left: list[int] = left, own: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Dead
            return own(self, *given)

        with monkeypatch.context() as patch:
            for name in ("put", "put_file", "put_new", "delete"):
                patch.setattr(LocalStore, name, partialmethod(step, own=getattr(LocalStore, name)))
            try:
                compact_archive(archive, all=True, older_than=0)
            except Dead:
                pass
            else:
                break
        whole(archive, NAMES[:4])
    else:
        pytest.fail("the work never ended")
    assert last > 15
    whole(archive, NAMES[:4])


def test_what_a_reader_meets_when_a_pack_is_damaged(filled: Archive) -> None:
    """A damaged pack is one plain error that names it, never an error of the ZIP reader."""
    stored = filled.take_snapshot().list_visible_cases()[0]
    for data in (
        b"",
        b"PK",
        zipped({"meta.json": b"{}"}),
        filled.objects.get(stored.judged.holder)[:500],
    ):
        filled.objects.put(stored.judged.holder, data)
        with pytest.raises(DamagedError, match="a stored case is damaged"):
            filled.document_text(stored)
    with pytest.raises(DamagedError), open_zip(filled.objects, stored.judged.holder) as pack:
        pack.read("nothing")
