"""Writes the three results of a case; one that fails costs itself, never the others."""

from __future__ import annotations

import html as escapes
from collections.abc import Callable, Iterable
from typing import TypeVar

from analyzer.case.document import CaseDocument
from analyzer.report import html, markdown
from analyzer.report.open_asks import keep_questions
from analyzer.runtime.errors import describe_fault, find_error_place
from analyzer.runtime.result_files import RESULTS
from analyzer.runtime.text import make_visible

Text = str | Iterable[str]  # whole or in parts
Made = TypeVar("Made", str, list[str])


def render_results(
    document: CaseDocument, text: Text, report_bytes: int = html.REPORT_BYTES
) -> tuple[dict[str, Text], list[str]]:
    """Return name -> content of the results, and a sentence for each form that could not be made.

    text  the document as it is kept, case.json, whole or in parts

    A page that fails holds the note instead, a note that fails says so.
    """
    failures: list[str] = []
    note = _render_or_explain(
        "report.md", lambda: markdown.render_note(document), lambda why: f"# {why}\n", failures
    )
    page = _render_or_explain(
        "report.html",
        lambda: html.render_pieces(document, report_bytes),
        lambda why: [_render_plain(why, note)],
        failures,
    )
    return dict(zip(RESULTS, (text, page, note), strict=True)), failures


def _render_or_explain(
    name: str, render: Callable[[], Made], explain: Callable[[str], Made], failures: list[str]
) -> Made:
    """Return a rendered form, or the explanation why it could not be made."""
    try:
        with keep_questions():
            return render()
    except Exception as error:  # noqa: BLE001 - what was found must reach its reader, in whatever form still works
        why = make_visible(
            f"{name} could not be made in full: {describe_fault(find_error_place(error))}"
        )
        failures.append(f"{why}. case.json holds everything.")
        return explain(why)


def _render_plain(why: str, note: str) -> str:
    """Return the note as a page without any script or style."""
    head = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'"><title>Case report</title></head>'
    )
    reason = escapes.escape(why)
    text = escapes.escape(make_visible(note))
    return f"{head}<body><p>{reason}</p><pre>{text}</pre></body></html>\n"
