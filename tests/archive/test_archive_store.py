"""Entries, snapshots, labels, claims and hashes of an archive."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.archive import claims, entries
from analyzer.archive.claims import Claims
from analyzer.archive.documents import DOCUMENT, texts_of
from analyzer.archive.entries import Snapshot, take_snapshot
from analyzer.archive.entry import MANIFEST, SEGMENTS, Entry, Stored
from analyzer.archive.object_store.local_store import LocalStore
from analyzer.archive.object_store.object_store import GoneError
from analyzer.archive.seal import sealed_json
from analyzer.archive.store import Archive
from analyzer.archive.upkeep.compaction import compact_archive
from analyzer.runtime.errors import BacklineError, UsageError
from tests.kit.store_kit import JUDGING, LATER, READING, base_text, document_of, id_of, store

HEX = st.sampled_from("0123456789abcdef")


def digits(count: int) -> st.SearchStrategy[str]:
    """Return hex texts of that length."""
    return st.text(HEX, min_size=count, max_size=count)


ENTRIES = st.builds(
    Entry,
    digits(32),
    digits(8),
    digits(12),
    digits(12),
    st.integers(0, 16**11 - 1),
    st.sampled_from(entries.KINDS),
)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """An empty local archive."""
    return Archive.open(tmp_path / "archive", create=True)


def seen(*held: Entry) -> Snapshot:
    """Return a snapshot of entries."""
    return Snapshot(LocalStore(Path("nowhere")), list(held), [], [])


def entry(
    case: str, source: str, stamp: int, kind: str = "full", reading: str = READING, holder: str = ""
) -> Entry:
    """Return an entry of a case told by one letter."""
    return Entry(case * 32, source * 8, reading, JUDGING, stamp, kind, holder)


@given(ENTRIES)
def test_an_entry_comes_back_from_its_name(one: Entry) -> None:
    """Name and text of an entry tell all of it."""
    again = Entry.parse_name(one.pack_name)
    assert again is not None
    assert (again.entry_text, again.kind, again.holder, again.place) == (
        one.entry_text,
        one.kind,
        one.pack_name,
        -1,
    )
    assert Entry.of_text(one.entry_text, one.kind, "segments/x", 7) == Entry(
        one.id, one.source, one.reading, one.judging, one.stamp, one.kind, "segments/x", 7
    )


@given(ENTRIES, st.integers(0, 200), st.characters())
def test_a_changed_name_is_another_entry_or_none(one: Entry, place: int, sign: str) -> None:
    """No other name is taken for the same entry, and a pack in a wrong folder for none."""
    name = one.pack_name
    place %= len(name)
    other = name[:place] + sign + name[place + 1 :]
    found = Entry.parse_name(other)
    assert found is None or found.pack_name == other
    assert Entry.parse_name(name + "\n") is None
    assert Entry.parse_name("x/" + name) is None


def test_of_a_source_the_newest_is_visible_and_the_others_are_kept() -> None:
    """A source read again with other content: the older case is in every(), not in current()."""
    snap = seen(entry("a", "1", 1), entry("b", "1", 2), entry("c", "2", 1))
    assert [case.id[0] for case in snap.list_visible_cases()] == ["b", "c"]
    assert [case.id[0] for case in snap.list_every_case()] == ["a", "b", "c"]


def test_of_two_copies_one_stays_visible() -> None:
    """The same case read from two places is one case, and visible as long as one place still has it."""
    assert [
        case.id[0] for case in seen(entry("a", "1", 1), entry("a", "2", 2)).list_visible_cases()
    ] == ["a"]
    snap = seen(entry("a", "1", 1), entry("a", "2", 2), entry("b", "1", 3))
    assert [case.id[0] for case in snap.list_visible_cases()] == ["a", "b"]


def test_of_a_case_the_newest_judgement_with_facts_of_the_same_reading() -> None:
    """Facts that were read in another way do not belong to a judgement."""
    old, judged = entry("a", "1", 1), entry("a", "1", 2, "case")
    other = entry("a", "1", 0, reading="e" * 12)
    assert seen(old, judged, other).list_visible_cases() == [Stored("a" * 32, judged, old)]
    assert seen(judged, other).list_visible_cases() == [Stored("a" * 32, judged, None)]


def test_a_later_failure_does_not_hide_a_judgement() -> None:
    """A case that was read once and failed another time is shown as it was read."""
    good, bad = entry("a", "1", 1), entry("a", "1", 2, "none")
    assert seen(good, bad).list_visible_cases() == [Stored("a" * 32, good, good)]
    assert seen(bad).list_visible_cases() == [Stored("a" * 32, bad, None)]


@given(st.lists(ENTRIES, max_size=8), st.randoms())
def test_doubles_and_order_change_nothing(held: list[Entry], chance: random.Random) -> None:
    """The same entries in any order, some of them twice, give the same cases."""
    cases = [(case.id, case.judged.entry_text) for case in seen(*held).list_visible_cases()]
    mixed = held + held[:3]
    chance.shuffle(mixed)
    assert [
        (case.id, case.judged.entry_text) for case in seen(*mixed).list_visible_cases()
    ] == cases


def test_of_an_entry_in_two_holders_the_newer_segment_is_read() -> None:
    """What a compaction wrote stands before the pack it is about to delete."""
    one = entry("a", "1", 1, holder="packs/aa/x")
    two = entry("a", "1", 1, holder="segments/00000000001-00000000")
    three = entry("a", "1", 1, holder="segments/00000000002-00000000")
    assert seen(one, three, two).list_visible_cases()[0].judged.holder == three.holder
    assert seen(one, two).entries == [two]


def test_finding_a_case(archive: Archive) -> None:
    """By the beginning of its id or by its name; none and several are told with a way out."""
    for number, name in enumerate(("acme", "beta", "beta")):
        store(archive, name, content=str(number), source=f"/{number}", stamp=number)
    snap = archive.take_snapshot()
    acme = snap.find_case("acme")
    assert acme.id == id_of("acme", "0")
    assert snap.find_case(acme.id) == snap.find_case(acme.id[:8]) == acme
    with pytest.raises(UsageError, match=r'2 cases match "beta".*Give more of the id'):
        snap.find_case("beta")
    for text in ("gamma", "", acme.id[:3], "ffffffff", "../x", "\x1b[1m"):
        with pytest.raises(UsageError, match="there is no case") as caught:
            snap.find_case(text)
        assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("ending", [".tgz", ".tar.gz", ".ZIP", ".tar", ".txz", ".7z"])
def test_a_case_is_found_without_the_ending_of_its_archive(archive: Archive, ending: str) -> None:
    """A name without its ending is enough when one case has it; the whole name goes first, two are told."""
    store(archive, f"case-8{ending}", content="1", source="/1", stamp=1)
    assert archive.take_snapshot().find_case("case-8").id == id_of(f"case-8{ending}", "1")
    store(archive, "case-8.bin.gz", content="2", source="/2", stamp=2)
    assert archive.take_snapshot().find_case("case-8").id == id_of(f"case-8{ending}", "1")
    store(archive, "case-8.tbz", content="3", source="/3", stamp=3)
    with pytest.raises(UsageError, match='2 cases match "case-8"'):
        archive.take_snapshot().find_case("case-8")
    store(archive, "case-8", content="4", source="/4", stamp=4)
    assert archive.take_snapshot().find_case("case-8").id == id_of("case-8", "4")


def test_a_case_that_is_not_there_is_told_with_the_nearest(archive: Archive) -> None:
    """A slip of the fingers gets the names most like it; a strange word the way to all of them."""
    store(archive, "case-000008.tgz", content="1", source="/1", stamp=1)
    store(archive, "other\x1b[2J", content="2", source="/2", stamp=2)
    for slip in ("case-00008", "case-00008.tgz", "Case-000008"):
        with pytest.raises(UsageError, match=r"did you mean case-000008\.tgz\?"):
            archive.take_snapshot().find_case(slip)
    with pytest.raises(UsageError, match="did you mean other") as caught:
        archive.take_snapshot().find_case("other[2J")
    assert "\x1b" not in str(caught.value)
    with pytest.raises(UsageError, match="archive list"):
        archive.take_snapshot().find_case("zzzzzz")


def test_a_superseded_case_is_found_by_its_name_when_no_other_has_it(archive: Archive) -> None:
    """The visible case of a name comes first; the id always finds the older one."""
    store(archive, "acme", content="1", stamp=1)
    store(archive, "acme", content="2", stamp=2)
    snap = archive.take_snapshot()
    assert snap.find_case("acme").id == id_of("acme", "2")
    assert snap.find_case(id_of("acme", "1")).id == id_of("acme", "1")


def test_what_was_put_comes_back(archive: Archive) -> None:
    """Meta, document and base, out of a pack and out of a segment."""
    for number in range(3):
        store(archive, f"case-{number}", stamp=number)
    for _ in range(2):
        for number in range(3):
            stored = archive.take_snapshot().find_case(f"case-{number}")
            assert archive.read_meta(stored)["source"] == f"/cases/case-{number}"
            assert archive.document_text(stored) == document_of(f"case-{number}")
            assert json.loads(base_text(archive, stored))["name"] == f"case-{number}"
        assert {meta["name"] for meta in archive.read_metas(archive.take_snapshot().list_visible_cases()).values()} == {
            "case-0", "case-1", "case-2",
        }  # fmt: skip
        compact_archive(archive)


def test_an_old_snapshot_meets_a_compaction(archive: Archive) -> None:
    """A reader with an older snapshot gets a GoneError, and with a fresh one the case."""
    store(archive, "case", stamp=1)
    old = archive.take_snapshot()
    compact_archive(archive)
    (stored,) = old.list_visible_cases()
    with pytest.raises(GoneError):
        archive.document_text(stored)
    assert archive.document_text(old.take_again().list_visible_cases()[0]) == document_of("case")
    (old_segment,) = old.take_again().list_visible_cases()
    store(archive, "case", kind="case", judging=LATER, stamp=2)
    compact_archive(archive, all=True)
    with pytest.raises(GoneError):
        archive.document_text(old_segment)
    assert archive.document_text(archive.take_snapshot().list_visible_cases()[0]) == document_of(
        "case", judging=LATER
    )


def test_a_broken_manifest_is_told_and_the_rest_is_seen(archive: Archive) -> None:
    """The cases of one segment are missing, those elsewhere are not."""
    store(archive, "one", stamp=1)
    compact_archive(archive)
    store(archive, "two", stamp=2)
    name = next(
        item.name for item in archive.objects.list(SEGMENTS) if item.name.endswith(MANIFEST)
    )
    data = archive.objects.get(name)
    for broken, why in (
        (data[:-20], "."),
        (data.replace(b'"case":true', b'"case":trUe'), "."),
        (sealed_json({"format": "backline/segment-2"}), "its format is backline/segment-2"),
        (
            sealed_json(
                {"format": entries.SEGMENT_FORMAT, "entries": [{"entry": "x"}], "files": []}
            ),
            "its entry 0 is not an object",
        ),
        (sealed_json({"format": entries.SEGMENT_FORMAT, "entries": 3, "files": []}), "no list"),
        (b"[" * 100_000, "nesting"),
    ):
        archive.objects.put(name, broken)
        entries._MANIFESTS.clear()
        snap = archive.take_snapshot()
        assert [case.id for case in snap.list_visible_cases()] == [id_of("two")]
        assert [fault[0] for fault in snap.faults] == [name]
        assert why == "." or why in snap.faults[0][1]


def test_a_segment_without_manifest_is_not_there(archive: Archive) -> None:
    """Files of a compaction at work are no cases yet, and no strange names either."""
    archive.objects.put("segments/00000000001-00000001/_case.parquet", b"x")
    archive.objects.put("segments/x/y.parquet", b"x")
    archive.objects.put("packs/aa/x.zip", b"x")
    snap = archive.take_snapshot()
    assert (snap.entries, snap.faults) == ([], [])
    assert sorted(snap.strange) == ["packs/aa/x.zip", "segments/x/y.parquet"]


@pytest.mark.size
def test_a_hundred_thousand_names(tmp_path: Path) -> None:
    """Parsing 100,000 names, and which cases they mean, is a matter of seconds on a slow machine, not minutes."""
    chance = random.Random(4)
    held = [
        f"{chance.getrandbits(128):032x}-{chance.getrandbits(32):08x}-{READING}-{JUDGING}-{n:011x}"
        for n in range(100_000)
    ]
    names = [f"packs/{text[:2]}/{text}.full.zip" for text in held]
    began = time.process_time()
    found = [Entry.parse_name(name) for name in names]
    snap = seen(*[one for one in found if one is not None])
    assert len(snap.list_visible_cases()) == 100_000
    assert time.process_time() - began < 15


@pytest.mark.size
def test_one_document_of_a_large_segment(archive: Archive) -> None:
    """A document is read without the others: many row groups, and no more bytes than needed."""
    for number in range(200):
        store(archive, f"case-{number}", stamp=number)
    compact_archive(archive)
    one, other = (
        archive.take_snapshot().find_case("case-150"),
        archive.take_snapshot().find_case("case-3"),
    )
    assert texts_of(archive.objects, [one.judged, other.judged], DOCUMENT) == {
        one.judged: document_of("case-150"),
        other.judged: document_of("case-3"),
    }


def label(number: int, at: str, **more: str) -> dict[str, str]:
    """Return a label."""
    return {
        "id": "a" * 32,
        "rule": f"kb-{number}",
        "node": "",
        "subject": "",
        "label": "confirmed",
        "at": at,
        **more,
    }


def test_of_a_thing_the_newest_label_counts(archive: Archive) -> None:
    """Labels never change; for one case, rule, machine and subject the newest is told."""
    archive.put_label(label(1, "2024-01-02", note="newest"))
    archive.put_label(label(1, "2024-01-01", label="rejected"))
    archive.put_label(label(1, "2024-01-01", node="esx1"))
    archive.put_label(label(2, "2023-01-01"))
    told = [(item["rule"], item["node"], item["label"]) for item in archive.read_labels()]
    assert told == [
        ("kb-1", "", "confirmed"),
        ("kb-1", "esx1", "confirmed"),
        ("kb-2", "", "confirmed"),
    ]
    archive.put_label(label(1, "2024-01-03", label="rejected"))
    assert archive.read_labels()[0]["label"] == "rejected"
    assert len(Archive.open(archive.objects.url).read_labels()) == 3


def test_labels_that_are_none_are_left_out(archive: Archive) -> None:
    """A damaged label does not keep the others from being read."""
    name = archive.put_label(label(1, "2024"))
    assert (
        name
        == f"labels/{'a' * 32}/{hashlib.sha256(archive.objects.get(name)).hexdigest()[:32]}.json"
    )
    for number, data in enumerate((b"", b"[]", b"{}", b'{"id": 3}', b"\xff", b"[" * 100_000)):
        archive.objects.put(f"labels/x/{number}.json", data)
    assert len(archive.read_labels()) == 1
    assert len(archive.read_labels()) == 1


def test_a_claim_is_taken_once_and_given_back(archive: Archive) -> None:
    """Two runs: the second waits until the first has released; only the owner can release."""
    other = Archive.open(archive.objects.url)
    assert archive.claim_case("a" * 32)
    assert archive.claim_case("a" * 32), "one's own claim is no hindrance"
    assert not other.claim_case("a" * 32)
    other.release_case("a" * 32)
    assert not other.claim_case("a" * 32)
    archive.release_case("a" * 32)
    assert other.claim_case("a" * 32)
    assert archive.claim_case("b" * 32)


def test_a_claim_of_a_dead_process_does_not_count(archive: Archive) -> None:
    """A run that was killed leaves claims that hinder nobody on the same host."""
    program = (
        "import sys\n"
        "from analyzer.archive.store import Archive\n"
        "print(Archive.open(sys.argv[1]).claim('a' * 32), flush=True)\n"
        "input()\n"
    )
    command = [sys.executable, "-c", program, archive.objects.url]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"True\n"
        assert not archive.claim_case("a" * 32)
        other.kill()
        other.wait()
        assert archive.claim_case("a" * 32)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_number_given_to_another_process_is_seen(archive: Archive) -> None:
    """A claim of a process number that another program has now does not count."""
    claim = json.loads(Claims(archive.objects)._claim_text())
    assert claims.claim_counts(json.dumps(claim).encode())
    assert not claims.claim_counts(json.dumps(claim | {"started": "1"}).encode())


@given(
    st.one_of(
        st.binary(max_size=50),
        st.dictionaries(
            st.sampled_from(["run", "host", "pid", "at"]), st.none() | st.integers() | st.text()
        ).map(lambda d: json.dumps(d).encode()),
    )
)
def test_a_claim_may_be_anything(data: bytes) -> None:
    """Whatever stands in a claim, it can be asked whether it counts."""
    assert claims.claim_counts(data) in (True, False)


def test_claims_run_out(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim of another host counts until its time is over; a clock that is far off does not block for years."""
    Claims(archive.objects).take_claim("a" * 32)
    text = json.loads(archive.objects.get("claims/" + "a" * 32)) | {"host": "elsewhere"}
    for minutes, counted in ((0, True), (-80, True), (-100, False), (100, False), (10**7, False)):
        archive.objects.put(
            "claims/" + "a" * 32, json.dumps(text | {"at": time.time() + 60 * minutes}).encode()
        )
        assert Claims(archive.objects).take_claim("a" * 32) is not counted


