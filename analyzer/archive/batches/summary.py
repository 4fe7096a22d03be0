"""The summary of a batch: numbers while it runs, text and a record at the end."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from analyzer.archive.batches.find import FindSummary
from analyzer.archive.batches.jobs import FAILED, PARTIAL, REFUSED, Result
from analyzer.archive.batches.progress import format_duration, format_size
from analyzer.runtime.short_lines import bound_line
from analyzer.runtime.text import one_line

SHOWN = 10
TITLES = 5
TROUBLES = 1000  # kept with their reasons
COUNTS = (
    "found", "done", "no_result", "others", "read", "read_again", "judged", "superseded", "stale", "partial",
    "refused", "failed", "left", "bytes", "stored", "packed",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Trouble:
    """A case without a whole result: partial, refused or failed, where and why."""

    state: str
    name: str
    source: str
    why: str


@dataclass(slots=True)
class Summary:
    """What a run found and did; counts are cases.

    done        were stored already and are as they would be now
    no_result   were refused or failed before, by the same tool: not tried again
    others      were done by another run meanwhile
    read_again  of `read`: stored before, read by other parsers, templates or limits, or for --rescan
    superseded  stored cases whose source has new content now
    stale       stored cases that another tool read: judging them again needs their bundles
    left        not done because the run was ended
    rules       rule -> cases in which it matched; unsearched: signature -> cases that were not searched for it
    bytes       read from the cases; stored: written to the archive; seconds: wall time
    """

    found: int = 0
    done: int = 0
    no_result: int = 0
    others: int = 0
    read: int = 0
    read_again: int = 0
    judged: int = 0
    hashed: int = 0
    superseded: int = 0
    stale: int = 0
    partial: int = 0
    refused: int = 0
    failed: int = 0
    left: int = 0
    bytes: int = 0
    stored: int = 0
    seconds: float = 0.0
    interrupted: bool = False
    packed: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    unsearched: Counter[str] = field(default_factory=Counter)
    troubles: list[Trouble] = field(default_factory=list)

    def add_trouble(self, result: Result) -> None:
        """Count a case without a whole result, and keep why."""
        self.partial += result.state == PARTIAL
        self.refused += result.state == REFUSED
        self.failed += result.state == FAILED
        if len(self.troubles) < TROUBLES:
            self.troubles.append(Trouble(result.state, result.name, result.source, result.why))


def as_record(summary: Summary, count: FindSummary) -> dict[str, Any]:
    """Return a summary for programs; every text is as it was found, JSON escapes it."""
    return {
        "format": "backline/batch-1",
        **{name: getattr(summary, name) for name in COUNTS},
        "seconds": round(summary.seconds, 3),
        "interrupted": summary.interrupted,
        "rules": dict(summary.rules.most_common()),
        "unsearched": dict(summary.unsearched.most_common()),
        "troubles": [
            {"state": one.state, "name": one.name, "source": one.source, "why": one.why}
            for one in summary.troubles
        ],
        "empty": len(count.empty),
        "left_out": len(count.left_out),
        "unreadable": [{"path": path, "why": why} for path, why in count.unreadable],
    }


def summary_lines(summary: Summary, archive: str = "DIR") -> list[str]:
    """Return a summary for the terminal; `archive` is the place that the next commands name."""
    parts = [
        (summary.done, "done before"),
        (summary.read, "read"),
        (summary.judged, "judged again"),
        (summary.others, "done by another run"),
        (summary.left, "left for the next run"),
    ]
    said = ", ".join(f"{number} {what}" for number, what in parts if number)
    out = [
        f"{_count_cases(summary.found)}: {said or 'nothing to do'}" if summary.found else "no cases"
    ]
    if summary.read_again:
        out.append(f"  {summary.read_again} of those read were stored before and are read again")
    if summary.superseded:
        out.append(
            f"  {summary.superseded} replace what was stored of the same place; it is kept as superseded"
        )
    if summary.stale:
        out.append(
            f"  {summary.stale} were read by another version or with other limits: give their PATHs to read them again"
        )
    if summary.no_result:
        out.append(f"  {summary.no_result} refused or failed before, not tried again (--retry)")
    rules = []
    if summary.rules:
        top = ", ".join(
            f"{one_line(rule)} in {_count_cases(number)}"
            for rule, number in summary.rules.most_common(TITLES)
        )
        rules.append(f"  rules that matched: {top}{', …' if len(summary.rules) > TITLES else ''}")
    if summary.unsearched:
        names = ", ".join(one_line(name) for name, _ in summary.unsearched.most_common(TITLES))
        most = max(summary.unsearched.values())
        rules.append(
            f"  not searched for in {_count_cases(most)} when they were read: {names}"
            f"{', …' if len(summary.unsearched) > TITLES else ''}; --rescan opens these cases again"
        )
    out += _trouble_lines(summary) + rules
    if summary.read or summary.judged:
        seconds = max(summary.seconds, 0.001)
        rate = f"{(summary.read + summary.judged) / seconds:.1f} cases/s"
        if summary.bytes:
            rate += f", {format_size(summary.bytes / seconds)}/s"
        each = summary.stored / max(1, summary.read + summary.judged)
        out.append(
            f"  {format_duration(summary.seconds)}, {rate}; {format_size(summary.stored)} stored, {format_size(each)} a case"
        )
    if summary.found and summary.read and not summary.interrupted:
        place = shlex.quote(archive)
        out += [
            f"  next: backline archive list --archive {place} --sort worst",
            f"        backline archive search --archive {place} 'driver: ixgben'",
            f"        backline archive heatmap --archive {place} -o fleet",
        ]
    if summary.interrupted:
        out.append("interrupted: what was stored stays; the same command continues from here")
    return out


def _trouble_lines(summary: Summary) -> list[str]:
    numbers = [
        (summary.partial, "partial"),
        (summary.refused, "refused"),
        (summary.failed, "failed"),
    ]
    if not any(number for number, _ in numbers):
        return []
    out = ["  " + ", ".join(f"{number} {what}" for number, what in numbers if number) + ":"]
    worst = sorted(
        summary.troubles,
        key=lambda one: (["failed", "refused", "partial"].index(one.state), one.source),
    )
    for one in worst[:SHOWN]:
        out.append(
            f"    {one.state}: {one_line(one.source or one.name)}: {bound_line(one.why, 300)}"
        )
    if len(worst) > SHOWN:
        out.append(f"    … and {len(worst) - SHOWN} more: `backline archive list` shows all")
    return out


def _count_cases(number: int) -> str:
    return f"{number} case{'s' * (number != 1)}"
