"""The guide for rule authors: its files, commands, fragments and expressions do what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analyzer import rules
from analyzer.authoring.lint import run as lint
from analyzer.authoring.proof.mutation import find_survivors
from analyzer.pipeline import examples
from analyzer.rules import Rule
from analyzer.rules.run_catalog import Local
from tools import guide

PAGE = guide.PAGE.read_text(encoding="utf-8")
BLOCKS = list(guide.find_blocks(PAGE))
RULES = [
    one for one in BLOCKS if one.file.endswith(".yaml") and not one.file.endswith("/shared.yaml")
]
FRAGMENTS = re.findall(r"^```yaml fragment\n(.*?)^```$", PAGE, re.M | re.S)

HEAD = {
    "rule": "rule: made-up\n",
    "title": "title: a made-up rule\n",
    "each": "each: host in esxi.host\n",
    "when": "when: true\n",
    "outcomes": "outcomes:\n  - {when: true, severity: info, say: found}\n",
}
EXPRESSIONS = """rule: made-up
title: a made-up rule
each: rx in esxi.vmxnet3_rx_summary
join:
  t: {table: esxi.teaming, by: []}
  q: {table: esxi.vmxnet3_rx_queue, by: [switch, port_id], rows: many}
  vm: {table: esxtop.vm, by: []}
  cpu: {table: esxtop.vm_cpu, by: [], rows: many}
  ctl: {table: nsx.controllers, by: [], rows: many, nodes: any}
  mgr: {table: nsx.manager, by: [], nodes: any}
  hit: {table: late, by: [], rows: many}
logs:
  late: {in: esxi.vobd, match: 'performance has deteriorated'}
let:
  a: rx.ring1_full > 1
  b: rx.ring2_full > 1
  tried: %s
when: a
outcomes:
  - {when: true, severity: info, say: "{tried}"}
"""


@pytest.mark.process
def test_the_page_says_what_the_commands_print(tmp_path: Path) -> None:
    """Running every command of the guide in a fresh folder prints what the page shows."""
    guide.copy_cases(tmp_path)
    assert guide.play_page(PAGE, tmp_path) == PAGE, (
        "run python tools/guide.py and look at what changed"
    )


def test_the_guide_runs_the_whole_walk() -> None:
    """The walk holds a rule file and runs each tool that it names as a step."""
    run = " ".join(
        line for block in BLOCKS if block.kind == "console" for line in block.text.splitlines()
    )
    assert RULES
    for command in (
        "tables",
        "rules new",
        "rules test",
        "rules lint",
        "rules explain",
        "rules fmt",
        "triage",
    ):
        assert f"$ backline {command} " in run, command


@pytest.mark.parametrize("block", RULES, ids=lambda block: block.file)
def test_a_rule_of_the_guide_is_released_as_it_stands(block: guide.Block, tmp_path: Path) -> None:
    """The rule passes its examples, every moved number is noticed, and the linter has nothing to say."""
    for other in (one for one in BLOCKS if one.file):
        path = tmp_path / other.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(other.text, encoding="utf-8")
    catalog = rules.load([tmp_path / Path(block.file).parent], examples=True)
    assert catalog.broken == []
    rule = catalog[Path(block.file).stem]
    assert [result.name for result in examples.run(rule) if not result.ok] == []
    assert find_survivors(rule) == []
    assert lint.check_files([tmp_path / block.file], local=Local(packs=False)) == []


def whole(fragment: str) -> Rule:
    """Return the rule of a fragment: the made-up one with the fragment's keys in place of its own."""
    own = set(re.findall(r"^(\w+):", fragment, re.M))
    return rules.parse("".join(text for key, text in HEAD.items() if key not in own) + fragment)


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_fragments_of_the_guide_load_and_pass_their_examples(fragment: str) -> None:
    """A fragment, put into a rule, loads, and its examples are as expected."""
    rule = whole(fragment)
    assert [result.got for result in examples.run(rule) if not result.ok] == []


def test_the_guide_has_fragments() -> None:
    """The pattern that finds fragments finds those of the page."""
    assert len(FRAGMENTS) == PAGE.count("```yaml fragment") >= 2


def expressions() -> list[str]:
    """Return the expressions of the reference table."""
    table = PAGE[PAGE.index("## Reference: expressions") : PAGE.index("In `say` and `subject`")]
    cells = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    return [text for cell in cells for text in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.parametrize("expression", expressions())
def test_expressions_of_the_guide_are_the_language(expression: str) -> None:
    """Each expression of the reference table is read, its names and kinds checked."""
    rule = rules.parse(EXPRESSIONS % f"'{expression}'")
    assert rule.lets["tried"].text == expression
