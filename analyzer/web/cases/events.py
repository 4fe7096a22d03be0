"""The events of one server: numbered, the newest kept, so that a page that reconnects gets what it missed."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

KEPT = 2000

Event = Mapping[str, Any]


class Events:
    """A ring of the newest events; used by one event loop.

    snapshot  returns an event that tells everything there is; sent to who asks for what is gone
    """

    def __init__(self, snapshot: Callable[[], Event], kept: int = KEPT) -> None:
        self._snapshot = snapshot
        self._ring: deque[Event] = deque(maxlen=kept)
        self.last = 0
        self._news = asyncio.Event()

    def add_event(self, event: Event) -> None:
        """Number an event and wake who waits for it."""
        self.last += 1
        self._ring.append(event)
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def follow_since(self, number: int) -> AsyncIterator[tuple[int, Event]]:
        """Yield number and content of every event after `number`, for ever.

        Who knows nothing (0), and who asks for numbers that are gone or were never given, gets the snapshot.
        """
        oldest = self.last - len(self._ring)
        if number <= 0 or not oldest <= number <= self.last:
            number = self.last
            yield number, self._snapshot()
        while True:
            news = self._news
            while number < self.last:
                oldest = self.last - len(self._ring)
                if number < oldest:  # the reader is slow
                    number = self.last
                    yield number, self._snapshot()
                    continue
                number += 1
                yield number, self._ring[number - oldest - 1]
            await news.wait()
