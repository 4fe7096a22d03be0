"""A bar on a terminal that counts what is done of a known total; silent elsewhere."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn


class Counter:
    """Shows done and total on stderr while it is open, when that is a terminal."""

    def __init__(self, title: str, silent: bool) -> None:
        self.title = title
        self.on = not silent and sys.stderr.isatty()
        self.bar: Any = None
        self.task: Any = None

    def __enter__(self) -> Counter:
        if self.on:
            columns = ("{task.description}", BarColumn(bar_width=24), TaskProgressColumn())
            console = Console(stderr=True)
            self.bar = Progress(*columns, TimeRemainingColumn(), console=console, transient=True)
            self.bar.start()
            self.task = self.bar.add_task(self.title, total=None)
        return self

    def show(self, done: int, total: int) -> None:
        """Move the bar."""
        if self.bar is not None:
            self.bar.update(self.task, completed=done, total=total)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()
