"""`archive verify` finds whatever is not as it was written, and nothing else."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.archive.documents import open_zip
from analyzer.archive.entry import MANIFEST, SEGMENTS, Entry
from analyzer.archive.object_store.object_store import HEAD
from analyzer.archive.prints import reading_print
from analyzer.archive.seal import seal_broken, seal_pack, sealed_json, unsealed_json
from analyzer.archive.store import Archive
from analyzer.archive.upkeep.compaction import compact_archive
from analyzer.archive.upkeep.verification import verify_archive
from analyzer.commands.archive import command as group
from analyzer.facts.database import duck_said
from analyzer.runtime.limits import Limits
from tests.kit.store_kit import LATER, READING, document_of, id_of, meta_of, real, store, zipped

ROOT = Path(__file__).resolve().parents[2]
NAMES = [f"case-{number}" for number in range(6)]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive with something in every room: a segment, loose packs of each kind, a label, hashes."""
    folder = tmp_path_factory.mktemp("template") / "archive"
    fill(Archive.open(folder, create=True))
    return folder


@pytest.fixture
def archive(template: Path, tmp_path: Path) -> Archive:
    """A copy of the template."""
    shutil.copytree(template, tmp_path / "archive")
    return Archive.open(tmp_path / "archive")


def fill(archive: Archive) -> None:
    """Put six cases into an archive, three of them into a segment, and what else may be there."""
    for number, name in enumerate(NAMES[:3]):
        store(archive, name, stamp=number)
    compact_archive(archive)
    store(archive, NAMES[3], stamp=3)
    store(archive, NAMES[4], stamp=4, reading=reading_print(Limits()))
    store(archive, NAMES[5], kind="none", stamp=5)
    store(archive, NAMES[0], kind="case", stamp=6, judging=LATER)
    label = {
        "id": id_of(NAMES[0]),
        "rule": "r",
        "node": "",
        "subject": "",
        "label": "confirmed",
        "at": "2024",
    }
    archive.put_label({**label, "by": "me", "note": "said so"})
    cache = archive.open_hashes("host:/cases")
    cache.note_hash("/cases/a", 1, 2, "0" * 64, time.time_ns())
    archive.save_hashes(cache)


def names(archive: Archive) -> list[str]:
    """Return the names of all objects."""
    return [item.name for item in archive.objects.list()]


def test_a_sound_archive_has_no_problem(archive: Archive) -> None:
    """Segments, packs of all kinds, labels and caches that were just written are all in order."""
    before = {item.name: (item.size, item.mtime) for item in archive.objects.list()}
    report = verify_archive(archive)
    assert report.problems == []
    assert report.remarks == []
    assert (report.cases, report.objects) == (6, len(before))
    assert {item.name: (item.size, item.mtime) for item in archive.objects.list()} == before


def test_a_remote_archive_is_verified_alike(tmp_path: Path) -> None:
    """The same in an object store; a flipped byte of a segment is found there too."""
    pytest.importorskip("fsspec")
    archive = Archive.open(f"memory://{tmp_path.name}/{time.time_ns()}", create=True)
    fill(archive)
    assert verify_archive(archive).problems == []
    name = next(name for name in names(archive) if name.endswith("_verdicts.parquet"))
    archive.objects.put(name, flipped(archive.objects.get(name), 200, 1))
    assert [problem.object for problem in verify_archive(archive).problems] == [name]


def flipped(data: bytes, place: int, bit: int) -> bytes:
    """Return bytes with some bits of one of them changed."""
    changed = bytearray(data)
    changed[place % len(data)] ^= bit or 1
    return bytes(changed)


