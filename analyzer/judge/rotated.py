"""The members of one log, and whether a rotated copy among them is missing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from analyzer.artefacts.logtime import log_time
from analyzer.judge.log_hits import EPOCH
from analyzer.scan.hits import LogScan

# vmkernel.log, vmkernel.0.gz, vmkernel.log.1.gz, messages.2: stem and number of a rotated copy
_NAME = re.compile(
    r"(?P<stem>.+?)(?:\.(?P<dot>\d{1,4}))?(?:\.(?:log|all))?(?:\.(?P<end>\d{1,4}))?(?:\.(?:gz|bz2|xz|zst))?$"
)
PAUSE_S = 60  # between the last line of a copy and the first of the next


def raw_time(line: bytes) -> float | None:
    """Return the seconds of the epoch at which a raw line was written, None when it does not tell."""
    when = log_time(line)
    return (when.when - EPOCH).total_seconds() if when else None


def hole(scans: Sequence[LogScan], begin: float) -> str:
    """Return in words which copy between two others is missing, if lines after `begin` may have stood in it.

    Copies are numbered from the newest on; the current file has no number. Whether counting starts with 0 or 1
    differs: there a pause between the times tells.
    """
    families: defaultdict[str, dict[int, LogScan]] = defaultdict(dict)
    for scan in scans:
        stem, number = _numbered(scan.address)
        families[stem].setdefault(number, scan)
    return next(
        (why for _, copies in sorted(families.items()) for why in _missing(copies, begin)), ""
    )


def _numbered(address: str) -> tuple[str, int]:
    folder, slash, name = address.rpartition("/")
    found = _NAME.match(name)
    if found is None:
        return address, -1
    number = found["dot"] or found["end"]
    return f"{folder}{slash}{found['stem']}", int(number) if number else -1


def _missing(copies: dict[int, LogScan], begin: float) -> Iterator[str]:
    numbers = sorted(copies)
    for newer, older in pairwise(numbers):
        first, last = raw_time(copies[newer].first_stamped), raw_time(copies[older].last_stamped)
        if older - newer == 1 or (first is not None and first <= begin):
            continue
        paused = first is not None and last is not None and first - last > PAUSE_S
        if (newer, older) == (-1, 1) and not paused:
            continue
        which = f"{newer + 1}" if older - newer == 2 else f"{newer + 1} to {older - 1}"
        yield f"the rotated copy {which} between {copies[older].address} and {copies[newer].address} is not in the case"
