"""Files of many compressed streams, as rotated logs and split bundles are, with one bad bit: nothing is lost in silence.

All content is synthetic, written by the line form of vmkernel.log; no capture is used.
"""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import json
import lzma
import random
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from click.testing import CliRunner

from analyzer.cli import main
from tests.kit.full_size import FULL

ROOT = Path(__file__).resolve().parents[2]
TOP = "esx-esx71.lab.example-2026-01-20--09.27-4711"
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, 6, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
}
STREAMS = 40
LINES = 50  # of one stream


def triage(*paths: Path, out: Path) -> tuple[int, dict[str, Any]]:
    """Run the command; return its exit code and the case document."""
    done = CliRunner().invoke(
        main, ["triage", *map(str, paths), "-o", str(out), "--no-settings", "--no-packs"]
    )
    assert done.exit_code in (0, 5), done.output
    return done.exit_code, json.loads((out / "case.json").read_text())


def lines(number: int, count: int = LINES) -> bytes:
    """Return lines of a vmkernel.log of one minute."""
    dice = random.Random(number)
    return b"".join(
        b"2026-01-20T%02d:%02d:%02d.%03dZ cpu%d:%d)ScsiDeviceIO: 2954: Cmd 0x%x to dev failed\n"
        % (
            number // 60,
            number % 60,
            i % 60,
            dice.randrange(1000),
            dice.randrange(32),
            2097152 + i,
            dice.randrange(1 << 40),
        )
        for i in range(count)
    )


def streams(kind: str, count: int = STREAMS) -> list[bytes]:
    """Return a log as many streams, each packed by itself."""
    return [PACK[kind](lines(number)) for number in range(count)]


def damaged(parts: list[bytes], number: int, byte: int = 1) -> bytes:
    """Return the streams in one, with one bad bit in the header of one of them."""
    data = bytearray(b"".join(parts))
    data[sum(map(len, parts[:number])) + byte] ^= 0x10
    return bytes(data)


def tar(files: dict[str, bytes]) -> bytes:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, body in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return plain.getvalue()


@pytest.mark.parametrize("kind", PACK)
def test_a_rotated_log_with_a_bad_second_header_loses_one_stream_and_says_where(
    tmp_path: Path, kind: str
) -> None:
    """39 of 40 streams are read; the lost one is named with its offset and size; exit 5."""
    parts = streams(kind)
    (tmp_path / f"vmkernel.1.{kind}").write_bytes(damaged(parts, 1))
    code, doc = triage(tmp_path / f"vmkernel.1.{kind}", out=tmp_path / "out")

    assert code == 5
    assert doc["case"]["complete"] is False
    (source,) = doc["sources"]
    assert source["state"] == "cut"
    assert source["lines"] in (39 * LINES, 39 * LINES + 1)  # the hole may count as a line
    (damage,) = doc["damage"]
    assert damage["offset"] == len(parts[0])
    assert f"{len(parts[1])} " in damage["left_out"]


@pytest.mark.parametrize("kind", PACK)
@pytest.mark.parametrize("where", ["first bytes", "last bytes"])
def test_a_sound_file_of_many_streams_and_padding_is_complete(
    tmp_path: Path, kind: str, where: str
) -> None:
    """Forty streams, with zero padding between or behind them: every line, no damage, exit 0."""
    parts = streams(kind)
    data = (
        (parts[0] + bytes(512) + b"".join(parts[1:]))
        if where == "first bytes"
        else b"".join(parts) + bytes(1000)
    )
    (tmp_path / f"vmkernel.1.{kind}").write_bytes(data)
    code, doc = triage(tmp_path / f"vmkernel.1.{kind}", out=tmp_path / "out")

    assert (code, doc["damage"], doc["sources"][0]["lines"]) == (0, [], STREAMS * LINES)


