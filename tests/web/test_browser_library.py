"""Archive and rules in a real Chromium: search, a stored case, labels, the map, a live verdict, a back-test."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.archive.labels import current_labels
from analyzer.archive.store import Archive
from analyzer.cli import main
from tests.kit.archive_kit import put as put_sample
from tests.kit.archive_kit import sample
from tests.kit.ask_kit import filled, id_of
from tests.kit.page_kit import (
    AXE,
    CHROMIUM,
    EACH_SCREEN,
    PHONE,
    SAMPLES,
    Seat,
    Served,
    go,
    served,
    until,
    windows,
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
CASES = ("cpu-limited-vm", "lab-ring-before")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of six made-up cases and two sample cases."""
    folder = tmp_path_factory.mktemp("made") / "archive"
    archive = filled(folder)
    for name in CASES:
        put_sample(archive, name, sample(name))
    return folder


@pytest.fixture
def objects(tmp_path: Path, made: Path) -> Path:
    shutil.copytree(made, tmp_path / "archive")
    return tmp_path / "archive"


@pytest.fixture(scope="module")
def shared(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server over an archive that no test changes."""
    with served(tmp_path_factory.mktemp("shared"), "--archive", str(made)) as running:
        yield running


@pytest.fixture
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Served]:
    """The shared server, or one of its own for a test that changes its archive (`shelf`) or drops a case."""
    if "objects" not in request.fixturenames:
        yield request.getfixturevalue("shared")
        return
    with served(tmp_path / "work", "--archive", str(request.getfixturevalue("objects"))) as running:
        yield running


@pytest.fixture
def sit(browser: Any, server: Served) -> Iterator[Callable[..., Seat]]:
    """Open windows at the server; each must have been without errors when it closes, those of what was typed included."""
    with windows(browser) as opened:

        def down(to: str = "", **options: Any) -> Seat:
            return opened(**options).enter(server, to)

        yield down


def search(seat: Seat, words: str) -> None:
    """Type a question, press Enter and wait for its answer: the list of all cases stands there until then."""
    seat.page.locator("#archive-q").fill(words)
    with seat.page.expect_response(lambda answer: "/archive/search?" in answer.url):
        seat.page.keyboard.press("Enter")
    seat.page.wait_for_selector("#archive .part:not([aria-busy]) #archive-q")


def cells(seat: Seat, name: str) -> list[str]:
    """Return the cells of a column of the answer."""
    seat.page.wait_for_selector(f'#archive td[data-name="{name}"]')
    return [
        str(text)
        for text in seat.page.locator(f'#archive td[data-name="{name}"]').all_inner_texts()
    ]


def focused(seat: Seat) -> str:
    """Return the words of what has the focus."""
    return str(seat.page.evaluate("document.activeElement.textContent.trim()"))


def test_a_phone_shows_the_whole_names_of_cases(sit: Callable[..., Seat]) -> None:
    """In the list of the first page a case of the archive, which has no button, gives that room to its name."""
    seat = sit(viewport=PHONE)
    until(seat, "document.querySelectorAll('#lately .name').length === 7")
    assert set(seat.page.locator("#lately .name").all_inner_texts()) & set(CASES)
    cut = "names => names.filter(one => one.scrollWidth > one.clientWidth).map(one => one.textContent)"
    assert seat.page.locator("#lately .name").evaluate_all(cut) == []


def test_the_first_page_shows_stored_cases_whenever_the_archive_was_read(
    sit: Callable[..., Seat],
) -> None:
    """A desk with an archive shows its newest seven cases, the newest first, on the first visit and on the way back."""
    seat = sit()
    names = seat.page.locator("#lately .name")
    until(seat, "document.querySelectorAll('#lately .name').length === 7")
    first = names.all_inner_texts()
    go(seat, "cases")
    seat.page.locator("#cases .name").nth(7).wait_for()
    go(seat, "")
    until(seat, "document.querySelectorAll('#lately .name').length === 7")
    assert first == names.all_inner_texts()


# --- search ---


def test_search_by_keyboard_alone(sit: Any) -> None:
    """`/` reaches the field, Enter asks, arrows move over the links, Enter opens the case, Back leads to the answer."""
    seat = sit("archive")
    assert cells(seat, "Case")[0] == "acme-2"
    seat.page.keyboard.press("/")
    seat.page.keyboard.type('nodes: version < "6.6"; esxi.pnic_stats: rx_missed_errors > 0')
    seat.page.keyboard.press("Enter")
    assert "host-a" in cells(seat, "Machine")
    seat.page.locator("#archive tbody a").first.focus()
    first = focused(seat)
    seat.page.keyboard.press("ArrowDown")
    assert focused(seat) != first
    assert seat.page.locator('#archive tbody a[tabindex="0"]').count() == 1
    seat.page.keyboard.press("ArrowUp")
    seat.page.keyboard.press("Enter")
    seat.page.wait_for_selector("iframe.report")
    assert focused(seat) == first
    seat.page.go_back()
    seat.page.wait_for_selector('#archive td[data-name="Machine"]')
    assert seat.page.locator("#archive-q").input_value().startswith("nodes:")


def test_a_mistake_is_marked_in_the_field(sit: Any) -> None:
    """A wrong column is shown with its caret, selected in the field, read out, and gone with the next answer."""
    seat = sit("archive")
    search(seat, 'esxi.pnic_info: drivr == "x"')
    told = seat.page.wait_for_selector("#archive-wrong pre").inner_text().splitlines()
    assert told[1].index("^") == told[0].index("drivr")
    assert "did you mean `driver`" in seat.page.locator("#archive-wrong").inner_text().lower()
    field = seat.page.locator("#archive-q")
    assert field.get_attribute("aria-invalid") == "true"
    marked = field.evaluate(
        "(field) => field.value.slice(field.selectionStart, field.selectionEnd)"
    )
    assert marked == "drivr"
    search(seat, "beacon-probing")
    assert cells(seat, "Severity") == ["warning"]
    assert field.get_attribute("aria-invalid") is None
    assert seat.page.locator("#archive-wrong").inner_text() == ""


def test_what_nobody_can_tell_is_counted_and_listed(sit: Any) -> None:
    """Machines without the table stand beside the answer as a number, and behind a button with what to ask for."""
    seat = sit("archive")
    search(seat, 'esxi.pnic_info: pnic == "vmnic99"')
    seat.page.wait_for_selector(".nothing")
    assert "some machines cannot be judged" in seat.page.locator(".nothing").inner_text()
    seat.page.get_by_role("button", name="that cannot be judged").click()
    assert any("esxcli" in text for text in cells(seat, "Ask for"))
    seat.page.get_by_role("button", name="Back to what was found").click()
    seat.page.wait_for_selector(".nothing")


def test_filters_and_folding(sit: Any) -> None:
    """State narrows the cases, a finding can be counted by month, and the address keeps both over a reload."""
    seat = sit("archive")
    cells(seat, "Case")
    seat.page.locator("#archive-state").select_option("refused")
    until(seat, "document.querySelectorAll('#archive td.is-case').length === 1")
    assert cells(seat, "Findings") == ["nothing could be read"]
    go(seat, "archive")
    until(seat, "document.querySelectorAll('#archive td.is-case').length > 1")
    search(seat, "KB 2039495")
    cells(seat, "Subject")
    seat.page.locator("#archive-by").select_option("month")
    cells(seat, "Month")
    seat.page.reload()
    cells(seat, "Month")
    assert seat.page.locator("#archive-q").input_value() == "KB 2039495"


# --- one case ---


def report_of(seat: Seat) -> Any:
    """Return the frame of the report, once it is drawn."""
    frame = seat.page.wait_for_selector("iframe.report").content_frame()
    frame.wait_for_selector("body[data-done]", state="attached")
    return frame


def test_a_stored_case_opens_its_report_in_a_sandbox(sit: Any) -> None:
    """The report is that of the stored case, cannot reach the page, and a finding of the list leads into it."""
    seat = sit("archive")
    search(seat, "kb-2039495")
    cells(seat, "Subject")
    asked: list[str] = []
    seat.page.on(
        "request", lambda request: asked.append(request.url) if "/report" in request.url else None
    )
    seat.page.locator("#archive td.is-case a", has_text="cpu-limited-vm").click()
    frame = report_of(seat)
    assert (
        len(asked) == 1
    )  # asked for twice, a loaded machine writes the report twice before it shows it
    assert "cpu-limited-vm" in frame.locator("h1").first.inner_text()
    assert (
        frame.evaluate(
            "(() => { try { return parent.document.title; } catch (error) { return error.name; } })()"
        )
        == "SecurityError"
    )
    until(seat, "document.querySelector('iframe.report').src.includes('#f=kb-2039495/')")
    seat.page.locator(".labels button.plain", has_text="CPU limit").click()
    until(frame, "decodeURIComponent(location.hash).startsWith('#f=cpu-limit-starves-vm/')")


def test_the_logs_of_a_stored_case_are_read_where_its_files_still_are(
    browser: Any, tmp_path: Path, made: Path
) -> None:
    """Its report leads to all lines around a finding; once the files are gone the page says so and offers none."""
    shutil.copytree(made, tmp_path / "archive")
    material = tmp_path / "material"
    shutil.copytree(SAMPLES / "slow-storage", material)
    words = ["batch", str(material), "--archive", str(tmp_path / "archive"), "--no-settings"]
    assert CliRunner().invoke(main, words).exit_code == 0
    with (
        served(tmp_path / "work", "--archive", str(tmp_path / "archive")) as server,
        windows(browser) as opened,
    ):
        seat = opened().enter(server, "archive")
        search(seat, "esx71")
        seat.page.locator("#archive td.is-case a").first.click()
        report = report_of(seat)
        with seat.page.expect_response(lambda answer: "/log?around=" in answer.url):
            report.locator("article a[data-around]:visible").first.click()
        report.wait_for_selector("#log-said:has-text('±5 min: '):not(:has-text('Reading'))")
        shutil.rmtree(material)
        seat = opened().enter(server, seat.page.url.partition("#")[2])
        report_of(seat)
        said = seat.page.locator(".shelf-case > .note").inner_text()
        assert said.startswith("Only its report is here: ")
        assert said.endswith(" is not there.")


def test_a_finding_is_confirmed_with_a_note_and_taken_back(sit: Any, objects: Path) -> None:
    """Confirm asks for a note, Enter keeps it in the archive, it survives a reload, and Take back removes it."""
    seat = sit(f"archive=case/{id_of('bert-1')}")
    seat.page.get_by_role("button", name="Confirm: Beacon probing").click()
    seat.page.keyboard.type("two uplinks, seen <b>")
    seat.page.keyboard.press("Enter")
    seat.page.wait_for_selector(".given.confirmed")
    assert "two uplinks, seen <b>" in seat.page.locator(".given").inner_text()
    archive = Archive.open(objects)
    assert [(one.rule, one.label, one.note) for one in current_labels(archive)] == [
        ("beacon-probing", "confirmed", "two uplinks, seen <b>")
    ]
    seat.page.reload()
    seat.page.wait_for_selector(".given.confirmed")
    seat.page.get_by_role("button", name="Reject: Beacon probing").click()
    seat.page.keyboard.press("Escape")
    assert seat.page.locator(".label-form").count() == 0
    assert focused(seat) == "Reject"
    seat.page.get_by_role("button", name="Remove label").click()
    until(seat, "!document.querySelector('.given')")
    assert current_labels(Archive.open(objects)) == []


def test_a_refused_and_a_missing_case_are_told(sit: Any) -> None:
    """A case without a report says why; one that is not there says so; neither shows an empty frame."""
    seat = sit(f"archive=case/{id_of('bert-3')}")
    seat.page.locator("#archive").get_by_text("nothing could be read").wait_for()
    assert seat.page.locator("iframe.report").count() == 0
    go(seat, f"archive=case/{'0' * 32}")
    seat.page.wait_for_selector("text=no such case in the archive")


def test_a_damaged_case_is_told_in_its_place(sit: Any, objects: Path) -> None:
    """A pack that was damaged since gives a sentence with the object in place of the report, and the list says it too."""
    path = next(objects.glob(f"packs/*/{id_of('acme-1')}*"))
    path.write_bytes(path.read_bytes()[:300])
    seat = sit(f"archive=case/{id_of('acme-1')}")
    seat.page.wait_for_selector(".shelf-case .nothing")
    assert path.name.split("-")[0][:12] in seat.page.locator(".shelf-case .nothing").inner_text()
    go(seat, "archive")
    assert "acme-2" in cells(seat, "Case")
    assert "cannot be read" in seat.page.locator("#archive .odd:visible").inner_text()


def test_an_empty_archive_and_one_that_went(browser: Any, tmp_path: Path, made: Path) -> None:
    """Before the first case the pages say what to do; an archive that vanished is an error with «Try again»."""
    objects = tmp_path / "later"
    with served(tmp_path / "work", "--archive", str(objects)) as server:
        seat = Seat(browser).enter(server)
        go(seat, "archive")
        seat.page.wait_for_selector("text=No case is stored here yet")
        go(seat, "archive=map")
        seat.page.wait_for_selector("text=There is no map yet")
        shutil.copytree(made, objects)
        go(seat, "archive")
        seat.page.get_by_role("button", name="Search").click()
        assert "acme-1" in cells(seat, "Case")
        objects.rename(tmp_path / "away")
        search(seat, "beacon-probing")
        seat.page.wait_for_selector("text=The archive is no longer there")
        (tmp_path / "away").rename(objects)
        seat.page.get_by_role("button", name="Try again").click()
        assert cells(seat, "Severity") == ["warning"]
        seat.context.close()


# --- the map ---


def test_the_map_leads_to_the_case_in_our_page(sit: Any) -> None:
    """A cell of the sandboxed map opens its finding, and the link in it opens that case here, at that finding."""
    seat = sit("archive=map")
    frame = seat.page.wait_for_selector("#heatmap").content_frame()
    frame.wait_for_selector("body[data-done]", state="attached")
    assert (
        frame.evaluate(
            "(() => { try { return parent.document.title; } catch (error) { return error.name; } })()"
        )
        == "SecurityError"
    )
    assert not frame.locator(
        "#theme"
    ).is_visible()  # the page around it has the heading and the button
    assert frame.locator(".top").bounding_box()["width"] <= 1
    for scheme in ("dark", "light"):
        seat.page.click("#theme")
        until(frame, f"document.documentElement.dataset.theme === '{scheme}'")
    frame.locator("#box tbody th", has_text="cpu-limited-vm").click()
    frame.get_by_role("link", name="Open the whole case report").click()
    assert "cpu-limited-vm" in report_of(seat).locator("h1").first.inner_text()
    assert "#archive=case/" in seat.page.url
    seat.page.go_back()
    seat.page.wait_for_selector("#heatmap", state="visible")


# --- rules ---


def test_the_verdict_follows_what_is_typed(sit: Any) -> None:
    """A changed threshold turns the match into no match with a near miss; a slip shows its line and caret at once."""
    seat = sit("rules")
    seat.page.locator("#rules td.is-rule a", has_text="beacon-probing").click()
    seat.page.wait_for_selector("#pane-text")
    seat.page.locator("#pane-case").select_option(label="bert-1")
    seat.page.wait_for_selector('.subjects li[data-verdict="match"]')
    text = seat.page.locator("#pane-text").input_value()
    seat.page.locator("#pane-text").fill(text.replace("t.n_uplinks < 3)", "t.n_uplinks < 2)"))
    seat.page.wait_for_selector('.subjects li[data-verdict="no_match"]')
    assert "one condition away" in seat.page.locator(".subjects .near").first.inner_text()
    assert "team.txt" in seat.page.locator(".subjects .evidence").first.inner_text()
    seat.page.locator("#pane-text").fill(text.replace("t.n_uplinks < 3)", "t.n_uplink < 3)"))
    wrong = seat.page.locator(".complaint.error", has_text="n_uplink")
    wrong.wait_for()
    assert "^" in wrong.inner_text()
    assert "did you mean `n_uplinks`" in wrong.inner_text()
    assert seat.page.locator(".verdict.stale").count() == 1
    line = text[: text.index("t.n_uplinks < 3)")].count("\n") + 1
    wrong.get_by_role("button", name=f"Line {line}").click()
    at = seat.page.locator("#pane-text").evaluate(
        "(field) => field.value.slice(0, field.selectionStart).split('\\n').length"
    )
    assert at == line
    seat.page.locator("#pane-text").fill(text)
    seat.page.wait_for_selector('.verdict:not(.stale) .subjects li[data-verdict="match"]')


def test_the_first_subject_of_a_case_is_open_whatever_was_judged_before(sit: Any) -> None:
    """A case chosen while another is still judged shows the evidence of its first subject, as if it were the first."""
    seat, held = sit("rules"), []
    seat.page.locator("#rules td.is-rule a", has_text="beacon-probing").click()
    seat.page.wait_for_selector("#pane-text")
    seat.page.wait_for_selector("#pane-case option:has-text('bert-1')", state="attached")
    seat.page.locator("#pane-case").select_option(label="lab-ring-before")
    seat.page.wait_for_selector(".verdict:not(.old)")
    seat.page.route("**/rules/judge", partial(held.append), times=1)
    seat.page.locator("#pane-case").select_option(label="cpu-limited-vm")
    seat.page.wait_for_selector(".verdict.old")
    while not held:  # the verdict is dimmed before the question is sent
        seat.page.wait_for_timeout(20)
    seat.page.locator("#pane-case").select_option(label="bert-1")
    held[0].continue_()
    seat.page.wait_for_selector('.verdict:not(.old) .subjects li[data-verdict="match"]')
    assert "team.txt" in seat.page.locator(".subjects .evidence").first.inner_text()


def test_a_verdict_is_whole_again_when_its_case_is_chosen_again(sit: Any) -> None:
    """Another case chosen while one is judged, and the first chosen again before it is: its verdict is no old one."""
    seat, held = sit("rules"), []
    seat.page.route("**/rules/judge", partial(held.append), times=1)
    seat.page.locator("#rules td.is-rule a", has_text="beacon-probing").click()
    seat.page.wait_for_selector("#pane-case option:has-text('bert-1')", state="attached")
    until(seat, "document.querySelector('.verdict.old')")
    first = seat.page.locator("#pane-case option:checked").inner_text()
    for label in ("bert-1", first):
        seat.page.locator("#pane-case").select_option(label=label)
    held[0].continue_()
    seat.page.wait_for_selector(".verdict:not(.old) .subjects")


@pytest.mark.usefixtures("objects")
def test_a_rule_is_tried_on_a_dropped_case(sit: Any) -> None:
    """A case that was just dropped stands first among the cases of the pane, and is judged from its own files."""
    seat = sit()
    seat.drop_paths(SAMPLES / "lab-ring-before")
    seat.report()
    go(seat, "rules=kb-2039495")
    seat.page.wait_for_selector('.subjects li[data-verdict="match"]')
    assert "lab-ring-before" in seat.page.locator("#pane-case option:checked").inner_text()
    assert seat.page.locator('optgroup[label="Dropped here"] option').count() == 1


def test_a_back_test_from_the_pane(sit: Any) -> None:
    """The rule as it stands is judged over the archive: numbers, findings and losses, each with a link to its case."""
    seat = sit("rules=beacon-probing")
    until(seat, "document.querySelector('#pane-text')?.value.includes('n_uplinks < 3')")
    text = seat.page.locator("#pane-text").input_value()
    seat.page.locator("#pane-text").fill(text.replace("t.n_uplinks < 3)", "t.n_uplinks < 2)"))
    seat.page.get_by_role("button", name="Run the back-test").click()
    seat.page.wait_for_selector(".numbers")
    shown = seat.page.locator(".test-result").inner_text()
    for word in ("Matches", "Cannot tell", "Near misses", "Gained", "Lost", "Precision", "Time"):
        assert word in shown
    seat.page.locator(".test-result h3", has_text="Lost (1)").wait_for()
    seat.page.locator(".test-result a", has_text="bert-1").first.click()
    seat.page.wait_for_selector("iframe.report")
    seat.page.go_back()
    seat.page.wait_for_selector(".numbers", state="visible")


def test_a_back_test_is_cancelled(sit: Any) -> None:
    """Cancel ends it at once, says so, and another one can be run."""
    seat = sit("rules=beacon-probing")
    until(seat, "document.querySelector('#pane-text')?.value.includes('n_uplinks < 3')")
    seat.page.get_by_role("button", name="Run the back-test").click()
    seat.page.get_by_role("button", name="Cancel", exact=True).click()
    seat.page.wait_for_selector("text=Cancelled")
    until(seat, "!document.querySelector('.backtest button.main').disabled")
    seat.page.get_by_role("button", name="Run the back-test").click()
    seat.page.wait_for_selector(".numbers, .test-result .nothing")


# --- everyone ---

PLACES = {
    "archive": "#archive table.answer",
    "archive=find/q%3Dbeacon-probing": '#archive td[data-name="Subject"]',
    f"archive=case/{id_of('bert-1')}": ".label-list",
    "archive=map": "#heatmap",
    "rules": "#rules table.answer",
    "rules=beacon-probing": ".verdict .subjects, .verdict .nothing",
}


@pytest.mark.parametrize(("size", "scheme"), EACH_SCREEN)
def test_every_part_fits_and_passes_axe(sit: Any, scheme: str, size: dict[str, int]) -> None:
    """No part scrolls sideways, at 1280 and 390 px, light and dark, and axe-core finds nothing to complain of."""
    seat = sit(viewport=size, color_scheme=scheme)
    for place, there in PLACES.items():
        go(seat, place)
        seat.page.locator(there).first.wait_for()
        assert seat.page.evaluate("document.documentElement.scrollWidth") <= size["width"], place
        if AXE.exists():
            link = seat.context.new_cdp_session(seat.page)
            link.send("Runtime.evaluate", {"expression": AXE.read_text(encoding="utf-8")})
            link.detach()
            found = seat.page.evaluate(
                "axe.run(document, {iframes: false}).then((done) => done.violations.map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 200))]))"
            )
            assert found == [], place


def test_nothing_jumps_while_a_verdict_comes(sit: Any) -> None:
    """The pane keeps its layout when the case was read and the verdict appears."""
    seat = sit("rules")
    seat.page.locator("#rules td.is-rule a", has_text="beacon-probing").click()
    seat.page.locator("#pane-case").select_option(label="bert-1")
    seat.page.wait_for_selector("#pane-text")
    until(seat, "document.querySelector('#pane-text').value")
    before = seat.page.locator("#test-title").bounding_box()
    seat.page.wait_for_selector('.subjects li[data-verdict="match"]')
    assert seat.page.locator("#test-title").bounding_box() == before
