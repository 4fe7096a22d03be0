"""Stages after the parsers: one that fails costs its own part, says so, and the report is still written."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from analyzer.errors import BacklineError, fault, placed

T = TypeVar("T")
Tell = Callable[[str, str], None]  # takes what went wrong, and what is missing because of it


def stage(part: str, make: Callable[[], T], instead: Callable[[], T], tell: Tell) -> T:
    """Return what `make` gives; when it fails, tell it and return `instead()`.

    part  what is missing then, in the words of the report. Errors that speak to the engineer (BacklineError) go on
    """
    try:
        return make()
    except BacklineError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever fails in one part, the others are told
        tell(fault(placed(error)), part)
        return instead()
