"""The gzip layer keeps every byte before a fault and reads what gzip(1) reads."""

from __future__ import annotations

import gzip
import random
import time
import zlib
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.sources import gzipstream
from analyzer.sources.gzipstream import GzipStream
from analyzer.sources.inflate import FAST
from analyzer.sources.prefetch import PrefetchStream
from analyzer.sources.stream import Block, MemorySource, SliceStream, Stream, StreamFault

_RANDOM = random.Random(7)
TEXT = b"".join(b"line %d of %d\n" % (i, _RANDOM.randrange(10**6)) for i in range(12_000))
PACKED = gzip.compress(TEXT, mtime=0)


def read(stream: Stream) -> tuple[bytes, list[StreamFault]]:
    parts: list[bytes] = []
    faults: list[StreamFault] = []
    while True:
        block: Block = stream.block()
        faults += stream.take_faults()
        if not len(block):
            return b"".join(parts), faults
        parts.append(bytes(block))


def unpack(data: bytes, *, step: int = 0) -> tuple[bytes, list[StreamFault]]:
    source = SliceStream(MemorySource(data))
    source.step = step or source.step
    return read(GzipStream(source))


def kinds(faults: list[StreamFault]) -> list[str]:
    return [fault.kind for fault in faults]


def test_sound_stream_gives_its_text_and_no_fault() -> None:
    """A sound gzip file is read to its last byte without a remark."""
    assert unpack(PACKED) == (TEXT, [])


def test_all_members_are_read() -> None:
    """Three thousand members, empty ones among them, are one text (tarfile's stream mode reads the first)."""
    members = b"".join(gzip.compress(b"%d\n" % i if i % 3 else b"") for i in range(3000))
    expected = b"".join(b"%d\n" % i for i in range(3000) if i % 3)
    assert unpack(members) == (expected, [])


def test_header_flags_are_passed() -> None:
    """Extra field, name, comment and header checksum of RFC 1952 do not disturb."""
    head = b"\x1f\x8b\x08" + bytes([4 | 8 | 16 | 2]) + bytes(6)
    head += (300).to_bytes(2, "little") + bytes(300) + b"name\0comment\0" + b"\x12\x34"
    assert unpack(head + PACKED[10:], step=7) == (TEXT, [])


def test_zero_padding_is_silent_and_anything_else_is_damage() -> None:
    """Zeros behind the data are tape padding; other bytes may be a member whose header has a wrong bit."""
    assert unpack(PACKED + bytes(10_000)) == (TEXT, [])
    text, faults = unpack(PACKED + b"garbage")
    assert text == TEXT
    assert kinds(faults) == ["cut"]
    assert (faults[0].offset, faults[0].left_out) == (len(PACKED), "7 compressed bytes")


@pytest.mark.parametrize("where", [5, 50, 90])
def test_cut_stream_keeps_what_zlib_keeps(where: int) -> None:
    """A file cut at 5, 50, 90 % gives each byte that can be inflated, and says where it ends."""
    data = PACKED[: len(PACKED) * where // 100]
    text, faults = unpack(data)
    assert text == zlib.decompressobj(31).decompress(data)
    assert kinds(faults) == ["cut"]
    assert faults[0].offset == len(data)


def test_wrong_checksum_keeps_all_text() -> None:
    """A wrong CRC or length field loses nothing and makes the text suspect."""
    for place in (-8, -1):
        data = bytearray(PACKED)
        data[place] ^= 1
        text, faults = unpack(bytes(data))
        assert text == TEXT
        assert kinds(faults) == ["suspect"]


def test_cut_trailer_keeps_all_text() -> None:
    """A file that lacks its last bytes only keeps all text and says that the checksum is missing."""
    text, faults = unpack(PACKED[:-3])
    assert text == TEXT
    assert kinds(faults) == ["cut"]


def test_next_member_is_salvaged_behind_damage() -> None:
    """Damage inside one member costs that member's rest; the next one is found and read."""
    engine = zlib.compressobj(6, zlib.DEFLATED, 31)
    first = engine.compress(TEXT[:5000]) + engine.flush(zlib.Z_FULL_FLUSH)
    fault = len(first)
    first += b"\x06" * 3000  # block type 3 does not exist
    text, faults = unpack(first + PACKED)
    assert text == TEXT[:5000] + TEXT
    assert kinds(faults) == ["gap"]
    assert fault <= faults[0].offset <= fault + 1
    assert "%" in faults[0].what


def _damaged(seed: int) -> bytes:
    chance = random.Random(seed)
    data = bytearray(PACKED + PACKED)
    kind = chance.randrange(3)
    place = chance.randrange(len(data))
    if kind == 0:
        return bytes(data[:place])
    if kind == 1:
        data[place] ^= 1 << chance.randrange(8)
    else:
        data[place : place + 4096] = chance.randbytes(4096)
    return bytes(data)


@pytest.mark.skipif(not FAST, reason="isal is not installed")
@given(st.integers(0, 10**9))
@settings(max_examples=60, deadline=None)
def test_both_engines_give_the_same_bytes_and_faults(seed: int) -> None:
    """Igzip and zlib agree on every byte and every fault of a damaged stream."""
    data = _damaged(seed)
    fast = unpack(data)
    with mock.patch.object(gzipstream, "FAST", False):
        exact = unpack(data)
    assert fast == exact


@pytest.mark.size
@given(st.integers(0, 10**9), st.integers(1, 3000))
@settings(max_examples=30, deadline=None)
def test_size_of_the_reads_does_not_matter(seed: int, step: int) -> None:
    """The same bytes come out however the file is cut into reads."""
    data = _damaged(seed)
    assert unpack(data, step=step)[0] == unpack(data)[0]


def test_prefetching_thread_gives_the_same_and_ends() -> None:
    """The thread hands over the same blocks and faults, and is gone after an early stop."""
    for data in (PACKED, _damaged(3), _damaged(5)):
        plain = unpack(data)
        stream = PrefetchStream(GzipStream(SliceStream(MemorySource(data))))
        assert read(stream) == plain
        stream.close()
    endless = PrefetchStream(GzipStream(SliceStream(MemorySource(gzip.compress(bytes(64 << 20))))))
    endless.block()
    endless.close()
    assert endless._thread is not None
    assert not endless._thread.is_alive()


def test_tiny_members_take_linear_time() -> None:
    """Fifty thousand members in one block of input cost no copy of the rest each."""
    data = gzip.compress(b"x") * 50_000
    started = time.process_time()
    text, _ = unpack(data)
    assert len(text) == 50_000
    assert time.process_time() - started < 5
