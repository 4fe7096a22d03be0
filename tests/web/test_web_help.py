"""The documentation in the page: every help link of the page leads to a page and a heading that are there, offline."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from analyzer.authoring.lint.codes import CODES
from analyzer.web import help_pages
from tests.kit.web_kit import client_of, serving_at

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(
    r'help\("([^"]+)"\)|"((?:page|compare|archive|fleet|log|backtest|rule-guide)#[\w-]+)"'
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with client_of(serving_at(tmp_path_factory.mktemp("help")), help_pages.help_routes) as made:
        yield made


def linked() -> list[str]:
    """Return the targets of all help links in the scripts of the page."""
    files = [
        one for one in resources.files("analyzer.web.page").iterdir() if one.name.endswith(".js")
    ]
    found = [
        match[1] or match[2]
        for one in files
        for match in LINK.finditer(one.read_text(encoding="utf-8"))
    ]
    return sorted({*found})


def test_every_help_link_leads_to_a_heading(client: TestClient) -> None:
    """Page and heading of each link are there; a page shows tables and loads nothing but our two styles."""
    targets = linked()
    assert {"page#give-it-a-case", "archive#search", "rule-guide#3-write-it"} <= {*targets}
    for target in targets:
        name, _, heading = target.partition("#")
        answer = client.get(f"/help/{name}")
        assert answer.status_code == 200, target
        assert f'id="{heading}"' in answer.text, target
    page = client.get("/help/page")
    assert page.text.count("<pre") == page.text.count('<pre tabindex="0">') > 0
    assert "<table>" in page.text and "<img" not in page.text and "<script" not in page.text
    assert re.findall(r'(?:src|rel="stylesheet" href)="([^"]+)"', page.text) == [
        "/base.css",
        "/page.css",
    ]
    assert page.headers["content-security-policy"] == help_pages.POLICY
    assert {client.get(f"/help/lint/{code}").status_code for code in [*CODES][:3]} == {200}


def pages() -> list[str]:
    """Return the names of all pages of the help: files of docs/, and those that are made."""
    docs = ROOT / "docs"
    files = [path.relative_to(docs).with_suffix("").as_posix() for path in docs.rglob("*.md")]
    return sorted({*files, "rules", "tables", "cli"})


@pytest.mark.size
def test_pages_lead_to_each_other_and_nowhere_else(client: TestClient) -> None:
    """Every link of every page of the help leads to a page and a heading; a file of the source is plain text."""
    texts = {
        f"/help/{name}": client.get(f"/help/{name}").raise_for_status().text for name in pages()
    }
    ids = {name: {*re.findall(r' id="([^"]*)"', text)} for name, text in texts.items()}
    links = [
        (name, to) for name, text in texts.items() for to in re.findall(r'<a href="([^":]+)"', text)
    ]
    dead = []
    for name, to in links:
        path, _, heading = to.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
        if target not in texts or (heading and heading not in ids[target]):
            dead.append((name, to))
    assert len(links) > 1_000 and not dead


@pytest.mark.size
def test_made_pages_need_no_file(client: TestClient) -> None:
    """Catalog, tables and command line are made for the help; a file that `make docs` left in docs/ is not read."""
    assert 'id="kb-2039495"' in client.get("/help/rules").text
    assert 'id="esxivnic"' in client.get("/help/tables").text
    assert 'id="backline-archive-list"' in client.get("/help/cli").text
    book = help_pages.HelpBook({"index.md": lambda: "# Made\n\n[gone](gone.md) [page](page.md)"})
    assert '<h1 id="made">Made</h1>' in book.render_page("index")
    assert "<a>gone</a>" in book.render_page("index") and '<a href="page">' in book.render_page(
        "index"
    )


def test_a_path_out_of_the_help_is_no_page(client: TestClient) -> None:
    """Neither a file of the source nor a path out of the documentation is served."""
    for wrong in (
        "nothing",
        "../setup.cfg",
        "..%2fsetup.cfg",
        "%2e%2e/%2e%2e/etc/passwd",
        "case-schema.json",
        "page.md",
    ):
        assert client.get(f"/help/{wrong}").status_code == 404, wrong
