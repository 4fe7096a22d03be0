"""How an analysis process reports: lines of JSON, progress a few times a second."""

from __future__ import annotations

import json
import os
import threading
import time
from typing import TYPE_CHECKING, Any, BinaryIO

from analyzer.case.ranking import Weight
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.text import one_line

if TYPE_CHECKING:
    from analyzer.case.verdicts import Finding

PAUSE = 0.2  # seconds between two lines of progress
LIVE = 500  # findings sent while they come
_SHOWN = ("rule", "title", "severity", "confidence", "subject", "object", "node", "say")


class ProgressWriter:
    """Writes what happens as lines; progress at most every PAUSE seconds."""

    def __init__(self, out: BinaryIO) -> None:
        self._out, self._lock, self._last = out, threading.Lock(), 0.0
        self._sent = 0
        self.state: dict[str, Any] = dict.fromkeys(
            ("bytes", "members", "lines", "judged", "rules", "unknowns"), 0
        )
        self.state["member"] = ""

    def write_line(self, kind: str, **parts: Any) -> None:
        """Write one line; without a reader there is nothing left to do."""
        text = json.dumps({"type": kind, **parts}, ensure_ascii=True, separators=(",", ":"))
        try:
            with self._lock:
                self._out.write(text.encode("ascii") + b"\n")
                self._out.flush()
        except OSError:
            os._exit(1)

    def begin_stage(self, state: str, say: str) -> None:
        """Tell that another stage begins, and where the one before ended."""
        self.write_progress(at_once=True)
        self.write_line("stage", state=state, say=say)

    def write_progress(self, *, at_once: bool = False) -> None:
        """Send how far it is, unless that was just sent."""
        now = time.monotonic()
        if at_once or now - self._last >= PAUSE:
            self._last = now
            self.write_line("progress", **self.state)

    def count_bytes(self, count: int) -> None:
        """Count bytes read from the disk; called from any thread."""
        with self._lock:
            self.state["bytes"] += count
        self.write_progress()

    def begin_member(self, address: str) -> None:
        """Note which member is read now."""
        self.state["member"] = one_line(address, 300)
        self.write_progress()

    def end_member(self, address: str, lines: int) -> None:
        """Count a member and its lines."""
        del address
        self.state["members"] += 1
        self.state["lines"] += lines
        self.write_progress()

    def write_finding(self, finding: Finding) -> None:
        """Tell a finding."""
        self._sent += 1
        if self._sent <= LIVE:
            self.write_line(
                "finding",
                finding=describe_finding(finding),
            )


def describe_finding(finding: Finding) -> dict[str, Any]:
    """Return what the page shows of a finding, and its weight: the page sorts those that come one by one."""
    shown: dict[str, Any] = {name: one_line(str(getattr(finding, name)), 500) for name in _SHOWN}
    weight = Weight.of(finding.severity, finding.confidence, finding.excess)
    return shown | {"exposed": finding.confidence == "exposed", "weight": weight.as_numbers()}


def describe_failure(error: BacklineError) -> dict[str, Any]:
    """Return the last line of a process that could not do it."""
    return {"state": "failed", "error": error.show_parts()}
