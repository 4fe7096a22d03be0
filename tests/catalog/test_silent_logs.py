"""A rule whose log was read whole and has no line of it is not read whole either, and counts as it would."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.case.verdicts import Verdict
from analyzer.judge import judge_rule, rule_evaluation
from analyzer.pipeline.triage import Options, gather_case
from analyzer.rules.catalog import load
from analyzer.runtime.limits import Limits

TIMES = "2023-10-14T09:0{n}:00.000Z cpu1:2097{n}00)Migrate: 1045: resumed world of 0x96252{n} on 0x200001c (synthetic)\n"


@pytest.mark.parametrize("case", ["one host", "two hosts", "cut", "another log"])
def test_the_short_way_counts_what_the_long_way_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    """Each rule over lines of a log gives the same verdicts, doubts and findings whether it takes the short way or not."""
    name = "hostd.log" if case == "another log" else "vmkernel.log"
    for number in range(2 if case == "two hosts" else 1):
        log = (
            tmp_path
            / f"esx-esx0{number}.lab.example-2023-10-14--10.0{number}-7123{number}"
            / "var/run/log"
            / name
        )
        log.parent.mkdir(parents=True)
        text = "".join(TIMES.format(n=n) for n in range(9)).encode()
        log.write_bytes(text[:-20] + b"\0" * 900 if case == "cut" else text)
    catalog = load()
    facts = gather_case([tmp_path], catalog.signatures(), Options()).facts
    silent = 0
    for rule in (one for one in catalog.rules if one.each.table.lines_of is not None):
        with monkeypatch.context() as patched:
            patched.setattr(rule_evaluation, "count_silent_nodes", lambda _rule, _facts: 0)
            long = judge_rule(rule, facts, Limits())
        short = judge_rule(rule, facts, Limits())
        assert (short.findings, short.unsure, short.notes) == (
            long.findings,
            long.unsure,
            long.notes,
        ), rule.id
        assert {k: n for k, n in short.counts.items() if n} == {
            k: n for k, n in long.counts.items() if n
        }, rule.id
        silent += short.counts[Verdict.CANNOT_TELL if case == "cut" else Verdict.NO_MATCH]
    assert silent > 5
