"""Templates that a built wheel brings compiled give the page that their sources give."""

from __future__ import annotations

import json
from pathlib import Path

import jinja2
import pytest
from jinja2 import Environment

from analyzer.case import case_file
from analyzer.pipeline.triage import triage
from analyzer.report import compiling, html, page

CASES = Path(__file__).parents[2] / "samples" / "cases"


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Compile the templates as the build does; return the names of those that are compiled from now on."""
    compiling.compile_templates(tmp_path)
    monkeypatch.setattr(page, "_HERE", tmp_path)
    html.load_templates.cache_clear()
    compiled: list[str] = []
    compile_ = Environment.compile

    def counted(
        self: Environment, source: str, name: str | None = None, *rest: object, **words: object
    ) -> object:
        compiled.append(str(name))
        return compile_(self, source, name, *rest, **words)  # type: ignore[call-overload]

    monkeypatch.setattr(Environment, "compile", counted)
    return compiled


@pytest.fixture(autouse=True)
def fresh() -> object:
    """Forget the templates of other tests, and of this one afterwards."""
    html.load_templates.cache_clear()
    yield
    html.load_templates.cache_clear()


def document(name: str) -> dict[str, object]:
    """Return the case document of a sample."""
    return dict(json.loads("".join(case_file.write_parts(triage([CASES / name]).document))))


@pytest.mark.size
def test_the_page_is_the_same(request: pytest.FixtureRequest) -> None:
    """No template is compiled any more, and the page is the same byte for byte."""
    doc = document("nsx-633-site")
    page_of_sources = html.render_page(doc)
    compiled = request.getfixturevalue("built")
    assert html.render_page(doc) == page_of_sources
    assert compiled == []


@pytest.mark.process
def test_templates_of_another_jinja_are_left_alone(
    built: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was compiled for another version is not used: its code calls functions of that version."""
    doc = document("lab-ring-before")
    monkeypatch.setattr(jinja2, "__version__", "3.0.0")
    assert "<html" in html.render_page(doc)
    assert "report.html" in built
