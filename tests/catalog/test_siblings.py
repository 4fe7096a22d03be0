"""Siblings: a sign that knows one plug-in, driver, release or log of a family knows the others, or says why not.

All lines are synthetic.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer import rules
from analyzer.authoring.lint import run as lint
from analyzer.authoring.lint import siblings
from analyzer.rules import fact_tables
from tests.kit.lint_kit import check, laid

FAMILIES = siblings.read_families(fact_tables.read_shipped()[siblings.SIBLINGS])
PIECE = """\
logs:
  doubt:
    in: %s
    match: '%s'
when: n.rx_crc_errors > 0 and doubt
"""
HPP = """\
    also:
      - match: 'HPP device "[^"]+" state in doubt'
        source: inferred from the line of NMP
"""
LINE = '2023-03-01T10:00:00.000Z cpu3:2098123)NMP: 12: device "naa.1" in doubt'
EXAMPLE = """\
examples:
  match:
    - name: one
      tables: {esxi.pnic_stats: [{pnic: vmnic0, rx_crc_errors: 5}]}
      logs: {esxi.vmkernel: '%s'}
"""


def told(piece: str, folder: Path) -> list[str]:
    """Return what lint asks of a piece about siblings."""
    return [one.message for one in check(laid(piece), folder) if one.code == "R092"]


def test_a_sign_with_one_form_is_asked_for_the_others(tmp_path: Path) -> None:
    """The complaint names the family, what the sign knows, and what it lacks."""
    piece = PIECE % ("esxi.vmkernel", r'\bNMP device "[^"]+" state in doubt')
    assert told(piece, tmp_path) == ["`doubt` knows NMP (multipathing), and not HPP"]


@pytest.mark.parametrize(
    "piece",
    [
        (PIECE % ("esxi.vmkernel", 'NMP device "[^"]+" state in doubt')).replace("when:", f"{HPP}when:"),
        PIECE % ("esxi.vmkernel", '(?:NMP|HPP) device "[^"]+" state in doubt'),
        PIECE % ("esxi.hostd", 'NMP device "[^"]+" state in doubt'),
        (PIECE % ("esxi.vmkernel", "NMP device .+ in doubt")).replace(
            "    match:", "    # lint: allow R092 because the other plug-in does not say it\n    match:"
        ),
        PIECE % ("esxi.vmkernel", 'device "[^"]+" in doubt') + EXAMPLE % LINE,
    ],
    ids=["a form", "one pattern", "another log", "a reason", "a pattern that names none"],
)  # fmt: skip
def test_a_sign_that_answers_is_not_asked(piece: str, tmp_path: Path) -> None:
    """By a form, by a pattern that takes both, in a log that the family is not in, by a reason, by words of neither."""
    assert told(piece, tmp_path) == []


def test_an_example_of_one_form_asks_too(tmp_path: Path) -> None:
    """A pattern that takes the line of one sibling only by what stands around its name."""
    piece = PIECE % ("esxi.vmkernel", r'\)\wMP: \d+: device "[^"]+" in doubt') + EXAMPLE % LINE
    assert told(piece, tmp_path) == ["`doubt` knows NMP (multipathing), and not HPP"]


@pytest.mark.size
def test_no_shipped_rule_owes_a_form() -> None:
    """The sweep: all rules of the catalog."""
    assert [str(one) for one in lint.check_files() if one.code == "R092"] == []


def test_each_form_is_known_to_a_rule() -> None:
    """A rule that a row names knows the form, and of each other form some rule has the words."""
    catalog = {rule.id: rule for rule in rules.load(examples=True).rules}
    signs = {name: siblings.read_signs(rule) for name, rule in catalog.items()}
    unknown = []
    for family, forms in FAMILIES.items():
        for form in forms:
            asked = [form.rule] if form.rule else list(signs)
            if not any(siblings.find_sign(signs[name], form) for name in asked):
                unknown.append((family, form.name, form.rule))
    assert unknown == []


def test_families_have_more_than_one_form() -> None:
    """A family of one would ask for nothing."""
    assert len(FAMILIES) > 10
    assert all(len(forms) > 1 for forms in FAMILIES.values())
