"""Complaints about steps of a remedy that name a release and do not ask which release is there."""

from __future__ import annotations

import re

from analyzer.authoring.lint.complaints import RuleFile
from analyzer.rules import Rule, Step
from analyzer.rules.language.expression import ExprNode

_VERB = re.compile(r"\b(?:updat|upgrad|patch|install)\w*\b", re.IGNORECASE)
_RELEASE = re.compile(
    r"\b\d{1,3}\.\d{1,3}(?:\.\d{1,4})*(?: ?U\d[a-z]?| Update \d[a-z]?)?\b|\bU\d[a-z]?\b|\bbuild \d+"
)
_SENTENCE = re.compile(r"(?<=[.;:])\s+")


def check_releases(file: RuleFile) -> None:
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
        named = _find_release(rule, step)
        if named and not _asks_release(step.when):
            text = f'this step says "{named}" to hosts of every release'
            help_text = 'give it `releases: {esxi: ">=7.0.0 <7.0.2-18426014"}`, or a `when` that compares the version'
            texts = []
            for key in ("do", "run", "note"):
                texts.append(file.find_item("fix", number, key))
            whole = file.find_item("fix", number)
            assert whole is not None
            place = whole.place
            for item in reversed(texts):
                if item is not None and named in " ".join(item.text.split()):
                    place = item.place
            file.complain("R088", text, place, help_text)


def _asks_release(node: ExprNode) -> bool:
    """Say whether a condition looks at a version or a build."""
    columns = [leaf for leaf in node.walk() if leaf.op == "column"]
    for leaf in columns:
        if leaf.type == "version" or leaf.column.endswith(("version", "build")):
            return True
    return False


def _find_release(rule: Rule, step: Step) -> str:
    """Return the sentence of a step that sends to a release; "" where none does."""
    for text in (step.do, step.run, step.note):
        if text is None:
            continue
        readings = [" ".join(text.text.split())]
        for node in text.nodes():
            # A cell of the catalog that the text shows.
            if node.op == "column" and node.name in rule.aliases:
                cells = []
                for row in rule.aliases[node.name].table.own_rows:
                    cells.append(row.get(node.column))
                readings += [cell for cell in cells if isinstance(cell, str)]
        for words in readings:
            for sentence in _SENTENCE.split(words):
                if _VERB.search(sentence) and _RELEASE.search(sentence):
                    return sentence
    return ""
