"""One pass over files, folders and archives in archives: addresses, limits, refusals."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from analyzer.runtime.errors import RefusedError
from analyzer.runtime.limits import Limits
from analyzer.sources import Ledger, Member, walk

Parts = dict[str, bytes | str]
BUNDLE: Parts = {
    "esx-a/var/log/vmkernel.log": b"2026-01-20T09:00:00.000Z cpu0:1)x\n" * 50,
    "esx-a/commands/uname_-a.txt": b"VMkernel esx-a 7.0.3\n",
}


def tar_bytes(parts: Parts) -> bytes:
    """A tar of files; a string is the target of a symbolic link."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for name, data in parts.items():
            info = tarfile.TarInfo(name)
            info.mtime = 1_700_000_000
            if isinstance(data, str):
                info.type, info.linkname = tarfile.SYMTYPE, data
                archive.addfile(info)
            else:
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    return raw.getvalue()


def tgz(parts: Parts) -> bytes:
    return gzip.compress(tar_bytes(parts), mtime=0)


def zip_bytes(parts: Parts) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return raw.getvalue()


def read(*paths: Path, limits: Limits | None = None) -> tuple[dict[str, bytes], Ledger]:
    ledger = Ledger()
    return {m.address: m.read() for m in walk(paths, limits or Limits(), ledger)}, ledger


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("b.tgz", gzip.compress),
        ("b.tar", lambda d: d),
        ("b.txt", lambda d: d),
        ("b.tar.bz2", bz2.compress),
        ("b.tar.xz", lzma.compress),
        ("b.tar.zst", lambda d: zstandard.ZstdCompressor().compress(d)),
        ("b.gz.gz", lambda d: gzip.compress(gzip.compress(d))),
        ("b.log", gzip.compress),
    ],
)
def test_archives_are_known_by_content(tmp_path: Path, name: str, pack) -> None:  # type: ignore[no-untyped-def]
    """Each packing, and each wrong name, gives the same members with addresses in the archive."""
    made = write(tmp_path / name, pack(tar_bytes(BUNDLE)))
    found, ledger = read(made)
    assert found == {f"{name}!{path}": data for path, data in BUNDLE.items()}
    assert not ledger.damage
    assert ledger.is_complete(f"{name}!esx-a")


def test_member_knows_where_it_is(tmp_path: Path) -> None:
    """Address, path, root, size and time of a member of a tgz in a zip."""
    made = write(tmp_path / "vc.zip", zip_bytes({"h1.tgz": tgz(BUNDLE)}))
    member = next(iter(walk([made], Limits(), Ledger())))
    assert member.address == "vc.zip!h1.tgz!esx-a/var/log/vmkernel.log"
    assert member.path == "esx-a/var/log/vmkernel.log"
    assert member.root == "vc.zip!h1.tgz!esx-a"
    assert (member.in_archive, member.size, member.mtime) == (True, 1700, 1_700_000_000.0)


def test_compression_of_a_single_file_is_undone(tmp_path: Path) -> None:
    """Rotated logs packed by any of four methods are text, inside archives and alone."""
    text = b"a line of a log\n" * 4000
    packs: Parts = {
        "esx-a/1.gz": gzip.compress(text),
        "esx-a/2.bz2": bz2.compress(text),
        "esx-a/3.xz": lzma.compress(text),
        "esx-a/4.zst": zstandard.ZstdCompressor().compress(text),
    }
    found, ledger = read(write(tmp_path / "b.tgz", tgz(packs)))
    assert set(found.values()) == {text}
    assert len(found) == 4
    assert not ledger.damage
    found, _ = read(write(tmp_path / "vmkernel.1.gz", gzip.compress(text)))
    assert found == {"vmkernel.1.gz": text}


def test_reading_in_pieces_gives_the_same(tmp_path: Path) -> None:
    """read, chunks, readinto and text_head agree; a head does not consume."""
    made = write(tmp_path / "b.tgz", tgz({"esx-a/x": os.urandom(3 << 20)}))

    alive = []

    def one() -> Member:
        alive.append(walk([made], Limits(), Ledger()))  # a member lives as long as the walk
        return next(alive[-1])

    whole = one().read()
    assert b"".join(one().chunks(1000)) == whole
    member = one()
    buffer = bytearray(70_000)
    out = bytearray()
    assert member.text_head(100) == whole[:100]
    while count := member.readinto(buffer):
        out += buffer[:count]
    assert bytes(out) == whole
    assert (member.read_bytes, member.cut) == (len(whole), "")


