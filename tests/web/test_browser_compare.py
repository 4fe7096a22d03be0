"""Comparing in the page, in a real Chromium: two dropped cases, the comparison in the place of the report."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.kit.page_kit import AXE, CHROMIUM, SAMPLES, Seat, served

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


def test_two_cases_of_the_page_are_compared(browser: Any, tmp_path: Path) -> None:
    """Choose the other case, press Compare: the conclusion stands there, also on a phone; no script runs in it."""
    with served(tmp_path / "work", "--no-settings", "--no-packs") as server:
        seat = Seat(browser).enter(server)
        for name in ("lab-ring-before", "lab-ring-after"):
            seat.page.goto(f"{server.address}#drop")
            seat.page.fill("#path", str(SAMPLES / name))
            seat.page.click("#path-form button")
            seat.report()
        seat.page.click("#case-compare")
        choices = seat.page.locator("#case-others option")
        assert [one.get_attribute("value") for one in choices.all()] == ["lab-ring-before"]
        assert seat.page.locator("#case-other").input_value() == "lab-ring-before"
        seat.page.keyboard.press("Enter")
        link = seat.page.wait_for_selector("#compared a")
        frame = seat.page.query_selector("#report").content_frame()
        frame.wait_for_selector("#conclusion")
        assert "Only ring #2 still runs full" in frame.inner_text(".summary")
        seat.page.screenshot(path=tmp_path / "page.png")
        address = link.get_attribute("href")

        tab = seat.context.new_page()
        tab.goto(f"{server.address.rstrip('/')}{address}")
        for width in (1280, 390):
            tab.set_viewport_size({"width": width, "height": 1500})
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            tab.screenshot(path=tmp_path / f"compare-{width}.png")
        levels = tab.eval_on_selector_all(
            "h1, h2, h3", "all => all.map((one) => Number(one.tagName[1]))"
        )
        assert levels[0] == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
        assert tab.eval_on_selector_all("th:not([scope])", "all => all.length") == 0
        if AXE.is_file():
            tab.evaluate(AXE.read_text(encoding="utf-8"))
            wrong = tab.evaluate(
                "axe.run(document).then((told) => told.violations.map((one) => one.id))"
            )
            assert wrong == []
        tab.close()

        seat.page.click("#compared button")
        assert seat.report().locator("#findings").count() == 1
        seat.page.click("#case-compare")
        seat.page.fill("#case-other", str(SAMPLES / "lab-ring-before"))
        seat.page.click("#compare-go")
        seat.page.wait_for_selector(
            f"#compared:has-text('{SAMPLES / 'lab-ring-before'}') >> text=Open in its own tab"
        )
        frame = seat.page.query_selector("#report").content_frame()
        frame.wait_for_selector("#conclusion")
        assert "Findings: 2 worse" in frame.inner_text(
            ".summary"
        )  # from the case after back to the one before
        assert seat.trouble == []
