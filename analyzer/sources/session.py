"""A terminal session of any length, read in pieces that start at a prompt, so that no output is split.

A text of up to `limits.block_bytes` is one stretch; of a longer one some megabytes are held at a time. An output
larger than that limit is read up to there, and reading goes on at the next prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from analyzer.runtime.limits import LimitHit, Limits
from analyzer.secrets.values import hide_lines, may_hold_secrets
from analyzer.sources.encoding import LineReader, shorten_line
from analyzer.sources.member import Member
from analyzer.sources.passes import clean_line, clean_lines, is_ruled_head
from analyzer.sources.prompts import MOST_TYPED, find_prompt, may_be_prompt

STRETCH = 2 << 20  # bytes of a long session after which a stretch may end
_PIECE = (
    256 << 10
)  # bytes that become lines at a time: what was the same before is free again for the next
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
    wide   says whether a line may be longer than `limits.line_bytes`: that of a capture
    """

    def __init__(
        self, member: Member, begun: bytes, limits: Limits, wide: Callable[[str], bool]
    ) -> None:
        self.member, self.limits, self.wide = member, limits, wide
        self.limit_hits: list[LimitHit] = []
        self._reader = LineReader(max(limits.block_bytes, limits.line_bytes))
        self._begun = begun
        self._may_hold_secrets = may_hold_secrets(begun)
        self._count = 0  # lines that came so far
        self._ended = False  # the limit of a whole session was reached
        self._first_long = 0  # number of the first line over the limit
        self._long_count = 0
        self._texts: dict[str, str] = {}

    def read_parts(self) -> Iterator[SessionStretch]:
        """Yield the stretches of the text, in order."""
        if self.member.text_head(1):
            yield from self._read_long()
            return
        lines: list[str] = []
        begun, self._begun = self._begun, b""
        for at in range(0, len(begun), _PIECE):
            lines += self._take_lines(self._reader.feed(begun[at : at + _PIECE]))
        del begun
        yield self._end_text(1, lines)

    def _read_long(self) -> Iterator[SessionStretch]:
        """Yield the stretches of a text of which more is to come."""
        lines: list[str] = []
        first, size, skipping, prompts = 1, 0, False, False
        for raw in self._read_bytes():
            known, size = len(lines), size + len(raw)
            lines += self._take_lines(self._reader.feed(raw))
            places = find_possible_places(lines, 0 if skipping else max(known, 1))
            if skipping:
                at = next((place for place in places if _begins_command(lines, place)), len(lines))
                skipping = at == len(lines)
                first, lines = first + at, lines[at:]
            elif at := next((one for one in reversed(places) if _begins_command(lines, one)), 0):
                prompts = True
                yield SessionStretch(first, self._hide_secrets(lines[:at]))
                first, lines = first + at, lines[at:]
                size = sum(map(len, lines))
            elif size >= self.limits.block_bytes:
                most = self.limits.block_bytes
                left_out = f"the output that continues at line {(first + len(lines)):,} was not read further"
                self.limit_hits.append(
                    LimitHit(self.member.address, "block_bytes", most, most, left_out)
                )
                yield SessionStretch(first, self._hide_secrets(lines), cut=True)
                if not prompts and not (lines and _is_prompt(lines[0])):
                    self._note_long_lines()
                    return
                first, lines, size, skipping = first + len(lines), [], 0, True
        if not skipping:
            yield self._end_text(first, lines)

    def _end_text(self, first: int, lines: list[str]) -> SessionStretch:
        """Return the last stretch."""
        lines += self._take_lines(self._reader.close())
        cut = bool(self.member.cut or self._ended)
        if cut and lines and self._reader.met.unfinished:
            lines.pop()  # half a number is no number
        self._note_long_lines()
        return SessionStretch(first, self._hide_secrets(lines), cut=cut)

    def _read_bytes(self) -> Iterator[bytes]:
        """Yield the bytes of a long text some at a time."""
        begun, self._begun = self._begun, b""
        for at in range(0, len(begun), STRETCH):
            yield begun[at : at + STRETCH]
        left = self.limits.session_bytes - len(begun)
        while left > 0 and (raw := self.member.read(min(STRETCH, left))):
            self._may_hold_secrets = self._may_hold_secrets or may_hold_secrets(raw)
            left -= len(raw)
            yield raw
        if left <= 0 and self.member.text_head(1):
            self._ended = True
            at = self.limits.session_bytes
            self.limit_hits.append(LimitHit(self.member.address, "session_bytes", at, at))

    def _hide_secrets(self, lines: list[str]) -> list[str]:
        return hide_lines(lines) if self._may_hold_secrets else lines

    def _take_lines(self, lines: list[str]) -> list[str]:
        """Return lines as they are read: those over the limit cut, unless they belong to a capture.

        Lines that are the same are one text: most lines of thousands of dumps say that a counter is 0.
        """
        if len(self._texts) > _TEXTS:
            self._texts.clear()
        lines = list(map(self._texts.setdefault, lines, lines))
        most = self.limits.line_bytes
        has_long = max(map(len, lines), default=0) > most // 4
        for number, line in enumerate(lines if has_long else ()):
            if (
                len(line) <= most // 4
                or len(line.encode("utf-8", "surrogateescape")) <= most
                or self.wide(line)
            ):
                continue
            lines[number] = shorten_line(line, most)
            self._long_count += 1
            self._first_long = self._first_long or self._count + number + 1
        self._count += len(lines)
        return lines

    def _note_long_lines(self) -> None:
        if not self._long_count:
            return
        were = "line was" if self._long_count == 1 else "lines were"
        left_out = f"{self._long_count:,} longer {were} read up to there"
        address = f"{self.member.address}:{self._first_long}"
        self.limit_hits.append(
            LimitHit(address, "line_bytes", self.limits.line_bytes, self._first_long, left_out)
        )


def find_possible_places(lines: list[str], first: int) -> list[int]:
    """Return the places from one on at which a command may begin: too many sometimes, never too few."""
    texts = [text.lstrip() for text in clean_lines(lines[first:])]
    return [
        at
        for at, text in enumerate(texts, first)
        if may_be_prompt(text) or lines[at].startswith("-")
    ]


def _begins_command(lines: list[str], at: int) -> bool:
    """Say whether a line is a prompt, or the upper rule of a command between rules."""
    return is_ruled_head(lines, at) or _is_prompt(lines[at])


def _is_prompt(line: str) -> bool:
    if len(line) > MOST_TYPED:
        return False
    found = find_prompt(clean_line(line).strip())
    return (
        found is not None
        and found.form not in ("vsish", "echo")
        and bool(found.host or found.command)
    )
