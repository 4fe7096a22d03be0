"""The tar reader survives what tarfile does not, and goes on behind damage."""

from __future__ import annotations

import io
import tarfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.runtime.limits import Limits
from analyzer.sources import Ledger
from analyzer.sources.stream import Feed, MemorySource, SliceStream
from analyzer.sources.tar import TarReader

END = bytes(1024)


def header(
    name: str = "esx-a/x", size: int | bytes = 0, kind: bytes = b"0", **fields: bytes
) -> bytes:
    """A ustar header; `fields` overwrite parts, the checksum is made good."""
    block = bytearray(512)
    block[:100] = name.encode().ljust(100, b"\0")[:100]
    block[100:124] = b"0000644\0" + b"0000000\0" * 2
    if isinstance(size, int):
        size = b"%011o\0" % size if size < 8 << 30 else (size | 1 << 95).to_bytes(12, "big")
    block[124:136] = size
    block[136:148] = b"%011o\0" % 1_700_000_000
    block[156:157] = kind
    block[257:265] = b"ustar\x0000"
    places = {"link": 157, "mtime": 136, "at345": 345, "at482": 482, "magic": 257}
    for field, value in fields.items():
        block[places[field] : places[field] + len(value)] = value
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def member(name: str, data: bytes, kind: bytes = b"0") -> bytes:
    return header(name, len(data), kind) + data + bytes(-len(data) % 512)


def pax(**records: str | bytes) -> bytes:
    body = b""
    for key, value in records.items():
        pair = (
            key.replace("__", ".").encode()
            + b"="
            + (value.encode() if isinstance(value, str) else value)
        )
        length = len(pair) + 3
        length += len(str(length)) - 1
        length = len(pair) + 2 + len(str(length))
        body += b"%d %s\n" % (length, pair)
    return member("PaxHeaders/x", body, b"x")


def read(data: bytes, limits: Limits | None = None) -> tuple[list[tuple[str, str, bytes]], Ledger]:
    ledger = Ledger()
    reader = TarReader(Feed(SliceStream(MemorySource(data))), "a.tar", limits or Limits(), ledger)
    found = []
    for entry in reader.read_entries():
        parts = []
        while len(block := entry.body.block()):
            parts.append(bytes(block))
        found.append((entry.name.path, entry.kind, b"".join(parts)))
    return found, ledger


def names(data: bytes) -> list[str]:
    return [name for name, _, _ in read(data)[0]]


SOUND = b"".join(member(f"esx-a/{i}", b"%d\n" % i * 200) for i in range(16))


def test_members_equal_those_of_tarfile() -> None:
    """On sound archives of all three formats names and contents equal those of the standard library."""
    for kind in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w", format=kind) as archive:
            for name in ("a/b", "a/" + "n" * 98, "d" * 90 + "/" + "e" * 90, "a/\u00fc"):
                info = tarfile.TarInfo(name)
                info.size = len(name)
                archive.addfile(info, io.BytesIO(name.encode()[: info.size]))
        with tarfile.open(fileobj=io.BytesIO(raw.getvalue())) as archive:
            expected = [(m.name, "file", archive.extractfile(m).read()) for m in archive]  # type: ignore[union-attr]
        found, ledger = read(raw.getvalue())
        assert found == expected
        assert not ledger.damage


def test_bad_checksum_in_the_middle_costs_one_member() -> None:
    """Behind a header with a wrong checksum the walk goes on with the next sound one (tarfile stops)."""
    data = bytearray(SOUND + END)
    data[5 * 1024 + 3] ^= 1  # each of the first ten members takes a header and one block
    found, ledger = read(bytes(data))
    assert len(found) == 15
    assert found[-1][0] == "esx-a/15"
    assert len(ledger.damage) == 1
    assert "checksum" in ledger.damage[0].what
    assert not ledger.is_complete("a.tar!esx-a")


