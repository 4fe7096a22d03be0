"""A source that is looked at while it is searched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from analyzer.scan.blocks import Readable, Source

Look = Callable[[bytes], object]  # takes the bytes of one read


def pass_on(source: Source, look: Look) -> Source:
    """Return a source of the same bytes; `see` gets those of each read, in order, before the reader has them."""
    return _Passing(source, look) if isinstance(source, Readable) else _pass_chunks(source, look)


def _pass_chunks(source: Iterable[bytes | bytearray | memoryview], look: Look) -> Iterator[bytes]:
    for chunk in source:
        data = bytes(chunk)
        look(data)
        yield data


class _Passing:
    """A member whose bytes are seen while they are read."""

    def __init__(self, source: Readable, look: Look) -> None:
        self._source, self._look = source, look

    @property
    def cut(self) -> str:
        """Why the member ended early, as the member says."""
        return str(getattr(self._source, "cut", "") or "")

    def readinto(self, buffer: Any, /) -> int:
        """Fill a buffer as the member does."""
        count = self._source.readinto(buffer) or 0
        if count:
            self._look(bytes(memoryview(buffer)[:count]))
        return count
