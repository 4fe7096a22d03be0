"""What one desk has of its own, in a real Chromium: rules without an archive, further rules, one view of stored cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer.archive.labels import current_labels
from analyzer.archive.store import Archive
from tests.kit.archive_kit import put as put_sample
from tests.kit.archive_kit import sample
from tests.kit.ask_kit import filled, id_of
from tests.kit.page_kit import (
    CHROMIUM,
    EACH_SCREEN,
    SAMPLES,
    Seat,
    Served,
    complaints,
    go,
    served,
    until,
    windows,
)
from tests.web.test_web_how import RULE, RULES

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


def options(folder: Path) -> list[str]:
    """Write further rules into a folder; return the options that bring them."""
    kb = folder / "my-rules"
    kb.mkdir()
    for name, status, severity, confidence in RULES:
        text = RULE.format(name=name, status=status, severity=severity, confidence=confidence)
        (kb / f"{name}.yaml").write_text(text, encoding="utf-8")
    return ["--kb", str(kb), "--no-settings", "--no-packs"]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server without an archive, with further rules; no test gives it a case."""
    folder = tmp_path_factory.mktemp("plain")
    with served(folder / "work", *options(folder)) as running:
        yield running


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Served]:
    """Such a server for a test that drops a case."""
    with served(tmp_path / "work", *options(tmp_path)) as running:
        yield running


@pytest.fixture
def objects(tmp_path: Path) -> Path:
    """An archive of made-up cases and one sample."""
    put_sample(filled(tmp_path / "archive"), "cpu-limited-vm", sample("cpu-limited-vm"))
    return tmp_path / "archive"


@pytest.fixture
def stocked(tmp_path: Path, objects: Path) -> Iterator[Served]:
    """A server with an archive."""
    with served(tmp_path / "work", "--archive", str(objects)) as running:
        yield running


@pytest.fixture
def sit(browser: Any) -> Iterator[Callable[..., Seat]]:
    """Open windows at a server; each must have been without errors of its own when it closes."""
    with windows(browser) as opened:

        def down(server: Served, to: str = "", **options: Any) -> Seat:
            return opened(**options).enter(server, to)

        yield down


def report_of(seat: Seat) -> Any:
    """Return the frame of a stored report, once it is drawn."""
    frame = seat.page.wait_for_selector("iframe.report").content_frame()
    frame.wait_for_selector("body[data-done]", state="attached")
    return frame


# --- the numbers of a case ---


def test_the_head_of_a_case_says_what_its_report_says(own: Served, sit: Any) -> None:
    """Head, list and report count alike: findings of one rule are one, what rests on a version stands apart."""
    seat = sit(own)
    seat.drop_paths(SAMPLES / "config-traps")
    report = seat.report()
    counts = [" ".join(text.split()) for text in report.locator("a.count").all_inner_texts()]
    said = [
        text
        for text in counts
        if not text.endswith(("clean", "unexplained")) and not text.startswith("the host")
    ]  # a way to the card is no count
    assert {"2 warnings", "1 exposed"} <= set(said)
    assert seat.page.locator("#case-about").inner_text().split(" · ")[0] == ", ".join(said)
    go(seat, "cases")
    row = seat.page.locator("#cases .counts").inner_text()
    assert [int(word) for word in row.split() if word.isdigit()] == [
        int(word) for text in said for word in text.split() if word.isdigit()
    ]


# --- rules without an archive ---


