"""Reads gzip block by block and keeps every byte before a fault.

Header and trailer are read here (RFC 1952); only raw deflate goes to a library.
Behind damage the next gzip member is looked for, so that a multi-member stream
loses one member and not the rest.
"""

from __future__ import annotations

from analyzer.sources.inflate import FAST, ExactInflater, FastInflater, InflateError, crc32
from analyzer.sources.stream import Block, SkippedStream, Stream, StreamFault

MAGIC = b"\x1f\x8b\x08"
_HEADER_MOST = 1 << 17  # extra field 64 KiB, name and comment
_REPLAY_FOR_CUT = (
    64 << 20
)  # igzip keeps back the last byte of a cut stream; fetched when it is cheap
_MEMBERS_MOST = 1_000_000
TRIALS = 1000  # magics tried behind one damaged place
GAPS_MOST = 1000  # damaged places of one stream; then it ends


def header_length(head: bytes) -> int:
    """Return the length of the gzip header at the start of `head`: 0 when it is cut, -1 when it is none."""
    if len(head) < 10:
        return 0 if MAGIC.startswith(head[:3]) or head.startswith(MAGIC) else -1
    if not head.startswith(MAGIC) or head[3] & 0xE0:
        return -1
    flags, at = head[3], 10
    if flags & 4:
        if len(head) < 12:
            return 0
        at += 2 + int.from_bytes(head[10:12], "little")
    for bit in (8, 16):
        if flags & bit:
            end = head.find(b"\0", at)
            if end < 0:
                return 0
            at = end + 1
    if flags & 2:
        at += 2
    return at if at <= len(head) else 0


