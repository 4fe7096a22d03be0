"""Bytes to text lines with stable numbers, whatever wrote the file.

UTF-8 with and without BOM, UTF-16 as PowerShell writes it (with and without BOM), single bytes that
are no UTF-8 (vendor strings, VM names in old code pages), CRLF, CR alone, NUL blocks after a crash,
lines of megabytes. Nothing here fails: what could not be kept is noted in `Met`, so that the
coverage part of the report can show it.

A line ends at LF; a CR before it is dropped. Only where the first 64 KiB hold CR and no LF does CR
end a line, so that numbers are those of `grep -n` and of editors. Where a first line is longer, as the
heading of an esxtop CSV, the 64 KiB behind its end decide.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field

from analyzer.runtime.limits import KIB, Limits

HEAD_BYTES = 64 * KIB  # what the decision about encoding and line ends is taken on
SAMPLE_BYTES = 4 * KIB
LINE_BYTES = Limits().line_bytes
NOTES = 100  # places kept of each sort; the counters go on
_LONG_NULS = re.compile(rb"\x00{8,}")
_LINE_END = re.compile(rb"[\r\n]")
_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\r\x0b\x0c\x08\x07\x1b\x00"))
_PLAIN = bytes({*range(1, 128)} - set(_CONTROLS))
_PACKED = (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_OTHER = (b"\x7fELF", b"\x89PNG", b"%PDF-", b"\xff\xd8\xff", b"GIF8")


@dataclass(slots=True)
class Met:
    """What was met while bytes became lines.

    encoding      utf-8, utf-16-le or utf-16-be
    bom           True when a byte order mark was there (it is not part of line 1)
    ends          LF, CRLF or CR, as the first 64 KiB have it; "" for a text without a line end
    lines         lines given so far
    undecodable   lines with bytes that are not UTF-8 (kept as lone surrogates, shown as \\xNN)
    gaps          (line, NUL bytes taken out of it), the first 100; gap_lines and gap_bytes count all
    cuts          (line, bytes left out) of lines over the limit, the first 100; cut_lines counts all
    unfinished    True when the text ended without a line end: its last line may not be whole
    """

    encoding: str = "utf-8"
    bom: bool = False
    ends: str = ""
    lines: int = 0
    undecodable: int = 0
    gaps: list[tuple[int, int]] = field(default_factory=list)
    gap_lines: int = 0
    gap_bytes: int = 0
    cuts: list[tuple[int, int]] = field(default_factory=list)
    cut_lines: int = 0
    unfinished: bool = False

    def notes(self) -> list[str]:
        """Return what is worth a note, one sentence each; empty for plain UTF-8."""
        notes = []
        if self.encoding != "utf-8" or self.bom:
            notes.append(f"encoding {self.encoding}{' with byte order mark' if self.bom else ''}")
        if self.ends == "CR":
            notes.append("lines end with CR alone")
        if self.undecodable:
            notes.append(f"{self.undecodable} lines hold bytes that are not UTF-8, shown as \\xNN")
        if self.gap_lines:
            notes.append(
                f"{self.gap_bytes} NUL bytes (a gap) taken out of {self.gap_lines} lines"
                f", the first is line {self.gaps[0][0]}"
            )
        if self.cut_lines:
            first = self.cuts[0][0]
            notes.append(
                f"{self.cut_lines} lines over the limit were cut, the first is line {first}"
            )
        return notes


def looks_like_text(head: bytes) -> bool:
    """Say whether the first bytes of a file (4 KiB are enough) are text in an encoding we read.

    A block of NUL bytes is a gap, not a sign of a binary file; NUL bytes strewn about are one.
    """
    sample = bytes(head[:SAMPLE_BYTES])
    if (
        sample.isascii()
        and not sample.startswith(_PACKED + _OTHER)
        and not sample.translate(None, _PLAIN)
    ):
        return True
    if not sample or _find_encoding(sample)[0] != "utf-8":
        return True
    if sample.startswith(_PACKED + _OTHER):
        return False
    rest = _LONG_NULS.sub(b"", sample)
    if not rest:
        return False
    strange = len(rest) - len(rest.translate(None, _CONTROLS + b"\x00"))
    text = "" if rest.isascii() else rest.decode("utf-8", "surrogateescape")
    bad = sum(0xDC80 <= ord(sign) <= 0xDCFF for sign in text)
    return strange * 50 <= len(rest) and bad * 4 <= len(rest)


def decode(raw: bytes, line_bytes: int = LINE_BYTES) -> list[str]:
    """Return the lines of a whole text."""
    reader = LineReader(line_bytes)
    return reader.feed(raw) + reader.close()


def first_lines(raw: bytes, most: int) -> list[str]:
    """Return the first lines of a text, at most so many: those of `decode`, at the cost of these alone."""
    at = 0
    for _ in range(most):
        at = raw.find(b"\n", at) + 1
        if not at:
            return decode(raw)[:most]
    if b"\x00" in raw or raw.startswith(
        (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    ):  # the whole of it decides
        return decode(raw)[:most]
    begin = raw[:at]
    if b"\r" in begin or not begin.isascii():
        return decode(begin)
    return begin.decode().split("\n")[:-1]


class LineReader:
    """Turns chunks into lines: `feed` each chunk, then `close`; `met` says what came by.

    The lines do not depend on how the bytes were cut into chunks. A line longer than
    `line_bytes` (of UTF-8) is cut at a character and ends with a mark that says how much is missing.
    """

    def __init__(self, line_bytes: int = LINE_BYTES, met: Met | None = None) -> None:
        self.met = Met() if met is None else met
        self._most = max(line_bytes, 1)
        self._head: bytearray | None = bytearray()
        self._ended: int | None = None  # where in the head the first line ends
        self._looked = 0  # bytes of the head in which no end was found
        self._wide: codecs.IncrementalDecoder | None = None
        self._end = b"\n"
        self._carry = bytearray()  # the line that has begun, without NULs
        self._over = 0  # bytes of it left out already
        self._nuls = 0  # NUL bytes taken out of it

    def feed(self, chunk: bytes | bytearray | memoryview) -> list[str]:
        """Take the next bytes and return the lines that are whole now."""
        if self._head is None:
            return self._split_lines(bytes(chunk))
        self._head += chunk
        return self._open_text() if len(self._head) >= self._count_needed() else []

    def _count_needed(self) -> int:
        """Return how many of the first bytes decide encoding and line ends; more than there are while that is open."""
        head = self._head or b""
        if self._ended is None:
            found = _LINE_END.search(head, self._looked)
            self._ended, self._looked = (found.start() if found else None), len(head)
        most = max(HEAD_BYTES, self._most)
        if self._ended is None:
            return most
        return HEAD_BYTES if self._ended < HEAD_BYTES else min(self._ended + HEAD_BYTES, most)

    def close(self) -> list[str]:
        """Return what is left: the last line when the text does not end with a line end."""
        lines = self._open_text() if self._head is not None else []
        if self._wide is not None:
            lines += self._split_lines(b"", final=True)
        if self._carry or self._over or self._nuls:
            self.met.unfinished = True
            lines.append(self._finish_line())
        return lines

    def _open_text(self) -> list[str]:
        """Decide encoding and line ends on the first 64 KiB, then go on with all that came."""
        raw = bytes(self._head or b"")
        sample = raw[: self._count_needed()]
        self._head = None
        name, skip = _find_encoding(sample)
        self.met.encoding, self.met.bom = name, skip > 0
        if name == "utf-8":
            shown = sample
        else:
            self._wide = codecs.getincrementaldecoder(name)("replace")
            shown = sample[skip:].decode(name, "replace").encode("utf-8", "replace")
        if b"\n" in shown:
            self.met.ends = "CRLF" if b"\r\n" in shown else "LF"
        elif b"\r" in shown:
            self.met.ends, self._end = "CR", b"\r"
        return self._split_lines(raw[skip:])

    def _split_lines(self, raw: bytes, *, final: bool = False) -> list[str]:
        """Return the lines that end in `raw`; keep the rest, never more than the limit."""
        if self._wide is not None:
            raw = self._wide.decode(raw, final).encode("utf-8", "replace")
        if self._end == b"\r":
            raw = raw.replace(b"\n", b"\r")  # an LF far behind the head ends a line too
        first, last = raw.find(self._end), raw.rfind(self._end)
        if last < 0:
            self._keep_bytes(raw)
            return []
        self._keep_bytes(raw[:first])
        lines = [self._finish_line()]
        if first < last:
            lines += self._split_whole(raw[first + 1 : last])
        self._keep_bytes(raw[last + 1 :])
        return lines

    def _split_whole(self, raw: bytes) -> list[str]:
        """Return whole lines; the plain case is one decode and one split."""
        if b"\x00" not in raw:
            try:
                lines = raw.decode("utf-8").split(self._end.decode())
            except UnicodeDecodeError:
                lines = []
            if lines and max(map(len, lines)) * 4 <= self._most:
                self.met.lines += len(lines)
                return [line.rstrip("\r") for line in lines] if b"\r" in raw else lines
        whole = []
        for line in raw.split(self._end):
            self._keep_bytes(line)
            whole.append(self._finish_line())
        return whole

    def _keep_bytes(self, raw: bytes) -> None:
        """Put bytes to the line that has begun, without NULs and up to the limit."""
        if b"\x00" in raw:
            kept = raw.replace(b"\x00", b"")
            self._nuls += len(raw) - len(kept)
            raw = kept
        room = (
            self._most + 1 - len(self._carry)
        )  # one more than the limit: a CR may still be dropped
        self._carry += raw[:room]
        self._over += max(len(raw) - room, 0)

    def _finish_line(self) -> str:
        """Return the line that has begun: cut to the limit, undecodable bytes as lone surrogates."""
        raw, over, nuls, met = bytes(self._carry), self._over, self._nuls, self.met
        self._carry.clear()
        self._over = self._nuls = 0
        met.lines += 1
        if nuls:
            met.gap_lines += 1
            met.gap_bytes += nuls
            if len(met.gaps) < NOTES:
                met.gaps.append((met.lines, nuls))
        if not over:
            raw = raw.rstrip(b"\r")
        if len(raw) > self._most:
            at = self._most
            while at > max(self._most - 3, 0) and raw[at] & 0xC0 == 0x80:  # not inside a character
                at -= 1
            over += len(raw) - at
            raw = raw[:at]
        text = raw.decode("utf-8", "surrogateescape")
        if not text.isascii() and any("\udc80" <= sign <= "\udcff" for sign in text):
            met.undecodable += 1
        if over:
            met.cut_lines += 1
            if len(met.cuts) < NOTES:
                met.cuts.append((met.lines, over))
            text += f" […{over} bytes of this line left out]"
        return text


def shorten_line(line: str, most: int) -> str:
    """Return a line cut to so many bytes of UTF-8, with a mark that says how much is missing."""
    raw = line.encode("utf-8", "surrogateescape")
    at = min(most, len(raw))
    while at and at < len(raw) and raw[at] & 0xC0 == 0x80:  # not inside a character
        at -= 1
    text = raw[:at].decode("utf-8", "surrogateescape")
    return text if at == len(raw) else f"{text} […{len(raw) - at} bytes of this line left out]"


def _find_encoding(sample: bytes) -> tuple[str, int]:
    """Return the encoding and the length of the byte order mark."""
    for mark, name in _MARKS:
        if sample.startswith(mark):
            return name, len(mark)
    pairs = min(len(sample), SAMPLE_BYTES) // 2
    if pairs < 2:
        return "utf-8", 0
    part = sample[: pairs * 2]
    even, odd = part[0::2].count(0), part[1::2].count(0)
    if odd * 2 > pairs and even * 10 < pairs:
        return "utf-16-le", 0
    if even * 2 > pairs and odd * 10 < pairs:
        return "utf-16-be", 0
    return "utf-8", 0
