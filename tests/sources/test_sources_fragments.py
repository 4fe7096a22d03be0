"""Fragments are put together while they stream by, in the order of their numbers."""

from __future__ import annotations

import gzip
import io
import random
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.runtime.limits import Limits
from analyzer.sources import Ledger, walk
from analyzer.sources.member import GAP

NAME = "esx-a/commands/esxcfg-info_-a.txt"


def tar(path: Path, members: list[tuple[str, bytes]]) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def contents(
    path: Path, limits: Limits | None = None
) -> tuple[list[tuple[str, bytes, str]], Ledger]:
    ledger = Ledger()
    found = [(m.path, m.read(), m.cut) for m in walk([path], limits or Limits(), ledger)]
    return found, ledger


def pieces(data: bytes, size: int, name: str = NAME) -> list[tuple[str, bytes]]:
    return [(f"{name}.FRAG-{i // size:05d}", data[i : i + size]) for i in range(0, len(data), size)]


def test_pieces_in_order_are_one_member(tmp_path: Path) -> None:
    """Consecutive fragments arrive as one member with the joined name and the joined size."""
    data = random.Random(1).randbytes(5000)
    made = tar(tmp_path / "a.tar", [("esx-a/x", b"x"), *pieces(data, 1000), ("esx-a/y", b"y")])
    found, ledger = contents(made)
    assert found == [("esx-a/x", b"x", ""), (NAME, data, ""), ("esx-a/y", b"y", "")]
    assert not ledger.damage
    assert [r.size for r in ledger.sources if r.address.endswith(NAME)] == [5000]


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_order_in_the_tar_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """Fragments of two files and other members in any order give each file whole and once."""
    chance = random.Random(seed)
    one, two = chance.randbytes(7300), chance.randbytes(4100)
    members = [
        *pieces(one, 1000),
        *pieces(two, 1000, NAME + "2"),
        *((f"esx-a/o{i}", b"o") for i in range(5)),
    ]
    chance.shuffle(members)
    found, ledger = contents(tar(tmp_path_factory.mktemp("t") / "a.tar", members))
    joined = {path: b"" for path, _, _ in found}
    for path, data, _ in found:
        joined[path] += data
    parts = [note for note in ledger.notes if "in parts" in note]
    if not parts:
        assert joined[NAME] == one
        assert joined[NAME + "2"] == two
    assert sum(len(data.replace(GAP, b"")) for data in joined.values()) == 7300 + 4100 + 5


def test_gap_is_marked_and_told(tmp_path: Path) -> None:
    """A missing number leaves NULs and a line end in the text, a damage with its number, and `cut`."""
    members = pieces(b"a" * 1000 + b"b" * 1000 + b"c" * 1000 + b"d" * 10, 1000)
    del members[1]
    found, ledger = contents(tar(tmp_path / "a.tar", members))
    assert found[0][1] == b"a" * 1000 + GAP + b"c" * 1000 + b"d" * 10
    assert "00001" in found[0][2]
    assert "00001" in str(ledger.damage[0])
    assert ledger.is_complete("a.tar!esx-a")


def test_last_fragment_that_is_full_is_suspicious(tmp_path: Path) -> None:
    """A last fragment of exactly 1 MiB means that later ones are missing."""
    found, ledger = contents(tar(tmp_path / "a.tar", pieces(bytes(2 << 20), 1 << 20)))
    assert len(found[0][1].rstrip(b"\n")) >= 2 << 20
    assert "later ones are missing" in found[0][2]
    assert ledger.damage


def test_vsi_cache_is_measured_and_never_read(tmp_path: Path) -> None:
    """vsi_traverse_-s.txt has a size and its missing numbers, and no content."""
    members = pieces(bytes(5000), 1000, "esx-a/commands/vsi_traverse_-s.txt")
    del members[2:4]
    ledger = Ledger()
    (member,) = walk([tar(tmp_path / "a.tar", members)], Limits(), ledger)
    assert (member.measured, member.size, member.read()) == (True, 3000, b"")
    assert "00002-00003" in str(ledger.damage[0])


def test_numbers_sort_as_numbers(tmp_path: Path) -> None:
    """A number of six digits comes behind those of five."""
    names = [f"{NAME}.FRAG-{n:05d}" for n in range(99_998, 100_001)]
    members = [(name, bytes([65 + i])) for i, name in enumerate(names)]
    folder = tmp_path / "esx-a" / "commands"
    folder.mkdir(parents=True)
    for name, data in members:
        (tmp_path / name).write_bytes(data)
    found, _ = contents(tmp_path / "esx-a")
    assert found[0][1].endswith(b"ABC")


def test_fragments_in_zip_and_folder_join(tmp_path: Path) -> None:
    """The same fragments join in a zip and in an unpacked folder, whatever their order there."""
    data = random.Random(2).randbytes(3500)
    members = pieces(data, 1000)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, piece in reversed(members):
            archive.writestr(name, piece)
    assert contents(tmp_path / "a.zip")[0] == [(NAME, data, "")]
    (tmp_path / "esx-a" / "commands").mkdir(parents=True)
    for name, piece in members:
        (tmp_path / name).write_bytes(piece)
    assert contents(tmp_path / "esx-a")[0] == [(NAME, data, "")]


def test_archive_given_in_fragments_is_opened(tmp_path: Path) -> None:
    """A bundle uploaded as X.tgz.FRAG-00000... is one archive, given as files or in a folder."""
    data = random.Random(2).randbytes(3500)
    made = gzip.compress(tar(tmp_path / "b.tar", [("esx-a/x", data)]).read_bytes())
    (tmp_path / "up").mkdir()
    paths = []
    for name, piece in pieces(made, 1000, "b.tgz"):
        paths.append(tmp_path / "up" / name)
        paths[-1].write_bytes(piece)
    for inputs in (paths[::-1], [tmp_path / "up"]):
        ledger = Ledger()
        assert [(m.address, m.read()) for m in walk(inputs, Limits(), ledger)] == [
            ("b.tgz!esx-a/x", data)
        ]
        assert not ledger.damage


def test_waiting_fragments_are_bounded(tmp_path: Path) -> None:
    """Fragments that wait for a first one never hold more than the limit, and the limit is said."""
    members = pieces(bytes(100_000), 1000)[::-1]
    found, ledger = contents(tar(tmp_path / "a.tar", members), Limits(fragment_hold=10_000))
    assert any(hit.name == "fragment_hold" for hit in ledger.limits)
    assert sum(len(data.replace(GAP, b"")) for _, data, _ in found) == 100_000


def test_unread_joined_member_passes_by(tmp_path: Path) -> None:
    """A consumer that skips a fragmented file still gets the members behind it."""
    members = [*pieces(bytes(9000), 1000), ("esx-a/y", b"y")]
    ledger = Ledger()
    assert [m.path for m in walk([tar(tmp_path / "a.tar", members)], Limits(), ledger)] == [
        NAME,
        "esx-a/y",
    ]
