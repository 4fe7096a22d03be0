"""Take the picture of a fleet page, with its worst cell open, or of a report, for the documentation.

python tools/make_cases.py cases --count 120
backline batch cases --archive archive
backline archive heatmap --archive archive -o fleet
python tools/picture.py fleet/fleet.html docs/fleet.png

backline samples/cases/cpu-limited-vm -o case
python tools/picture.py case/report.html docs/report.png --size 1180x1240
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path


def main() -> int:
    """Write the picture; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("page", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument(
        "--size", default="1280x860", metavar="WxH", help="of the window, in pixels"
    )
    words = parser.parse_args()
    width, _, height = words.size.partition("x")
    chromium = shutil.which("chromium")
    if chromium is None:
        print("Chromium is not installed", file=sys.stderr)
        return 1
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - heavy

    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            tab = browser.new_page(
                viewport={"width": int(width), "height": int(height)}, color_scheme="light"
            )
            tab.goto(words.page.resolve().as_uri())
            tab.wait_for_selector("body[data-done]", state="attached")
            worst = tab.locator("#box td.s0, #box td.s1, #box td.s2")
            if worst.count():
                worst.first.click()
            tab.screenshot(path=words.picture)
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
