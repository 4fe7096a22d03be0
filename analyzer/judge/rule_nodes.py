"""What the judge looks up of a rule whichever case it judges: worked out with the first, kept for all others."""

from __future__ import annotations

from collections.abc import Mapping

from analyzer.judge.subjects import outside
from analyzer.lazy_dataclass import dataclass
from analyzer.rules import Rule
from analyzer.rules.column_usage import shown_of
from analyzer.rules.own import OwnScope, scopes


@dataclass(frozen=True, slots=True)
class RuleNodes:
    """The nodes of a rule by their `id`, and the scopes of its questions to logs.

    printed  what a finding prints besides the conditions
    single   what has one value for a subject: not inside an aggregate, none with many rows
    scopes   of every `seen` name
    """

    printed: frozenset[int]
    single: frozenset[int]
    scopes: Mapping[str, OwnScope]

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """Forget them on the way to another process, or in a copy: an `id` holds where it was taken."""
        return type(None), ()


def nodes_of(rule: Rule) -> RuleNodes:
    """Return what is looked up of a rule that was read whole."""
    if rule.nodes is None:
        shown = list(shown_of(rule))
        single = outside([*rule.expressions(), *shown])
        rule.nodes = RuleNodes(frozenset(map(id, shown)), frozenset(map(id, single)), scopes(rule))
    found: RuleNodes = rule.nodes
    return found
