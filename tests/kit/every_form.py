"""Every form of a case document, rendered in this process."""

from __future__ import annotations

import io

from rich.console import Console

from analyzer.case import case_file
from analyzer.case.document import CaseDocument
from analyzer.report import (
    html,
    junit,
    lists,
    mail,
    markdown,
    sarif,
    screen,
    short_note,
    summary,
    terminal,
)
from analyzer.report.open_asks import keep_questions
from analyzer.report.printer import Printer


def render_forms(document: CaseDocument) -> dict[str, str]:
    """Return name -> text of every form that one document can be shown in."""
    with keep_questions():
        return _render_forms(document)


def _render_forms(document: CaseDocument) -> dict[str, str]:
    return {
        "case.json": case_file.write_case(document),
        "report.html": html.render_page(document),
        "report.md": markdown.render_note(document),
        "note": short_note.render_short_note(document),
        "mail": mail.write_mail(document),
        "csv": lists.render_csv(document),
        "jsonl": lists.render_json_lines(document),
        "junit": junit.render_junit(document),
        "sarif": sarif.render_sarif(document),
        "terminal": _print_terminal(document),
        "summary": _print_summary(document),
        "screen": _print_screen(document),
    }


def _make_console() -> Console:
    return Console(file=io.StringIO(), width=100, force_terminal=False, highlight=False)


def _read_console(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def _print_terminal(document: CaseDocument) -> str:
    console = _make_console()
    terminal.print_case(document, console, 2)
    return _read_console(console)


def _print_summary(document: CaseDocument) -> str:
    console = _make_console()
    summary.print_summary(document, console)
    return _read_console(console)


def _print_screen(document: CaseDocument) -> str:
    console = _make_console()
    screen.print_screen(document, Printer(console))
    return _read_console(console)
