"""Many small cases as one test: a test of its own costs five milliseconds, which is more than most cases take."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

TOLD = 20  # cases that failed, in full


def together(name: str, values: Iterable[Any], ids: Callable[[Any], str] = str) -> Callable[..., Callable[..., None]]:
    """Run a test for each value of its parameter `name`, and fail once, with every value that failed.

    A parameter `a, b` takes pairs. A case that is skipped counts as passed; fixtures are shared by all cases.
    """
    names = [one.strip() for one in name.split(",")]

    def wrap(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def all_of_them(**fixtures: Any) -> None:
            cases, failed = list(values), []
            assert cases, "no case at all"
            for value in cases:
                given = dict(zip(names, value if len(names) > 1 else [value], strict=True))
                try:
                    test(**given, **fixtures)
                except pytest.skip.Exception:
                    continue
                except Exception as error:  # noqa: BLE001 - told below with its case
                    failed.append(f"{ids(value)}: {type(error).__name__}: {error}")
            assert not failed, f"{len(failed)} of {len(cases)}:\n" + "\n".join(failed[:TOLD])

        told = inspect.signature(test)
        kept = [one for key, one in told.parameters.items() if key not in names]
        all_of_them.__signature__ = told.replace(parameters=kept)  # type: ignore[attr-defined]
        return all_of_them

    return wrap
