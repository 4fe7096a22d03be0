"""Measure how soon a report answers: screens of the table, the place of the first finding, pages of paper, rows of a terminal.

python tools/make_bundle.py --size 20M --planted -o planted.tgz
backline planted.tgz -o planted
python tools/desk.py planted                a row a measure: value and bar
python tools/desk.py planted --check        exits with 1 when a bar is missed

A case of about forty findings is what the bars are for. The terminal is measured on all sample cases as well.
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from analyzer.case import case_file
from analyzer.report import summary
from analyzer.runtime.errors import BacklineError

DESK, PHONE = (1280, 900), (390, 844)  # pixels
PAPER = 1046  # pixels of an A4 page between its margins
BELOW = 2  # rows that triage prints below the summary
_PAGE = re.compile(rb"/Type\s*/Page[^s]")
_TOP = """selector => {
  const box = document.querySelector(selector)?.getBoundingClientRect();
  return box ? [box.top + scrollY, box.height] : [0, 0];
}"""
_LAST_ROW = "() => [...document.querySelectorAll('.desk-rows tr.line')].at(-1)?.getBoundingClientRect().bottom ?? 0"


class DeskMeasure(NamedTuple):
    """One thing that is measured: its value, and the bar that it may not pass."""

    name: str
    value: float
    most: float


def measure_pages(report: Path) -> list[DeskMeasure]:
    """Return what a browser shows and prints of a report."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - heavy

    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            return [*_measure_screens(browser, report), *_measure_paper(browser, report)]
        finally:
            browser.close()


def _measure_screens(browser: Any, report: Path) -> list[DeskMeasure]:
    """Return how many screens the table takes, and where its first line is."""
    found = []
    for name, (width, height), most in (("desk", DESK, 1.3), ("phone", PHONE, 3.0)):
        page = _open_report(browser, report, width, height)
        _, table = page.evaluate(_TOP, ".desk-rows")
        found.append(DeskMeasure(f"screens of the table, {name}", table / height, most))
        if name == "desk":
            first, _ = page.evaluate(_TOP, ".desk-rows tr.line")
            found.append(DeskMeasure("first finding, pixels from the top", first, 300))
        page.close()
    return found


def _measure_paper(browser: Any, report: Path) -> list[DeskMeasure]:
    """Return how many pages of A4 the report takes, and where the table ends on the first."""
    page = _open_report(browser, report, 718, PAPER)
    page.emulate_media(media="print")
    last = page.evaluate(_LAST_ROW)
    pages = len(_PAGE.findall(page.pdf(format="A4")))
    page.close()
    return [
        DeskMeasure("pages of paper", pages, 12),
        DeskMeasure("end of the table, pages of paper", last / PAPER, 1),
    ]


def _open_report(browser: Any, report: Path, width: int, height: int) -> Any:
    """Return the report in a window of that size."""
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(report.resolve().as_uri())
    page.wait_for_selector("body[data-done]", state="attached")
    return page


def count_terminal_rows(case: Path) -> int:
    """Return the rows that a triage of the case prints in a terminal of 80 columns."""
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=True)
    summary.print_summary(case_file.read_case(case), console)
    return len(out.getvalue().splitlines()) + BELOW


def main() -> int:
    """Print the measures; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="+", help="where triage wrote its results")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a bar is missed")
    words = parser.parse_args()
    first = words.folder[0]
    measures = measure_pages(first / "report.html")
    size = (first / "report.html").stat().st_size / 1000
    measures.append(DeskMeasure("kB of the report", size, 900))
    for folder in words.folder:
        try:
            rows = count_terminal_rows(folder / "case.json")
        except BacklineError as error:
            print(error, file=sys.stderr)
            return 2
        measures.append(DeskMeasure(f"rows of the terminal, {folder.name}", rows, 24))
    for one in measures:
        mark = "" if one.value <= one.most else "  MISSED"
        print(f"{one.name:45}  {one.value:8.2f}  at most {one.most:g}{mark}")
    missed = any(one.value > one.most for one in measures)
    return int(words.check and missed)


if __name__ == "__main__":
    sys.exit(main())
