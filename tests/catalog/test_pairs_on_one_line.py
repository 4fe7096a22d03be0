"""Two findings that rest on one line have a relation: a cause, one story, or a row that says what each adds."""

from __future__ import annotations

import pytest

from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.authoring.proof.overlaps import TABLE, Overlap, list_pairs, list_relations
from analyzer.judge import judge
from analyzer.pipeline import examples
from analyzer.rules import Catalog, Rule

RULE = """\
rule: {name}
title: The NIC {name}
kb: []
source: made up
revised: 2026-11-29
about: It is made up for this test. Nothing else is.
each: n in esxi.pnic_stats
subject: "{{n.pnic}}"
object: "{object}"
when: n.rx_crc_errors > 0 and n.rx_packets > 0
severity: info
confidence: likely
say: Frames were damaged.
evidence: [{evidence}]
fix: {{host: Look at it.}}
not_this: Nothing.
{more}ask: "`esxcli network nic stats get -n <vmnic>`"
examples:
  match:
    - {{name: one, rows: {{pnic: vmnic0, rx_crc_errors: 1, rx_packets: 5}}}}
"""


def made_rule(name: str, thing: str = "{n.pnic}", more: str = "", shown: str = "n.pnic") -> Rule:
    """Return a rule over the counters of a NIC."""
    text = RULE.format(name=name, object=thing, more=more, evidence=shown)
    return rules.parse(text, tables=parsing.tables())


def shown_pairs(*made: Rule) -> list[tuple[str, str]]:
    """Return the pairs that the examples of some rules show."""
    return [(one.rule, one.beside) for one in list_pairs(made, Catalog([*made]))]


@pytest.fixture(scope="module")
def pairs() -> list[Overlap]:
    """Return the pairs that the examples of the catalog show."""
    catalog = rules.load(examples=True)
    return list(list_pairs(catalog.rules, catalog))


@pytest.mark.size
def test_each_pair_of_the_catalog_on_one_line_has_a_relation(pairs: list[Overlap]) -> None:
    """A new rule says of what other rules it is the sign or the cause, or what it adds."""
    related = list_relations(rules.load())
    assert [one for one in pairs if frozenset((one.rule, one.beside)) not in related] == []


@pytest.mark.size
def test_each_pair_that_is_declared_is_shown_by_an_example(pairs: list[Overlap]) -> None:
    """A row that no example needs any more is taken out again."""
    shown = {frozenset((one.rule, one.beside)) for one in pairs}
    declared = [
        (str(cells["rule"]), str(cells["beside"])) for cells in rules.load().tables[TABLE].own_rows
    ]
    assert declared
    assert [pair for pair in declared if frozenset(pair) not in shown] == []


def test_two_rules_on_one_row_are_a_pair() -> None:
    """Whatever their objects are; each names the other once."""
    assert shown_pairs(made_rule("a"), made_rule("b", "another thing")) == [("a", "b"), ("b", "a")]


def test_a_rule_on_a_line_of_its_cause_is_tied_to_it_whatever_the_objects_are() -> None:
    """A dead path of a device explains the VM that lies on it; the line is what they have in common."""
    cause, sign = made_rule("a"), made_rule("b", "another thing", "explained_by: a\n")
    assert shown_pairs(cause, sign) == []
    facts = examples.facts_of(sign, sign.examples[0])
    found = {one.rule: one for one in judge(Catalog([cause, sign]), facts).findings}
    assert found["b"].explained_by == [found["a"].id]


def test_findings_on_other_lines_and_objects_are_not_tied() -> None:
    """A cause that is named explains nothing when neither object nor line is the same."""
    both = RULE.replace("rows: {{", "rows: [{{").replace(
        "5}}}}", "5}}, {{pnic: vmnic1, rx_crc_errors: 1, rx_packets: 5}}]}}"
    )
    cause, sign = (
        rules.parse(
            both.format(name=name, object="{n.pnic}", more=more, evidence="n.pnic").replace(
                "when: ", f"when: n.pnic == '{nic}' and "
            ),
            tables=parsing.tables(),
        )
        for name, nic, more in (("a", "vmnic0", ""), ("b", "vmnic1", "explained_by: a\n"))
    )
    facts = examples.facts_of(sign, sign.examples[0])
    found = {one.rule: one for one in judge(Catalog([cause, sign]), facts).findings}
    assert found["b"].explained_by == [] and found["a"].subject == "vmnic0"


def test_two_rules_on_the_release_of_a_machine_are_no_pair() -> None:
    """What a host runs says nothing of what it is the sign of."""
    head = RULE.replace("n in esxi.pnic_stats", "n in esxi.release")
    head = head.replace("n.rx_crc_errors > 0 and n.rx_packets > 0", 'n.version == "8.0.1"')
    head = head.replace("{{pnic: vmnic0, rx_crc_errors: 1, rx_packets: 5}}", '{{version: "8.0.1"}}')
    head = head.replace("{{n.pnic}}", "{{n.node}}")
    made = [
        rules.parse(
            head.format(name=name, object="{n.node}", more="", evidence="n.version"),
            tables=parsing.tables(),
        )
        for name in ("a", "b")
    ]
    assert shown_pairs(*made) == []
