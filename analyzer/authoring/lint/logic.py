"""Complaints about the logic of a rule that loads: unused parts, answers never given, doubt ignored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from analyzer.authoring.lint.complaints import RuleFile
from analyzer.authoring.lint.conditions import always, follows, never
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


def check(file: RuleFile) -> None:
    """Keep the complaints about a rule that was loaded."""
    rule = file.rule
    assert rule is not None
    _unused(file, rule)
    _conditions(file, rule)
    _order(file, rule)
    _versions(file, rule)
    _denials(file, rule)


# -- parts nobody uses


def _unused(file: RuleFile, rule: Rule) -> None:
    used = _names(_tops(rule))
    for name in rule.lets:
        if name not in used["let"]:
            others = [
                other
                for other, node in rule.lets.items()
                if other != name and name in _names([node])["let"]
            ]
            _never_used(file, "R020", "let", name, others)
    rows = _joined(rule, used["row"])
    for join in rule.joins:
        name = join.alias.name
        if name not in rows and name != rule.fact:
            others = [other.alias.name for other in rule.joins if name in _owners(other)]
            _never_used(file, "R021", "join", name, others)
    named = file.pairs("seen")
    for name in named:
        if name not in used["seen"]:
            _never_used(file, "R023", "seen", name, [])
    for name in rule.logs:
        asked = [other for other in named if name in rule.seen[other].logs]
        if name not in used["seen"] and not asked and all(hit.log != name for hit in rule.hits):
            _never_used(file, "R022", "logs", name, [])


def _never_used(file: RuleFile, code: str, part: str, name: str, others: Sequence[str]) -> None:
    what = {"let": "named value", "join": "join", "seen": "question", "logs": "signature"}[part]
    only = " and ".join(f"`{other}`" for other in others)
    why = (
        f"only {only} uses it, and nothing uses that"
        if others
        else "no condition, text or evidence uses it"
    )
    file.complain(
        code, f"{what} `{name}` is never used: {why}", file.key(part, name), "use it or remove it"
    )


def _tops(rule: Rule) -> list[ExprNode]:
    """Return all that a rule says or asks; named values only where they are used."""
    tops = [rule.only] if rule.only else []
    tops += [
        rule.when,
        *(
            part.when
            for parts in (rule.grades, rule.outcomes, rule.notes, rule.fix)
            for part in parts
        ),
    ]
    texts = [rule.subject, rule.object, *rule.rests_on]
    texts += [one.say for parts in (rule.outcomes, rule.notes) for one in parts]
    texts += [text for step in rule.fix for text in step.templates]
    tops += [node for text in texts if text is not None for node in text.nodes()]
    return [*tops, *rule.evidence, *rule.chart]


def _names(tops: Iterable[ExprNode]) -> dict[str, set[str]]:
    """Return the names that expressions use, by kind: `let`, `row` and `seen`."""
    found: dict[str, set[str]] = {"let": set(), "row": set(), "seen": set()}
    kinds = {"let": "let", "column": "row", "row": "row", "seen": "seen", "seen_field": "seen"}
    for top in tops:
        for node in top.walk():
            if node.op in kinds:
                found[kinds[node.op]].add(node.name)
    return found


def _owners(join: Join) -> set[str]:
    """Return the rows a join needs to find its own."""
    names = {mine.rpartition(".")[0] for mine, _ in join.by}
    return names | (
        _names([join.where])["row"] - {join.alias.name} if join.where is not None else set()
    )


def _joined(rule: Rule, rows: set[str]) -> set[str]:
    """Return the rows that are used, and those they are found by."""
    found = set(rows)
    for join in reversed(rule.joins):
        if join.alias.name in found:
            found |= _owners(join)
    return found


# -- conditions that cannot change


def _conditions(file: RuleFile, rule: Rule) -> None:
    gate = [rule.only] if rule.only else []
    if _plain(rule.when) is True and (not gate or _plain(gate[0]) is True):
        table = rule.each.table.spoken_name
        help_text = (
            "name a condition, or say in a comment that a row of this table is the fault itself"
        )
        file.complain("R024", f"every row of `{table}` is a finding", file.key("when"), help_text)
    if gate:
        _fixed(file, gate[0], [], ("only",))
        if _plain(gate[0]) is True:
            file.complain("R028", "`only` is always true", file.key("only"), "leave it out")
    _fixed(file, rule.when, gate, ("when",))
    for name, node in rule.lets.items():
        _fixed(file, node, [], ("let", name))
    for join in rule.joins:
        if join.where is not None:
            _fixed(file, join.where, [], ("join", join.alias.name, "where"))
    if never([*gate, rule.when]):
        return  # everything below it follows
    more = [
        ("notes", [note.when for note in rule.notes]),
        ("fix", [step.when for step in rule.fix]),
    ]
    for part, whens in (*_answers(rule), *more):
        for number, when in enumerate(whens):
            _fixed(file, when, [*gate, rule.when], (part, number, "when"))


def _answers(rule: Rule) -> list[tuple[str, list[ExprNode]]]:
    """Return the conditions of the lists of which the first true one counts."""
    return [
        ("grade", [one.when for one in rule.grades]),
        ("outcomes", [one.when for one in rule.outcomes]),
    ]


def _fixed(
    file: RuleFile, node: ExprNode, given: Sequence[ExprNode], steps: tuple[str | int, ...]
) -> None:
    """Complain of a condition, or of a part of it, that is never true or never false."""
    item = file.at(*steps)
    if item is None or _plain(node) is True:
        return
    if node.type == "bool" and never([node]):
        file.complain(
            "R027",
            f"`{node.text}` is never true",
            _place(file, item, node),
            "its parts exclude each other",
        )
        return
    if node.type == "bool" and given and never([*given, node]):
        whole = "`when`" if len(given) == 1 else "`only` and `when`"
        file.complain(
            "R027", f"`{node.text}` is never true together with {whole}", _place(file, item, node)
        )
        return
    for part in _own(node):
        if part is not node and part.op in ("and", "compare") and never([part]):
            file.complain("R027", f"`{part.text}` is never true", _place(file, item, part))
            return
        if part.op in ("or", "compare", "not") and always(part):
            help_text = (
                "of two `!=` one is always true; write `not in [...]` or join them with `and`"
            )
            help_text = help_text if "!=" in part.text and part.op == "or" else ""
            file.complain(
                "R028", f"`{part.text}` is never false", _place(file, item, part), help_text
            )
            return


def _own(node: ExprNode) -> Iterator[ExprNode]:
    """Yield an expression and its parts as they are written, without what stands behind names."""
    yield node
    for child in () if node.op == "let" else node.args:
        yield from _own(child)


def _plain(node: ExprNode) -> bool | None:
    """Return the value of a condition that is simply `true` or `false`."""
    if node.op == "let":
        return _plain(node.args[0])
    return bool(node.value) if node.op == "literal" else None


def _place(file: RuleFile, item: RuleItem, node: ExprNode) -> FileSpan:
    """Return where a part of an expression stands, as near as its text can be found."""
    start = item.text.find(node.text)
    return item.place if start < 0 else file.text.within(item, start, start + len(node.text))


# -- answers that are never given


def _order(file: RuleFile, rule: Rule) -> None:
    given = [*([rule.only] if rule.only else []), rule.when]
    if never(given):
        return
    for part, whens in _answers(rule):
        for number, when in enumerate(whens):
            known = [*given, when]
            above = next((n for n in range(number) if follows(known, whens[n])), None)
            if above is not None and not never(known):
                _shadowed(file, part, number, above, len(whens))
                break
    last = len(rule.outcomes) - 1
    if not follows(given, rule.outcomes[last].when):
        place = file.key("outcomes", last)
        what = "the last outcome has a condition: when no outcome is true, the rule says nothing about a subject it found"
        file.complain("R026", what, place, "end the list with an outcome `when: true`")


def _shadowed(file: RuleFile, part: str, number: int, above: int, count: int) -> None:
    what = "grade" if part == "grade" else "outcome"
    line = file.key(part, above).line
    more = count - number - 1
    rest = f"; look at the {more} below as well" if more else ""
    text = f"this {what} is never taken: whenever it is true, the one in line {line} is true and comes first"
    file.complain("R025", text, file.key(part, number), f"put the narrower condition first{rest}")


# -- what a version can prove


def _versions(file: RuleFile, rule: Rule) -> None:
    given = [*([rule.only] if rule.only else []), rule.when]
    for number, outcome in enumerate(rule.outcomes):
        leaves = [node for top in (*given, outcome.when) for node in top.walk() if _is_leaf(node)]
        if (
            outcome.confidence == "exposed"
            or not leaves
            or not all(_is_version(node) for node in leaves)
        ):
            continue
        steps = ("outcomes", number, "confidence")
        item = file.at(*steps)
        place = item.place if item is not None else file.key("outcomes", number)
        said = (
            f"`{outcome.confidence}`"
            if item is not None
            else f"nothing, so `{outcome.confidence}` is taken"
        )
        text = f"this outcome rests on a version alone, and its confidence is {said}"
        file.complain("R031", text, place, "a version alone is never more than `exposed`")


def _is_leaf(node: ExprNode) -> bool:
    return node.op in ("column", "row", "seen", "seen_field")


def _is_version(node: ExprNode) -> bool:
    return node.op == "column" and (
        node.type == "version" or node.column.endswith(("version", "build"))
    )


# -- "no" where it may be unknown


def _denials(file: RuleFile, rule: Rule) -> None:
    parts = [
        part
        for top in (rule.only, rule.when)
        if top is not None
        for part in list_conjuncts(top)
        if part.op != "or"
    ]
    away = {join.alias.name for join in rule.joins} | set(rule.seen)
    sure = {name for part in parts for name in _rests_on(part)}
    doubtful: set[str] = set()
    for number, outcome in enumerate(rule.outcomes):
        own = _rests_on(outcome.when)
        missing = (doubtful - own - sure) & away
        doubtful |= own
        found = _denial(outcome.say) if missing and not _denies(outcome) else ""
        item = file.at("outcomes", number, "say")
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
    own = {node.name} if _is_leaf(node) else set()
    return own.union(*(_rests_on(child) for child in node.args))


def _denial(say: Template | None) -> str:
    """Return the first words of a text that claim absence, or nothing."""
    for part in say.parts if say is not None else ():
        if not isinstance(part, str):
            continue
        for found in _ABSENT.finditer(part):
            if not _UNSEEN.match(part, found.start()):
                return " ".join(part[found.start() :].split(" ")[:2]).strip(".,;: ")
    return ""


def _denies(outcome: Outcome) -> bool:
    """Tell whether an outcome asks itself for something that is not so, or is little; then it may say "not"."""
    for node in outcome.when.walk():
        if node.op == "not" or (node.op == "compare" and node.name in ("!=", "<", "<=")):
            return True
        if node.op == "compare" and any(one.op == "literal" and not one.value for one in node.args):
            return True
    return False
