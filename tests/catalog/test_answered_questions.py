"""A question of a VM is open until its last one was answered, and the answer to another VM ends nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.facts import Facts
from analyzer.judge import judge
from analyzer.rules import Catalog
from analyzer.scan.signatures import Scanner

ASKED = {
    "vm-out-of-space": (
        "info hostd[1] [Originator@6876 sub=Vmsvc.vm:/vmfs/volumes/ds 1/{vm}/{vm}.vmx] Question: "
        "msg.hbacommon.outofspace:There is no more space for virtual disk '{vm}.vmdk'. You might be able"
    ),
    "vm-waits-for-answer": (
        "info hostd[1] [Originator@6876 sub=Vimsvc.ha-eventmgr] Event 90 : Message on {vm} on esx1.example.com in "
        "ha-datacenter: This virtual machine might have been moved or copied."
    ),
}
ANSWERED = (
    "info hostd[1] [Originator@6876 sub=Vmsvc.vm:/vmfs/volumes/ds 1/{vm}/{vm}.vmx] Answered question 3",
    "info hostd[1] [Originator@6876 sub=Vmsvc.vm:/vmfs/volumes/ds 1/{vm}/{vm}.vmx opID=a user=root] "
    "Answered user-visible question 3",
    "info hostd[1] [Originator@6876 sub=Vimsvc.ha-eventmgr] Event 91 : Answered user-visible question 3 on {vm}",
)
EVENTS = st.lists(
    st.tuples(st.sampled_from(["vm a", "vm-b"]), st.sampled_from(["ask", *ANSWERED])),
    min_size=1,
    max_size=8,
)


def states(rule_id: str, lines: list[str]) -> dict[str, str]:
    """Return what a shipped rule says of lines of hostd.log: object -> over, or open."""
    (rule,) = [one for one in rules.load().rules if one.id == rule_id]
    facts = Facts(parsing.tables())
    facts.node("esx1", "esx1", "esxi")
    scan = Scanner(Catalog([rule]).signatures(), engine="pure").scan_lines(
        lines, "esxi.hostd", "hostd.log"
    )
    facts.add_hits(scan.named("esx1"))
    found = judge(Catalog([rule]), facts).findings
    return {
        one.subject.removesuffix(".vmdk"): "over" if "was answered a" in one.say else "open"
        for one in found
    }


@pytest.mark.parametrize("rule_id", ASKED)
@settings(max_examples=40, deadline=None)
@given(EVENTS)
def test_a_question_is_open_until_an_answer_follows_it(
    rule_id: str, events: list[tuple[str, str]]
) -> None:
    """For each VM: open when nothing answered it after its last question, whatever another VM was answered."""
    lines, state = [], {}
    for second, (vm, kind) in enumerate(events):
        text = (ASKED[rule_id] if kind == "ask" else kind).format(vm=vm)
        lines.append(f"2023-05-10T13:41:{second:02}.000Z {text}")
        if kind == "ask":
            state[vm] = "open"
        elif vm in state:
            state[vm] = "over"
    found = states(rule_id, lines)

    assert found == state
