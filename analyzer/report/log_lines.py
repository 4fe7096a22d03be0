"""Lines of the logs around a moment: those a case document keeps, about how many there are, and a command for all."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from analyzer.lazy_dataclass import dataclass
from analyzer.report import wording

Doc = dict[str, Any]

AROUND = 300.0  # seconds before and after a moment
FEW = 4  # sources of a case that the command names one by one


@dataclass(frozen=True, slots=True)
class Nearby:
    """What is around one moment.

    time     seconds since 1970; kept: lines in the document; about: lines that the logs of the case have there
    command  prints all of them
    """

    time: float
    kept: int
    about: int
    command: str


class LogDrawer:
    """The kept lines of one case."""

    def __init__(self, doc: Doc) -> None:
        self._doc = doc
        self.lines: Sequence[Doc] = doc["log"]
        self._times = [wording.epoch(one["time"]) or 0.0 for one in self.lines]
        self.around = lru_cache(maxsize=None)(self._around)

    def times(self) -> list[tuple[float, Doc]]:
        """Return the lines with their times, seconds since 1970."""
        return list(zip(self._times, self.lines, strict=True))

    def of(self, finding: Doc) -> Nearby | None:
        """Return what is around a finding: around the first time of its evidence; None when that has none."""
        return self.around(finding["first_seen"]) if finding["first_seen"] else None

    def _around(self, time: str) -> Nearby | None:
        """Return what is around a time, given in ISO 8601; None when it is none."""
        when = wording.epoch(time)
        if when is None:
            return None
        kept = sum(abs(one - when) <= AROUND for one in self._times)
        return Nearby(when, kept, max(kept, self._about(when)), self._command(time))

    def _about(self, when: float) -> int:
        """Return about how many lines the logs have there, as if each had written evenly."""
        total = 0.0
        for node in self._doc["nodes"]:
            for log in node["logs"]:
                ends = [(wording.epoch(part["first"]), wording.epoch(part["last"])) for part in log["parts"] or [log]]
                spans = [(first, last) for first, last in ends if first is not None and last is not None]
                length = sum(last - first for first, last in spans)
                inside = sum(max(0.0, min(last, when + AROUND) - max(first, when - AROUND)) for first, last in spans)
                total += log["lines"] * inside / length if length > 0 else log["lines"] * bool(spans and inside)
        return _rounded(total)

    def _command(self, time: str) -> str:
        names = list(dict.fromkeys(one["name"].partition("/")[0] for one in self._doc["case"]["files"]))
        paths = names if 0 < len(names) <= FEW else [self._doc["case"]["name"] or "."]
        return f"backline log {shlex.join(paths)} --around {time} --for 10m"


def _rounded(number: float) -> int:
    """Return an estimate with its two first digits."""
    whole = round(number)
    unit = int("1".ljust(len(str(whole)) - 1, "0"))
    return round(whole / unit) * unit
