"""A step that names a release is for older releases of that line, and for no other host."""

from __future__ import annotations

import re
from functools import cache

import pytest

from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.authoring.lint import run as lint
from analyzer.case.verdicts import Fix
from analyzer.facts import Facts
from analyzer.facts.database import version_key
from analyzer.rules import Rule, Step
from tests.kit.lint_kit import codes
from tests.kit.rule_kit import Kit

RULE = """\
rule: made-up
title: A made-up fault
each: disk in esxi.ramdisk
when: disk.ramdisk_free_pct < 10
severity: warning
confidence: likely
say: It was seen.
fix:
  - releases: {esxi: ">=7.0.0 <7.0.2-18426014"}
    where: host
    do: Update to ESXi 7.0 U2c or later.
  - {where: host, do: always}
"""
_NAMED = re.compile(r"\b(\d\.\d) U(\d)([a-z]?)\b")
_RELEASE = re.compile(r"ESXi (\d\.\d) Update (\d)([a-z]?)(?: \((?!Security)[^)]*\))?$")


def steps(*releases: dict[str, object]) -> list[Fix]:
    """Return the steps that are shown on a host of which these releases are known."""
    tables = parsing.tables()
    kit = Kit()
    kit.facts = Facts(tables)
    kit.facts.node("esx1", "esx1", "esxi")
    kit.add(tables["esxi.ramdisk"], [{"ramdisk": "tmp", "ramdisk_free_pct": 1}])
    kit.add(tables["esxi.release"], releases)
    return kit.judge(rules.parse(RULE, tables)).findings[0].fix


@pytest.mark.parametrize(
    ("version", "build", "shown"),
    [
        ("7.0.0", 15843807, True),
        ("7.0.2", 17630552, True),
        ("7.0.2", 18426014, False),
        ("7.0.3", 18644231, False),
        ("8.0.2", 22380479, False),
        ("6.7.0", 15160138, False),
    ],
)
def test_a_step_of_a_release_is_shown_to_older_hosts_of_its_line(
    version: str, build: int, shown: bool
) -> None:
    """Older and of the same line: shown. The release itself, a later line, an earlier line: left out."""
    shown_steps = steps({"version": version, "build": build})

    assert [step.do for step in shown_steps] == [
        *(["Update to ESXi 7.0 U2c or later."] if shown else []),
        "always",
    ]


def test_where_the_release_is_unknown_the_step_says_what_it_is_for() -> None:
    """Without a version in the case the ranges stand before the step."""
    step, _ = steps()

    told = "if ESXi is from 7.0.0 before 7.0.2 build 18426014: Update to ESXi 7.0 U2c or later."
    assert step == Fix("host", do=told)


@pytest.mark.parametrize(
    "do",
    [
        "Update to ESXi 7.0 U2c or later.",
        "Upgrade to 6.2.4.",
        "Install build 22348816.",
        "Patch it to U3o.",
    ],
)
def test_a_release_without_a_condition_is_refused(do: str) -> None:
    """Whatever the verb and the spelling of the release."""
    step = f"fix:\n  - where: host\n    do: {do}\n"

    assert codes(step) == ["R088"]
    assert "R088" not in codes(step + "    releases: {esxi: 6.7.0}\n")


@pytest.mark.parametrize(
    "do", ["Set the TPM to 2.0.", "Update the firmware.", "The default is 5 since 6.7."]
)
def test_a_version_that_is_no_update_needs_no_condition(do: str) -> None:
    """A protocol, a default, an update without a release."""
    assert "R088" not in codes(f"fix:\n  - where: host\n    do: {do}\n")


@pytest.mark.size
def test_no_shipped_step_names_a_release_without_a_condition() -> None:
    """The rules of the catalog, with each text of a table that their steps show."""
    assert [str(one) for one in lint.check_files(None) if one.code == "R088"] == []


@cache
def builds() -> dict[tuple[str, str, str], tuple[str, int]]:
    """Return version and build of each update of ESXi, by its name."""
    table = rules.load().tables["kb.esxi_build"]
    found = {}
    for row in table.own_rows:
        if named := _RELEASE.match(str(row["release"])):
            found[named.groups()] = (str(row["product_version"]), int(str(row["build"])))
    return found


def stepping() -> list[tuple[Rule, Step]]:
    """Return the shipped steps that name an update of ESXi in words of their own."""
    return [
        (rule, step)
        for rule in rules.load().rules
        for step in rule.fix
        if step.do is not None and _NAMED.search(step.do.text) and step.when.op != "literal"
    ]


@pytest.mark.parametrize(
    ("rule", "step"), stepping(), ids=lambda one: one.id if isinstance(one, Rule) else ""
)
def test_the_range_of_a_shipped_step_ends_at_the_release_it_names(rule: Rule, step: Step) -> None:
    """The build that the text names is the one at which the range of the step ends."""
    assert step.do is not None
    (named, *_) = _NAMED.finditer(step.do.text)
    version, build = builds()[named.groups()]
    numbers = {leaf.value for leaf in step.when.walk() if leaf.op == "literal"}

    assert build in numbers
    assert version_key(version) in {version_key(str(one)) for one in numbers}