def test_skipped_members_do_not_disturb(tmp_path: Path) -> None:
    """A consumer that reads nothing, or a part, gets the members behind it all the same."""
    made = write(tmp_path / "b.tgz", tgz({f"esx-a/{i}": b"%d" % i * 5000 for i in range(50)}))
    got = []
    for i, member in enumerate(walk([made], Limits(), Ledger())):
        got.append(member.read(10) if i % 3 == 0 else b"")
    assert len(got) == 50
    assert got[48] == b"4848484848"


def test_unpacked_folder_is_a_tree(tmp_path: Path) -> None:
    """An unpacked bundle gives paths and a root like its archive; a folder of files gives loose files."""
    for name, data in BUNDLE.items():
        assert isinstance(data, bytes)
        target = tmp_path / "case" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    write(tmp_path / "case" / "note.txt", b"hello\n")
    write(tmp_path / "case" / "b.tgz", tgz(BUNDLE))
    members = {m.address: m for m in walk([tmp_path / "case"], Limits(), Ledger())}
    assert set(members) == {*BUNDLE, "note.txt", *(f"b.tgz!{name}" for name in BUNDLE)}
    assert members["esx-a/var/log/vmkernel.log"].root == "esx-a"
    assert members["note.txt"].root == "note.txt"
    alone = [m.path for m in walk([tmp_path / "case" / "esx-a"], Limits(), Ledger())]
    assert sorted(alone) == sorted(BUNDLE)


def test_roots_of_two_hosts_are_not_mixed(tmp_path: Path) -> None:
    """Two top directories in one archive are two roots; an archive without one has an empty top."""
    made = write(tmp_path / "b.tgz", tgz({"esx-a/x": b"1", "esx-b/x": b"2"}))
    assert {m.root for m in walk([made], Limits(), Ledger())} == {"b.tgz!esx-a", "b.tgz!esx-b"}
    made = write(tmp_path / "c.tgz", tgz({"./var/log/x": b"1", "commands/x": b"2", "README": b"3"}))
    assert {m.root for m in walk([made], Limits(), Ledger())} == {"c.tgz!"}


def test_links_are_listed_and_never_followed(tmp_path: Path) -> None:
    """A link inside the tree is resolved in the table only; one to outside is listed; no file is read."""
    secret = write(tmp_path / "secret", b"do not read")
    parts: Parts = {
        "esx-a/var/run/log/x.log": b"x",
        "esx-a/var/log": "../var/run/log",
        "esx-a/passwd": "/etc/passwd",
        "esx-a/up": "../../../../" + str(secret),
    }
    found, ledger = read(write(tmp_path / "b.tgz", tgz(parts)))
    assert set(found.values()) == {b"x"}
    assert ledger.links == {"b.tgz!esx-a/var/log": "b.tgz!esx-a/var/run/log"}
    assert sum("not followed" in record.why for record in ledger.sources) == 2
    assert not ledger.damage


def test_folder_with_link_loop_pipe_and_link_out(tmp_path: Path) -> None:
    """A folder is walked without following links and without waiting on a pipe."""
    root = tmp_path / "esx-a"
    (root / "var").mkdir(parents=True)
    write(root / "var" / "x.log", b"x\n")
    (root / "loop").symlink_to(root)
    (root / "out").symlink_to("/etc")
    os.mkfifo(root / "var" / "pipe")
    found, ledger = read(root)
    assert found == {"esx-a/var/x.log": b"x\n"}
    assert {r.address: r.state for r in ledger.sources} == dict.fromkeys(
        ("esx-a/var/x.log", "esx-a/loop", "esx-a/out", "esx-a/var/pipe"), "listed"
    )


