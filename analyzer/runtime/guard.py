"""One part that fails costs itself and nothing else: it says so, and the report is still written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from analyzer.runtime.errors import BacklineError, describe_fault, find_error_place

T = TypeVar("T")
Tell = Callable[[str, str], None]  # takes what went wrong, and what is missing because of it


@contextmanager
def guard_part(failed: Callable[[Exception], object]) -> Iterator[None]:
    """Run a part; an error no one foresaw is given to `failed` and goes no further.

    Errors that speak to the engineer (BacklineError) go on.
    """
    try:
        yield
    except BacklineError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever fails in one part, the others are reported
        failed(error)


def run_stage(part: str, make: Callable[[], T], instead: Callable[[], T], tell: Tell) -> T:
    """Return what `make` gives; when it fails, tell it and return `instead()`.

    part  what is missing then, in the words of the report
    """
    with guard_part(lambda error: tell(describe_fault(find_error_place(error)), part)):
        return make()
    return instead()