def test_rules_work_without_an_archive(plain: Served, sit: Any) -> None:
    """The catalog lists further rules, a rule is proved by its examples, and what needs an archive says so."""
    seat = sit(plain)
    assert not seat.page.locator('nav [data-view="archive"]').is_visible()
    seat.page.locator('nav [data-view="rules"]').click()
    row = seat.page.locator("#rules tbody tr", has_text="lab-nics")
    row.wait_for()
    assert "folder my-rules" in row.inner_text()
    assert "backline serve --archive" in seat.page.locator("#rules .bar .note").inner_text()
    seat.page.locator("#rules td.is-rule a", has_text="kb-2039495").click()
    seat.page.wait_for_selector("#pane-said:has-text('as expected')")
    assert "case" not in seat.page.locator("#pane-said").inner_text()
    group = seat.page.locator('optgroup[label="Stored cases"]')
    assert group.locator("option").is_disabled()
    assert "--archive" in (group.locator("option").text_content() or "")
    assert "This server has no archive" in seat.page.locator(".backtest").inner_text()
    assert seat.page.locator(".backtest form").count() == 0
    text = seat.page.locator("#pane-text").input_value()
    seat.page.locator("#pane-text").fill(text.replace("each: ", "eech: ", 1))
    seat.page.locator(".complaint.error").first.wait_for()


def test_a_dropped_case_takes_the_place_of_the_examples(own: Served, sit: Any) -> None:
    """Who dropped a case meets it in the pane, may go back to the examples, and stays there."""
    seat = sit(own, "rules=lab-nics")
    seat.page.wait_for_selector("#pane-said:has-text('it has no examples')")
    go(seat, "drop")
    seat.drop_paths(SAMPLES / "config-traps")
    seat.report()
    go(seat, "rules=lab-nics")
    seat.page.wait_for_selector('.subjects li[data-verdict="match"]')
    assert seat.page.locator("#pane-case option:checked").inner_text() == "config-traps"
    seat.page.locator("#pane-case").select_option(label="none: its own examples")
    seat.page.wait_for_selector("#pane-said:has-text('it has no examples')")
    go(seat, "rules")
    go(seat, "rules=lab-nics")
    assert seat.page.locator("#pane-case").input_value() == "examples"


@pytest.mark.parametrize(("size", "scheme"), EACH_SCREEN)
def test_the_rules_fit_without_an_archive(
    plain: Served, sit: Any, scheme: str, size: dict[str, int]
) -> None:
    """Catalog and pane scroll sideways nowhere, light and dark, and axe-core finds nothing to complain of."""
    seat = sit(plain, viewport=size, color_scheme=scheme)
    for place, there in {
        "rules": "#rules table.answer",
        "rules=kb-2039495": "#pane-said:has-text('as expected')",
    }.items():
        go(seat, place)
        seat.page.locator(there).first.wait_for()
        assert seat.page.evaluate("document.documentElement.scrollWidth") <= size["width"], place
        assert complaints(seat) == [], place


# --- one view of a stored case ---


def test_a_stored_case_has_its_labels_wherever_it_is_opened(
    stocked: Served, objects: Path, sit: Any
) -> None:
    """From *Cases* by keyboard: the report with its labels beside it; Escape leads back to the list."""
    seat = sit(stocked, "cases")
    row = seat.page.locator("#cases a.name", has_text="bert-1")
    row.wait_for()
    names = seat.page.locator("#cases a.name").all_inner_texts()
    seat.page.locator("#cases a.name").first.focus()
    for key, name in (
        ("ArrowDown", names[1]),
        ("End", names[-1]),
        ("ArrowDown", names[-1]),
        ("Home", names[0]),
    ):
        seat.page.keyboard.press(key)
        assert seat.page.evaluate("document.activeElement.textContent") == name
    row.press("Enter")
    report_of(seat)
    until(seat, "document.activeElement.textContent === 'bert-1'")
    seat.page.get_by_role("button", name="Confirm: Beacon probing").press("Enter")
    seat.page.keyboard.type("seen")
    seat.page.keyboard.press("Enter")
    seat.page.wait_for_selector(".given.confirmed")
    assert [(one.rule, one.note) for one in current_labels(Archive.open(objects))] == [
        ("beacon-probing", "seen")
    ]
    assert seat.page.get_by_role("link", name="Back").get_attribute("href") == "#cases"
    seat.page.keyboard.press("Escape")
    until(seat, "location.hash === '#cases'")
    assert seat.page.locator("#cases a.name", has_text="bert-1").is_visible()


