"""Complaints about many rows: values that no row decides, and joins of every line with every other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analyzer.authoring.lint.complaints import RuleFile
from analyzer.rules import Rule
from analyzer.rules.language.expression import FLIPPED, ExprNode, list_conjuncts

_NO_VALUE = (
    "max",
    "min",
    "mean",
    "share",
    "all",
)  # of no rows; `count` and `sum` are 0 then, `any` is false
_UPWARD = (">", ">=")


def check_rows(file: RuleFile) -> None:
    """Keep the complaints about a rule that was loaded."""
    rule = file.rule
    assert rule is not None
    check_empty(file, rule)
    # Joins that lay the lines of a signature next to each line of another, or of the same.
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
        if theirs.log == own.log:
            asked = rate
        else:
            asked = pair
        help_text = f"write `each: {rule.each.name} in {own.log} per {key}`, and ask under `seen`: `{asked}`"
        file.complain("R046", text, file.find_place("join", join.alias.name), help_text)


# -- what has no value when there are no rows


def check_empty(file: RuleFile, rule: Rule) -> None:
    """Complain of the first value of each condition that is unknown when a log holds no line of the subject."""
    # Joins that take lines of a signature, of which a log read whole may hold none for a subject.
    empty = set()
    logs = {hit.table.name: hit for hit in rule.hits}
    own = logs.get(rule.each.table.name)
    for join in rule.joins:
        theirs = logs.get(join.alias.table.name)
        if theirs is None:
            continue
        other_log = own is None or own.log != theirs.log or join.where is not None
        if other_log or any(one != f"{rule.each.name}.{two}" for one, two in join.by):
            empty.add(join.alias.name)
    gate = [node for node in (rule.only, rule.when) if node is not None]
    given = {name for node in gate for name in _list_asked(list_conjuncts(node))}
    steps: list[tuple[ExprNode, tuple[str | int, ...]]] = [(rule.when, ("when",))]
    if rule.only is not None:
        steps.append((rule.only, ("only",)))
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
        item = file.find_item(*path)
        fault = next(_find_unguarded(node, node, empty - given), None)
        if item is None or fault is None:
            continue
        whole, fold = fault
        text = f"`{whole.text}` is unknown, neither true nor false, when `{fold.name}` has no line of the subject"
        place = item.place  # where the value follows a name
        for part in (fold, whole):
            start = item.text.find(part.text)
            if start >= 0:
                place = file.text.within(item, start, start + len(part.text))
        file.complain("R029", text, place, _suggest_instead(whole, fold))


def _find_unguarded(
    node: ExprNode, whole: ExprNode, empty: set[str]
) -> Iterator[tuple[ExprNode, ExprNode]]:
    """Yield (condition, aggregate) for values of no rows that a condition rests on, without a count next to them."""
    if node.op == "known":
        return
    if node.op in ("and", "or"):
        for child in node.args:
            beside = _list_asked(other for other in node.args if other is not child)
            yield from _find_unguarded(child, child, empty - beside)
        return
    if node.op in ("compare", "in", "all"):
        whole = node
    if node.op in _NO_VALUE and node.name in empty:
        yield whole, node
        return
    for child in node.args:
        yield from _find_unguarded(child, whole, empty)


def _list_asked(conditions: Iterable[ExprNode]) -> set[str]:
    """Return the rows of which conditions ask whether there are any, or whether a value of them is known."""
    sure = ("count", "any", "known", "sum")
    found = set()
    for node in conditions:
        for part in node.walk():
            if part.op in sure:
                for leaf in part.walk():
                    if leaf.op in ("column", "row") or leaf.is_aggregate:
                        found.add(leaf.name)
    return found


def _suggest_instead(whole: ExprNode, fold: ExprNode) -> str:
    """Return what to write so that no rows give an answer."""
    count = f"count({fold.name})"
    if fold.op == "all":
        none = f"`not any(not ({fold.args[0].text}))`"
        some = f"`{count} > 0 and {whole.text}`"
        return f"write {none} where none should mean yes, {some} where no"
    if whole.op == "compare" and fold.op in ("max", "min") and fold in whole.args:
        sign = whole.name
        left, other = whole.args
        if left is not fold:
            sign = FLIPPED[sign]
            other = left
        upward = sign in _UPWARD
        if upward == (fold.op == "max") and sign not in ("==", "!="):
            asked = f"{fold.args[0].text} {sign} {other.text}"
            return f"write `any({asked})`: of none it is false"
    no = f"`{count} > 0 and {whole.text}`"
    yes = f"`{count} == 0 or {whole.text}`"
    return f"write {no} where none should mean no, {yes} where yes"
