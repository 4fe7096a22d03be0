"""The drag-in page in a real Chromium, before the real server: from the drop to the report.

`BACKLINE_SCREENSHOTS=1` writes the pictures of docs/page.md anew.
"""

from __future__ import annotations

import io
import os
import re
import tarfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.page_kit import AXE, CHROMIUM, PATIENCE, ROOT, SAMPLES, Seat, Served, launch, served

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
PICTURES = ROOT / "docs" if os.environ.get("BACKLINE_SCREENSHOTS") else None
SHOWN = set(re.findall(r"\(page-([a-z-]+)\.png\)", (ROOT / "docs" / "page.md").read_text(encoding="utf-8")))
NOISE = ("Failed to load resource", "net::ERR")  # what Chromium says of a server that is gone


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        chromium = launch(driver)
        yield chromium
        chromium.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "work") as running:
        yield running


@pytest.fixture
def sit(browser: Any) -> Iterator[Callable[..., Seat]]:
    """Open windows; each must have been without errors, and without requests to anywhere else, when it closes."""
    seats: list[Seat] = []

    def down(**options: Any) -> Seat:
        seats.append(Seat(browser, **options))
        return seats[-1]

    yield down
    trouble = [line for seat in seats for line in seat.trouble]
    for seat in seats:
        seat.context.close()
    assert trouble == []


def files_of(case: str) -> list[tuple[str, bytes]]:
    """Return the files of a sample case; its README, dropped by itself, would be a file that nobody understands."""
    files = (path for path in sorted((SAMPLES / case).rglob("*")) if path.is_file() and path.name != "README.md")
    return [(path.name, path.read_bytes()) for path in files]


def picture(seat: Seat, name: str) -> None:
    """Write a picture of the documentation, when asked to."""
    if PICTURES and name in SHOWN:
        seat.page.screenshot(path=str(PICTURES / f"page-{name}.png"))


# --- start ---------------------------------------------------------------------------------


def test_the_token_leaves_the_address_bar_and_is_in_no_history(server: Served, sit: Any) -> None:
    """After the start neither the address nor a page one can go back to holds the token."""
    seat = sit().enter(server)
    token = server.url.partition("#")[2]
    assert seat.page.url == server.address
    assert token not in seat.page.content()
    assert seat.page.evaluate("history.length") <= 2
    picture(seat, "start")


def test_without_the_token_the_page_says_what_to_do(server: Served, sit: Any) -> None:
    """A window that was never let in shows no case and tells how to come in."""
    seat = sit()
    seat.page.goto(server.address)
    seat.page.wait_for_selector("body[data-done=shut]", state="attached")
    assert "not signed in" in seat.page.locator("h1:visible").inner_text()
    assert "backline serve" in seat.page.locator("#shut-do").inner_text()
    assert not seat.page.locator("nav").is_visible()
    seat.trouble = [line for line in seat.trouble if "401" not in line]


# --- from the drop to the report ---------------------------------------------------------------


def test_five_files_dropped_at_once_are_one_case_whose_report_opens(server: Served, sit: Any) -> None:
    """Files dropped together become one case; progress is seen, the report opens in place, and nothing jumps."""
    seat = sit().enter(server)
    seat.drop(
        *files_of("cpu-limited-vm"), ("note.txt", b"the VM is slow since Monday\n"), ("mail.txt", b"see the note\n")
    )
    seat.stage("reading")
    assert seat.page.locator("#case-about").inner_text().startswith("5 files")
    report = seat.report()
    assert "A CPU limit holds the VM back" in report.locator("#findings").inner_text()
    assert seat.page.locator("#case-about").inner_text().startswith("3 major")
    assert seat.shifts() < 0.001, seat.page.evaluate("JSON.stringify(window.jumped)")
    assert seat.page.evaluate("document.activeElement.id") == "case-title"
    picture(seat, "report")


