"""Complaints about the logic of a rule that loads: unused parts, answers never given, doubt ignored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from analyzer.authoring.lint.complaints import RuleFile
from analyzer.authoring.lint.conditions import does_follow, is_always, is_never
from analyzer.rules import Join, Outcome, Rule
from analyzer.rules.language.expression import ExprNode, list_conjuncts
from analyzer.rules.language.rulefile import FileSpan, RuleItem
from analyzer.rules.language.template import Template

# A sentence that claims absence. What says that something could not be seen claims none.
_ABSENT = re.compile(
    r"(?<!, )\b(?:no|not|none|never)\b", re.IGNORECASE
)  # "CPU, not ring" tells two things apart
_UNSEEN = re.compile(
    r"(?:not|never|no) (?:(?:been|yet|be|to be) )*"
    r"(?:in the (?:case|bundle|capture)|on this|on the screen|part of the|known|told|sent|shown|given|checked|judged"
    r"|read|collected|recorded|longer|only|better|more than)\b",
    re.IGNORECASE,
)


def check_logic(file: RuleFile) -> None:
    """Keep the complaints about a rule that was loaded."""
    rule = file.rule
    assert rule is not None
    check_unused(file, rule)
    check_conditions(file, rule)
    check_order(file, rule)
    check_versions(file, rule)
    check_denials(file, rule)


# -- parts no one uses


def check_unused(file: RuleFile, rule: Rule) -> None:
    """Complain of named values, joins, questions and signatures that nothing uses."""
    used = _collect_names(_list_spoken(rule))
    for name in rule.lets:
        if name not in used["let"]:
            others = []
            for other, node in rule.lets.items():
                if other != name and name in _collect_names([node])["let"]:
                    others.append(other)
            _report_unused(file, "R020", "let", name, others)
    # The rows that are used, and those they are found by.
    rows = set(used["row"])
    for join in reversed(rule.joins):
        if join.alias.name in rows:
            rows |= _find_owners(join)
    for join in rule.joins:
        name = join.alias.name
        if name not in rows and name != rule.fact:
            others = [other.alias.name for other in rule.joins if name in _find_owners(other)]
            _report_unused(file, "R021", "join", name, others)
    named = file.list_pairs("seen")
    for name in named:
        if name not in used["seen"]:
            _report_unused(file, "R023", "seen", name, [])
    for name in rule.logs:
        asked = [other for other in named if name in rule.seen[other].logs]
        if name not in used["seen"] and not asked and all(hit.log != name for hit in rule.hits):
            _report_unused(file, "R022", "logs", name, [])


def _report_unused(file: RuleFile, code: str, part: str, name: str, others: Sequence[str]) -> None:
    """Complain of a named part that nothing uses."""
    what = {"let": "named value", "join": "join", "seen": "question", "logs": "signature"}[part]
    only = " and ".join(f"`{other}`" for other in others)
    why = "no condition, text or evidence uses it"
    if others:
        why = f"only {only} uses it, and nothing uses that"
    file.complain(
        code,
        f"{what} `{name}` is never used: {why}",
        file.find_place(part, name),
        "use it or remove it",
    )


def _list_spoken(rule: Rule) -> list[ExprNode]:
    """Return all that a rule says or asks; named values only where they are used."""
    tops = _list_gates(rule)
    for parts in (rule.grades, rule.outcomes, rule.notes, rule.fix):
        tops += [part.when for part in parts]
    texts = [rule.subject, rule.object, *rule.rests_on]
    texts += [one.say for parts in (rule.outcomes, rule.notes) for one in parts]
    texts += [text for step in rule.fix for text in step.templates]
    for text in texts:
        if text is not None:
            tops += text.nodes()
    return [*tops, *rule.evidence, *rule.chart]


def _collect_names(tops: Iterable[ExprNode]) -> dict[str, set[str]]:
    """Return the names that expressions use, by kind: `let`, `row` and `seen`."""
    found: dict[str, set[str]] = {"let": set(), "row": set(), "seen": set()}
    kinds = {"let": "let", "column": "row", "row": "row", "seen": "seen", "seen_field": "seen"}
    for top in tops:
        for node in top.walk():
            if node.op in kinds:
                found[kinds[node.op]].add(node.name)
    return found


def _find_owners(join: Join) -> set[str]:
    """Return the rows a join needs to find its own."""
    names = set()
    for mine, _ in join.by:
        names.add(mine.rpartition(".")[0])
    if join.where is not None:
        names |= _collect_names([join.where])["row"] - {join.alias.name}
    return names


# -- conditions that cannot change


def check_conditions(file: RuleFile, rule: Rule) -> None:
    """Complain of conditions that are never true or never false."""
    if rule.only:
        gate = [rule.only]
    else:
        gate = []
    if _read_plain(rule.when) is True and (not gate or _read_plain(gate[0]) is True):
        table = rule.each.table.spoken_name
        help_text = (
            "name a condition, or say in a comment that a row of this table is the fault itself"
        )
        file.complain(
            "R024", f"every row of `{table}` is a finding", file.find_place("when"), help_text
        )
    if gate:
        _check_fixed(file, gate[0], [], ("only",))
        if _read_plain(gate[0]) is True:
            file.complain("R028", "`only` is always true", file.find_place("only"), "leave it out")
    _check_fixed(file, rule.when, gate, ("when",))
    for name, node in rule.lets.items():
        _check_fixed(file, node, [], ("let", name))
    for join in rule.joins:
        if join.where is not None:
            _check_fixed(file, join.where, [], ("join", join.alias.name, "where"))
    if is_never([*gate, rule.when]):
        return  # everything below it follows
    lists = _list_answers(rule)
    lists.append(("notes", [note.when for note in rule.notes]))
    lists.append(("fix", [step.when for step in rule.fix]))
    for part, whens in lists:
        for number, when in enumerate(whens):
            _check_fixed(file, when, _list_gates(rule), (part, number, "when"))


def _list_answers(rule: Rule) -> list[tuple[str, list[ExprNode]]]:
    """Return the conditions of the lists of which the first true one counts."""
    return [
        ("grade", [one.when for one in rule.grades]),
        ("outcomes", [one.when for one in rule.outcomes]),
    ]


def _check_fixed(
    file: RuleFile, node: ExprNode, given: Sequence[ExprNode], steps: tuple[str | int, ...]
) -> None:
    """Complain of a condition, or of a part of it, that is never true or never false."""
    item = file.find_item(*steps)
    if item is None or _read_plain(node) is True:
        return
    if node.type == "bool" and is_never([node]):
        file.complain(
            "R027",
            f"`{node.text}` is never true",
            _find_place(file, item, node),
            "its parts exclude each other",
        )
        return
    if node.type == "bool" and given and is_never([*given, node]):
        if len(given) == 1:
            whole = "`when`"
        else:
            whole = "`only` and `when`"
        file.complain(
            "R027",
            f"`{node.text}` is never true together with {whole}",
            _find_place(file, item, node),
        )
        return
    for part in _walk_own(node):
        if part is not node and part.op in ("and", "compare") and is_never([part]):
            file.complain("R027", f"`{part.text}` is never true", _find_place(file, item, part))
            return
        if part.op in ("or", "compare", "not") and is_always(part):
            help_text = ""
            if "!=" in part.text and part.op == "or":
                help_text = (
                    "of two `!=` one is always true; write `not in [...]` or join them with `and`"
                )
            file.complain(
                "R028", f"`{part.text}` is never false", _find_place(file, item, part), help_text
            )
            return


def _walk_own(node: ExprNode) -> Iterator[ExprNode]:
    """Yield an expression and its parts as they are written, without what follows names."""
    yield node
    for child in () if node.op == "let" else node.args:
        yield from _walk_own(child)


def _read_plain(node: ExprNode) -> bool | None:
    """Return the value of a condition that is simply `true` or `false`."""
    if node.op == "let":
        return _read_plain(node.args[0])
    if node.op == "literal":
        return bool(node.value)
    return None


def _find_place(file: RuleFile, item: RuleItem, node: ExprNode) -> FileSpan:
    """Return where a part of an expression stands, as near as its text can be found."""
    start = item.text.find(node.text)
    if start < 0:
        return item.place
    return file.text.within(item, start, start + len(node.text))


# -- answers that are never given


def _list_gates(rule: Rule) -> list[ExprNode]:
    """Return the conditions that hold wherever an outcome is asked for."""
    if rule.only:
        return [rule.only, rule.when]
    return [rule.when]


def check_order(file: RuleFile, rule: Rule) -> None:
    """Complain of answers that are never given, and of a last one with a condition."""
    given = _list_gates(rule)
    if is_never(given):
        return
    for part, whens in _list_answers(rule):
        for number, when in enumerate(whens):
            known = [*given, when]
            above = None
            for n in range(number):
                if does_follow(known, whens[n]):
                    above = n
                    break
            if above is not None and not is_never(known):
                if part == "grade":
                    what = "grade"
                else:
                    what = "outcome"
                line = file.find_place(part, above).line
                more = len(whens) - number - 1
                if more:
                    rest = f"; look at the {more} below as well"
                else:
                    rest = ""
                text = f"this {what} is never taken: whenever it is true, the one in line {line} is true and comes first"
                file.complain(
                    "R025",
                    text,
                    file.find_place(part, number),
                    f"put the narrower condition first{rest}",
                )
                break
    last = len(rule.outcomes) - 1
    if not does_follow(given, rule.outcomes[last].when):
        place = file.find_place("outcomes", last)
        what = "the last outcome has a condition: when no outcome is true, the rule says nothing about a subject it found"
        file.complain("R026", what, place, "end the list with an outcome `when: true`")


# -- what a version can prove


def _is_leaf(node: ExprNode) -> bool:
    return node.op in ("column", "row", "seen", "seen_field")


def check_versions(file: RuleFile, rule: Rule) -> None:
    """Complain of an outcome that rests on a version alone and is surer than `exposed`."""
    for number, outcome in enumerate(rule.outcomes):
        tops = [*_list_gates(rule), outcome.when]
        leaves = [node for top in tops for node in top.walk() if _is_leaf(node)]
        others = []
        for node in leaves:
            if node.op != "column" or not (
                node.type == "version" or node.column.endswith(("version", "build"))
            ):
                others.append(node)
        if outcome.confidence == "exposed" or not leaves or others:
            continue
        item = file.find_item("outcomes", number, "confidence")
        place = file.find_place("outcomes", number)
        level = f"nothing, so `{outcome.confidence}` is taken"
        if item is not None:
            place = item.place
            level = f"`{outcome.confidence}`"
        text = f"this outcome rests on a version alone, and its confidence is {level}"
        file.complain("R031", text, place, "a version alone is never more than `exposed`")


# -- "no" where it may be unknown


def check_denials(file: RuleFile, rule: Rule) -> None:
    """Complain of a text that denies what may be unknown when it is said."""
    parts = []
    for top in _list_gates(rule):
        for part in list_conjuncts(top):
            if part.op != "or":
                parts.append(part)
    away = {join.alias.name for join in rule.joins} | set(rule.seen)
    sure = {name for part in parts for name in _rests_on(part)}
    doubtful: set[str] = set()
    for number, outcome in enumerate(rule.outcomes):
        own = _rests_on(outcome.when)
        missing = (doubtful - own - sure) & away
        doubtful |= own
        found = ""
        if missing and not _asks_denial(outcome):
            found = _find_denial(outcome.say)
        item = file.find_item("outcomes", number, "say")
        if not found or item is None or found not in item.text:
            continue
        start = item.text.find(found)
        names = ", ".join(f"`{name}`" for name in sorted(missing))
        text = f'"{found}" is said although {names} may be unknown when this outcome is taken'
        help_text = (
            'say what was seen, or that it could not be checked; what is missing is not a "no"'
        )
        file.complain("R032", text, file.text.within(item, start, start + len(found)), help_text)


def _rests_on(node: ExprNode) -> set[str]:
    """Return the rows and log questions whose absence can leave a condition unknown."""
    if node.op == "known":
        return set()
    if _is_leaf(node):
        own = {node.name}
    else:
        own = set()
    return own.union(*(_rests_on(child) for child in node.args))


def _find_denial(say: Template | None) -> str:
    """Return the first words of a text that claim absence, or nothing."""
    for part in say.parts if say is not None else ():
        if not isinstance(part, str):
            continue
        for found in _ABSENT.finditer(part):
            if not _UNSEEN.match(part, found.start()):
                return " ".join(part[found.start() :].split(" ")[:2]).strip(".,;: ")
    return ""


def _asks_denial(outcome: Outcome) -> bool:
    """Say whether an outcome asks itself for something that is not so, or is little; then it may say "not"."""
    for node in outcome.when.walk():
        if node.op == "not" or (node.op == "compare" and node.name in ("!=", "<", "<=")):
            return True
        if node.op == "compare" and any(one.op == "literal" and not one.value for one in node.args):
            return True
    return False
