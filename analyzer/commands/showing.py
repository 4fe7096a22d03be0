"""A case document on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

    from analyzer.redact.redaction import Redaction


def show_document(
    document: dict[str, Any], verbose: int = 0, *, everything: bool = False, redaction: Redaction | None = None
) -> None:
    """Print the report of a case document; `verbose` 1 shows evidence, 2 the trace; `everything` harmless lines.

    redaction  looks at what is printed first; LeftNameError when a name is left in it
    """
    from analyzer.report import terminal

    shown = console()
    if redaction is None:
        terminal.render(document, shown, verbose, everything=everything)
        return
    with shown.capture() as made:
        terminal.render(document, shown, verbose, everything=everything)
    _print(made.get(), redaction)


def show_in(
    form: str, document: dict[str, Any], verbose: int, redaction: Redaction | None, *, everything: bool = False
) -> None:
    """Print a case document as text, md, html or json."""
    if form == "text":
        show_document(document, verbose, everything=everything, redaction=redaction)
        return
    if form == "json":
        from analyzer import case

        text = case.dumps(document)
    else:
        from analyzer.report import html, markdown

        text = (html if form == "html" else markdown).render(document)
    _print(text, redaction)


def _print(text: str, redaction: Redaction | None) -> None:
    if redaction is not None:
        from analyzer.commands.redacting import released

        released(redaction, {"the output": text})
    click.echo(text, nl=False)


def console() -> Console:
    """Return the console that reports are printed to."""
    from rich.console import Console

    class Plain(Console):
        """A console that tells of a reader who has gone; rich would end with status 1, which means a finding."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Plain(highlight=False)