@pytest.mark.parametrize(
    ("data", "looks"),
    [
        (b"", "empty"),
        (bytes(5000), "zero bytes"),
        (b"<!DOCTYPE html><html><head>Sign in</head></html>", "session expired"),
        (b"\x7fELF\x02\x01\x01" + bytes(100), "core dump"),
        (b"7z\xbc\xaf\x27\x1c" + bytes(100), "7-Zip"),
        (bytes(range(256)) * 20, "binary"),
        (gzip.compress(b"", mtime=0), "empty"),
        (gzip.compress(bytes(range(256)) * 20), "binary"),
        (tar_bytes({}), "zero bytes"),
        (b"PK\x05\x06" + bytes(18), "empty zip"),
        (b"x".ljust(257, b"\0") + b"visor  " + bytes(600), "boot modules"),
    ],
)
def test_what_is_no_bundle_is_refused_by_name(tmp_path: Path, data: bytes, looks: str) -> None:
    """A file that is neither archive nor text is refused in one line that names it and its looks."""
    made = write(tmp_path / "upload.tgz", data)
    with pytest.raises(RefusedError) as refused:
        read(made)
    assert looks in str(refused.value)
    assert "upload.tgz" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_pipe_device_and_missing_path_are_refused_at_once(tmp_path: Path) -> None:
    """A FIFO, a link to /dev/zero, a dangling link and a missing path are refused without opening."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name in ("fifo", "zero", "dangling", "missing"):
        with pytest.raises(RefusedError):
            read(tmp_path / name)


def test_one_refused_file_does_not_stop_the_others(tmp_path: Path) -> None:
    """Beside a sound bundle a refused file is recorded and the bundle is read."""
    bad = write(tmp_path / "a.7z", b"7z\xbc\xaf\x27\x1c" + bytes(100))
    good = write(tmp_path / "b.tgz", tgz(BUNDLE))
    found, ledger = read(bad, good)
    assert len(found) == 2
    assert next((r.address, r.state) for r in ledger.sources) == ("a.7z", "refused")


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/cron.d/x",
        "/etc/passwd",
        "//srv/x",
        "C:\\windows\\x",
        "a/./b//c",
        "a\\..\\..\\b",
        "-rf *",
        "\x1b[2J",
        "..",
    ],
)
def test_names_are_keys_never_paths(tmp_path: Path, name: str) -> None:
    """No form of a name leaves the tree: the key has no upward start, no slash at its ends."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.size = 1
        archive.addfile(info, io.BytesIO(b"x"))
    ledger = Ledger()
    for member in walk([write(tmp_path / "b.tar", raw.getvalue())], Limits(), ledger):
        assert not member.path.startswith("/")
        assert "\\" not in member.path
    unsafe = ".." in name or name[0] == "/" or ":" in name
    assert any("used only as a label" in note for note in ledger.notes) == unsafe


def test_long_name_is_capped_and_stays_unique(tmp_path: Path) -> None:
    """A name of 1 MiB is cut to the limit with a hash, so that two of them stay two."""
    parts: Parts = {"d/" + "n" * 200_000 + str(i): b"x" for i in range(2)}
    found, ledger = read(write(tmp_path / "b.tgz", tgz(parts)))
    assert len(found) == 2
    assert all(len(address) < 4200 for address in found)
    assert ledger.notes


def test_duplicates_are_said(tmp_path: Path) -> None:
    """A member that comes twice is given twice and said."""
    raw = tar_bytes({"esx-a/x": b"1"})[:1024] + tar_bytes({"esx-a/x": b"2"})
    ledger = Ledger()
    assert [m.read() for m in walk([write(tmp_path / "b.tar", raw)], Limits(), ledger)] == [
        b"1",
        b"2",
    ]
    assert any("seen before" in note for note in ledger.notes)


def test_credentials_are_never_opened(tmp_path: Path) -> None:
    """local.tgz and state.tgz hold the host's keys: they are listed with the reason."""
    parts: Parts = {"esx-a/local.tgz": tgz({"etc/shadow": b"root:x"}), "esx-a/y": b"y"}
    found, ledger = read(write(tmp_path / "b.tgz", tgz(parts)))
    assert set(found.values()) == {b"y"}
    assert "credentials" in ledger.sources[0].why