@pytest.mark.size
def test_a_changed_byte_is_found_in_every_object(archive: Archive) -> None:
    """Of every object, one byte in each of its parts is changed: verify names that object each time."""
    chance = random.Random(4)
    for name in names(archive):
        data = archive.objects.get(name)
        for part in range(3):
            place = chance.randrange(len(data) * part // 3, max(1, len(data) * (part + 1) // 3))
            archive.objects.put(name, flipped(data, place, chance.randrange(1, 256)))
            if name == HEAD:  # it need not even open
                found = {problem.object for problem in verify_archive(archive).problems}
            else:
                found = {
                    problem.object
                    for problem in verify_archive(Archive.open(archive.objects.url)).problems
                }
            assert name in found, (name, place)
        archive.objects.put(name, data)
    assert verify_archive(archive).problems == []


@given(place=st.integers(0, 10**6), bit=st.integers(1, 255), cut=st.integers(0, 200))
@settings(max_examples=200, deadline=None)
def test_a_seal_holds_for_no_other_bytes(place: int, bit: int, cut: int) -> None:
    """No changed, cut or lengthened pack passes, nor a changed JSON object."""
    good = seal_pack(zipped({"meta.json": b"{}", "case.json": b"x" * 50}))
    assert seal_broken(good) == ""
    assert seal_broken(flipped(good, place, bit))
    assert seal_broken(good[: -cut - 1])
    assert seal_broken(good + b"\0" * (cut + 1))
    text = sealed_json({"format": "x", "list": [1, "ä", {"b": None}]})
    assert unsealed_json(text) == {"format": "x", "list": [1, "ä", {"b": None}]}
    with pytest.raises(ValueError):
        unsealed_json(flipped(text, place, bit))


@given(data=st.binary(max_size=300))
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_bytes_in_place_of_an_object(tmp_path: Path, data: bytes) -> None:
    """Whatever bytes stand in place of a pack, a label, a manifest or a cache: a problem, never a crash."""
    archive = Archive.open(tmp_path / "a", create=True)
    rooms = ["labels/" + "a" * 32 + "/" + "b" * 32 + ".json", "hashes/" + "c" * 32 + ".json"]
    rooms += [
        Entry("a" * 32, "b" * 8, READING, LATER, 1, "full").pack_name,
        "segments/00000000001-00000000/manifest.json",
    ]
    for name in rooms:
        archive.objects.put(name, data)
    assert {problem.object for problem in verify_archive(archive).problems} >= set(rooms)


def put(archive: Archive, name: str, change: dict[str, bytes | None], kind: str = "full") -> str:
    """Store a sealed pack with some members changed or left out; return its object's name."""
    entry = store(archive, name, kind=kind, stamp=50)
    with open_zip(archive.objects, entry.holder) as pack:
        members = {member: pack.read(member) for member in pack.namelist()}
    left = {member: data for member, data in (members | change).items() if data is not None}
    archive.put_pack(entry, zipped(left))
    return entry.holder


META = meta_of(id_of("odd"), "odd", READING, "b" * 12)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"meta.json": None}, "meta.json is missing"),
        ({"meta.json": b"[1]"}, "not a JSON object"),
        ({"meta.json": json.dumps(META | {"id": "f" * 32}).encode()}, "says id ffffffff"),
        ({"meta.json": json.dumps(META | {"source": "/else"}).encode()}, "another source"),
        (
            {"meta.json": json.dumps(META | {"state": "refused"}).encode()},
            'state refused, which does not fit "full"',
        ),
        (
            {"meta.json": json.dumps(META | {"judging": "0" * 12}).encode()},
            "says judging 000000000000",
        ),
        ({"case.json": None}, "case.json is missing"),
        ({"case.json": b"{}"}, "it has no key `schema`"),
        ({"case.json": document_of("odd", "other").encode()}, "the id is not that of the files"),
        ({"base.json": None}, "base.json is missing"),
        ({"base.json": b"nonsense"}, "base.json is not a JSON object"),
        ({"tables/_case.parquet": b"PAR1nonsensePAR1"}, "table _case: it cannot be read"),
        (
            {"tables/_case.parquet": real()["tables/_verdicts.parquet"]},
            "table _case: it lacks the column name",
        ),
        ({"tables/../../x.parquet": b""}, "is not part of a stored case"),
        ({"readme.txt": b""}, "readme.txt is not part of a stored case"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else value[:25],
)
def test_a_pack_that_does_not_hang_together(
    archive: Archive, change: dict[str, bytes | None], what: str
) -> None:
    """A whole and sealed pack with a wrong part is named, and why."""
    name = put(archive, "odd", change)
    problems = verify_archive(archive).problems
    assert {problem.object for problem in problems} == {name}
    assert any(what in problem.what for problem in problems), problems


