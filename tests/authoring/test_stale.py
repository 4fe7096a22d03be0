"""`backline rules list --stale`: what nobody has read against its sources for long."""

from __future__ import annotations

import csv
import io
import json
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer import rules
from analyzer.authoring.pages import stale
from analyzer.cli import main
from analyzer.rules import Rule

TODAY = date(2026, 11, 20)
RULE = """rule: nn-{name}
title: A ring of team {name}
source: {source}
each: rx in esxi.vmxnet3_rx_summary
when: rx.ring1_full > 0
outcomes:
  - {{when: true, severity: warning, confidence: likely, say: full}}
"""
OLD = "[{title: a page, checked: 2025-11-19, mark: verified}, {title: two, checked: 2026-11-19, mark: verified}]"
YEAR = "[{title: a page, checked: 2025-11-20, mark: verified}]"
OWN = "[{title: a page, checked: 2026-11-20, mark: verified}, the bar is our own]"


def made(name: str, source: str) -> Rule:
    return rules.parse(RULE.format(name=name, source=source), name=f"nn-{name}.yaml")


@pytest.mark.parametrize(
    ("source", "day"),
    [
        (OLD, "2025-11-19"),
        (YEAR, "2025-11-20"),
        (OWN, "2026-11-20"),
        ("a page", ""),
        ("[a page, {title: two, checked: 2026-11-19, mark: verified}]", ""),
        ("a page\nchecked: 2026-11-01", "2026-11-01"),
        ("[{title: x, checked: 2026-10-01}]\nchecked: 2026-11-01", "2026-10-01"),
        ("[{title: the bar is our own, checked: 2026-10-01}]", "2026-10-01"),
        ("[]", ""),
    ],
)
def test_a_rule_is_as_old_as_its_oldest_source(source: str, day: str) -> None:
    """The source that waits longest counts, one that was never read before all; our own bars do not."""
    assert made("one", source).last_read == day


def listed(folder: Path, *words: str) -> str:
    for name, source in (("old", OLD), ("year", YEAR), ("own", OWN), ("text", "a page")):
        (folder / f"nn-{name}.yaml").write_text(RULE.format(name=name, source=source))
    run = CliRunner().invoke(
        main,
        ["rules", "list", "--no-settings", "--no-packs", "--kb", str(folder), *words],
        catch_exceptions=False,
    )
    assert run.exit_code == 0, run.output
    return run.stdout


def test_the_list_has_rules_and_tables_that_wait_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was never read comes first, then the oldest; what was read on the day itself is not stale yet."""
    monkeypatch.setattr(stale, "read_today", lambda: TODAY)
    rows = [json.loads(line) for line in listed(tmp_path, "--stale", "365", "--json").splitlines()]
    own = [(one["name"], one["checked"], one["age"]) for one in rows if one["name"][:3] == "nn-"]
    assert own == [("nn-text", "", None), ("nn-old", "2025-11-19", 366)]
    assert {one["kind"] for one in rows} <= {"rule", "facts"}
    assert [one["checked"] for one in rows] == sorted(one["checked"] for one in rows)

    monkeypatch.setattr(stale, "read_today", lambda: date(2027, 12, 31))
    rows = [json.loads(line) for line in listed(tmp_path, "--stale", "365", "--json").splitlines()]
    names = {one["name"] for one in rows}
    assert {"nn-own", "nn-year", "kb.esxi_build", "kb.nsxt_alarm"} <= names
    text = listed(tmp_path, "--stale", "365")
    assert "2025-11-19  rule   nn-old" in text and "never       rule   nn-text" in text
    assert text.rstrip().endswith("not read for 365 days")
    table = list(csv.DictReader(io.StringIO(listed(tmp_path, "--stale", "365", "--csv"))))
    assert {one["name"] for one in table} == names


def test_a_filter_of_rules_leaves_tables_of_facts_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks for the rules of one table gets those alone."""
    monkeypatch.setattr(stale, "read_today", lambda: date(2027, 12, 31))
    text = listed(tmp_path, "--stale", "0", "--table", "esxi.vmxnet3_rx_summary")
    assert "nn-own" in text and "  facts  " not in text and "and 0 tables of facts" in text
