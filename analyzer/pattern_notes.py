"""What follows from the text of a pattern alone: worked out once, and for the parsers of a wheel while it is built."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Answer = TypeVar("Answer")

_MOST = 8192  # patterns of one function; learned ones come from texts of a case
_known: dict[str, dict[str, Any]] = {}


def noted(function: Callable[[str], Answer]) -> Callable[[str], Answer]:
    """Keep the answers of a function of a pattern. JSON must be able to hold them: lists, not tuples."""
    name = f"{function.__module__}.{function.__name__}"

    @wraps(function)
    def answer(pattern: str) -> Answer:
        known = _known.setdefault(name, {})
        if pattern not in known:
            if len(known) >= _MOST:
                known.clear()
            known[pattern] = function(pattern)
        found: Answer = known[pattern]
        return found

    return answer


def notes() -> dict[str, dict[str, Any]]:
    """Return all that is known: by function, by pattern."""
    return _known


def know(some: dict[str, dict[str, Any]]) -> None:
    """Take what `notes` returned when a wheel was built."""
    for name, answers in some.items():
        _known[name] = answers | _known.get(name, {})


def forget() -> None:
    """Know nothing any more, as at the start of a process."""
    _known.clear()
