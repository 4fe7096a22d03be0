"""Hostile and broken archives: every one is answered, in bounded time and memory, without a write.

The public corner cases are read where they lie, if they lie there; nothing of them is kept here.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import subprocess
import sys
import tarfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer.runtime.errors import RefusedError
from analyzer.runtime.limits import Limits
from analyzer.sources import Ledger, codecs, walk
from analyzer.sources.names import normalise
from analyzer.sources.stream import Feed, FeedStream, MemorySource, SliceStream
from analyzer.sources.tar import TarReader
from analyzer.sources.zip import ZipReader
from tests.kit import hostile
from tests.kit.full_size import FULL

CORPUS = Path(__file__).parents[2] / "../shared/corpus/hostile"
corpus = pytest.mark.skipif(not CORPUS.exists(), reason="the public corner cases are not here")
_WRITES: list[str] = []
_WATCH = [False]


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if not _WATCH[0] or event not in (
        "open",
        "os.mkdir",
        "os.rename",
        "os.remove",
        "socket.connect",
        "os.symlink",
    ):
        return
    if (
        event != "open"
        or (isinstance(args[1], str) and set(args[1]) & set("wax+"))
        or (args[2] or 0) & 3
    ):
        _WRITES.append(f"{event} {args[0]!r}")


sys.addaudithook(_audit)


@pytest.fixture
def no_writes() -> Iterator[None]:
    """Fail when anything is opened for writing, created, removed or connected."""
    _WRITES.clear()
    _WATCH[0] = True
    yield
    _WATCH[0] = False
    assert not _WRITES


def answer(path: Path, limits: Limits | None = None) -> tuple[str, Ledger, dict[str, bytes]]:
    """Read everything; return ok, partial or refused."""
    ledger = Ledger()
    found: dict[str, bytes] = {}
    try:
        for member in walk([path], limits or Limits(), ledger):
            size = sum(len(piece) for piece in member.chunks())
            found[member.address] = b"%d" % size
    except RefusedError as error:
        assert "\n" not in str(error)
        return "refused", ledger, found
    assert not any("internal error" in str(damage) for damage in ledger.damage)
    return ("partial" if ledger.damage or ledger.limits else "ok"), ledger, found


def files(*folders: str) -> list[Path]:
    if not CORPUS.exists():
        return []
    return [path for name in folders for path in sorted((CORPUS / name).iterdir())]


def reference() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((CORPUS / "reference.json").read_text())
    return data


@corpus
@pytest.mark.corpus
@pytest.mark.usefixtures("no_writes")
def test_every_public_corner_case_is_answered() -> None:
    """All files of the corpus: ok, partial or refused, each in less than ten seconds, no exception."""
    slow = []
    for path in sorted(CORPUS.rglob("*")):
        if path.is_file():
            started = time.process_time()
            answer(path)
            if time.process_time() - started > 10:
                slow.append(path.name)
    assert not slow


@corpus
@pytest.mark.corpus
@pytest.mark.usefixtures("no_writes")
def test_a_sample_of_the_corner_cases_is_answered() -> None:
    """Every seventh file of the corpus is answered."""
    for path in files("tar", "tgz", "gzip", "zip", "tar-other", "other", "bzip2")[::7]:
        answer(path)


def _listed(name: str, data: bytes, ledger: Ledger) -> tuple[list[str], int]:
    """Return the names our readers list, and how many come before an end mark."""
    if name.startswith("zip/"):
        entries = ZipReader(MemorySource(data), name, Limits(), ledger).read_entries()
        return [entry.name.path for entry in entries], len(entries)
    feed = Feed(SliceStream(MemorySource(data)))
    while kind := codecs.kind_of(feed.peek(16)):
        feed = Feed(codecs.open_codec(kind, FeedStream(feed)))
    names: list[str] = []
    before_end = 0
    for entry in TarReader(feed, name, Limits(), ledger).read_entries():
        names.append(entry.name.path)
        before_end += not any("end mark" in note for note in ledger.notes)
    return names, before_end


def _as_bytes(text: str) -> str:
    """Names of the reference show each byte as one character, or are text."""
    try:
        return text.encode("latin-1").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text


@corpus
@pytest.mark.corpus
def test_archives_all_readers_read_give_the_same_members() -> None:
    """On the archives that every reader reads, the count of members equals one of the readers', no damage."""
    wrong = []
    for name, told in reference().items():
        if told["class"] != "all-read" or name.startswith("gzip/"):
            continue
        ledger = Ledger()
        names, before_end = _listed(name, (CORPUS / name).read_bytes(), ledger)
        counts = {reader["n"] for reader in told["readers"].values()}
        if before_end not in counts or ledger.damage or ledger.limits:
            wrong.append((name, len(names), counts, [str(d) for d in ledger.damage[:1]]))
    assert not wrong