def test_facts_in_a_pack_of_a_judgement(archive: Archive) -> None:
    """A pack of kind "case" holds no facts."""
    store(archive, "odd", stamp=49)
    name = put(
        archive, "odd", {"tables/_nodes.parquet": real()["tables/_nodes.parquet"]}, kind="case"
    )
    assert [problem.object for problem in verify_archive(archive).problems] == [name]


def test_a_judgement_without_facts_is_named(archive: Archive) -> None:
    """When the pack with the facts is gone, verify tells of which case, and what still works."""
    entry = store(archive, "lonely", kind="case", stamp=9)
    (problem,) = verify_archive(archive).problems
    assert problem.object == entry.holder
    assert f"the facts of case {entry.id[:12]} are missing" in problem.what
    store(archive, "lonely", stamp=8)
    assert verify_archive(archive).problems == []


def test_strange_objects_are_named(archive: Archive) -> None:
    """Files that nobody of us wrote, also with names that look like ours."""
    strange = [
        "notes.txt",
        "packs/aa/x.zip",
        "packs/readme",
        "segments/x/y.parquet",
        "labels/x.json",
    ]
    strange.append(
        f"packs/ff/{Entry('a' * 32, 'b' * 8, 'c' * 12, 'd' * 12, 1, 'full').entry_text}.full.zip"
    )
    for name in strange:
        archive.objects.put(name, b"x")
    assert {problem.object for problem in verify_archive(archive).problems} == set(strange)


def test_a_missing_file_of_a_segment_and_one_too_many(archive: Archive) -> None:
    """A segment without one of its files tells how many cases that concerns."""
    name = next(
        name for name in names(archive) if name.endswith("_findings.parquet") or "_unknowns" in name
    )
    data = archive.objects.get(name)
    archive.objects.delete(name)
    archive.objects.put(name.replace("_unknowns", "_other").replace("_findings", "_other"), data)
    problems = verify_archive(archive).problems
    assert [problem.weight for problem in problems] == [1, 3]
    assert "it concerns 3 cases" in problems[0].what
    assert "does not name it" in problems[1].what


@pytest.mark.size
def test_debris_is_a_remark(archive: Archive) -> None:
    """What killed runs leave is told and is no problem."""
    store(archive, NAMES[3], stamp=300)
    archive.objects.put("segments/00000000001-00000001/_case.parquet", b"half")
    archive.objects.put("claims/" + "a" * 32, b"{}")
    assert archive.objects.local is not None
    (archive.objects.local / "tmp" / "1-dead.part").write_bytes(b"x")
    report = verify_archive(archive)
    assert report.problems == []
    assert len(report.remarks) == 4
    compact_archive(archive, older_than=0)
    assert verify_archive(archive).remarks == []


def test_problems_come_worst_first(archive: Archive) -> None:
    """A lost case stands before a strange file, whatever their names."""
    archive.objects.put("aaa.txt", b"x")
    holder = next(name for name in names(archive) if name.startswith("packs/"))
    archive.objects.put(holder, b"x")
    manifest = next(
        name for name in names(archive) if name.startswith(SEGMENTS) and name.endswith(MANIFEST)
    )
    archive.objects.put(manifest, b"{}")
    problems = verify_archive(Archive.open(archive.objects.url)).problems
    assert [problem.weight for problem in problems] == sorted(
        problem.weight for problem in problems
    )
    assert problems[-1].object == "aaa.txt"
    assert manifest in {problem.object for problem in problems}


