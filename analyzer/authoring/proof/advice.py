"""Says in words which example would pin a number of a rule."""

from __future__ import annotations

from analyzer.authoring.proof.mutants import FLIPPED, UP, Mutant, move_number, write_number
from analyzer.rules.language.expression import ExprNode, bare_node


def suggest_example(mutant: Mutant) -> str:
    """Return the example to add, as one sentence."""
    site = mutant.site
    condition = site.condition
    if site.where.startswith("seen "):
        name = site.where.removeprefix("seen ").partition(",")[0]
        seen = mutant.rule.seen[name]
        logs = " and ".join(f"`{log}`" for log in seen.logs)
        low = site.text
        high = mutant.value
        if mutant.direction != UP:
            low, high = high, low
        if site.where.endswith("at_least"):
            return f"add an example with exactly {low} lines of {logs}."
        if seen.silence:
            return f"add an example whose log reaches back more than {low} and less than {high}, without {logs}."
        return f"add an example whose lines of {logs} are more than {low} and at most {high} apart."
    if condition is None:
        return (
            f"add an example whose text or answer changes when {site.text} becomes {mutant.value}."
        )
    if site.named:
        asked = condition.args[0].text
        return f"add an example in which `{asked}` is {site.text} and the answer depends on it."
    turn = (
        f"add an example in which `{condition.text}` turns when {site.text} becomes {mutant.value}."
    )
    if condition.op != "compare" or len(condition.args) != 2:
        return turn
    left, right = condition.args
    sign = condition.name
    if _is_site(right, mutant):
        number = right
        other = left
    elif _is_site(left, mutant):
        number = left
        other = right
        sign = FLIPPED.get(sign, sign)
    else:
        return turn
    # The value at the border, which only the right number treats right.
    plain = bare_node(number)
    value = plain.value
    if (mutant.direction == UP) != (sign in (">=", "<")):
        value = move_number(plain, mutant.direction)
    border = write_number(plain, value)
    return f"add an example in which `{other.text}` is {border}, so that `{condition.text}` decides the answer."


def _is_site(node: ExprNode, mutant: Mutant) -> bool:
    named = bare_node(node)
    return named.op == "literal" and named.place == mutant.site.place
