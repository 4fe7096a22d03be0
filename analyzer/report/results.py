"""Writes the three results of a case; one that fails costs itself, never the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from analyzer.report import html, markdown
from analyzer.report.open_asks import worked_out_once
from analyzer.runtime.errors import describe_fault, find_error_place
from analyzer.runtime.result_files import RESULTS
from analyzer.runtime.text import make_visible

Doc = dict[str, Any]
Text = str | Iterable[str]  # whole or in parts
Made = TypeVar("Made", str, list[str])


def results(
    document: Doc, text: Text, report_bytes: int = html.REPORT_BYTES
) -> tuple[dict[str, Text], list[str]]:
    """Return name -> content of the results, and a sentence for each form that could not be made.

    text  the document as it is kept, case.json, whole or in parts

    A page that fails holds the note instead, a note that fails says so.
    """
    failed: list[str] = []
    note = _made("report.md", lambda: markdown.render(document), lambda why: f"# {why}\n", failed)
    page = _made(
        "report.html",
        lambda: html.pieces(document, report_bytes),
        lambda why: [_plain(why, note)],
        failed,
    )
    return dict(zip(RESULTS, (text, page, note), strict=True)), failed


def _made(
    name: str, make: Callable[[], Made], instead: Callable[[str], Made], failed: list[str]
) -> Made:
    try:
        with worked_out_once():
            return make()
    except Exception as error:  # noqa: BLE001 - what was found must reach its reader, in whatever form still works
        why = make_visible(
            f"{name} could not be made in full: {describe_fault(find_error_place(error))}"
        )
        failed.append(f"{why}. case.json holds everything.")
        return instead(why)


def _plain(why: str, note: str) -> str:
    """Return the note as a page without any script or style."""
    import html as escapes  # noqa: PLC0415 - for mistakes only

    head = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'"><title>Case report</title></head>'
    )
    return f"{head}<body><p>{escapes.escape(why)}</p><pre>{escapes.escape(make_visible(note))}</pre></body></html>\n"