# What no other reader reads, or not as we do, although we call it sound: name, and why that is right.
OWN_READING = {
    "zip/library-fuzzers__d6b4db8409d569f4.zip": "a zip64 record beside a sound directory: the entry and its checksum are right",
    "zip/library-fuzzers__edfdbb8e21c15fdb.zip": "the same",
    "zip/yauzl__extra_field_length_exceeds_extra_field_buffer_size.zip": "an extra field that nobody needs is too long",
    "zip/zip2__zip64_magic_in_filename_3.zip": "a name that looks like a record: both entries are there",
}


@corpus
@pytest.mark.corpus
def test_what_is_called_sound_has_the_members_that_another_reader_finds() -> None:
    """Of all archives that we read without a word of damage, the count of members is that of one of five readers."""
    wrong, sound = [], 0
    for name, told in reference().items():
        state, ledger, found = answer(CORPUS / name)
        inside = [source for source in ledger.sources if "!" in source.address]
        if (
            state != "ok"
            or not inside
            or any(source.state in ("cut", "skipped") for source in ledger.sources)
        ):
            continue
        sound += 1
        names, before_end = _listed(name, (CORPUS / name).read_bytes(), Ledger())
        counts = {reader["n"] for reader in told["readers"].values()}
        if not counts & {len(names), before_end, len(inside)} and name not in OWN_READING:
            wrong.append((name, len(names), counts, sorted(found)[:3]))
    assert not wrong
    assert sound > 400


@corpus
@pytest.mark.corpus
@pytest.mark.size
def test_the_whole_triage_of_every_public_corner_case_is_never_clean() -> None:
    """None of them is support material: each is refused or partial, unless something in it was understood (a fifth of them, at full size all)."""
    with hostile.rules_read_once():
        files = sorted(path for path in CORPUS.rglob("*") if path.is_file())
        for path in files if FULL else files[::5]:
            found = hostile.ask(path)
            assert found.state != "ok" or found.document.sources[0].read_by, path  # type: ignore[index]


@corpus
@pytest.mark.corpus
def test_names_are_those_of_the_readers() -> None:
    """Names equal the reference's but where its reader is known to differ (prefix of GNU headers, code pages)."""
    differ = []
    for name, told in reference().items():
        if told["class"] != "all-read" or not name.startswith(("tar/", "tgz/")):
            continue
        names, _ = _listed(name, (CORPUS / name).read_bytes(), Ledger())
        wanted = [normalise(_as_bytes(text), 4096).path for text in told["names_head"]]
        if names[: len(wanted)] != wanted:
            differ.append(name)
    assert len(differ) <= 9


@corpus
@pytest.mark.corpus
def test_what_all_readers_call_damaged_is_never_ok() -> None:
    """No tar that GNU tar, bsdtar and Go all report as damaged is called sound by us."""
    missed = []
    for name, told in reference().items():
        if not name.startswith(("tar/", "tgz/", "tar-other/")):
            continue
        damaged = all(not told["readers"][reader]["ok"] for reader in ("gnutar", "bsdtar", "go"))
        data = (CORPUS / name).read_bytes()
        if damaged and not data.startswith(b"version https://git-lfs"):
            state, ledger, found = answer(CORPUS / name)
            loose = len(found) == 1 and "!" not in next(
                iter(found)
            )  # given as a text file, not as an archive
            if state == "ok" and not loose and not ledger.notes:
                missed.append(name)
    assert not missed


