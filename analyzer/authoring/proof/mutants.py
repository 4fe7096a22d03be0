"""A rule with one of its numbers changed: which numbers there are, where they are, and what they become.

A whole number moves by 1, or by 10 % where that is more; any other number by 10 % (0.0 by 0.1);
the last part of a version by 1; a span of time by 10 %. A number asked for with `==`, `!=` or
`in` names a kind of thing: it is one of a list, not a threshold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from analyzer.rules import Rule, SeenDef
from analyzer.rules.language.expression import ExprNode, bare_node
from analyzer.rules.language.rulefile import FileSpan
from analyzer.rules.language.template import Template
from analyzer.rules.short import expand_short
from analyzer.rules.tables import refit_tables

UP, DOWN = "up", "down"
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_STEP = 0.1
_LAST_NUMBER = re.compile(r"(\d+)(\D*)$")
_SPAN = re.compile(r"([\d.]+)\s*([a-z])")

_OPEN = ExprNode("literal", "bool", "true", value=True)  # the gate of a rule without one

# A number that is moved: id of its node -> the node in its place.
Moved = dict[int, ExprNode]


@dataclass(frozen=True, slots=True)
class Site:
    """A number of a rule: where it is, how it is written, the part of the rule and the condition around it.

    named  True where the number names a kind of thing
    """

    place: FileSpan
    text: str
    where: str
    condition: ExprNode | None = None
    named: bool = False


@dataclass(frozen=True, slots=True)
class Mutant:
    """A rule with one number moved.

    direction  up or down; value: what the number became, as an author would write it
    """

    site: Site
    direction: str
    value: str
    rule: Rule


def make_mutants(rule: Rule) -> list[Mutant]:
    """Return the rule with each of its numbers moved up and down, in the order of the file."""
    found = [*_move_numbers(rule), *_move_questions(rule)]
    return sorted(
        found, key=lambda one: (one.site.place.line, one.site.place.column, one.direction != DOWN)
    )


def list_conditions(rule: Rule) -> list[ExprNode]:
    """Return what decides an answer: gate, condition, outcomes, grades, notes, steps; without a gate a true one."""
    answers = [*(part.when for part in rule.outcomes), *(part.when for part in rule.grades)]
    return [
        rule.only or _OPEN,
        rule.when,
        *answers,
        *(part.when for parts in (rule.notes, rule.fix) for part in parts),
    ]


# -- numbers in expressions


def list_expressions(rule: Rule) -> Iterator[tuple[str, ExprNode]]:
    """Yield every expression of a rule with the part of the file it is in."""
    if rule.only is not None:
        yield "only", rule.only
    for name, node in rule.lets.items():
        yield f"let {name}", node
    yield "when", rule.when
    for number, grade in enumerate(rule.grades, 1):
        yield f"grade {number}", grade.when
    for number, outcome in enumerate(rule.outcomes, 1):
        yield f"outcomes {number}", outcome.when
    for number, note in enumerate(rule.notes, 1):
        yield f"notes {number}", note.when
    for number, step in enumerate(rule.fix, 1):
        yield f"fix {number}", step.when
    wheres = [(f"join {join.alias.name}", join.where) for join in rule.joins]
    if rule.population is not None:
        wheres.append(("population", rule.population.where))
    wheres += [(f"logs {log.name}", log.where) for log in rule.logs.values()]
    for what, condition in wheres:
        if condition is not None:
            yield f"{what}, where", condition
    for where, template in _list_templates(rule):
        if template is not None:
            for node in template.nodes():
                yield where, node


def _list_templates(rule: Rule) -> Iterator[tuple[str, Template | None]]:
    """Yield every text of a rule in which expressions can be, with the part of the file it is in."""
    yield "subject", rule.subject
    for text in (rule.object, *rule.rests_on):
        yield "object", text
    for number, outcome in enumerate(rule.outcomes, 1):
        yield f"outcomes {number}, say", outcome.say
    for number, note in enumerate(rule.notes, 1):
        yield f"notes {number}, say", note.say
    for number, step in enumerate(rule.fix, 1):
        for text in step.templates:
            yield f"fix {number}", text


def _move_numbers(rule: Rule) -> Iterator[Mutant]:
    """Yield the rule with each number of its expressions moved up and down."""
    numbers: dict[FileSpan, list[tuple[str, ExprNode, ExprNode | None]]] = {}
    comparisons: list[ExprNode] = []
    for where, top in list_expressions(rule):
        comparisons += [node for node in top.walk() if node.op in ("compare", "in")]
        for node, around in _walk_numbers(top, None):
            assert node.place is not None
            numbers.setdefault(node.place, []).append((where, node, around))
    for place, found in numbers.items():
        where, node, around = found[0]
        condition = around
        if condition is None:
            behind = [one for one in comparisons if _compares(one, node)]
            condition = None
            if behind:
                condition = behind[0]
        direct = condition is not None and _compares(condition, node)
        named = False  # a kind of thing, and no threshold
        if condition is not None and direct:
            named = condition.op == "in" or condition.name in ("==", "!=")
        site = Site(place, node.text, where, condition, named)
        for direction in (DOWN, UP):
            value = move_number(node, direction)
            if value is None:
                continue
            if direct and condition and _is_impossible(condition, node, value):
                continue
            other = {}
            for _, one, _ in found:
                other[id(one)] = replace(one, value=value, text=str(value))
            yield Mutant(site, direction, write_number(node, value), replace_nodes(rule, other))


def _compares(condition: ExprNode, node: ExprNode) -> bool:
    return any(bare_node(part) is node for part in condition.args)


def _is_impossible(condition: ExprNode, node: ExprNode, value: float | str) -> bool:
    """Say whether nothing there can be lies between a number and what it is moved to, like a count of 0 rows."""
    left, right = condition.args[:2]
    number_first = bare_node(left) is node
    folded = bare_node(right if number_first else left)
    if number_first:
        sign = FLIPPED.get(condition.name, "")
    else:
        sign = condition.name
    if sign not in FLIPPED or folded.op not in ("count", "share") or isinstance(value, str):
        return False
    assert isinstance(node.value, int | float)
    low, high = sorted((node.value, value))
    argument = folded.args[0]
    counts_rows = argument.type != "bool" or argument.op == "row"
    least = 0
    if folded.op == "count" and counts_rows:
        least = 1
    most = 1.0
    if folded.op != "share":
        most = float("inf")
    if sign in (">=", "<"):  # the lower end lies between, the upper one does not
        return low > most or max(low, least) >= high
    return high < least or low >= most


def _walk_numbers(
    node: ExprNode, around: ExprNode | None
) -> Iterator[tuple[ExprNode, ExprNode | None]]:
    """Yield the numbers and versions below a node with the comparison around each; not those behind names."""
    if node.op == "literal":
        if node.place is not None and (node.type in ("int", "float", "version")):
            yield node, around
        return
    if node.op == "let":
        return
    if node.op in ("compare", "in"):
        around = node
    for child in node.args:
        yield from _walk_numbers(child, around)


def move_number(node: ExprNode, direction: str) -> float | str | None:
    """Return a number or a version moved up or down; None where there is nothing below it."""
    if direction == UP:
        sign = 1
    else:
        sign = -1
    value = node.value
    if isinstance(value, str):
        return _move_version(value, sign)
    if isinstance(value, int):
        return value + sign * max(1, round(abs(value) * _STEP))
    assert isinstance(value, float)
    step = abs(value) * _STEP or _STEP
    return float(f"{value + sign * step:.12g}")


def _move_version(text: str, sign: int) -> str | None:
    """Return the version next to one, above or below it; None where there is none."""
    found = _LAST_NUMBER.search(text)
    if found is None:
        return None
    head = text[: found.start()]
    number = int(found[1])
    if number + sign >= 0:
        return f"{head}{number + sign}{found[2]}"
    return _move_version(head.rstrip(".-_+"), sign)  # below 6.3.0 comes 6.2


def write_number(node: ExprNode, value: object) -> str:
    """Return a number or a version as an author would write it: 0.00009, not 9e-05."""
    if isinstance(value, float):
        return format(Decimal(repr(value)), "f")
    if node.type == "version":
        return f'"{value}"'
    return str(value)


class _Mover:
    """Puts other nodes in the place of some."""

    def __init__(self, other: Moved) -> None:
        self.other = other
        self.known: dict[int, ExprNode] = {}

    def move_node(self, node: ExprNode) -> ExprNode:
        """Return an expression with the changed nodes in it; the same object where nothing changed."""
        if id(node) not in self.known:
            args = tuple(self.move_node(child) for child in node.args)
            same = all(one is two for one, two in zip(args, node.args, strict=True))
            self.known[id(node)] = self.other.get(id(node)) or (
                node if same else replace(node, args=args)
            )
        return self.known[id(node)]

    def move_optional(self, node: ExprNode | None) -> ExprNode | None:
        """Return an expression with the changed nodes in it, None for none."""
        if node is None:
            return None
        return self.move_node(node)

    def move_template(self, text: Template) -> Template:
        """Return a text with the changed nodes in its expressions."""
        parts = (
            one if isinstance(one, str) else (self.move_node(one[0]), one[1]) for one in text.parts
        )
        return Template(text.text, tuple(parts))

    def move_text(self, text: Template | None) -> Template | None:
        """Return a text with the changed nodes in its expressions, None for none."""
        if text is not None:
            return self.move_template(text)
        return None


def replace_nodes(rule: Rule, other: Moved) -> Rule:
    """Return the rule with other nodes in the place of some; what does not change stays the same object."""
    move = _Mover(other)
    node_of = move.move_node
    maybe = move.move_optional
    template = move.move_template
    filled = move.move_text
    population = rule.population
    found = replace(
        rule,
        only=maybe(rule.only),
        lets={name: node_of(node) for name, node in rule.lets.items()},
        when=node_of(rule.when),
        grades=[replace(part, when=node_of(part.when)) for part in rule.grades],
        outcomes=[
            replace(part, when=node_of(part.when), say=filled(part.say)) for part in rule.outcomes
        ],
        notes=[
            replace(part, when=node_of(part.when), say=template(part.say)) for part in rule.notes
        ],
        fix=[
            replace(
                step,
                when=node_of(step.when),
                run=filled(step.run),
                do=filled(step.do),
                note=filled(step.note),
            )
            for step in rule.fix
        ],
        joins=[replace(join, where=maybe(join.where)) for join in rule.joins],
        logs={name: replace(log, where=maybe(log.where)) for name, log in rule.logs.items()},
        population=replace(population, where=maybe(population.where))
        if population is not None
        else None,
        subject=template(rule.subject),
        object=filled(rule.object),
        rests_on=[template(text) for text in rule.rests_on],
        evidence=[node_of(node) for node in rule.evidence],
        chart=[node_of(node) for node in rule.chart],
    )
    return refit_tables(found)


# -- numbers in questions to logs


def _move_questions(rule: Rule) -> Iterator[Mutant]:
    """Yield the rule with each number of its questions moved up and down."""
    tree = expand_short(rule.text, rule.text.tree())
    questions = tree.value.get("seen")
    for name, item in questions.value.items() if questions is not None and questions.value else ():
        seen = rule.seen[name]
        for key, written in item.value.items():
            site = Site(written.place, written.text, f"seen {name}, {key}")
            for direction, sign in ((DOWN, -1), (UP, 1)):
                if key == "at_least":
                    step = max(1, round(seen.at_least * _STEP))
                    count = seen.at_least + sign * step
                    yield Mutant(
                        site, direction, str(count), _with_seen(rule, replace(seen, at_least=count))
                    )
                elif key in ("within", "for", "longer_than"):
                    other = replace(seen, within=seen.within * (1 + sign * _STEP))
                    # The span as an author writes it.
                    found = _SPAN.match(written.text.strip())
                    if found:
                        amount = float(found[1]) * (1 + sign * _STEP)
                        span = f"{amount:.6g}{found[2]}"
                    else:
                        span = written.text
                    yield Mutant(
                        site,
                        direction,
                        span,
                        _with_seen(rule, other),
                    )


def _with_seen(rule: Rule, seen: SeenDef) -> Rule:
    return replace(rule, seen={**rule.seen, seen.name: seen})
