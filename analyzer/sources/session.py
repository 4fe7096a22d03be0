"""A terminal session of any length, read in pieces that start at a prompt, so that no output is split.

A text of up to `limits.block_bytes` is one stretch; of a longer one some megabytes are held at a time. An output
larger than that limit is read up to there, and reading goes on at the next prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from analyzer.lazy_dataclass import dataclass
from analyzer.limits import LimitHit, Limits
from analyzer.secrets.values import hide_lines, suspect
from analyzer.sources.encoding import LineReader, shortened
from analyzer.sources.member import Member
from analyzer.sources.output_extent import clean
from analyzer.sources.prompts import MOST_TYPED, find_prompt
from analyzer.sources.ruled import is_head

STRETCH = 2 << 20  # bytes of a long session after which a stretch may end
_PIECE = 256 << 10  # bytes that become lines at a time: what was the same before is free again for the next
_TEXTS = 20_000  # lines that are remembered


@dataclass(slots=True)
class SessionStretch:
    """Lines of a session without secrets; `cut` when its last output goes on and was not read whole."""

    first_line: int
    lines: list[str]
    cut: bool = False


class TerminalSession:
    """Reads a text that may be a session; `limit_hits` are those it met, known when it is through.

    begun  the bytes that were read of the member already
    wide   tells whether a line may be longer than `limits.line_bytes`: that of a capture
    """

    def __init__(self, member: Member, begun: bytes, limits: Limits, wide: Callable[[str], bool]) -> None:
        self.member, self.limits, self.wide = member, limits, wide
        self.limit_hits: list[LimitHit] = []
        self._reader = LineReader(max(limits.block_bytes, limits.line_bytes))
        self._begun = begun
        self._suspect = suspect(begun)
        self._number = 0  # lines that came so far
        self._ended = False  # the limit of a whole session was reached
        self._long: list[int] = []
        self._long_count = 0
        self._texts: dict[str, str] = {}

    def parts(self) -> Iterator[SessionStretch]:
        """Yield the stretches of the text, in order."""
        lines: list[str] = []
        if not self.member.text_head(1):
            begun, self._begun = self._begun, b""
            for at in range(0, len(begun), _PIECE):
                lines += self._whole(self._reader.feed(begun[at : at + _PIECE]))
            del begun
            yield self._rest(1, lines)
            return
        first, size, skipping, prompts = 1, 0, False, False
        for raw in self._raws():
            known, size = len(lines), size + len(raw)
            lines += self._whole(self._reader.feed(raw))
            if skipping:
                at = next((n for n, line in enumerate(lines) if is_head(lines, n) or _prompt(line)), len(lines))
                first, lines, skipping = first + at, lines[at:], at == len(lines)
            elif at := _last_prompt(lines, max(known, 1)):
                prompts = True
                yield SessionStretch(first, self._hidden(lines[:at]))
                first, lines = first + at, lines[at:]
                size = sum(map(len, lines))
            elif size >= self.limits.block_bytes:
                self._say_large(first + len(lines))
                yield SessionStretch(first, self._hidden(lines), cut=True)
                if not prompts and not (lines and _prompt(lines[0])):
                    self._say_long()
                    return
                first, lines, size, skipping = first + len(lines), [], 0, True
        if not skipping:
            yield self._rest(first, lines)

    def _rest(self, first: int, lines: list[str]) -> SessionStretch:
        """Return the last stretch."""
        lines += self._whole(self._reader.close())
        cut = bool(self.member.cut or self._ended)
        if cut and lines and self._reader.met.unfinished:
            lines.pop()  # half a number is no number
        self._say_long()
        return SessionStretch(first, self._hidden(lines), cut=cut)

    def _raws(self) -> Iterator[bytes]:
        """Yield the bytes of a long text some at a time."""
        begun, self._begun = self._begun, b""
        for at in range(0, len(begun), STRETCH):
            yield begun[at : at + STRETCH]
        left = self.limits.session_bytes - len(begun)
        while left > 0 and (raw := self.member.read(min(STRETCH, left))):
            self._suspect = self._suspect or suspect(raw)
            left -= len(raw)
            yield raw
        if left <= 0 and self.member.text_head(1):
            self._ended = True
            at = self.limits.session_bytes
            self.limit_hits.append(LimitHit(self.member.address, "session_bytes", at, at))

    def _hidden(self, lines: list[str]) -> list[str]:
        return hide_lines(lines) if self._suspect else lines

    def _whole(self, lines: list[str]) -> list[str]:
        """Return lines as they are read: those over the limit cut, unless they belong to a capture.

        Lines that are the same are one text: most lines of thousands of dumps say that a counter is 0.
        """
        most = self.limits.line_bytes
        if len(self._texts) > _TEXTS:
            self._texts.clear()
        lines = [self._texts.setdefault(line, line) for line in lines]
        for number, line in enumerate(lines):
            if len(line) > most // 4 and len(line.encode("utf-8", "surrogateescape")) > most and not self.wide(line):
                lines[number] = shortened(line, most)
                self._long_count += 1
                self._long += [self._number + number + 1] if len(self._long) < 1 else []
        self._number += len(lines)
        return lines

    def _say_large(self, line: int) -> None:
        at = self.limits.block_bytes
        left_out = f"the output that continues at line {line:,} was not read further"
        self.limit_hits.append(LimitHit(self.member.address, "block_bytes", at, at, left_out))

    def _say_long(self) -> None:
        if self._long_count:
            at = self._long[0]
            were = "line was" if self._long_count == 1 else "lines were"
            left_out = f"{self._long_count:,} longer {were} read up to there"
            address = f"{self.member.address}:{at}"
            self.limit_hits.append(LimitHit(address, "line_bytes", self.limits.line_bytes, at, left_out))


def _last_prompt(lines: list[str], begin: int) -> int:
    """Return where the last prompt stands, or a command between rules; 0 when none does from a line on."""
    return next((at for at in range(len(lines) - 1, begin - 1, -1) if is_head(lines, at) or _prompt(lines[at])), 0)


def _prompt(line: str) -> bool:
    if len(line) > MOST_TYPED:
        return False
    found = find_prompt(clean(line).strip())
    return found is not None and found.form not in ("vsish", "echo") and bool(found.host or found.command)
