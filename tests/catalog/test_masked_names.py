"""People mask names before they show a log: every rule finds its lines with `vmnicX`, `naa.####`, `10.x.x.x` in them.

All lines are those of the examples, with their identifiers masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from analyzer import rules
from analyzer.judge import judge
from analyzer.pipeline import examples
from analyzer.rules import Catalog, Example, LogDef, Rule

CATALOG = rules.load(examples=True).rules
# What is masked: the digits behind the group `kept`, where there is one.
IDENTIFIERS = [
    re.compile(one)
    for one in (
        r"\b(?P<kept>vmnic|vmhba|vmk)\d+(?::C\d+:T\d+:L\d+)?",
        r"\b(?P<kept>naa\.|eui\.|t10\.|vml\.)[0-9a-f]{8,}",
        r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])",
        r"\b[0-9a-f]{8}-[0-9a-f]{4,8}-[0-9a-f-]{4,27}\b",
        r"(?<![0-9a-f:])[0-9a-f]{2}(?::[0-9a-f]{2}){5,7}(?![0-9a-f:])",
        r"\b[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]\b",
    )
]
# Rules that need the identifier itself, and why.
NEED_IT = {
    "nsx-zero-cluster": "the identifier of the cluster, all zeros, is the fault",
    "kb-438022": "counts different tunnels, and masked ones are all the same",
}


def mask_line(line: str, sign: str) -> str:
    """Return a line with a sign over the digits of each identifier; C, T and L of a path keep their letters."""

    def mask(found: re.Match[str]) -> str:
        kept = found.groupdict().get("kept") or ""
        digits = r"\d" if kept.startswith("vm") and kept != "vml." else "[0-9a-f]"
        return kept + re.sub(digits, sign, found[0][len(kept) :])

    for identifier in IDENTIFIERS:
        line = identifier.sub(mask, line)
    return line


def list_matching(rule: Rule) -> Iterator[Example]:
    """Yield the examples of a rule that are made of logs alone and match."""
    for example in rule.examples:
        plain = not example.tables and not example.files
        if example.logs and plain and example.expect.get("result") == "match":
            yield example


def list_lost(rule: Rule, log: LogDef, sign: str) -> Iterator[str]:
    """Yield masked lines of examples that a signature finds only with their names."""
    pattern = re.compile(log.pattern, re.IGNORECASE if log.ignore_case else 0)
    for example in list_matching(rule):
        for line in "\n".join(text or "" for text in example.logs.values()).splitlines():
            if pattern.search(line) and not pattern.search(mask_line(line, sign)):
                yield f"{rule.id}: {mask_line(line, sign)}"


@pytest.mark.parametrize("sign", ["X", "x", "#", "*"])
def test_a_signature_finds_masked_lines(sign: str) -> None:
    """Every line of an example, for every signature of a rule."""
    lost: list[str] = []
    for rule in CATALOG:
        for log in rule.logs.values() if rule.id not in NEED_IT else ():
            lost += list_lost(rule, log, sign)
    assert lost == []


@pytest.mark.size
def test_a_rule_matches_on_masked_lines() -> None:
    """The whole example: objects that can no longer be told apart are one."""
    silent = []
    tried = 0
    for rule in CATALOG:
        for example in list_matching(rule) if rule.logs else ():
            logs = {
                name: text and "\n".join(mask_line(line, "X") for line in text.splitlines()) + "\n"
                for name, text in example.logs.items()
            }
            if logs != dict(example.logs):
                tried += 1
                facts = examples.facts_of(rule, replace(example, logs=logs))
                if not judge(Catalog([rule]), facts).findings:
                    silent.append(rule.id)
                facts.close()
    assert set(silent) <= set(NEED_IT)
    assert tried > 200
