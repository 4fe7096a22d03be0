"""No text calls a machine `this host`: it has its name, or it is `the host`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer import rules
from analyzer.case.verdicts import Finding
from analyzer.cli import main
from analyzer.judge.whole_catalog import judge
from analyzer.pipeline import examples
from analyzer.rules import Catalog, Rule
from analyzer.rules.language.template import name_machine
from tests.kit.together import together

CASES = sorted((Path(__file__).parents[2] / "samples/cases").iterdir())
THIS = re.compile(r"\bthis (?:host|machine|edge|node|manager|system)\b(?!')", re.IGNORECASE)
CATALOG = rules.load(drafts=True, examples=True)
QUOTED = ("label", "text", "trace", "evidence")  # lines of a host, quoted as they are


def list_texts(value: Any) -> Iterator[str]:
    """Yield all texts of a document but those that quote lines of a host."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            if key not in QUOTED:
                yield from list_texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from list_texts(part)


def list_sentences(finding: Finding) -> Iterator[str]:
    """Yield what a finding says to its reader."""
    yield from (
        finding.title,
        finding.say,
        finding.subject,
        finding.object,
        finding.about,
        finding.caution,
    )
    yield from (*finding.also, *finding.not_this)
    for step in finding.fix:
        yield from (step.where, step.do, step.note, step.caution)


@pytest.mark.size
@together("rule", CATALOG.rules, ids=lambda rule: rule.id)
def test_rules_name_the_machine(rule: Rule) -> None:
    """In all examples of a rule each sentence of a finding names the machine, or says `the host`."""
    for example in rule.examples:
        judgement = judge(Catalog([rule]), examples.facts_of(rule, example))
        texts = [text for finding in judgement.findings for text in list_sentences(finding)]
        assert [text for text in texts if THIS.search(text)] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_outputs_name_the_machine(case: Path, tmp_path: Path) -> None:
    """The case document, the terminal, the mail and the note of each sample name the machine."""
    runner = CliRunner()
    done = runner.invoke(
        main, ["triage", str(case), "-o", str(tmp_path), "--no-settings", "--no-packs"]
    )
    document = json.loads((tmp_path / "case.json").read_bytes())
    shown = [done.output]
    for form in ("mail", "md"):
        shown.append(
            runner.invoke(main, ["show", str(tmp_path / "case.json"), "--format", form]).output
        )
    shown.append(runner.invoke(main, ["show", str(tmp_path / "case.json"), "--all"]).output)

    assert [text for text in list_texts(document) if THIS.search(text)] == []
    assert [line for text in shown for line in text.splitlines() if THIS.search(line)] == []


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("This host mounts a share", "esx01", "esx01 mounts a share"),
        ("This host mounts a share", "", "The host mounts a share"),
        (
            "it hears this host, and this host does not",
            "esx01",
            "it hears esx01, and esx01 does not",
        ),
        ("refuses this host's commands", "esx01", "refuses esx01's commands"),
        ("the sessions of this edge", "", "the sessions of the edge"),
        ("this one is down, and these hosts", "esx01", "this one is down, and these hosts"),
    ],
)
def test_a_name_takes_the_place_of_this_host(text: str, name: str, said: str) -> None:
    """A machine without a name is called by its noun."""
    assert name_machine(text, name) == said