def test_a_folder_with_more_files_than_one_reading_gives_is_one_case(server: Served, sit: Any, tmp_path: Path) -> None:
    """A dropped folder is walked to its end (a browser lists 100 at a time); empty folders are said."""
    folder = tmp_path / "case 4711"
    (folder / "deep" / "empty").mkdir(parents=True)
    for number in range(230):
        (folder / "deep" / f"note-{number:03}.txt").write_text(f"note {number}\n", encoding="utf-8")
    for name, data in files_of("lab-ring-before"):
        (folder / name).write_bytes(data)
    total = 230 + len(files_of("lab-ring-before"))
    seat = sit().enter(server)
    seat.drop_paths(folder)
    seat.report()
    assert seat.page.locator("#case-title").inner_text() == "case 4711"
    assert f"{total} files" in seat.page.locator("#case-about").inner_text()
    assert "1 empty folder was left out" in seat.page.locator("#case-part").inner_text()


def test_files_and_a_folder_can_be_chosen_without_dropping(server: Served, sit: Any) -> None:
    """The two buttons open the choosers of the system and give what was chosen."""
    seat = sit().enter(server)
    with seat.page.expect_file_chooser() as chooser:
        seat.page.click("#pick-files")
    chooser.value.set_files([path for path in (SAMPLES / "lab-ring-before").iterdir() if path.is_file()])
    seat.report()
    seat.page.click("#case-back")
    with seat.page.expect_file_chooser() as chooser:
        seat.page.click("#pick-folder")
    chooser.value.set_files(SAMPLES / "healthy-host")
    seat.page.wait_for_selector("#case-title:has-text('healthy-host')")
    seat.report()


def test_pasted_text_is_a_file_of_a_case(server: Served, sit: Any) -> None:
    """A transcript in the clipboard becomes a case by Ctrl+V anywhere on the page."""
    seat = sit().enter(server)
    text = max(files_of("lab-ring-before"), key=lambda file: len(file[1]))[1].decode("utf-8", "replace")
    seat.page.evaluate(
        """(text) => {
          const data = new DataTransfer();
          data.setData('text/plain', text);
          document.body.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
        }""",
        text,
    )
    assert seat.page.locator("#pasted-text").input_value().strip() == text.strip().replace("\r\n", "\n")
    seat.page.keyboard.press("Enter")
    seat.report()
    assert seat.page.locator("#case-title").inner_text().startswith("pasted-")


def test_a_path_on_this_machine_is_read_without_copying(server: Served, sit: Any) -> None:
    """The path field reads a case where it lies; a wrong path is told below the field."""
    seat = sit().enter(server)
    seat.page.fill("#path", "/nowhere/at/all")
    seat.page.keyboard.press("Enter")
    seat.page.wait_for_selector("#path-said:has-text('nothing can be read there')")
    assert seat.page.evaluate("document.activeElement.id") == "path"
    seat.page.fill("#path", str(SAMPLES / "cpu-limited-vm"))
    seat.page.keyboard.press("Enter")
    seat.report()
    assert not [path for path in server.work.rglob("*") if path.name.isdigit()]
    seat.trouble = [line for line in seat.trouble if "404" not in line]


def test_the_report_cannot_reach_the_page_or_the_server(server: Served, sit: Any) -> None:
    """Scripts of a report run in an origin of their own: no parent, no cookie, no request."""
    seat = sit().enter(server)
    seat.drop(*files_of("lab-ring-before"))
    report = seat.report()
    assert report.evaluate("origin") == "null"
    reach = "(() => { try { return String(parent.document.title) } catch (error) { return error.name } })()"
    assert report.evaluate(reach) == "SecurityError"
    cookie = "(() => { try { return document.cookie } catch (error) { return error.name } })()"
    assert report.evaluate(cookie) == "SecurityError"
    seat.trouble.clear()
    assert report.evaluate("fetch('/cases').then(() => 'read', (error) => error.name)") == "TypeError"
    assert any("Content Security Policy" in line for line in seat.trouble)
    seat.trouble.clear()