def bundle(extra: bytes = b"", *, end: bool = True) -> bytes:
    """A small bundle as a tar, without its end mark when something is to follow."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for i in range(20):
            info = tarfile.TarInfo(f"esx-host7-2026-01-20--09.27-1/var/log/{i}.log")
            data = b"2026-01-20T09:27:%02d.000Z cpu0:1)esx-host7\n" % i * (40 + i)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        size = archive.offset
    return raw.getvalue()[:size] + extra + (bytes(1024) if end else b"")


@pytest.mark.size
@corpus
@pytest.mark.corpus
@pytest.mark.usefixtures("no_writes")
def test_corner_cases_behind_a_sound_bundle_leave_it_whole() -> None:
    """Each corner case put behind the members of a sound bundle, or into it as a log: the bundle is read."""
    for path in files("tar", "tgz", "gzip", "zip", "tar-other", "other", "bzip2", "csv"):
        data = path.read_bytes()
        info = tarfile.TarInfo("esx-host7-2026-01-20--09.27-1/var/log/vmkernel.1.gz")
        info.size = len(data)
        inside = info.tobuf() + data + bytes(-len(data) % 512)
        for made in (bundle(inside), bundle(data, end=False)):
            ledger = Ledger()
            found = [m.address for m in _walk_bytes(made, ledger) if m.read(1 << 22) is not None]
            assert sum("/var/log/" in address for address in found) >= 20, path.name


def _walk_bytes(data: bytes, ledger: Ledger) -> Iterator[Any]:
    from analyzer.sources.item import Item
    from analyzer.sources.walker import Walker

    item = Item("b.tar", "b.tar", "b.tar", size=len(data))
    return Walker(Limits(), ledger).walk_content(item, SliceStream(MemorySource(data)), 0)


@pytest.mark.usefixtures("no_writes")
def test_bundle_cut_at_any_byte_gives_a_subset_and_is_never_ok() -> None:
    """A tgz cut at many bytes: findings of a cut are a subset of the whole's, and the cut is told."""
    packed = gzip.compress(bundle(), mtime=0)
    whole = {m.address: m.read() for m in _walk_bytes(packed, Ledger())}
    for cut in [
        *range(20, 200),
        *range(200, len(packed), 37),
        *range(len(packed) - 40, len(packed)),
    ]:
        ledger = Ledger()
        for member in _walk_bytes(packed[:cut], ledger):
            text = member.read()
            if member.address != "b.tar":  # too short for a tar: a text of some bytes
                assert whole[member.address].startswith(text)
                assert text == whole[member.address] or member.cut
        assert ledger.damage


@pytest.mark.size
@pytest.mark.usefixtures("no_writes")
def test_each_header_byte_changed_is_answered() -> None:
    """Each byte of the gzip header and of a tar header flipped in three ways: answered without exception."""
    data = bundle()
    for place in range(512):
        for flip in (1, 0x80, 0xFF):
            bad = bytearray(data)
            bad[512 + 2048 + place] ^= flip
            assert len([m.read() for m in _walk_bytes(bytes(bad), Ledger())]) >= 18
    packed = gzip.compress(data, mtime=0)
    for place in range(10):
        for flip in (1, 0x80, 0xFF):
            bad = bytearray(packed)
            bad[place] ^= flip
            list(_walk_bytes(bytes(bad), Ledger()))


def _lines_gz(size: int) -> bytes:
    engine = zlib.compressobj(6, zlib.DEFLATED, 31)
    block = b"a\n" * (1 << 19)
    return b"".join(engine.compress(block) for _ in range(size >> 20)) + engine.flush()


def _bounded(path: Path, limits: Limits, seconds: float) -> Ledger:
    started = time.process_time()
    _, ledger, _ = answer(path, limits)
    assert time.process_time() - started < seconds
    return ledger


@pytest.mark.size
def test_bombs_are_bounded(tmp_path: Path) -> None:
    """A large member of zeros, gzip in gzip, and a zip of zips end at a limit that is said."""
    info = tarfile.TarInfo("esx-a/zdump")
    info.size = 400 << 20
    engine = zlib.compressobj(6, zlib.DEFLATED, 31)
    block = bytes(1 << 20)
    data = (
        engine.compress(info.tobuf())
        + b"".join(engine.compress(block) for _ in range(400))
        + engine.flush()
    )
    (tmp_path / "zeros.tgz").write_bytes(data)
    assert [hit.name for hit in _bounded(tmp_path / "zeros.tgz", Limits(), 20).limits] == ["ratio"]

    (tmp_path / "twice.gz").write_bytes(gzip.compress(_lines_gz(300 << 20)))
    assert [hit.name for hit in _bounded(tmp_path / "twice.gz", Limits(), 20).limits] == ["ratio"]

    inner = _zip({f"{i}.txt": bytes(4 << 20) for i in range(16)})
    for depth in range(3):
        inner = _zip({f"{depth}-{i}.zip": inner for i in range(16)})
    (tmp_path / "42.zip").write_bytes(inner)
    ledger = _bounded(
        tmp_path / "42.zip", Limits(expanded_bytes=1 << 30, nested_expanded=256 << 20), 60
    )
    assert {hit.name for hit in ledger.limits} & {"nested_expanded", "expanded_bytes"}


