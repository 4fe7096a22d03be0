"""Claims: who works on which case. They save double work; correctness never depends on them.

Two runs on one archive may both do a case; the entries collapse. A claim ends when it is released,
when its process is gone, or when its time has run out.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from analyzer.archive.object_store.object_store import GoneError, ObjectStore
from analyzer.runtime.errors import BacklineError

CLAIMS = "claims/"
MINUTES = 90.0  # longer than the time a bundle may take


class Claims:
    """The claims of one run."""

    def __init__(self, objects: ObjectStore) -> None:
        self.objects, self.run = objects, secrets.token_hex(8)

    def take_claim(self, case: str) -> bool:
        """Claim a case; False when another run at work has it. A store that refuses claims grants them all."""
        try:
            if self.objects.put_new(CLAIMS + case, self._claim_text()):
                return True
            with suppress(GoneError):
                if claim_counts(self.objects.get(CLAIMS + case), self.run, MINUTES):
                    return False
            self.objects.put(CLAIMS + case, self._claim_text())
        except BacklineError:
            return True
        return True

    def release_claim(self, case: str) -> None:
        """Give a case free, if the claim is of this run."""
        with suppress(BacklineError):
            if _read_claim(self.objects.get(CLAIMS + case)).get("run") == self.run:
                self.objects.delete(CLAIMS + case)

    def _claim_text(self) -> bytes:
        claim = {
            "run": self.run,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "started": _read_start_time(os.getpid()),
        }
        return json.dumps({**claim, "at": round(time.time(), 3)}).encode()


def claim_counts(data: bytes, run: str = "", minutes: float = MINUTES) -> bool:
    """Say whether a claim keeps the run `run` from a case: one of a process of this host only while it runs."""
    claim = _read_claim(data)
    if not claim or claim.get("run") == run:
        return False
    at = claim.get("at")
    if not isinstance(at, int | float) or abs(time.time() - at) > minutes * 60:
        return False
    pid = claim.get("pid")
    if claim.get("host") != socket.gethostname() or not isinstance(pid, int) or pid <= 0:
        return True
    if os.name == "nt":  # there, signal 0 is Ctrl-C
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    started = claim.get("started")
    now = _read_start_time(pid)
    return not now or not started or now == started


def _read_claim(data: bytes) -> dict[str, Any]:
    try:
        claim = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return claim if isinstance(claim, dict) else {}


def _read_start_time(pid: int) -> str:
    """Return when a process began, as the kernel counts; a number is given to another process later."""
    try:
        return (
            Path(f"/proc/{pid}/stat")
            .read_text(encoding="ascii", errors="replace")
            .rpartition(")")[2]
            .split()[19]
        )
    except (OSError, IndexError):
        return ""
