"""A large host bundle with everyday problems in its logs: each is found by its lines, and a healthy twin is silent."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from tests.kit.full_size import FULL
from tools import make_bundle
from tools.planted import PROBLEMS, Planted

SIZES = pytest.mark.parametrize(
    "size", [20_000_000, 300_000_000] if FULL else [20_000_000]
)  # of the text; half of it is live logs
ABOVE_INFO = {"critical", "major", "warning"}


def list_reported(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the host itself calls a problem: its logs are full of lines that only print a warning."""
    return [one for one in document["signals"] if one["kind"] not in ("line", "cell")]


def triaged(tmp_path: Path, size: int, problems: tuple[Planted, ...]) -> dict[str, Any]:
    """The case document of a bundle with some problems, made by the command."""
    bundle = tmp_path / "host.tgz"
    make_bundle.write_bundle(bundle, size, dumps=False, problems=problems)
    done = CliRunner().invoke(main, ["triage", str(bundle), "-o", str(tmp_path / "out"), "--quiet"])
    assert done.exit_code in (0, 5), done.output
    document: dict[str, Any] = json.loads(
        (tmp_path / "out" / "case.json").read_text(encoding="utf-8")
    )
    return document


def first_words(problem: Planted) -> str:
    """What every planted line holds and no other line of the bundle."""
    return (
        problem.lines[-1].partition("%")[2] or problem.lines[-1].partition("@")[2].splitlines()[0]
    )


@pytest.mark.size
@SIZES
def test_each_planted_problem_is_found_by_its_lines(tmp_path: Path, size: int) -> None:
    """Each of the problems is a finding whose evidence is its own line, and nothing else is above info."""
    document = triaged(tmp_path, size, PROBLEMS)

    met: Counter[int] = Counter()
    missed = []
    for problem in PROBLEMS:
        own = [
            number
            for number, one in enumerate(document["findings"])
            if one["rule"] == problem.rule
            and any(first_words(problem)[:60] in str(line) for line in one["evidence"])
        ]  # fmt: skip
        met.update(own)
        missed += [] if own else [problem.problem]
    others = [
        one["subject"]
        for n, one in enumerate(document["findings"])
        if n not in met and one["severity"] in ABOVE_INFO
    ]
    assert (missed, others) == ([], [])
    assert list_reported(document) == []  # all of them rest in a finding


@pytest.mark.size
@SIZES
def test_a_healthy_host_of_that_size_is_silent(tmp_path: Path, size: int) -> None:
    """The same host without them has no finding above info, and no event that no rule knows."""
    document = triaged(tmp_path, size, ())

    assert [one["subject"] for one in document["findings"] if one["severity"] in ABOVE_INFO] == []
    assert list_reported(document) == []