def test_saving_copying_and_leaving_the_report(server: Served, sit: Any) -> None:
    """The saved file is the whole report, the note is Markdown, and Back leads to the list."""
    seat = sit(permissions=["clipboard-read", "clipboard-write"]).enter(server)
    seat.drop(*files_of("cpu-limited-vm"))
    seat.report()
    for button, kind in (("#case-save", ".html"), ("#case-json", ".json")):
        with seat.page.expect_download() as download:
            seat.page.click(button)
        assert download.value.suggested_filename.endswith(kind)
        assert "lin-app07" in Path(download.value.path()).read_text(encoding="utf-8")
    seat.page.click("#case-note")
    seat.page.wait_for_selector("#said:has-text('Case note copied')")
    assert "A CPU limit holds the VM back" in seat.page.evaluate("navigator.clipboard.readText()")
    with seat.context.expect_page() as tab:
        seat.page.click("#case-tab")
    tab.value.wait_for_selector("body[data-done]", state="attached")
    assert tab.value.evaluate("[origin, window.opener === null].join()") == "null,true"
    seat.page.click("#case-back")
    assert seat.state("done").inner_text().count("Remove") == 1
    assert not seat.page.locator("#report").count()
    seat.page.click("#lately button")
    seat.page.wait_for_selector("#lately-empty:visible")


# --- waiting, stopping, failing ------------------------------------------------------------------


def test_uploads_show_bytes_and_can_be_cancelled(server: Served, sit: Any) -> None:
    """While files come the page says how many bytes of how many; cancelling leaves nothing on the disk."""
    seat = sit().enter(server)
    seat.slow(300_000)
    seat.drop(("esx-07.log", os.urandom(3_000_000)), ("esx-08.log", os.urandom(3_000_000)), ("third.log", b"x"))
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


def test_a_second_drop_is_a_second_case_and_says_what_it_waits_for(server: Served, sit: Any) -> None:
    """Two cases at once: the second waits behind the first by name, both end with a report; nothing jumps."""
    seat = sit().enter(server)
    seat.drop(*files_of("cpu-limited-vm"))
    with server.held():
        seat.stage("reading")
        seat.drop_paths(SAMPLES / "slow-storage")
        seat.stage("queue")
        assert seat.page.locator("#now-title").inner_text() == "Queued behind 1"
        assert 'waits until "' in seat.page.locator("#now-how").inner_text()
        seat.page.click("nav a[data-view=drop]")
        seat.state("queued")
        seat.state("reading")
        picture(seat, "queue")
        seat.page.evaluate("window.jumped = []")
    seat.page.wait_for_selector("#lately li:nth-child(2)[data-state=done]")
    seat.page.wait_for_selector("#lately li:nth-child(1)[data-state=done]")
    assert seat.shifts() < 0.001, seat.page.evaluate("JSON.stringify(window.jumped)")


def test_files_can_be_put_into_a_case_that_still_waits(server: Served, sit: Any) -> None:
    """Somebody drops the rest a moment later: while the case waits, it takes more files."""
    seat = sit().enter(server)
    seat.drop(*files_of("slow-storage"))
    with server.held():
        seat.drop(("first.txt", b"one\n"))
        seat.stage("queue")
        seat.drop(("second.txt", b"two\n"))
        seat.page.wait_for_selector("#case-title:has-text('second')")
        seat.page.click("#case-join")
        seat.page.wait_for_selector("#case-about:has-text('2 files')")
        assert seat.page.locator("#case-title").inner_text() == "first"
        with seat.page.expect_file_chooser() as chooser:
            seat.page.click("#case-add")
        chooser.value.set_files([{"name": "third.txt", "mimeType": "text/plain", "buffer": b"three\n"}])
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
    seat.drop(*files_of("lab-ring-before"))
    with server.held():
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
    seat.drop(*files_of("slow-storage"))
    with server.held():
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
    seat.drop(*files_of("slow-storage"))
    with server.held():
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


def test_reading_can_be_cancelled_and_tried_again(server: Served, sit: Any) -> None:
    """Cancel ends a case that is being read; its files are still there, and trying again reads them."""
    seat = sit().enter(server)
    seat.drop(*files_of("cpu-limited-vm"))
    with server.held():
        seat.stage("reading")
        seat.page.click("#case-cancel")
        seat.page.wait_for_selector("#ended-title:has-text('Cancelled')")
    seat.page.click("#case-retry")
    assert "CPU limit" in seat.report().locator("#findings").inner_text()


