"""Says in words which example would pin a number of a rule."""

from __future__ import annotations

from analyzer.authoring.proof.mutants import FLIPPED, UP, Mutant, move_number, write_number
from analyzer.rules.language.expression import ExprNode, bare


def suggest_example(mutant: Mutant) -> str:
    """Return the example to add, as one sentence."""
    site = mutant.site
    condition = site.condition
    if site.where.startswith("seen "):
        seen = mutant.rule.seen[site.where.removeprefix("seen ").partition(",")[0]]
        logs = " and ".join(f"`{log}`" for log in seen.logs)
        low, high = (site.text, mutant.value)
        if mutant.direction != UP:
            low, high = high, low
        if site.where.endswith("at_least"):
            count = site.text if mutant.direction == UP else mutant.value
            return f"add an example with exactly {count} lines of {logs}."
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
    if _is_site(right, mutant):
        number, other = (right, left)
    else:
        number, other = (left, right)
    if not _is_site(number, mutant):
        return turn
    sign = condition.name
    if number is left:
        sign = FLIPPED.get(sign, sign)
    # The value at the border, which only the right number treats right.
    at_border = (mutant.direction == UP) == (sign in (">=", "<"))
    plain = bare(number)
    border = write_number(plain, plain.value if at_border else move_number(plain, mutant.direction))
    return f"add an example in which `{other.text}` is {border}, so that `{condition.text}` decides the answer."


def _is_site(node: ExprNode, mutant: Mutant) -> bool:
    named = bare(node)
    return named.op == "literal" and named.place == mutant.site.place
