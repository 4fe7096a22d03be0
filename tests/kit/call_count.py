"""How much work a triage is, as a number that is the same in each run and on each machine."""

from __future__ import annotations

from cProfile import Profile
from pathlib import Path

from analyzer.pipeline.triage import Options, triage
from analyzer.report.results import render_results


def count_calls(*paths: Path) -> int:
    """Return how many calls a triage with its results makes."""
    with Profile() as profile:
        render_results(triage(paths, Options()).document, "")
    return sum(entry.callcount for entry in profile.getstats())