def test_an_analysis_that_dies_is_told_and_can_be_tried_again(server: Served, sit: Any) -> None:
    """A crash of the reading process is not the end: the page says so and offers to try again."""
    seat = sit().enter(server)
    seat.drop(*files_of("cpu-limited-vm"))
    with server.held() as process:
        seat.stage("reading")
        os.kill(process, 9)
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
    seat.drop(*files_of("cpu-limited-vm"))
    with server.held():
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


@pytest.mark.parametrize("path", sorted((ROOT / "analyzer" / "web" / "page").glob("*.js")), ids=lambda path: path.name)
def test_no_script_of_the_page_writes_markup(path: Path) -> None:
    """Text goes into the page as text: the ways by which it could become markup are not used."""
    code = path.read_text(encoding="utf-8")
    assert not re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|DOMParser|\beval\b", code)


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


# --- what is asked, kept and taken back ------------------------------------------------------------


def test_a_folder_of_many_cases_is_asked_about(server: Served, sit: Any, tmp_path: Path) -> None:
    """Six folders given as a path are no giant case: the page asks, and reads each by itself."""
    for number in range(6):
        (tmp_path / "cases" / f"case-{number}").mkdir(parents=True)
        (tmp_path / "cases" / f"case-{number}" / "x.txt").write_text(
            "[root@esx9:~] vmware -v\nVMware ESXi 6.5.0 build-5969303\n"
        )
    seat = sit().enter(server)
    seat.page.fill("#path", str(tmp_path / "cases"))
    seat.page.keyboard.press("Enter")
    seat.page.wait_for_selector("#many-title:has-text('6 cases')")
    assert "backline batch" in seat.page.locator("#many-command").inner_text()
    seat.page.get_by_role("button", name="Each by itself").click()
    seat.page.wait_for_selector("#cases li:nth-child(6)")
    assert seat.page.locator("#cases li").count() == 6
    seat.page.click("nav a[data-view=drop]")
    seat.drop_paths(tmp_path / "cases")
    seat.page.wait_for_selector("#many-title:has-text('6 cases')")
    seat.page.get_by_role("button", name="They are one case").click()
    seat.page.wait_for_selector("#case-title:has-text('cases')")


def test_what_was_removed_can_be_had_back(server: Served, sit: Any) -> None:
    """Remove takes a case off the list and offers Undo, which brings it back with its report."""
    seat = sit().enter(server)
    seat.drop(*files_of("lab-ring-before"))
    seat.report()
    name = seat.page.locator("#case-title").inner_text()
    seat.page.click("#case-remove")
    seat.page.wait_for_selector("#lately-empty:visible")
    seat.page.get_by_role("button", name="Undo").click()
    seat.report()
    assert seat.page.locator("#case-title").inner_text() == name


def test_an_embedded_report_has_no_second_heading_nor_buttons(server: Served, sit: Any) -> None:
    """Around a report the page has the heading, Dark and Copy; the report shows them only in its own tab."""
    seat = sit(permissions=["clipboard-read", "clipboard-write"]).enter(server)
    seat.drop(*files_of("cpu-limited-vm"))
    report = seat.report()
    assert report.locator("button:visible", has_text=re.compile("Dark|Light|Copy case note")).count() == 0
    assert report.locator(".top").bounding_box()["height"] <= 1
    seat.page.click("#case-note")
    seat.page.wait_for_selector("#said:has-text('Case note copied')")
    assert len(str(seat.page.evaluate("navigator.clipboard.readText()")).splitlines()) <= 30
    with seat.context.expect_page() as tab:
        seat.page.click("#case-tab")
    tab.value.wait_for_selector("body[data-done]", state="attached")
    assert tab.value.locator("#copy-note").is_visible()


