"""The gate before every request: it lets through only our own page in a browser that holds our cookie.

All but the page's own files lies below a secret path, to which the cookie is bound; the gate takes that
path away, so that nothing behind it can tell it, neither an answer nor a line on the terminal.

Who is kept out: a page of the web that makes the browser send requests (same-origin gate), a name of
the web that was made to lead to this machine (Host), a page of another server on this machine (both),
that server itself, which is sent the cookies of its pages (path), another user of the machine (path and
cookie), and a report that runs somebody's script (no cookie in a sandbox).
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any
from urllib.parse import quote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from analyzer.web.guard.pagefiles import PAGE
from analyzer.web.guard.session import PageSession
from analyzer.web.guard.wire import Refusal, error_answer

# The page itself holds no secret, so that it can be loaded to bring the token.
PUBLIC = frozenset(PAGE)
ENTER = "/enter"
READING = ("GET", "HEAD")
METHODS = (*READING, "POST", "PUT", "DELETE")
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
# Keys of a request's scope: that it was let in (ours), and the target as it was sent (the connection's, if it knows).
SIGNED_IN, TARGET = "backline.signed_in", "backline.target"
POLICY = b"content-security-policy"
HIDDEN, STATUS = (
    "x-backline-told",
    b"x-backline-status",
)  # asked by our page, and what it gets instead of a status
ALWAYS = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cache-control": b"no-store",
}


class RequestGate:
    """ASGI application that answers what must not come through and puts our headers on every answer."""

    def __init__(self, app: ASGIApp, session: PageSession) -> None:
        self._app, self._session = app, session
        names = ("127.0.0.1", "localhost")
        self._hosts = {f"{name}:{session.port}" for name in names}
        if session.port == 80:
            self._hosts.update(names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            refusal = self.find_refusal(scope)
            app = error_answer(refusal) if refusal else self._app
            scope[SIGNED_IN] = refusal is None and bool(self._session.strip_home(scope["path"]))
            await app(
                self.strip_home(scope),
                receive,
                _Dressed(send, hidden=HIDDEN in _read_headers(scope)),
            )
        else:  # no sockets of the web here
            await send({"type": "websocket.close", "code": 1008})

    def strip_home(self, scope: Scope) -> Scope:
        """Return a request without the secret path."""
        inner = self._session.strip_home(scope["path"])
        return (
            {**scope, "path": inner, "raw_path": quote(inner).encode("ascii")} if inner else scope
        )

    def find_refusal(self, scope: Scope) -> Refusal | None:
        """Return why a request is not let through, None when it is."""
        headers = _read_headers(scope)
        host = self.host_refused(headers, scope.get(TARGET) or scope["path"].encode())
        if host:
            return host
        if scope["method"] not in METHODS:
            return Refusal(405, "this method is not known here")
        return self.origin_refused(scope, headers) or self.stranger_refused(scope, headers)

    def host_refused(self, headers: dict[str, list[str]], target: bytes = b"/") -> Refusal | None:
        """Refuse another name than ours: a page of the web can let its own name lead to this machine.

        target  of the request: a whole URI counts more than Host (RFC 9112, 3.2.2), and is for proxies, which
                this is not; a browser sends a path
        """
        given = headers.get("host", [])
        if target.startswith(b"/") and len(given) == 1 and given[0].lower() in self._hosts:
            return None
        return Refusal(
            421,
            "this is not the address of Backline",
            do="Use the URL that `backline serve` printed.",
        )

    def origin_refused(self, scope: Scope, headers: dict[str, list[str]]) -> Refusal | None:
        """Refuse what another page makes the browser send; reading our public page is allowed to everyone."""
        reading = scope["method"] in READING
        if reading and scope["path"] in PUBLIC:
            return None
        sites, origins = headers.get("sec-fetch-site", []), headers.get("origin", [])
        own = {f"http://{host}" for host in headers["host"]}
        ours = all(site == "same-origin" or (reading and site == "none") for site in sites)
        ours = ours and all(origin in own for origin in origins)
        if ours and (reading or sites or origins):
            return None
        return Refusal(
            403, "the request does not come from the page of Backline", do="Reload the page."
        )

    def stranger_refused(self, scope: Scope, headers: dict[str, list[str]]) -> Refusal | None:
        """Refuse who does not know the path or does not hold the cookie; the page and the way in are open."""
        path, reading = scope["path"], scope["method"] in READING
        if (reading and path in PUBLIC) or (not reading and path == ENTER):
            return None
        cookie = any(self._session.knows_cookie(cookies) for cookies in headers.get("cookie", []))
        if self._session.strip_home(path) and cookie:
            return None
        return Refusal(
            401, "the page is not signed in", do="Open the URL that `backline serve` printed."
        )


class _Dressed:
    """Puts our headers on an answer; none that would open it to other pages passes.

    hidden  the page asked for refusals in an answer like any other, see `hide_status`
    """

    def __init__(self, send: Send, *, hidden: bool) -> None:
        self._send, self._hidden = send, hidden

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            add_headers(message)
            if self._hidden:
                hide_status(message)
        await self._send(message)


def hide_status(message: MutableMapping[str, Any]) -> None:
    """Move the status of a refusal (4xx) to a header: a browser calls such a status an error of the page that asked."""
    if 400 <= message["status"] < 500:
        message["headers"] = [*message["headers"], (STATUS, str(message["status"]).encode("ascii"))]
        message["status"] = 200


def add_headers(message: MutableMapping[str, Any]) -> None:
    """Complete the headers of an answer; a policy that it has (a report's) stays."""
    given = [(name.lower(), value) for name, value in message.get("headers", [])]
    kept = [
        (name, value)
        for name, value in given
        if name not in ALWAYS and not name.startswith(b"access-control-")
    ]
    if not any(name == POLICY for name, _ in kept):
        kept.append((POLICY, PAGE_POLICY.encode("ascii")))
    message["headers"] = [*kept, *ALWAYS.items()]


def _read_headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1").strip())
    return found
