"""Near misses in words: what each condition would have to be, what it is, and where that stands."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from analyzer.case.verdicts import NearLeaf, NearMiss
from analyzer.judge.causes import table_cause
from analyzer.judge.log_hits import LogAnswer
from analyzer.judge.near_miss_leaves import Need, same, sides
from analyzer.judge.trace import TraceContext, shown
from analyzer.rules import SeenDef
from analyzer.rules.language.expression import OPPOSITE, ExprNode, bare_node

_SUMS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}  # fmt: skip
_PLACES = 3  # places named of one expression
_UNITS = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def near(
    why: TraceContext,
    plan: Sequence[Need],
    distance: int,
    keeps: Sequence[ExprNode],
    *,
    unseen_row: bool,
) -> NearMiss:
    """Return a plan as a record with its sentence."""
    leaves = [_leaf(why, need) for need in plan]
    known = [
        _sentence(why, need, leaf) for need, leaf in zip(plan, leaves, strict=True) if leaf.known
    ]
    unknown = _unknown(why, leaves, unseen_row=unseen_row)
    gate = "not applicable: " if any(need.known and need.part == "only" for need in plan) else ""
    sure = "would match if " if known and not unknown else "could match if "
    stays = " and ".join(f"`{node.text}`" for node in keeps)
    rest = (
        f" (as long as {stays} {'stays as it is' if len(keeps) == 1 else 'stay as they are'})"
        if keeps
        else ""
    )
    away = "two conditions away: " if distance > 1 and not unknown else ""
    text = gate + away + sure + "; and if ".join([*known, *unknown]) + rest
    return NearMiss(None if unknown else distance, leaves, text)


def far(why: TraceContext, node: ExprNode, *, want: bool) -> float | None:
    """Return how far a leaf is off as a share of its threshold, None where there is none."""
    if node.op == "seen" and want:
        seen = why.rule.seen[node.name]
        if seen.silence or seen.in_order or node.name not in why.answers:
            return None
        return max(0.0, (seen.at_least - why.answers[node.name].best) / seen.at_least)
    if node.op == "any" and want:
        for side, _, other in sides(bare_node(node.args[0]), want=True):
            row = why.detail.deciding(node).get(side.column)
            if side.op == "column" and row is not None and other.op == "literal":
                return _share(
                    why.facts.value(why.aggregate_table(node), row, side.column), other.value
                )
        return None
    found = next(sides(node, want=want), None)
    return None if found is None else _share(why.value(found[0]), why.value(found[2]))


def row_far(why: TraceContext, node: ExprNode, *, want: bool) -> float | None:
    """Return how far the row that decides a fold is off inside it, as a share of the threshold of its rows.

    `share(cpu.rdy >= 5) >= 0.3` may be 0 while a sample comes to 4.9: of two such folds this tells the closer.
    """
    folds = (
        [bare_node(side) for side, _, _ in sides(node, want=want)]
        if node.op == "compare"
        else [node]
    )
    for fold in folds:
        if fold.op not in ("share", "count", "any", "all") or not fold.args:
            continue
        for side, _, other in sides(bare_node(fold.args[0]), want=True):
            for row in why.detail.deciding(fold).values():
                if row is not None:
                    return _share(
                        _in_row(why, side, fold.name, row), _in_row(why, other, fold.name, row)
                    )
    return None


def _in_row(why: TraceContext, node: ExprNode, alias: str, row: int) -> Any:
    """Return the value of an expression in one row of an alias with many rows, None when it is not known."""
    node = bare_node(node)
    if node.op == "literal":
        return node.value
    if node.op == "column":
        own = node.name == alias
        return (
            why.facts.value(why.rule.aliases[alias].table.name, row, node.column)
            if own
            else why.value(node)
        )
    if node.op not in _SUMS:
        return why.value(node)
    parts = [_in_row(why, part, alias, row) for part in node.args]
    if len(parts) != 2 or not all(isinstance(part, int | float) for part in parts):
        return None
    return None if node.op == "/" and not parts[1] else _SUMS[node.op](*parts)


def _share(value: Any, threshold: Any) -> float | None:
    numbers = [
        one
        for one in (value, threshold)
        if isinstance(one, int | float) and not isinstance(one, bool)
    ]
    return (
        abs(numbers[0] - numbers[1]) / abs(numbers[1]) if len(numbers) == 2 and numbers[1] else None
    )


def meaning(seen: SeenDef) -> str:
    """Return a question to the logs in words: "3 lines of api_error within 10m"."""
    span = _span(seen.within)
    if seen.silence:
        return f"no line of {seen.logs[0]}" + (f" for {span}" if span else "")
    if seen.lasting:
        return f"{seen.logs[0]} without {seen.logs[1]} for more than {span}"
    if seen.sequence:
        asked = ", then ".join(seen.logs)
    elif seen.distinct:
        asked = f"{seen.at_least} different {seen.distinct} in lines of {seen.logs[0]}"
    else:
        asked = f"{seen.at_least} {'line' if seen.at_least == 1 else 'lines'} of {seen.logs[0]}"
    return (
        asked + (f" for one {seen.per}" if seen.per else "") + (f" within {span}" if span else "")
    )


def _span(seconds: float) -> str:
    for size, unit in _UNITS:
        if seconds and seconds % size == 0:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:g}s" if seconds else ""


def _leaf(why: TraceContext, need: Need) -> NearLeaf:
    """Return one condition with what it is now."""
    node = need.node
    leaf = NearLeaf(_condition(node, want=need.want), need.part, *_wanted(why, need), far=need.far)
    if need.cause is not None:
        leaf.known, leaf.note, leaf.ask = False, need.cause.why, need.cause.ask(why.rule)
    elif node.op == "seen":
        leaf.note, leaf.at = _lines(why, node)
    else:
        found = next(sides(node, want=need.want), None)
        about = found[0] if found else node.args[0] if node.op in ("in", "known") else node
        leaf.note, leaf.at = _origin(why, about)
    return leaf


def _condition(node: ExprNode, *, want: bool) -> str:
    if want:
        return node.text
    if node.op == "compare":
        return f"{node.args[0].text} {OPPOSITE[node.name]} {node.args[1].text}"
    if node.op == "in":
        return f"{node.args[0].text} not in [{', '.join(choice.text for choice in node.args[1:])}]"
    return f"not {node.text}"


def _wanted(why: TraceContext, need: Need) -> tuple[str, str]:
    """Return what the value in question would have to be, and what it is."""
    node = need.node
    found = next(sides(node, want=need.want), None)
    if found is not None:
        side, sign, other = found
        plain = other.op == "literal"
        return f"{sign} {other.text if plain else shown(why.value(other))}", shown(why.value(side))
    if node.op == "in":
        choices = ", ".join(choice.text for choice in node.args[1:])
        return f"{'' if need.want else 'not '}in [{choices}]", shown(why.value(node.args[0]))
    if node.op == "known":
        return ("known" if need.want else "unknown"), ("unknown" if need.want else "known")
    if node.op == "seen":
        answer = why.answers.get(node.name, LogAnswer())
        return ("seen" if need.want else "not seen"), _seen_value(why, node, answer)
    return shown(need.want), shown(why.value(node))


def _seen_value(why: TraceContext, node: ExprNode, answer: LogAnswer) -> str:
    seen = why.rule.seen[node.name]
    if answer.value is None:
        return shown(None)
    if seen.silence or seen.in_order or answer.value:
        return f"{answer.count or 0}"
    return f"{answer.best}"


def _lines(why: TraceContext, node: ExprNode) -> tuple[str, str]:
    """Return what the logs hold of a question that was not answered as wanted, and the place of the last line."""
    seen, answer = why.rule.seen[node.name], why.answers.get(node.name, LogAnswer())
    last = answer.hits[-1].hit if answer.hits else None
    at = f"{last.address}:{last.line}" if last is not None else ""
    if seen.in_order and not answer.value:
        counts = [
            f"{name} {why.answers[name].count or 0}" for name in seen.logs if name in why.answers
        ]
        return f"lines: {', '.join(counts)}" if counts else "", at
    grouped = (seen.within or seen.per or seen.distinct) and not seen.silence
    return (
        f"{answer.count} lines in all" if grouped and answer.count and not answer.value else ""
    ), at


def _origin(why: TraceContext, node: ExprNode) -> tuple[str, str]:
    """Return how a value came about, and the places it was read from."""
    node = bare_node(node)
    if node.is_aggregate:
        return _rows(why, node)
    if node.op == "column":
        return "", why.at(node)
    atoms = {same(one): one for one in node.walk() if one.op == "column" and not one.many}
    places = list(
        dict.fromkeys(at for one in list(atoms.values())[:_PLACES] if (at := why.at(one)))
    )
    address = places[0].rpartition(":")[0] + ":" if places else ""
    return why.arithmetic(node), ", ".join(
        [*places[:1], *(at.removeprefix(address) for at in places[1:])]
    )


def _rows(why: TraceContext, node: ExprNode) -> tuple[str, str]:
    """Return of how many rows a fold is made, and the row that decides."""
    rows, known, true = why.detail.counted(node)
    if not rows:
        return "no row", ""
    note = (
        f"{true:,} of {rows:,} rows"
        if node.op in ("any", "all", "share", "count")
        else f"{rows:,} rows"
    )
    note += f", {rows - known} of them unknown" if known < rows else ""
    table = why.aggregate_table(node)
    for column, row in why.detail.deciding(node).items():
        if row is not None:
            value = shown(why.facts.value(table, row, column))
            return f"{note}, the row that decides has {node.name}.{column} {value}", why.place(
                table, row, column
            )
    return note, ""


def _sentence(why: TraceContext, need: Need, leaf: NearLeaf) -> str:
    """Return "ring_full > 0; it is 0 (0 + 0; esx0.txt:17)"."""
    node = need.node
    said = f"{leaf.text}{_threshold(node)}; it is {leaf.value}"
    if node.op == "seen":
        said = f"`{node.name}` ({meaning(why.rule.seen[node.name])}) {_had(why, node, leaf, want=need.want)}"
    elif node.op == "known":
        said = f"{leaf.text}; it is {leaf.value}"
    elif len(both := list(sides(node, want=need.want))) == 2:
        said = f"{leaf.text}; " + ", ".join(
            f"{side.text} is {shown(why.value(side))}" for side, _, _ in both
        )
    at = f"the last at {leaf.at}" if node.op == "seen" and leaf.at else leaf.at
    more = "; ".join(part for part in (leaf.note, at) if part)
    return f"{said} ({more})" if more else said


def _threshold(node: ExprNode) -> str:
    """Return " (0.3)" of a comparison with a named number, whose name alone does not say how far it is."""
    named = [
        side
        for side in node.args
        if node.op == "compare" and side.op == "let" and bare_node(side).op == "literal"
    ]
    return f" ({shown(bare_node(named[0]).value)})" if named else ""


def _had(why: TraceContext, node: ExprNode, leaf: NearLeaf, *, want: bool) -> str:
    """Return "were seen; 2 were", in the words of the question."""
    seen = why.rule.seen[node.name]
    count = leaf.value
    lines = (
        f"{count} {'line was' if count == '1' else 'lines were'} seen"
        if count != "0"
        else "no line was seen"
    )
    if seen.silence:
        return f"held; {lines}" if want else f"did not hold; {lines}"
    if not want:
        return f"were not seen; {count} {'line was' if count == '1' else 'lines were'}"
    if seen.in_order:
        return "were seen; it was not"
    return (
        f"were seen; {'none' if count == '0' else count} {'was' if count in ('0', '1') else 'were'}"
    )


def _unknown(why: TraceContext, leaves: Sequence[NearLeaf], *, unseen_row: bool) -> list[str]:
    """Return what is not known, source by source, with what to ask for."""
    groups: dict[tuple[str, str], list[str]] = {}
    for leaf in leaves:
        if not leaf.known:
            groups.setdefault((leaf.note, leaf.ask), []).append(leaf.text)
    if unseen_row and not groups:
        cause = table_cause(why.facts, why.detail.node or None, why.rule.each.table)
        table = why.rule.each.table
        what = "row" if table.lines_of is None else "line"
        groups[cause.why, cause.ask(why.rule)] = [f"there is a {what} of {table.spoken_name}"]
    return [
        f"{' and '.join(texts)}, which is not known: {note}" + (f"; ask for: {ask}" if ask else "")
        for (note, ask), texts in groups.items()
    ]
