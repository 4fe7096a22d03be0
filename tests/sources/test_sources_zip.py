"""Zip: claims are checked against the file, and a lost directory does not lose the entries."""

from __future__ import annotations

import io
import os
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.runtime.errors import RefusedError
from analyzer.runtime.limits import Limits
from analyzer.sources import Ledger, walk

PARTS = {f"esx-a/{i}.txt": b"%d line of text\n" % i * (100 * i + 1) for i in range(6)}


def make(method: int = zipfile.ZIP_DEFLATED, parts: dict[str, bytes] | None = None) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", method) as archive:
        for name, data in (PARTS if parts is None else parts).items():
            archive.writestr(zipfile.ZipInfo(name, (2024, 1, 2, 3, 4, 6)), data, method)
    return raw.getvalue()


class _Pipe(io.RawIOBase):
    """A file without seek, so that zipfile writes sizes behind the data."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:  # type: ignore[no-untyped-def]
        self.data += data
        return len(data)


def streamed() -> bytes:
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in PARTS.items():
            archive.writestr(name, data)
    return bytes(pipe.data)


def read(path: Path, data: bytes, limits: Limits | None = None) -> tuple[dict[str, bytes], Ledger]:
    (path / "b.zip").write_bytes(data)
    ledger = Ledger()
    return {m.path: m.read() for m in walk([path / "b.zip"], limits or Limits(), ledger)}, ledger


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_entries_are_read(tmp_path: Path, method: int) -> None:
    """Stored, deflated and bzip2 entries give their text; the time of the zip is kept."""
    found, ledger = read(tmp_path, make(method))
    assert found == PARTS
    assert not ledger.damage
    (member, *_) = walk([tmp_path / "b.zip"], Limits(), Ledger())
    assert member.mtime == 1704164646.0


def test_sizes_behind_the_data_and_prefix_are_read(tmp_path: Path) -> None:
    """A zip written to a pipe, and one with a program in front, are read whole."""
    for data in (streamed(), b"#!/bin/sh\nexit 0\n" * 10 + make()):
        (tmp_path / "x").mkdir(exist_ok=True)
        if data.startswith(b"PK"):
            assert read(tmp_path, data)[0] == PARTS


def test_lost_directory_loses_no_entry(tmp_path: Path) -> None:
    """A zip cut behind its entries is read by their headers, and that is damage."""
    for data in (make(), streamed()):
        found, ledger = read(tmp_path, data[: data.find(b"PK\x01\x02")])
        assert found == PARTS
        assert "directory" in ledger.damage[0].what
        assert not ledger.is_complete("b.zip!esx-a")


@given(st.integers(4, len(make()) - 1))
@settings(max_examples=60, deadline=None)
def test_cut_anywhere_keeps_what_came_before(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    """A zip cut at any byte gives whole entries before the cut and never passes as sound."""
    folder = tmp_path_factory.mktemp("z")
    try:
        found, ledger = read(folder, make()[:cut])
    except RefusedError:
        return
    assert ledger.damage
    for name, data in found.items():
        if name in PARTS:
            assert PARTS[name].startswith(data)


@given(st.integers(0, len(make()) - 1), st.integers(0, 255))
@settings(max_examples=150, deadline=None)
def test_any_byte_changed_is_noticed_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, place: int, value: int
) -> None:
    """Whatever one byte becomes: no exception but a refusal, and wrong text is always told."""
    data = bytearray(make())
    data[place] = value
    try:
        found, ledger = read(tmp_path_factory.mktemp("z"), bytes(data))
    except RefusedError:
        return
    wrong = [name for name, text in found.items() if name in PARTS and text != PARTS[name]]
    assert not wrong or ledger.damage


def test_wrong_checksum_and_size_are_told(tmp_path: Path) -> None:
    """An entry whose text is not what its checksum says is suspect and marked on the member."""
    data = bytearray(make(zipfile.ZIP_STORED))
    data[data.find(b"3 line")] ^= 1
    (tmp_path / "b.zip").write_bytes(data)
    ledger = Ledger()
    cuts = {}
    for member in walk([tmp_path / "b.zip"], Limits(), ledger):
        member.read()
        cuts[member.path] = member.cut
    assert [name for name, cut in cuts.items() if cut] == ["esx-a/3.txt"]
    assert "checksum" in ledger.damage[0].what


def test_overlapping_entries_are_left_out(tmp_path: Path) -> None:
    """A thousand directory entries for one piece of data (overlap bomb) give it once."""
    raw = make(parts={"x": b"\0" * 100_000})
    at = raw.find(b"PK\x01\x02")
    end = raw.find(b"PK\x05\x06")
    central = raw[at:end] * 1000
    tail = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 1000, 1000, len(central), at, 0)
    found, ledger = read(tmp_path, raw[:at] + central + tail)
    assert len(found) == 1
    assert "overlaps" in ledger.damage[0].what
    assert len(ledger.sources) == 1000


def test_encrypted_and_unknown_methods_are_skipped_with_a_reason(tmp_path: Path) -> None:
    """What cannot be unpacked is recorded as skipped with the reason, and the bundle is incomplete."""
    for offset, value, why in ((8, 1, "encrypted"), (10, 98, "PPMd")):
        data = bytearray(make(parts={"a": b"1" * 50, "b": b"2" * 50}))
        data[data.find(b"PK\x01\x02") + offset] = value
        found, ledger = read(tmp_path, bytes(data))
        assert list(found) == ["b"]
        assert [(r.state, why in r.why) for r in ledger.sources if r.why] == [("skipped", True)]
        assert not ledger.is_complete("b.zip!")


def test_symbolic_link_is_listed(tmp_path: Path) -> None:
    """A Unix symbolic link in a zip is a link in the table and has no content."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        info = zipfile.ZipInfo("esx-a/var/log")
        info.create_system, info.external_attr = 3, 0o120777 << 16
        archive.writestr(info, "run/log")
        archive.writestr("esx-a/x", b"x")
    found, ledger = read(tmp_path, raw.getvalue())
    assert found == {"esx-a/x": b"x"}
    assert ledger.links == {"b.zip!esx-a/var/log": "b.zip!esx-a/var/run/log"}


def test_zip_inside_a_tar_is_held_up_to_the_limit(tmp_path: Path) -> None:
    """A zip inside an archive is read from memory; a larger one is skipped, and the limit said."""
    inner = make(parts={"a": os.urandom(50_000)})
    with tarfile.open(tmp_path / "b.tar", "w") as archive:
        info = tarfile.TarInfo("esx-a/in.zip")
        info.size = len(inner)
        archive.addfile(info, io.BytesIO(inner))
    ledger = Ledger()
    assert [m.address for m in walk([tmp_path / "b.tar"], Limits(), ledger)] == [
        "b.tar!esx-a/in.zip!a"
    ]
    assert not list(walk([tmp_path / "b.tar"], Limits(nested_zip=1000), ledger))
    assert [hit.name for hit in ledger.limits] == ["nested_zip"]
    assert ledger.sources[-1].state == "skipped"
