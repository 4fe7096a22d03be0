"""Behind every closed list stands a general row or rule: what no row names is said once, in the words of the source."""

from __future__ import annotations

import pytest

from analyzer import rules
from analyzer.artefacts.tables import Block, Row
from analyzer.rules.model import SAME_LINE
from parsers.esxi.hardware import ipmi_sel

# the table of rows -> the rule that takes what none of them names
GENERAL = {
    "kb.esxi_event": "esx-event-unknown",
    "kb.ipmi_fault": "hardware-fault-logged",
    "kb.iscsi_login": "kb-2012171",
    "kb.nsxt_alarm": "nsxt-alarm-unknown",
    "kb.nsxt_error_code": "nsxt-error-code-unknown",
    "kb.nsxt_event": "nsxt-event-unknown",
    "kb.nvme_status": "nvme-status",
    "kb.scsi_status": "scsi-status",
}


def test_every_general_rule_stands_back() -> None:
    """A rule for what the catalog does not know joins the rows it leaves out, and comes after what rests on its lines."""
    known = {rule.id: rule for rule in rules.load().rules}
    wrong = []
    for table, name in GENERAL.items():
        rule = known[name]
        if table not in {alias.table.name for alias in rule.aliases.values()}:
            wrong.append(f"{name} does not look at {table}")
        if rule.fact == "" and SAME_LINE not in rule.explained_by:
            wrong.append(f"{name} may say twice what another rule says")

    assert not wrong


@pytest.mark.parametrize(
    ("event", "kind", "gravity"),
    [
        ("Processor Transition to Non-recoverable", "111 (Unknown)", "fatal"),
        ("Module/Board State Asserted", "7 (Fatal/NonRecoverable)", "fatal"),
        ("Temperature Transition to Critical from Non-recoverable", "111 (Unknown)", "critical"),
        ("Fan Transition to Non-critical from more severe", "111 (Unknown)", "non-critical"),
        ("Current Upper Critical going high", "1 (Threshold)", "critical"),
        ("Current Upper Critical going low", "1 (Threshold)", None),
        ("Fan Lower Non-recoverable going low", "1 (Threshold)", "fatal"),
        ("Power Supply Failure detected", "111 (Unknown)", "fault"),
        ("Power Supply Presence detected", "111 (Unknown)", None),
        ("Chassis Transition to OK", "111 (Unknown)", None),
        ("Event Logging Disabled Log area reset/cleared", "1 (Other)", None),
    ],
)
def test_a_record_says_how_grave_it_is(event: str, kind: str, gravity: str | None) -> None:
    """The words of the IPMI specification for states and thresholds decide; presence and a return to normal are nothing."""
    lines = [
        "Record:1:",
        "   Record Id: 1",
        "   When: 2022-03-01T04:12:55",
        f"   Event Type: {kind}",
        "   SEL Type: 2 (System Event)",
        f"   Message: Assert + {event}",
        "   Sensor Number: 7",
    ]
    (row,) = (
        one for one in ipmi_sel.parse_block(Block(lines, 1, "sel.txt")) if isinstance(one, Row)
    )

    assert row.values["sel_gravity"] == gravity
