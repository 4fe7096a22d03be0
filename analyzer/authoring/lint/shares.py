"""Complaints about bars on counters that have run since a boot, without a share or a rate beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzer.authoring.lint.complaints import RuleFile
from analyzer.rules import Rule
from analyzer.rules.language.expression import FLIPPED, ExprNode

_RISES = (">", ">=", "!=")


def check(file: RuleFile) -> None:
    """Keep the complaints about answers above information that a counter alone decides."""
    rule = file.rule
    assert rule is not None
    gates = [*([rule.only] if rule.only else []), rule.when]
    for steps, severity, when in _severe(rule):
        conditions = [*gates, when]
        bar = next((one for part in conditions for one in _bars(rule, part)), None)
        if bar is None or any(_has_share(rule, part) for part in conditions):
            continue
        text = f"`{bar.text}` counts since a boot, and alone it makes this answer {severity}"
        help_text = "divide it by what was counted with it, or by the uptime, and let the share decide the severity"
        file.complain("R089", text, file.key(*steps), help_text)


def _severe(rule: Rule) -> Iterator[tuple[tuple[str | int, ...], str, ExprNode]]:
    """Yield each way to a severity above info: where it stands, the severity and its condition."""
    for number, outcome in enumerate(rule.outcomes):
        if outcome.severity not in ("", "info"):
            yield ("outcomes", number, "severity"), outcome.severity, outcome.when
    for number, grade in enumerate(rule.grades):
        if grade.severity != "info":
            yield ("grade", number, "severity"), grade.severity, grade.when


def _bars(rule: Rule, node: ExprNode) -> Iterator[ExprNode]:
    """Yield the comparisons of a condition that a counter fulfils by growing."""
    for part in node.walk():
        if part.op != "compare" or len(part.args) != 2:
            continue
        left, right = part.args
        grows = (
            part.name if _counts(rule, left) else FLIPPED[part.name] if _counts(rule, right) else ""
        )
        plain = not (_counts(rule, left) and _counts(rule, right))
        if grows in _RISES and plain and not (_divides(rule, left) or _divides(rule, right)):
            yield part


def _counts(rule: Rule, node: ExprNode) -> bool:
    """Tell whether a value is made of a counter that only grows."""
    return any(_is_counter(rule, leaf) for leaf in node.walk())


def _is_counter(rule: Rule, leaf: ExprNode) -> bool:
    return (
        leaf.op == "column"
        and leaf.name in rule.aliases
        and leaf.column in rule.aliases[leaf.name].table.counters
    )


def _divides(rule: Rule, node: ExprNode) -> bool:
    """Tell whether a value is a share or a rate: a quotient with a counter in it."""
    return any(part.op == "/" and _counts(rule, part) for part in node.walk())


def _has_share(rule: Rule, node: ExprNode) -> bool:
    """Tell whether a condition compares a share, a rate, or what the machine prints in percent."""
    compared: Sequence[ExprNode] = [part for part in node.walk() if part.op == "compare"]
    return any(
        _divides(rule, part) or any(_is_percent(rule, leaf) for leaf in part.walk())
        for part in compared
    )


def _is_percent(rule: Rule, leaf: ExprNode) -> bool:
    if leaf.op != "column" or leaf.name not in rule.aliases:
        return False
    column = rule.aliases[leaf.name].table.column(leaf.column)
    return column is not None and column.unit == "%"
