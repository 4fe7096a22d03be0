"""Lines of a member, counted while it streams by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class CountedLines:
    """Passes chunks on and counts the lines in them: those that end at LF, or at CR where there is no LF."""

    def __init__(self, chunks: Iterable[bytes | memoryview]) -> None:
        self._chunks = iter(chunks)
        self._feeds = self._returns = 0
        self._last = b""

    def __iter__(self) -> Iterator[bytes | memoryview]:
        return self

    def __next__(self) -> bytes | memoryview:
        raw = bytes(next(self._chunks))
        self._feeds += raw.count(b"\n")
        if not self._feeds:
            self._returns += raw.count(b"\r")
        self._last = raw[-2:] or self._last
        return raw

    @property
    def lines(self) -> int:
        """Lines that passed; a last one without an end counts."""
        finished = (
            not self._last or (b"\n" if self._feeds else b"\r") in self._last
        )  # of UTF-16 an end is two bytes
        return (self._feeds or self._returns) + (not finished)
