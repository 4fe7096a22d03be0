"""The server: a socket on 127.0.0.1, connections that cannot be held for ever, a start and a clean stop."""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
from collections.abc import Callable, Generator
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from analyzer.runtime.errors import BacklineError
from analyzer.web.guard.bounds import Bounds
from analyzer.web.guard.connection import choose_protocol

ADDRESS = "127.0.0.1"  # never another: everything rests on being reachable from this machine only
BACKLOG = 128


def bind_socket(port: int) -> socket.socket:
    """Return a socket on 127.0.0.1; port 0 picks a free one. BacklineError when the port is in use."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":  # there, SO_REUSEADDR lets another program take the port away
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ADDRESS, port))
    except OSError as error:
        listener.close()
        why = error.strerror or str(error)
        do = "Leave out --port to use a free one."
        raise BacklineError(
            "the port cannot be used", where=f"{ADDRESS}:{port}", why=why, do=do
        ) from None
    return listener


def port_of(listener: socket.socket) -> int:
    """Return the port of a bound socket."""
    return int(listener.getsockname()[1])


class Server(uvicorn.Server):
    """uvicorn on our socket; SIGINT, SIGTERM and SIGHUP stop it, a second one at once.

    on_ready   called when connections are taken
    on_stop    called when it begins to stop
    """

    def __init__(
        self,
        app: ASGIApp,
        bounds: Bounds,
        *,
        on_ready: Callable[[], None] = lambda: None,
        on_stop: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=choose_protocol(bounds),
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                backlog=BACKLOG,
                timeout_keep_alive=10,
                timeout_graceful_shutdown=bounds.stop,
                log_level="critical",
            )
        )
        self._on_ready, self._on_stop = on_ready, on_stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Take connections."""
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections; let those under way end, for a short time."""
        self._on_stop()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Stop on a signal; unlike uvicorn, the signal is not raised again afterwards: to stop is a success."""
        names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
        numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
        before: dict[int, Any] = {}
        with contextlib.suppress(ValueError):  # not the main thread, where no signal arrives
            for number in numbers:
                before[number] = signal.signal(number, self.handle_exit)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; the second time without waiting."""
        del sig, frame
        self.force_exit = self.should_exit
        self.should_exit = True
