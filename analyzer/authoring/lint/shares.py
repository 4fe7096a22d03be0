"""Complaints about bars on counters that have run since a boot, without a share or a rate next to them."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.authoring.lint.complaints import RuleFile
from analyzer.rules import Rule
from analyzer.rules.language.expression import FLIPPED, ExprNode

_RISES = (">", ">=", "!=")


def check_shares(file: RuleFile) -> None:
    """Keep the complaints about answers above information that a counter alone decides."""
    rule = file.rule
    assert rule is not None
    if rule.only:
        gates = [rule.only, rule.when]
    else:
        gates = [rule.when]
    # Each way to a severity above info: where it is, the severity and its condition.
    severe: list[tuple[tuple[str | int, ...], str, ExprNode]] = []
    for number, outcome in enumerate(rule.outcomes):
        if outcome.severity not in ("", "info"):
            severe.append((("outcomes", number, "severity"), outcome.severity, outcome.when))
    for number, grade in enumerate(rule.grades):
        if grade.severity != "info":
            severe.append((("grade", number, "severity"), grade.severity, grade.when))
    for steps, severity, when in severe:
        conditions = [*gates, when]
        bar = next((one for part in conditions for one in _find_bars(rule, part)), None)
        if bar is None or any(_has_share(rule, part) for part in conditions):
            continue
        text = f"`{bar.text}` counts since a boot, and alone it makes this answer {severity}"
        help_text = "divide it by what was counted with it, or by the uptime, and let the share decide the severity"
        file.complain("R089", text, file.find_place(*steps), help_text)


def _find_bars(rule: Rule, node: ExprNode) -> Iterator[ExprNode]:
    """Yield the comparisons of a condition that a counter fulfils by growing."""
    for part in node.walk():
        if part.op != "compare" or len(part.args) != 2:
            continue
        left, right = part.args
        if _has_counts(rule, left):
            grows = part.name
        elif _has_counts(rule, right):
            grows = FLIPPED[part.name]
        else:
            grows = ""
        plain = not (_has_counts(rule, left) and _has_counts(rule, right))
        if grows in _RISES and plain and not (_divides(rule, left) or _divides(rule, right)):
            yield part


def _has_counts(rule: Rule, node: ExprNode) -> bool:
    """Say whether a value is made of a counter that only grows."""
    leaves = [leaf for leaf in node.walk() if leaf.op == "column" and leaf.name in rule.aliases]
    for leaf in leaves:
        if leaf.column in rule.aliases[leaf.name].table.counters:
            return True
    return False


def _divides(rule: Rule, node: ExprNode) -> bool:
    """Say whether a value is a share or a rate: a quotient with a counter in it."""
    for part in node.walk():
        if part.op == "/" and _has_counts(rule, part):
            return True
    return False


def _has_share(rule: Rule, node: ExprNode) -> bool:
    """Say whether a condition compares a share, a rate, or what the machine prints in percent."""
    for part in node.walk():
        if part.op != "compare":
            continue
        if _divides(rule, part):
            return True
        for leaf in part.walk():
            if leaf.op == "column" and leaf.name in rule.aliases:
                column = rule.aliases[leaf.name].table.column(leaf.column)
                if column is not None and column.unit == "%":
                    return True
    return False
