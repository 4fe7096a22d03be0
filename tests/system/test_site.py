"""The documentation leads somewhere: as a site, as files of the repository, for eyes and for screen readers."""

from __future__ import annotations

import logging
import os
import posixpath
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml

from analyzer.authoring.pages import page_links, pages
from analyzer.rules import load
from tests.kit.full_size import FULL
from tests.kit.page_kit import AXE, CHROMIUM
from tools import site as site_tool
from tools import site_pages

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
EXAMPLES = "examples/"  # made from the sample cases, by tools/site.py alone
OUTSIDE = re.compile(r"[a-z]+:")  # https:, mailto:, data:


class PageLinks(HTMLParser):
    """Collects what a page loads, where it leads, and what can be led to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.loaded: set[str] = set()
        self.links: set[str] = set()
        self.ids: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "src" or (tag == "link" and name == "href"):
                self.loaded.add(value or "")
            elif tag == "a" and name == "href":
                self.links.add(value or "")
            elif name == "id":
                self.ids.add(value or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it, without the examples."""
    folder = tmp_path_factory.mktemp("site")
    logging.disable(logging.ERROR)
    try:
        site_tool.build_pages(folder)
    finally:
        logging.disable(logging.NOTSET)
    return folder


@pytest.fixture(scope="module")
def parsed(site: Path) -> dict[str, PageLinks]:
    """Every page of the site by its place; 404.html is for any place and names its files from the root."""
    found = {path.relative_to(site).as_posix(): PageLinks(path) for path in site.rglob("*.html")}
    del found["404.html"]
    return found


def dead_links(site: Path, parsed: dict[str, PageLinks]) -> list[str]:
    """Return every link of the site that leads to no file, or to no place in a page."""
    dead = []
    for name, page in parsed.items():
        for link in sorted(page.links | page.loaded):
            if OUTSIDE.match(link):
                continue
            path, _, place = link.partition("#")
            target = posixpath.normpath(
                posixpath.join(posixpath.dirname(name), unquote(path.partition("?")[0]))
            )
            target = target if path else name
            if (site / target).is_dir():
                target = posixpath.normpath(f"{target}/index.html")
            missing = not (site / target).is_file() and not target.startswith(EXAMPLES)
            if missing or (place and target in parsed and unquote(place) not in parsed[target].ids):
                dead.append(f"{name}: {link}")
    return dead


def test_every_link_of_the_site_leads_somewhere(site: Path, parsed: dict[str, PageLinks]) -> None:
    """Page and heading of each internal link are there, and so is everything that a page loads."""
    assert len(parsed) > 100 and sum(len(page.links) for page in parsed.values()) > 5_000
    assert dead_links(site, parsed) == []
    parsed["index.html"].links |= {"gone.html", "tables.html#gone"}
    try:
        assert dead_links(site, parsed) == ["index.html: gone.html", "index.html: tables.html#gone"]
    finally:
        parsed["index.html"].links -= {"gone.html", "tables.html#gone"}


def test_the_site_fetches_nothing(site: Path, parsed: dict[str, PageLinks]) -> None:
    """No page loads a script, style, font or picture from elsewhere."""
    away = [
        address
        for page in parsed.values()
        for address in page.loaded
        if re.match(r"(https?:)?//", address)
    ]
    assert away == []
    for style in site.rglob("*.css"):
        found = re.findall(
            r"url\(['\"]?((?:https?:)?//[^)]*)|@import[^;]*//", style.read_text(encoding="utf-8")
        )
        assert not found, style
    assert (site / "search" / "search_index.json").exists()


def test_the_catalog_has_a_page_an_area(parsed: dict[str, PageLinks]) -> None:
    """Each rule has its section on the page of its folder; the overview, other rules and the tables lead there and back."""
    catalog = load(retired=True)
    for rule in catalog.rules:
        page = f"rules/{pages.rule_area(rule)}.html"
        assert rule.id in parsed[page].ids
        assert f"{page}#{rule.id}" in parsed["rules.html"].links
    links = {
        link for name, page in parsed.items() if name.startswith("rules/") for link in page.links
    }
    assert any(link.startswith("../tables.html#") for link in links)
    assert any(re.fullmatch(r"[a-z]+\.html#[a-z0-9-]+", link) for link in links), (
        "a rule of another area"
    )
    assert all(len(text) < 300_000 for text in pages.area_pages(catalog).values())


def test_a_command_in_a_sentence_leads_to_its_page(parsed: dict[str, PageLinks]) -> None:
    """Where a page names the command that prints a made page, the site has a link; code blocks stay code."""
    assert {"cli.html", "tables.html"} <= parsed["index.html"].links
    assert "case-schema.json" in parsed["case.html"].links
    assert "../tables.html" in parsed["lint/R010.html"].links
    text = "a `backline tables --doc` [`backline rules doc`](x)\n```\n`backline rules doc`\n```\n# `backline rules doc`\n"
    linked = page_links.link_code(text, page_links.command_link)
    assert linked == text.replace("`backline tables --doc`", "[`backline tables --doc`](tables.md)")
    assert set(page_links.PAGE_COMMANDS.values()) <= {
        "cli.md",
        "cli.md#backline-archive",
        *site_pages.made_pages(),
    }


