"""A case document on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def show_document(document: dict[str, Any], verbose: int = 0, *, everything: bool = False) -> None:
    """Print the report of a case document; `verbose` 1 shows evidence, 2 the trace; `everything` harmless lines."""
    from analyzer.report import terminal

    terminal.render(document, console(), verbose, everything=everything)


def console() -> Console:
    """Return the console that reports are printed to."""
    from rich.console import Console

    class Plain(Console):
        """A console that tells of a reader who has gone; rich would end with status 1, which means a finding."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Plain(highlight=False)
