"""Many small cases as one test: a test of its own costs five milliseconds, which is more than most cases take."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

SHOWN = 20  # cases that failed, in full


def together(
    name: str, values: Iterable[Any], ids: Callable[[Any], str] = str, parts: int = 1
) -> Callable[..., Callable[..., None]]:
    """Run a test for each value of its parameter `name`, and fail once, with every value that failed.

    A parameter `a, b` takes pairs. A case that is skipped counts as passed; fixtures are shared by all cases, but for
    `tmp_path`, of which each case has a folder of its own. With `parts` the cases are that many tests, each with its
    share of them, so that none takes long and several processes can take some.
    """
    names = [one.strip() for one in name.split(",")]

    def wrap(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def all_of_them(part: int = 0, **fixtures: Any) -> None:
            cases = list(values)[part::parts]
            assert cases, "no case at all"
            failed = []
            for number, value in enumerate(cases):
                given = dict(zip(names, value if len(names) > 1 else [value], strict=True))
                try:
                    test(**given, **give_own_folder(fixtures, number))
                except pytest.skip.Exception:
                    continue
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - shown below with its case
                    failed.append(f"{ids(value)}: {type(error).__name__}: {error}")
            assert not failed, f"{len(failed)} of {len(cases)}:\n" + "\n".join(failed[:SHOWN])

        signature = inspect.signature(test)
        kept = [one for key, one in signature.parameters.items() if key not in names]
        if parts > 1:
            kept.append(inspect.Parameter("part", inspect.Parameter.KEYWORD_ONLY))
        all_of_them.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return (
            pytest.mark.parametrize("part", range(parts))(all_of_them) if parts > 1 else all_of_them
        )

    return wrap


def give_own_folder(fixtures: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the fixtures of one case: as they are, with a folder of its own where the test asks for one."""
    if "tmp_path" not in fixtures:
        return fixtures
    folder: Path = fixtures["tmp_path"] / f"case-{number}"
    folder.mkdir()
    return {**fixtures, "tmp_path": folder}