def test_end_of_archive_in_all_its_forms() -> None:
    """No end mark, one zero block, leading zeros: all are read whole without damage."""
    for data in (
        SOUND,
        SOUND + bytes(512),
        SOUND + END,
        bytes(1024) + SOUND + END,
        SOUND + bytes(9000 // 512 * 512),
    ):
        found, ledger = read(data)
        assert len(found) == 16
        assert not ledger.damage


def test_members_behind_the_end_mark_are_read_and_said() -> None:
    """A second archive behind the end mark is read too, with a note."""
    found, ledger = read(SOUND + END + member("esx-a/late", b"x") + END)
    assert found[-1][0] == "esx-a/late"
    assert "end mark" in ledger.notes[0]
    assert not ledger.damage


def test_garbage_behind_the_end_mark_is_a_note() -> None:
    """What is no tar behind the end mark is ignored with a note."""
    found, ledger = read(SOUND + END + b"garbage" * 500)
    assert len(found) == 16
    assert "garbage" in ledger.notes[0]
    assert not ledger.damage


@given(st.integers(0, len(SOUND)))
@settings(max_examples=80, deadline=None)
def test_cut_anywhere_gives_a_prefix_and_is_told(cut: int) -> None:
    """A tar cut at any byte gives a prefix of the members; inside a member or block it is damage."""
    whole = read(SOUND)[0]
    found, ledger = read(SOUND[:cut])
    assert [name for name, _, _ in found] == [name for name, _, _ in whole[: len(found)]]
    for (_, _, data), (_, _, expected) in zip(found, whole, strict=False):
        assert expected.startswith(data)
    assert bool(ledger.damage) == bool(
        cut % 512 or (found and found[-1][2] != whole[len(found) - 1][2])
    )


@pytest.mark.parametrize(
    "size",
    [
        b"\x80" + b"\xff" * 11,
        b"\xff" * 12,
        b"-0000000001\0",
        b"9z9z9z\0\0\0\0\0\0",
        b"\x80\0\0\0\x80" + bytes(7),
    ],
)
def test_size_that_is_no_number_is_damage(size: bytes) -> None:
    """A negative, huge or junk size ends nothing and hangs nothing; later members are found."""
    found, ledger = read(header("esx-a/bad", size) + member("esx-a/good", b"x") + END)
    assert ("esx-a/good", "file", b"x") in found
    assert "not a number" in ledger.damage[0].what


def test_size_beyond_the_end_is_cut() -> None:
    """A member that claims more than is there gives what is there and is told."""
    found, ledger = read(header("esx-a/x", 1 << 40) + b"abc" * 100)
    assert found[0][2] == b"abc" * 100
    assert "ends in the middle of" in ledger.damage[0].what


def test_pax_size_wins_over_the_header() -> None:
    """The size in a PAX header is the size: nothing inside the data is taken for a member."""
    hidden = member("esx-a/hidden", b"evil")
    data = pax(size=str(len(hidden))) + header("esx-a/x", 0) + hidden + member("esx-a/next", b"")
    assert names(data) == ["esx-a/x", "esx-a/next"]


def test_pax_belongs_to_the_next_file_not_to_a_long_name() -> None:
    """A PAX size in front of a GNU long-name header does not change how that header is read."""
    long = "esx-a/" + "l" * 200
    data = pax(size="8") + member("././@LongLink", long.encode() + b"\0", b"L")
    data += header("short", 0) + b"12345678" + bytes(504)
    assert read(data)[0] == [(long, "file", b"12345678")]


def test_pax_path_and_its_nul() -> None:
    """PAX path replaces the name; a NUL ends it."""
    assert names(pax(path="esx-a/longer\0hidden") + header("x")) == ["esx-a/longer"]


@pytest.mark.parametrize(
    "body", [b"0 path=x\n", b"9999999999999999999 path=x\n", b"5 a\n", b"x y=z\n", b"12 path=abcde"]
)
def test_bad_pax_records_are_damage(body: bytes) -> None:
    """Records with a wrong length (0, 10^19, none) are told; the member is still listed."""
    found, ledger = read(member("p", body, b"x") + member("esx-a/x", b"1"))
    assert found == [("esx-a/x", "file", b"1")]
    assert "PAX" in ledger.damage[0].what


@pytest.mark.parametrize("kind", [b"L", b"x", b"g", b"K"])
def test_metadata_of_eight_gib_is_passed_over(kind: bytes) -> None:
    """A header that claims 8 GiB of metadata allocates nothing; the members behind it are found."""
    found, ledger = read(header("p", 8 << 30, kind) + SOUND)
    assert len(found) == 16
    assert [hit.name for hit in ledger.limits] == ["member_metadata"]


@pytest.mark.parametrize("kind", [b"L", b"x"])
def test_chain_of_headers_is_bounded(kind: bytes) -> None:
    """Three thousand metadata headers in a row need no recursion and say the limit."""
    body = b"esx-a/name\0" if kind == b"L" else b"16 comment=abcd\n"
    found, ledger = read(member("p", body, kind) * 3000 + member("esx-a/x", b"1"))
    assert len(found) == 1
    assert [hit.name for hit in ledger.limits] == ["header_chain"]


def test_sparse_is_measured_never_filled() -> None:
    """Old GNU and PAX sparse members tell their real size and give only their stored bytes."""
    old = header(
        "esx-a/s", 512, b"S", magic=b"ustar  \0", at345=bytes(138) + b"%011o\0" % (60 << 30)
    )
    new = pax(
        GNU__sparse__major="1", GNU__sparse__realsize=str(1 << 50), GNU__sparse__name="esx-a/t"
    )
    data = (
        old + bytes(512) + new + member("GNUSparseFile/t", b"1\n0\n5\n") + member("esx-a/x", b"1")
    )
    ledger = Ledger()
    reader = TarReader(Feed(SliceStream(MemorySource(data))), "a.tar", Limits(), ledger)
    assert [(e.name.path, e.kind, e.size) for e in reader.read_entries()] == [
        ("esx-a/s", "sparse", 60 << 30),
        ("esx-a/t", "sparse", 1 << 50),
        ("esx-a/x", "file", 1),
    ]


def test_kinds_are_listed_and_never_data() -> None:
    """Devices, pipes, links and unknown types: no type is opened, only regular ones have content."""
    data = b"".join(
        header(f"esx-a/{kind.decode()}", 0, kind)
        for kind in (b"1", b"2", b"3", b"4", b"5", b"6", b"Z")
    )
    assert [kind for _, kind, _ in read(data)[0]] == [
        "hardlink", "link", "device", "device", "dir", "fifo", "file",
    ]  # fmt: skip


def test_wild_times_are_none() -> None:
    """A time outside 1980..2100 is none, as text or base-256."""
    for mtime in (b"\x80" + b"\xff" * 11, b"77777777777\0", b"00000000001\0", b"junkjunkjunk"):
        reader = TarReader(
            Feed(SliceStream(MemorySource(header(mtime=mtime) + END))), "a", Limits(), Ledger()
        )
        assert [entry.mtime for entry in reader.read_entries()] == [None]


@given(st.integers(0, len(SOUND) - 1), st.integers(0, 255))
@settings(max_examples=150, deadline=None)
def test_any_byte_changed_never_breaks_the_walk(place: int, value: int) -> None:
    """Whatever one byte becomes, at least thirteen of sixteen members are listed or the fault is told."""
    data = bytearray(SOUND)
    data[place] = value
    found, ledger = read(bytes(data))
    assert len(found) == 16 or ledger.damage or ledger.limits or len(found) >= 13


@given(st.binary(max_size=3000), st.integers(0, 9))
@settings(max_examples=100, deadline=None)
def test_junk_between_members_is_passed(junk: bytes, where: int) -> None:
    """Any junk between two members costs at most what it hides; the last member is found."""
    place = where * 1024
    found, _ = read(SOUND[:place] + junk + bytes(-len(junk) % 512) + SOUND[place:])
    assert found[-1][0] == "esx-a/15"
