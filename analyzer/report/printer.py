"""Prints foreign text harmless, for every form of a case on a terminal or in a pipe."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from analyzer.runtime.short_lines import fit_rows, terminal_mark
from analyzer.runtime.text import for_terminal

STYLES = {
    "critical": "bold reverse red",
    "major": "bold red",
    "warning": "bold yellow",
    "info": "bold cyan",
    "error": "bold magenta",
}
NARROWEST = 20


class Printer:
    """Prints foreign text harmless, indented, and wrapped to the width of the console."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def make_text(self, text: str, style: str = "") -> Text:
        """Return text that is safe and that this terminal can write."""
        encoding = self.console.encoding or "utf-8"
        shown = for_terminal(text).encode(encoding, "backslashreplace").decode(encoding)
        return Text(shown, style=style)

    def print_line(
        self, *parts: str | Text, indent: int = 0, style: str = "", rows: int = 0
    ) -> int:
        """Print parts as one paragraph; with `rows` names and words are left out until it has at most so many rows.

        A paragraph whose figures, states and codes need a row more gets it. Returns how many rows were printed.
        """
        paragraph = Text()
        for part in parts:
            paragraph.append_text(part if isinstance(part, Text) else self.make_text(part, style))
        width = max(NARROWEST, self.console.width - indent)
        if rows > 0:
            paragraph = self._shorten(paragraph, width, rows)
        printed = list(paragraph.wrap(self.console, width)) or [paragraph]
        for row in printed:
            row.rstrip()
            self.console.print(Text(" " * indent).append_text(row), soft_wrap=True, highlight=False)
        return len(printed)

    def _shorten(self, paragraph: Text, width: int, rows: int) -> Text:
        """Return a paragraph that takes at most so many rows, its values whole, its styles where they were."""

        def count_rows(text: str) -> int:
            return len(Text(text).wrap(self.console, width))

        if count_rows(paragraph.plain) <= rows:
            return paragraph
        mark = terminal_mark(self.console.encoding)
        at = 0
        shown = Text()
        for cut in fit_rows(paragraph.plain, count_rows, rows, width, mark):
            shown.append_text(paragraph[at : cut.start]).append(mark)
            at = cut.end
        return shown.append_text(paragraph[at:])

    def print_exact(self, text: str, indent: int, style: str = "") -> None:
        """Print an address or command without breaking it, so that it can be copied."""
        for line in for_terminal(text).split("\n"):
            row = Text(" " * indent).append_text(self.make_text(line, style))
            self.console.print(row, soft_wrap=True, highlight=False)
