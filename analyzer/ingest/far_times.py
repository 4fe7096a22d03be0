"""Says how many times of a case are outside the years that are read: nothing becomes quiet because a clock was wrong."""

from __future__ import annotations

from analyzer.artefacts.logtime import FAR
from analyzer.ingest.intake import Intake
from analyzer.runtime.text import count_noun


def describe_far_times(intake: Intake) -> list[str]:
    """Return one remark with the number of lines and cells whose time is out of range, and where the first is; or none.

    It is the least: of a large log some lines are looked at, and of many faults the first are kept.
    """
    logs = [scan for scan in intake.scans if scan.far_times]
    cells = [fault for fault in intake.faults if FAR in fault.why]
    count = sum(scan.far_times for scan in logs) + len(cells)
    if not count:
        return []
    places = [scan.address for scan in logs] + [f"{cell.address}:{cell.line}" for cell in cells]
    return [f"at least {count_noun(count, 'time')} {FAR}, the first in {places[0]}"]