def test_each_page_has_its_reader(parsed: dict[str, PageLinks]) -> None:
    """Every page stands in the menu, which is grouped by reader, and the first page leads to all of them."""
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    groups = {name: entries for entry in config["nav"] for name, entries in entry.items()}
    assert list(groups) == ["Start", "Support engineer", "Many cases", "Rule author", "Developer"]
    entries = [entry for group in groups.values() for entry in group]
    named = [next(iter(entry.values())) if isinstance(entry, dict) else entry for entry in entries]
    made = {"SECURITY.md", "rules.md", "tables.md", "cli.md"}
    assert sorted(named) == sorted(
        {path.name for path in DOCS.glob("*.md")} | made | {"lint/README.md"}
    )
    menu = parsed["index.html"].links
    assert {name.removesuffix(".md").replace("README", "index") + ".html" for name in named} <= menu
    assert {"rules/storage.html", "rules/network.html"} <= menu


@pytest.mark.size
def test_the_whole_site_is_built(tmp_path: Path) -> None:
    """`tools/site.py` builds all pages and the three examples, which are whole pages of their own."""
    subprocess.run(
        [sys.executable, str(ROOT / "tools" / "site.py"), str(tmp_path)],
        check=True,
        capture_output=True,
    )
    links = PageLinks(tmp_path / "examples.html").links
    examples = [link for link in links if link.startswith(EXAMPLES)]
    assert len(examples) == 3
    for link in examples:
        assert "</html>" in (tmp_path / link).read_text(encoding="utf-8")[-200:], link


# --- as files of the repository -------------------------------------------------------------------


def tracked() -> set[str]:
    """Return all files that git knows, and their folders."""
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = {name for name in done.stdout.split("\0") if name}
    return files | {parent.as_posix() for name in files for parent in Path(name).parents}


def outside_code(text: str) -> str:
    """Return a Markdown page without its code."""
    return re.sub(
        r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    )


def heading_anchors(text: str) -> set[str]:
    """Return the places of a page that can be linked to, by the rule of GitHub."""
    plain = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", plain, re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")
        for heading in headings
    }


def dead_in_git(name: str, text: str, known: set[str]) -> list[str]:
    """Return the links of a Markdown page of the repository that lead to nothing git knows."""
    dead = []
    for link in re.findall(r"\]\(([^)\s]+)\)", outside_code(text)):
        if OUTSIDE.match(link):
            continue
        path, _, place = link.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
        there = target in known
        if there and place:
            there = place in heading_anchors((ROOT / target).read_text(encoding="utf-8"))
        if not there:
            dead.append(link)
    return dead


def test_every_link_in_git_leads_to_a_tracked_file() -> None:
    """README, guides and the other Markdown pages link only to what a clone has, and to headings that are there."""
    known = tracked()
    names = sorted(name for name in known if name.endswith(".md"))
    assert len(names) > 100
    dead = {
        name: found
        for name in names
        if (found := dead_in_git(name, (ROOT / name).read_text(encoding="utf-8"), known))
    }
    assert dead == {}
    wrong = "[a](docs/tables.md) [b](docs/page.md#gone) [c](docs/page.md) `[d](gone.md)`"
    assert dead_in_git("README.md", wrong, known) == ["docs/tables.md", "docs/page.md#gone"]


# --- for screen readers and the keyboard ------------------------------------------------------------


AXE_RUN = "axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations.map((one) => " \
    "one.id + ': ' + one.nodes.map((node) => node.target.join(' ')).join(', ')))"  # fmt: skip
HUGE = {
    "tables.html",
    "rules.html",
}  # of one kind, which the page of an area and the others have as well


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.mark.release
@pytest.mark.axe
@pytest.mark.browser
@pytest.mark.process
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.skipif(
    not AXE.exists() and not os.environ.get("CI"), reason="`make axe` installs axe-core"
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_site(browser: Any, site: Path, scheme: str) -> None:
    """axe-core has no complaint about a page of the site: colours, landmarks, code, menu, search, a narrow window.

    Dark is looked at on a fifth of the pages, at full size on all: the colours are those of one style sheet.
    """
    script = AXE.read_text(encoding="utf-8")
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()

    def look(name: str) -> None:
        page.evaluate(script)
        assert page.evaluate(AXE_RUN) == [], name

    pages = [path for path in sorted(site.glob("*.html")) if path.name not in HUGE]
    looked_at = pages if FULL or scheme == "light" else pages[::5]
    for path in [*looked_at, site / "lint" / "index.html", site / "rules" / "cpu.html"]:
        page.goto(path.as_uri())
        look(path.name)
    page.goto((site / "index.html").as_uri())
    page.click(".navbar .dropdown-toggle >> nth=3")
    page.hover(".dropdown-menu.show .dropdown-item >> nth=1")
    look("the menu is open")
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 390, "height": 844})
    page.click(".navbar-toggler")
    page.wait_for_selector(".navbar-collapse.show")
    look("a telephone")
    context.close()
