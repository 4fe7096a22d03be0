"""A log that does not reach the incident clears nobody of it: what it lacks cannot be told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.ingest.test_incident import triage, vmkernel, vobd

BUSY = [vmkernel(day, hour) for day in (10, 11, 12) for hour in range(24)]
RULE = "hostd-does-not-respond"  # asks vmkernel.log
EVENT = "esx-event"  # asks vobd.log


def unanswered(doc: dict[str, Any]) -> dict[str, str]:
    """Return the rules that cannot tell, each with its first reason."""
    return {rule: group.why for group in reversed(doc.cannot_tell) for rule in group.rules}


def quiet(doc: dict[str, Any]) -> set[str]:
    """Return the rules that found nothing."""
    return {one.rule for one in doc.quiet if one.looked_at}


@pytest.mark.parametrize(
    ("incident", "said"),
    [
        ("2017-10-13 09:00", "ends at 2017-10-12 23:00:00 UTC, before the incident"),
        ("2017-10-09 09:00", "begins at 2017-10-10 00:00:00 UTC, after the incident"),
    ],
)
def test_a_log_that_ends_or_begins_on_the_wrong_side_is_never_clean(
    tmp_path: Path, incident: str, said: str
) -> None:
    """Its rules are asked as if the log were not there, and the log of the time is asked for."""
    doc, shown = triage(tmp_path, {"vmkernel.log": BUSY}, "--incident", incident)
    assert said in unanswered(doc)[RULE]
    assert RULE not in quiet(doc)
    assert "/var/log/vmkernel.log with its rotated copies" in shown


def test_without_an_incident_and_inside_the_log_the_silence_counts(tmp_path: Path) -> None:
    """Nothing changes where nobody asks about a time, and where the log has lines around it."""
    assert RULE in quiet(triage(tmp_path / "a", {"vmkernel.log": BUSY})[0])
    assert RULE in quiet(
        triage(tmp_path / "b", {"vmkernel.log": BUSY}, "--incident", "2017-10-11 09:30")[0]
    )


def test_a_rotated_copy_that_is_missing_at_the_incident_is_named(tmp_path: Path) -> None:
    """The stretch between the two files that are there is what cannot be told."""
    files = {"vmkernel.log": BUSY[60:], "vmkernel.1.gz": BUSY[:20]}
    doc, _ = triage(tmp_path, files, "--incident", "2017-10-11 09:30")
    why = "has nothing from 2017-10-10 19:00:00 UTC to 2017-10-12 12:00:00 UTC, where the incident lies"
    assert why in unanswered(doc)[RULE]


def test_a_log_that_is_seldom_written_is_silent_while_others_go_on(tmp_path: Path) -> None:
    """vobd.log of a quiet host has a line a day; while vmkernel.log covers the time, its silence is silence."""
    files = {
        "vmkernel.log": BUSY,
        "vobd.log": [vobd(10, 0, "esx.audit.a"), vobd(12, 0, "esx.audit.a")],
    }
    doc, _ = triage(tmp_path / "a", files, "--incident", "2017-10-12 20:00")
    assert EVENT not in unanswered(doc)
    doc, _ = triage(tmp_path / "b", files, "--incident", "2017-10-14 20:00")
    assert (
        "the log vobd of esx0.lab.example ends at 2017-10-12 00:00:00 UTC" in unanswered(doc)[EVENT]
    )


def test_what_a_log_does_hold_stays_found(tmp_path: Path) -> None:
    """A line that was seen is evidence wherever the incident lies."""
    line = "2017-10-11T09:40:00.114Z cpu3:2097616)ALERT: hostd detected to be non-responsive"
    doc, _ = triage(
        tmp_path, {"vmkernel.log": sorted([*BUSY, line])}, "--incident", "2017-10-13 09:00"
    )
    assert RULE in {finding.rule for finding in doc.findings}