def test_the_drawer_of_an_embedded_report_reads_the_files(server: Served, sit: Any) -> None:
    """In the page a finding leads to all lines around it, read from the files; they are filtered, and Escape closes."""
    seat = sit().enter(server)
    seat.drop(*files_of("slow-storage"))
    report = seat.report()
    link, part = report.locator("article a[data-around]:visible").first, report.locator("#log")
    kept = part.locator("tbody tr").count()
    with seat.page.expect_response(lambda answer: "/log?around=" in answer.url):
        link.click()
    report.wait_for_selector("#log-said:has-text('±5 min: '):not(:has-text('Reading'))")
    rows = part.locator("tbody tr:visible")
    assert part.locator("#log-said").inner_text().endswith(f": {rows.count()} lines")
    part.locator("#log-q").fill("no line has these words")
    assert rows.count() == 0
    part.press("Escape")
    assert link.evaluate("(link) => link === document.activeElement")
    assert part.locator("tbody tr").count() == kept


def test_nothing_is_counted_before_it_is_known(server: Served, sit: Any) -> None:
    """While a case is uploaded and read no number of findings stands there, not even zero."""
    seat = sit().enter(server)
    seat.drop(*files_of("cpu-limited-vm"))
    with server.held():
        seat.stage("reading")
        assert "0" not in seat.page.locator("#tally").inner_text()
        assert "They appear once" in seat.page.locator("#found-more").inner_text()


def test_a_draft_of_a_rule_is_kept_and_the_case_looked_at_is_chosen(server: Served, sit: Any) -> None:
    """What is typed comes back for its rule and case; the case that was looked at last is the one it is tried on."""
    seat = sit().enter(server)
    seat.drop(*files_of("cpu-limited-vm"))
    seat.report()
    looked_at = seat.page.url.rpartition("=")[2]
    seat.page.click("nav a[data-view=drop]")
    seat.drop(("junk.txt", b"nothing\n"))
    seat.page.wait_for_selector("#case-title:has-text('junk')")
    seat.page.goto(f"{server.address}#case={looked_at}")
    seat.report()
    seat.page.goto(f"{server.address}#rules=switch-one-uplink")
    seat.page.wait_for_selector("#pane-said:has-text('judged in')")
    assert seat.page.locator("#pane-case").input_value() == looked_at
    seat.page.locator("#pane-text").press("Control+Home")
    seat.page.keyboard.type("# mine\n")
    assert seat.page.get_by_role("button", name="Begin again").is_visible()
    seat.page.goto(f"{server.address}#rules=datastore-full")
    seat.page.wait_for_timeout(800)
    assert "# mine" not in seat.page.locator("#pane-text").input_value()
    seat.page.goto(f"{server.address}#rules=switch-one-uplink")
    seat.page.wait_for_timeout(800)
    assert seat.page.locator("#pane-text").input_value().startswith("# mine\n")
    seat.page.get_by_role("button", name="Begin again").click()
    assert "# mine" not in seat.page.locator("#pane-text").input_value()


# --- keyboard, sight -------------------------------------------------------------------------------


