"""A file that was cut into pieces is read as one when its pieces are given together; nothing is written."""

from __future__ import annotations

import gzip
import io
import random
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.archive.batches.find import cases_in, is_archive
from analyzer.cli import main
from analyzer.runtime.errors import RefusedError
from analyzer.runtime.limits import Limits
from analyzer.sources import Ledger, walk
from analyzer.sources.split_files import find_joined_names
from analyzer.watch_folder.folder_scan import list_arrivals
from tests.kit.page_kit import SAMPLES
from tests.web.test_web_labelled import numbered

LOG = b"".join(b"2021-03-08T13:00:%02d.123Z cpu0:%d)line\n" % (n % 60, n) for n in range(3000))
NOISE = random.Random(5).randbytes(4000)


def bundle() -> bytes:
    """Return a small tgz of one folder with a log and bytes that do not pack."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in (("esx-a/noise.bin", NOISE), ("esx-a/var/log/vmkernel.log", LOG)):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def cut(folder: Path, data: bytes, names: list[str]) -> list[Path]:
    """Write bytes as pieces of equal size under some names, in that order."""
    folder.mkdir(parents=True, exist_ok=True)
    size = -(-len(data) // len(names))
    paths = []
    for number, name in enumerate(names):
        paths.append(folder / name)
        paths[-1].write_bytes(data[number * size : (number + 1) * size])
    return paths


def read(*paths: Path) -> tuple[dict[str, bytes], Ledger]:
    """Return the content of the members by address, and what was met."""
    ledger = Ledger()
    return {m.record.address: m.read() for m in walk(list(paths), Limits(), ledger)}, ledger


FORMS = [
    ["x.tgz.001", "x.tgz.002", "x.tgz.003"],
    ["x.tgz.000", "x.tgz.001", "x.tgz.002"],
    ["x.tgz.00", "x.tgz.01", "x.tgz.02"],
    ["x.tgz.part0", "x.tgz.part1", "x.tgz.part2"],
    ["x.tgz.part01", "x.tgz.part02", "x.tgz.part03"],
    ["x.tgz.partaa", "x.tgz.partab", "x.tgz.partac"],
    ["x.tgz.aa", "x.tgz.ab", "x.tgz.ac"],
]


@pytest.mark.parametrize("names", FORMS, ids=lambda names: names[0])
@pytest.mark.parametrize("as_folder", [True, False])
def test_pieces_are_read_as_one_file(tmp_path: Path, names: list[str], as_folder: bool) -> None:
    """Pieces in a folder, or given in any order, have the members, addresses and bytes of the whole file."""
    paths = cut(tmp_path / "case", bundle(), names)
    found, ledger = read(tmp_path / "case") if as_folder else read(*reversed(paths))
    (tmp_path / "x.tgz").write_bytes(bundle())
    assert found == read(tmp_path / "x.tgz")[0]
    assert found["x.tgz!esx-a/var/log/vmkernel.log"] == LOG
    assert not ledger.damage
    assert "read out of 3 pieces: " + ", ".join(names) in ledger.notes[0]


def test_pieces_that_were_uploaded(tmp_path: Path) -> None:
    """The page keeps dropped files under numbers; read under their names they are one file all the same."""
    data = bundle()
    size = len(data) // 2
    names = [("x.tgz.001", data[:size]), ("x.tgz.002", data[size:])]
    found, ledger = read(*numbered(tmp_path, names))
    assert found["x.tgz!esx-a/var/log/vmkernel.log"] == LOG
    assert not ledger.damage


def test_a_zip_that_was_cut_as_bytes(tmp_path: Path) -> None:
    """The pieces `x.zip.001`, … that 7-Zip makes are the zip, by its directory at the end."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("noise.txt", "n" * 900)
        archive.writestr("vmkernel.log", LOG)
    cut(tmp_path / "case", made.getvalue(), [f"x.zip.{n:03d}" for n in (1, 2, 3, 4)])
    found, ledger = read(tmp_path / "case")
    assert found["x.zip!vmkernel.log"] == LOG
    assert not ledger.damage


def entry(name: bytes, data: bytes, disk: int, at: int) -> tuple[bytes, bytes]:
    """Return local header with data, and directory entry, of a stored file (APPNOTE 4.3.7, 4.3.12)."""
    import zlib

    common = struct.pack(
        "<HHHHIIIHH", 0, 0, 0, 0x5267, zlib.crc32(data), len(data), len(data), len(name), 0
    )
    local = b"PK\x03\x04" + struct.pack("<H", 20) + common + name + data
    head = b"PK\x01\x02" + struct.pack("<HH", 20, 20) + common
    return local, head + struct.pack("<HHHII", 0, disk, 0, 0, at) + name


def test_a_zip_in_volumes(tmp_path: Path) -> None:
    """`x.z01`, `x.z02`, `x.zip`, as `zip -s` makes them: places count from the start of their volume (APPNOTE 8.5)."""
    marker = b"PK\x07\x08"
    one, first = entry(b"one.txt", b"first text\n" * 50, 0, 4)
    two, second = entry(b"vmkernel.log", LOG, 1, 0)
    directory = first + second
    rest = two[4000:]
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 2, 2, 2, 2, len(directory), len(rest), 0)
    for name, data in (
        ("x.z01", marker + one),
        ("x.z02", two[:4000]),
        ("x.zip", rest + directory + end),
    ):
        (tmp_path / name).write_bytes(data)
    found, ledger = read(tmp_path)
    assert found == {"x.zip!one.txt": b"first text\n" * 50, "x.zip!vmkernel.log": LOG}
    assert not ledger.damage


