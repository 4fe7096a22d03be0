"""A message over many lines has its time and its thread on the first; what matches below belongs to that moment.

The lines follow the forms of the format reference; all of them are made up.
"""

from __future__ import annotations

import pytest

from analyzer.artefacts.parsing import registry
from analyzer.artefacts.tables import Block, Row
from tests.kit.rule_kit import BASE, Kit, full

RULE = """\
rule: made-up
title: A made-up fault
each: one in esxi.base
logs:
  fail: {in: esxi.made_up_log, match: 'fault = timeout'}
seen:
  it: {log: fail, at_least: 3, within: 10m}
when: it
outcomes:
  - {when: true, severity: major, say: "{it.count}"}
evidence: [it]
"""


def message(minute: int, above: int) -> str:
    """Return a message that ends in a brace, with the fault so many lines below its head."""
    more = "\n".join(f"-->    key{n} = {n}," for n in range(above))
    return f"2017-10-02T08:{minute:02}:00.000Z info (vim.event) {{\n{more}\n-->    fault = timeout\n--> }}\n"


@pytest.mark.parametrize("above", [0, 1, 5, 30])
def test_a_hit_below_the_head_has_the_time_of_the_head(above: int) -> None:
    """Three faults in ten minutes are told from three in forty, however far below their heads they stand."""
    for minutes, verdict in (((1, 4, 9), "match"), ((1, 20, 40), "no_match")):
        one = full(RULE)
        kit = Kit().add(BASE, [{"key": 1}])
        kit.log(one, "".join(message(minute, above) for minute in minutes))
        assert kit.counts(one) == {verdict: 1}


@pytest.mark.parametrize(
    ("name", "program"), [("hostd", "Hostd"), ("vpxa", "Vpxa"), ("fdm", "Fdm")]
)
def test_a_continuation_with_a_head_of_its_own_keeps_time_and_thread(
    name: str, program: str
) -> None:
    """From 8.0 on each line of a message has a head: a line by itself tells when it was written, and by whom."""
    line = f"2023-05-04T10:11:12.345Z In(166) {program}[2099871]: -->    key = 7"

    (row,) = (item for item in registry()[name].parse(Block([line])) if isinstance(item, Row))

    assert row.values["time"] == "2023-05-04 10:11:12.345"
    assert row.values["thread"] == "2099871"
    assert str(row.values["message"]).startswith("-->")


def test_a_folded_message_tells_how_often_it_was_written() -> None:
    """`message repeated N times: [ … ]` of a syslog daemon: the number is a column, the brackets are no text."""
    line = (
        "2023-05-04T10:11:12.345Z esx1 nsxa: message repeated 5 times: "
        '[ NSX 2100 - [nsx@6876 comp="nsx-esx" level="WARN"] port is down]'
    )

    rows = [
        item for item in registry()["nsxt_syslog"].parse(Block([line])) if isinstance(item, Row)
    ]

    assert [row.values["repeated"] for row in rows] == [5]
    assert rows[0].values["message"] == "port is down"
