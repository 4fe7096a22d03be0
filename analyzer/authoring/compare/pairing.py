"""Which rules of two versions of a catalog belong together, and what of their files differs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from analyzer.rules import USED, Catalog, Rule

# What a rule says of itself and to its reader: a change in these alone moves no finding.
WORDS = frozenset({
    "title", "kb", "issues", "source", "revised", "needs", "about", "caution", "not_this", "ask", "fix", "examples",
    "say", "proven", "owner", "tags", "checked", "fixed_in", "replaces", "replaced_by", "evidence", "chart",
})  # fmt: skip
NEW, GONE, CHANGED, REWORDED = "new", "gone", "changed", "reworded"


@dataclass(frozen=True, slots=True)
class RulePair:
    """A rule in its two versions; None where a version does not use it.

    parts  top-level keys of the file whose values differ, and tables of facts (`kb.…`) with other files; comments
           and layout are no part of them
    why    for a rule that is gone: its status there, when it has one
    """

    kind: str
    new: Rule | None
    old: Rule | None
    parts: tuple[str, ...] = ()
    thresholds: tuple[tuple[str, float, float], ...] = ()  # name, number before, number now
    why: str = ""

    @property
    def rule(self) -> Rule:
        """The rule as it is now; of one that is gone, as it was."""
        found = self.new or self.old
        assert found is not None
        return found


@dataclass(slots=True)
class Pairs:
    """All rules of two versions that differ, in order of their ids; `same` counts those that do not."""

    pairs: list[RulePair] = field(default_factory=list)
    same: int = 0


def pair_rules(old: Catalog, new: Catalog, *, drafts: bool = False) -> Pairs:
    """Return the rules of two catalogs that differ; only rules in use count, with `drafts` those as well.

    A rule belongs to the one of its id. One whose id is gone belongs to the rule that `replaces` it.
    """
    wanted = set(USED)
    if drafts:
        wanted.add("draft")
    before = {rule.id: rule for rule in old.rules if rule.status in wanted}
    now = {rule.id: rule for rule in new.rules if rule.status in wanted}
    found = Pairs()
    met = set()
    for name, rule in sorted(now.items()):
        gone = [one for one in rule.replaces if one in before and one not in now]
        former = before.get(name)
        if former is None and gone:
            former = before[gone[0]]
        if former is None:
            found.pairs.append(RulePair(NEW, rule, None))
            continue
        met.add(former.id)
        parts = tuple(_list_parts(former, rule))
        if not parts:
            found.same += 1
            continue
        if set(parts) <= WORDS:
            kind = REWORDED
        else:
            kind = CHANGED
        thresholds = []
        for threshold, (number, _) in rule.thresholds.items():
            if threshold in former.thresholds and former.thresholds[threshold][0] != number:
                thresholds.append((threshold, former.thresholds[threshold][0], number))
        found.pairs.append(RulePair(kind, rule, former, parts, tuple(thresholds)))
    for name in sorted(before.keys() - met - now.keys()):
        kept = next((rule for rule in new.rules if rule.id == name), None)
        why = ""
        if kept is not None:
            why = kept.status
        if kept is not None and kept.replaced_by:
            why += f", replaced by {kept.replaced_by}"
        found.pairs.append(RulePair(GONE, None, before[name], why=why))
    found.pairs.sort(key=lambda pair: pair.rule.id)
    return found


def _list_parts(old: Rule, new: Rule) -> Iterator[str]:
    """Yield the keys and tables of facts in which two versions of a rule differ."""
    before_facts = old.fact_tables()
    facts = new.fact_tables()
    for name in facts:
        if name in before_facts and before_facts[name] != facts[name]:
            yield (name)
    if old.text.text == new.text.text and old.text.shared == new.text.shared:
        return
    before: dict[str, Any] = old.text.tree().plain()
    now: dict[str, Any] = new.text.tree().plain()
    for key in sorted(before.keys() | now.keys(), key=[*now, *before].index):
        if before.get(key) != now.get(key):
            yield key
