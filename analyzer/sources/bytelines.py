"""Lines of a member while it streams by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class Counted:
    """Counts the lines that pass."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines, self.lines = lines, 0

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        line = next(self._lines)
        self.lines += 1
        return line


def byte_lines(chunks: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """Yield lines with their ends from chunks; the last may lack its end."""
    rest: list[bytes] = []
    for chunk in chunks:
        pieces = bytes(chunk).split(b"\n")
        if len(pieces) == 1:
            rest.append(pieces[0])
            continue
        yield b"".join(rest) + pieces[0] + b"\n"
        for piece in pieces[1:-1]:
            yield piece + b"\n"
        rest = [pieces[-1]] if pieces[-1] else []
    if rest:
        yield b"".join(rest)
