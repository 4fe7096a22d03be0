"""Entries of closed lists: what no table of facts names is a signal in the words of its source, with its severity.

All ids and lines are made up, in the forms of the parsers that declare the lists.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from analyzer.case.verdicts import Finding
from analyzer.signals.entries import find_entry, list_entry_signs, write_stems
from analyzer.signals.lines import LineCounter, classify_line
from analyzer.signals.severities import weigh_severity
from analyzer.signals.stems import LEAST
from tests.kit.together import together
from tests.signals.test_cells import Cells, find_signals, say_found

STAMP = "2024-03-05T13:00:00.123Z"
ALARM: Cells = {
    "alarm_id": "a1",
    "event_type": "frob_stuck",
    "alarm_summary": "Frob 3 does not turn",
    "alarm_severity": "HIGH",
    "alarm_status": "ACKNOWLEDGED",
}


def tell_entries(
    table: str, *rows: Cells, findings: Sequence[Finding] = ()
) -> list[tuple[float, str]]:
    """Return weight and sentence of the signals of some rows."""
    return [(one["weight"], one["what"]) for one in find_signals({table: rows}, findings)]


def tell_record(text: str) -> list[tuple[float, str]]:
    """Return the signals of a record of the management controller."""
    return tell_entries("esxi.ipmi_sel", {"sel_message": text, "is_asserted": True})


@together(
    "text, weight",
    (
        ("Assert + Frobnicator Turned", 3.0),
        ("Assert + Module/Board Transition to Non-recoverable", 6.5),
        ("Assert + Frobnicator Transition to Critical from less severe", 5.5),
        ("Assert + Frobnicator failed", 4.0),
    ),
)
def test_a_record_that_no_fact_names_is_told(text: str, weight: float) -> None:
    """The severity that it prints counts, else its words, else that it was raised at all."""
    assert tell_record(text) == [(weight, f"hardware event {text}")]


@together(
    "text",
    (
        "Assert + Drive Presence",
        "Assert + Power Supply Presence detected",
        "Assert + Event Logging Disabled Log area reset/cleared",
        "Assert + System Boot Initiated Initiated by power up",
        "Assert + System ACPI Power State S0/G0 working",
        "Assert + Frobnicator Transition to OK",
    ),
)
def test_what_any_machine_records_is_no_signal(text: str) -> None:
    """Parts that are present and machines that were switched on are no trouble."""
    assert tell_record(text) == []


def test_an_alarm_is_told_in_its_own_words_until_it_is_resolved() -> None:
    """Somebody has seen it, and it stands; resolved and suppressed ones say nothing, and none is told twice."""
    told = tell_entries("nsxt.alarm", ALARM)
    assert told == [(4.5, "alarm frob_stuck: Frob 3 does not turn (HIGH)")]
    for status in ("RESOLVED", "SUPPRESSED"):
        assert tell_entries("nsxt.alarm", {**ALARM, "alarm_status": status}) == []
    assert tell_entries("nsxt.alarm", {**ALARM, "alarm_severity": "LOW"}) == []


def test_an_entry_whose_row_a_finding_shows_is_explained() -> None:
    """Whichever of its cells the finding shows."""
    shown = say_found("case!nsxt.alarm", 1, "a.alarm_status = ACKNOWLEDGED")
    assert tell_entries("nsxt.alarm", ALARM, findings=[shown]) == []


def test_rows_of_one_long_line_are_explained_one_by_one() -> None:
    """JSON on one line holds many alarms: only the one whose cells a finding shows is explained."""
    shown = say_found("case!nsxt.alarm", 1, "a.alarm_status = OPEN")
    shown.evidence = [replace(one, text="x" * 600) for one in shown.evidence]
    opened = {**ALARM, "alarm_status": "OPEN"}
    assert tell_entries("nsxt.alarm", opened, findings=[shown]) == []
    assert len(tell_entries("nsxt.alarm", ALARM, findings=[shown])) == 1


LINES = (
    (
        f'{STAMP} nsx1 NSX 4321 SYSTEM [nsx@6876 comp="nsx-manager" errorCode="XYZ98765" level="INFO" '
        'subcomp="manager"] Frob of this node',
        "error code",
    ),
    (f"{STAMP}| vmx| I125: [msg.frob.moved] The frob was moved.", "message to the user"),
    (
        "2024-03-05 13:35:00.422 GMT+00:00  INFO Executor-18 SystemEventDaoImpl:133 - [SystemEvent] Time:'Tue Mar 05 "
        "13:35:00.410 GMT+00:00 2024', Severity:'High', Event Source:'Frob', Code:'999024', Event Message:'Turned.', "
        "Module:'Frob', Universal Object:'false'",
        "severity High",
    ),
)


@together("line, reason", LINES)
def test_a_line_that_names_an_entry_is_counted(line: str, reason: str) -> None:
    """Also without a word of trouble and at the level of information; an excerpt and a whole log agree."""
    kind = classify_line(line)
    assert kind.weight >= LEAST
    assert reason in kind.why
    assert LineCounter(lambda _line: False).name_kinds([line.encode()]) == [kind.write_key()]


@together("line, reason", LINES)
def test_the_search_proposes_such_a_line(line: str, reason: str) -> None:
    """Its pattern holds those that declare the lists."""
    assert re.search(write_stems(), line), reason


def test_an_entry_of_no_severity_adds_nothing() -> None:
    """An event that its source calls informational is none."""
    line = LINES[2][0].replace("'High'", "'Informational'")
    assert classify_line(line).weight < LEAST
    entry = find_entry(line)
    assert entry is not None
    assert entry.weight == 0


def test_lines_of_any_kind_name_no_entry() -> None:
    """A hint that was not shown, and a code that is empty."""
    for line in (
        f"{STAMP}| vmx| I125: MsgHint: msg.frob.hint (not shown)",
        f'{STAMP} nsx1 NSX 1 - [nsx@6876 comp="nsx-edge" errorCode="" level="INFO"] done',
    ):
        assert find_entry(line) is None


def test_every_log_with_such_a_list_declares_it() -> None:
    """The signs of logs have a pattern with the entry."""
    assert len(list_entry_signs()) >= len(LINES)
    for sign, pattern in list_entry_signs():
        assert sign.title
        assert "entry" in pattern.groupindex


@together(
    "word, weight",
    (
        ("Fatal", 6.5),
        ("Non-recoverable", 6.5),
        ("CRITICAL", 5.5),
        ("Non-critical", 3.3),
        ("HIGH", 4.5),
        ("Medium", 3.3),
        ("Informational", 0.0),
        ("frob", None),
    ),
)
def test_severities_weigh_as_their_sources_mean_them(word: str, weight: float | None) -> None:
    """Whatever the case of their letters."""
    assert weigh_severity(word) == weight
