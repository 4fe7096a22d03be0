"""The documentation in the page: every help link of the page leads to a page and a heading that are there, offline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from analyzer.authoring.lint.codes import CODES
from analyzer.web import help_pages
from tests.web_kit import client_of, serving_at

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r'help\("([^"]+)"\)|"((?:page|compare|archive|fleet|log|backtest|writing-rules)#[\w-]+)"')


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with client_of(serving_at(tmp_path_factory.mktemp("help")), help_pages.routes) as made:
        yield made


def linked() -> list[str]:
    """Return the targets of all help links in the scripts of the page."""
    files = [one for one in resources.files("analyzer.web.page").iterdir() if one.name.endswith(".js")]
    found = [match[1] or match[2] for one in files for match in LINK.finditer(one.read_text(encoding="utf-8"))]
    return sorted({*found})


def test_every_help_link_leads_to_a_heading(client: TestClient) -> None:
    """Page and heading of each link are there; a page shows tables and loads nothing but our two styles."""
    targets = linked()
    assert {"page#give-it-a-case", "archive#search", "writing-rules#3-write-it"} <= {*targets}
    for target in targets:
        name, _, heading = target.partition("#")
        answer = client.get(f"/help/{name}")
        assert answer.status_code == 200, target
        assert f'id="{heading}"' in answer.text, target
    page = client.get("/help/page")
    assert page.text.count("<pre") == page.text.count('<pre tabindex="0">') > 0
    assert "<table>" in page.text and "<img" not in page.text and "<script" not in page.text
    assert re.findall(r'(?:src|rel="stylesheet" href)="([^"]+)"', page.text) == ["/base.css", "/page.css"]
    assert page.headers["content-security-policy"] == help_pages.POLICY
    assert {client.get(f"/help/lint/{code}").status_code for code in [*CODES][:3]} == {200}


def test_pages_lead_to_each_other_and_nowhere_else(client: TestClient) -> None:
    """Links between the pages of the documentation work; a file of the source, and a path out of it, is none."""
    for name in ("page", "archive", "writing-rules", "lint/README"):
        text = client.get(f"/help/{name}").text
        room = name.rpartition("/")[0]
        for to in re.findall(r'<a href="([^"#:]+)', text):
            found = Path("/help", room, to).as_posix().replace("/help/lint/..", "/help")
            assert client.get(found).status_code == 200, (name, to)
    for wrong in (
        "nothing",
        "../setup.cfg",
        "..%2fsetup.cfg",
        "%2e%2e/%2e%2e/etc/passwd",
        "case-schema.json",
        "page.md",
    ):
        assert client.get(f"/help/{wrong}").status_code == 404, wrong