def test_from_start_to_report_by_keyboard_alone(server: Served, sit: Any) -> None:
    """Tab, Enter, / and Escape do everything; the focus is never lost and always seen."""
    seat = sit().enter(server)
    keys, page = seat.page.keyboard, seat.page
    order = []
    for _ in range(12):
        keys.press("Tab")
        order.append(page.evaluate("document.activeElement.id || document.activeElement.textContent"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid", order
        if order[-1] == "path":
            break
    assert order == ["skip", "Drop", "Cases", "Rules", "help", "theme", "pick-files", "pick-folder", "paste", "path"]
    keys.type(str(SAMPLES / "cpu-limited-vm"))
    keys.press("Enter")
    seat.report()
    assert page.evaluate("document.activeElement.id") == "case-title"
    for _ in range(3):
        keys.press("Tab")
    keys.press("Escape")
    page.wait_for_selector("#drop-title", state="attached")
    keys.press("/")
    page.wait_for_selector("#q:focus")
    keys.type("cpu")
    page.wait_for_selector("#cases-note:has-text('1 of 1')")
    keys.type("nothing")
    page.wait_for_selector("#cases-empty:visible")
    keys.press("Escape")
    page.wait_for_selector("#cases li")
    assert page.locator("#q").input_value() == ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_fits_in_both_colours(server: Served, sit: Any, scheme: str, width: int) -> None:
    """On a desk and on a phone, light and dark: no scrolling sideways, and the report has the colours of the page."""
    seat = sit(viewport={"width": width, "height": 844 if width < 500 else 860}, color_scheme=scheme).enter(server)
    name = f"{'phone-' if width < 500 else ''}{scheme}"
    picture(seat, name)
    seat.drop(*files_of("cpu-limited-vm"))
    fits = "document.documentElement.scrollWidth <= innerWidth"
    with server.held():
        seat.stage("reading")
        assert seat.page.evaluate(fits)
        picture(seat, f"work-{name}")
    report = seat.report()
    assert seat.page.evaluate(fits)
    assert report.evaluate("document.documentElement.dataset.theme") == scheme
    picture(seat, f"report-{name}")
    seat.page.click("#theme")
    other = {"light": "dark", "dark": "light"}[scheme]
    report.wait_for_selector(f"html[data-theme={other}]", state="attached")
    seat.page.click("nav a[data-view=cases]")
    assert seat.page.evaluate(fits)
    assert seat.shifts() < 0.02, seat.page.evaluate("JSON.stringify(window.jumped)")


AXE_RUN = "axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations.map((one) => " \
    "one.id + ': ' + one.nodes.map((node) => node.target.join(' ')).join(', ')))"  # fmt: skip


@pytest.mark.axe
@pytest.mark.skipif(not AXE.exists() and not os.environ.get("CI"), reason="`make axe` installs axe-core")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(server: Served, sit: Any, scheme: str) -> None:
    """axe-core has no complaint about any page in any state: start, work, queue, failure, list, paste, report."""
    seat = sit(color_scheme=scheme).enter(server)
    script = AXE.read_text(encoding="utf-8")

    def look(where: str) -> None:
        if not seat.page.evaluate("Boolean(window.axe)"):
            seat.page.evaluate(script)
        found = seat.page.evaluate(AXE_RUN)
        assert found == [], where

    look("start")
    seat.drop(*files_of("cpu-limited-vm"))
    with server.held():
        seat.stage("reading")
        look("reading")
        seat.drop(("second.txt", b"two\n"))
        seat.stage("queue")
        look("queued")
        seat.page.click("#case-cancel")
        seat.page.wait_for_selector("#ended-title:visible")
        look("cancelled")
        seat.page.click("#case-back")
        look("first page with cases")
    seat.state("done")
    seat.page.click("nav a[data-view=cases]")
    look("list")
    seat.page.click("#cases a")
    seat.page.click("nav a[data-view=drop]")
    seat.page.click("#paste")
    look("paste")
    seat.page.keyboard.press("Escape")
    seat.page.click("#lately [data-state=done] a")
    seat.report()
    look("report")


# --- other pages of the web ---------------------------------------------------------------------------


def test_a_name_of_the_web_that_leads_here_is_turned_away(tmp_path: Path, browser: Any) -> None:
    """DNS rebinding: evil.example resolves to this machine, and gets neither page nor data."""
    driver = browser.browser_type
    evil = driver.launch(
        executable_path=CHROMIUM,
        args=["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP evil.example 127.0.0.1"],
    )
    try:
        with served(tmp_path / "work") as server:
            page = evil.new_page()
            token = server.url.partition("#")[2]
            answer = page.goto(f"http://evil.example:{server.port}/#{token}")
            assert answer.status == 421
            read = "(path) => fetch(path, {method: 'POST', headers: {'X-Backline-Token': 'x'}}).then((a) => a.status)"
            assert page.evaluate(read, "/enter") == 421
            assert page.evaluate("fetch('/cases').then((answer) => answer.status)") == 421
    finally:
        evil.close()
