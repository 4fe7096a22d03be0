"""Complaints about many rows: values that no row decides, and joins of every line with every other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analyzer.authoring.lint.complaints import RuleFile
from analyzer.rules import Join, Rule
from analyzer.rules.language.expression import FLIPPED, ExprNode, list_conjuncts
from analyzer.rules.language.rulefile import FileSpan, RuleItem

_NO_VALUE = (
    "max",
    "min",
    "mean",
    "share",
    "all",
)  # of no rows; `count` and `sum` are 0 then, `any` is false
_UPWARD = (">", ">=")


def check(file: RuleFile) -> None:
    """Keep the complaints about a rule that was loaded."""
    rule = file.rule
    assert rule is not None
    _of_none(file, rule)
    _lines_with_lines(file, rule)


# -- what has no value when there are no rows


def _of_none(file: RuleFile, rule: Rule) -> None:
    """Complain of the first value of each condition that is unknown when a log holds no line of the subject."""
    empty = {join.alias.name for join in rule.joins if _may_be_empty(rule, join)}
    gate = [node for node in (rule.only, rule.when) if node is not None]
    given = {name for node in gate for name in _asked(list_conjuncts(node))}
    steps: list[tuple[ExprNode, tuple[str | int, ...]]] = [(rule.when, ("when",))]
    steps += [(rule.only, ("only",))] if rule.only is not None else []
    lists = {
        "grade": [one.when for one in rule.grades],
        "outcomes": [one.when for one in rule.outcomes],
        "notes": [one.when for one in rule.notes],
        "fix": [one.when for one in rule.fix],
    }
    steps += [
        (when, (part, number, "when"))
        for part, whens in lists.items()
        for number, when in enumerate(whens)
    ]
    for node, path in steps:
        item = file.at(*path)
        fault = next(_unguarded(node, node, empty - given), None) if item is not None else None
        if item is not None and fault is not None:
            whole, fold = fault
            text = f"`{whole.text}` is unknown, neither true nor false, when `{fold.name}` has no line of the subject"
            file.complain("R029", text, _place(file, item, whole, fold), _instead(whole, fold))


def _may_be_empty(rule: Rule, join: Join) -> bool:
    """Tell whether a join takes lines of a signature, of which a log read whole may hold none for a subject."""
    logs = {hit.table.name: hit for hit in rule.hits}
    theirs, own = logs.get(join.alias.table.name), logs.get(rule.each.table.name)
    if theirs is None:
        return False
    if own is None or own.log != theirs.log or join.where is not None:
        return True
    return any(one != f"{rule.each.name}.{two}" for one, two in join.by)


def _unguarded(
    node: ExprNode, whole: ExprNode, empty: set[str]
) -> Iterator[tuple[ExprNode, ExprNode]]:
    """Yield (condition, aggregate) for values of no rows that a condition rests on, without a count beside them."""
    if node.op == "known":
        return
    if node.op in ("and", "or"):
        for child in node.args:
            beside = _asked(other for other in node.args if other is not child)
            yield from _unguarded(child, child, empty - beside)
        return
    whole = node if node.op in ("compare", "in", "all") else whole
    if node.op in _NO_VALUE and node.name in empty:
        yield whole, node
        return
    for child in node.args:
        yield from _unguarded(child, whole, empty)


def _asked(conditions: Iterable[ExprNode]) -> set[str]:
    """Return the rows of which conditions ask whether there are any, or whether a value of them is known."""
    sure = ("count", "any", "known", "sum")
    return {
        leaf.name
        for node in conditions
        for part in node.walk()
        if part.op in sure
        for leaf in part.walk()
        if leaf.op in ("column", "row") or leaf.is_aggregate
    }


def _instead(whole: ExprNode, fold: ExprNode) -> str:
    """Return what to write so that no rows give an answer."""
    if fold.op == "all":
        none = f"`not any(not ({fold.args[0].text}))`"
        return f"write {none} where none should mean yes, `count({fold.name}) > 0 and {whole.text}` where no"
    if whole.op == "compare" and fold.op in ("max", "min") and fold in whole.args:
        left, right = whole.args
        name, other = (whole.name, right) if left is fold else (FLIPPED[whole.name], left)
        if (name in _UPWARD) == (fold.op == "max") and name not in ("==", "!="):
            return f"write `any({fold.args[0].text} {name} {other.text})`: of none it is false"
    count = f"count({fold.name})"
    return f"write `{count} > 0 and {whole.text}` where none should mean no, `{count} == 0 or {whole.text}` where yes"


def _place(file: RuleFile, item: RuleItem, whole: ExprNode, fold: ExprNode) -> FileSpan:
    """Return where a value stands in a condition; the whole condition where it stands behind a name."""
    for node in (whole, fold):
        start = item.text.find(node.text)
        if start >= 0:
            return file.text.within(item, start, start + len(node.text))
    return item.place


# -- every line with every line


def _lines_with_lines(file: RuleFile, rule: Rule) -> None:
    """Complain of joins that lay the lines of a signature beside each line of another, or of the same."""
    logs = {hit.table.name: hit for hit in rule.hits}
    own = logs.get(rule.each.table.name)
    if own is None or own.per:
        return
    for join in rule.joins:
        theirs = logs.get(join.alias.table.name)
        if theirs is None or theirs.per:
            continue
        key = next((column for _, column in join.by), "device")
        text = f"each line of `{own.log}` meets the lines of `{theirs.log}`: a storm costs the square of its lines"
        rate = f"{{log: {own.log}, at_least: 10, within: 1h}}"
        pair = f"{{sequence: [{own.log}, {theirs.log}], within: 1h}}"
        asked = rate if theirs.log == own.log else pair
        help_text = f"write `each: {rule.each.name} in {own.log} per {key}`, and ask under `seen`: `{asked}`"
        file.complain("R046", text, file.key("join", join.alias.name), help_text)
