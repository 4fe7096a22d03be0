"""Lines of the panes of `backline browse`: foreign text as plain text, wrapped to the width of a pane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from analyzer.runtime.text import for_terminal, one_line

HIT = "> "
NARROWEST = 20  # columns that a paragraph is wrapped to


@dataclass(frozen=True, slots=True)
class PaneLine:
    """One line of a pane.

    text   as it is shown, with its styles; nothing in it steers a terminal
    row    place of the row of findings it stands for, -1 for none
    place  address of a log line, shown below the panes
    start  the cursor begins here
    """

    text: Text
    row: int = -1
    place: str = ""
    start: bool = False


LineMaker = Callable[[int], Sequence[PaneLine]]  # from the width of a pane to its lines


def make_text(text: str, style: str = "") -> Text:
    """Return foreign text on one line, never read as markup."""
    return Text(one_line(text), style=style, no_wrap=True, end="")


class ParagraphWriter:
    """Gathers paragraphs and quoted lines, and wraps them to the width of a pane."""

    def __init__(self, width: int) -> None:
        self.width = max(NARROWEST, width)
        self._console = Console(width=self.width, color_system=None)
        self.lines: list[PaneLine] = []

    def add_paragraph(
        self, text: str, style: str = "", *, indent: int = 0, head: str = "", quoted: bool = False
    ) -> None:
        """Add a paragraph, broken at blanks; what is quoted keeps its blanks and lines, and breaks anywhere.

        head  stands before it in bold
        """
        shown = for_terminal(text).expandtabs(4)
        for part in shown.split("\n"):
            paragraph = Text(one_line(head), style="bold")
            paragraph.append(part, style=style)
            room = max(NARROWEST, self.width - indent)
            rows = [paragraph]
            if cell_len(paragraph.plain) > room:
                if quoted:
                    rows = list(paragraph.divide(find_breaks(paragraph.plain, room)))
                else:
                    rows = list(paragraph.wrap(self._console, room))
            for row in rows:
                row.rstrip()
                self.lines.append(PaneLine(Text(" " * indent).append_text(row)))

    def add_gap(self) -> None:
        """Add an empty line, never two."""
        if self.lines and self.lines[-1].text.plain:
            self.lines.append(PaneLine(Text("")))


def find_breaks(text: str, room: int) -> list[int]:
    """Return where a quoted line breaks so that each part takes at most `room` cells."""
    breaks, used = [], 0
    for place, sign in enumerate(text):
        cells = cell_len(sign)
        if used + cells > room:
            breaks.append(place)
            used = 0
        used += cells
    return breaks