def _zip(parts: dict[str, bytes]) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return raw.getvalue()


@pytest.mark.size
def test_many_members_are_bounded(tmp_path: Path) -> None:
    """Thirty thousand empty members of a tiny tgz are walked in seconds, or to the limit."""
    engine = zlib.compressobj(6, zlib.DEFLATED, 31)
    parts = [
        engine.compress(tarfile.TarInfo(f"esx-a/{i}").tobuf(tarfile.GNU_FORMAT))
        for i in range(30_000)
    ]
    (tmp_path / "b.tgz").write_bytes(b"".join(parts) + engine.flush())
    started = time.process_time()
    state, ledger, found = answer(tmp_path / "b.tgz")
    assert (state, len(found)) == ("ok", 30_000)
    assert time.process_time() - started < 40
    state, ledger, found = answer(tmp_path / "b.tgz", Limits(members=1000))
    assert (state, len(found), [hit.name for hit in ledger.limits]) == (
        "partial",
        1000,
        ["members"],
    )


@pytest.mark.process
def test_zero_member_of_300_mib_is_fast_and_flat(tmp_path: Path) -> None:
    """300 MiB of zeros in a tgz of 300 KB are skipped in about a second and 80 MB of memory."""
    info = tarfile.TarInfo("esx-a/zdump")
    info.size = 300 << 20
    engine = zlib.compressobj(6, zlib.DEFLATED, 31)
    block = bytes(1 << 20)
    data = (
        engine.compress(info.tobuf())
        + b"".join(engine.compress(block) for _ in range(300))
        + engine.flush()
    )
    (tmp_path / "b.tgz").write_bytes(data)
    code = (
        "import sys, time, pathlib\n"
        "from analyzer.runtime.limits import Limits\n"
        "from analyzer.sources import Ledger, walk\n"
        "started = time.process_time()\n"
        "n = sum(1 for _ in walk([pathlib.Path(sys.argv[1])], Limits(ratio=2000), Ledger()))\n"
        "status = pathlib.Path('/proc/self/status')\n"
        "peak = [x for x in status.read_text().splitlines() if 'VmHWM' in x] if status.exists() else ['0 0']\n"
        "print(n, time.process_time() - started, int(peak[0].split()[1]) // 1024)\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "b.tgz")],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2],
    ).stdout.split()  # fmt: skip
    assert int(out[0]) == 1
    assert float(out[1]) < 2
    assert int(out[2]) < 80


def test_nothing_is_written_or_called(tmp_path: Path) -> None:
    """A wrapper zip, its bundles, a folder with links out and a damaged archive are read without a write."""
    packed = gzip.compress(bundle(), mtime=0)
    (tmp_path / "vc.zip").write_bytes(_zip({"h1.tgz": packed, "h2.tgz": packed[:-5]}))
    (tmp_path / "esx-a" / "var").mkdir(parents=True)
    (tmp_path / "esx-a" / "var" / "x.gz").write_bytes(gzip.compress(b"text\n"))
    (tmp_path / "esx-a" / "out").symlink_to("/etc/passwd")
    before = sorted(tmp_path.rglob("*"))
    _WRITES.clear()
    _WATCH[0] = True
    try:
        _, _, found = answer(tmp_path)
    finally:
        _WATCH[0] = False
    assert len(found) == 41
    assert not _WRITES
    assert sorted(tmp_path.rglob("*")) == before


def test_walk_twice_gives_the_same(tmp_path: Path) -> None:
    """The same damaged input gives the same members, faults and notes, thread or not."""
    chance = random.Random(5)
    data = bytearray(gzip.compress(bundle() + bundle()[:-1024]))
    for _ in range(3):
        data[chance.randrange(1000, len(data))] ^= 0x55
    (tmp_path / "b.tgz").write_bytes(bytes(data))
    one, two = answer(tmp_path / "b.tgz"), answer(tmp_path / "b.tgz")
    assert one[2] == two[2]
    assert [str(d) for d in one[1].damage] == [str(d) for d in two[1].damage]
    assert one[1].notes == two[1].notes
