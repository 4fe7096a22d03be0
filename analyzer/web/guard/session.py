"""Who may talk to the server: whoever has the start token, and then holds the cookie and the path."""

from __future__ import annotations

import hmac
import secrets
import time

BYTES = 32  # of chance in each secret
TICKET_SECONDS = 180.0


class PageSession:
    """The secrets of one start.

    token   in the fragment of the printed URL; sent once in the header X-Backline-Token
    home    secret path, before the address of everything that is not public
    cookie  name of the cookie, which carries a third secret

    Cookies do not know ports: a browser sends ours to every server of this machine that is asked for an
    address below `home`. No other server can make it ask for one, since no other server knows `home`.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.token = secrets.token_urlsafe(BYTES)
        self.home = "/" + secrets.token_urlsafe(BYTES)
        self.cookie = f"backline-{port}"
        self._value = secrets.token_urlsafe(BYTES)
        self._tickets: dict[str, float] = {}

    def make_ticket(self) -> str:
        """Return a token that opens the page once, and soon.

        A browser is started with the URL on its command line, which other users of the machine can read.
        """
        ticket = secrets.token_urlsafe(BYTES)
        self._tickets[ticket] = time.monotonic() + TICKET_SECONDS
        return ticket

    def admits_token(self, token: str) -> bool:
        """Say whether a token is that of the start, or a ticket that was not used yet."""
        if _equals_safely(token, self.token):
            return True
        for ticket, until in list(self._tickets.items()):
            if _equals_safely(token, ticket):
                del self._tickets[ticket]
                return time.monotonic() < until
        return False

    def strip_home(self, path: str) -> str:
        """Return what a path says below `home`; "" for a path elsewhere."""
        first, slash, rest = path[1:].partition("/")
        return slash + rest if _equals_safely(f"/{first}", self.home) else ""

    def knows_cookie(self, cookies: str) -> bool:
        """Say whether the Cookie header of a request holds ours."""
        for part in cookies.split(";"):
            name, _, value = part.strip().partition("=")
            if name == self.cookie and _equals_safely(value, self._value):
                return True
        return False

    def set_cookie(self) -> str:
        """Return the Set-Cookie header; the cookie ends with the browser."""
        return f"{self.cookie}={self._value}; HttpOnly; SameSite=Strict; Path={self.home}/"


def _equals_safely(given: str, ours: str) -> bool:
    """Compare without telling by the time it takes how much was right."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), ours.encode())
