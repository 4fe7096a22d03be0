"""The time of a log line, in every form the references name."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.artefacts.logtime import log_time, read, stamped
from analyzer.artefacts.tables import Column, ColumnValueError, convert
from analyzer.cli import main
from analyzer.facts.database import timestamp
from analyzer.forms.logs import read_utc
from tests.kit.rule_kit import BASE, Kit, rule

CASES = [
    ("2021-03-08T14:49:25.123Z cpu1:2097465)x", None, "2021-03-08T14:49:25.123000", ()),
    ("2021-03-08T14:49:25Z shell[1]: x", None, "2021-03-08T14:49:25", ()),
    ("2021-03-08T14:49:25.123456+02:00| vmx| x", None, "2021-03-08T12:49:25.123456", ()),
    ("2021-03-08T14:49:25.1-0530 x", None, "2021-03-08T20:19:25.100000", ()),
    ("2016-05-23 23:36:34.736 GMT+00:00  WARN x", None, "2016-05-23T23:36:34.736000", ()),
    ("2016-05-23 23:36:34.736 GMT-08:00  WARN x", None, "2016-05-24T07:36:34.736000", ()),
    ("2016-05-23 23:36:34.736 UTC INFO x", None, "2016-05-23T23:36:34.736000", ()),
    ("2016-05-23 23:36:34.736 PDT INFO x", None, "2016-05-23T23:36:34.736000", ("zone",)),
    (
        "2015-05-30 13:25:07,382 47956539 [SyncThread:1] WARN x",
        None,
        "2015-05-30T13:25:07.382000",
        ("zone",),
    ),
    ("2015-05-30 13:25:07 -17 is no offset here", None, "2015-05-30T13:25:07", ("zone",)),
    (
        "[2011-04-01 15:14:34.203 F5A5AB90 info 'vm:x'] y",
        None,
        "2011-04-01T15:14:34.203000",
        ("zone",),
    ),
    ("<166>2022-11-04T15:01:58.230Z HOST Hostd: x", None, "2022-11-04T15:01:58.230000", ()),
    ("<14>1 2021-03-08T14:49:25.1+00:00 vc vpxd 5 - -  x", None, "2021-03-08T14:49:25.100000", ()),
    (
        "D0525 13:46:07.185200 31975 rpc-broker.cc:369] x",
        2015,
        "2015-05-25T13:46:07.185200",
        ("year", "zone"),
    ),
    (
        "INFO.20150530-000550.1774:D0530 13:25:29.452639 1983 z.cc:774] x",
        None,
        "2015-05-30T13:25:29.452639",
        ("zone",),
    ),
    ("Jan  8 04:35:00 NSXMGR x", 2017, "2017-01-08T04:35:00", ("year", "zone")),
    ("Feb 29 00:00:00 h vmkernel: x", 2016, "2016-02-29T00:00:00", ("year", "zone")),
    ("Mar 08 14:49:25.123: vmx| x", 2021, "2021-03-08T14:49:25.123000", ("year", "zone")),
    ("\x00\x002021-03-08T14:49:25Z after a hole", None, "2021-03-08T14:49:25", ()),
]


@pytest.mark.parametrize(
    ("line", "year", "when", "assumed"), CASES, ids=lambda value: str(value)[:40]
)
def test_each_form_gives_its_time(
    line: str, year: int | None, when: str, assumed: tuple[str, ...]
) -> None:
    """Text and bytes give the same time in UTC, and what was assumed is named."""
    wanted = datetime.fromisoformat(when).replace(tzinfo=UTC)
    for one in (line, line.encode()):
        time = log_time(one, year)
        assert time is not None
        assert (time.when, time.assumed) == (wanted, assumed)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "--> continued",
        "0000-01-01T00:00:00Z x",
        "2021-02-30T00:00:00Z x",
        "2021-01-01T24:60:00Z x",
        "2021-01-01T23:59:60Z x",
        "9999-12-31T23:59:59-14:00 x",
        "0001-01-01T00:00:00+14:00 x",
        "2021-01-01T00:00:00+99:99 x",
        "Feb 30 00:00:00 x",
        "Jan 99 00:00:00 x",
        "E1345 99:00:00.0 x",
        "TSC: 12345 cpu0:1)x",
        "0:00:00:05.123 cpu0:1)x",
    ],
)
def test_what_is_no_time_gives_none(line: str) -> None:
    """Impossible dates, overflow by a zone, and lines without a stamp give None and never raise."""
    assert log_time(line, 2021) is None


def test_forms_without_a_year_need_one() -> None:
    """Nothing is guessed: without a year from the caller there is no time."""
    assert log_time("Jan  8 04:35:00 NSXMGR x") is None
    assert log_time("D0525 13:46:07.185200 31975 x") is None


@given(
    st.text(max_size=60) | st.text("0123456789-T:.Z+ DIWE<>[]", max_size=40),
    st.integers(-5, 20_000) | st.none(),
)
@settings(max_examples=300, deadline=None)
def test_no_text_raises(line: str, year: int | None) -> None:
    """Any text and any year give a time in UTC or None."""
    time = log_time(line, year)
    assert time is None or time.when.tzinfo is UTC


@pytest.mark.parametrize(
    ("line", "year", "_when", "_assumed"), CASES[:-1], ids=lambda value: str(value)[:40]
)
def test_a_line_with_a_time_is_stamped(
    line: str, year: int | None, _when: str, _assumed: tuple[str, ...]
) -> None:
    """The quick look for a stamp, used for the span of a log, knows every form."""
    assert stamped(line.encode())
    assert not stamped(b"--> " + line.encode())


FORMS = [
    ("Jan  5 12:00:00 2024 GMT", "2024-01-05 12:00:00"),  # openssl x509 -dates
    ("Jan 15 12:00:00 2024 GMT", "2024-01-15 12:00:00"),
    ("2024-01-05T12:00:00.123Z", "2024-01-05 12:00:00.123"),
    ("2024-01-05T12:00:00.123456789Z", "2024-01-05 12:00:00.123456"),
    ("2024-01-05 12:00:00 +0000 UTC", "2024-01-05 12:00:00"),  # Go
    ("2024-01-05 04:00:00 -0800 PST", "2024-01-05 12:00:00"),
    ("Fri Jan  5 12:00:00 UTC 2024", "2024-01-05 12:00:00"),  # date
    ("Fri Jan  5 12:00:00 2024", "2024-01-05 12:00:00"),
    ("Fri, 05 Jan 2024 12:00:00 GMT", "2024-01-05 12:00:00"),
    ("Fri, 05 Jan 2024 13:00:00 +0100", "2024-01-05 12:00:00"),
    ("2024-01-05T13:30:00.5+01:30", "2024-01-05 12:00:00.5"),  # RFC 5424
    ("2024-01-05T05:00:00-07", "2024-01-05 12:00:00"),
    ("2024-01-05 12:00:00,382", "2024-01-05 12:00:00.382"),
    ("2024-01-05 12:00:00", "2024-01-05 12:00:00"),
    ("2024-02-29T23:59:59-00:01", "2024-03-01 00:00:59"),
]
NO_TIMES = [
    "", "soon", "2024-01-05", "12:00:00", "2024-02-30 12:00:00", "2024-01-05 25:00:00", "Feb 30 12:00:00 2024 GMT",
    "Jan  5 12:00:00", "Fri Jan  5 12:00:00 CET 2024", "2024-01-05 12:00:00 CET", "0000-01-01 00:00:00",
    "2024-01-05 12:00:00 +9999", "1704456000", "2024-01-05T12:00:00Z and more", "0001-01-01 00:00:00 +2300",
]  # fmt: skip


@pytest.mark.parametrize(("text", "when"), FORMS)
def test_a_column_of_times_reads_what_logs_and_certificates_print(text: str, when: str) -> None:
    """One grammar for cells, groups of signatures, lines and what reaches the database: all in UTC."""
    column = Column("until", "time", "end of a certificate")
    assert convert(column, text) == when
    assert read(text) == when
    kept = timestamp(text)
    assert kept is not None
    assert datetime.fromisoformat(kept[:26]) == datetime.fromisoformat(when)
    assert read_utc(text) == when


@pytest.mark.parametrize("text", [text for text in NO_TIMES if text])
def test_what_is_no_time_is_refused_and_never_guessed(text: str) -> None:
    """Days that do not exist, a stamp without a year, the name of a zone that has several offsets: no time."""
    with pytest.raises(ColumnValueError):
        convert(Column("until", "time", ""), text)


@given(st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1)), st.integers(-14 * 60, 14 * 60))
def test_every_form_of_one_moment_is_the_same_moment(when: datetime, minutes: int) -> None:
    """Written with any offset, as `date`, as a certificate or as Go print it, a moment reads the same."""
    when = when.replace(microsecond=0)
    local = when.replace(tzinfo=UTC).astimezone(timezone(timedelta(minutes=minutes)))
    want = f"{when:%Y-%m-%d %H:%M:%S}"
    for text in (
        local.isoformat(),
        f"{local:%Y-%m-%d %H:%M:%S %z} XYZ",
        f"{local:%a, %d %b %Y %H:%M:%S %z}",
        f"{when:%b} {when.day:>2} {when:%H:%M:%S %Y} GMT",
        f"{when:%a %b} {when.day:>2} {when:%H:%M:%S} UTC {when.year}",
    ):
        assert read(text) == want


@given(st.text(max_size=60))
def test_no_text_breaks_the_reading_of_times(text: str) -> None:
    """Any text is a time or none; a time that was read reads as itself."""
    found = read(text, any_zone=True)
    assert found is None or read(found) == found


def test_a_rule_compares_times_of_certificates(tmp_path: Path) -> None:
    """Through `backline triage`: a signature's group of kind `time` in openssl's form is a moment like any other."""
    log = tmp_path / "esx-a-2024-01-05--18.00" / "var" / "run" / "log" / "hostd.log"
    log.parent.mkdir(parents=True)
    synthetic = (
        "2024-01-05T12:00:00.000Z info hostd[1] [Originator@6876 sub=Default] cert {} until {}\n"
    )
    dates = [
        ("old", "Jan  5 12:00:00 2023 GMT"),
        ("new", "Jan  5 12:00:00 2034 GMT"),
        ("zoned", "Jan  5 12:00:00 2023 CET"),
    ]
    log.write_text("".join(synthetic.format(*one) for one in dates))
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "ends.yaml").write_text(
        "rule: ends\ntitle: A certificate ran out\neach: c in cert per name\nlogs:\n  cert:\n    in: esxi.hostd\n"
        "    match: 'cert (?P<name>\\w+) until (?P<until>.+)'\n    columns: {until: time}\n"
        'subject: "{c.name}"\nwhen: c.until < c.time\n'
        'outcomes: [{when: true, severity: warning, say: "It ran out at {c.until}."}]\nask: hostd.log\n'
    )
    out = tmp_path / "out"
    asked = ["triage", str(log.parents[3]), "--kb", str(tmp_path / "kb"), "-o", str(out)]
    assert CliRunner().invoke(main, asked, catch_exceptions=False).exit_code in (0, 1, 5)
    case = json.loads((out / "case.json").read_text())
    found = [(one["subject"], one["say"]) for one in case["findings"] if one["rule"] == "ends"]
    assert found == [("old", "It ran out at 2023-01-05 12:00:00 UTC.")]
    assert any(
        "ends" in one["rules"] for one in case["cannot_tell"]
    )  # the offset of CET is not guessed


def test_a_time_written_in_a_rule_may_have_an_offset() -> None:
    """It is the moment in UTC that is compared, in every form that columns read."""
    for text in ("2024-01-05T13:00:00+01:00", "Jan  5 12:00:00 2024 GMT"):
        one = rule(f'one.at == "{text}"')
        assert Kit().add(BASE, [{"key": 1, "at": "2024-01-05 12:00:00"}]).counts(one) == {
            "match": 1
        }