def test_nesting_is_limited(tmp_path: Path) -> None:
    """Archives in archives are opened to the limit; the next one is listed and the limit said."""
    data = tgz({"d0/x": b"deep"})
    for depth in range(1, 6):
        data = tgz({f"d{depth}/inner.tgz": data, f"d{depth}/x": b"%d" % depth})
    found, ledger = read(write(tmp_path / "b.tgz", data))
    assert sorted(found.values()) == [b"2", b"3", b"4", b"5"]
    assert [hit.name for hit in ledger.limits] == ["nesting"]
    assert [r.state for r in ledger.sources if "too deep" in r.why] == ["skipped"]


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (Limits(expanded_bytes=100_000), "expanded_bytes"),
        (Limits(ratio=10, ratio_floor=100_000), "ratio"),
        (Limits(member_bytes=1000), "member_bytes"),
        (Limits(members=3), "members"),
        (Limits(bundle_bytes=500), "bundle_bytes"),
        (Limits(bundle_wall_s=-1), "bundle_wall_s"),
    ],
)
def test_each_limit_is_said_and_kept(tmp_path: Path, limits: Limits, name: str) -> None:
    """Each limit stops what it bounds, is recorded once with its name, and makes the root incomplete."""
    parts: Parts = {f"esx-a/{i}": b"%08d\n" % i * 20_000 for i in range(8)}
    found, ledger = read(write(tmp_path / "b.tgz", tgz(parts)), limits=limits)
    assert name in [hit.name for hit in ledger.limits]
    assert len(ledger.limits) <= 8
    total = sum(len(data) for data in found.values())
    assert total < 8 * 180_000
    if name != "member_bytes":
        assert not ledger.is_complete("b.tgz!esx-a")


def test_ratio_is_that_of_the_whole_file(tmp_path: Path) -> None:
    """A zero-filled core in front of a large bundle is no bomb; the same alone is one."""
    limits = Limits(ratio=20, ratio_floor=1 << 20)
    core: Parts = {"esx-a/core": bytes(8 << 20)}
    _, ledger = read(
        write(tmp_path / "b.tgz", tgz({**core, "esx-a/x": os.urandom(1 << 20)})), limits=limits
    )
    assert not ledger.limits
    _, ledger = read(write(tmp_path / "c.tgz", tgz(core)), limits=limits)
    assert [hit.name for hit in ledger.limits] == ["ratio"]


def test_bad_first_header_and_leading_zeros(tmp_path: Path) -> None:
    """A tar whose first header is damaged, or that starts with zeros, is still known as a tar."""
    data = tar_bytes(BUNDLE)
    bad = b"Z" + data[1:]
    found, ledger = read(write(tmp_path / "b.tar", bad))
    assert list(found) == ["b.tar!esx-a/commands/uname_-a.txt"]
    assert "checksum" in ledger.damage[0].what
    found, ledger = read(write(tmp_path / "b.tar", bytes(2048) + data))
    assert len(found) == 2
    assert not ledger.damage


def test_nested_expansion_is_limited(tmp_path: Path) -> None:
    """Archives in archives have a budget of their own."""
    parts: Parts = {f"esx-a/{i}.gz": gzip.compress(bytes(1 << 20)) for i in range(20)}
    found, ledger = read(
        write(tmp_path / "b.tgz", tgz(parts)), limits=Limits(nested_expanded=5 << 20)
    )
    assert sum(len(data) for data in found.values()) <= 6 << 20
    assert "nested_expanded" in [hit.name for hit in ledger.limits]


@pytest.mark.parametrize(
    ("name", "grows", "said"),
    [("b.tgz", True, "still being copied"), ("b.tgz.part", False, "a download")],
)
def test_a_file_on_its_way_is_no_damaged_one(
    tmp_path: Path, name: str, grows: bool, said: str
) -> None:
    """A bundle that grows while it is read, or whose name is that of a download, is told as such, before its faults."""
    path = tmp_path / name
    path.write_bytes(gzip.compress(tar_bytes(BUNDLE))[:200])
    ledger = Ledger()
    for _ in walk([path], Limits(), ledger):
        if grows:
            path.write_bytes(path.read_bytes() + b"more")
    assert ledger.damage[0].what.startswith(said)
    assert ledger.damage[0].address == name


