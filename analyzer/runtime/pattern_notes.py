"""What follows from a text alone, mostly a pattern: worked out once, and for the texts of a wheel while it is built.

Reading the patterns of all parsers and rules takes 0.1 s, and none of them changes. A wheel has a file beside this
module for each function whose answers it brings; a checkout has none. It is JSON, read when the function is first
called, and counts as long as the module of the function has the size that it had when the file was written.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import update_wrapper
from pathlib import Path
from typing import Any, Generic, TypeVar

Answer = TypeVar("Answer")

MOST = 8192  # patterns of one function that are kept; learned ones come from texts of a case
FUNCTIONS: dict[str, Noted[Any]] = {}


class Noted(Generic[Answer]):
    """A function of the text of a pattern that keeps its answers. JSON must be able to hold them: lists, not tuples."""

    def __init__(self, function: Callable[[str], Answer]) -> None:
        update_wrapper(self, function)
        self._function = function
        self.name = f"{function.__module__}.{function.__name__}"
        self.known: dict[str, Answer] | None = None
        FUNCTIONS[self.name] = self

    def __call__(self, pattern: str) -> Answer:
        """Return the answer for a pattern; what is wrong with one is raised each time."""
        if self.known is None:
            self.known = self._brought()
        if pattern not in self.known:
            if len(self.known) >= MOST:
                self.known.clear()
            self.known[pattern] = self._function(pattern)
        return self.known[pattern]

    def knows(self, pattern: str) -> bool:
        """Tell whether the answer is at hand."""
        if self.known is None:
            self.known = self._brought()
        return pattern in self.known

    def _brought(self) -> dict[str, Answer]:
        try:
            size, answers = json.loads(_file(Path(__file__).parent.parent, self.name).read_bytes())
            return dict(answers) if size == self.size() else {}
        except (OSError, ValueError, TypeError):
            return {}

    def size(self) -> int:
        """Return the size of the module of the function."""
        return Path(self._function.__code__.co_filename).stat().st_size


def noted(function: Callable[[str], Answer]) -> Noted[Answer]:
    """Keep the answers of a function of a pattern, see Noted."""
    return Noted(function)


def write(package: Path) -> None:
    """Write what is known now into a copy of the package."""
    for name, function in FUNCTIONS.items():
        text = json.dumps(
            [function.size(), function.known or {}], separators=(",", ":"), sort_keys=True
        )
        _file(package, name).write_text(text, encoding="utf-8")


def _file(package: Path, name: str) -> Path:
    return package / f"{name.removeprefix('analyzer.')}.json"