class GzipStream(Stream):
    """The text of a gzip stream: all its members, zero padding between and behind them skipped in silence.

    Other bytes that are no gzip member are damage (the header of a member may have a wrong bit); reading goes
    on at the next member that can be found behind them.

    below  stream of compressed bytes; faults name offsets in it
    raw    bare deflate without header and trailer (a zip entry)
    """

    def __init__(self, below: Stream, *, raw: bool = False) -> None:
        super().__init__()
        self._below, self._raw = below, raw
        self.total = below.total
        self._input = memoryview(b"")
        self._pos = 0  # of the first input byte not yet given to the inflater
        self._fetched = 0  # bytes taken from below
        self._feed = 1024  # grows, so that thousands of tiny members stay linear
        self._ended = False
        self._lost = ""  # what was met: the next member has to be looked for
        self._gaps = 0
        self._cause = ""  # why the stream below ended
        self._seen: set[str] = set()
        self._body_at = self._given = self._crc = self._skip = self._members = 0
        self._inflater: FastInflater | ExactInflater | None = None
        self._replayable = FAST and below.at(0) is not None
        if raw:
            self._start_inflater()

    def at(self, offset: int) -> Stream | None:
        """Return the same text again from `offset` on, inflated anew from the start."""
        below = self._below.at(0)
        return SkippedStream(GzipStream(below, raw=self._raw), offset) if below else None

    def close(self) -> None:
        """Let go of what lies below."""
        self._below.close()

    @property
    def unread(self) -> bytes:
        """Input fetched and not used: what follows a raw deflate stream."""
        return bytes(self._input[self._pos :])

    def block(self) -> Block:
        """Return the next bytes of text."""
        out: Block = b""
        while not self._ended and not out:
            if self._lost:
                # Look for a gzip member behind the damage; none: the stream ends here
                what, where, self._lost = self._lost, self._offset, ""
                self._gaps += 1
                found = not self._raw and self._gaps <= GAPS_MOST and self._skip_to_member()
                left_out = (
                    f"{self._offset - where} compressed bytes"
                    if self._offset > where
                    else "the rest"
                )
                self.faults.append(
                    StreamFault(what + self._cause, where, "gap" if found else "cut", left_out)
                )
                self._ended = not found
            elif self._inflater is None:
                # Read a header, or find out what follows the last member
                head = self._peek_input(1024)
                if (length := header_length(head)) == 0 and len(head) == 1024:
                    length = header_length(self._peek_input(_HEADER_MOST))
                if length > 0:
                    self._members += 1
                    self._pos += length
                    self._start_inflater()
                    if self._members > _MEMBERS_MOST:
                        self._add_fault(
                            f"more than {_MEMBERS_MOST} gzip members", "cut", "the rest"
                        )
                        self._ended = True
                elif not head:
                    self._ended = True
                elif head[0] == 0:
                    self._skip_zeros()
                elif length == 0:
                    self._lost = "gzip header cut or damaged"
                elif self._members:
                    self._lost = "what follows the gzip data is not gzip data"
                else:
                    self._lost = "gzip header damaged"
            else:
                out = self._inflate_step(self._inflater)
        self.consumed = self._offset
        return out

    @property
    def _offset(self) -> int:
        return self._fetched - len(self._input) + self._pos

    def _add_fault(self, what: str, kind: str, left_out: str = "") -> None:
        self.faults.append(StreamFault(what + self._cause, self._offset, kind, left_out))

    def _fetch_more(self) -> bool:
        """Fetch one more block of input behind what is there; False at the end."""
        block = self._below.block()
        for fault in self._below.take_faults():
            if fault.kind == "cut":
                self._cause = f" ({fault.what})"
            elif not fault.noted and fault.what not in self._seen:
                self.faults.append(fault)
            self._seen.add(fault.what)
        if not len(block):
            return False
        self._fetched += len(block)
        rest = self._input[self._pos :]
        self._input = memoryview(b"".join((rest, block)) if len(rest) else block)
        self._pos = 0
        return True

    def _peek_input(self, count: int) -> bytes:
        """Return up to `count` next bytes of input without taking them."""
        while len(self._input) - self._pos < count and self._fetch_more():
            pass
        return bytes(self._input[self._pos : self._pos + count])

    def _start_inflater(self) -> None:
        self._body_at, self._given, self._crc, self._feed = self._offset, 0, 0, 1024
        self._inflater = FastInflater() if self._replayable else ExactInflater()

    def _skip_zeros(self) -> None:
        """Skip zero padding (tapes, block devices)."""
        while True:
            rest = self.unread.lstrip(b"\0")
            self._pos = len(self._input) - len(rest)
            if rest or not self._fetch_more():
                return

    def _inflate_step(self, inflater: FastInflater | ExactInflater) -> bytes:
        data: Block = b""
        if inflater.hungry:
            if self._pos >= len(self._input) and not self._fetch_more():
                cheap = self._fetched - self._body_at <= _REPLAY_FOR_CUT
                if not inflater.exact and cheap and self._replay_member():
                    return b""
                self._add_fault("compressed data ends early, the file is cut", "cut", "the rest")
                self._ended = True
                return b""
            data = self._input[self._pos : self._pos + self._feed]
            self._pos += len(data)
            self._feed = min(self._feed * 4, 1 << 20)
        try:
            out = inflater.inflate(data)
        except InflateError as error:
            if not inflater.exact and self._replay_member():
                return b""
            self._give_back(error.left)
            self._inflater = None
            share = f" ({min(100, self._offset * 100 // self.total)} %)" if self.total else ""
            self._lost = f"compressed data damaged{share}"
            return self._count_out(error.before)
        if inflater.eof:
            self._give_back(inflater.unused)
            self._inflater = None
            self._feed = 1024
        out = self._count_out(out)
        if inflater.eof:
            self._check_trailer()
        return out

    def _count_out(self, out: bytes) -> bytes:
        """Count text and its CRC; drop what a replay gives a second time."""
        if self._skip:
            drop = min(self._skip, len(out))
            self._skip -= drop
            out = out[drop:]
        self._given += len(out)
        if not self._raw:
            self._crc = crc32(out, self._crc)
        return out

    def _give_back(self, unused: Block) -> None:
        if len(unused) <= self._pos:
            self._pos -= len(unused)
        else:  # the engine had read ahead in the block before this one
            self._input = memoryview(b"".join((unused, self._input[self._pos :])))
            self._pos = 0

    def _check_trailer(self) -> None:
        if self._raw:
            self._ended = True
            return
        tail = self._peek_input(8)
        if len(tail) < 8:
            self._add_fault("gzip trailer cut: the checksum could not be checked", "cut")
            self._ended = True
            return
        if int.from_bytes(tail[:4], "little") != self._crc:
            self._add_fault(
                "gzip checksum is wrong: some of the text is not what was packed", "suspect"
            )
        elif int.from_bytes(tail[4:], "little") != self._given & 0xFFFFFFFF:
            self._add_fault("gzip length field is wrong", "suspect")
        self._pos += 8

    def _replay_member(self) -> bool:
        """Go back to the start of this member with the exact engine, past what was given already."""
        below = self._below.at(self._body_at)
        if below is None:
            return False
        self._below, self._input, self._pos = below, memoryview(b""), 0
        self._fetched, self._skip = self._body_at, self._given
        self._inflater = ExactInflater()
        return True

    def _skip_to_member(self) -> bool:
        """Go to the next place behind this one where a gzip member starts; False when there is none."""
        self._pos = min(self._pos + 1, len(self._input))
        for _ in range(TRIALS):
            while (found := self.unread.find(MAGIC)) < 0:
                self._pos = max(self._pos, len(self._input) - 2)
                if not self._fetch_more():
                    self._pos = len(self._input)
                    return False
            self._pos += found
            if self._is_member():
                return True
            self._pos += 1
        return False

    def _is_member(self) -> bool:
        """Say whether a gzip member starts here: a usual header, and 16 KiB that inflate."""
        head = self._peek_input(16 << 10)
        length = header_length(head)
        if length <= 0 or head[8] not in (0, 2, 4) or (head[9] > 13 and head[9] != 255):
            return False
        try:
            ExactInflater().inflate(head[length:])
        except InflateError:
            return False
        return True
