"""The drag-in page in a real Chromium, before the real server: from the drop to the report.

`BACKLINE_SCREENSHOTS=1` writes the pictures of docs/page.md anew.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.kit.page_kit import (
    AXE,
    CHROMIUM,
    SAMPLES,
    Served,
    complaints,
    files_of,
    go,
    leave_by_key,
    picture,
    served,
    until,
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


# --- start ---------------------------------------------------------------------------------


@pytest.mark.pictures
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


@pytest.mark.pictures
def test_five_files_dropped_at_once_are_one_case_whose_report_opens(
    server: Served, sit: Any
) -> None:
    """Files dropped together become one case; progress is seen, the report opens in place, and nothing jumps."""
    seat = sit().enter(server)
    seat.drop(
        *files_of("cpu-limited-vm"),
        ("note.txt", b"the VM is slow since Monday\n"),
        ("mail.txt", b"see the note\n"),
    )
    seat.stage("reading")
    assert seat.page.locator("#case-about").inner_text().startswith("5 files")
    report = seat.report()
    assert "VM throttled by its CPU limit" in report.locator("#findings").inner_text()
    assert seat.page.locator("#case-about").inner_text().startswith("3 major")
    assert seat.shifts() < 0.001, seat.page.evaluate("JSON.stringify(window.jumped)")
    assert seat.page.evaluate("document.activeElement.id") == "case-title"
    picture(seat, "report")


def test_a_folder_with_more_files_than_one_reading_gives_is_one_case(
    server: Served, sit: Any, tmp_path: Path
) -> None:
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
    chooser.value.set_files(
        [path for path in (SAMPLES / "lab-ring-before").iterdir() if path.is_file()]
    )
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
    text = max(files_of("lab-ring-before"), key=lambda file: len(file[1]))[1].decode(
        "utf-8", "replace"
    )
    seat.page.evaluate(
        """(text) => {
          const data = new DataTransfer();
          data.setData('text/plain', text);
          document.body.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
        }""",
        text,
    )
    assert seat.page.locator("#pasted-text").input_value().strip() == text.strip().replace(
        "\r\n", "\n"
    )
    seat.page.keyboard.press("Enter")
    seat.report()
    assert seat.page.locator("#case-title").inner_text().startswith("pasted-")


def test_a_path_on_this_machine_is_read_without_copying(server: Served, sit: Any) -> None:
    """The path field reads a case where it lies; a wrong path is told below the field."""
    seat = sit().enter(server)
    seat.page.fill("#path", "/nowhere/at/all")
    seat.page.keyboard.press("Enter")
    seat.page.wait_for_selector("#path-said:has-text('Nothing can be read there')")
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
    assert (
        report.evaluate("fetch('/cases').then(() => 'read', (error) => error.name)") == "TypeError"
    )
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
    assert "VM throttled by its CPU limit" in seat.page.evaluate("navigator.clipboard.readText()")
    with seat.context.expect_page() as tab:
        seat.page.click("#case-tab")
    tab.value.wait_for_selector("body[data-done]", state="attached")
    assert tab.value.evaluate("[origin, window.opener === null].join()") == "null,true"
    seat.page.click("#case-back")
    assert seat.state("done").inner_text().count("Remove") == 1
    assert not seat.page.locator("#report").count()
    seat.page.click("#lately button")
    seat.page.wait_for_selector("#lately-empty:visible")


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
    assert (
        seat.page.evaluate("document.activeElement.value") == "each"
    )  # Enter answers, it opens no page of the docs
    seat.page.get_by_role("button", name="Each by itself").click()
    seat.page.wait_for_selector("#cases li:nth-child(6)")
    assert seat.page.locator("#cases li").count() == 6
    seat.page.click("nav a[data-view=drop]")
    seat.drop_paths(tmp_path / "cases")
    seat.page.wait_for_selector("#many-title:has-text('6 cases')")
    seat.page.get_by_role("button", name="They are one case").click()
    seat.page.wait_for_selector("#case-title:has-text('cases')")


def test_what_was_removed_can_be_had_back(server: Served, sit: Any) -> None:
    """Remove takes a case off the list and offers Undo, also where the window is narrow; it or Ctrl+Z brings the case back."""
    seat = sit(viewport={"width": 390, "height": 844}).enter(server)
    seat.drop(
        *(
            (f"{'long-name-of-a-session-' * 3}{name}", data)
            for name, data in files_of("lab-ring-before")
        )
    )
    seat.report()
    name = seat.page.locator("#case-title").inner_text()
    seat.page.click("#case-remove")
    seat.page.wait_for_selector("#lately-empty:visible")
    box = seat.page.get_by_role("button", name="Undo").bounding_box()
    assert box and box["x"] + box["width"] < 390
    seat.page.get_by_role("button", name="Undo").click()
    seat.report()
    assert seat.page.locator("#case-title").inner_text() == name
    seat.page.click("#case-remove")
    seat.page.wait_for_selector("#lately-empty:visible")
    seat.page.keyboard.press("Control+z")
    seat.report()


def test_an_embedded_report_has_no_second_heading_nor_buttons(server: Served, sit: Any) -> None:
    """Around a report the page has the heading, Dark and Copy; the report shows them only in its own tab."""
    seat = sit(permissions=["clipboard-read", "clipboard-write"]).enter(server)
    seat.drop(*files_of("cpu-limited-vm"))
    report = seat.report()
    assert (
        report.locator("button:visible", has_text=re.compile("Dark|Light|Copy case note")).count()
        == 0
    )
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
    assert part.locator("tbody tr").count() == kept  # until the files are read
    assert (
        report.evaluate(
            "['log-host', 'log-name'].map((id) => document.getElementById(id).value).join()"
        )
        == ","
    )
    report.wait_for_selector("#log-said:has-text('±5 min: '):not(:has-text('Reading'))")
    rows = part.locator("tbody tr:visible")
    assert part.locator("#log-said").inner_text().endswith(f": {rows.count()} lines")
    part.locator("#log-q").fill("no line has these words")
    assert rows.count() == 0
    part.press("Escape")
    assert link.evaluate("(link) => link === document.activeElement")
    assert part.locator("tbody tr").count() == kept
    assert (
        report.evaluate(
            "['log-host', 'log-name'].map((id) => document.getElementById(id).value).join()"
        )
        == ","
    )


def test_nothing_is_counted_before_it_is_known(server: Served, sit: Any) -> None:
    """While a case is uploaded and read no number of findings stands there, not even zero."""
    seat = sit().enter(server)
    with server.held():
        seat.drop(*files_of("cpu-limited-vm"))
        seat.stage("reading")
        assert "0" not in seat.page.locator("#tally").inner_text()
        assert "They appear once" in seat.page.locator("#found-more").inner_text()


def test_a_draft_of_a_rule_is_kept_and_the_case_looked_at_is_chosen(
    server: Served, sit: Any
) -> None:
    """What is typed comes back for its rule and case; the case that was looked at last is the one it is tried on.

    Until a rule is there nothing can be typed, which its text would replace.
    """
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
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    seat.page.route("**/rules/text/datastore-full", hold)
    seat.page.goto(f"{server.address}#rules=datastore-full")
    seat.page.wait_for_selector("#pane-text[readonly]")
    held[0].continue_()
    seat.page.wait_for_selector("#pane-text:not([readonly])")
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
        order.append(
            page.evaluate("document.activeElement.id || document.activeElement.textContent")
        )
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid", order
        if order[-1] == "path":
            break
    assert order == [
        "skip",
        "Drop",
        "Cases",
        "Rules",
        "help",
        "theme",
        "pick-files",
        "pick-folder",
        "paste",
        "incident",
        "path",
    ]
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
@pytest.mark.pictures
def test_every_page_fits_in_both_colours(server: Served, sit: Any, scheme: str, width: int) -> None:
    """On a desk and on a phone, light and dark: no scrolling sideways, and the report has the colours of the page."""
    seat = sit(
        viewport={"width": width, "height": 844 if width < 500 else 860}, color_scheme=scheme
    ).enter(server)
    name = f"{'phone-' if width < 500 else ''}{scheme}"
    picture(seat, name)
    fits = "document.documentElement.scrollWidth <= innerWidth"
    with server.held():
        seat.drop(*files_of("cpu-limited-vm"))
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


# Without the report in its frame, which has a test of its own: axe talks to frames by messages that a sandbox refuses.
AXE_RUN = "axe.run(document, {iframes: false, resultTypes: ['violations']}).then((found) => found.violations.map((one) => " \
    "one.id + ': ' + one.nodes.map((node) => node.target.join(' ')).join(', ')))"  # fmt: skip


@pytest.mark.axe
@pytest.mark.skipif(
    not AXE.exists() and not os.environ.get("CI"), reason="`make axe` installs axe-core"
)
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
    with server.held():
        seat.drop(*files_of("cpu-limited-vm"))
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
    go(seat, "")
    seat.page.fill("#path", str(SAMPLES / "cut-bundle"))
    seat.page.keyboard.press("Enter")
    seat.page.wait_for_selector("#case-part:visible")
    look("not whole")


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


def test_a_case_is_renamed_and_a_case_json_opens_it_again(
    server: Served, sit: Any, tmp_path: Path
) -> None:
    """By keyboard: name and SR number stand in the head, the list and the saved document, which opens when dropped."""
    seat = sit().enter(server)
    seat.drop(*files_of("cpu-limited-vm"))
    seat.report()
    seat.page.locator("#case-rename").press("Enter")
    seat.page.keyboard.type("<i>web server</i> slow")
    seat.page.keyboard.press("Tab")
    seat.page.keyboard.type("<1>")
    seat.page.keyboard.press("Enter")
    seat.page.wait_for_selector("#rename-said:has-text('This is no SR number')")
    seat.page.fill("#rename-sr", "21700000001")
    assert complaints(seat) == []
    seat.page.keyboard.press("Enter")
    named = "SR 21700000001: <i>web server</i> slow"
    seat.page.wait_for_selector("#case-title:has-text('SR 21700000001')")
    assert seat.page.locator("#case-title").inner_text() == named
    until(seat, "!document.querySelector('#rename').open")
    assert named in seat.report().locator("header h1").first.text_content()
    with seat.page.expect_download() as saved:
        seat.page.click("#case-json")
    document = saved.value.path().read_bytes()
    go(seat, "cases")
    assert seat.page.locator("#cases a.name").inner_text() == named
    go(seat, "drop")
    seat.drop(("case.json", document))
    seat.page.wait_for_selector("#case-about:has-text('opened from its case.json')")
    assert seat.page.locator("#case-title").inner_text() == named
    assert "VM throttled by its CPU limit" in seat.report().locator("#findings").inner_text()


def test_the_time_of_the_trouble_is_given_before_and_after_a_drop(server: Served, sit: Any) -> None:
    """By keyboard: the report is made around it, made anew for another, and the list is sorted by it."""
    seat = sit().enter(server)
    seat.page.fill("#incident", "15:17")
    seat.drop(*files_of("slow-storage"))
    assert "Incident at 2017-10-14 15:17" in seat.report().locator("#incident").text_content()
    seat.page.locator("#case-when").press("Enter")
    assert seat.page.input_value("#when-time") == "2017-10-14 15:17"
    seat.page.keyboard.type("<b>late")
    seat.page.keyboard.press("Enter")
    seat.page.wait_for_selector("#when-said:has-text('This is no time. Write it as 06:15')")
    assert complaints(seat) == []
    seat.page.fill("#when-time", "16:40")
    seat.page.keyboard.press("Enter")
    seat.page.wait_for_selector("#case-about:has-text('incident 2017-10-14 16:40 UTC')")
    assert "Incident at 2017-10-14 16:40" in seat.report().locator("#incident").text_content()
    go(seat, "drop")
    assert seat.page.input_value("#incident") == ""
    seat.drop(*files_of("cpu-limited-vm"))
    seat.report()
    go(seat, "cases")
    lists = {}
    for order in ("early", "late"):
        seat.page.select_option("#order", order)
        lists[order] = seat.page.locator("#cases .line .note").all_inner_texts()
    assert lists["early"] == lists["late"][::-1]
    assert [when.partition(" ")[0] for when in lists["early"]].count("incident") == 1


@pytest.mark.parametrize("name", ["slow-storage", "cut-bundle"])
def test_the_first_finding_is_above_the_middle_of_a_desk(
    server: Served, sit: Any, name: str
) -> None:
    """At 1280x900 the first line of the table begins above 300 pixels, also below a word of what is incomplete."""
    seat = sit(viewport={"width": 1280, "height": 900}).enter(server)
    seat.page.fill("#path", str(SAMPLES / name))
    seat.page.click("#path-form button")
    inner = seat.report().locator(".desk-rows tr.line").first.bounding_box()
    assert inner["y"] < 300
    assert seat.page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert complaints(seat) == []


def test_keys_and_back_are_those_of_the_report_from_its_arrival(server: Served, sit: Any) -> None:
    """j, k and / reach the report without a click; a theme is no step of Back; Escape leaves for the list it came from."""
    seat = sit().enter(server)
    page, keys = seat.page, seat.page.keyboard
    page.fill("#path", str(SAMPLES / "slow-storage"))
    page.click("#path-form button")
    seat.report()
    go(seat, "cases")
    page.locator("#cases a.name").press("Enter")
    report = seat.report()

    def chosen() -> int:
        script = "[...document.querySelectorAll('tr.line')].findIndex((row) => row.ariaCurrent)"
        page.wait_for_timeout(200)
        return int(report.evaluate(script))

    assert page.evaluate("document.activeElement.id") == "case-title"
    keys.press("j")
    assert chosen() == 1
    keys.press("j")  # within the report now
    assert chosen() == 2
    keys.press("k")
    assert chosen() == 1
    page.locator("#theme").focus()
    keys.press("k")
    assert chosen() == 0
    report.locator("tr.line a").nth(3).click()
    assert chosen() == 3
    page.click("#theme")
    assert chosen() == 3
    assert report.evaluate("document.documentElement.dataset.theme") == "dark"
    page.evaluate("history.back()")
    assert chosen() == 0
    keys.press("/")
    report.wait_for_selector("#q:focus")
    keys.press("Escape")
    leave_by_key(report, "Escape")
    page.wait_for_selector("#cases-title", state="attached")
    until(seat, "document.body.dataset.view === 'cases'")


def test_a_line_gives_the_command_and_the_draft_of_a_rule(server: Served, sit: Any) -> None:
    """By keyboard at a line of evidence and of the log: the command to copy, the draft to read; Escape closes the box alone."""
    seat = sit(viewport={"width": 1280, "height": 900}).enter(server)
    seat.page.fill("#path", str(SAMPLES / "slow-storage"))
    seat.page.click("#path-form button")
    report = seat.report()
    finding = report.locator("article", has_text="Storage device latency").first
    report.locator("tr.line a", has_text="Storage device latency").click()
    button = finding.locator("button.line-rule").first
    button.press("Enter")
    command = report.locator("#line-rule code").inner_text()
    assert command.startswith("backline rules new my-rule --from-lines 'esx-esx71")
    assert command.endswith("/vobd.log:3'")
    report.locator("#line-rule button", has_text="Show the draft").press("Enter")
    report.wait_for_selector("#line-rule pre:has-text('rule: my-rule')")
    assert report.evaluate("document.activeElement.tagName") == "PRE"
    seat.page.keyboard.press("Escape")
    assert button.evaluate("(button) => button === document.activeElement")
    assert report.locator("#line-rule").is_hidden()
    finding.locator("a[data-around]").first.click()
    report.wait_for_selector("#log-said:has-text('±5 min: '):not(:has-text('Reading'))")
    row = report.locator("#log tbody tr:visible").first
    address = row.locator(".place").inner_text()
    row.locator("button.line-rule").press("Enter")
    assert report.locator("#line-rule code").inner_text().rstrip("'").endswith(address)
    seat.page.keyboard.press("Escape")
    assert report.locator("#log").is_visible()