def test_a_missing_piece_is_named(tmp_path: Path) -> None:
    """Without a piece in the middle the beginning is read, and the damage names the number; nothing passes for whole."""
    paths = cut(tmp_path / "case", bundle(), ["x.tgz.001", "x.tgz.002", "x.tgz.003", "x.tgz.004"])
    paths[2].unlink()
    _, ledger = read(tmp_path / "case")
    assert any("00003 is missing" in one.what for one in ledger.damage)
    assert not ledger.is_complete("x.tgz!esx-a")


def test_files_that_are_whole_are_left_alone(tmp_path: Path) -> None:
    """Rotated logs that are packed each, and texts with such endings, stay files of their own."""
    for n in (1, 2):
        (tmp_path / f"vmkernel.log.{n:03d}").write_bytes(gzip.compress(LOG))
        (tmp_path / f"notes.{n:03d}").write_bytes(LOG)
    found, ledger = read(tmp_path)
    assert sorted(found) == ["notes.001", "notes.002", "vmkernel.log.001", "vmkernel.log.002"]
    assert set(found.values()) == {LOG}
    assert not ledger.notes


def test_a_later_piece_alone_says_what_to_give(tmp_path: Path) -> None:
    """A piece from the middle cannot be read; the refusal asks for all of them."""
    paths = cut(tmp_path, bundle(), ["x.tgz.001", "x.tgz.002", "x.tgz.003"])
    with pytest.raises(RefusedError, match="Give all pieces together") as refused:
        read(paths[1])
    assert "piece of a file that was split" in str(refused.value)


def test_pieces_of_an_archive_are_one_case_by_name() -> None:
    """Without opening a file: pieces of an archive belong together, numbered logs do not, nor a lone piece."""
    names = [
        "a.tgz.001",
        "a.tgz.002",
        "b.z01",
        "b.zip",
        "c.zip",
        "d.log.001",
        "d.log.002",
        "e.tgz.002",
        "f.FRAG-00000",
    ]
    assert find_joined_names(names, is_archive) == {
        "a.tgz.001": "a.tgz", "a.tgz.002": "a.tgz", "b.z01": "b.zip", "b.zip": "b.zip", "f.FRAG-00000": "f",
    }  # fmt: skip


def test_batch_and_watch_take_the_pieces_together(tmp_path: Path) -> None:
    """On a shelf of cases, and in a download folder, the pieces of one bundle are one case under its name."""
    cut(tmp_path, bundle(), ["x.tgz.001", "x.tgz.002"])
    (tmp_path / "y.tgz").write_bytes(bundle())
    cases = list(cases_in([str(tmp_path)], layout="files"))
    assert [(case.name, len(case.paths)) for case in cases] == [("x.tgz", 2), ("y.tgz", 1)]
    assert [(one.name, len(one.paths)) for one in list_arrivals(tmp_path)] == [
        ("x.tgz", 2),
        ("y.tgz", 1),
    ]


def test_a_triage_of_pieces_finds_what_the_bundle_holds(tmp_path: Path) -> None:
    """`backline triage` over the pieces of a sample prints the findings, with addresses inside the whole file."""
    whole = next((SAMPLES / "slow-storage").glob("*.tgz"))
    cut(
        tmp_path / "case",
        whole.read_bytes(),
        [f"{whole.name}.part{end}" for end in ("aa", "ab", "ac")],
    )
    done = CliRunner().invoke(main, ["triage", str(tmp_path / "case"), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "material complete" in done.output
    assert f"{whole.name}!esx-" in done.output
    assert "4 major" in done.output


def test_pieces_inside_an_archive_say_what_to_unpack(tmp_path: Path) -> None:
    """Pieces in a zip are read as one; in a tar the first is read as cut, and the command says what to do with the others."""
    names = ["x.tgz.00", "x.tgz.01", "x.tgz.02"]
    whole = next((SAMPLES / "slow-storage").glob("*.tgz"))
    with zipfile.ZipFile(tmp_path / "zipped.zip", "w", zipfile.ZIP_DEFLATED) as around:
        for path in reversed(cut(tmp_path / "zipped", whole.read_bytes(), names)):
            around.write(path, f"SR-1/{path.name}")
    done = CliRunner().invoke(
        main, ["triage", str(tmp_path / "zipped.zip"), "-o", str(tmp_path / "out")]
    )
    assert done.exit_code == 0 and "4 major" in done.output, done.output
    assert "zipped.zip!SR-1/x.tgz!esx-" in done.output
    with tarfile.open(tmp_path / "case.tar", "w") as around:
        for path in cut(tmp_path / "pieces", bundle(), names):
            around.add(path, path.name)
    done = CliRunner().invoke(
        main, ["triage", str(tmp_path / "case.tar"), "-o", str(tmp_path / "out")]
    )
    assert done.exit_code == 3, done.output
    assert "It holds pieces of a split file: unpack it and give all pieces together" in " ".join(
        done.output.split()
    )
    with tarfile.open(tmp_path / "case.tar", "w") as around:
        for path in cut(tmp_path / "sample", whole.read_bytes(), names):
            around.add(path, path.name)
    done = CliRunner().invoke(
        main, ["triage", str(tmp_path / "case.tar"), "-o", str(tmp_path / "out")]
    )
    assert done.exit_code == 5, done.output
    told = " ".join(done.output.split())
    assert (
        "case.tar!x.tgz.01 (not text; by its name a piece of a split file: unpack the archive"
        in told
    )