def test_the_command(archive: Archive) -> None:
    """Exit 0 and one line for a sound archive, 5 and a line a problem else; JSON says the same."""
    run = CliRunner().invoke(group, ["verify", "--archive", archive.objects.url])
    assert run.exit_code == 0, run.output
    assert run.output.startswith("6 cases, ")
    assert run.output.endswith("no problem\n")
    archive.objects.put("strange.txt", b"x")
    store(archive, NAMES[3], stamp=300)
    run = CliRunner().invoke(group, ["verify", "--archive", archive.objects.url])
    assert run.exit_code == 5
    lines = run.output.splitlines()
    assert lines[0] == "strange.txt: it is not part of an archive. Move it out of the archive."
    assert lines[1].startswith("remark: packs/")
    assert lines[-1].endswith("1 problem")
    run = CliRunner().invoke(group, ["verify", "--archive", archive.objects.url, "--json"])
    assert run.exit_code == 5
    answer = json.loads(run.output)
    assert answer["ok"] is False
    assert answer["problems"][0]["object"] == "strange.txt"


def test_names_from_elsewhere_do_not_steer_a_terminal(archive: Archive, tmp_path: Path) -> None:
    """A file whose name holds control characters is shown as text."""
    (tmp_path / "archive" / "evil\x1b[31m\n.txt").write_bytes(b"x")
    run = CliRunner().invoke(group, ["verify", "--archive", archive.objects.url])
    assert run.exit_code == 5
    assert "\x1b" not in run.output
    assert "evil\\x1b[31m .txt: it is not part" in run.output


@pytest.mark.size
def test_the_command_compact(archive: Archive) -> None:
    """It tells what it did; a damaged case makes exit 5; no archive is one line and exit 3."""
    run = CliRunner().invoke(group, ["compact", "--archive", archive.objects.url, "--all"])
    assert run.exit_code == 0, run.output
    assert run.output == "6 cases into 2 segments, 4 packs deleted, 0 objects swept\n"
    assert verify_archive(archive).problems == []
    run = CliRunner().invoke(group, ["compact", "--archive", archive.objects.url])
    assert (run.exit_code, run.output) == (0, "nothing to do\n")
    entry = store(archive, "new", stamp=400)
    archive.objects.put(entry.holder, b"x")
    run = CliRunner().invoke(group, ["compact", "--archive", archive.objects.url, "--all"])
    assert run.exit_code == 5
    assert f"{entry.holder}: it has no seal" in run.output
    run = CliRunner().invoke(group, ["compact", "--archive", archive.objects.url + "/nowhere"])
    assert run.exit_code == 3
    assert "this is not a case archive" in run.output


def limited(kilobytes: int, *words: object) -> subprocess.CompletedProcess[str]:
    """Run a command that may write files of so many kilobytes only, which the system tells like a full disk."""
    command = [sys.executable, "-m", "analyzer", *map(str, words)]
    return subprocess.run(
        ["sh", "-c", f'ulimit -f {kilobytes}; exec "$@"', "sh", *command],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("words", [("verify",), ("search", "nodes: complete")])
def test_a_full_disk_is_told_of_the_place_that_is_full(
    archive: Archive, words: tuple[str, ...]
) -> None:
    """`verify` and `search` write tables below tmp/ of the archive: that folder is named, not standard output."""
    done = limited(0, "archive", *words, "--archive", archive.objects.url)

    assert done.returncode == 6
    assert "standard output" not in done.stderr
    assert f"{archive.objects.url}/tmp/" in done.stderr
    assert "Free some space there" in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_duckdb_says_of_a_full_disk_is_a_sentence() -> None:
    """An error of one of its threads comes wrapped in JSON; nothing of that is shown."""
    said = 'Could not write file \\"/a/b\\": No space left on device'
    inner = f'{{"exception_type":"IO","exception_message":"{said}","errno":"28"}}'
    error = duckdb.IOException(
        f"IO Error: Async write failed for range [offset=27, size=4]: {inner}"
    )

    assert duck_said(error).endswith(
        'size=4]: Could not write file "/a/b": No space left on device'
    )
    assert duck_said(ValueError('no {"exception_type" at all')) == 'no {"exception_type" at all'
