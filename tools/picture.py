"""Take the pictures of the documentation anew: of the page, of a report, of a fleet page with its worst cell open.

python tools/picture.py             all of docs/*.png; needs Chromium
python tools/picture.py report      only docs/report.png; likewise fleet, page
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SHOWN_CASE = ROOT / "samples" / "cases" / "cpu-limited-vm"
CASES = "120"  # of the fleet page
PICTURES = ("page", "report", "fleet")


def run_python(*words: object, **more: str) -> None:
    """Run a module or a script of ours; a status that means a crash or a refusal ends everything."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **more}
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
    if done.returncode not in (0, 5):  # 5: a case is not complete
        raise SystemExit(f"{' '.join(command)} ends with {done.returncode}")


def take_page() -> None:
    """Let the tests of the page take its pictures: they bring it into each of the states."""
    tests = ["-m", "pictures", "-q", "-p", "no:cacheprovider", "tests/web"]
    run_python("-m", "pytest", *tests, BACKLINE_SCREENSHOTS="1")


def take_report(work: Path) -> None:
    """Take docs/report.png."""
    run_python("-m", "analyzer", "triage", SHOWN_CASE, "-o", work / "case", "--quiet")
    take_picture(work / "case" / "report.html", DOCS / "report.png", 1180, 1240)


def take_fleet(work: Path) -> None:
    """Take docs/fleet.png."""
    archive = work / "archive"
    run_python("tools/make_cases.py", work / "cases", "--count", CASES)
    run_python("-m", "analyzer", "batch", work / "cases", "--archive", archive, "--quiet")
    run_python("-m", "analyzer", "archive", "heatmap", "--archive", archive, "-o", work / "fleet")
    take_picture(work / "fleet" / "fleet.html", DOCS / "fleet.png", 1280, 860)


def take_picture(page: Path, picture: Path, width: int, height: int) -> None:
    """Write the picture of a page as a window of that size shows it."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - heavy

    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            tab = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme="light"
            )
            tab.goto(page.resolve().as_uri())
            tab.wait_for_selector("body[data-done]", state="attached")
            worst = tab.locator("#box td.s0, #box td.s1, #box td.s2")
            if worst.count():
                worst.first.click()
            tab.screenshot(path=picture)
        finally:
            browser.close()


def main() -> int:
    """Take the pictures; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pictures", nargs="*", metavar="|".join(PICTURES))
    wanted = parser.parse_args().pictures or PICTURES
    if unknown := [name for name in wanted if name not in PICTURES]:
        parser.error(f"there is no picture {unknown[0]!r}: {', '.join(PICTURES)}")
    if shutil.which("chromium") is None:
        print("Chromium is not installed", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        if "report" in wanted:
            take_report(work)
        if "fleet" in wanted:
            take_fleet(work)
    if "page" in wanted:
        take_page()
    return 0


if __name__ == "__main__":
    sys.exit(main())
