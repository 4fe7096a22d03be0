"""Closes connections that send nothing, or a header that never ends; uvicorn itself waits forever.

Who is not signed in holds no place that somebody else needs: beyond the bound the connection of a stranger that
waited longest makes room for a new one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from uvicorn.protocols.http.h11_impl import H11Protocol

from analyzer.web.guard.bounds import Bounds
from analyzer.web.guard.gate import SIGNED_IN, TARGET

if TYPE_CHECKING:
    _Base = H11Protocol
else:
    _Base = object


def _make_plain_answer(status: str, text: str) -> bytes:
    head = f"HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {len(text)}\r\nconnection: close\r\n\r\n"
    return (head + text).encode("ascii")


FULL = _make_plain_answer(
    "503 Service Unavailable", "Too many connections: close other tabs of Backline."
)
LONG = _make_plain_answer(
    "431 Request Header Fields Too Large", "The header of the request is too long."
)


class BoundedProtocol(_Base):
    """Mixed into a protocol of uvicorn: bounds the time in which no request is being answered.

    That is the time until the head of a request is whole, and that in which the rest of a body comes
    whose request was answered (refused) already. While a request is answered, its route looks after
    the body (`wire.Pace`).
    """

    bounds = Bounds()
    signed_in = False  # a request that came over it was let in
    since = 0.0  # when it began to wait for a request
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection; when there are too many, in place of one that is in no one's way, or not at all."""
        super().connection_made(transport)
        self.since = time.monotonic()
        others = [
            one for one in self.connections if isinstance(one, BoundedProtocol) and one is not self
        ]
        others = [one for one in others if not one.transport.is_closing()]
        if len(others) >= self.bounds.connections:
            weakest = _find_weakest(others)
            if weakest is None:
                transport.write(FULL)
                transport.close()
                return
            weakest.give_way()
        self._close_after(self.bounds.head)

    @property
    def waiting(self) -> bool:
        """No request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def give_way(self) -> None:
        """Close, whatever was still to be sent."""
        self.transport.close() if self.waiting else self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take bytes."""
        super().data_received(data)
        if self._timer is not None and self.cycle is not None and not self.cycle.response_complete:
            self._timer.cancel()
            self._timer = None

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self.signed_in = self.signed_in or bool(self.scope.get(SIGNED_IN))
        self.since = time.monotonic()
        self._close_after(self.bounds.drain)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _close_after(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(seconds, self._end_slow_request)

    def _end_slow_request(self) -> None:
        self._timer = None
        if self.waiting:
            self.transport.close()


def _find_weakest(connections: Iterable[BoundedProtocol]) -> BoundedProtocol | None:
    """Return the connection that gives way, None when each is at work for somebody who is signed in.

    One that waits goes before one that is answered, a stranger before our own page, and of equals the oldest:
    a page that has just connected sends its request at once.
    """
    places = []
    for one in connections:
        signed_in = one.signed_in or bool(one.scope and one.scope.get(SIGNED_IN))
        if one.waiting or not signed_in:
            places.append(((not one.waiting, signed_in, one.since), one))
    return min(places, key=lambda place: place[0], default=(None, None))[1]


def choose_protocol(bounds: Bounds) -> type[asyncio.Protocol]:
    """Return the class of our connections: on httptools where it is installed, else on h11."""
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol  # noqa: PLC0415 - not on Windows
    except ImportError:
        return slow_protocol(bounds)

    class Fast(BoundedProtocol, HttpToolsProtocol):  # type: ignore[misc]
        """On httptools, which puts no bound on the size of a head."""

        _in_head, _head = False, 0

        def on_message_begin(self) -> None:
            self._in_head, self._head = True, 0
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            self._in_head = False
            # Of `GET http://HOST/` uvicorn keeps the path alone.
            self.scope[TARGET] = bytes(self.url)  # type: ignore[literal-required]
            super().on_headers_complete()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._in_head:
                self._head += len(data)
                if self._head > self.bounds.head_bytes and not self.transport.is_closing():
                    self.transport.write(LONG)
                    self.transport.close()

    Fast.bounds = bounds
    return Fast


def slow_protocol(bounds: Bounds) -> type[asyncio.Protocol]:
    """Return the class of our connections on h11, which bounds the size of a head itself."""

    class Slow(BoundedProtocol, H11Protocol):
        """On h11."""

    Slow.bounds = bounds
    return Slow
