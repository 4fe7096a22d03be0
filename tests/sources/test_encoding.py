"""Bytes become the same numbered lines, whatever encoding, line end or cut into chunks they have."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.sources.encoding import LineReader, Met, decode, looks_like_text

PLAIN = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff"), max_size=40
)
LINES = st.lists(PLAIN, min_size=1, max_size=12)


def in_chunks(raw: bytes, cuts: list[int], line_bytes: int = 1 << 16) -> tuple[list[str], Met]:
    reader = LineReader(line_bytes)
    marks = [0, *sorted(cut % (len(raw) + 1) for cut in cuts), len(raw)]
    lines = [line for a, b in pairwise(marks) for line in reader.feed(raw[a:b])]
    return lines + reader.close(), reader.met


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le-bom", "utf-16-be-bom"]
)
@settings(max_examples=30)
@given(lines=LINES)
def test_round_trip(encoding: str, end: str, lines: list[str]) -> None:
    """Text written in any encoding with any line end comes back as the same lines."""
    text = end.join(lines) + end
    if encoding.endswith("-bom"):
        name = encoding.removesuffix("-bom")
        raw = "\ufeff".encode(name) + text.encode(name)
    else:
        raw = text.encode(encoding)
    assert decode(raw) == lines


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_mark(encoding: str) -> None:
    """UTF-16 that lost its byte order mark is known by where its NUL bytes stand."""
    lines, met = in_chunks("[root@esx0:~] net-stats -l\r\nPortNum\r\n".encode(encoding), [])
    assert lines == ["[root@esx0:~] net-stats -l", "PortNum"]
    assert (met.encoding, met.bom) == (encoding, False)


@settings(max_examples=60)
@given(raw=st.binary(max_size=400), cuts=st.lists(st.integers(0, 400), max_size=6))
def test_chunks_do_not_matter(raw: bytes, cuts: list[int]) -> None:
    """Any bytes give the same lines and the same notes, however the stream was cut into chunks."""
    assert in_chunks(raw, cuts, 16) == in_chunks(raw, [], 16)


@given(raw=st.binary(max_size=300))
def test_no_line_end_inside_a_line(raw: bytes) -> None:
    """No line holds LF, and as many lines come out as were counted."""
    lines, met = in_chunks(raw, [], 32)
    assert not any("\n" in line for line in lines)
    assert met.lines == len(lines)


@given(
    raw=st.binary(max_size=200).filter(
        lambda b: b"\0" not in b and b"\r" not in b and b[:1] < b"\xef"
    )
)
def test_undecodable_bytes_survive(raw: bytes) -> None:
    """Bytes that are no UTF-8 come back unchanged from the lines (nothing is replaced)."""
    lines = decode(raw)
    whole = "\n".join(lines).encode("utf-8", "surrogateescape")
    assert whole == (raw[:-1] if raw.endswith(b"\n") else raw)


def test_latin1_is_noted() -> None:
    """A Latin-1 byte is kept and the notes say how many lines hold one."""
    lines, met = in_chunks(b"NIC Herstellerger\xe4t\nplain\n", [])
    assert lines[0].encode("utf-8", "surrogateescape") == b"NIC Herstellerger\xe4t"
    assert met.undecodable == 1
    assert "1 lines hold bytes" in met.notes()[0]


def test_nul_hole_is_a_gap() -> None:
    """A hole of NULs (power loss) is taken out of its line and noted with line and size."""
    lines, met = in_chunks(b"one\ntwo" + b"\0" * 100_000 + b"2018-01-01 three\nfour\n", [])
    assert lines == ["one", "two2018-01-01 three", "four"]
    assert met.gaps == [(2, 100_000)]
    assert met.gap_bytes == 100_000
    assert "line 2" in met.notes()[0]


def test_long_line_is_cut_with_a_mark() -> None:
    """A line over the limit is cut at a character, the mark says how much is missing, numbers stay."""
    lines, met = in_chunks(b"a\n" + "é".encode() * 50 + b"\nend\n", [], 11)
    assert lines == ["a", "é" * 5 + " […90 bytes of this line left out]", "end"]
    assert met.cuts == [(2, 90)]


def test_memory_of_an_endless_line() -> None:
    """A line of many megabytes is never held whole: the reader keeps no more than the limit."""
    reader = LineReader(1000)
    for _ in range(40):
        assert reader.feed(b"x" * 100_000) == []
        assert len(reader._carry) <= 1001 or reader._head is not None
    assert reader.close()[0].startswith("x" * 1000 + " […3999000 bytes")


def test_cr_alone_only_without_lf() -> None:
    """CR alone ends lines in a file without LF; in a file with LF a stray CR stays inside its line."""
    assert decode(b"a\rb\rc") == ["a", "b", "c"]
    assert decode(b"a\rb\nc\r\n") == ["a\rb", "c"]


def test_last_line_without_end_is_noted() -> None:
    """The reader says when the text ended in the middle of a line."""
    assert in_chunks(b"a\nb", [])[1].unfinished
    assert not in_chunks(b"a\nb\n", [])[1].unfinished


def test_plain_text_needs_no_note() -> None:
    """UTF-8 with LF is nothing to talk about."""
    lines, met = in_chunks(b"a\nbc\n", [])
    assert lines == ["a", "bc"]
    assert met.notes() == []


@pytest.mark.parametrize(
    ("head", "text"),
    [
        (b"", True),
        (b"stats {\n", True),
        (b"\xff\xfea\0", True),
        ("net-stats -l\r\n".encode("utf-16-le"), True),
        (b"vmkernel" + b"\0" * 500 + b"2018\n", True),
        (b"\0" * 4096, False),
        (b"\x1f\x8b\x08\0\0\0", False),
        (b"PK\x03\x04rest", False),
        (bytes(range(256)) * 4, False),
        (b"\x01\0\0\0\x07\0\0\0VsiCache\x02\0\0\0\x00\x10\0\0" * 30, False),
        (b"Name: B\xfcro-Server\n" * 3, True),
    ],
)
def test_looks_like_text(head: bytes, text: bool) -> None:
    """Archives and structs are not text; logs with a hole, UTF-16 and old code pages are."""
    assert looks_like_text(head) is text
