"""A line of the sign of a rule that asks for several is never lost in an excerpt: a finding, or a sign that is listed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer import rules
from analyzer.judge.log_conditions import list_gates
from analyzer.pipeline.triage import triage
from analyzer.rules import Rule


def list_texts(rule: Rule) -> Iterator[str]:
    """Yield the texts of logs of the examples that match."""
    for example in rule.examples:
        if not example.made and example.expect.get("result") == "match":
            yield from (text for text in example.logs.values() if text)
            yield from (file["text"] for file in example.files if "text" in file)


def find_sign_line(rule: Rule) -> str:
    """Return the first line of an example that a signature of the rule takes, its sign before others."""
    names = sorted(rule.logs, key=lambda name: name != "sign")
    for text in list_texts(rule):
        for name in names:
            log = rule.logs[name]
            pattern = re.compile(log.pattern, re.IGNORECASE if log.ignore_case else 0)
            for line in text.splitlines():
                if pattern.search(line):
                    return line
    return ""


def asking() -> list[Rule]:
    """Return the rules that ask for several lines, for one within a time, or for none."""
    return [
        rule
        for rule in rules.load(examples=True).rules
        if any(seen.at_least > 1 or seen.within or seen.silence for seen in rule.seen.values())
    ]


def read_excerpt(folder: Path, *lines: str) -> dict[str, Any]:
    """Return the case of a text of some lines."""
    (folder / "paste.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return triage([folder / "paste.txt"]).document


@pytest.mark.size
def test_one_line_of_any_sign_is_found_or_listed(tmp_path: Path) -> None:
    """Whatever a rule asks beside it, the line itself is shown."""
    lost = []
    for rule in asking():
        document = read_excerpt(tmp_path, find_sign_line(rule))
        if not (document.findings or document.signals):
            lost.append(rule.id)
    assert lost == []


@pytest.mark.size
def test_several_lines_of_a_sign_are_a_possible_finding(tmp_path: Path) -> None:
    """Of rules that are silent before their count: half of it is a finding of each whose lines a paste is read for."""
    silent, found = [], []
    for rule in asking():
        gates = [rule.seen[name] for name in list_gates(rule)]
        if not gates or gates[0].distinct or gates[0].at_least < 3:
            continue
        document = read_excerpt(tmp_path, *[find_sign_line(rule)] * 2)
        own = [one.confidence for one in document.findings if one.rule == rule.id]
        (found if own == ["possible"] else silent).append(rule.id)
    assert len(found) >= 20
    # Lines of a Manager or of the HA agent among no others are read as those of no log.
    assert set(silent) <= {"ha-lost-master", "ha-peer-unreachable", "nsx-zookeeper-lost"}
