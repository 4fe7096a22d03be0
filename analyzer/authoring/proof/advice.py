"""Says in words which example would pin a number of a rule."""

from __future__ import annotations

from analyzer.authoring.proof.mutants import FLIPPED, UP, Mutant, moved, written
from analyzer.rules.language.expression import ExprNode, bare_node


def for_mutant(mutant: Mutant) -> str:
    """Return the example to add, as one sentence."""
    site = mutant.site
    if site.where.startswith("seen "):
        return _of_logs(mutant)
    condition = site.condition
    if condition is None:
        return (
            f"add an example whose text or answer changes when {site.text} becomes {mutant.value}."
        )
    if site.named:
        other = condition.args[0].text
        return f"add an example in which `{other}` is {site.text} and the answer depends on it."
    found = _threshold(condition, mutant)
    if found is None:
        return f"add an example in which `{condition.text}` turns when {site.text} becomes {mutant.value}."
    other, value = found
    return f"add an example in which `{other}` is {value}, so that `{condition.text}` decides the answer."


def _threshold(condition: ExprNode, mutant: Mutant) -> tuple[str, str] | None:
    """Return what a number is compared with, and the value at the border that only the right number tells apart."""
    if condition.op != "compare" or len(condition.args) != 2:
        return None
    left, right = condition.args
    sign = condition.name
    number, other = (right, left) if _is_site(right, mutant) else (left, right)
    if not _is_site(number, mutant):
        return None
    if number is left:
        sign = FLIPPED.get(sign, sign)
    at_border = (mutant.direction == UP) == (sign in (">=", "<"))
    plain = bare_node(number)
    value = plain.value if at_border else moved(plain, mutant.direction)
    return other.text, written(plain, value)


def _is_site(node: ExprNode, mutant: Mutant) -> bool:
    named = bare_node(node)
    return named.op == "literal" and named.place == mutant.site.place


def _of_logs(mutant: Mutant) -> str:
    site = mutant.site
    name = site.where.removeprefix("seen ").partition(",")[0]
    seen = mutant.rule.seen[name]
    logs = " and ".join(f"`{log}`" for log in seen.logs)
    if site.where.endswith("at_least"):
        count = site.text if mutant.direction == UP else mutant.value
        return f"add an example with exactly {count} lines of {logs}."
    low, high = (site.text, mutant.value) if mutant.direction == UP else (mutant.value, site.text)
    if seen.silence:
        return f"add an example whose log reaches back more than {low} and less than {high}, without {logs}."
    return f"add an example whose lines of {logs} are more than {low} and at most {high} apart."
