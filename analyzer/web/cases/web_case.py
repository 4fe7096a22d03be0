"""One case of the page: its states, its events, and the sentences that say what it waits for."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analyzer.report import completeness, view, wording
from analyzer.runtime.text import one_line
from analyzer.web.guard.wire import NewFile
from analyzer.workers.line_process import LineProcess

WAITING, QUEUED, READING, JUDGING, WRITING = "waiting", "queued", "reading", "judging", "writing"
DONE, PARTIAL, REFUSED, FAILED, CANCELLED = "done", "partial", "refused", "failed", "cancelled"
WORK = frozenset({READING, JUDGING, WRITING})
OVER = frozenset({DONE, PARTIAL, REFUSED, FAILED, CANCELLED})


@dataclass(slots=True, eq=False)
class WebCase:
    """One case of this server.

    files   what was announced; here: the numbers that came; path: a place of this machine instead
    place   place in the queue, 1 is the next, 0 when it is not queued
    result  what the process said at the end
    sr      number of the service request, when one was given
    renamed, given_name  whether it has another name than it was given with, which the archive keeps
    edits   how often its name or the time of its incident was changed: its report is another one then
    incident  when the trouble was, as it was given; "" when nobody said
    """

    id: str
    name: str
    files: tuple[NewFile, ...] = ()
    sr: str = ""
    renamed: bool = False
    given_name: str = field(init=False)
    edits: int = 0
    incident: str = ""
    path: Path | None = None
    state: str = WAITING
    say: str = ""
    place: int = 0
    here: set[int] = field(default_factory=set)
    created: float = field(default_factory=time.time)
    progress: dict[str, Any] = field(default_factory=dict)
    findings: list[dict[str, Any]] = field(default_factory=list)
    more: int = 0
    error: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)
    child: LineProcess | None = None
    gone: bool = False
    sent_at: float = 0.0  # when the page last got the number of its uploads

    def __post_init__(self) -> None:
        self.given_name = self.name

    @property
    def title(self) -> str:
        """The SR number and the name, as lists, report, note and mail have it."""
        if not self.sr or self.sr in self.name:
            return self.name
        word = "" if self.sr.lower().startswith("sr") else "SR "
        return f"{word}{self.sr}: {self.name}"

    def record(self) -> dict[str, Any]:
        """Return what the page shows."""
        shown = {
            "id": self.id,
            "name": one_line(self.title, 300),
            "own_name": one_line(self.name, 300),
            "sr": self.sr,
            "edits": self.edits,
            "incident": self.incident,
            "time": 0.0,
            "no_log": "",
            "state": self.state,
            "say": self.say,
            "place": self.place,
            "files": len(self.files),
            "here": len(self.here),
            "bytes": sum(file.size for file in self.files),
            "path": one_line(str(self.path), 1000) if self.path is not None else "",
            "created": self.created,
            "progress": dict(self.progress),
            "findings": list(self.findings),
            "more": self.more,
            "error": dict(self.error),
            "report": self.state in (DONE, PARTIAL),
            "archived": False,
            "opened": bool(self.result.get("opened")),
            "unknowns": self.progress.get("unknowns", 0),
        }
        if self.state in OVER:
            names = (
                "counts",
                "worst",
                "unknowns",
                "nodes",
                "notes",
                "stored",
                "seconds",
                "incident",
                "time",
                "no_log",
            )
            shown |= {name: self.result[name] for name in names if name in self.result}
        return shown


@dataclass(frozen=True, slots=True)
class Past:
    """A case of the archive."""

    id: str
    shown: dict[str, Any]

    def record(self) -> dict[str, Any]:
        """Return what the page shows."""
        return dict(self.shown)


def name_of(files: Sequence[NewFile]) -> str:
    """Return the name of a case that has none: that of its only file or folder."""
    tops = {file.name.replace("\\", "/").strip("/").partition("/")[0] for file in files}
    return tops.pop() if len(tops) == 1 else ""


def describe_waiting(case: WebCase) -> str:
    """Say what a new case waits for."""
    missing = len(case.files) - len(case.here)
    if case.path is not None or not missing:
        return "All files are here: it waits to be started."
    return f"It waits for {missing:,} of {len(case.files):,} file{'s' * (len(case.files) > 1)}."


def describe_counts(result: Mapping[str, Any]) -> str:
    """Return the counts of a case in a sentence, in the words of its report."""
    counts = result["counts"].items()
    parts = [
        f"{number:,} {wording.write_plural(word, number)}" for word, number in counts if number
    ]
    parts = parts or [
        completeness.NOTHING if result["state"] == DONE else completeness.NOTHING_READ
    ]
    if result["unknowns"]:
        parts.append(view.describe_open_questions(result["unknowns"]))
    whole = "" if result["state"] == DONE else " Not everything could be read."
    return f"Done: {', '.join(parts)}.{whole}"


def describe_error(error: Mapping[str, str]) -> str:
    """Return an error in one sentence."""
    what = error["what"][:1].upper() + error["what"][1:]
    return f"{what}: {error['why']}" if error.get("why") else f"{what}."
