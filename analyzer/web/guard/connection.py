"""Connections that send nothing, or a head that never ends, are closed: uvicorn itself waits for ever."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from uvicorn.protocols.http.h11_impl import H11Protocol

from analyzer.web.guard.bounds import Bounds

if TYPE_CHECKING:
    _Base = H11Protocol
else:
    _Base = object


def _plain(status: str, text: str) -> bytes:
    head = f"HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {len(text)}\r\nconnection: close\r\n\r\n"
    return (head + text).encode("ascii")


FULL = _plain("503 Service Unavailable", "Too many connections: close other tabs of Backline.")
LONG = _plain("431 Request Header Fields Too Large", "The head of the request is too long.")


class Watched(_Base):
    """Mixed into a protocol of uvicorn: bounds the time in which no request is being answered.

    That is the time until the head of a request is whole, and that in which the rest of a body comes
    whose request was answered (refused) already. While a request is answered, its route looks after
    the body (`wire.Pace`).
    """

    bounds = Bounds()
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.bounds.connections:
            transport.write(FULL)
            transport.close()
        else:
            self._close_after(self.bounds.head)

    def data_received(self, data: bytes) -> None:
        """Take bytes."""
        super().data_received(data)
        if self._timer is not None and self.cycle is not None and not self.cycle.response_complete:
            self._timer.cancel()
            self._timer = None

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._close_after(self.bounds.drain)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _close_after(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(seconds, self._too_late)

    def _too_late(self) -> None:
        self._timer = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


def protocol(bounds: Bounds) -> type[asyncio.Protocol]:
    """Return the class of our connections: on httptools where it is installed, else on h11."""
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol  # noqa: PLC0415 - not on Windows
    except ImportError:
        return slow_protocol(bounds)

    class Fast(Watched, HttpToolsProtocol):  # type: ignore[misc]
        """On httptools, which puts no bound on the size of a head."""

        _in_head, _head = False, 0

        def on_message_begin(self) -> None:
            self._in_head, self._head = True, 0
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            self._in_head = False
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

    class Slow(Watched, H11Protocol):
        """On h11."""

    Slow.bounds = bounds
    return Slow