def test_a_store_that_takes_no_claims_grants_them(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claims only save work: without them the work is done."""

    def refuse(*_: object) -> bool:
        raise BacklineError("no")

    monkeypatch.setattr(LocalStore, "put_new", refuse)
    assert archive.claim_case("a" * 32)
    assert Archive.open(archive.objects.url).claim_case("a" * 32)


def test_hashes_are_known_again(archive: Archive) -> None:
    """A file with the same path, size and time has the hash of the run before; any other has none."""
    cache = archive.open_hashes("host:/cases")
    old = time.time_ns() - 10**10
    cache.note_hash("/cases/a.tgz", 10, old, "1" * 64, time.time_ns())
    archive.save_hashes(cache)
    again = archive.open_hashes("host:/cases")
    assert again.find_hash("/cases/a.tgz", 10, old) == "1" * 64
    assert again.find_hash("/cases/a.tgz", 11, old) is None
    assert again.find_hash("/cases/a.tgz", 10, old + 1) is None
    assert again.find_hash("/cases/b.tgz", 10, old) is None
    assert archive.open_hashes("other:/cases").files == {}


def test_a_hash_made_in_the_moment_of_writing_is_not_trusted(archive: Archive) -> None:
    """A file may change again within the same tick of its clock; then its hash is made anew."""
    cache = archive.open_hashes("host:/cases")
    now = time.time_ns()
    for age, known in ((0, None), (1_999_999_999, None), (2_000_000_000, "1" * 64), (-5, None)):
        cache.note_hash("x", 1, now - age, "1" * 64, now)
        assert cache.find_hash("x", 1, now - age) == known


@given(st.integers(0, 10**4), st.integers(1, 255))
def test_a_damaged_cache_is_left_aside(
    tmp_path_factory: pytest.TempPathFactory, place: int, bit: int
) -> None:
    """A changed byte anywhere makes the cache an empty one, never a wrong hash."""
    archive = Archive.open(tmp_path_factory.mktemp("a") / "a", create=True)
    cache = archive.open_hashes("h")
    cache.note_hash("x", 1, 1, "1" * 64, time.time_ns())
    archive.save_hashes(cache)
    (item,) = archive.objects.list("hashes/")
    data = bytearray(archive.objects.get(item.name))
    data[place % len(data)] ^= bit
    archive.objects.put(item.name, bytes(data))
    assert archive.open_hashes("h").files == {}


def test_the_same_listing_is_not_read_twice(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A manifest never changes: a second snapshot opens no object."""
    store(archive, "one", stamp=1)
    compact_archive(archive)
    first = take_snapshot(archive.objects)

    def refuse(*_: object) -> bytes:
        raise AssertionError("an object was opened")

    monkeypatch.setattr(LocalStore, "get", refuse)
    assert [case.id for case in take_snapshot(archive.objects).list_visible_cases()] == [
        case.id for case in first.list_visible_cases()
    ]
