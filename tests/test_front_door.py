"""What a newcomer meets: `make demo`, the tutorials, the site, the workflow of other systems."""

from __future__ import annotations

import logging
import re
import shlex
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from mkdocs.commands.build import build
from mkdocs.config import load_config

from analyzer.cli import main
from tools import guide

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


def in_process(command: str, folder: Path) -> str:
    """Return what a command of a tutorial prints, run in this process instead of one of its own."""
    words, _, cut = command.partition(" | ")
    done = CliRunner().invoke(main, shlex.split(words)[1:], catch_exceptions=False)
    assert done.exit_code in (0, 1, 5), f"{command}: {done.output}"
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    if cut:
        which, count = cut.split(" -")
        lines = lines[: int(count)] if which == "head" else lines[-int(count) :]
    return "".join(f"{line}\n" for line in lines)


def steady(page: str) -> str:
    """Return a page without the numbers that every new rule changes: open questions, quiet rules, rules at all."""
    return re.sub(r"cannot tell: \d+ questions?; quiet: \d+ rules?| +\d+  -$", "…", page, flags=re.MULTILINE)


@pytest.mark.parametrize("path", guide.TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_does_what_it_says(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command of a tutorial, run one after the other in a fresh folder, prints what the page shows."""
    monkeypatch.chdir(tmp_path)
    for name, value in (("COLUMNS", guide.WIDTH), ("TERM", "dumb"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
    guide.prepare(tmp_path)
    page = path.read_text(encoding="utf-8")
    assert page.count("\n$ backline ") >= 4
    said = guide.played(page, tmp_path, in_process)
    assert steady(said) == steady(page), "run python tools/guide.py and look at what changed"
    wrong = page.replace("\n$ backline ", "\nan output that nothing prints\n$ backline ", 1).replace(
        "WARNING confirmed", "FINE"
    )
    assert steady(said) != steady(wrong)  # the comparison can fail


class Loads(HTMLParser):
    """Collects what a page loads, and where it leads."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "src" or (tag == "link" and name == "href"):
                self.loaded.add(value or "")
            elif tag == "a" and name == "href":
                self.links.add(value or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the pages that are not generated tables, built as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(DOCS, folder / "docs", ignore=shutil.ignore_patterns("*.png", "R0*.md"))
    for name in ("rules.md", "tables.md", "rule-guide.md"):  # eighteen thousand lines of one kind
        text = (DOCS / name).read_text(encoding="utf-8").splitlines()[:100]
        (folder / "docs" / name).write_text("\n".join(text), encoding="utf-8")
    logging.disable(logging.ERROR)
    try:
        build(load_config(str(ROOT / "mkdocs.yml"), docs_dir=str(folder / "docs"), site_dir=str(folder / "site")))
    finally:
        logging.disable(logging.NOTSET)
    return folder / "site"


def test_the_site_fetches_nothing(site: Path) -> None:
    """No page loads a script, style, font or picture from elsewhere, and what it loads is there."""
    seen = 0
    for page in site.rglob("*.html"):
        loads = Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        for address in loads.loaded:
            assert not re.match(r"(https?:)?//", address), f"{page.name}: {address}"
            seen += 1
            if not address.endswith(".png") and page.name != "404.html":
                assert (page.parent / address.partition("?")[0]).exists(), f"{page.name}: {address}"
    assert seen > 50
    for style in site.rglob("*.css"):
        found = re.findall(r"url\(['\"]?((?:https?:)?//[^)]*)|@import[^;]*//", style.read_text(encoding="utf-8"))
        assert not found, style
    assert (site / "search" / "search_index.json").exists()


def test_each_page_has_its_reader(site: Path) -> None:
    """Every page of docs/ stands in the menu, which is grouped by reader, and leads somewhere."""
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    groups = {name: pages for entry in config["nav"] for name, pages in entry.items()}
    assert list(groups) == ["Start", "Support engineer", "Many cases", "Rule author", "Developer"]
    named = [
        next(iter(page.values())) if isinstance(page, dict) else page for pages in groups.values() for page in pages
    ]
    assert sorted(named) == sorted([*(path.name for path in DOCS.glob("*.md")), "lint/README.md"])
    loads = Loads()
    loads.feed((site / "index.html").read_text(encoding="utf-8"))
    pages = [link for link in loads.links if link.endswith(".html") and not link.startswith("http")]
    assert len(pages) > 20 and all((site / page).exists() for page in pages)


@pytest.mark.long
def test_the_whole_site_is_built(tmp_path: Path) -> None:
    """`tools/site.py` builds all pages and the three examples, which are whole pages of their own."""
    subprocess.run([sys.executable, str(ROOT / "tools" / "site.py"), str(tmp_path)], check=True, capture_output=True)
    for link in re.findall(r"\]\((examples/\S+?)\)", (DOCS / "examples.md").read_text(encoding="utf-8")):
        assert "</html>" in (tmp_path / link).read_text(encoding="utf-8")[-200:], link


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_the_demo_installs_what_a_user_needs() -> None:
    """`make demo` installs no extra, triages the sample, and ends with what to do next; `make test` installs the rest."""
    demo = subprocess.run(["make", "-n", "-B", "demo"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert (
        "pip install --disable-pip-version-check --no-compile -e ." in demo
        and "[test]" not in demo
        and "--quiet" not in demo
    )
    assert (
        demo.index("triage samples/cases/lab-ring-before") < demo.index("Next:") < demo.index("docs/tutorial-triage.md")
    )
    whole = subprocess.run(["make", "-n", "-B", "test"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "-e '.[test]'" in whole


def test_the_suite_runs_on_three_systems() -> None:
    """The workflow names Linux, macOS and Windows and just the Pythons that setup.cfg promises; it holds no secret."""
    text = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    suite = yaml.safe_load(text)["jobs"]["suite"]
    assert {name.partition("-")[0] for name in suite["strategy"]["matrix"]["os"]} == {"ubuntu", "macos", "windows"}
    promised = re.findall(r"Python :: (3\.\d+)$", (ROOT / "setup.cfg").read_text(encoding="utf-8"), re.MULTILINE)
    assert suite["strategy"]["matrix"]["python"] == promised
    assert "secrets." not in text and yaml.safe_load(text)["permissions"] == {"contents": "read"}
    marks = re.findall(r"not (\w+)", next(step["run"] for step in suite["steps"] if step.get("name") == "Tests"))
    known = re.findall(r"^    (\w+): ", (ROOT / "setup.cfg").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(marks) <= set(known)