@pytest.mark.parametrize("kind", PACK)
def test_a_bad_second_header_of_a_member_inside_a_bundle(tmp_path: Path, kind: str) -> None:
    """The damage names the member, the other log of the bundle is whole, exit 5."""
    name = f"{TOP}/var/run/log/vmkernel.0.{kind}"
    files = {name: damaged(streams(kind), 1), f"{TOP}/var/run/log/vmkernel.log": lines(50)}
    (tmp_path / "b.tgz").write_bytes(gzip.compress(tar(files), mtime=0))
    code, doc = triage(tmp_path / "b.tgz", out=tmp_path / "out")

    found = {source["address"].rpartition("/")[2]: source for source in doc["sources"]}
    assert code == 5
    assert found[f"vmkernel.0.{kind}"]["state"] == "cut"
    assert found[f"vmkernel.0.{kind}"]["lines"] >= 39 * LINES
    assert found["vmkernel.log"]["lines"] == LINES
    assert [damage["address"] for damage in doc["damage"]] == [f"b.tgz!{name}"]


@pytest.mark.parametrize("kind", PACK)
def test_a_bundle_packed_in_streams_with_a_bad_second_header(tmp_path: Path, kind: str) -> None:
    """Of 16 members packed as 8 streams, 14 at least are read; the loss is told, exit 5."""
    plain = tar({f"{TOP}/var/run/log/vmkernel.{number}": lines(number) for number in range(16)})
    body = 512 + -(-len(lines(0)) // 512) * 512
    cuts = [*range(0, 16 * body, 2 * body), len(plain)]
    parts = [PACK[kind](plain[start:end]) for start, end in itertools.pairwise(cuts)]
    (tmp_path / "b.tar").write_bytes(damaged(parts, 1))
    code, doc = triage(tmp_path / "b.tar", out=tmp_path / "out")

    assert code == 5
    assert sum(source["state"] == "searched" for source in doc["sources"]) >= 13
    assert doc["damage"][0]["offset"] == len(parts[0])


@pytest.mark.parametrize("kind", PACK)
def test_bytes_behind_the_last_stream_are_damage(tmp_path: Path, kind: str) -> None:
    """What follows the data and is no padding may be a stream of which the header broke: said, exit 5."""
    parts = streams(kind)
    (tmp_path / f"vmkernel.1.{kind}").write_bytes(damaged(parts, STREAMS - 1))
    code, doc = triage(tmp_path / f"vmkernel.1.{kind}", out=tmp_path / "out")

    (damage,) = doc["damage"]
    assert (code, damage["offset"]) == (5, sum(map(len, parts[:-1])))
    assert f"{len(parts[-1])} " in damage["left_out"]


@pytest.mark.parametrize("place", [0, 3, 124, 148, 156, 257])
def test_a_tar_with_a_damaged_header_goes_on_at_the_next(tmp_path: Path, place: int) -> None:
    """One bad bit in the third header: one member is lost and named by its place, the others are read; exit 5."""
    data = bytearray(
        tar({f"{TOP}/var/run/log/vmkernel.{number}": lines(number) for number in range(6)})
    )
    body = 512 + -(-len(lines(0)) // 512) * 512
    data[2 * body + place] ^= 1
    (tmp_path / "b.tar").write_bytes(bytes(data))
    code, doc = triage(tmp_path / "b.tar", out=tmp_path / "out")

    assert code == 5
    assert (doc["damage"][0]["offset"], doc["damage"][0]["address"]) == (2 * body, "b.tar")
    assert sum(source["state"] == "searched" for source in doc["sources"]) == 5


def test_a_second_tar_behind_the_end_mark_with_a_bad_first_header(tmp_path: Path) -> None:
    """Two tars joined by cat: the member whose header broke is told, those behind it are read; exit 5."""
    first = tar({f"{TOP}/var/run/log/vmkernel.{number}": lines(number) for number in range(2)})
    second = bytearray(
        tar({f"{TOP}/var/run/log/vmkernel.{number}": lines(number) for number in range(2, 5)})
    )
    second[10] ^= 1
    (tmp_path / "b.tar").write_bytes(first + bytes(second))
    code, doc = triage(tmp_path / "b.tar", out=tmp_path / "out")

    assert (code, doc["damage"][0]["offset"]) == (5, len(first))
    assert sum(source["state"] == "searched" for source in doc["sources"]) == 4


def test_many_damaged_places_end_in_bounded_time(tmp_path: Path) -> None:
    """Twenty thousand empty members with a stray byte between them: the stream ends with a word, not with memory."""
    (tmp_path / "vmkernel.1.gz").write_bytes(
        PACK["gz"](lines(1)) + (b"x" + gzip.compress(b"", mtime=0)) * 20_000
    )
    code, doc = triage(tmp_path / "vmkernel.1.gz", out=tmp_path / "out")

    assert (code, doc["sources"][0]["lines"] >= LINES) == (5, True)
    assert 900 < len(doc["damage"]) <= 1001


def big_log(
    blocks: list[bytes], packed: list[bytes], count: int, turn: int
) -> tuple[list[bytes], int]:
    """Return `count` streams of a log of about a mebibyte each, and its lines."""
    order = [(number + turn) * (turn + 1) % len(blocks) for number in range(count)]
    return [packed[number] for number in order], sum(
        blocks[number].count(b"\n") for number in order
    )


@pytest.mark.process
@pytest.mark.parametrize(("logs", "count"), [(4, 40)] if FULL else [(3, 8)])
def test_a_bundle_of_real_size_with_one_bad_bit(tmp_path: Path, logs: int, count: int) -> None:
    """Rotated logs of many streams in a bundle, a bit wrong in one header: one stream is lost and named, memory is flat."""
    blocks = [lines(number, 11_000) for number in range(7)]
    packed = [gzip.compress(block, 1, mtime=0) for block in blocks]
    plain, want = bytearray(), 0
    for turn in range(logs):
        parts, lines_in = big_log(blocks, packed, count, turn)
        body = damaged(parts, count // 2) if turn == 1 else b"".join(parts)
        lost = blocks[packed.index(parts[count // 2])].count(b"\n") if turn == 1 else 0
        want += lines_in - lost
        info = tarfile.TarInfo(f"{TOP}/var/run/log/vmkernel.{turn}.gz")
        info.size = len(body)
        plain += info.tobuf() + body + bytes(-len(body) % 512)
    bundle = tmp_path / "b.tgz"
    with bundle.open("wb") as stream:  # itself in streams, as a parallel packer writes
        for start in range(0, len(plain) + 1024, 4 << 20):
            piece = plain[start : start + (4 << 20)] if start < len(plain) else b""
            stream.write(gzip.compress(bytes(piece), 1, mtime=0))
        stream.write(gzip.compress(bytes(1024), 1, mtime=0))

    run = (
        "import pathlib, sys\nfrom analyzer import __main__\n__main__._end_at_once = lambda status: None\n"
        "try:\n    __main__.run()\nfinally:\n    status = pathlib.Path('/proc/self/status')\n"
        "    print([x for x in status.read_text().splitlines() if 'VmHWM' in x] if status.exists() else ['0 0 kB'])\n"
    )
    command = [
        sys.executable,
        "-c",
        run,
        "triage",
        str(bundle),
        "-o",
        str(tmp_path / "out"),
        "--quiet",
    ]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )
    doc = json.loads((tmp_path / "out" / "case.json").read_text())

    assert done.returncode == 5, done.stderr
    assert sum(log["lines"] for node in doc["nodes"] for log in node["logs"]) - want in (0, 1)
    assert [damage["address"] for damage in doc["damage"]] == [
        f"b.tgz!{TOP}/var/run/log/vmkernel.1.gz"
    ]
    assert int(done.stdout.split()[-2]) < 300 << 10  # KiB, most of it the libraries


@pytest.mark.parametrize("name", ["vmkernel.log", "P", "notes.txt"])
@pytest.mark.parametrize("left", [0, 1, 20, 60])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_member_of_a_zip_that_is_cut_within_its_first_line_is_a_cut(
    name: str, left: int, method: int, tmp_path: Path
) -> None:
    """No line of it is whole, or not one byte: it is damaged as any other, and nothing fails inside."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr(name, lines(1))
    path = tmp_path / "logs.zip"
    path.write_bytes(packed.getvalue()[: 30 + len(name) + left])
    whole = tmp_path / "vobd.log"
    whole.write_bytes(lines(2))

    code, document = triage(whole, path, out=tmp_path / "out")

    assert code == 5
    whats = [one["what"] for one in document["damage"]]
    assert whats
    assert not any("internal" in what for what in whats), whats
