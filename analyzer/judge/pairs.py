"""Counts the pairs of lines a rule would compare before it is evaluated.

A rule whose subjects are the lines of one signature, with the lines of another (or the same) joined to each, looks at
every pair that a join's `by` allows. That is the square of a storm: ten thousand lines of one device are a hundred
million pairs. Counting them first takes one pass over the lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from analyzer.artefacts.tables import Row, Value
from analyzer.facts import Facts
from analyzer.rules import Join, Rule
from analyzer.runtime.errors import BacklineError

MOST = 30_000_000  # pairs of lines; a query over so many takes a few seconds
INSTEAD = (
    "Judge each device instead of each line: `each: dev in SIGNATURE per COLUMN`, and ask under `seen` for a rate"
    " (`at_least`, `within`) or a pair (`sequence`, `within`); that costs one pass."
)

_Key = tuple[Value, ...]


def refuse(rule: Rule, facts: Facts) -> None:
    """Raise BacklineError when lines of a rule's logs meet in more pairs than may be looked at."""
    logs = {hit.table.name: hit.log for hit in rule.hits}
    own = rule.each.table.name
    if own not in logs:
        return
    for join in rule.joins:
        theirs = join.alias.table.name
        if theirs not in logs or facts.count(own) * facts.count(theirs) <= MOST:
            continue
        count = _pairs(rule, join, facts)
        if count > MOST:
            mine = f"each of {facts.count(own):,} lines of `{logs[own]}`"
            what = f"{mine} would be paired with lines of `{logs[theirs]}`, joined as `{join.alias.name}`: {count:,} pairs"
            raise BacklineError(
                what, why=f"{MOST:,} pairs are the most that a rule may look at", do=INSTEAD
            )


def _pairs(rule: Rule, join: Join, facts: Facts) -> int:
    """Return how many pairs the keys of a join allow; 0 where keys are not those of the two lines."""
    owners = [mine.rpartition(".") for mine, _ in join.by]
    if any(owner != rule.each.name or column == "node" for owner, _, column in owners):
        return 0
    mine = _counted(facts.store(rule.each.table.name).rows, [name for *_, name in owners], join)
    others = _counted(facts.store(join.alias.table.name).rows, [name for _, name in join.by], join)
    return sum(count * others[key] for key, count in mine.items())


def _counted(rows: Iterable[Row], columns: list[str], join: Join) -> Counter[_Key]:
    """Count lines by the values that a join goes by, on each node or in the whole case; an unknown value meets none."""
    found: Counter[_Key] = Counter()
    for row in rows:
        cells = [row.values.get(name) for name in columns]
        if None not in cells:
            folded = [cell.lower() if isinstance(cell, str) else cell for cell in cells]
            found["" if join.any_node else row.block.node, *folded] += 1
    return found