def test_damage_names_archive_member_and_offset(tmp_path: Path) -> None:
    """A cut tgz: members before the cut are whole, the one in it is cut, damage names it all."""
    parts: Parts = {f"esx-a/{i}": os.urandom(50_000) for i in range(6)}
    data = tgz(parts)[:200_000]
    ledger = Ledger()
    members = {}
    for member in walk([write(tmp_path / "b.tgz", data)], Limits(), ledger):
        members[member.path] = (member.read(), member.cut)
    assert [path for path, (_, cut) in members.items() if not cut] == [
        "esx-a/0",
        "esx-a/1",
        "esx-a/2",
    ]
    assert all(parts[path] == got for path, (got, cut) in members.items() if not cut)
    (damage,) = ledger.damage
    assert (damage.address, damage.offset) == ("b.tgz", 200_000)
    assert "esx-a/3" in damage.what
    assert [r.state for r in ledger.sources] == ["listed"] * 3 + ["cut"]
    assert not ledger.is_complete("b.tgz!esx-a")


def _broken_member(text: bytes) -> bytes:
    """A gzip member whose second half is no deflate data."""
    engine = zlib.compressobj(6, zlib.DEFLATED, 31)
    return engine.compress(text[: len(text) // 2]) + engine.flush(zlib.Z_FULL_FLUSH) + b"\x06" * 500


def test_tar_goes_on_behind_damage_of_its_gzip(tmp_path: Path) -> None:
    """In a tgz of many gzip members a broken one costs the tar members in it, not those behind it."""
    parts: Parts = {f"esx-a/{i}": b"%d\n" % i * 3000 for i in range(30)}
    raw = tar_bytes(parts)
    pieces = [raw[i : i + 20_000] for i in range(0, len(raw), 20_000)]
    packed = b"".join(
        _broken_member(p) if i == 4 else gzip.compress(p) for i, p in enumerate(pieces)
    )
    ledger = Ledger()
    got = {
        m.path: (m.read(), m.cut)
        for m in walk([write(tmp_path / "b.tgz", packed)], Limits(), ledger)
    }
    assert "esx-a/0" in got
    assert "esx-a/29" in got
    assert 26 <= len(got) < 30
    assert all(data == parts[path] for path, (data, cut) in got.items() if not cut)
    assert sum(bool(cut) for _, cut in got.values()) == 1
    assert len(ledger.damage) == 1
    assert not ledger.is_complete("b.tgz!esx-a")


def test_log_goes_on_behind_damage_of_its_gzip(tmp_path: Path) -> None:
    """A rotated log of several gzip members shows the hole as NULs on a line of their own."""
    text = b"a line\n" * 500
    made = write(tmp_path / "v.gz", _broken_member(text) + gzip.compress(text))
    members = _walk(made)
    member = next(members)
    data = member.read()
    assert data.startswith(text[:1700])
    assert data.endswith(b"\0\n" + text)
    assert member.cut
    assert not list(members)


def _walk(path: Path) -> Iterator[Member]:
    return walk([path], Limits(), Ledger())


def test_damage_inside_one_bundle_leaves_the_other_complete(tmp_path: Path) -> None:
    """In a wrapper zip a damaged host bundle does not make the other host's absence doubtful."""
    parts: Parts = {
        "h1.tgz": tgz({"esx-a/x": os.urandom(9000)})[:5000],
        "h2.tgz": tgz({"esx-b/x": b"1"}),
    }
    _, ledger = read(write(tmp_path / "vc.zip", zip_bytes(parts)))
    assert not ledger.is_complete("vc.zip!h1.tgz!esx-a")
    assert ledger.is_complete("vc.zip!h2.tgz!esx-b")


def test_nested_damage_keeps_every_byte_before_it(tmp_path: Path) -> None:
    """A cut rotated log inside a sound bundle gives what can be inflated; the bundle stays complete."""
    text = b"".join(b"line %d\n" % i for i in range(50_000))
    packed = gzip.compress(text)
    made = write(
        tmp_path / "b.tgz", tgz({"esx-a/v.gz": packed[: len(packed) // 2], "esx-a/y": b"y"})
    )
    found, ledger = read(made)
    assert len(found["b.tgz!esx-a/v.gz"]) > len(text) // 3
    assert text.startswith(found["b.tgz!esx-a/v.gz"])
    assert found["b.tgz!esx-a/y"] == b"y"
    assert ledger.damage[0].address == "b.tgz!esx-a/v.gz"
    assert ledger.is_complete("b.tgz!esx-a")