def test_an_old_address_of_a_stored_case_leads_to_the_same_view(stocked: Served, sit: Any) -> None:
    """`#case=` of a stored case shows it with labels; the browser's Back and ours do not lead round in a circle."""
    seat = sit(stocked, "cases")
    seat.page.locator("#cases a.name", has_text="bert-1").wait_for()
    go(seat, f"case={id_of('bert-1')}")
    seat.page.wait_for_selector(".label-list")
    assert seat.page.locator("#case").is_hidden()
    assert seat.page.evaluate("location.hash") == f"#archive=case/{id_of('bert-1')}"
    seat.page.go_back()
    until(seat, "location.hash === '#cases'")


def test_the_stored_view_tells_what_the_other_told(stocked: Served, sit: Any) -> None:
    """Counts in its head, the case note to copy, the theme of the page in its report, and what was not read."""
    seat = sit(stocked, "cases", color_scheme="light")
    seat.page.locator("#theme").click()
    seat.page.locator("#cases a.name", has_text="cpu-limited-vm").click()
    frame = report_of(seat)
    assert seat.page.locator(".shelf-case .named .note").inner_text().startswith("3 major")
    until(frame, "document.documentElement.dataset.theme === 'dark'")
    seat.page.locator("#theme").click()
    until(frame, "document.documentElement.dataset.theme === 'light'")
    seat.context.grant_permissions(["clipboard-read", "clipboard-write"])
    seat.page.get_by_role("button", name="Copy case note").click()
    seat.page.wait_for_selector("#said:has-text('Case note copied')")
    assert seat.page.evaluate("navigator.clipboard.readText()").startswith("# Case cpu-limited-vm")
    assert seat.page.locator(".shelf-case > .odd").is_hidden()
    go(seat, "cases")
    seat.page.locator("#cases li", has_text="incomplete").locator("a.name").click()
    seat.page.wait_for_selector(".shelf-case > .odd:visible")
    assert "absence proves nothing" in seat.page.locator(".shelf-case > .odd").inner_text()


def test_a_finding_of_a_search_opens_in_the_theme_of_the_page(stocked: Served, sit: Any) -> None:
    """A link to one finding lands on it, and the report is as dark as the page that was made dark by hand."""
    seat = sit(stocked, "archive=find/q%3Dbeacon-probing", color_scheme="light")
    seat.page.locator("#theme").click()
    seat.page.locator("#archive td.is-case a", has_text="bert-1").click()
    frame = report_of(seat)
    until(frame, "document.documentElement.dataset.theme === 'dark'")
    until(frame, "document.activeElement.matches('[data-finding]')")


def test_a_stored_case_is_removed_after_a_question(
    stocked: Served, objects: Path, sit: Any
) -> None:
    """By keyboard: the button asks, Escape and "Keep it" leave all as it is, "Remove it" takes the case off the lists."""
    seat = sit(stocked, "cases")
    seat.page.locator("#cases a.name", has_text="bert-1").click()
    report_of(seat)
    button = seat.page.get_by_role("button", name="Remove from the archive")
    button.press("Enter")
    until(seat, "document.activeElement.textContent === 'Keep it'")
    assert "for good?" in seat.page.locator(".asked").inner_text()
    assert complaints(seat) == []
    seat.page.keyboard.press("Escape")
    until(seat, "document.activeElement.textContent === 'Remove from the archive'")
    assert len(Archive.open(objects).take_snapshot().list_visible_cases()) == 7
    button.press("Enter")
    seat.page.keyboard.press("Shift+Tab")
    seat.page.keyboard.press("Enter")
    seat.page.wait_for_selector("#said:has-text('removed from the archive')")
    until(seat, "location.hash === '#cases'")
    seat.page.locator("#cases a.name", has_text="acme-1").wait_for()
    assert seat.page.locator("#cases a.name", has_text="bert-1").count() == 0
    assert len(Archive.open(objects).take_snapshot().list_visible_cases()) == 6
