"""Output of the rule author's tools: a terminal with colours, or a pipe with plain text."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.text import Text

from analyzer.authoring.explain.explain_text import Line
from analyzer.runtime.text import one_line


class Console:
    """Prints lines on stdout; on a terminal coloured and folded at its width, in a pipe as they are."""

    def __init__(self) -> None:
        self.console: Any = None
        if sys.stdout.isatty():
            from rich.console import Console  # noqa: PLC0415 - heavy, and of no use in a pipe

            self.console = Console(highlight=False, soft_wrap=True)

    @property
    def width(self) -> int:
        """Columns of the terminal, 0 for a pipe."""
        width = 0
        if self.console is not None:
            width = self.console.width
        return width

    def clear_page(self) -> None:
        """Begin a fresh page on a terminal; a pipe is left alone."""
        if self.console is not None:
            self.console.clear()

    def print_lines(self, lines: Iterable[Line]) -> None:
        """Print lines; signs that stdout cannot write are shown as `\\uNNNN`."""
        encoding = sys.stdout.encoding or "utf-8"
        for line in lines:
            if self.console is None:
                sys.stdout.write(_make_writable(line.text, encoding) + "\n")
            else:
                whole = Text().join(
                    Text(_make_writable(text, encoding), style=style) for text, style in line.parts
                )
                room = max(20, self.width - line.indent)
                if line.exact:
                    rows = []
                else:
                    rows = list(whole.wrap(self.console, room))
                rows = rows or [whole]
                for number, row in enumerate(rows):
                    row.rstrip()
                    indent = line.indent + (2 if number else 0)
                    self.console.print(Text(" " * indent).append_text(row), soft_wrap=True)
        sys.stdout.flush()


def announce_reading(paths: Iterable[Path]) -> None:
    """Tell a waiting person on stderr that the case is being read; say nothing in a pipe."""
    if sys.stderr.isatty():
        names = one_line(", ".join(str(path) for path in paths), 100)
        sys.stderr.write(_make_writable(f"reading {names} …\n", sys.stderr.encoding or "utf-8"))
        sys.stderr.flush()


def _make_writable(text: str, encoding: str) -> str:
    return text.encode(encoding, "backslashreplace").decode(encoding)
