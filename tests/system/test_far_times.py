"""Times outside the years that are read: a clock that was never set, a counter, damage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.artefacts import logtime
from analyzer.artefacts.logtime import FAR, FIRST_YEAR, LAST_YEAR
from analyzer.artefacts.tables import Block, Column, ColumnValueError, convert_cell
from analyzer.parsers.common._x509 import read_certificates
from analyzer.parsers.esxtop._esxtop_cells import read_time as read_esxtop_time
from tests.kit import every_form, fuzz_kit, hostile

CASES = (
    ("cpu-limited-vm", "0000"),
    ("nsx-633-site", "9999"),
    ("slow-storage", "0001"),
    ("healthy-host", "1969"),
    ("windows-guest", "2101"),
)
SECONDS = (-1, -(1 << 31), (1 << 31) - 1, 1 << 32, 1 << 63, -(1 << 63), (1 << 64) - 1, 1e300)
YEAR = re.compile(rb"(?<![\d.])20[012]\d(?=[-/](?:[01]\d)[-/][0-3]\d|\.[01]\d\.)")
EPOCH = re.compile(rb"(?<=>)1[45]\d{11}(?=<)")
UPTIME = re.compile(rb"up \d+ days")
ISO = re.compile(r"(?:(?:19[7-9]\d|20\d\d|2100)-\d\d-\d\dT\d\d:\d\d:\d\dZ)?")
TIMES = {"created", "captured", "first", "last", "time", "first_seen", "last_seen"}


def list_times(value: Any, key: str = "") -> Iterator[str]:
    """Yield what a document holds as times."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from list_times(one, name)
    elif isinstance(value, list):
        for one in value:
            yield from list_times(one, key)
    elif key in TIMES and isinstance(value, str) and value[:1].isdigit():
        yield value


@given(st.datetimes(datetime.min, datetime.max), st.sampled_from(("Z", "+14:00", "-12:00")))
def test_every_reader_has_the_same_range(when: datetime, zone: str) -> None:
    """What any reader gives can be moved by days and is ISO with four digits; outside the range none gives anything."""
    day, clock = f"{when.year:04d}-{when:%m-%d}", f"{when:%H:%M:%S}"
    stamp = f"{day}T{clock}{zone}"
    found = logtime.log_time(stamp)
    given_time = logtime.read_given_time(stamp)
    value = logtime.read_time(stamp)
    assert (found is None) == (given_time is None) == (value is None)
    assert logtime.format_iso(stamp) == (given_time or "")
    if FIRST_YEAR < when.year < LAST_YEAR:
        assert found is not None
    if not FIRST_YEAR - 1 <= when.year <= LAST_YEAR + 1:
        assert found is None
        assert logtime.is_far_stamp(stamp.encode())
        with pytest.raises(ColumnValueError, match=FAR):
            convert_cell(Column("seen", "time", "when it was seen"), stamp)
        with pytest.raises(logtime.FarTimeError):
            read_esxtop_time(f"{when:%m/%d}/{when.year:04d} {clock}")
        day_first = f"{when:%b %d} {clock} {when.year:04d} GMT"
        assert logtime.read_time(day_first) is None


@pytest.mark.parametrize("seconds", SECONDS)
def test_seconds_have_the_same_range(seconds: float) -> None:
    """A counter that was taken for a time is none."""
    found = logtime.moment_of_seconds(seconds)
    assert found is None or FIRST_YEAR <= found.year <= LAST_YEAR
    booted = logtime.moment_before("2017-10-14T16:53:00Z", seconds)
    assert booted is None or FIRST_YEAR <= booted.year <= LAST_YEAR


def spoil_times(material: fuzz_kit.Material, year: str) -> fuzz_kit.Material:
    """Return a case in which every printed year is another, in names as well, and counters are far too large."""
    said = year.encode()
    found = {}
    for name, raw in material.items():
        text = EPOCH.sub(said[:1] * 14, YEAR.sub(said, raw))
        text = UPTIME.sub(b"up 999999999 days", text)
        found[YEAR.sub(said, name.encode()).decode()] = text
    return found


@pytest.mark.size
@pytest.mark.parametrize(("case", "year"), CASES)
def test_a_case_of_another_age_is_read(case: str, year: str, tmp_path: Path) -> None:
    """Nothing fails inside, no form shows a wrong time, and the case says how many times it left out."""
    path = fuzz_kit.written(spoil_times(fuzz_kit.sound(case), year), tmp_path)
    with hostile.rules_read_once():
        document = hostile.ask(path).document
    assert document is not None
    wrong = [text for text in list_times(msgspec.to_builtins(document)) if not ISO.fullmatch(text)]
    assert not wrong
    assert every_form.render_forms(document)
    said = [note for note in document.notes if FAR in note]
    warned = [text for node in document.nodes for text in node.warnings if FAR in text]
    assert len(said) == 1, document.notes
    assert warned or not any(YEAR.search(name.encode()) for name in fuzz_kit.sound(case))


def test_a_certificate_may_hold_for_ever() -> None:
    """The year 9999 as the end of a certificate is no wrong clock: it is kept as the last year that is read."""
    text = "Issuer: CN = ca\nNot Before: Jan  5 12:00:00 2024 GMT\nNot After : Dec 31 23:59:59 9999 GMT\n"
    [(_, cells)] = read_certificates(Block(text.splitlines(), 1, "x"), "openssl")
    assert cells["valid_until"] == "2100-12-31 23:59:59"
