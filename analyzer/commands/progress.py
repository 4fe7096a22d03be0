"""The progress line of a triage: what is done now, and how much of the material was read. For a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column

from analyzer.ingest.file_hashes import list_input_files
from analyzer.runtime.text import for_terminal

if TYPE_CHECKING:
    from analyzer.rules.model import Rule
    from analyzer.sources.remote import Place

_NARROW = 60  # columns; below it what is done now has the line for itself
_BESIDE = 46  # columns of bar, amount and time, with a word before the name


class TriageProgress:
    """Shows on stderr while it is open, in one line as wide as the terminal, what a triage does."""

    def __init__(self, paths: Sequence[Place]) -> None:
        console = Console(stderr=True)
        whole = Column(ratio=1, no_wrap=True, overflow="ellipsis")
        beside = (
            BarColumn(bar_width=10),
            DownloadColumn(binary_units=True),
            TimeRemainingColumn(compact=True),
        )
        self.bar = Progress(
            TextColumn("{task.description}", markup=False, table_column=whole),
            *(beside if console.width >= _NARROW else ()),
            console=console,
            expand=True,
            transient=True,
        )
        self._task = self.bar.add_task(
            "reading", total=sum(path.stat().st_size for path in list_input_files(paths))
        )
        self._rules = 0

    def __enter__(self) -> TriageProgress:
        self.bar.start()
        return self

    def member(self, address: str, _size: int) -> None:
        """Show which member was read last: the end of its address, which tells members apart."""
        width = self.bar.console.width
        most = max(10, width - (_BESIDE if width >= _NARROW else len("reading ")))
        shown = for_terminal(address)
        self._say(f"reading {shown if len(shown) <= most else '...' + shown[3 - most :]}")

    def read(self, count: int) -> None:
        """Move the bar by bytes read from disk."""
        self.bar.advance(self._task, count)

    def judged(self, rule: Rule, _findings: object, _questions: int) -> None:
        """Show how many rules were judged, and the last one."""
        self._rules += 1
        self._say(f"judging, {self._rules} rules done: {for_terminal(rule.id)}")

    def writes(self) -> None:
        """Show that the report is being made."""
        self._say("writing the report")

    def _say(self, said: str) -> None:
        self.bar.update(self._task, description=said)

    def __exit__(self, *_: object) -> None:
        self.bar.stop()
