"""Complaints about steps of a remedy that name a release and do not ask which release is there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from analyzer.authoring.lint.complaints import RuleFile
from analyzer.rules import Rule, Step
from analyzer.rules.language.expression import ExprNode
from analyzer.rules.language.rulefile import RuleItem
from analyzer.rules.language.template import Template

_VERB = re.compile(r"\b(?:updat|upgrad|patch|install)\w*\b", re.IGNORECASE)
_RELEASE = re.compile(
    r"\b\d{1,3}\.\d{1,3}(?:\.\d{1,4})*(?: ?U\d[a-z]?| Update \d[a-z]?)?\b|\bU\d[a-z]?\b|\bbuild \d+"
)
_SENTENCE = re.compile(r"(?<=[.;:])\s+")


def check(file: RuleFile) -> None:
    """Keep the complaints about steps that name a release without a condition on one."""
    rule = file.rule
    assert rule is not None
    gates = [
        *([rule.only] if rule.only else []),
        rule.when,
        *(join.where for join in rule.joins if join.where),
    ]
    if any(_asks_release(gate) for gate in gates):
        return
    for number, step in enumerate(rule.fix):
        named = _named_release(rule, step)
        if named and not _asks_release(step.when):
            text = f'this step says "{named}" to hosts of every release'
            help_text = 'give it `releases: {esxi: ">=7.0.0 <7.0.2-18426014"}`, or a `when` that compares the version'
            file.complain("R088", text, _place(file, number, named).place, help_text)


def _place(file: RuleFile, number: int, named: str) -> RuleItem:
    """Return the text of a step that holds some words, or the step."""
    for key in ("do", "run", "note"):
        item = file.at("fix", number, key)
        if item is not None and named in " ".join(item.text.split()):
            return item
    item = file.at("fix", number)
    assert item is not None
    return item


def _asks_release(node: ExprNode) -> bool:
    """Tell whether a condition looks at a version or a build."""
    return any(_is_version(leaf) for leaf in node.walk())


def _is_version(node: ExprNode) -> bool:
    return node.op == "column" and (
        node.type == "version" or node.column.endswith(("version", "build"))
    )


def _named_release(rule: Rule, step: Step) -> str:
    """Return the sentence of a step that sends to a release; "" where none does."""
    for text in (step.do, step.run, step.note):
        for words in _readings(rule, text) if text is not None else ():
            for sentence in _SENTENCE.split(words):
                if _VERB.search(sentence) and _RELEASE.search(sentence):
                    return sentence
    return ""


def _readings(rule: Rule, text: Template) -> Iterator[str]:
    """Yield what a text may read: as the rule has it, and with each cell of the catalog that it shows."""
    yield " ".join(text.text.split())
    for node in text.nodes():
        table = (
            rule.aliases[node.name].table
            if node.op == "column" and node.name in rule.aliases
            else None
        )
        for row in table.own_rows if table is not None else ():
            cell = row.get(node.column)
            if isinstance(cell, str):
                yield cell
