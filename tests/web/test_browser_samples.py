"""The reports of all sample cases, made by the command itself, opened in a real Chromium."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from analyzer.case.case_file import write_case
from analyzer.commands.made_pages import make_case_schema
from analyzer.pipeline.triage import triage
from analyzer.report import html
from tests.kit.page_kit import AXE
from tests.web.test_browser_reports import ARGUMENTS, CHROMIUM, Opened

ROOT = Path(__file__).resolve().parents[2]
CASES = sorted(path for path in (ROOT / "samples" / "cases").iterdir() if path.is_dir())
EVIL = "</script><img src=x onerror=alert(1)>"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_the_report_of_a_sample_opens_without_a_sound(
    browser: Any, case: Path, tmp_path: Path
) -> None:
    """No console message, no request and no sideways scroll; the document fits its published schema."""
    document = triage([case]).document
    schema = json.loads(make_case_schema())
    jsonschema.Draft202012Validator(schema).validate(json.loads(write_case(document)))
    page = tmp_path / "report.html"
    page.write_text(html.render_page(document), encoding="utf-8")
    opened = Opened(browser, page)
    opened.page.evaluate("for (const box of document.querySelectorAll('details')) box.open = true")

    assert opened.trouble == []
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert opened.page.locator("h1").inner_text() == case.name
    assert opened.page.locator("article").count() >= min(1, len(document.findings))
    opened.context.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_log_around_a_finding_opens_as_a_drawer(
    browser: Any, tmp_path: Path, width: int
) -> None:
    """A finding leads to the lines kept around it; text and log filter them, Escape closes and leads back."""
    document = triage([ROOT / "samples" / "cases" / "slow-storage"]).document
    page = tmp_path / "report.html"
    page.write_text(html.render_page(document), encoding="utf-8")
    opened = Opened(browser, page, viewport={"width": width, "height": 900})
    link, part = opened.page.locator("article a[data-around]").first, opened.page.locator("#log")
    moment = float(link.get_attribute("data-around"))

    link.click()
    rows = part.locator("tbody tr:visible")
    times = [float(row.get_attribute("data-when")) for row in rows.all()]
    assert times == sorted(times)
    assert 0 < len(times) < len(document.log)
    assert all(abs(time - moment) <= 300 for time in times)
    assert part.evaluate("(part) => getComputedStyle(part).position") == "fixed"
    assert part.locator("tr.moment").count() == 1
    part.locator("#log-name").select_option("vmkernel")
    assert {row.get_attribute("data-log") for row in rows.all()} <= {"vmkernel"}
    part.locator("#log-q").fill("no line has these words")
    assert rows.count() == 0
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    if AXE.exists():
        opened.page.evaluate(AXE.read_text(encoding="utf-8"))
        assert (
            opened.page.evaluate(
                "axe.run('#log').then((done) => done.violations.map((one) => one.id))"
            )
            == []
        )
    opened.page.locator("#q").focus()  # Escape closes it from anywhere
    opened.page.keyboard.press("Escape")
    assert link.evaluate("(link) => link === document.activeElement")
    assert part.evaluate("(part) => getComputedStyle(part).position") != "fixed"
    assert opened.trouble == []


def test_an_injected_name_is_shown_as_text(browser: Any, tmp_path: Path) -> None:
    """A VM and a file named like markup are shown letter by letter; nothing runs."""
    folder = tmp_path / "case"
    folder.mkdir()
    evil_file = "<b>esx<img src=x onerror=alert(2)>.txt"
    text = (
        "[root@esx0:~] net-stats -l\n"
        "PortNum          Type SubType SwitchName       MACAddress         ClientName\n"
        f"33554464            5       9 vSwitch0         00:50:56:a6:55:f4  {EVIL}.eth0\n"
        "[root@esx0:~] vsish -e get /net/portsets/vSwitch0/ports/33554464/vmxnet3/rxSummary\n"
        "stats of a vmxnet3 vNIC rx queue {\n   pkts rx ok:1000\n   running out of buffers:90\n"
        "   # of times the 1st ring is full:90\n   # of times the 2nd ring is full:0\n}\n"
    )
    (folder / evil_file).write_text(text, encoding="utf-8")
    page = tmp_path / "report.html"
    page.write_text(html.render_page(triage([folder]).document), encoding="utf-8")
    opened = Opened(browser, page)
    opened.page.evaluate("for (const box of document.querySelectorAll('details')) box.open = true")

    assert opened.trouble == []
    assert opened.page.locator("img").count() == 0
    assert EVIL in opened.page.locator("article").first.inner_text()
    assert evil_file in opened.page.locator("body").inner_text()
    opened.context.close()
