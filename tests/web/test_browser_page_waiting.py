"""The drag-in page in a real Chromium: waiting, adding, stopping, failing, and names from a customer."""

from __future__ import annotations

import io
import os
import re
import tarfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.kit.page_kit import (
    CHROMIUM,
    PATIENCE,
    ROOT,
    SAMPLES,
    Seat,
    Served,
    files_of,
    picture,
    served,
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
NOISE = ("Failed to load resource", "net::ERR")  # what Chromium says of a server that is gone


@pytest.mark.pictures
def test_uploads_show_bytes_and_can_be_cancelled(server: Served, sit: Any) -> None:
    """While files come the page says how many bytes of how many; cancelling leaves nothing on the disk."""
    seat = sit().enter(server)
    seat.slow(300_000)
    seat.drop(
        ("esx-07.log", os.urandom(3_000_000)),
        ("esx-08.log", os.urandom(3_000_000)),
        ("third.log", b"x"),
    )
    seat.stage("upload")
    seat.page.wait_for_selector("#now-how:has-text('a second')")
    assert "of 6.0 MB" in seat.page.locator("#now-how").inner_text()
    assert 0 < float(seat.page.locator("#bar").get_attribute("value") or 0) < 100
    picture(seat, "upload")
    seat.page.click("#case-cancel")
    seat.page.wait_for_selector("#ended-title:has-text('Cancelled')")
    assert seat.page.evaluate("document.activeElement.id") == "case-back"
    seat.page.click("#case-remove")
    seat.page.wait_for_selector("#lately-empty:visible")
    seat.page.wait_for_timeout(300)
    assert not [path for path in server.work.rglob("*") if path.name.partition(".")[0].isdigit()]


@pytest.mark.pictures
def test_a_second_drop_is_a_second_case_and_says_what_it_waits_for(
    server: Served, sit: Any
) -> None:
    """Two cases at once: the second waits behind the first by name, both end with a report; nothing jumps."""
    seat = sit().enter(server)
    with server.held():
        seat.drop(*files_of("cpu-limited-vm"))
        seat.stage("reading")
        seat.drop_paths(SAMPLES / "slow-storage")
        seat.stage("queue")
        assert seat.page.locator("#now-title").inner_text() == "Queued behind 1"
        assert 'waits until "' in seat.page.locator("#now-how").inner_text()
        seat.page.click("nav a[data-view=drop]")
        seat.state("queued")
        seat.state("reading")
        running = seat.page.locator("#strip-text").inner_text()
        assert running == 'Reading "case" · 1 queued'  # two files without a common name
        picture(seat, "queue")
        seat.page.evaluate("window.jumped = []")
    seat.page.wait_for_selector("#lately li:nth-child(2)[data-state=done]")
    seat.page.wait_for_selector("#lately li:nth-child(1)[data-state=done]")
    assert seat.shifts() < 0.001, seat.page.evaluate("JSON.stringify(window.jumped)")


def test_files_can_be_put_into_a_case_that_still_waits(server: Served, sit: Any) -> None:
    """Somebody drops the rest a moment later: while the case waits, it takes more files."""
    seat = sit().enter(server)
    with server.held():
        seat.drop(*files_of("slow-storage"))
        seat.drop(("first.txt", b"one\n"))
        seat.stage("queue")
        seat.drop(("second.txt", b"two\n"))
        seat.page.wait_for_selector("#case-title:has-text('second')")
        seat.page.click("#case-join")
        seat.page.wait_for_selector("#case-about:has-text('2 files')")
        assert seat.page.locator("#case-title").inner_text() == "first"
        with seat.page.expect_file_chooser() as chooser:
            seat.page.click("#case-add")
        chooser.value.set_files(
            [{"name": "third.txt", "mimeType": "text/plain", "buffer": b"three\n"}]
        )
        seat.page.wait_for_selector("#case-about:has-text('3 files')")
        seat.page.click("nav a[data-view=drop]")
        seat.page.wait_for_selector("#lately li:nth-child(2)")
        assert seat.page.locator("#lately li").count() == 2


def sent_by(seat: Seat) -> list[tuple[str, str]]:
    """Return a list that fills with the files that are sent: case and number of each."""
    sent: list[tuple[str, str]] = []

    def note(request: Any) -> None:
        if request.method == "PUT":
            _, case, _, number = request.url.rsplit("/", 3)
            sent.append((case, number))

    seat.page.on("request", note)
    return sent


def add(seat: Seat, name: str, data: bytes) -> None:
    """Add a file to the case on the screen."""
    with seat.page.expect_file_chooser() as chooser:
        seat.page.click("#case-add")
    chooser.value.set_files([{"name": name, "mimeType": "text/plain", "buffer": data}])


def test_only_what_is_added_is_sent(server: Served, sit: Any) -> None:
    """Files added to a case that is queued or still uploaded are sent alone: no file goes over the line twice."""
    seat = sit().enter(server)
    with server.held():
        seat.drop(*files_of("lab-ring-before"))
        sent = sent_by(seat)
        seat.drop(("first.txt", b"one\n"), ("second.txt", b"two\n"))
        seat.stage("queue")
        case = seat.page.url.rpartition("=")[2]
        add(seat, "first.txt", b"of the same name\n")
        seat.page.wait_for_selector("#case-about:has-text('3 files')")
        seat.stage("queue")
        assert seat.page.url.rpartition("=")[2] == case
        assert sorted(number for one, number in sent if one == case) == ["0", "1", "2"]
        seat.slow(300_000)
        seat.drop(("large.log", os.urandom(1_000_000)))
        seat.page.wait_for_selector("#now-how:has-text('a second')")
        large = seat.page.url.rpartition("=")[2]
        add(seat, "more.txt", b"[root@esx9:~] vmware -v\nVMware ESXi 6.5.0 build-5969303\n")
        seat.page.wait_for_selector("#case-about:has-text('2 files')")
        assert seat.page.locator("#now-how").inner_text().count("of 1.0 MB") == 1
        seat.slow(-1)
        seat.stage("queue")
        assert sorted(number for one, number in sent if one == large) == ["0", "1"]
    seat.report()
    seat.page.click("nav a[data-view=cases]")
    seat.page.wait_for_selector("#cases li:nth-child(3)")
    assert seat.page.locator("#cases li").count() == 3


def refuse(status: int, route: Any) -> None:
    """Answer in place of the server that files are too large (413), or come too late."""
    told = {"what": "too large" if status == 413 else "late", "where": "", "why": "", "do": ""}
    route.fulfill(status=status, json={"error": told})


def test_what_cannot_be_added_is_a_case_of_its_own_or_told(server: Served, sit: Any) -> None:
    """Added too late, files are a case of their own; what is too much is refused alone, and the case goes on waiting."""
    seat = sit().enter(server)
    with server.held():
        seat.drop(*files_of("slow-storage"))
        seat.drop(("first.txt", b"[root@esx9:~] vmware -v\nVMware ESXi 6.5.0 build-5969303\n"))
        seat.stage("queue")
        case = seat.page.url
        for status, shown in (
            (413, "#ended-title:has-text('Too large')"),
            (409, "#stages [data-stage=queue][data-is=now]"),
        ):
            seat.page.route("**/files", partial(refuse, status))
            add(seat, f"more-{status}.txt", b"more\n")
            seat.page.wait_for_selector(f"#case-title:has-text('more-{status}')")
            seat.page.wait_for_selector(shown)
            seat.page.unroute("**/files")
            seat.page.goto(case)
            seat.stage("queue")
            assert seat.page.locator("#case-about").inner_text().startswith("1 file,")
    seat.report()
    seat.trouble = [line for line in seat.trouble if "status of 4" not in line]


def test_a_case_is_removed_while_files_are_added(server: Served, sit: Any) -> None:
    """Cancel, then Remove, in the middle of what is added: nothing of the case stays, neither new nor old."""
    seat = sit().enter(server)
    with server.held():
        seat.drop(*files_of("slow-storage"))
        seat.drop(("first.txt", b"one\n"))
        seat.stage("queue")
        [kept] = [path for path in server.work.rglob("0") if path.read_bytes() == b"one\n"]
        seat.slow(100_000)
        add(seat, "large.log", os.urandom(2_000_000))
        seat.page.wait_for_selector("#now-how:has-text('a second')")
        seat.page.click("#case-cancel")
        seat.page.wait_for_selector("#ended-title:has-text('Cancelled')")
        seat.page.click("#case-remove")
        seat.page.wait_for_selector("#lately li:nth-child(2)", state="detached")
        until = time.monotonic() + PATIENCE / 1000
        while kept.parent.exists():
            assert time.monotonic() < until
            seat.page.wait_for_timeout(50)


def test_a_list_made_before_a_drop_does_not_take_the_case_away(server: Served, sit: Any) -> None:
    """The first list of all cases comes late, on a slow machine: a case that was given meanwhile stays, and is read."""
    seat = sit()
    waiting: list[Any] = []
    seat.page.route(
        "**/events",
        lambda route: (route.continue_ if waiting else partial(waiting.append, route))(),
    )
    seat.enter(server)
    seat.page.evaluate(
        "() => { window.ends = 0; new MutationObserver(() => { window.ends += 1; })"
        ".observe(document.querySelector('#ended'), {attributes: true}); }"
    )
    with server.held():
        seat.drop(*files_of("cpu-limited-vm"))
        seat.stage("upload")
        [early] = waiting
        early.fulfill(
            content_type="text/event-stream", body='data: {"kind": "snapshot", "cases": []}\n\n'
        )
        seat.stage("reading")
        assert seat.page.evaluate("window.ends") == 0
    assert "CPU limit" in seat.report().locator("#findings").inner_text()


def test_reading_can_be_cancelled_and_tried_again(server: Served, sit: Any) -> None:
    """Cancel ends a case that is being read; its files are still there, and trying again reads them."""
    seat = sit().enter(server)
    with server.held():
        seat.drop(*files_of("cpu-limited-vm"))
        seat.stage("reading")
        seat.page.click("#case-cancel")
        seat.page.wait_for_selector("#ended-title:has-text('Cancelled')")
    seat.page.click("#case-retry")
    assert "CPU limit" in seat.report().locator("#findings").inner_text()


@pytest.mark.pictures
def test_an_analysis_that_dies_is_told_and_can_be_tried_again(server: Served, sit: Any) -> None:
    """A crash of the reading process is not the end: the page says so and offers to try again."""
    seat = sit().enter(server)
    with server.held():
        seat.drop(*files_of("cpu-limited-vm"))
        seat.stage("reading")
        os.kill(server.analyst(), 9)
    seat.page.wait_for_selector("#ended-what:visible")
    assert "ended" in seat.page.locator("#ended-title").inner_text()
    picture(seat, "failed")
    seat.page.click("#case-retry")
    seat.report()


def test_what_is_no_case_is_refused_with_a_reason(server: Served, sit: Any, tmp_path: Path) -> None:
    """An empty folder is not taken; its name and the reason are said."""
    (tmp_path / "nothing").mkdir()
    seat = sit().enter(server)
    seat.drop_paths(tmp_path / "nothing")
    seat.page.wait_for_selector("#zone-what:has-text('\"nothing\" is empty')")
    assert seat.page.locator("#lately-empty").is_visible()


@pytest.mark.pictures
def test_a_cut_bundle_is_read_as_far_as_it_goes_and_marked(server: Served, sit: Any) -> None:
    """A damaged archive gives a report of what could be read, and the case says everywhere that it is not whole."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as bundle:
        bundle.add(SAMPLES / "cpu-limited-vm", "cpu-limited-vm")
    seat = sit().enter(server)
    seat.drop(("esx-cut.tgz", buffer.getvalue()[: len(buffer.getvalue()) // 2]))
    seat.report()
    assert "Not everything could be read" in seat.page.locator("#case-part").inner_text()
    picture(seat, "partial")
    seat.page.click("#case-back")
    assert "incomplete" in seat.state("partial").inner_text()


def test_a_reload_in_the_middle_brings_the_state_back(server: Served, sit: Any) -> None:
    """After a reload the case that is read goes on, and a cut upload is said."""
    seat = sit().enter(server)
    with server.held():
        seat.drop(*files_of("cpu-limited-vm"))
        seat.stage("reading")
        seat.page.reload()
        seat.stage("reading")
        seat.slow(100_000)
        seat.drop(("large.log", os.urandom(2_000_000)))
        seat.page.wait_for_selector("#now-how:has-text('a second')")
        seat.page.on("dialog", lambda dialog: dialog.accept())
        seat.page.reload()
        seat.page.wait_for_selector("#ended-title:has-text('The upload was interrupted')")
        assert "Drop the files again" in seat.page.locator("#ended-what").inner_text()
        seat.page.click("#case-back")
        seat.state("cut")
    seat.state("done")


@pytest.mark.pictures
def test_a_server_that_is_gone_is_said(browser: Any, tmp_path: Path) -> None:
    """When the server was killed the page says so, keeps what it shows, and names what to do."""
    seat = Seat(browser)
    try:
        with served(tmp_path / "work") as server:
            seat.enter(server)
            seat.drop(*files_of("cpu-limited-vm"))
            seat.report()
            server.stop(9)
            seat.page.wait_for_selector("#strip[data-is=gone]")
            assert "backline serve" in seat.page.locator("#strip").inner_text()
            assert seat.page.frame_locator("#report").locator("h1").is_visible()
            port = str(server.port)
            picture(seat, "gone")
        with served(tmp_path / "work", "--port", port):
            seat.page.wait_for_selector("#strip[data-is=strange]")
            assert "was restarted" in seat.page.locator("#strip").inner_text()
        left = [line for line in seat.trouble if not any(noise in line for noise in NOISE)]
        assert left == []
    finally:
        seat.context.close()


@pytest.mark.parametrize(
    "path", sorted((ROOT / "analyzer" / "web" / "page").glob("*.js")), ids=lambda path: path.name
)
def test_no_script_of_the_page_writes_markup(path: Path) -> None:
    """Text goes into the page as text: the ways by which it could become markup are not used."""
    code = path.read_text(encoding="utf-8")
    assert not re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|DOMParser|\beval\b", code
    )


def test_names_from_the_customer_are_shown_letter_by_letter(server: Served, sit: Any) -> None:
    """A file named like markup, with a sign that turns the line round, is only a name."""
    seat = sit().enter(server)
    name = "<img src=x onerror=alert(1)>\u202e.log"
    seat.page.on("dialog", lambda dialog: seat.trouble.append(f"dialog: {dialog.message}"))
    seat.drop((name, b"2017-10-14T16:20:00.120Z cpu1:65822)made up: nothing\n"))
    seat.report()
    assert "<img src=x onerror=alert(1)>" in seat.page.locator("#case-title").inner_text()
    assert "\u202e" not in seat.page.locator("body").inner_text()
    assert seat.page.locator("img").count() == 0
