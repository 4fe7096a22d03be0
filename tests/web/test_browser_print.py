"""The report on paper: Chromium prints it to PDF, and the first page says what limits the case."""

from __future__ import annotations

import copy
import io
import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from analyzer.pipeline.triage import triage
from analyzer.report import completeness, fleet, html
from analyzer.report.wording import format_time
from tests.kit.fleet_factory import fleet as made_fleet
from tests.web.test_browser_reports import CHROMIUM, Opened, browser

ROOT = Path(__file__).resolve().parents[2]
CASES = sorted(path for path in (ROOT / "samples" / "cases").iterdir() if path.is_dir())
CLOCK = "the clock went back in vmkernel.log from 2017-10-14 16:31 to 2017-10-14 15:02: times around it are unreliable"
WARNINGS = ["a remark (synthetic)", "one more remark (synthetic)", CLOCK]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
__all__ = ["browser"]  # the fixture


def print_pages(browser: Any, text: str, folder: Path, *, wait: bool = True) -> list[str]:
    """Return the text of each printed page of A4, without blanks: a line may break anywhere in a long name."""
    pypdf = pytest.importorskip("pypdf")
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    opened = Opened(browser, path, wait)
    printed = opened.page.pdf(format="A4")
    opened.context.close()
    assert opened.trouble == []
    return [
        strip_blanks(page.extract_text()) for page in pypdf.PdfReader(io.BytesIO(printed)).pages
    ]


def strip_blanks(text: str) -> str:
    """Return a text without blanks, and each ligature as its letters."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def find_lacking(page: str, phrases: list[str]) -> list[str]:
    """Return the phrases that a printed page does not hold."""
    return [phrase for phrase in phrases if strip_blanks(phrase) not in page]


def list_limits(doc: dict[str, Any]) -> list[str]:
    """Return what the first page must say: how complete the case is, and what each of few machines is and lacks."""
    phrases = [completeness.describe_completeness(doc)]
    unread = [one for one in completeness.list_unread(doc) if one.state != "other"]
    phrases += [completeness.describe_unread(source) for source in unread[:5]]
    phrases.append(completeness.name_other_files(doc, 5))
    for node in doc.nodes:
        phrases += [
            node.name,
            node.release,
            *(node.warnings if len(doc.nodes) <= 3 else []),
        ]
        if node.captured and len(doc.nodes) <= 3:
            phrases.append(f"captured {format_time(node.captured)}")
    return phrases


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_the_first_printed_page_says_what_limits_the_case(
    browser: Any, case: Path, tmp_path: Path
) -> None:
    """NOT COMPLETE, what was not read, and of each machine the release, the time of capture and its warnings."""
    doc = triage([case]).document
    first = print_pages(browser, html.render_page(doc), tmp_path)[0]
    assert find_lacking(first, list_limits(doc)) == []
    assert ("NOTCOMPLETE" in first) is (not completeness.is_complete(doc))
    assert "Whatiswrong" in first


@pytest.mark.parametrize("machines", [1, 2, 3])
def test_a_clock_warning_is_printed_for_each_machine(
    browser: Any, machines: int, tmp_path: Path
) -> None:
    """Three remarks a machine, the third folded on the screen: paper has them all, on the first page."""
    doc = triage([ROOT / "samples" / "cases" / "cut-bundle"]).document
    (node,) = doc.nodes
    doc.nodes = []
    for number in range(machines):
        added = copy.deepcopy(node)
        added.id, added.name = f"{node.id}{number or ''}", f"esx6{number}.lab.example"
        added.captured = f"2017-10-1{number} 16:53:20"
        added.warnings = [f"{number}: {one}" for one in WARNINGS]
        doc.nodes.append(added)
    first = print_pages(browser, html.render_page(doc), tmp_path)[0]
    assert "NOTCOMPLETE" in first
    assert find_lacking(first, list_limits(doc)) == []


def test_the_printed_comparison_says_which_side_is_not_complete(
    browser: Any, tmp_path: Path
) -> None:
    """The first page of a comparison holds the capture time and the state of the material of each side."""
    sides = [str(ROOT / "samples" / "cases" / name) for name in ("cut-bundle", "config-traps")]
    done = CliRunner().invoke(main, ["compare", *sides, "-o", str(tmp_path / "out"), "--no-packs"])
    assert done.exit_code == 5, done.output  # incomplete
    doc = json.loads((tmp_path / "out" / "compare.json").read_text(encoding="utf-8"))
    page = (tmp_path / "out" / "compare.html").read_text(encoding="utf-8")
    first = print_pages(browser, page, tmp_path, wait=False)[0]
    assert [side["complete"] for side in doc["sides"]].count(False) == 1
    assert (
        find_lacking(
            first, ["not complete", *(format_time(side["captured"]) for side in doc["sides"])]
        )
        == []
    )


def test_the_printed_fleet_says_what_is_missing_of_it(browser: Any, tmp_path: Path) -> None:
    """A part of the archive that cannot be read, and cases that are incomplete, are named on paper."""
    made = made_fleet(20)
    made.missing.append("segments/1.pack cannot be read")
    pages = print_pages(browser, fleet.render_page(made), tmp_path)
    assert find_lacking(pages[0], ["NOT COMPLETE: segments/1.pack cannot be read"]) == []
    incomplete = [row for row in made.cases if row.read and not row.complete]
    told = "".join(pages).count("incomplete:absenceprovesnothing")
    assert incomplete and told == len(incomplete)
